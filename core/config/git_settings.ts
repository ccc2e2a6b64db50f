import { dirname, join, resolve } from "node:path";
import type { GitPlace } from "../contract/survey.ts";
import { kindSync, realpath, textSync } from "./look.ts";
import { isWithin } from "./path_order.ts";
import type { PathRule } from "./protected_paths.ts";

/** How deep git follows includes (MAX_INCLUDE_DEPTH, config.c). */
const INCLUDE_DEPTH = 10;

/** The most files of settings that are read, so that no repository can slow every command. */
const FILES_LIMIT = 50;

/** Keys that name a file or folder which git obeys, in lower case and without a middle part. */
const NAMING: ReadonlyMap<string, string> = new Map([
  ["core.hookspath", "git's settings name it as the folder of its hooks"],
  ["core.attributesfile", "git's settings name it, and filters in it run on checkout"],
  ["core.excludesfile", "git's settings name it"],
  ["init.templatedir", "git copies hooks from it"],
]);

/** Git obeys these wherever they lie, and ordinary work changes them. */
const EVERYWHERE = [".gitignore", ".gitattributes"];

/**
 * What lies in the workspace and is obeyed by git on the host because the person's own settings, the system's or the repository's
 * say so: files that they include, folders of hooks. Absolute paths, which need not exist. Never throws: what can't be
 * read names nothing.
 */
export function namedByGitSettings(workspace: string, home: string, git: GitPlace | null): PathRule[] {
  const top = git?.gitDir.endsWith("/.git") ? dirname(git.gitDir) : workspace;
  const repository = git ? [join(git.commonDir, "config"), join(git.gitDir, "config.worktree")] : [];
  const found = new Map<string, PathRule>();
  const seen = new Set<string>();
  const read = (file: string, depth: number): void => {
    if (depth > INCLUDE_DEPTH || seen.size >= FILES_LIMIT || seen.has(file)) return;
    seen.add(file);
    for (const { key, value } of settingsIn(file)) {
      const isInclude = key === "include.path" || /^includeif\..*\.path$/s.test(key);
      const reason = isInclude ? "git's settings include it" : NAMING.get(key);
      if (reason === undefined || value === "") continue;
      const path = placeOf(value, isInclude ? dirname(file) : top, home);
      if (path === undefined) continue;
      if (isWithin(path, workspace) && path !== workspace && !isEverywhere(path)) found.set(path, { path, reason });
      if (isInclude) read(path, depth + 1);
    }
  };
  for (const file of ["/etc/gitconfig", `${home}/.config/git/config`, `${home}/.gitconfig`, ...repository])
    read(file, 0);
  return [...found.values()];
}

function isEverywhere(path: string): boolean {
  return EVERYWHERE.some((name) => path.endsWith(`/${name}`));
}

/** A value that names a path, as git reads one; undefined for what only git knows (%(prefix), another user's home). */
function placeOf(value: string, folder: string, home: string): string | undefined {
  if (value.startsWith("~/")) return join(home, value.slice(2));
  return /^[~%]/.test(value) ? undefined : resolve(folder, value);
}

function settingsIn(file: string): { key: string; value: string }[] {
  try {
    return kindSync(file)?.isFile() === true ? readSettings(textSync(realpath(file))) : [];
  } catch {
    return []; // Another user's file, or a loop of links: git reads nothing there either.
  }
}

/** The keys of a configuration file in their order, by full name with section and key in lower case; a key alone is "true". */
export function readSettings(text: string): { key: string; value: string }[] {
  const found: { key: string; value: string }[] = [];
  let section = "";
  for (const line of text.replace(/\r\n/g, "\n").replace(/\\\n/g, "").split("\n")) {
    const header = /^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/s.exec(line);
    if (header) section = sectionName(header[1] ?? "", header[2]);
    const [, name, value] = /^\s*([A-Za-z][\w-]*)\s*(?:=(.*))?$/s.exec(line.slice(header?.[0].length ?? 0)) ?? [];
    if (name !== undefined)
      found.push({ key: `${section}.${name.toLowerCase()}`, value: value === undefined ? "true" : plain(value) });
  }
  return found;
}

function sectionName(name: string, middle: string | undefined): string {
  return middle === undefined ? name.toLowerCase() : `${name.toLowerCase()}.${middle.replace(/\\(.)/g, "$1")}`;
}

/** A value without quotes, escapes and the comment behind it. */
function plain(text: string): string {
  const parts = [...text.matchAll(/"((?:[^"\\]|\\.)*)"?|\\(.)|([#;].*)|([^"\\#;]+)/gs)];
  const value = parts.map(([, quoted, escaped, comment, bare]) => {
    if (comment !== undefined) return "";
    return quoted?.replace(/\\(.)/g, "$1") ?? escaped ?? bare ?? "";
  });
  return value.join("").trim();
}
