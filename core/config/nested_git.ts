import { join } from "node:path";
import type { GitPlace } from "../contract/survey.ts";
import { listSync, lstatSync, realpath, textSync } from "./look.ts";

/** Repositories that git on the host obeys when it is started in or above the workspace. */
export type NestedGit = {
  /** Their folders: submodules, other worktrees, repositories one folder below the top. */
  places: GitPlace[];
  /** The `.git` files that name the folder of a submodule. */
  pointers: string[];
};

/** How deep below modules/ a submodule's folder is looked for: its name may hold slashes, and it may have some of its own. */
const MODULES_DEPTH = 6;

/** The most folders of submodules and worktrees that are looked at, so that no repository can slow every command. */
const PLACES_LIMIT = 500;

/** Finds them. `below` are the names of the workspace's folders. Never throws: what can't be read is not there. */
export function nestedGit(workspace: string, git: GitPlace | null, below: readonly string[]): NestedGit {
  const places: GitPlace[] = [];
  const pointers: string[] = [];
  if (git) {
    addModules(join(git.commonDir, "modules"), MODULES_DEPTH, places);
    for (const name of names(join(git.commonDir, "worktrees"))) {
      places.push({ gitDir: join(git.commonDir, "worktrees", name), commonDir: git.commonDir });
    }
  }
  for (const folder of new Set([...below, ...submodules(workspace)])) {
    const dotGit = join(workspace, folder, ".git");
    const kind = kindOf(dotGit);
    if (kind === "folder") places.push({ gitDir: dotGit, commonDir: dotGit });
    if (kind === "file") pointers.push(dotGit);
  }
  return { places: places.slice(0, PLACES_LIMIT), pointers };
}

function addModules(folder: string, depth: number, places: GitPlace[]): void {
  if (depth === 0 || places.length >= PLACES_LIMIT) return;
  for (const name of names(folder)) {
    const at = join(folder, name);
    const isPlace = kindOf(join(at, "HEAD")) === "file";
    if (isPlace) places.push({ gitDir: at, commonDir: at });
    addModules(isPlace ? join(at, "modules") : at, depth - 1, places);
  }
}

/** The folders that .gitmodules names (gitmodules(5)); one outside the workspace or through a link is none of it. */
function submodules(workspace: string): string[] {
  try {
    const text = textSync(join(workspace, ".gitmodules"));
    const named = [...text.matchAll(/^\s*path\s*=\s*"?([^"\n]+?)"?\s*$/gm)].flatMap(([, path]) => path ?? []);
    return named.filter((path) => {
      const at = join(workspace, path);
      return at.startsWith(`${workspace}/`) && kindOf(at) === "folder" && realpath(at) === at;
    });
  } catch {
    return [];
  }
}

function names(folder: string): string[] {
  try {
    return listSync(folder).flatMap((entry) => (entry.isDirectory() ? entry.name : []));
  } catch {
    return [];
  }
}

function kindOf(path: string): "file" | "folder" | undefined {
  try {
    const found = lstatSync(path);
    return found?.isDirectory() ? "folder" : found?.isFile() ? "file" : undefined;
  } catch {
    return undefined; // another user's folder, or a file where a folder was meant: nothing here is ours to see
  }
}
