/** The few calls of the system that this program needs to become the launcher, and that node:fs does not have. Through bun:ffi. */
import { dlopen, ptr } from "bun:ffi";
import { cString } from "../c_string.ts";

/** Calls of the system. Numbers below zero are failures; the reason does not matter, since each has a slower way round. */
export type NativeCalls = {
  /** Opens for reading, not through a link, not waiting for a FIFO; stays open when this program is replaced. */
  open: (path: string) => number;
  close: (fd: number) => void;
  /** Replaces this program, with the environment it was started with. Comes back only when that failed. */
  execute: (path: string, argv: readonly string[]) => void;
};

/** System call numbers, which are the kernel's promise and the same in each libc; O_NOFOLLOW differs too (fcntl.h). */
const TABLES = {
  x64: { openat: 257, close: 3, O_NOFOLLOW: 0o400000 },
  arm64: { openat: 56, close: 57, O_NOFOLLOW: 0o100000 },
} as const;

const O_NONBLOCK = 0o4000;

/** Null on a machine whose calls are not known: then nothing is lost but time. */
export function nativeCalls(): NativeCalls | null {
  const arch = process.arch;
  if (process.platform !== "linux" || (arch !== "x64" && arch !== "arm64")) return null;
  try {
    const { symbols } = dlopen("libc.so.6", {
      syscall: { args: ["i64", "ptr", "ptr", "ptr"], returns: "i32" },
      execv: { args: ["ptr", "ptr"], returns: "i32" },
    });
    return callsOver(symbols.syscall, symbols.execv, TABLES[arch]);
  } catch {
    return null; // another libc
  }
}

type Word = number | Uint8Array | null;
type Syscall = (number: number, a: Word, b: Word, c: Word) => number;
type Execv = (path: Uint8Array, argv: BigUint64Array) => number;

function callsOver(syscall: Syscall, execv: Execv, table: (typeof TABLES)["x64" | "arm64"]): NativeCalls {
  return {
    // The folder's descriptor does not matter: the path is absolute.
    open: (path) => syscall(table.openat, 0, cString(path), table.O_NOFOLLOW | O_NONBLOCK),
    close: (fd) => void syscall(table.close, fd, null, null),
    execute: (path, argv) => {
      const words = argv.map(cString);
      // The list ends in a null, which is what a new array holds.
      const list = new BigUint64Array(words.length + 1);
      words.forEach((word, at) => {
        list[at] = BigInt(ptr(word));
      });
      execv(cString(path), list);
    },
  };
}
