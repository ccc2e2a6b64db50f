/**
 * How planning looks at the file system. While a session is open every look is remembered, so that a plan can be used again
 * as long as all that it was made from is the same: `core/adr/0007-run-becomes-the-launcher.md`. Nothing else in this
 * folder may import node:fs.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync as lstat,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";

/** All that planning may know of a file: its time and size would make the plan depend on more than is remembered. */
export type Kind = { isFile: () => boolean; isDirectory: () => boolean; isSymbolicLink: () => boolean };

/** One name in a folder. */
export type Entry = { name: string; isFile: () => boolean; isDirectory: () => boolean };

/** What stood at one name, a link by itself. `errno` is the number. */
type Seen =
  | { kind: "missing" | "folder" | "file" | "other" }
  | { kind: "link"; text: string }
  | { kind: "error"; code: string; errno: number };

/** Everything that was seen: each name by itself, and the folders and files whose content was read, by "dev:ino:ctime". */
export type Looks = {
  names: ReadonlyMap<string, Seen>;
  contents: ReadonlyMap<string, string>;
  /** False when a content was so young that it could change again without a new ctime. */
  settled: boolean;
};

/** The most links that Linux follows in one lookup (MAXSYMLINKS, namei.h). */
const LINKS_LIMIT = 40;

/** A ctime is as fine as the kernel's clock ticks; after this time no change can share it. In nanoseconds. */
const SETTLED_NS = 50_000_000n;

/** A file of more than this is no setting of git or of ours, and is read as far as this only. */
const TEXT_LIMIT = 1 << 20;

type Session = { names: Map<string, Seen>; contents: Map<string, string>; settled: boolean };

/** One at a time remembers: the one planning of `cordon run`, or a survey, which waits for nothing. */
let session: Session | undefined;

/** Starts to remember. */
export function beginLooks(): void {
  session = { names: new Map(), contents: new Map(), settled: true };
}

/** Ends the session and gives what was seen, or nothing when none was open. */
export function endLooks(): Looks | undefined {
  const ended = session;
  session = undefined;
  return ended;
}

/** What `work` gives, with what it looked at; without that where a session is open already, which gets to know it. */
export function lookedAt<T>(work: () => T): { value: T; looks: Looks | undefined } {
  if (session) return { value: work(), looks: undefined };
  beginLooks();
  try {
    const value = work();
    return { value, looks: endLooks() };
  } finally {
    endLooks();
  }
}

/** Whether everything that was seen would be seen again. Mirror: `sandbox-native/linux/src/direct/witness.rs`. */
export function stillHolds({ names, contents }: Looks): boolean {
  for (const [path, was] of names) if (!isSame(look(path), was)) return false;
  for (const [path, was] of contents) {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (found === undefined || identityOf(found) !== was) return false;
  }
  return true;
}

function isSame(seen: Seen, was: Seen): boolean {
  if (seen.kind === "link") return was.kind === "link" && seen.text === was.text;
  if (seen.kind === "error") return was.kind === "error" && seen.errno === was.errno;
  return seen.kind === was.kind;
}

/** lstat(2) without what nobody may depend on; undefined when there is nothing. Throws other errors of the system. */
export function lstatSync(path: string): Kind | undefined {
  return session
    ? kindOf(walk(session, path, "keep the last link").seen, path)
    : lstat(path, { throwIfNoEntry: false });
}

/** stat(2), the same way. */
export function kindSync(path: string): Kind | undefined {
  if (!session) return statSync(path, { throwIfNoEntry: false });
  return kindOf(walk(session, path, "follow").seen, path);
}

/** realpath(3). Throws errors of the system. */
export function realpath(path: string): string {
  if (!session) return realpathSync.native(path);
  const { at, seen } = walk(session, path, "follow");
  if (seen.kind === "missing") throw systemError("ENOENT", path);
  if (seen.kind === "error") throw systemError(seen.code, path);
  return at;
}

/** readlink(2). Throws errors of the system. */
export function linkTextSync(path: string): string {
  if (!session) return readlinkSync(path);
  const { seen } = walk(session, path, "keep the last link");
  if (seen.kind === "link") return seen.text;
  throw systemError(seen.kind === "missing" ? "ENOENT" : "EINVAL", path);
}

/** The entries of a folder. Throws errors of the system. */
export function listSync(path: string): readonly Entry[] {
  if (!session) return listAgain(path);
  rememberContent(path);
  return readdirSync(path, { withFileTypes: true });
}

type Listing = { key: string; entries: readonly Entry[] };

/** What a lasting process has listed, by path: each command looks through the same folders, and a stat is cheaper than a list. */
const listings = new Map<string, Listing>();

const LISTINGS_LIMIT = 1000;

function listAgain(path: string): readonly Entry[] {
  const { dev, ino, ctimeNs } = statSync(path, { bigint: true });
  const key = `${dev}:${ino}:${ctimeNs}`;
  const known = listings.get(path);
  if (known?.key === key) return known.entries;
  const entries = readdirSync(path, { withFileTypes: true });
  listings.delete(path);
  if (BigInt(Date.now()) * 1_000_000n - ctimeNs < SETTLED_NS) return entries;
  if (listings.size >= LISTINGS_LIMIT) listings.clear();
  listings.set(path, { key, entries });
  return entries;
}

