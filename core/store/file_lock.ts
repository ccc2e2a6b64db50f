import { dlopen } from "bun:ffi";
import { ToolFault } from "../contract/fault.ts";

/** flock(2): the lock goes with the open file, so a process that dies leaves none behind. */
const LOCK_EX = 2;
const LOCK_NB = 4;

/** A holder writes a few hundred bytes; one that takes this long is stopped or hangs. */
const PATIENCE_MS = 10_000;

const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  linux: ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`],
  darwin: ["libSystem.B.dylib"],
};

type Flock = (fd: number, operation: number) => number;
let flock: Flock | null | undefined;

/** Loaded at the first lock: an empty run of the program must not pay for it. */
function flockOfSystem(): Flock | null {
  for (const name of LIBRARIES[process.platform] ?? []) {
    try {
      return dlopen(name, { flock: { args: ["i32", "i32"], returns: "i32" } }).symbols.flock;
    } catch {
      // Another libc.
    }
  }
  return null;
}

/**
 * Takes the lock of an open file for this process alone; closing the descriptor gives it back. Waits for another holder, at
 * most ten seconds. Throws ToolFault `state.locked`; `path` is for its message.
 */
export function lockFile(fd: number, path: string): void {
  flock ??= flockOfSystem();
  // Without flock(2) nothing of ours runs commands, so no second process writes beside this one.
  if (flock === null) return;
  const until = performance.now() + PATIENCE_MS;
  while (flock(fd, LOCK_EX | LOCK_NB) !== 0) {
    if (performance.now() > until) {
      throw new ToolFault({
        code: "state.locked",
        message: `Another process holds the lock of ${JSON.stringify(path)} for more than ${PATIENCE_MS / 1000} seconds`,
        hint: "find it with `fuser` or `lsof` on that file; it may be stopped (fg, kill -CONT)",
      });
    }
    Bun.sleepSync(1);
  }
}
