import { closeSync, constants as fs, fchmodSync, fstatSync, linkSync, openSync, readFileSync, readSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ToolFault } from "../../contract/fault.ts";
import { privateFolder } from "../../store/paths.ts";
import { LAUNCHER_FILE, LAUNCHER_SHA256, LAUNCHER_SIZE_BYTES } from "../generated/launcher.ts";

/** The launcher as an open descriptor: what was verified is what runs, whatever happens to the name meanwhile. */
export type OpenLauncher = { fd: number; path: string };

/** The SHA-256 of the launcher inside this executable. */
export const LAUNCHER_DIGEST: string = LAUNCHER_SHA256;

/**
 * Opens the launcher in the private cache, taking it out of this executable when it is not there (mode 0500, name is the
 * hash). A file with other content is replaced. Throws ToolFault `state.insecure` or `audit.unwritable` (the folder).
 */
export function openLauncher(cacheFolder: string, uid: number): OpenLauncher {
  const path = join(privateFolder(cacheFolder, uid), `launcher-${LAUNCHER_SHA256}`);
  const cached = openVerified(path, uid);
  if (cached !== null) return { fd: cached, path };
  takeOut(path);
  const fresh = openVerified(path, uid);
  if (fresh !== null) return { fd: fresh, path };
  throw new ToolFault({
    code: "state.insecure",
    message: `The launcher ${JSON.stringify(path)} does not have the content that this executable carries, right after it was written`,
    hint: "something else writes in this folder; set CORDON_STATE_DIR to a folder that only you can write",
  });
}

/** Fits the processor's second-level cache. */
const HASH_PIECE_BYTES = 128 * 1024;

function openVerified(path: string, uid: number): number | null {
  let fd: number;
  try {
    fd = openSync(path, fs.O_RDONLY | fs.O_NOFOLLOW);
  } catch {
    return null;
  }
  const found = fstatSync(fd);
  const sound = found.isFile() && found.uid === uid && (found.mode & 0o222) === 0 && found.size === LAUNCHER_SIZE_BYTES;
  if (sound && digestOf(fd) === LAUNCHER_SHA256) return fd;
  closeSync(fd);
  return null;
}

/** Hashed in pieces through one small buffer: reading the whole file into fresh memory would cost as much as the hash. */
function digestOf(fd: number): string {
  const hash = new Bun.CryptoHasher("sha256");
  const piece = Buffer.allocUnsafe(HASH_PIECE_BYTES);
  for (let at = 0; ; ) {
    const length = readSync(fd, piece, 0, piece.length, at);
    if (length === 0) return hash.digest("hex");
    hash.update(piece.subarray(0, length));
    at += length;
  }
}

/**
 * Written under a name of its own and linked into place: link(2) does not replace, so of two processes that race one wins
 * with a whole file and the other uses it.
 */
function takeOut(path: string): void {
  const temporary = `${path}.${process.pid}.${crypto.randomUUID()}`;
  const fd = openSync(temporary, fs.O_WRONLY | fs.O_CREAT | fs.O_EXCL | fs.O_NOFOLLOW, 0o600);
  try {
    writeAll(fd, readFileSync(LAUNCHER_FILE));
    fchmodSync(fd, 0o500);
  } finally {
    closeSync(fd);
  }
  try {
    linkSync(temporary, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    replaceIfForeign(path, temporary);
  } finally {
    unlinkSync(temporary);
  }
}

/** A damaged file under our name is taken away and ours linked again; a good one that another process made stays. */
function replaceIfForeign(path: string, temporary: string): void {
  if (sha256(readFileSync(path)) === LAUNCHER_SHA256 && (fstatMode(path) & 0o222) === 0) return;
  unlinkSync(path);
  linkSync(temporary, path);
}

function fstatMode(path: string): number {
  const fd = openSync(path, fs.O_RDONLY | fs.O_NOFOLLOW);
  try {
    return fstatSync(fd).mode;
  } finally {
    closeSync(fd);
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}

function sha256(bytes: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}
