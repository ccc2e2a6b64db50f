import type { ComponentFiles, ComponentFolders, SearchEngine } from "../../../engine/search.ts";
import type { FileCalls, OpenFolder } from "../file_calls.ts";
import { isLossy, type RealPath } from "../real_path.ts";
import { ENTRY } from "./entries.ts";

/**
 * Folders as the index knows them, in memory that threads share: for each the length of its path and that of its entries, 32 bits
 * each, the path, the entries. Those are records of getdents64(2) with two changes: where the inode was stand a `NOTE` and one more than the
 * number of the file's signature, or 0, and where the number for seeking was stands the time of the last change in milliseconds as a double, or NaN if it is not known.
 */
export type Listing = SharedArrayBuffer;

/**
 * What the index says of an entry: to be looked at, known to be binary, there only because it stands out, or to be looked at and known to have
 * no NUL byte and no byte order mark (wasm/search/src/visit.rs).
 */
export const NOTE = { look: 0, binary: 1, leftOut: 2, plain: 3 } as const;

const HEAD_BYTES = 8;

/** Where in a record the number is. */
const NUMBER_AT = ENTRY.inode + 4;

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
    { length, note, changedMs, number }: { length: number; note: number; changedMs: number; number: number },
  ): void {
    this.#make(length);
    raw.copy(this.#room, this.#end, at, at + length);
    this.#room.writeUInt32LE(note, this.#end + ENTRY.inode);
    this.#room.writeUInt32LE(Math.max(number + 1, 0), this.#end + NUMBER_AT);
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

/** The folder of a listing that is searched: one at a time. `read` is how far its entries were handed over. */
type Current = { key: string; from: number; to: number; read: number; handle: number };

/** What stands for the handle of a folder of the listing (wasm/search/src/visit.rs has it too): it is opened when a file of it is wanted, and of most nothing is. */
const LISTED = 1 << 30;
const NOT_OPEN = -2;
const FAILED = -1;

/**
 * File calls that take folders from a listing where it has them, with only the entries that a search must look at. Whatever else is
 * asked of them, above all what is in a file, comes from the file system.
 */
export class ListedCalls implements FileCalls {
  readonly #files: FileCalls;
  readonly #bytes: Buffer;
  readonly #folders: ReadonlyMap<string, { from: number; to: number }>;
  #current: Current | undefined;
  readonly foldersOf: NonNullable<FileCalls["foldersOf"]> | undefined;

  constructor(files: FileCalls, listing: Listing) {
    this.#files = files;
    this.#bytes = Buffer.from(listing);
    this.#folders = readFolders(this.#bytes);
    const { foldersOf } = files;
    this.foldersOf = foldersOf && ((engine) => this.#foldersOf(engine, foldersOf.call(files, engine)));
  }

  openFolder(engine: SearchEngine, path: RealPath): OpenFolder | undefined {
    const current = this.#enter(keyOf(path));
    if (current === undefined) return this.#files.openFolder(engine, path);
    const bytes = current.to - current.from;
    engine.entries(bytes).set(this.#bytes.subarray(current.from, current.to));
    return { path, handle: LISTED, bytes };
  }

  reach(path: RealPath): number {
    return this.#files.reach(path);
  }

  closeFolder(folder: OpenFolder): void {
    this.#close(folder.handle, (handle) => this.#files.closeFolder({ ...folder, handle }));
  }

  filesOf(engine: SearchEngine): ComponentFiles {
    const real = this.#files.filesOf(engine);
    return {
      ...real,
      open: (folder, name) => real.open(folder === LISTED ? this.#handle() : folder, name),
      changed: (folder, name) => {
        if (folder !== LISTED) return real.changed(folder, name);
        const known = engine.memoryView.getFloat64((name >>> 0) - ENTRY.name + ENTRY.offset, true);
        return Number.isNaN(known) ? real.changed(this.#handle(), name) : known;
      },
      close: (handle) => this.#close(handle, real.close),
    };
  }

  #foldersOf(engine: SearchEngine, real: ComponentFolders): ComponentFolders {
    return {
      open: (path) => (this.#enter(engine.nameAt(path).toString("latin1")) === undefined ? real.open(path) : LISTED),
      entries: (folder, to, bytes) =>
        folder === LISTED
          ? this.#hand(engine.memory.subarray(to >>> 0, (to >>> 0) + bytes))
          : real.entries(folder, to, bytes),
      kind: (folder, name) => real.kind(folder === LISTED ? this.#handle() : folder, name),
    };
  }

  #enter(key: string): Current | undefined {
    const found = this.#folders.get(key);
    this.#current = found && { key, ...found, read: found.from, handle: NOT_OPEN };
    return this.#current;
  }

  /** Hands over as many whole records as there is room for. */
  #hand(room: Uint8Array): number {
    const current = this.#current;
    if (current === undefined) return FAILED;
    let end = current.read;
    while (end < current.to) {
      const length = this.#bytes.readUInt16LE(end + ENTRY.length);
      if (end + length - current.read > room.length) break;
      end += length;
    }
    room.set(this.#bytes.subarray(current.read, end));
    const handed = end - current.read;
    current.read = end;
    return handed;
  }

  #handle(): number {
    const current = this.#current;
    if (current === undefined) return FAILED;
    if (current.handle === NOT_OPEN) current.handle = this.#files.reach(pathOf(current.key));
    return current.handle;
  }

  #close(handle: number, close: (handle: number) => void): void {
    if (handle !== LISTED) close(handle);
    else if (this.#current !== undefined && this.#current.handle >= 0) {
      close(this.#current.handle);
      this.#current.handle = NOT_OPEN;
    }
  }
}

function pathOf(key: string): RealPath {
  const bytes = Buffer.from(key, "latin1");
  const text = bytes.toString("utf8");
  return isLossy(text) ? bytes : text;
}

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
