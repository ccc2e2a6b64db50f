import { closeSync, constants, type Dirent, fstatSync, lstatSync, openSync, readdirSync, readSync } from "node:fs";
import type { SearchEngine } from "../../engine/search.ts";
import {
  type FileCalls,
  LIMIT_BYTES,
  type Loaded,
  type NamePlace,
  type OpenFolder,
  UNKNOWN_SIZE_BYTES,
} from "./file_calls.ts";
import { childOf, isLossy, type RealPath } from "./real_path.ts";

const OPEN_FLAGS =
  constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0) | (constants.O_NOCTTY ?? 0);

/** linux_dirent64, see wasm/search/src/entries.rs. */
const HEAD_BYTES = 19;
const KIND = { folder: 4, file: 8, other: 1 } as const;

/** The file calls of a search where the C library can't be called: by whole paths. */
export function nodeFileCalls(): FileCalls {
  return {
    openFolder: (engine, path) => {
      try {
        return { path, handle: -1, bytes: writeEntries(engine, readEntries(path)) };
      } catch {
        return undefined;
      }
    },
    closeFolder: () => {},
    load: (engine, folder, name) => {
      try {
        return loadFile(engine, pathOf(engine, folder, name));
      } catch {
        return "unreadable";
      }
    },
    changedMs: (engine, folder, name) => {
      try {
        return lstatSync(pathOf(engine, folder, name)).mtimeMs;
      } catch {
        return undefined;
      }
    },
  };
}

type Entry = { name: Uint8Array; kind: number };

function readEntries(path: RealPath): Entry[] {
  const entries = readdirSync(path, { withFileTypes: true });
  // Bun gives names as text only; one that is not UTF-8 makes us read the folder again, as bytes.
  if (entries.some(({ name }) => isLossy(name))) return readEntriesAsBytes(path);
  return entries.map((entry) => ({ name: Buffer.from(entry.name), kind: kindOf(entry) ?? kindAt(path, entry.name) }));
}

function readEntriesAsBytes(path: RealPath): Entry[] {
  return readdirSync(path, { encoding: "buffer" }).map((name) => ({ name, kind: kindAt(path, name) }));
}

function kindOf(entry: Pick<Dirent, "isFile" | "isDirectory" | "isSymbolicLink">): number | undefined {
  if (entry.isFile()) return KIND.file;
  if (entry.isDirectory()) return KIND.folder;
  return entry.isSymbolicLink() ? KIND.other : undefined;
}

/** For file systems whose folders do not say what an entry is (DT_UNKNOWN in readdir(3)), and for names as bytes. */
function kindAt(folder: RealPath, name: RealPath): number {
  try {
    return kindOf(lstatSync(childOf(folder, name))) ?? KIND.other;
  } catch {
    return KIND.other;
  }
}

function writeEntries(engine: SearchEngine, entries: Entry[]): number {
  const lengthOf = ({ name }: Entry) => HEAD_BYTES + name.length + 1;
  const bytes = entries.reduce((sum, entry) => sum + lengthOf(entry), 0);
  const room = engine.entries(bytes);
  const view = new DataView(room.buffer, room.byteOffset, room.length);
  let at = 0;
  for (const entry of entries) {
    view.setUint16(at + 16, lengthOf(entry), true);
    view.setUint8(at + 18, entry.kind);
    room.set(entry.name, at + HEAD_BYTES);
    room[at + HEAD_BYTES + entry.name.length] = 0;
    at += lengthOf(entry);
  }
  return bytes;
}

function pathOf(engine: SearchEngine, folder: OpenFolder, { at, bytes }: NamePlace): RealPath {
  const name = Buffer.from(engine.entries(0).slice(at, at + bytes));
  const text = name.toString("utf8");
  return childOf(folder.path, isLossy(text) ? name : text);
}

function loadFile(engine: SearchEngine, path: RealPath): Loaded {
  const descriptor = openSync(path, OPEN_FLAGS);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return "unreadable";
    if (stats.size > LIMIT_BYTES) return "too_large";
    const wanted = stats.size === 0 ? UNKNOWN_SIZE_BYTES : stats.size;
    const buffer = engine.buffer(wanted);
    let filled = readSync(descriptor, buffer, 0, wanted, null);
    while (filled > 0 && filled < wanted) {
      const more = readSync(descriptor, buffer, filled, wanted - filled, null);
      if (more === 0) break;
      filled += more;
    }
    return filled;
  } finally {
    closeSync(descriptor);
  }
}
