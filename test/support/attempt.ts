import { afterAll, describe, test } from "bun:test";
import { missingPrograms, runCordon, type Ended, type Surroundings } from "./run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "./scratch.ts";
import { findCell, OWN_CELLS } from "./tiers.ts";

/** Where one attempt is made. `python` and `shell` run a script in the sandbox. */
export type Attempt = {
  scratch: Scratch;
  tier: "namespaces" | "landlock";
  around: Surroundings;
  shell: (script: string) => Promise<Ended>;
  python: (script: string) => Promise<Ended>;
};

/** Starts each Python script: `call` makes a raw system call and prints its errno when it fails. */
const PRELUDE = `import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    end = libc.syscall(number, *args)
    if end < 0: print("refused", errno.errorcode.get(ctypes.get_errno()))
    return end
`;

/**
 * Makes an attempt in both tiers of the machine, each in a fresh scratch folder; skips with the reason where the machine
 * has no such tier or lacks a program.
 */
export function attempt(title: string, needs: string[], body: (place: Attempt) => Promise<void>): void {
  for (const cell of OWN_CELLS) {
    const found = findCell(cell);
    const full = `${title}, ${cell.namespaces} user namespaces`;
    const missing = missingPrograms(needs);
    if (!found.found || missing.length > 0) {
      test.skip(`${full}: ${found.found ? `${missing.join(", ")} missing` : found.why}`, () => {});
      continue;
    }
    const { wrap } = found;
    describe(full, () => {
      const scratch = makeScratch();
      afterAll(() => removeScratch(scratch));
      const around = { scratch, wrap };
      const run = (argv: string[]) => runCordon(["run", "--", ...argv], around);
      test(full, () =>
        body({
          scratch,
          around,
          tier: cell.namespaces === "with" ? "namespaces" : "landlock",
          shell: (script) => run(["sh", "-c", script]),
          python: (script) => run(["python3", "-c", PRELUDE + script]),
        }),
      );
    });
  }
}

/** The number of a system call on this processor (asm/unistd.h of x86-64 and arm64). */
export function callNumber(name: keyof typeof NUMBERS): number {
  return NUMBERS[name][process.arch === "arm64" ? "arm64" : "x64"];
}

const NUMBERS = {
  ptrace: { x64: 101, arm64: 117 },
  memfd_create: { x64: 319, arm64: 279 },
  name_to_handle_at: { x64: 303, arm64: 264 },
  open_by_handle_at: { x64: 304, arm64: 265 },
  process_vm_readv: { x64: 310, arm64: 270 },
  pidfd_open: { x64: 434, arm64: 434 },
} as const;
