import { dirname } from "node:path";
import type { FileView, SkippedFiles } from "../../contract/search.ts";
import type { RuleSource, SearchEngine } from "../../engine/search.ts";
import { loadFile } from "./load_file.ts";
import type { ReadAhead } from "./read_ahead.ts";
import { IGNORE_FILES, type IgnoreFile, type Listing, lstatOrNothing } from "./read_folder.ts";
import { childOf, type RealPath, shownPath } from "./real_path.ts";

/** What a search may see, and the folders that it has read already. */
export type Sight = { view: FileView; folders: ReadAhead };

/** A walk that the component was told to start. `skipped` counts what could not be read. */
export type TreeWalk = Sight & { engine: SearchEngine; skipped: SkippedFiles };

/** A folder being walked: `order` holds places in the listing, `next` the place in `order`. */
type Frame = { path: RealPath; folder: number; listing: Listing; order: Uint32Array; next: number };

/**
 * Visits the files below a folder in the order of their paths, each folder's entries by the bytes of their names. Links are
 * not followed. Ends when the caller stops asking.
 */
export function* walkTree(walk: TreeWalk, root: string): Generator<RealPath, void, undefined> {
  const stack: Frame[] = [];
  const first = enter(walk, root, nameIn(root), enterAncestors(walk, root));
  if (first !== undefined) stack.push(first);
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const place = frame.order[frame.next];
    frame.next += 1;
    const name = place === undefined ? undefined : frame.listing.names[place];
    if (place === undefined || name === undefined) {
      stack.pop();
      continue;
    }
    const path = childOf(frame.path, name);
    if (!walk.view.mayRead(shownPath(path))) continue;
    if (frame.listing.kinds[place] === "f") {
      yield path;
      continue;
    }
    const inner = enter(walk, path, shownPath(name), frame.folder);
    if (inner !== undefined) stack.push(inner);
  }
}

/** Tells the component of a folder and its ignore files, and lets it choose and order the entries. */
function enter(walk: TreeWalk, path: RealPath, name: string, parent: number | undefined): Frame | undefined {
  const listing = walk.folders.take(path);
  if (listing === undefined) {
    walk.skipped.unreadable += 1;
    return undefined;
  }
  const folder = walk.engine.enter({ name, parent, above: false, repository: listing.git !== "none" });
  addIgnoreFiles(walk, path, folder, listing);
  const order = walk.engine.filter(folder, walk.engine.write(packed(listing)));
  return { path, folder, listing, order, next: 0 };
}

/** The folders above the start have a say through their ignore files. Returns the number of the innermost. */
function enterAncestors(walk: TreeWalk, root: string): number | undefined {
  if (root === "/") return undefined;
  const parent = dirname(root);
  const above = enterAncestors(walk, parent);
  const git = lstatOrNothing(childOf(parent, ".git"));
  const folder = walk.engine.enter({ name: nameIn(parent), parent: above, above: true, repository: git !== undefined });
  const ignoreFiles = ([".rgignore", ".ignore", ".gitignore"] satisfies IgnoreFile[]).filter(
    (file) => lstatOrNothing(childOf(parent, file))?.isFile() === true,
  );
  addIgnoreFiles(walk, parent, folder, { ignoreFiles, git: git?.isDirectory() === true ? "folder" : "none" });
  return folder;
}

/** A folder's path from its parent, or from nowhere for the outermost. */
function nameIn(path: string): string {
  return path === "/" ? "/" : path.slice(path.lastIndexOf("/") + 1);
}

function addIgnoreFiles(
  walk: TreeWalk,
  path: RealPath,
  folder: number,
  { ignoreFiles, git }: Pick<Listing, "ignoreFiles" | "git">,
): void {
  for (const name of ignoreFiles) addRules(walk, childOf(path, name), folder, IGNORE_FILES[name]);
  if (git === "folder") addRules(walk, childOf(path, ".git/info/exclude"), folder, "exclude");
}

function addRules(walk: TreeWalk, path: RealPath, folder: number, source: RuleSource): void {
  if (!walk.view.mayRead(shownPath(path))) return;
  const bytes = loadFile(walk.engine, path);
  if (typeof bytes === "number" && bytes > 0) walk.engine.addRules(folder, source, bytes);
}

/** A listing in the form that the component's `filter` wants. */
function packed({ names, kinds }: Listing): string {
  let text = "";
  for (let place = 0; place < names.length; place += 1) text += `${kinds[place]}${shownPath(names[place] ?? "")}\0`;
  return text;
}
