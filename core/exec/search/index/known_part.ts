import type { SearchJob } from "../job.ts";
import { ENDED } from "../../../engine/search.ts";
import { byPath, Finds, type Found } from "../finds.ts";
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

/** Files that were found earlier and have not changed: by their folder, the place of each one's pair among the ends. */
type Held = ReadonlyMap<Folder, readonly number[]>;

/** Where to look up what a place among the ends is about. */
type Context = KnownAim & { state: TreeState; ends: Int32Array; top: Folder };

/** Takes from an outcome what holds still. */
export function knownPart(state: TreeState, top: Folder, { clock, ends }: Outcome, aim: KnownAim): KnownPart {
  const { found } = new Finds(0);
  const part: KnownPart = { found, toRead: [], ends: [] };
  const held = new Map<Folder, number[]>();
  let last: Folder | undefined;
  let files: number[] = [];
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
      files = held.get(folder) ?? [];
      held.set(folder, files);
      last = folder;
    }
    files.push(at);
  }
  const context = { ...aim, state, ends, top };
  if (aim.gather === "nothing") leaveToRead(part, firstOf(context, held, aim.keep), context);
  else found.names = namesOf(context, held, found.totalFiles);
  return part;
}

/** Files whose lines are shown are searched once more, and so count there. */
function leaveToRead(part: KnownPart, page: readonly number[], context: Context): void {
  const numbers = new Set<number>();
  for (const at of page) {
    const number = context.ends[at] ?? 0;
    const folder = context.state.owners[number];
    if (folder === undefined) continue;
    numbers.add(number);
    part.toRead.push({ folder, place: placeAt(context, at) });
    part.found.totalFiles -= 1;
    part.found.totalMatches -= matchesAt(context, at);
  }
  part.ends = part.ends.filter((_, at) => !numbers.has(part.ends[at - (at % 2)] ?? -1));
}

function placeAt({ state, ends }: Context, at: number): number {
  return state.places[ends[at] ?? 0] ?? 0;
}

function matchesAt({ ends }: Context, at: number): number {
  return ends[at + 1] ?? 0;
}

function changedAt(context: Context, at: number): number {
  const folder = context.state.owners[context.ends[at] ?? 0];
  return folder?.changedMs[placeAt(context, at)] ?? Number.NaN;
}

/** The names that the answer can need, as the component gathers them (wasm/search/src/names.rs); of the others only how many they are. */
function namesOf(context: Context, held: Held, total: number): Uint8Array<ArrayBuffer> {
  const { gather, keep, state, ends, top } = context;
  const needed = new Map<Folder, number[]>();
  const page = gather === "ages" ? newestOf(context, held) : firstOf(context, held, keep);
  for (const at of page) {
    const folder = state.owners[ends[at] ?? 0];
    if (folder === undefined) continue;
    const files = needed.get(folder);
    if (files === undefined) needed.set(folder, [at]);
    else files.push(at);
  }
  const pieces = [...needed].flatMap(([folder, files]) =>
    block(folder, recordsOf(context, folder, files), files.length),
  );
  const left = total - page.length;
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
function recordsOf(context: Context, folder: Folder, files: readonly number[]): Buffer[] {
  const { gather } = context;
  const names = files.map((at) => ({ at, name: nameAt(folder, placeAt(context, at)) }));
  names.sort((one, other) => (one.name < other.name ? -1 : 1));
  return names.flatMap(({ at, name }) => {
    const text = Buffer.from(`${name}\0`, "latin1");
    if (gather === "names") return [text];
    const number = Buffer.alloc(NUMBER_BYTES);
    number.writeDoubleLE(gather === "counts" ? matchesAt(context, at) : changedAt(context, at));
    return [text, number];
  });
}

/** The first in path order, as many as the answer can need. */
function firstOf(context: Context, held: Held, keep: number): number[] {
  return keep === 0 ? [...held.values()].flat() : take(inPathOrder(context, held), keep);
}

/** The last changed, and the first in path order of those that are as old as the oldest of them. */
function newestOf(context: Context, held: Held): number[] {
  const { keep } = context;
  const all = [...held.values()].flat();
  if (keep === 0 || all.length <= keep) return all;
  const times = new Float64Array(all.length);
  for (const [place, at] of all.entries()) times[place] = changedAt(context, at);
  const oldest = times.slice().sort()[all.length - keep] ?? 0;
  const newer = all.filter((_, place) => (times[place] ?? 0) > oldest);
  const asOld = new Map<Folder, number[]>();
  for (const [folder, files] of held) {
    const same = files.filter((at) => changedAt(context, at) === oldest);
    if (same.length > 0) asOld.set(folder, same);
  }
  return [...newer, ...take(inPathOrder(context, asOld), keep - newer.length)];
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

/** The files below the top as `byPath` orders them: only what is asked for is put in order. */
function* inPathOrder(context: Context, held: Held): Generator<number> {
  const holds = new Set<Folder>();
  for (const folder of held.keys()) {
    for (let above: Folder | undefined = folder; above !== undefined && !holds.has(above); above = above.parent) {
      holds.add(above);
    }
  }
  yield* within(context.top);

  function* within(folder: Folder): Generator<number> {
    const entries: { path: string; inner?: Folder; file?: number }[] = [];
    for (const inner of folder.children.values()) {
      if (holds.has(inner)) entries.push({ path: shownPath(realName(inner.name)), inner });
    }
    for (const file of held.get(folder) ?? []) {
      entries.push({ path: shownPath(realName(nameAt(folder, placeAt(context, file)))), file });
    }
    entries.sort(byPath);
    for (const { inner, file } of entries) {
      if (inner !== undefined) yield* within(inner);
      else if (file !== undefined) yield file;
    }
  }
}
