import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from "node:fs";
import { basename, dirname } from "node:path";
import { ToolFault } from "../../contract/fault.ts";
import type { FilePlan, PlannedPath } from "../../contract/file_plan.ts";
import type { FsGrant, ReadFile, WrittenFile } from "../../contract/grants.ts";
import { errnoOf, type FsAction, fsFault, moved, requireRegularFile } from "./fs_fault.ts";
import { holdFolder, requireSamePlace } from "./held_folder.ts";

const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const NEW_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const CHUNK_BYTES = 256 * 1024;

/**
 * The file handle of one call: works on the plan's paths only, and on what they were when they were judged. A path that
 * was swapped since, for a link or at any folder above, throws `fs.moved`.
 */
export function createFsGrant(plan: FilePlan): FsGrant {
  return {
    read: (path, limitBytes) => readPlanned(findPlanned(plan, path, "read"), limitBytes),
    write: (path, content, expect) => writePlanned(findPlanned(plan, path, "write"), content, expect),
  };
}

function findPlanned(plan: FilePlan, path: string, access: FsAction): PlannedPath {
  const planned = plan.paths.find((entry) => entry.access === access && (entry.given === path || entry.real === path));
  if (planned) return planned;
  throw new ToolFault({
    code: "sandbox.outside",
    message: `Cannot ${access} "${path}": the plan of this call does not list it for that`,
    hint: "A tool must name each path in needs",
  });
}

function readPlanned({ real }: PlannedPath, limitBytes: number): ReadFile {
  try {
    // Before the open, because opening a device can already do something.
    requireRegularFile("read", real, lstatSync(real));
    return readRegular(real, real, limitBytes);
  } catch (error) {
    throw fsFault("read", real, error);
  }
}

/** Opens `name`, which must be the file planned as `path`, and reads it whole. */
function readRegular(name: string, path: string, limitBytes: number): ReadFile {
  const descriptor = openFile(name, path);
  try {
    const stats = fstatSync(descriptor);
    requireRegularFile("read", path, stats);
    requireSamePlace("read", descriptor, path);
    if (stats.size > limitBytes) throw tooLarge(path, stats.size, limitBytes);
    return { path, bytes: readAll(descriptor, path, limitBytes), mtimeMs: stats.mtimeMs, mode: stats.mode & 0o7777 };
  } finally {
    closeSync(descriptor);
  }
}

function openFile(name: string, path: string): number {
  try {
    return openSync(name, READ_FLAGS);
  } catch (error) {
    throw errnoOf(error) === "ELOOP" ? moved("read", path, "it is a symbolic link now") : error;
  }
}

/** Reads to the end and not to the size in fstat: a file may grow, and files of proc(5) say 0. */
function readAll(descriptor: number, path: string, limitBytes: number): Uint8Array {
  const chunks: Buffer[] = [];
  let total = 0;
  while (true) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const count = readSync(descriptor, chunk, 0, CHUNK_BYTES, null);
    if (count === 0) return Buffer.concat(chunks, total);
    chunks.push(chunk.subarray(0, count));
    total += count;
    if (total > limitBytes) throw tooLarge(path, total, limitBytes);
  }
}

function tooLarge(path: string, size: number, limitBytes: number): ToolFault {
  return new ToolFault({
    code: "fs.too_large",
    message: `Cannot read "${path}": its size is ${size} bytes, the limit is ${limitBytes}`,
    hint: "Search it with grep_search, or take a part with bash, for example sed -n '1,200p'",
    details: { size, limitBytes },
  });
}

function writePlanned({ real }: PlannedPath, content: Uint8Array, expect?: Uint8Array): WrittenFile {
  const folder = holdFolder(dirname(real));
  const temporary = folder.at(`.cordon-${crypto.randomUUID()}.tmp`);
  const target = folder.at(basename(real));
  let made = false;
  try {
    const old = lstatSync(target, { throwIfNoEntry: false });
    requireWritable(real, target, old);
    writeNew(temporary, content, { old, onMade: () => (made = true) });
    if (expect) requireUnchanged(target, real, expect);
    renameSync(temporary, target);
    made = false;
    folder.close("keep");
    return { path: real, created: old === undefined };
  } catch (error) {
    if (made) removeQuietly(temporary);
    folder.close("undo");
    throw fsFault("write", real, error);
  }
}

/** A rename needs no right to the old file; a read-only one must stay as it is all the same. */
function requireWritable(real: string, target: string, old: Stats | undefined): void {
  if (old === undefined) return;
  requireRegularFile("write", real, old);
  accessSync(target, constants.W_OK);
}

function writeNew(
  name: string,
  content: Uint8Array,
  { old, onMade }: { old: Stats | undefined; onMade: () => void },
): void {
  // A new file gets what the umask leaves; the copy of an old one is closed to others until it has the old one's mode.
  const descriptor = openSync(name, NEW_FLAGS, old ? 0o600 : 0o666);
  onMade();
  try {
    for (let at = 0; at < content.length; ) at += writeSync(descriptor, content, at);
    if (old) takeOver(descriptor, old);
  } finally {
    closeSync(descriptor);
  }
}

/** Owner first, as chown(2) clears mode bits. Set-id bits go, as they do when a file is written in place (write(2)). */
function takeOver(descriptor: number, old: Stats): void {
  const now = fstatSync(descriptor);
  if (now.uid !== old.uid || now.gid !== old.gid) {
    try {
      fchownSync(descriptor, old.uid, old.gid);
    } catch (error) {
      // Only root can give files away; the file then belongs to whoever wrote it, as with any editor.
      if (errnoOf(error) !== "EPERM") throw error;
    }
  }
  fchmodSync(descriptor, old.mode & 0o777);
}

/** The last look before the rename, so that somebody else's change is not overwritten. */
function requireUnchanged(target: string, real: string, expect: Uint8Array): void {
  const now = lstatSync(target, { throwIfNoEntry: false });
  if (now === undefined) throw moved("write", real, "it is gone");
  requireRegularFile("write", real, now);
  const same = now.size === expect.length && Buffer.compare(readRegular(target, real, now.size).bytes, expect) === 0;
  if (!same) throw moved("write", real, "its content is not what was read");
}

function removeQuietly(name: string): void {
  try {
    unlinkSync(name);
  } catch {
    // The error that led here is the one to report.
  }
}
