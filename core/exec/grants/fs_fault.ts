import type { Stats } from "node:fs";
import type { ErrorCode } from "../../contract/error_codes.ts";
import { ToolFault } from "../../contract/fault.ts";

/** What was tried, as it stands in messages. */
export type FsAction = "read" | "write";

type Meaning = { code: ErrorCode; found: string; hint: string };

const MEANINGS: Record<string, Meaning> = {
  ENOENT: { code: "fs.not_found", found: "there is no such file", hint: "Find it with glob_search" },
  ENOTDIR: { code: "fs.not_a_directory", found: "a part of the path is not a folder", hint: "Correct the path" },
  EISDIR: { code: "fs.not_a_file", found: "it is a folder", hint: "Name a file in it; glob_search lists them" },
  EACCES: {
    code: "fs.no_permission",
    found: "the operating system does not permit it",
    hint: "Look at its owner and permissions",
  },
  EPERM: {
    code: "fs.no_permission",
    found: "the operating system does not permit it",
    hint: "Look at its owner and attributes",
  },
  EROFS: { code: "fs.no_permission", found: "its file system is read-only", hint: "Write to another place" },
  ENAMETOOLONG: { code: "fs.bad_path", found: "the path or a name in it is too long", hint: "Use a shorter name" },
  ENOSPC: { code: "fs.io", found: "the disk is full", hint: "Free some space and try again" },
  EDQUOT: { code: "fs.io", found: "the disk quota is used up", hint: "Free some space and try again" },
};

/** Turns what node:fs threw into a ToolFault with an `fs.*` code; other errors come back as they are. Never throws. */
export function fsFault(action: FsAction, path: string, error: unknown): unknown {
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  const { code, found, hint } = MEANINGS[errno] ?? {
    code: "fs.io",
    found: `the system says ${errno}`,
    hint: "Try again",
  };
  return new ToolFault({ code, message: `Cannot ${action} "${path}": ${found}`, hint, details: { errno } });
}

/** The errno name of an error of node:fs, for example "ENOENT", or undefined for any other value. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error instanceof ToolFault || !("code" in error)) return undefined;
  return typeof error.code === "string" && /^E[A-Z0-9]+$/.test(error.code) ? error.code : undefined;
}

/** `fs.moved`: the path is not any more what was decided on. `found` says what it is now. */
export function moved(action: FsAction, path: string, found: string): ToolFault {
  return new ToolFault({
    code: "fs.moved",
    message: `Cannot ${action} "${path}": it changed since the call was decided on: ${found}`,
    hint: "Read the file again and repeat the call",
  });
}

/** Throws unless `stats` are those of a regular file: `fs.moved` for a symbolic link, `fs.not_a_file` for all else. */
export function requireRegularFile(action: FsAction, path: string, stats: Stats): void {
  if (stats.isFile()) return;
  // The plan's path has no links left, so a link here was put there after it.
  if (stats.isSymbolicLink()) throw moved(action, path, "it is a symbolic link now");
  const folder = stats.isDirectory();
  const kind = folder ? "a folder" : stats.isFIFO() ? "a FIFO" : stats.isSocket() ? "a socket" : "a device";
  throw new ToolFault({
    code: "fs.not_a_file",
    message: `Cannot ${action} "${path}": it is ${kind}, and a regular file is wanted`,
    hint: folder ? "Name a file in it; glob_search lists them" : "Name a regular file",
  });
}
