import {
  accessSync,
  closeSync,
  constants as fs,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ToolFault } from "../../contract/fault.ts";
import { privateFolder } from "../../store/paths.ts";
import { LAUNCHER_FILE, LAUNCHER_SHA256, LAUNCHER_SIZE_BYTES } from "../generated/launcher.ts";
import { dropUnfinished, unfinishedName } from "../../store/unfinished.ts";

/** The launcher as an open descriptor: what was verified is what runs, whatever happens to the name meanwhile. */
export type OpenLauncher = { fd: number; path: string; program: string };

/** The SHA-256 of the launcher inside this executable. */
export const LAUNCHER_DIGEST: string = LAUNCHER_SHA256;

/**
 * Opens the launcher in the private cache, taking it out of this executable when it is not there (mode 0500, name is the
 * hash). A file with other content is replaced. Throws ToolFault `state.insecure` or `audit.unwritable` (the folder).
 */
export function openLauncher(cacheFolder: string, uid: number): OpenLauncher {
  const path = join(privateFolder(cacheFolder, uid), `launcher-${LAUNCHER_SHA256}`);
  const cached = openVerified(path, uid);
  if (cached !== null) return opened(cached, path);
  takeOut(path);
  const fresh = openVerified(path, uid);
  if (fresh !== null) return opened(fresh, path);
  throw new ToolFault({
    code: "state.insecure",
    message: `The launcher ${JSON.stringify(path)} does not have the content that this executable carries, right after it was written`,
    hint: "something else writes in this folder; set CORDON_STATE_DIR to a folder that only you can write",
  });
}

/** Mode 0500 is executable for its owner, so that only a mount with noexec can say no. */
function opened(fd: number, path: string): OpenLauncher {
  const program = programOf(fd, path);
  try {
    accessSync(program, fs.X_OK);
    return { fd, path, program };
  } catch {
    throw new ToolFault({
      code: "sandbox.unenforced",
      message: `The launcher ${JSON.stringify(path)} can't be executed: the file system that holds it is mounted with noexec`,
      hint: "set CORDON_STATE_DIR to a folder where programs may run",
    });
  }
}

/**
 * The name to start it by: the descriptor that was verified, through this process's own folder in /proc. In a pid namespace
 * with another one's /proc (`bwrap --unshare-pid --dev-bind / /`) that folder is not ours, and the name in the private cache
 * has to do.
 */
function programOf(fd: number, path: string): string {
  const ours = `/proc/${process.pid}/fd/${fd}`;
  return isSameFile(ours, fd) ? ours : path;
}

/** Another namespace's /proc may have a process of our number, with other files. */
function isSameFile(path: string, fd: number): boolean {
  try {
    const [named, open] = [statSync(path), fstatSync(fd)];
    return named.ino === open.ino && named.dev === open.dev;
  } catch {
    return false;
  }
}

/** Fits the processor's second-level cache. */
const HASH_PIECE_BYTES = 128 * 1024;

/** Exactly the mode that takeOut gives, and O_NONBLOCK because opening a FIFO would wait for ever. */
function openVerified(path: string, uid: number): number | null {
  let fd: number;
  try {
    fd = openSync(path, fs.O_RDONLY | fs.O_NOFOLLOW | fs.O_NONBLOCK);
  } catch {
    return null;
  }
  const found = fstatSync(fd);
  const sound =
    found.isFile() && found.uid === uid && (found.mode & 0o7777) === 0o500 && found.size === LAUNCHER_SIZE_BYTES;
  if (sound && isKnown(fd, path, uid)) return fd;
  closeSync(fd);
  return null;
}

/**
 * Hashed once a boot: a file that still has the inode, size and ctime that it had then holds the same bytes, since whoever
 * writes to it changes the ctime, which nobody can set. The note of it lies beside it, and is trusted as much.
 */
function isKnown(fd: number, path: string, uid: number): boolean {
  const { dev, ino, size, ctimeNs } = fstatSync(fd, { bigint: true });
  const note = `${bootId()} ${dev} ${ino} ${size} ${ctimeNs}\n`;
  if (noteAt(`${path}.verified`, uid) === note) return true;
  if (digestOf(fd) !== LAUNCHER_SHA256) return false;
  // A younger ctime could be shared by a change that comes after.
  if (BigInt(Date.now()) * 1_000_000n - ctimeNs > SETTLED_NS) writeNote(`${path}.verified`, note);
  return true;
}

/** A ctime is as fine as the kernel's clock ticks. In nanoseconds. */
const SETTLED_NS = 50_000_000n;

function bootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}

function noteAt(path: string, uid: number): string | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const ours = found?.isFile() === true && found.uid === uid && (found.mode & 0o7777) === 0o600;
  return ours ? readFileSync(path, "utf8") : null;
}

/** Not written, it is hashed again the next time. */
function writeNote(path: string, note: string): void {
  const temporary = `${path}.${process.pid}.${crypto.randomUUID()}`;
  try {
    writeFileSync(temporary, note, { mode: 0o600, flag: "wx" });
    renameSync(temporary, path);
  } catch {
    rmSync(temporary, { force: true });
  }
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
 * Written whole under a name of its own and renamed into place: rename(2) puts one file for another in one step, so
 * processes that race all end with the same bytes, and whatever stood there, also a link, is gone.
 */
function takeOut(path: string): void {
  const temporary = unfinishedName(path);
  try {
    const fd = openSync(temporary, fs.O_WRONLY | fs.O_CREAT | fs.O_EXCL | fs.O_NOFOLLOW, 0o600);
    try {
      writeAll(fd, readFileSync(LAUNCHER_FILE));
      fchmodSync(fd, 0o500);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, path);
    dropUnfinished(dirname(path));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new ToolFault({
      code: "audit.unwritable",
      message: `Cannot write the launcher ${JSON.stringify(path)}: ${error instanceof Error ? error.message : String(error)}`,
      hint: "make room, or set CORDON_STATE_DIR to a folder that you can write",
    });
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}
