import { closeSync, constants, type Dirent, fstatSync, lstatSync, openSync, readdirSync, readSync } from "node:fs";
import type { ComponentFiles, SearchEngine } from "../../engine/search.ts";
import type { FileCalls, NamePlace } from "./file_calls.ts";
import { childOf, isLossy, lstatOrNothing, type RealPath } from "./real_path.ts";

const OPEN_FLAGS =
  constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0) | (constants.O_NOCTTY ?? 0);

/** linux_dirent64, see wasm/search/src/entries.rs. */
const HEAD_BYTES = 19;
const KIND = { folder: 4, file: 8, other: 1 } as const;

/** Paths of open folders by the numbers that stand for them. */
const opened = new Map<number, RealPath>();
let lastHandle = 0;

/** The file calls of a search where the C library can't be called: by whole paths. */
export function nodeFileCalls(): FileCalls {
  return {
    openFolder: (engine, path) => {
      try {
        const bytes = writeEntries(engine, readEntries(path));
        lastHandle += 1;
        opened.set(lastHandle, path);
        return { path, handle: lastHandle, bytes };
      } catch {
        return undefined;
      }
    },
    reach: () => -1,
    closeFolder: ({ handle }) => void opened.delete(handle),
    filesOf,
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

function childAt(memory: Uint8Array, folder: RealPath, { at, bytes }: NamePlace): RealPath {
  const name = Buffer.from(memory.slice(at, at + bytes));
  const text = name.toString("utf8");
  return childOf(folder, isLossy(text) ? name : text);
}

function filesOf(engine: SearchEngine): ComponentFiles {
  const pathOf = (folder: number, name: number): RealPath | undefined => {
    const path = opened.get(folder);
    const { memory } = engine;
    const bytes = memory.indexOf(0, name >>> 0) - (name >>> 0);
    return path === undefined ? undefined : childAt(memory, path, { at: name >>> 0, bytes });
  };
  return {
    open: (folder, name) => {
      const path = pathOf(folder, name);
      return path === undefined ? -1 : orFailed(() => openRegular(path));
    },
    changed: (folder, name) => {
      const path = pathOf(folder, name);
      return path === undefined ? Number.NaN : (lstatOrNothing(path)?.mtimeMs ?? Number.NaN);
    },
    read: (file, to, bytes, start) => orFailed(() => readSync(file, engine.memory, to >>> 0, bytes, start)),
    size: (file) => orFailed(() => fstatSync(file).size),
    close: (file) => closeSync(file),
  };
}

function openRegular(path: RealPath): number {
  const file = openSync(path, OPEN_FLAGS);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  return -1;
}

function orFailed(call: () => number): number {
  try {
    return call();
  } catch {
    return -1;
  }
}
