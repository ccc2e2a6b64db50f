import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  rmdirSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf, fsFault, moved } from "./fs_fault.ts";

/**
 * A folder held open. `at` names an entry of this very folder, wherever its path leads by now. `close` gives it back and,
 * with "undo", removes the folders that were made on the way; it never throws.
 */
export type HeldFolder = { at: (name: string) => string; close: (end: "keep" | "undo") => void };

/** Not in node's constants; include/uapi/asm-generic/fcntl.h. Opens a folder without the right to list it. */
const O_PATH = 0o10000000;

/** Linux's way to name an open descriptor; elsewhere the identity of the open file is compared with the path's. */
const hasDescriptorPaths = () => existsSync("/proc/self/fd");

/**
 * Opens the folder of a file that is to be written and makes the missing ones. `path` is planned: real, without links.
 * Throws `fs.moved` when it leads elsewhere now, and the other `fs.*`.
 */
export function holdFolder(path: string): HeldFolder {
  const opened: number[] = [];
  const made: string[] = [];
  const close = (end: "keep" | "undo") => {
    // Deepest first, while the folders above are still open. One that is not empty any more is somebody's and stays.
    if (end === "undo") for (const entry of made.toReversed()) quietly(() => rmdirSync(entry));
    for (const descriptor of opened.splice(0)) closeSync(descriptor);
  };
  try {
    const descriptor = descend(path, opened, made);
    return { at: (name) => join(nameOf(descriptor, path), name), close };
  } catch (error) {
    close("undo");
    throw error;
  }
}

/** Opens a folder by its path or, when it is missing, its parent first and then itself inside that. */
function descend(path: string, opened: number[], made: string[]): number {
  const existing = openFolder(path, path);
  if (existing !== undefined) return keep(existing, path, opened);
  const parent = dirname(path);
  if (parent === path) throw moved("write", path, "the root folder is not there");
  const above = descend(parent, opened, made);
  const entry = join(nameOf(above, parent), basename(path));
  try {
    mkdirSync(entry);
    made.push(entry);
  } catch (error) {
    // Somebody else made it in between; whatever it is, it is checked below.
    if (errnoOf(error) !== "EEXIST") throw fsFault("write", path, error);
  }
  const child = openFolder(entry, path);
  if (child === undefined) throw moved("write", path, "the new folder is gone again");
  return keep(child, path, opened);
}

function keep(descriptor: number, path: string, opened: number[]): number {
  opened.push(descriptor);
  requireSamePlace("write", descriptor, path);
  return descriptor;
}

function openFolder(name: string, path: string): number | undefined {
  const base = constants.O_DIRECTORY | constants.O_NOFOLLOW;
  try {
    return openSync(name, hasDescriptorPaths() ? base | O_PATH : base | constants.O_RDONLY);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOENT") return undefined;
    // O_NOFOLLOW on a link says ELOOP or, with O_DIRECTORY, ENOTDIR (open(2)).
    if ((errno === "ENOTDIR" || errno === "ELOOP") && isLink(name))
      throw moved("write", path, "it is a symbolic link now");
    throw fsFault("write", path, error);
  }
}

function isLink(name: string): boolean {
  return lstatSync(name, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

/** Throws `fs.moved` unless the descriptor is the file or folder that the planned path names, no link on the way. */
export function requireSamePlace(action: "read" | "write", descriptor: number, path: string): void {
  if (hasDescriptorPaths()) {
    // The kernel's own name for what is open: links in any part of the path would show here (proc_pid_fd(5)).
    const place = readlinkSync(`/proc/self/fd/${descriptor}`);
    if (place !== path) throw moved(action, path, `it leads to "${place}" now`);
    return;
  }
  const open = fstatSync(descriptor);
  const named = lstatSync(path, { throwIfNoEntry: false });
  if (named?.ino !== open.ino || named.dev !== open.dev) throw moved(action, path, "another file has its name now");
}

function nameOf(descriptor: number, path: string): string {
  return hasDescriptorPaths() ? `/proc/self/fd/${descriptor}` : path;
}

function quietly(action: () => void): void {
  try {
    action();
  } catch {
    // Undoing is best effort: the error that led here is the one to report.
  }
}
