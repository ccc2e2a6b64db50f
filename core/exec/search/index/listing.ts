import type { FileCalls, OpenFolder } from "../file_calls.ts";
import type { RealPath } from "../real_path.ts";
import { ENTRY } from "./entries.ts";

/**
 * Folders as the index knows them, in memory that threads share: for each the length of its path and that of its entries, 32 bits
 * each, the path, the entries. Those are records of getdents64(2) with two changes: where the inode was stands a `NOTE`, and
 * where the number for seeking was stands the time of the last change in milliseconds as a double, or NaN if it is not known.
 */
export type Listing = SharedArrayBuffer;

/** What the index says of a file. */
export const NOTE = { look: 0, binary: 1 } as const;

const HEAD_BYTES = 8;

/** Puts a listing together. */
export class ListingWriter {
  #room = Buffer.from(new SharedArrayBuffer(1 << 16));
  #end = 0;
  #head = 0;

  /** Begins a folder; `entry` adds to it. */
  folder(key: string): void {
    this.#make(HEAD_BYTES + key.length);
    this.#head = this.#end;
    this.#room.writeUInt32LE(key.length, this.#head);
    this.#room.writeUInt32LE(0, this.#head + 4);
    this.#room.write(key, this.#head + HEAD_BYTES, "latin1");
    this.#end += HEAD_BYTES + key.length;
  }

  /** Adds one record of a folder's raw entries. */
  entry(
    raw: Buffer,
    at: number,
    { length, note, changedMs }: { length: number; note: number; changedMs: number },
  ): void {
    this.#make(length);
    raw.copy(this.#room, this.#end, at, at + length);
    this.#room.writeUInt32LE(note, this.#end + ENTRY.inode);
    this.#room.writeDoubleLE(changedMs, this.#end + ENTRY.offset);
    this.#end += length;
    this.#room.writeUInt32LE(this.#room.readUInt32LE(this.#head + 4) + length, this.#head + 4);
  }

  /** The listing so far. */
  finish(): Listing {
    const listing = new SharedArrayBuffer(this.#end);
    this.#room.copy(Buffer.from(listing), 0, 0, this.#end);
    return listing;
  }

  #make(bytes: number): void {
    if (this.#end + bytes <= this.#room.length) return;
    const room = Buffer.from(new SharedArrayBuffer(Math.max(this.#room.length * 2, this.#end + bytes)));
    this.#room.copy(room, 0, 0, this.#end);
    this.#room = room;
  }
}

/** Bytes that are not UTF-8 must not make two folders one. */
export function keyOf(path: RealPath): string {
  return Buffer.from(path).toString("latin1");
}

/**
 * File calls that take folders from a listing where it has them, with only the entries that a search must look at. Whatever else is
 * asked of them, above all what is in a file, comes from the file system.
 */
export function listedFileCalls(files: FileCalls, listing: Listing): FileCalls {
  const bytes = Buffer.from(listing);
  const folders = readFolders(bytes);
  const listed = new WeakSet<OpenFolder>();
  /** The folder that was opened last: one at a time is searched. */
  let current: OpenFolder | undefined;
  return {
    openFolder: (engine, path) => {
      const found = folders.get(keyOf(path));
      if (found === undefined) return files.openFolder(engine, path);
      const size = found.to - found.from;
      engine.entries(size).set(bytes.subarray(found.from, found.to));
      current = { path, handle: NOT_OPEN, bytes: size };
      listed.add(current);
      return current;
    },
    reach: (path) => files.reach(path),
    closeFolder: (folder) => {
      if (!listed.has(folder) || folder.handle >= 0) files.closeFolder(folder);
    },
    filesOf: (engine) => {
      const real = files.filesOf(engine);
      return {
        ...real,
        open: (folder, name) => real.open(folder === NOT_OPEN ? handleOf(current) : folder, name),
        changed: (folder, name) => {
          if (folder !== NOT_OPEN) return real.changed(folder, name);
          const known = recordAt(engine.memory, name >>> 0).getFloat64(ENTRY.offset, true);
          return Number.isNaN(known) ? real.changed(handleOf(current), name) : known;
        },
      };
    },
    isBinary: (engine, folder, name) =>
      listed.has(folder) && recordAt(engine.entries(0), name.at).getUint32(ENTRY.inode, true) === NOTE.binary,
  };

  /** Opens a listed folder when a file of it is wanted: of most nothing is. */
  function handleOf(folder: OpenFolder | undefined): number {
    if (folder === undefined) return FAILED;
    if (folder.handle === NOT_OPEN) folder.handle = files.reach(folder.path);
    return folder.handle;
  }
}

/** The record that a name is the end of. */
function recordAt({ buffer, byteOffset }: Uint8Array, name: number): DataView {
  return new DataView(buffer, byteOffset + name - ENTRY.name, ENTRY.name);
}

/** A folder that nobody has opened yet, see `reach`. */
const NOT_OPEN = -2;
const FAILED = -1;

function readFolders(bytes: Buffer): Map<string, { from: number; to: number }> {
  const folders = new Map<string, { from: number; to: number }>();
  for (let at = 0; at < bytes.length; ) {
    const from = at + HEAD_BYTES + bytes.readUInt32LE(at);
    const to = from + bytes.readUInt32LE(at + 4);
    folders.set(bytes.toString("latin1", at + HEAD_BYTES, from), { from, to });
    at = to;
  }
  return folders;
}
