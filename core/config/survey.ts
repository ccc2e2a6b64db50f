import { dirname, join, resolve } from "node:path";
import type { ReadRule } from "../contract/sandbox_request.ts";
import type { GitPlace, Survey, Surveyed } from "../contract/survey.ts";
import { linksOnTheWay } from "./links_on_the_way.ts";
import { type Entry, kindSync, listSync, lstatSync, realpath, textSync } from "./look.ts";
import { namedByGitSettings } from "./git_settings.ts";
import { nestedGit } from "./nested_git.ts";
import { isWithin } from "./path_order.ts";
import { EXEMPT_FOLDERS, gitTrust, isSecretName } from "./protected_paths.ts";
import { surveyPath } from "./resolve_path.ts";
import { createRuledLook } from "./ruled_files.ts";

/** How many folder entries and folders the look for secret files reads at most, so that a huge tree can't slow every command. */
const SECRET_SCAN_ENTRIES = 4000;
const SECRET_SCAN_FOLDERS = 250;

/** Made by tools, by the thousand; what is named like a secret in them is none of the person's. */
const NOT_SCANNED: readonly string[] = [".git", ".venv", "venv", "__pycache__", ...EXEMPT_FOLDERS];

/** Reads once all that planning must know of the file system. Paths are absolute. Throws ToolFault `fs.no_permission`. */
export function surveyPlaces(
  paths: readonly string[],
  place: { workspace: string; home: string; rules?: readonly ReadRule[] },
  pathVariable: string,
): Survey {
  const found = new Map<string, Surveyed>();
  const { workspace, home } = place;
  const git = findGit(workspace);
  const budget = { left: SECRET_SCAN_ENTRIES };
  const top = entriesOf(workspace, budget);
  const folders = top.filter((entry) => entry.isDirectory() && entry.name !== ".git").map(({ name }) => name);
  const nested = nestedGit(workspace, git, folders);
  const repositories = [...(git ? [git] : []), ...nested.places];
  const gitSettings = namedByGitSettings(workspace, home, git);
  const trusted = [...repositories.flatMap(gitTrust), ...gitSettings].map(({ path }) => path);
  const isListed = listedIn(workspace, top);
  for (const path of new Set([...paths, ...trusted, ...nested.pointers]))
    found.set(path, isListed(path) ? lenient(path) : missing(path));
  return {
    workspace,
    home,
    git,
    paths: found,
    nested,
    gitSettings,
    links: linksTo(found, workspace),
    ...secretFiles(workspace, top, { budget, ruled: createRuledLook(place.rules ?? [], workspace, lenient) }),
    pathFolders: pathFolders(pathVariable, workspace),
  };
}

/** What stands at each of these paths. */
export function lookAtPaths(paths: readonly string[]): ReadonlyMap<string, Surveyed> {
  return new Map(paths.map((path) => [path, lenient(path)]));
}

/** Most trusted names are in no workspace; its listing says so for all of them at once. */
function listedIn(workspace: string, top: readonly Entry[]): (path: string) => boolean {
  const names = new Set(top.map(({ name }) => name));
  const start = workspace === "/" ? 1 : workspace.length + 1;
  return (path) => {
    if (names.size === 0 || !path.startsWith(`${workspace}/`)) return true;
    const end = path.indexOf("/", start);
    return names.has(path.slice(start, end < 0 ? path.length : end));
  };
}

/** A place that can't be looked up (no permission, a loop) can't be shown either, so it counts as missing. */
function lenient(path: string): Surveyed {
  try {
    return surveyPath(path);
  } catch {
    return missing(path);
  }
}

function missing(path: string): Surveyed {
  return { given: path, absolute: path, real: path, exists: false, kind: "missing" };
}

/** Whoever replaces a link on the way to a place replaces the place. */
function linksTo(found: ReadonlyMap<string, Surveyed>, workspace: string): string[] {
  const behind = [...found.values()].filter(
    ({ absolute, real, exists }) => exists && absolute !== real && absolute.startsWith(`${workspace}/`),
  );
  return [...new Set(behind.flatMap(({ absolute }) => linksOnTheWay(absolute, workspace)))];
}

function pathFolders(pathVariable: string, workspace: string): string[] {
  const folders = pathVariable.split(":").filter((folder) => folder.startsWith("/"));
  return folders.flatMap((folder) => {
    const { kind, real } = lenient(folder);
    return kind === "folder" && !leadsOut(folder, real, workspace) ? [real] : [];
  });
}

