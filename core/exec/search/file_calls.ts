import type { SearchEngine } from "../../engine/search.ts";
import { nativeFileCalls } from "./native_file_calls.ts";
import { nodeFileCalls } from "./node_file_calls.ts";
import type { RealPath } from "./real_path.ts";

/** Larger files are not searched: a component has 4 GiB of memory in all, and the buffer and its successor both count. */
export const LIMIT_BYTES = 256 << 20;

/** Files whose size the kernel does not know, in /proc for example, are read up to this. */
export const UNKNOWN_SIZE_BYTES = 1 << 20;

/** Number of bytes that are in the component's buffer now, or why the file is not. */
export type Loaded = number | "unreadable" | "too_large";

/** An open folder. `bytes` of raw entries are in the component's room for them. Close it when its files are done. */
export type OpenFolder = { path: RealPath; handle: number; bytes: number };

/** The name of an entry, in the component's room for entries: where it starts and its bytes. A NUL byte follows. */
export type NamePlace = { at: number; bytes: number };

/**
 * How a search reaches files: through the C library where that is possible, so that a file costs four calls and no string, else
 * through node:fs. Links are never followed, in no part of a path.
 */
export type FileCalls = {
  /** Opens a folder and reads its entries. Undefined if it can't be read, or is no folder any more. */
  openFolder: (engine: SearchEngine, path: RealPath) => OpenFolder | undefined;
  closeFolder: (folder: OpenFolder) => void;
  /** Reads a regular file of the folder straight into the component's buffer: one open, one stat, one read, one close. */
  load: (engine: SearchEngine, folder: OpenFolder, name: NamePlace) => Loaded;
  /** When a file of the folder was changed, in milliseconds; undefined if it is gone. */
  changedMs: (engine: SearchEngine, folder: OpenFolder, name: NamePlace) => number | undefined;
};

/** The fastest way that this machine has. */
export function fileCalls(): FileCalls {
  return nativeFileCalls() ?? nodeFileCalls();
}
