import type { FileLayer } from "../../contract/settings.ts";
import type { World } from "../world.ts";
import { lstatSync, type OwnedFile, ownedFileSync, type Owner, ownerSync, realpath } from "../look.ts";
import { dirname } from "node:path";
import { invalid } from "./located.ts";

/** No settings of a person come near this. In bytes. */
const SIZE_LIMIT = 1 << 20;

const GROUP_WRITES = 0o020;
const OTHERS_WRITE = 0o002;

/** A file to read. `shown` is its name in messages. */
export type Candidate = { path: string; shown: string; layer: FileLayer };

/** Whose files are taken. */
export type Person = Pick<World, "uid" | "gid" | "env">;

/**
 * The text of a settings file, or null where there is none. Throws ToolFault `config.invalid` for one that somebody else could have
 * written, or that is no plain file of its folder.
 */
export function readOwnText(candidate: Candidate, person: Person): string | null {
  const found = open(candidate, person);
  if (found === null) return null;
  refuseOthers(candidate, found, person);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(found.bytes);
  } catch {
    throw invalid(at(candidate), "it is not UTF-8", "save it as UTF-8");
  }
}

function open(candidate: Candidate, person: Person): OwnedFile | null {
  const { path, layer } = candidate;
  try {
    if (lstatSync(path) === undefined) return null;
    refuseStrayLink(candidate);
    const found = ownedFileSync(path, SIZE_LIMIT);
    if (found === "other")
      throw invalid(at(candidate), "it is a folder, a pipe, a device or a socket", "a plain file is wanted");
    if (found === "large") throw invalid(at(candidate), `it has more than ${SIZE_LIMIT} bytes`, "write less");
    return found;
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    // A name below a file, or a link to nothing, is no settings file.
    if (code === "ENOTDIR" || code === "ENOENT") return null;
    // In a sandbox of ours the person's own settings are hidden, and what they say holds from outside.
    if (layer === "user" && person.env["CORDON_SANDBOX"] === "1" && (code === "EACCES" || code === "EPERM"))
      return null;
    throw invalid(
      at(candidate),
      `it can't be read: ${code}`,
      "nothing is run without knowing what it says; make it readable, or remove it",
    );
  }
}

/** A project's `.cordon` that is a link, or a file in it that is one, would let a repository name any file of the machine. */
function refuseStrayLink(candidate: Candidate): void {
  const { path, layer } = candidate;
  const folder = dirname(path);
  const project = layer === "project" || layer === "local";
  const stray = project && lstatSync(folder)?.isSymbolicLink() === true ? folder : path;
  const real = realpath(path);
  if (stray === path && dirname(real) === realpath(folder)) return;
  throw invalid(
    at(candidate),
    `${JSON.stringify(stray)} is a link that leads to ${JSON.stringify(real)}`,
    "put the file itself in its folder",
  );
}

function refuseOthers(candidate: Candidate, { owner, folder }: OwnedFile, person: Person): void {
  const owners = candidate.layer === "managed" ? [0] : [0, person.uid];
  for (const [what, found] of [
    ["it", owner],
    ["its folder", folder],
  ] as const) {
    // In a user namespace root is another number: whoever owns /etc.
    if (!owners.includes(found.uid) && found.uid !== ownerSync("/etc").uid) {
      const wanted = candidate.layer === "managed" ? "root must own it" : "you or root must own it";
      throw invalid(at(candidate), `${what} belongs to the user with the number ${found.uid}`, wanted);
    }
    if (!writableByOthers(found, person)) continue;
    const mode = (found.mode & 0o777).toString(8);
    throw invalid(
      at(candidate),
      `${what} can be written by others (mode ${mode})`,
      `chmod go-w ${what === "it" ? candidate.shown : dirname(candidate.shown)}`,
    );
  }
}

/**
 * Where each user has a group of one's own, systems set umask 002 for those whose user and group numbers are the same
 * (login.defs(5), USERGROUPS_ENAB): that group is the person.
 */
function writableByOthers({ mode, gid }: Owner, person: Person): boolean {
  if (mode & OTHERS_WRITE) return true;
  const ownGroup = gid === person.gid && person.uid === person.gid;
  return (mode & GROUP_WRITES) !== 0 && !ownGroup;
}

/** The whole file has no better place than its start. */
function at({ shown }: Candidate): string {
  return `${shown}:1:1`;
}

function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && !("hint" in error) ? String(error.code) : undefined;
}
