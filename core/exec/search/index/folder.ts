import { isLossy, type RealPath } from "../real_path.ts";
import { ENTRY, type Entry, readEntries, STANDING_OUT, TYPE } from "./entries.ts";

/** What stands for the number of a signature where there is none. */
export const NUMBER = {
  /** It has to be taken: the file is new or was changed. */
  stale: -1,
  /** The file is looked at by each search. */
  always: -2,
  /** It is no file. */
  none: -3,
} as const;

/** A folder that is watched, with what is in it. The arrays have a place for each entry of `raw`. */
export type Folder = {
  readonly path: RealPath;
  readonly key: string;
  readonly name: string;
  readonly parent: Folder | undefined;
  readonly watch: number;
  /** Its number in the walk that judges what is worth watching. */
  readonly walked: number;
  readonly children: Map<string, Folder>;
  /** Its place among the entries of its parent. */
  place: number;
  raw: Buffer;
  at: Uint32Array;
  numbers: Int32Array;
  changedMs: Float64Array;
  marks: Float64Array;
  /** Places of the folders in it that are not watched. */
  strange: number[];
  /** Places of the names that decide which rules hold. */
  standing: number[];
  /** Files that no signature is of, and those of them that should have one. */
  unnumbered: number;
  stale: number;
  /** Places by name: made when an event names one. */
  places: Map<string, number> | undefined;
  /** Names that events have named since the entries were read. */
  changed: Set<string>;
};

/** A folder with nothing in it yet. */
export function newFolder(given: Pick<Folder, "path" | "key" | "name" | "parent" | "watch" | "walked">): Folder {
  return {
    ...given,
    children: new Map(),
    place: -1,
    raw: Buffer.alloc(0),
    at: new Uint32Array(0),
    numbers: new Int32Array(0),
    changedMs: new Float64Array(0),
    marks: new Float64Array(0),
    strange: [],
    standing: [],
    unnumbered: 0,
    stale: 0,
    places: undefined,
    changed: new Set(),
  };
}

/** Bytes that the folder's arrays take, and about what the engine adds for objects. */
export function bytesOf(folder: Folder): number {
  return folder.raw.length + folder.at.length * 24 + 600;
}

/** The place of a name in a folder. */
export function placeOf(folder: Folder, name: string): number | undefined {
  folder.places ??= new Map(readEntries(folder.raw).map((entry, place) => [entry.name, place]));
  return folder.places.get(name);
}

/** The name of an entry, its bytes as characters. */
export function nameAt({ raw, at }: Folder, place: number): string {
  const start = (at[place] ?? 0) + ENTRY.name;
  return raw.toString("latin1", start, raw.indexOf(0, start));
}

/** A name as it is used in a path. */
export function realName(latin1: string): RealPath {
  const bytes = Buffer.from(latin1, "latin1");
  const text = bytes.toString("utf8");
  return isLossy(text) ? bytes : text;
}

/** What an entry is, in the numbers of `TYPE`. */
export function typeAt({ raw, at }: Folder, place: number): number {
  return raw[(at[place] ?? 0) + ENTRY.type] ?? 0;
}

/** Gives a folder new entries, all files stale. Returns them. */
export function setEntries(folder: Folder, raw: Buffer): Entry[] {
  const entries = readEntries(raw);
  folder.raw = raw;
  folder.at = Uint32Array.from(entries, ({ at }) => at);
  folder.numbers = Int32Array.from(entries, ({ type }) => (type === TYPE.file ? NUMBER.stale : NUMBER.none));
  folder.changedMs = new Float64Array(entries.length).fill(Number.NaN);
  folder.marks = new Float64Array(entries.length);
  folder.standing = entries.flatMap(({ name }, place) => (STANDING_OUT.has(name) ? [place] : []));
  folder.places = undefined;
  return entries;
}
