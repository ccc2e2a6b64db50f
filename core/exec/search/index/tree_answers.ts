import { CHOSEN, type IndexEngine } from "../../../engine/index_engine.ts";
import type { Found } from "../finds.ts";
import type { SearchJob } from "../job.ts";
import { ENTRY } from "./entries.ts";
import { type Folder, NUMBER } from "./folder.ts";
import { type KnownAim, knownPart } from "./known_part.ts";
import { keyOf, type Listing, ListingWriter, NOTE } from "./listing.ts";
import { fits, type NameNeed, nameNeed } from "./name_need.ts";
import type { Outcome, Remembered } from "./remembered.ts";
import type { TreeState } from "./tree_state.ts";

/**
 * What is asked of an index: for contents, or for names. `key` stands for all that the outcome for a file hangs on beside the file and the rules; without it
 * nothing is remembered.
 */
export type Question = KnownAim & Pick<SearchJob, "start" | "grep" | "scope"> & { key?: string };

/** What a search must look at, in how many files, what is known without, and what this search's outcome is to be added to. */
export type Chosen = { listing: Listing; candidates: number; known?: Found; outcome?: Outcome };

/** What is known of a tree. `rules` as ruleFacts() has them. */
export type Knowledge = { state: TreeState; engine: IndexEngine; remembered: Remembered; rules: string };

const LEFT_OUT = { why: "the folder is left out of the index" };
const NO_NEED = { why: "the pattern has no three characters in a row that a match must have" };

/** What a search must look at below its start, or why it can't be said. */
export function chooseFiles(
  { state, engine, remembered, rules }: Knowledge,
  question: Question,
): Chosen | { why: string } {
  const { start, key } = question;
  const top = state.folders.get(keyOf(start));
  if (top === undefined) return LEFT_OUT;
  const before = key === undefined ? undefined : remembered.find(key, rules);
  const part = before && knownPart(state, top, before, question);
  const picked = new Picked();
  if (!pickNumbered(picked, { state, engine }, { ...question, since: before?.clock ?? 0 })) return NO_NEED;
  pickUnnumbered(picked, state);
  for (const { folder, place } of part?.toRead ?? []) picked.add(folder, place, CHOSEN.look);
  const { clock } = state;
  return {
    listing: write(top, withAbove(top, picked.byFolder)),
    candidates: picked.files,
    ...(part === undefined ? {} : { known: part.found }),
    ...(key === undefined ? {} : { outcome: { rules, clock, ends: Int32Array.from(part?.ends ?? []) } }),
  };
}

/** Places of files by their folders, four times each and plus what `CHOSEN` says of the file. */
class Picked {
  readonly byFolder = new Map<Folder, number[]>();
  files = 0;

  add(folder: Folder, place: number, known: number): void {
    const places = this.byFolder.get(folder);
    const both = (place << CHOSEN.bits) | known;
    if (places === undefined) this.byFolder.set(folder, [both]);
    else places.push(both);
    if (known !== CHOSEN.binary) this.files += 1;
  }
}

/** Files with a signature that is younger than what is remembered. False if nothing can be told from the pattern, and nothing is to be remembered. */
function pickNumbered(
  picked: Picked,
  { state, engine }: Pick<Knowledge, "state" | "engine">,
  { grep, scope, key, since }: Question & { since: number },
): boolean {
  if (since === state.clock) return true;
  const chosen = grep === undefined ? undefined : engine.choose(grep);
  if (grep !== undefined && chosen === undefined && key === undefined) return false;
  const need = grep === undefined ? nameNeed(scope.only, scope.ignoreCase) : undefined;
  const pick = (number: number, known: number): void => {
    const folder = state.owners[number];
    const place = state.places[number] ?? 0;
    if (folder === undefined || (state.stamps[number] ?? 0) <= since) return;
    if (need === undefined || mayFit(need, folder, place)) picked.add(folder, place, known);
  };
  if (chosen === undefined) for (const number of state.owners.keys()) pick(number, CHOSEN.look);
  else for (const number of chosen) pick(number >> CHOSEN.bits, number & CHOSEN.mask);
  return true;
}

function mayFit(need: NameNeed, { raw, at }: Folder, place: number): boolean {
  const start = at[place] ?? 0;
  return fits(need, raw, { at: start + ENTRY.name, end: start + raw.readUInt16LE(start + ENTRY.length) });
}

/** What a listing says of a file, by what `CHOSEN` says. */
const NOTES = [NOTE.look, NOTE.binary, NOTE.plain];

/** What each search must look at, or into. */
function pickUnnumbered(picked: Picked, state: TreeState): void {
  for (const folder of state.loose) {
    if (!picked.byFolder.has(folder)) picked.byFolder.set(folder, []);
    if (folder.unnumbered === 0) continue;
    folder.numbers.forEach((number, place) => {
      if (number === NUMBER.stale || number === NUMBER.always) picked.add(folder, place, CHOSEN.look);
    });
  }
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
      chosen.add(place >> CHOSEN.bits);
      writeEntry(listing, folder, place >> CHOSEN.bits, NOTES[place & CHOSEN.mask] ?? NOTE.look);
    }
    const add = (place: number, note: number): void => {
      if (!chosen.has(place)) writeEntry(listing, folder, place, note);
      chosen.add(place);
    };
    for (const place of [...folder.strange, ...(inner.get(folder) ?? [])]) add(place, NOTE.look);
    for (const place of folder.standing) add(place, NOTE.leftOut);
  }
  return listing.finish();
}

function writeEntry(listing: ListingWriter, folder: Folder, place: number, note: number): void {
  const at = folder.at[place] ?? 0;
  const length = folder.raw.readUInt16LE(at + ENTRY.length);
  const number = folder.numbers[place] ?? NUMBER.none;
  listing.entry(folder.raw, at, { length, note, changedMs: folder.changedMs[place] ?? Number.NaN, number });
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
