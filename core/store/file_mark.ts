import { accessSync, closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Bound, FileMark } from "../contract/approval.ts";

/** Larger files that are no scripts are known by inode, size and times alone: hashing 16 MiB takes some 10 ms. */
const HASHED_BYTES = 16 << 20;

/** Where only the system's packages write. */
const SYSTEM = /^\/(usr|bin|sbin|lib|lib64|opt|nix\/store|snap)\//;

/** Where words of a command are looked up. `searchPath` is a PATH. */
export type LookUp = { cwd: string; searchPath: string };

/** The program that a word starts, found as a shell does. Undefined where there is none. Never throws. */
export function findProgram(word: string, { cwd, searchPath }: LookUp): string | undefined {
  if (word.includes("/")) return runnable(isAbsolute(word) ? word : join(cwd, word));
  for (const folder of searchPath.split(":")) {
    const found = runnable(join(isAbsolute(folder) ? folder : join(cwd, folder), word));
    if (found !== undefined) return found;
  }
  return undefined;
}

function runnable(path: string): string | undefined {
  try {
    if (!statSync(path).isFile()) return undefined;
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    return undefined;
  }
}

/** The regular file that a word names, as an interpreter would open it. Undefined where there is none. Never throws. */
export function findFile(word: string, { cwd }: LookUp): string | undefined {
  const path = isAbsolute(word) ? word : join(cwd, word);
  try {
    return statSync(path).isFile() ? path : undefined;
  } catch {
    return undefined;
  }
}

/** What stands at `path` now, links followed. Undefined where it can't be read. Never throws. */
export function markFile(word: string, as: FileMark["as"], path: string): FileMark | undefined {
  try {
    const real = realpathSync(path);
    const fd = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(fd, { bigint: true });
      if (!stats.isFile()) return undefined;
      const start = Buffer.alloc(2);
      const script = readSync(fd, start, 0, 2, 0) === 2 && start.toString("latin1") === "#!";
      const small = stats.size <= BigInt(HASHED_BYTES);
      const digest = script || as === "script" || (small && !SYSTEM.test(real)) ? digestOf(fd) : undefined;
      const mark = `${stats.ino} ${stats.size} ${stats.mtimeNs}${digest ? "" : ` ${stats.ctimeNs}`}`;
      return { word, as, path: real, mark, ...(digest ? { digest } : {}) };
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

function digestOf(fd: number): string {
  const hash = new Bun.CryptoHasher("sha256");
  const chunk = Buffer.alloc(256 * 1024);
  for (let at = 0; ; ) {
    const count = readSync(fd, chunk, 0, chunk.length, at);
    if (count === 0) return hash.digest("hex");
    hash.update(chunk.subarray(0, count));
    at += count;
  }
}

/**
 * Looks up every word of an approval again, as it was looked up then: the path of the first that leads to another file by now or
 * to another content; undefined when all is as it was. Never throws.
 */
export function changedSince({ cwd, searchPath, files }: Bound): string | undefined {
  const place = { cwd, searchPath };
  return files.find((before) => {
    const path = before.as === "program" ? findProgram(before.word, place) : findFile(before.word, place);
    const now = path === undefined ? undefined : markFile(before.word, before.as, path);
    if (now?.path !== before.path) return true;
    return before.digest === undefined ? now.mark !== before.mark : now.digest !== before.digest;
  })?.path;
}
