import { dirname, join, resolve } from "node:path";
import { ToolFault } from "../contract/fault.ts";
import type { ResolvedPath } from "../contract/resolved_path.ts";
import type { Surveyed } from "../contract/survey.ts";
import { type Kind, kindSync, linkTextSync, lstatSync, realpath } from "./look.ts";

/** The most bytes that Linux takes for one path (PATH_MAX, limits.h). */
const PATH_MAX_BYTES = 4096;

/** Resolves a path against `cwd`; `~/` is the home folder. Throws ToolFault `fs.bad_path` or `fs.no_permission`. */
export function resolvePath(given: string, cwd: string, home: string): ResolvedPath {
  checkText(given);
  const expanded = given === "~" ? home : given.startsWith("~/") ? join(home, given.slice(2)) : given;
  const absolute = resolve(cwd, expanded);
  const { real, exists } = realOf(absolute);
  return { given, absolute, real, exists, kind: exists ? kindOf(real) : "missing" };
}

/**
 * The same for one of the many places that the survey asks for, most of which are not there: a missing one costs a single
 * call and no exception. Its missing parts are not resolved, since nothing is done with them.
 */
export function surveyPath(absolute: string): Surveyed {
  const there = lstatSync(absolute);
  if (there === undefined) return { given: absolute, absolute, real: absolute, exists: false, kind: "missing" };
  const real = realpath(absolute);
  const target = there.isSymbolicLink() ? linkTextSync(absolute) : undefined;
  const kind = target === undefined ? kindOfStat(there) : kindOf(real);
  return { given: absolute, absolute, real, exists: true, kind, ...(target === undefined ? {} : { link: target }) };
}

/** Missing parts are kept as they are below the deepest folder that exists: there are no links in what does not exist. */
function realOf(absolute: string): { real: string; exists: boolean } {
  let rest = "";
  for (let at = absolute; ; at = dirname(at)) {
    try {
      const real = realpath(at);
      return rest === "" ? { real, exists: true } : { real: join(real, rest), exists: false };
    } catch (error) {
      const code = errnoOf(error);
      if (code !== "ENOENT" && code !== "ENOTDIR") throw unreadable(at, code);
      // A dangling link: what it points at would be made by a write, somewhere the caller did not name.
      if (linkText(at) !== undefined) throw dangling(at);
      rest = rest === "" ? at.slice(dirname(at).length).replace(/^\//, "") : join(at.slice(dirname(at).length), rest);
      if (at === dirname(at)) return { real: absolute, exists: false };
    }
  }
}

function kindOf(real: string): "file" | "folder" | "other" | "missing" {
  try {
    const found = kindSync(real);
    return found === undefined ? "missing" : kindOfStat(found);
  } catch {
    return "missing";
  }
}

function kindOfStat(found: Kind): "file" | "folder" | "other" {
  return found.isFile() ? "file" : found.isDirectory() ? "folder" : "other";
}

function linkText(path: string): string | undefined {
  try {
    return lstatSync(path)?.isSymbolicLink() ? linkTextSync(path) : undefined;
  } catch {
    return undefined;
  }
}

function checkText(given: string): void {
  const why =
    given === ""
      ? "it is empty"
      : given.includes("\0")
        ? "it has a NUL byte"
        : Buffer.byteLength(given) >= PATH_MAX_BYTES
          ? `it has ${Buffer.byteLength(given)} bytes, and the limit is ${PATH_MAX_BYTES - 1}`
          : "";
  if (why !== "")
    throw new ToolFault({
      code: "fs.bad_path",
      message: `The path ${JSON.stringify(given.slice(0, 100))} can't be used: ${why}`,
    });
}

function dangling(path: string): ToolFault {
  return new ToolFault({
    code: "fs.not_found",
    message: `${JSON.stringify(path)} is a link to something that does not exist`,
    hint: "name the link's target itself",
  });
}

function unreadable(path: string, code: string): ToolFault {
  const loop = code === "ELOOP";
  return new ToolFault({
    code: loop || code === "ENAMETOOLONG" ? "fs.bad_path" : "fs.no_permission",
    message: `Cannot look up ${JSON.stringify(path.slice(0, 300))}: ${loop ? "its links lead in a circle" : code}`,
  });
}

function errnoOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "EIO";
}
