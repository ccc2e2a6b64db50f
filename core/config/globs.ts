import { ToolFault } from "../contract/fault.ts";

/** What the guard takes for a pattern: `*`, `?`, `[..]` or `{..}` that no backslash stands before. */
const SPECIAL = /(?<!\\)(?:[*?]|\[!?\^?\]?[^\]]*\]|\{[^}]*\})/;

/** The most alternatives that one brace list may stand for; the launcher refuses more. */
const ALTERNATIVES_LIMIT = 1000;

/** True where a value given as a path is a pattern. A file of that very name still wins; only the file system knows. */
export function isGlob(path: string): boolean {
  return SPECIAL.test(path);
}

/** A name or path that stands for itself in a glob. */
export function literal(path: string): string {
  return path.replace(/[*?[\]{}\\,!]/g, "\\$&");
}

/** The leading folders of an absolute glob that hold no pattern; "/" when the first one does. */
export function fixedFolder(glob: string): string {
  const special = SPECIAL.exec(glob)?.index ?? glob.length;
  return glob.slice(0, glob.lastIndexOf("/", special)).replace(/\\(.)/g, "$1") || "/";
}

/** The same glob below the real place of its fixed folder. */
export function globIn(glob: string, real: string): string {
  const special = SPECIAL.exec(glob)?.index ?? glob.length;
  return `${real === "/" ? "" : literal(real)}${glob.slice(glob.lastIndexOf("/", special))}`;
}

/** Throws ToolFault `config.invalid` for a glob that the launcher would refuse. `flag` is where it was given. */
export function requireGlob(glob: string, flag: string): void {
  const groups = [...glob.matchAll(/(?<!\\)\{([^{}]*)\}/g)].map(([, list]) => (list ?? "").split(",").length);
  const why = /(?:^|[^\\])(?:\\\\)*\\$/.test(glob)
    ? "it ends in a backslash"
    : /\/\.{1,2}(?:\/|$)/.test(glob)
      ? 'it has a "." or ".." in it'
      : groups.reduce((all, one) => all * one, 1) > ALTERNATIVES_LIMIT
        ? `its braces stand for more than ${ALTERNATIVES_LIMIT} patterns`
        : "";
  if (why === "") return;
  throw new ToolFault({ code: "config.invalid", message: `${flag}: ${JSON.stringify(glob)} can't be used: ${why}` });
}
