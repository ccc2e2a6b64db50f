import { dirname } from "node:path";
import type { FileView, SkippedFiles } from "../../contract/search.ts";
import type { SearchEngine } from "../../engine/search.ts";
import { loadFile } from "./load_file.ts";
import { IGNORE_FILES, type IgnoreFile, type Listing, lstatOrNothing, readFolder } from "./read_folder.ts";
import { childOf, type RealPath, shownPath } from "./real_path.ts";

/** A walk that the component was told to start. `skipped` counts what could not be read. */
export type TreeWalk = { engine: SearchEngine; view: FileView; skipped: SkippedFiles };

/** A folder being walked: `order` holds places in the listing, `next` the place in `order`. */
type Frame = { path: RealPath; folder: number; listing: Listing; order: Uint32Array; next: number };

const encoder = new TextEncoder();

/**
 * Visits the files below a folder in the order of their paths, each folder's entries by the bytes of their names. Links are
 * not followed. Ends when the caller stops asking.
 */
export function* walkTree(walk: TreeWalk, root: string): Generator<RealPath, void, undefined> {
  const stack: Frame[] = [];
  const first = enter(walk, root, root, enterAncestors(walk, root));
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
  const listing = readFolder(path);
  if (listing === undefined) {
    walk.skipped.unreadable += 1;
    return undefined;
  }
  const folder = walk.engine.walk.enter(parent, name, false, listing.git !== "none");
  addIgnoreFiles(walk, path, folder, listing);
  const order = walk.engine.walk.filter(folder, pack(walk.engine, listing));
  return { path, folder, listing, order, next: 0 };
}

/** The folders above the start have a say through their ignore files. Returns the number of the innermost. */
function enterAncestors(walk: TreeWalk, root: string): number | undefined {
  if (root === "/") return undefined;
  const parent = dirname(root);
  const above = enterAncestors(walk, parent);
  const name = parent === "/" ? "/" : parent.slice(parent.lastIndexOf("/") + 1);
  const git = lstatOrNothing(childOf(parent, ".git"));
  const folder = walk.engine.walk.enter(above, name, true, git !== undefined);
  const ignoreFiles = ([".rgignore", ".ignore", ".gitignore"] satisfies IgnoreFile[]).filter(
    (file) => lstatOrNothing(childOf(parent, file))?.isFile() === true,
  );
  addIgnoreFiles(walk, parent, folder, { ignoreFiles, git: git?.isDirectory() === true ? "folder" : "none" });
  return folder;
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

function addRules(
  walk: TreeWalk,
  path: RealPath,
  folder: number,
  source: "rgignore" | "ignore" | "gitignore" | "exclude",
): void {
  if (!walk.view.mayRead(shownPath(path))) return;
  const bytes = loadFile(walk.engine, path);
  if (typeof bytes === "number" && bytes > 0) walk.engine.walk.addRules(folder, source, bytes);
}

/** Writes a listing into the component's buffer in the form that `filter` wants. Returns its length in bytes. */
function pack(engine: SearchEngine, { names, kinds }: Listing): number {
  let text = "";
  for (let place = 0; place < names.length; place += 1) text += `${kinds[place]}${shownPath(names[place] ?? "")}\0`;
  // A UTF-16 unit is at most three bytes of UTF-8.
  return encoder.encodeInto(text, engine.buffer(text.length * 3 || 1)).written;
}
