import { afterAll, describe, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { missingPrograms, runCordon, SYSTEM_PATH, type Ended, type Surroundings } from "./run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "./scratch.ts";
import { findCell, OWN_CELLS } from "./tiers.ts";

/** Where one attempt is made. `python` and `shell` run a script in the sandbox, `c` a program that was compiled on the host. */
export type Attempt = {
  scratch: Scratch;
  tier: "namespaces" | "landlock";
  around: Surroundings;
  shell: (script: string) => Promise<Ended>;
  python: (script: string) => Promise<Ended>;
  c: (source: string, flags?: string[]) => Promise<Ended>;
};

/** Races make tens of thousands of trapped calls; a machine that is busy must not fail them. In milliseconds. */
const PATIENCE_MS = 120_000;

/** Starts each Python script: `call` makes a raw system call and prints its errno when it fails. */
const PRELUDE = `import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    end = libc.syscall(number, *args)
    if end < 0: print("refused", errno.errorcode.get(ctypes.get_errno()))
    return end
`;

/** Starts each C program: what races and raw calls need. */
const C_PRELUDE = `#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
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
      test(
        full,
        () =>
          body({
            scratch,
            around,
            tier: cell.namespaces === "with" ? "namespaces" : "landlock",
            shell: (script) => run(["sh", "-c", script]),
            python: (script) => run(["python3", "-c", PRELUDE + script]),
            c: (source, flags = []) => runCordon(["run", ...flags, "--", compile(scratch, source)], around),
          }),
        PATIENCE_MS,
      );
    });
  }
}

/** Compiles on the host: what is tried is the program, not the compiler. */
function compile({ top, work }: Scratch, source: string): string {
  const [file, program] = [join(top, "attempt.c"), join(work, "attempt.bin")];
  writeFileSync(file, C_PRELUDE + source);
  const end = Bun.spawnSync(["gcc", "-O1", "-pthread", "-o", program, file], { env: { PATH: SYSTEM_PATH } });
  if (end.exitCode !== 0) throw new Error(`gcc: ${end.stderr.toString()}`);
  return program;
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
  process_vm_writev: { x64: 311, arm64: 271 },
  pidfd_open: { x64: 434, arm64: 434 },
  pidfd_getfd: { x64: 438, arm64: 438 },
  pidfd_send_signal: { x64: 424, arm64: 424 },
  openat2: { x64: 437, arm64: 437 },
  renameat2: { x64: 316, arm64: 276 },
  linkat: { x64: 265, arm64: 37 },
  execveat: { x64: 322, arm64: 281 },
  fchmodat2: { x64: 452, arm64: 452 },
  unshare: { x64: 272, arm64: 97 },
  setns: { x64: 308, arm64: 268 },
  clone3: { x64: 435, arm64: 435 },
  mount: { x64: 165, arm64: 40 },
  open_tree: { x64: 428, arm64: 428 },
  fsopen: { x64: 430, arm64: 430 },
  io_uring_setup: { x64: 425, arm64: 425 },
  bpf: { x64: 321, arm64: 280 },
  perf_event_open: { x64: 298, arm64: 241 },
  userfaultfd: { x64: 323, arm64: 282 },
  keyctl: { x64: 250, arm64: 219 },
  add_key: { x64: 248, arm64: 217 },
  fanotify_init: { x64: 300, arm64: 262 },
  seccomp: { x64: 317, arm64: 277 },
  chroot: { x64: 161, arm64: 51 },
  tgkill: { x64: 234, arm64: 131 },
  ioctl: { x64: 16, arm64: 29 },
} as const;
