/**
 * The few calls of the system that `run` needs to become the launcher. Through bun:ffi and not node:fs, which costs 1.3 ms of
 * start-up where this costs 0.6, and which has no execve that keeps what is open.
 */
import { dlopen, ptr } from "bun:ffi";

/** What a file is. `mark` holds its inode, size and ctime: nobody can change it and keep all of these. */
export type Identity = { uid: number; mode: number; mark: string };

/** Calls of the system. Numbers below zero are failures; the reason does not matter, since each has a slower way round. */
export type NativeCalls = {
  /** Opens for reading, not through a link, not waiting for a FIFO. `keep`: stays open when this program is replaced. */
  open: (path: string, after: "keep" | "close") => number;
  close: (fd: number) => void;
  /** What an open file, or a folder by its path, is; null when it can't be said. */
  identify: (file: number | string) => Identity | null;
  /** Whether a file begins with this text; its position stays where it is. */
  startsWith: (fd: number, text: string) => boolean;
  uid: () => number;
  /** Replaces this program, with the environment it was started with. Comes back only when that failed. */
  execute: (path: string, argv: readonly string[]) => void;
};

/** System call numbers, which are the kernel's promise and the same in each libc; O_NOFOLLOW differs too (fcntl.h). */
const TABLES = {
  x64: { openat: 257, close: 3, pread64: 17, statx: 332, geteuid: 107, O_NOFOLLOW: 0o400000 },
  arm64: { openat: 56, close: 57, pread64: 67, statx: 291, geteuid: 175, O_NOFOLLOW: 0o100000 },
} as const;

const O_NONBLOCK = 0o4000;
const O_CLOEXEC = 0o2000000;
const AT_SYMLINK_NOFOLLOW = 0x100;
const AT_EMPTY_PATH = 0x1000;
/** Basic fields of struct statx, which is 256 bytes long (statx(2)). */
const STATX_BASIC = 0x7ff;
const STATX_BYTES = 256;

/** Null on a machine whose calls are not known: then nothing is lost but time. */
export function nativeCalls(): NativeCalls | null {
  const arch = process.arch;
  if (process.platform !== "linux" || (arch !== "x64" && arch !== "arm64")) return null;
  try {
    const { symbols } = dlopen("libc.so.6", {
      syscall: { args: ["i64", "ptr", "ptr", "ptr", "ptr", "ptr"], returns: "i32" },
      execv: { args: ["ptr", "ptr"], returns: "i32" },
    });
    return callsOver(symbols.syscall, symbols.execv, TABLES[arch]);
  } catch {
    return null; // another libc
  }
}

type Word = number | Uint8Array | null;
type Syscall = (number: number, a: Word, b: Word, c: Word, d: Word, e: Word) => number;
type Execv = (path: Uint8Array, argv: BigUint64Array) => number;

function callsOver(syscall: Syscall, execv: Execv, table: (typeof TABLES)["x64" | "arm64"]): NativeCalls {
  const identify = (file: number | string): Identity | null => {
    // Words of 32 bits, low half first, as both architectures have them: the first BigInt of a program takes 0.2 ms.
    const out = new Uint32Array(STATX_BYTES / 4);
    const bytes = new Uint8Array(out.buffer);
    const failed =
      typeof file === "number"
        ? syscall(table.statx, file, cString(""), AT_EMPTY_PATH, STATX_BASIC, bytes) < 0
        : syscall(table.statx, 0, cString(file), AT_SYMLINK_NOFOLLOW, STATX_BASIC, bytes) < 0;
    if (failed) return null;
    const mark = `${out[8]} ${out[9]} ${out[10]} ${out[11]} ${out[24]} ${out[25]} ${out[26]}`;
    return { uid: out[5] ?? -1, mode: (out[7] ?? 0) & 0xffff, mark };
  };
  return {
    open: (path, after) => {
      const flags = table.O_NOFOLLOW | O_NONBLOCK | (after === "close" ? O_CLOEXEC : 0);
      // The folder's descriptor does not matter: the path is absolute.
      return syscall(table.openat, 0, cString(path), flags, 0, null);
    },
    close: (fd) => void syscall(table.close, fd, null, null, null, null),
    identify,
    startsWith: (fd, text) => {
      const found = new Uint8Array(ENCODER.encode(text).length);
      if (syscall(table.pread64, fd, found, found.length, 0, null) !== found.length) return false;
      return new TextDecoder().decode(found) === text;
    },
    uid: () => syscall(table.geteuid, null, null, null, null, null),
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

// Not Buffer, whose first use takes 0.2 ms.
const ENCODER = new TextEncoder();

function cString(text: string): Uint8Array {
  return ENCODER.encode(`${text}\0`);
}