/** A file's text. Throws errors of the system. */
export function textSync(path: string): string {
  rememberContent(path);
  return readFileSync(path, "utf8").slice(0, TEXT_LIMIT);
}

/** A file with what says who can change it. `folder` is its folder's owner. */
export type OwnedFile = { bytes: Uint8Array; owner: Owner; folder: Owner };

/** Who can change a file: its user and group, and the permission bits. */
export type Owner = { uid: number; gid: number; mode: number };

/**
 * Opens a file and reads it, with its owner as the open file has it. "other" is what is no regular file, "large" what has more than `limit`
 * bytes. Links are followed: `realpath` says where they lead. Throws errors of the system.
 */
export function ownedFileSync(path: string, limit: number): OwnedFile | "other" | "large" {
  // A pipe that nobody writes to would wait for ever; a device may do anything when it is opened.
  if (kindSync(path)?.isFile() !== true) return "other";
  const real = realpath(path);
  const fd = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY);
  try {
    const found = fstatSync(fd, { bigint: true });
    if (!found.isFile()) return "other";
    if (found.size > BigInt(limit)) return "large";
    // Another owner or mode is another ctime.
    remember(real, found);
    return { bytes: readFileSync(fd), owner: ownerFrom(found), folder: ownerSync(dirname(real)) };
  } finally {
    closeSync(fd);
  }
}

/** Who can change what is in a folder. Throws errors of the system. */
export function ownerSync(path: string): Owner {
  const found = statSync(path, { bigint: true });
  remember(path, found);
  return ownerFrom(found);
}

function ownerFrom({ uid, gid, mode }: { uid: bigint; gid: bigint; mode: bigint }): Owner {
  return { uid: Number(uid), gid: Number(gid), mode: Number(mode) & 0o7777 };
}

/** Before the content is read: what changes meanwhile makes the remembered identity an old one. */
function rememberContent(path: string): void {
  if (!session) return;
  const real = realpath(path);
  if (!session.contents.has(real)) remember(real, statSync(real, { bigint: true }));
}

type Identified = { dev: bigint; ino: bigint; ctimeNs: bigint };

function identityOf({ dev, ino, ctimeNs }: Identified): string {
  return `${dev}:${ino}:${ctimeNs}`;
}

function remember(real: string, found: Identified): void {
  if (!session || session.contents.has(real)) return;
  session.contents.set(real, identityOf(found));
  if (BigInt(Date.now()) * 1_000_000n - found.ctimeNs < SETTLED_NS) session.settled = false;
}

/** Goes from name to name as the kernel would, looking at each once, so that what is remembered is what was used. */
function walk(open: Session, path: string, last: "follow" | "keep the last link"): { at: string; seen: Seen } {
  let at = "/";
  let links = 0;
  let seen: Seen = { kind: "folder" };
  const absolute = path.startsWith("/") ? path : `${process.cwd()}/${path}`;
  const rest = absolute.split("/").reverse();
  for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
    if (name === "" || name === ".") continue;
    if (seen.kind !== "folder")
      return { at, seen: seen.kind === "missing" || seen.kind === "error" ? seen : NOT_A_FOLDER };
    if (name === "..") {
      at = dirname(at);
      continue;
    }
    const next = at === "/" ? `/${name}` : `${at}/${name}`;
    seen = lookAt(open, next);
    if (seen.kind === "link" && (last === "follow" || rest.some((part) => part !== "" && part !== "."))) {
      if (++links > LINKS_LIMIT) return { at: next, seen: TOO_MANY_LINKS };
      if (seen.text.startsWith("/")) at = "/";
      rest.push(...seen.text.split("/").reverse());
      seen = { kind: "folder" };
    } else at = next;
  }
  return { at, seen };
}

const NOT_A_FOLDER: Seen = { kind: "error", code: "ENOTDIR", errno: 20 };
const TOO_MANY_LINKS: Seen = { kind: "error", code: "ELOOP", errno: 40 };

function lookAt(open: Session, path: string): Seen {
  const known = open.names.get(path);
  if (known) return known;
  const seen = look(path);
  open.names.set(path, seen);
  return seen;
}

function look(path: string): Seen {
  try {
    const found = lstat(path, { throwIfNoEntry: false });
    if (found === undefined) return { kind: "missing" };
    if (found.isSymbolicLink()) return { kind: "link", text: readlinkSync(path) };
    return { kind: found.isDirectory() ? "folder" : found.isFile() ? "file" : "other" };
  } catch (error) {
    if (!(error instanceof Error && "code" in error && "errno" in error)) throw error;
    return { kind: "error", code: String(error.code), errno: Math.abs(Number(error.errno)) };
  }
}

function kindOf(seen: Seen, path: string): Kind | undefined {
  if (seen.kind === "missing") return undefined;
  if (seen.kind === "error") throw systemError(seen.code, path);
  return {
    isFile: () => seen.kind === "file",
    isDirectory: () => seen.kind === "folder",
    isSymbolicLink: () => seen.kind === "link",
  };
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${JSON.stringify(path)}`), { code });
}

/** Whether paths match a glob, by their text alone: nothing is looked up. */
export function globTest(glob: string): (path: string) => boolean {
  const compiled = new Bun.Glob(glob);
  return (path) => compiled.match(path);
}