/** A folder of PATH in the workspace may be a link that an earlier command planted there to open a folder elsewhere. */
function leadsOut(folder: string, real: string, workspace: string): boolean {
  const inside = (path: string) => isWithin(path, workspace);
  if (folder === real || inside(real)) return false;
  for (let at = folder; at !== "/"; at = dirname(at)) if (inside(lenient(at).real)) return true;
  return false;
}

/** Secret files of the workspace, the upper folders first; dependencies are left out. */
function secretFiles(
  workspace: string,
  top: readonly Entry[],
  { budget, ruled }: { budget: { left: number }; ruled: ReturnType<typeof createRuledLook> },
): Pick<Survey, "secretFiles" | "secretsUnseen" | "ruled"> {
  const found = secretsIn(workspace, top);
  ruled.look(workspace, top);
  // Folders elsewhere out of which a rule carves something are looked through for that.
  const elsewhere = ruled.carved.filter((folder) => !isWithin(folder, workspace));
  const open = [...elsewhere, ...foldersIn(workspace, top)];
  for (let at = 0; at < open.length; at++) {
    const folder = open[at] ?? workspace;
    if (budget.left <= 0 || at >= SECRET_SCAN_FOLDERS)
      return { secretFiles: found, secretsUnseen: true, ruled: ruled.found };
    const entries = entriesOf(folder, budget);
    ruled.look(folder, entries);
    if (isWithin(folder, workspace)) found.push(...secretsIn(folder, entries));
    open.push(...foldersIn(folder, entries));
  }
  return { secretFiles: found, secretsUnseen: false, ruled: ruled.found };
}

function foldersIn(folder: string, entries: readonly Entry[]): string[] {
  const scanned = entries.filter((entry) => entry.isDirectory() && !NOT_SCANNED.includes(entry.name));
  return scanned.map(({ name }) => join(folder, name));
}

function secretsIn(folder: string, entries: readonly Entry[]): string[] {
  return entries.filter((entry) => entry.isFile() && isSecretName(entry.name)).map((entry) => join(folder, entry.name));
}

function entriesOf(folder: string, budget: { left: number }): readonly Entry[] {
  if (budget.left <= 0) return [];
  try {
    const entries = listSync(folder);
    budget.left -= entries.length;
    return entries;
  } catch {
    return [];
  }
}

/** Finds the repository that holds `folder`: gitrepository-layout(5); `.git` may be a file that names the folder. */
export function findGit(folder: string): GitPlace | null {
  for (let at = folder; ; at = dirname(at)) {
    const dotGit = join(at, ".git");
    const gitDir = gitDirAt(dotGit);
    if (gitDir) return { gitDir, commonDir: commonDirOf(gitDir) };
    if (at === dirname(at)) return null;
  }
}

function gitDirAt(dotGit: string): string | null {
  try {
    const found = lstatSync(dotGit);
    // A link is not followed, although git would: a command could plant one that opens a folder elsewhere for writing.
    if (found?.isDirectory()) return realpath(dotGit);
    if (!found?.isFile()) return null;
    const named = /^gitdir: (.+)$/m.exec(textSync(dotGit).slice(0, 4096))?.[1];
    if (named === undefined) return null;
    const gitDir = realpath(resolve(dirname(dotGit), named.trim()));
    // Only a worktree that git itself registered points back; a planted file must not open a folder elsewhere for writing.
    const back = textSync(join(gitDir, "gitdir")).trim();
    return realpath(back) === realpath(dotGit) ? gitDir : null;
  } catch {
    return null;
  }
}

/** A folder that happens to be called "worktrees" does not make the one above it a repository. */
function isRepository(folder: string): boolean {
  const isFolder = (name: string) => kindSync(join(folder, name))?.isDirectory() === true;
  return isFolder("objects") && isFolder("refs") && kindSync(join(folder, "HEAD"))?.isFile() === true;
}

function commonDirOf(gitDir: string): string {
  const named = join(gitDir, "commondir");
  if (lstatSync(named) === undefined) return gitDir;
  try {
    const common = realpath(resolve(gitDir, textSync(named).trim()));
    // The same guard: a worktree's folder lies below its repository's (gitrepository-layout(5), worktrees/).
    return gitDir.startsWith(`${common}/worktrees/`) && isRepository(common) ? common : gitDir;
  } catch {
    return gitDir;
  }
}
