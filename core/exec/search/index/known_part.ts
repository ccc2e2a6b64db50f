import type { SearchJob } from "../job.ts";
import { ENDED } from "../../../engine/search.ts";
import { byPath, type Found } from "../finds.ts";
import { shownPath } from "../real_path.ts";
import { type Folder, nameAt, realName } from "./folder.ts";
import type { Outcome } from "./remembered.ts";
import type { TreeState } from "./tree_state.ts";

/** What the part of an answer is for that is known: what is gathered, and how many lines it can need. */
export type KnownAim = Pick<SearchJob, "keep" | "gather">;

/** What is known of a search without a look at files, and the files that are to be read for their lines. */
export type KnownPart = {
  found: Found;
  toRead: { folder: Folder; place: number }[];
  /** Pairs of a number and an end, without those of `toRead`. */
  ends: number[];
};

/** Of a folder's names as the component gathers them. */
const HEAD_BYTES = 12;
const NUMBER_BYTES = 8;

/** A file that was found earlier and has not changed. */
type Known = { number: number; matches: number; folder: Folder; place: number };

/** Takes from an outcome what holds still. */
export function knownPart(state: TreeState, top: Folder, { clock, ends }: Outcome, aim: KnownAim): KnownPart {
  const found: Found = {
    finds: [],
    totalFiles: 0,
    totalMatches: 0,
    skipped: { binary: 0, tooLarge: 0, unreadable: 0, unreadableNames: [] },
  };
  const part: KnownPart = { found, toRead: [], ends: [] };
  const byFolder = new Map<Folder, Known[]>();
  let last: Folder | undefined;
  let files: Known[] = [];
  for (let at = 0; at < ends.length; at += 2) {
    const [number, matches] = [ends[at] ?? 0, ends[at + 1] ?? 0];
    const folder = state.owners[number];
    if (folder === undefined || (state.stamps[number] ?? 0) > clock) continue;
    part.ends.push(number, matches);
    if (matches === ENDED.binary) found.skipped.binary += 1;
    if (matches <= 0) continue;
    found.totalFiles += 1;
    found.totalMatches += matches;
    if (folder !== last) {
      files = byFolder.get(folder) ?? [];
      byFolder.set(folder, files);
      last = folder;
    }
    files.push({ number, matches, folder, place: state.places[number] ?? 0 });
  }
  if (aim.gather === "nothing") leaveToRead(part, firstOf(top, byFolder, aim.keep));
  else found.names = namesOf(top, byFolder, aim);
  return part;
}

/** Files whose lines are shown are searched once more, and so count there. */
function leaveToRead(part: KnownPart, page: readonly Known[]): void {
  const numbers = new Set<number>();
  for (const { number, matches, folder, place } of page) {
    numbers.add(number);
    part.toRead.push({ folder, place });
    part.found.totalFiles -= 1;
    part.found.totalMatches -= matches;
  }
  part.ends = part.ends.filter((_, at) => !numbers.has(part.ends[at - (at % 2)] ?? -1));
}

/** The names that the answer can need, as the component gathers them (wasm/search/src/names.rs); of the others only how many they are. */
function namesOf(top: Folder, byFolder: ReadonlyMap<Folder, Known[]>, aim: KnownAim): Uint8Array<ArrayBuffer> {
  const needed = new Map<Folder, Known[]>();
  let left = 0;
  for (const files of byFolder.values()) left += files.length;
  for (const known of aim.gather === "ages" ? newestOf(top, byFolder, aim.keep) : firstOf(top, byFolder, aim.keep)) {
    const files = needed.get(known.folder);
    if (files === undefined) needed.set(known.folder, [known]);
    else files.push(known);
    left -= 1;
  }
  const pieces = [...needed].flatMap(([folder, files]) => block(folder, recordsOf(folder, files, aim), files.length));
  return new Uint8Array(Buffer.concat(left === 0 ? pieces : [...pieces, ...block(top, [], left)]));
}

/** Three numbers, the path of the folder, and the records. */
function block(folder: Folder, records: readonly Buffer[], count: number): Buffer[] {
  const path = Buffer.from(folder.key, "latin1");
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(path.length, 0);
  head.writeUInt32LE(
    records.reduce((sum, { length }) => sum + length, 0),
    4,
  );
  head.writeUInt32LE(count, 8);
  return [head, path, ...records];
}

/** Each name with a NUL byte and its number, in order. */
function recordsOf(folder: Folder, files: readonly Known[], { gather }: KnownAim): Buffer[] {
  const names = files.map((file) => ({ ...file, name: nameAt(folder, file.place) }));
  names.sort((one, other) => (one.name < other.name ? -1 : 1));
  return names.flatMap((file) => {
    const name = Buffer.from(`${file.name}\0`, "latin1");
    if (gather === "names") return [name];
    const number = Buffer.alloc(NUMBER_BYTES);
    number.writeDoubleLE(gather === "counts" ? file.matches : changedMs(file));
    return [name, number];
  });
}

function changedMs({ folder, place }: Pick<Known, "folder" | "place">): number {
  return folder.changedMs[place] ?? Number.NaN;
}

/** The first in path order, as many as the answer can need. */
function firstOf(top: Folder, byFolder: ReadonlyMap<Folder, Known[]>, keep: number): Known[] {
  return keep === 0 ? [...byFolder.values()].flat() : take(inPathOrder(top, byFolder), keep);
}

/** The last changed, and the first in path order of those that are as old as the oldest of them. */
function newestOf(top: Folder, byFolder: ReadonlyMap<Folder, Known[]>, keep: number): Known[] {
  const all = [...byFolder.values()].flat();
  if (keep === 0 || all.length <= keep) return all;
  const oldest = Float64Array.from(all, changedMs).sort()[all.length - keep] ?? 0;
  const newer = all.filter((known) => changedMs(known) > oldest);
  const asOld = new Map<Folder, Known[]>();
  for (const [folder, files] of byFolder) {
    const same = files.filter((known) => changedMs(known) === oldest);
    if (same.length > 0) asOld.set(folder, same);
  }
  return [...newer, ...take(inPathOrder(top, asOld), keep - newer.length)];
}

function take<Item>(items: Iterable<Item>, most: number): Item[] {
  const taken: Item[] = [];
  if (most <= 0) return taken;
  for (const item of items) {
    taken.push(item);
    if (taken.length >= most) break;
  }
  return taken;
}

/** The files below a folder as `byPath` orders them: only what is asked for is put in order. */
function* inPathOrder(top: Folder, byFolder: ReadonlyMap<Folder, Known[]>): Generator<Known> {
  const holds = new Set<Folder>();
  for (const folder of byFolder.keys()) {
    for (let above: Folder | undefined = folder; above !== undefined && !holds.has(above); above = above.parent) {
      holds.add(above);
    }
  }
  yield* within(top);

  function* within(folder: Folder): Generator<Known> {
    const entries: { path: string; inner?: Folder; file?: Known }[] = [];
    for (const inner of folder.children.values()) {
      if (holds.has(inner)) entries.push({ path: shownPath(realName(inner.name)), inner });
    }
    for (const file of byFolder.get(folder) ?? []) {
      entries.push({ path: shownPath(realName(nameAt(folder, file.place))), file });
    }
    entries.sort(byPath);
    for (const { inner, file } of entries) {
      if (inner !== undefined) yield* within(inner);
      else if (file !== undefined) yield file;
    }
  }
}
