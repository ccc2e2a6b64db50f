import {
  closeSync,
  constants as fs,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Grant } from "../contract/approval.ts";
import { ToolFault } from "../contract/fault.ts";
import { lockFile } from "./file_lock.ts";
import { privateFolder } from "./paths.ts";
import { dropUnfinished, unfinishedName } from "./unfinished.ts";

/**
 * The file of saved approvals. `read` gives those that are stored, also the expired. `change` reads, edits and writes under a lock, so
 * that processes do not undo each other's changes; it gives what was stored. Both throw ToolFault `policy.bad_grants` for a
 * file that is broken or open to others: nothing is granted from it, and nothing written over it.
 */
export type GrantsFile = {
  path: string;
  read: () => readonly Grant[];
  change: (edit: (stored: readonly Grant[]) => readonly Grant[]) => readonly Grant[];
  /** Puts a broken file aside and stores none; gives the path that the old one has now, if there was one. */
  reset: () => string | undefined;
};

/** Where the approvals of this user are kept. */
export function grantsPathIn(stateFolder: string): string {
  return `${stateFolder}/grants.json`;
}

/** A short name that people can type. */
export function newGrantId(): string {
  return crypto.randomUUID().slice(0, 8);
}

/** Larger than any list that people make. */
const LARGEST_BYTES = 4 << 20;

/** Opens nothing yet. `uid` is the only user who may own it. */
export function openGrantsFile(path: string, uid: number): GrantsFile {
  let known: { mark: string; grants: readonly Grant[] } | undefined;
  const read = () => {
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (found === undefined) return [];
    const mark = `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
    if (known?.mark !== mark) known = { mark, grants: readGrants(path, uid) };
    return known.grants;
  };
  const locked = <T>(work: () => T): T => {
    privateFolder(dirname(path), uid);
    const fd = openSync(`${path}.lock`, fs.O_RDWR | fs.O_CREAT | fs.O_NOFOLLOW, 0o600);
    try {
      lockFile(fd, `${path}.lock`);
      return work();
    } finally {
      closeSync(fd);
    }
  };
  return {
    path,
    read,
    change: (edit) =>
      locked(() => {
        const grants = edit(read());
        write(path, grants);
        return grants;
      }),
    reset: () =>
      locked(() => {
        if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
        const aside = `${path}.broken-${Date.now()}`;
        renameSync(path, aside);
        return aside;
      }),
  };
}

function readGrants(path: string, uid: number): Grant[] {
  let text: string;
  try {
    const fd = openSync(path, fs.O_RDONLY | fs.O_NOFOLLOW | fs.O_NONBLOCK);
    try {
      const found = fstatSync(fd);
      if (!found.isFile()) throw broken(path, "it is no regular file");
      if (found.uid !== uid) throw broken(path, `it belongs to user ${found.uid}`);
      if ((found.mode & 0o077) !== 0)
        throw broken(
          path,
          `others may use it (mode ${(found.mode & 0o777).toString(8)})`,
          `chmod 600 ${path}, after a look at what is in it`,
        );
      if (found.size > LARGEST_BYTES) throw broken(path, `it has ${found.size} bytes`);
      text = readFileSync(fd, "utf8");
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw error instanceof ToolFault ? error : broken(path, error instanceof Error ? error.message : String(error));
  }
  return parseGrants(path, text);
}

function parseGrants(path: string, text: string): Grant[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw broken(path, `it is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { v, grants } = isRecord(value) ? value : {};
  if (v !== 1 || !Array.isArray(grants)) throw broken(path, "it is no list of approvals of this version");
  const at = grants.findIndex((grant) => !isGrant(grant));
  if (at >= 0) throw broken(path, `entry ${at + 1} is no approval`);
  return grants;
}

type Fields = Record<string, unknown>;

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Every field that widens an approval when it is missing or of another kind is checked. */
function isGrant(value: unknown): value is Grant {
  if (!isRecord(value)) return false;
  const { id, rules, exact, bound, shows, scope, workspace, folder, madeAt, expiresAt, usesLeft, by } = value;
  const known = [
    "id",
    "rules",
    "exact",
    "bound",
    "shows",
    "scope",
    "workspace",
    "folder",
    "madeAt",
    "expiresAt",
    "usesLeft",
    "by",
  ];
  if (Object.keys(value).some((name) => !known.includes(name))) return false;
  if (![id, shows, by].every((word) => typeof word === "string") || typeof madeAt !== "number") return false;
  if (scope !== "user" && !(scope === "project" && typeof workspace === "string")) return false;
  if (folder !== undefined && typeof folder !== "string") return false;
  if (![expiresAt, usesLeft].every((count) => count === undefined || Number.isSafeInteger(count))) return false;
  if (exact !== undefined)
    return rules === undefined && /^[0-9a-f]{64}$/.test(String(exact)) && (bound === undefined || isBound(bound));
  return (
    bound === undefined && Array.isArray(rules) && rules.length > 0 && rules.every((rule) => typeof rule === "string")
  );
}

function isBound(value: unknown): boolean {
  if (!isRecord(value) || typeof value["cwd"] !== "string" || typeof value["searchPath"] !== "string") return false;
  const { files } = value;
  const words = ["word", "path", "mark"];
  return (
    Array.isArray(files) &&
    files.every(
      (file) =>
        isRecord(file) &&
        words.every((name) => typeof file[name] === "string") &&
        ["program", "script"].includes(String(file["as"])),
    )
  );
}

function write(path: string, grants: readonly Grant[]): void {
  const temporary = unfinishedName(path);
  const fd = openSync(temporary, "wx", 0o600);
  try {
    const bytes = Buffer.from(`${JSON.stringify({ v: 1, grants }, null, 2)}\n`);
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    renameSync(temporary, path);
    dropUnfinished(dirname(path));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
}

function broken(path: string, why: string, hint = "mend it, or put it aside with `cordon approvals clear`"): ToolFault {
  return new ToolFault({
    code: "policy.bad_grants",
    message: `The saved approvals in ${JSON.stringify(path)} can't be used, so no call is allowed: ${why}`,
    hint,
  });
}
