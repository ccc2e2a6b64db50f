import type { ComponentFiles, ComponentFolders, SearchEngine } from "../../engine/search.ts";
import { nativeFileCalls } from "./native_file_calls.ts";
import { nodeFileCalls } from "./node_file_calls.ts";
import type { RealPath } from "./real_path.ts";

/** An open folder. `bytes` of raw entries are in the component's room for them. Close it when its files are done. */
export type OpenFolder = { path: RealPath; handle: number; bytes: number };

/** The name of an entry, in the component's room for entries: where it starts and its bytes. A NUL byte follows. */
export type NamePlace = { at: number; bytes: number };

/**
 * How a search reaches files: through the C library where that is possible, so that a file costs four calls and nothing in JavaScript, else
 * through node:fs. Links are never followed, in no part of a path.
 */
export type FileCalls = {
  /** Opens a folder and reads its entries. Undefined if it can't be read, or is no folder any more. */
  openFolder: (engine: SearchEngine, path: RealPath) => OpenFolder | undefined;
  /** Opens a folder without reading its entries: the handle, negative if that fails or can't be done here. */
  reach: (path: RealPath) => number;
  closeFolder: (folder: OpenFolder) => void;
  /** What the component itself opens and reads files through: an open, two reads and a close each. */
  filesOf: (engine: SearchEngine) => ComponentFiles;
  /** What the component goes through folders by; absent where it can't do so by itself. */
  foldersOf?: ((engine: SearchEngine) => ComponentFolders) | undefined;
};

/** The fastest way that this machine has. */
export function fileCalls(): FileCalls {
  return nativeFileCalls() ?? nodeFileCalls();
}
