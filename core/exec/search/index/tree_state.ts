import type { IndexEngine } from "../../../engine/index_engine.ts";
import { type Entry, inodeOf, TYPE } from "./entries.ts";
import { bytesOf, type Folder, NUMBER, setEntries } from "./folder.ts";
import type { WatchCalls } from "./watch_calls.ts";

/** The index can't be kept true any longer, or does not pay. The message says why. */
export class IndexLost extends Error {}

/** The folders of a tree that are watched, and which of their files have a signature. */
export class TreeState {
  readonly folders = new Map<string, Folder>();
  readonly byWatch = new Map<number, Folder>();
  /** Folders with entries that have changed, with stale files, and those that each search must look into. */
  readonly changed = new Set<Folder>();
  readonly stale = new Set<Folder>();
  readonly loose = new Set<Folder>();
  /** By number of a signature: where the file is. */
  readonly owners: (Folder | undefined)[] = [];
  readonly places: number[] = [];
  /** By number of a signature: what `clock` said when it was taken. */
  readonly stamps: number[] = [];
  /** Goes on with each signature. */
  clock = 0;
  /** Files with a signature, and bytes of what is known of folders. */
  files = 0;
  bytes = 0;
  /**
   * How many files with a signature have an inode: a file that gets a second name is found by it. More than one for a moment, when a
   * new file has the inode of one that is gone, of which the event is still to come.
   */
  readonly #inodes = new Map<number, number>();
  readonly #engine: IndexEngine;
  readonly #calls: WatchCalls;

  constructor(engine: IndexEngine, calls: WatchCalls) {
    this.#engine = engine;
    this.#calls = calls;
  }

  keep(folder: Folder): void {
    this.folders.set(folder.key, folder);
    this.byWatch.set(folder.watch, folder);
    const { parent } = folder;
    if (parent === undefined) return;
    parent.children.set(folder.name, folder);
    parent.strange = parent.strange.filter((place) => place !== folder.place);
    this.settle(parent);
  }

  /** Forgets a folder and all below it. It stays an entry of its parent, for a search to read it itself. */
  remove(folder: Folder): void {
    const { parent } = folder;
    if (parent === undefined) throw new IndexLost("the folder can't be read any more");
    for (const child of [...folder.children.values()]) this.remove(child);
    this.folders.delete(folder.key);
    this.unwatch(folder.watch);
    for (const set of [this.stale, this.loose, this.changed]) set.delete(folder);
    for (const place of folder.numbers.keys()) this.release(folder, place);
    this.bytes -= bytesOf(folder);
    parent.children.delete(folder.name);
    parent.strange.push(folder.place);
    this.settle(parent);
  }

  setEntries(folder: Folder, raw: Buffer): Entry[] {
    const entries = setEntries(folder, raw);
    this.count(folder, entries);
    this.bytes += bytesOf(folder);
    return entries;
  }

  count(folder: Folder, entries: Entry[]): void {
    folder.strange = entries.flatMap(({ type, name }, place) =>
      type === TYPE.folder && !folder.children.has(name) ? [place] : [],
    );
    folder.unnumbered = 0;
    folder.stale = 0;
    for (const number of folder.numbers) {
      if (number === NUMBER.stale) folder.stale += 1;
      if (number === NUMBER.stale || number === NUMBER.always) folder.unnumbered += 1;
    }
    this.settle(folder);
  }

  /** Puts a folder where it belongs. */
  settle(folder: Folder): void {
    if (this.folders.get(folder.key) !== folder) return;
    if (folder.stale > 0) this.stale.add(folder);
    else this.stale.delete(folder);
    if (folder.unnumbered > 0 || folder.strange.length > 0) this.loose.add(folder);
    else this.loose.delete(folder);
  }

  carry(from: Folder, old: number, to: Folder, place: number): void {
    const number = from.numbers[old] ?? NUMBER.stale;
    to.numbers[place] = number;
    to.changedMs[place] = from.changedMs[old] ?? Number.NaN;
    to.marks[place] = from.marks[old] ?? 0;
    if (number >= 0) this.places[number] = place;
  }

  /** A new name of a file that is known by another one: from now on a change by either name tells nothing of the other. */
  lookForOtherNames(inode: number): void {
    if (!this.#inodes.has(inode)) return;
    for (const folder of this.folders.values()) {
      folder.numbers.forEach((number, place) => {
        if (number < 0 || inodeAt(folder, place) !== inode) return;
        this.unsign(folder, place, NUMBER.always);
        this.settle(folder);
      });
    }
  }

  unwatch(watch: number): void {
    this.#calls.unwatch(watch);
    this.byWatch.delete(watch);
  }

  /** Ends a watch that was set in vain; one that a folder has stays. */
  unwatchNew(watch: number | undefined): void {
    if (watch !== undefined && !this.byWatch.has(watch)) this.#calls.unwatch(watch);
  }

  release(folder: Folder, place: number): void {
    const number = folder.numbers[place] ?? NUMBER.none;
    if (number < 0) return;
    this.#engine.remove(number);
    this.owners[number] = undefined;
    const inode = inodeAt(folder, place);
    const left = (this.#inodes.get(inode) ?? 0) - 1;
    if (left > 0) this.#inodes.set(inode, left);
    else this.#inodes.delete(inode);
    this.files -= 1;
  }

  unsign(folder: Folder, place: number, now: typeof NUMBER.stale | typeof NUMBER.always): void {
    const number = folder.numbers[place] ?? NUMBER.none;
    if (number === NUMBER.none || number === now) return;
    if (number >= 0) {
      this.release(folder, place);
      folder.unnumbered += 1;
    }
    if (number === NUMBER.stale) folder.stale -= 1;
    if (now === NUMBER.stale) folder.stale += 1;
    folder.numbers[place] = now;
    folder.changedMs[place] = Number.NaN;
  }

  /** Gives a stale file its signature. */
  sign(folder: Folder, place: number, number: number): void {
    folder.numbers[place] = number;
    folder.unnumbered -= 1;
    this.owners[number] = folder;
    this.places[number] = place;
    this.clock += 1;
    this.stamps[number] = this.clock;
    const inode = inodeAt(folder, place);
    this.#inodes.set(inode, (this.#inodes.get(inode) ?? 0) + 1);
    this.files += 1;
  }
}

/** The inode of an entry. */
export function inodeAt({ raw, at }: Folder, place: number): number {
  return inodeOf(raw, at[place] ?? 0);
}
