import { lstatSync, readdirSync, type Stats } from "node:fs";
import { childOf, isLossy, type RealPath, shownPath } from "./real_path.ts";

/** The regular files and folders in a folder. `kinds[i]` and `names[i]` belong together; `d` is a folder, `f` a file. */
export type Listing = {
  names: RealPath[];
  kinds: ("d" | "f")[];
  ignoreFiles: IgnoreFile[];
  git: "folder" | "file" | "none";
};

/** Names of ignore files, with what the component calls them. */
export const IGNORE_FILES = { ".rgignore": "rgignore", ".ignore": "ignore", ".gitignore": "gitignore" } as const;

/** The name of an ignore file. */
export type IgnoreFile = keyof typeof IGNORE_FILES;

/**
 * Reads a folder. Symbolic links are left out, as are devices, FIFOs and sockets: nothing may follow or open them.
 * Undefined if it can't be read, or is no folder any more.
 */
export function readFolder(path: RealPath): Listing | undefined {
  try {
    const listing: Listing = { names: [], kinds: [], ignoreFiles: [], git: "none" };
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      // Bun gives names as text only; one that is not UTF-8 makes us read the folder again, as bytes.
      if (isLossy(entry.name)) return readFolderAsBytes(path);
      if (entry.isFile()) add(listing, entry.name, "f");
      else if (entry.isDirectory()) add(listing, entry.name, "d");
      else if (!entry.isSymbolicLink()) addByStat(listing, path, entry.name);
    }
    return listing;
  } catch {
    return undefined;
  }
}

function readFolderAsBytes(path: RealPath): Listing {
  const listing: Listing = { names: [], kinds: [], ignoreFiles: [], git: "none" };
  for (const bytes of readdirSync(path, { encoding: "buffer" })) {
    const text = bytes.toString("utf8");
    addByStat(listing, path, isLossy(text) ? bytes : text);
  }
  return listing;
}

/** For file systems whose folders do not say what an entry is (DT_UNKNOWN in readdir(3)), and for names as bytes. */
function addByStat(listing: Listing, folder: RealPath, name: RealPath): void {
  const stats = lstatOrNothing(childOf(folder, name));
  if (stats?.isFile()) add(listing, name, "f");
  else if (stats?.isDirectory()) add(listing, name, "d");
}

function add(listing: Listing, name: RealPath, kind: "d" | "f"): void {
  listing.names.push(name);
  listing.kinds.push(kind);
  if (name[0] !== ".") return;
  const text = shownPath(name);
  if (text === ".git") listing.git = kind === "d" ? "folder" : "file";
  else if (kind === "f" && isIgnoreFile(text)) listing.ignoreFiles.push(text);
}

function isIgnoreFile(name: string): name is IgnoreFile {
  return Object.hasOwn(IGNORE_FILES, name);
}

/** What stands at a path, itself and not what it links to. Undefined if there is nothing or it can't be seen. */
export function lstatOrNothing(path: RealPath): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
