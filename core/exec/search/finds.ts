import type { MatchSpan } from "../../contract/search.ts";

/**
 * One file whose lines a search shows: what it counts on a page is `weight`, its lines. `dropped` lines at the front are not in `text`, since no
 * page needs them. `isCut`: no lines were taken any more, as there were enough.
 */
export type Find = {
  path: string;
  weight: number;
  matches: number;
  text?: string;
  spans?: MatchSpan[];
  dropped?: number;
  isCut?: boolean;
};

/** What a span takes in memory, about. */
const SPAN_BYTES = 64;

/** How much of a page the lines of a file take. */
export function bytesOf({ text = "", spans = [] }: Find): number {
  return text.length + spans.length * SPAN_BYTES;
}

/**
 * What one thread of a search found and could not read. The finds are in no order; where only names are wanted there are none, and the
 * component has the names: `names` is there where another thread's component does (`SearchEngine.gathered`).
 */
export type Found = {
  finds: Find[];
  /** There were more than these. */
  hasMore: boolean;
  names?: Uint8Array<ArrayBuffer>;
  /** Of files that have a number in the index: pairs of the number and what was said of the file (`SearchEngine.noted`). */
  noted?: Int32Array;
  totalFiles: number;
  totalMatches: number;
  skipped: { binary: number; tooLarge: number; unreadable: number; unreadableNames: string[] };
};

/** Names of what could not be read: so many are named, all are counted. */
export const NAMED_UNREADABLE = 20;

/** Once so many times more than can be needed is there, the rest is dropped. */
const SLACK = 2;

/**
 * The finds of one thread, of which only those that can be on the page are kept: the first `keep` in their order (0: all), and no more than fill
 * `keepBytes`. The whole result's first `keep` are among them, since each thread's part of those is at the front of what the thread found.
 */
export class Finds {
  readonly found: Found = {
    finds: [],
    hasMore: false,
    totalFiles: 0,
    totalMatches: 0,
    skipped: { binary: 0, tooLarge: 0, unreadable: 0, unreadableNames: [] },
  };
  readonly #keep: number;
  readonly #keepBytes: number;
  #weight = 0;
  #bytes = 0;
  #last: Find | undefined;

  constructor(keep: number, keepBytes = Number.POSITIVE_INFINITY) {
    this.#keep = keep || Number.POSITIVE_INFINITY;
    this.#keepBytes = keepBytes;
  }

  /** True if a find, or all below a folder, is surely not on the page, so that its lines need not be made. */
  isBeyond(find: Pick<Find, "path">): boolean {
    return this.#last !== undefined && byPath(find, this.#last) > 0;
  }

  /** Counts a find, and keeps it unless it is beyond. */
  take(find: Find): void {
    this.found.totalFiles += 1;
    this.found.totalMatches += find.matches;
    if (this.isBeyond(find)) return;
    this.found.finds.push(find);
    this.#weight += find.weight;
    this.#bytes += bytesOf(find);
    if (this.#weight > this.#keep * SLACK || this.#bytes > this.#keepBytes * SLACK) this.#drop();
  }

  /** Counts what could not be read. */
  skipUnreadable(path: string): void {
    const { skipped } = this.found;
    skipped.unreadable += 1;
    if (skipped.unreadableNames.length < NAMED_UNREADABLE) skipped.unreadableNames.push(path);
  }

  #drop(): void {
    const { finds } = this.found;
    finds.sort(byPath);
    let [weight, bytes, kept] = [0, 0, 0];
    for (const find of finds) {
      if (weight >= this.#keep || bytes >= this.#keepBytes) break;
      weight += find.weight;
      bytes += bytesOf(find);
      kept += 1;
    }
    finds.length = kept;
    this.found.hasMore = true;
    this.#weight = weight;
    this.#bytes = bytes;
    this.#last = finds.at(-1);
  }
}

/** Puts what all threads found together, in order. */
export function mergeFound(parts: readonly Found[]): Found {
  const whole = new Finds(0).found;
  for (const { finds, hasMore, totalFiles, totalMatches, skipped } of parts) {
    for (const find of finds) whole.finds.push(find);
    whole.hasMore ||= hasMore;
    whole.totalFiles += totalFiles;
    whole.totalMatches += totalMatches;
    whole.skipped.binary += skipped.binary;
    whole.skipped.tooLarge += skipped.tooLarge;
    whole.skipped.unreadable += skipped.unreadable;
    whole.skipped.unreadableNames.push(...skipped.unreadableNames);
  }
  whole.finds.sort(byPath);
  whole.skipped.unreadableNames.sort();
  whole.skipped.unreadableNames.length = Math.min(whole.skipped.unreadableNames.length, NAMED_UNREADABLE);
  return whole;
}

/** Path order: each folder's entries by the bytes of their names, a folder's content where its name stands. */
export function byPath({ path: one }: Pick<Find, "path">, { path: other }: Pick<Find, "path">): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at += 1) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (a !== b) return rank(a) - rank(b);
  }
  return one.length - other.length;
}

/** UTF-16 units in the order of UTF-8 bytes: surrogates stand for what comes after all others; a slash before all. */
function rank(unit: number): number {
  if (unit === 0x2f) return -1;
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}
