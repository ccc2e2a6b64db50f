import {
  closeSync,
  fstatSync,
  constants as fs,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { ToolFault } from "../contract/fault.ts";
import { type ChainEnd, chainLine, FIRST_PREV, type Head, headLine, mendFrom, readHead, sha256 } from "./chain.ts";
import { lockFile } from "./file_lock.ts";

/**
 * A file of JSON lines that only grows, each line chained to the one before (`seq`, `prev`). Processes share it under the
 * lock of the head file beside it, which holds the last number and hash.
 */
export type AppendLog = { append: (row: object) => void; close: () => void };

/** A log that has reached this size is put aside under the number of its last row, and the chain goes on in a new one. */
export const ROTATE_BYTES = 16 << 20;

/** What is looked at from the end where the head is lost: many times the longest row. */
const TAIL_BYTES = 1 << 20;

const LOG_FLAGS = fs.O_RDWR | fs.O_APPEND | fs.O_CREAT | fs.O_NOFOLLOW | fs.O_NONBLOCK;
const HEAD_FLAGS = fs.O_RDWR | fs.O_CREAT | fs.O_NOFOLLOW | fs.O_NONBLOCK;

/** The anchor beside a log. */
export function headPathOf(log: string): string {
  return `${log}.head`;
}

/** Opens the log, made with mode 0600. Throws ToolFault `audit.unwritable` or `state.locked`; `append` throws the same. */
export function openAppendLog(path: string, rotateBytes = ROTATE_BYTES): AppendLog {
  let open = true;
  guarded(path, () => closeSync(openFile(path, LOG_FLAGS)));
  return {
    append: (row) =>
      guarded(path, () => {
        if (!open) throw new Error("it was closed");
        appendLocked(path, row, rotateBytes);
      }),
    close: () => {
      open = false;
    },
  };
}

/** Opened anew for each row: another process may have put the log aside since. */
function appendLocked(path: string, row: object, rotateBytes: number): void {
  const headFd = openFile(headPathOf(path), HEAD_FLAGS);
  try {
    lockFile(headFd, headPathOf(path));
    const head = readHead(headFd);
    let log = openFile(path, LOG_FLAGS);
    try {
      let size = fstatSync(log).size;
      const last = head?.bytes === size ? { ...head, torn: false, lost: false } : mend(log, size, head);
      if (size >= rotateBytes) {
        renameSync(path, asidePath(path, last.seq));
        closeSync(log);
        log = openFile(path, LOG_FLAGS);
        size = 0;
      }
      const line = chainLine(row, last);
      const text = `${last.torn && size > 0 ? "\n" : ""}${line}\n`;
      const written = writeSync(log, text);
      const wanted = Buffer.byteLength(text);
      if (written !== wanted) throw new Error(`only ${written} of ${wanted} bytes were written`);
      writeSync(headFd, headLine({ seq: last.seq + 1, hash: sha256(line), bytes: size + wanted }), 0);
    } finally {
      closeSync(log);
    }
  } finally {
    // This gives the lock back.
    closeSync(headFd);
  }
}

/**
 * The head is behind the log (a writer died between the two), or lost; or rows were cut off: then the chain goes on from the
 * head, so that what is missing shows.
 */
function mend(log: number, size: number, head: Head | null): ChainEnd {
  if (head && head.bytes > size) {
    const torn = size > 0 && readRange(log, size - 1, size).toString() !== "\n";
    return { seq: head.seq, hash: head.hash, torn, lost: false };
  }
  const bytes = readRange(log, head ? head.bytes : Math.max(0, size - TAIL_BYTES), size);
  return mendFrom(bytes, head ?? { seq: 0, hash: FIRST_PREV, bytes: 0 }, head === null);
}

function readRange(fd: number, start: number, end: number): Buffer {
  const bytes = Buffer.alloc(end - start);
  let at = 0;
  for (let count = -1; at < bytes.length && count !== 0; at += count)
    count = readSync(fd, bytes, at, bytes.length - at, start + at);
  return bytes.subarray(0, at);
}

/** `audit.jsonl` put aside after row 7 is `audit-000000000007.jsonl`. */
function asidePath(path: string, seq: number): string {
  return `${path.replace(/\.jsonl$/, "")}-${String(seq).padStart(12, "0")}.jsonl`;
}

/** A log as it stands, files in the order they were written, each with its bytes; read under the lock. */
export type StoredLog = { files: { path: string; bytes: Buffer }[]; head: Head | "missing" | "unreadable" };

/** Reads a log whole. An absent one has no files. Throws ToolFault `audit.unreadable` or `state.locked`. */
export function readStoredLog(path: string): StoredLog {
  try {
    const headPath = headPathOf(path);
    const found = lstatSync(headPath, { throwIfNoEntry: false });
    const headFd = found?.isFile() ? openSync(headPath, fs.O_RDONLY | fs.O_NOFOLLOW) : undefined;
    try {
      if (headFd !== undefined) lockFile(headFd, headPath);
      const files = filesOf(path).map((name) => ({ path: name, bytes: readWhole(name) }));
      return { files, head: headFd === undefined ? "missing" : (readHead(headFd) ?? "unreadable") };
    } finally {
      if (headFd !== undefined) closeSync(headFd);
    }
  } catch (error) {
    if (error instanceof ToolFault) throw error;
    throw new ToolFault({
      code: "audit.unreadable",
      message: `Cannot read the log ${JSON.stringify(path)}: ${error instanceof Error ? error.message : String(error)}`,
      hint: "look at its owner and permissions; only its owner may read it",
    });
  }
}

function filesOf(path: string): string[] {
  const folder = dirname(path);
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  const start = `${basename(path).replace(/\.jsonl$/, "")}-`;
  const isAside = (name: string) => name.startsWith(start) && /^\d{12}\.jsonl$/.test(name.slice(start.length));
  const names = readdirSync(folder).filter(isAside);
  const old = names.sort().map((name) => join(folder, name));
  return lstatSync(path, { throwIfNoEntry: false }) === undefined ? old : [...old, path];
}

function readWhole(path: string): Buffer {
  const fd = openSync(path, fs.O_RDONLY | fs.O_NOFOLLOW | fs.O_NONBLOCK);
  try {
    return readRange(fd, 0, fstatSync(fd).size);
  } finally {
    closeSync(fd);
  }
}

function openFile(path: string, flags: number): number {
  const fd = openSync(path, flags, 0o600);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new Error("it is not a regular file");
}

function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof ToolFault) throw error;
    throw new ToolFault({
      code: "audit.unwritable",
      message: `Cannot write the log ${JSON.stringify(path)}: ${error instanceof Error ? error.message : String(error)}`,
      hint: "nothing was run; set CORDON_STATE_DIR to a folder that you can write",
    });
  }
}
