import type { IndexEngine } from "../../../engine/index_engine.ts";
import type { SearchJob } from "../job.ts";
import { ENTRY } from "./entries.ts";
import { type Folder, NUMBER } from "./folder.ts";
import { keyOf, type Listing, ListingWriter, NOTE } from "./listing.ts";
import type { TreeState } from "./tree_state.ts";

/** What a search must look at, and in how many files of the whole tree. */
export type Chosen = { listing: Listing; candidates: number };

const LEFT_OUT = { why: "the folder is left out of the index" };

/** What a search for contents must look at below `start`, or why it can't be said. */
export function chooseFiles(
  state: TreeState,
  engine: IndexEngine,
  { start, grep }: { start: string; grep: NonNullable<SearchJob["grep"]> },
): Chosen | { why: string } {
  const top = state.folders.get(keyOf(start));
  if (top === undefined) return LEFT_OUT;
  const chosen = engine.choose(grep);
  if (chosen === undefined) return { why: "the pattern has no three characters in a row that a match must have" };
  const picked = new Map<Folder, number[]>();
  let candidates = 0;
  const pick = (folder: Folder, place: number): void => {
    const places = picked.get(folder);
    if (places === undefined) picked.set(folder, [place]);
    else places.push(place);
    if ((place & 1) === 0) candidates += 1;
  };
  for (const number of chosen) {
    const folder = state.owners[number >> 1];
    // Twice the place, and 1 for what is known to be binary.
    if (folder !== undefined) pick(folder, ((state.places[number >> 1] ?? 0) << 1) | (number & 1));
  }
  for (const folder of state.loose) {
    if (!picked.has(folder)) picked.set(folder, []);
    if (folder.unnumbered === 0) continue;
    folder.numbers.forEach((number, place) => {
      if (number === NUMBER.stale || number === NUMBER.always) pick(folder, place << 1);
    });
  }
  return { listing: write(top, withAbove(top, picked)), candidates };
}

/** All files below `start`. */
export function listFiles(state: TreeState, start: string): Chosen | { why: string } {
  const top = state.folders.get(keyOf(start));
  if (top === undefined) return LEFT_OUT;
  const listing = new ListingWriter();
  const add = (folder: Folder): void => {
    listing.folder(folder.key);
    for (const place of folder.at.keys()) writeEntry(listing, folder, place, NOTE.look);
    for (const child of folder.children.values()) add(child);
  };
  add(top);
  return { listing: listing.finish(), candidates: 0 };
}

function write(top: Folder, picked: ReadonlyMap<Folder, readonly number[]>): Listing {
  const listing = new ListingWriter();
  const inner = new Map<Folder, number[]>();
  for (const folder of picked.keys()) {
    if (folder === top || folder.parent === undefined) continue;
    const places = inner.get(folder.parent);
    if (places === undefined) inner.set(folder.parent, [folder.place]);
    else places.push(folder.place);
  }
  for (const [folder, places] of picked) {
    listing.folder(folder.key);
    const chosen = new Set<number>();
    for (const place of places) {
      chosen.add(place >> 1);
      writeEntry(listing, folder, place >> 1, (place & 1) === 0 ? NOTE.look : NOTE.binary);
    }
    for (const place of [...folder.standing, ...folder.strange, ...(inner.get(folder) ?? [])]) {
      if (chosen.has(place)) continue;
      chosen.add(place);
      writeEntry(listing, folder, place, NOTE.look);
    }
  }
  return listing.finish();
}

function writeEntry(listing: ListingWriter, folder: Folder, place: number, note: number): void {
  const at = folder.at[place] ?? 0;
  const length = folder.raw.readUInt16LE(at + ENTRY.length);
  listing.entry(folder.raw, at, { length, note, changedMs: folder.changedMs[place] ?? Number.NaN });
}

/** The folders with what was picked in them, and those above them up to the top; nothing that is not below the top. */
function withAbove(top: Folder, picked: ReadonlyMap<Folder, readonly number[]>): Map<Folder, readonly number[]> {
  const isBelow = new Map<Folder, boolean>([[top, true]]);
  const below = (folder: Folder | undefined): boolean => {
    if (folder === undefined) return false;
    const known = isBelow.get(folder) ?? below(folder.parent);
    isBelow.set(folder, known);
    return known;
  };
  const all = new Map<Folder, readonly number[]>([[top, picked.get(top) ?? []]]);
  for (const [folder, places] of picked) {
    if (!below(folder)) continue;
    all.set(folder, places);
    for (let above = folder.parent; above !== undefined && folder !== top && !all.has(above); above = above.parent) {
      all.set(above, picked.get(above) ?? []);
    }
  }
  return all;
}
