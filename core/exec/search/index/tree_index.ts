import type { IndexEngine } from "../../../engine/index_engine.ts";
import type { FileCalls } from "../file_calls.ts";
import { FolderNumbers } from "../folder_numbers.ts";
import type { SearchJob } from "../job.ts";
import { childOf, type RealPath, shownPath } from "../real_path.ts";
import { mayStartAt } from "../start_point.ts";
import { ENTRY, type Entry, TYPE } from "./entries.ts";
import { bytesOf, type Folder, newFolder, NUMBER, placeOf, realName, setEntries } from "./folder.ts";
import { keyOf } from "./listing.ts";
import { isLocalFileSystem } from "./local_file_systems.ts";
import { mountsAround } from "./mounts.ts";
import { checkLinks, Moves } from "./names.ts";
import { Remembered } from "./remembered.ts";
import { ruleFacts } from "./rule_facts.ts";
import { type Chosen, chooseFiles, type Question } from "./tree_answers.ts";
import { IndexLost, inodeAt, TreeState } from "./tree_state.ts";
import { IN, type WatchCalls, type WatchEvent } from "./watch_calls.ts";

/** Larger files are looked at by each search: a signature of one would keep others waiting. */
const LARGEST_BYTES = 32 << 20;

/** More folders than this are not watched: each costs the kernel a kilobyte that it can't take back. */
const MOST_FOLDERS = 65_536;

/** New folders that are read before an answer. */
const MOST_AT_ONCE = 64;

/** After so many folders the walk that judges them is full of those that are gone. */
const MOST_WALKED = 4 * MOST_FOLDERS;

/** What a tree's index is made of. `job` is that of the search that asked for it: with its rules the walk is judged. */
export type TreeParts = { engine: IndexEngine; files: FileCalls; calls: WatchCalls; job: SearchJob };

/**
 * One tree in memory: its folders with their entries, and a signature of each file. Folders that a search with the usual rules does
 * not enter are not watched; a search that does enter them reads them itself.
 */
export class TreeIndex {
  readonly #parts: TreeParts;
  readonly #numbers: FolderNumbers;
  readonly #identity: string;
  readonly #placeOfRoot: string;
  readonly #mounts: string;
  readonly #state: TreeState;
  /** Folders to be watched: the parent and the name. */
  readonly #toWatch: { parent: Folder | undefined; name: string }[] = [{ parent: undefined, name: "" }];
  /** What earlier searches came to. */
  readonly remembered = new Remembered();
  readonly #moves = new Moves();
  #walked = 0;

  /** Throws IndexLost where events don't tell everything. */
  constructor(parts: TreeParts) {
    this.#parts = parts;
    const { engine, calls, job } = parts;
    this.#state = new TreeState(engine, calls);
    engine.search.link(parts.files.filesOf(engine.search));
    engine.search.startWalk(job.scope);
    this.#numbers = new FolderNumbers(engine.search, job, () => true);
    this.#mounts = mountsAround(job.start);
    calls.mountsChanged();
    const facts = calls.facts(job.start);
    if (facts === undefined) throw new IndexLost("the folder is gone");
    this.#identity = `${facts.place} ${facts.inode}`;
    this.#placeOfRoot = facts.place;
  }

  /** Files with a signature. */
  get files(): number {
    return this.#state.files;
  }

  /** Bytes that it takes. */
  get bytes(): number {
    return this.#state.bytes + this.#parts.engine.bytes + this.remembered.bytes;
  }

  /** True when all is known that is worth knowing. */
  get isComplete(): boolean {
    return this.#toWatch.length === 0 && this.#state.stale.size === 0;
  }

  /** Ends all watches. */
  close(): void {
    this.#parts.calls.close();
  }

  /** Takes in all that has changed until now. Throws IndexLost. */
  sync(): void {
    const { calls, job } = this.#parts;
    const facts = calls.facts(job.start);
    if (facts === undefined || `${facts.place} ${facts.inode}` !== this.#identity) {
      throw new IndexLost("another folder stands in its place");
    }
    if (calls.mountsChanged() && mountsAround(job.start) !== this.#mounts) throw new IndexLost("a mount has changed");
    this.#moves.begin();
    for (const event of calls.drain()) {
      this.#moves.note(event);
      this.#take(event);
    }
    for (const folder of this.#state.changed) this.#readAgain(folder);
    this.#state.changed.clear();
    // A new folder may hold a second name of a file that is known by another one.
    for (let read = 0; read < MOST_AT_ONCE && this.#toWatch.length > 0; read += 1) this.#watchNext();
  }

  /** True if new folders are still to be read, so that nothing can be said. */
  get isBehind(): boolean {
    return this.#toWatch.length > 0;
  }

  #watchNext(): void {
    const next = this.#toWatch.pop();
    if (next !== undefined) this.#watch(next.parent, next.name);
  }

  /** Works on what is not known yet until `isOver`, which is asked for each file. Throws IndexLost. */
  work(isOver: () => boolean): void {
    while (!isOver()) {
      const [folder] = this.#state.stale;
      if (this.#toWatch.length > 0) this.#watchNext();
      else if (folder === undefined) return;
      else this.#sign(folder, isOver);
    }
  }

  /** What a search must look at, or why it can't be said. Call `sync` before. */
  choose(question: Question): Chosen | { why: string } {
    const { engine, job } = this.#parts;
    // A call for each file: not before somebody wants to know.
    if (this.#moves.mayHideNames) checkLinks(this.#state, this.#parts);
    this.#moves.clear();
    // Before anything is looked at: what changes from now on is seen by the next search.
    const rules = question.key === undefined ? "" : ruleFacts(this.#state, job.start);
    return chooseFiles({ state: this.#state, engine, remembered: this.remembered, rules }, question);
  }

  #take({ watch, mask, name }: WatchEvent): void {
    if ((mask & IN.overflow) !== 0) throw new IndexLost("more changed at once than the kernel remembers");
    const folder = this.#state.byWatch.get(watch);
    if (folder === undefined) return;
    if ((mask & IN.unmount) !== 0) throw new IndexLost("a file system was unmounted");
    if (name === "") {
      const isOwn = (mask & (IN.deleteSelf | IN.moveSelf | IN.attrib | IN.ignored)) !== 0;
      if (folder.parent === undefined && isOwn) throw new IndexLost("the folder itself was changed");
      // Of all other folders the parent's events tell.
      return;
    }
    if ((mask & IN.isDir) !== 0) {
      const child = folder.children.get(name);
      if (child !== undefined) {
        this.#state.remove(child);
        if ((mask & IN.attrib) !== 0) this.#toWatch.push({ parent: folder, name });
      }
    }
    if ((mask & (IN.create | IN.delete | IN.movedFrom | IN.movedTo)) !== 0) {
      folder.changed.add(name);
      this.#state.changed.add(folder);
    } else if ((mask & IN.isDir) === 0) {
      const place = placeOf(folder, name);
      if (place !== undefined) this.#state.unsign(folder, place, NUMBER.stale);
      this.#state.settle(folder);
    }
  }

  /** Begins to watch a folder, and reads it then: what is made between is read or told by an event. */
  #watch(parent: Folder | undefined, name: string): void {
    const { engine, files, calls, job } = this.#parts;
    if (parent !== undefined && this.#state.folders.get(parent.key) !== parent) return;
    const path = parent === undefined ? job.start : childOf(parent.path, realName(name));
    const place = parent === undefined ? -1 : placeOf(parent, name);
    if (place === undefined || parent?.children.has(name) === true) return;
    const watch = calls.watch(Buffer.from(path));
    const open = files.openFolder(engine.search, path);
    if (open === undefined) {
      this.#state.unwatchNew(watch);
      if (parent === undefined) throw new IndexLost("the folder can't be read");
      return;
    }
    try {
      if (watch === undefined) throw new IndexLost("no more folders can be watched (fs.inotify.max_user_watches)");
      if (!this.#isFit(open.handle, watch, parent)) return;
      const folder = newFolder({ path, key: keyOf(path), name, parent, watch, walked: this.#enter(path, open.bytes) });
      folder.place = place;
      this.#state.keep(folder);
      const entries = this.#state.setEntries(folder, Buffer.from(engine.search.entries(0).slice(0, open.bytes)));
      for (const { type, inode } of entries) if (type === TYPE.file) this.#state.lookForOtherNames(inode);
      this.#watchInner(folder, () => true);
    } finally {
      files.closeFolder(open);
    }
  }

  /** False if what was opened is not what is watched, or is no place where events tell everything. */
  #isFit(handle: number, watch: number, parent: Folder | undefined): boolean {
    const { calls } = this.#parts;
    const again = calls.watchOpen(handle);
    if (again !== watch) {
      this.#state.unwatchNew(again);
      this.#state.unwatchNew(watch);
      return false;
    }
    // Mounted at two places, or moved a moment ago: one of them is left to the searches.
    if (this.#state.byWatch.has(watch)) return false;
    const isOtherPlace = parent === undefined || calls.facts("", handle)?.place !== this.#placeOfRoot;
    if (!isOtherPlace || isLocalFileSystem(calls.fileSystem(handle))) return true;
    calls.unwatch(watch);
    if (parent === undefined) throw new IndexLost("its file system is changed by other machines too");
    return false;
  }

  #enter(path: RealPath, bytes: number): number {
    this.#walked += 1;
    if (this.#walked > MOST_WALKED) throw new IndexLost("too many folders came and went");
    if (this.#state.folders.size >= MOST_FOLDERS) throw new IndexLost(`it has more than ${MOST_FOLDERS} folders`);
    return this.#numbers.enter(path, this.#parts.engine.search.survey(bytes));
  }

  /** Asks for a watch on those folders in a folder that a search with the usual rules enters. */
  #watchInner(folder: Folder, isNew: (name: string) => boolean): void {
    const { search } = this.#parts.engine;
    search.entries(folder.raw.length).set(folder.raw);
    const order = search.filter(folder.walked, folder.raw.length);
    for (let place = 0; place < order.length; place += 3) {
      if (order[place + 2] !== 1) continue;
      const start = order[place] ?? 0;
      const name = folder.raw.toString("latin1", start, start + (order[place + 1] ?? 0));
      if (isNew(name)) this.#toWatch.push({ parent: folder, name });
    }
  }

  /** Reads the entries of a folder anew, and keeps what is known of those that no event has named. */
  #readAgain(folder: Folder): void {
    const { engine, files, calls } = this.#parts;
    if (this.#state.folders.get(folder.key) !== folder) return;
    const open = files.openFolder(engine.search, folder.path);
    if (open === undefined) {
      this.#state.remove(folder);
      return;
    }
    try {
      const watch = calls.watchOpen(open.handle);
      if (watch !== folder.watch) {
        this.#state.unwatchNew(watch);
        this.#state.remove(folder);
        return;
      }
      const raw = Buffer.from(engine.search.entries(0).slice(0, open.bytes));
      const isKnown = this.#takeOver(folder, raw);
      this.#watchInner(folder, (name) => !isKnown(name));
    } finally {
      files.closeFolder(open);
    }
  }

  /** Returns what tells the names of folders that were there before. */
  #takeOver(folder: Folder, raw: Buffer): (name: string) => boolean {
    const { changed } = folder;
    placeOf(folder, "");
    const before = { ...folder };
    const known = new Map(before.places);
    this.#state.bytes -= bytesOf(folder);
    const entries = setEntries(folder, raw);
    folder.changed = new Set();
    const old = (entry: Entry): number | undefined => {
      const place = known.get(entry.name);
      if (place === undefined || changed.has(entry.name)) return undefined;
      const at = before.at[place] ?? 0;
      const isSame = before.raw[at + ENTRY.type] === entry.type && inodeAt(before, place) === entry.inode;
      return isSame ? place : undefined;
    };
    const kept = new Set<number>();
    const made: number[] = [];
    entries.forEach((entry, place) => {
      const from = old(entry);
      if (entry.type === TYPE.folder) {
        const child = folder.children.get(entry.name);
        if (child !== undefined) child.place = place;
      } else if (from !== undefined) {
        kept.add(from);
        this.#state.carry(before, from, folder, place);
      } else if (entry.type === TYPE.file) made.push(entry.inode);
    });
    before.numbers.forEach((_, place) => {
      if (!kept.has(place)) this.#state.release(before, place);
    });
    const names = new Set(entries.map(({ name }) => name));
    for (const child of [...folder.children.values()]) if (!names.has(child.name)) this.#state.remove(child);
    this.#state.bytes += bytesOf(folder);
    this.#state.count(folder, entries);
    // Now that the folder has its new places: the other name may be in it too.
    for (const inode of made) this.#state.lookForOtherNames(inode);
    return (name) => known.has(name) && !changed.has(name);
  }

  /** Takes the signatures of a folder's stale files. */
  #sign(folder: Folder, isOver: () => boolean): void {
    const { engine, files } = this.#parts;
    const handle = files.reach(folder.path);
    engine.search.entries(folder.raw.length).set(folder.raw);
    for (let place = 0; place < folder.numbers.length && folder.stale > 0; place += 1) {
      if (folder.numbers[place] !== NUMBER.stale) continue;
      folder.stale -= 1;
      folder.numbers[place] = NUMBER.always;
      const number = handle < 0 ? undefined : this.#signOne(folder, place, handle);
      if (number !== undefined) this.#state.sign(folder, place, number);
      if (isOver()) break;
    }
    if (handle >= 0) files.closeFolder({ path: folder.path, handle, bytes: 0 });
    this.#state.settle(folder);
  }

  #signOne(folder: Folder, place: number, handle: number): number | undefined {
    const { engine, calls, job } = this.#parts;
    const at = (folder.at[place] ?? 0) + ENTRY.name;
    const end = folder.raw.indexOf(0, at);
    const name = folder.raw.subarray(at, end);
    const path = shownPath(childOf(folder.path, realName(name.toString("latin1"))));
    const { hidden, scope } = job;
    // A secret is read by no one, and the search judges it anyway.
    if (!mayStartAt(path, { hidden, closedNames: scope.closedNames, sampleEndings: scope.sampleEndings }))
      return undefined;
    const facts = calls.facts(name, handle);
    // A change by another name raises no event here.
    if (facts === undefined || facts.size > LARGEST_BYTES) return undefined;
    if (facts.links > 1) {
      this.#state.lookForOtherNames(inodeAt(folder, place));
      return undefined;
    }
    folder.changedMs[place] = facts.changedMs;
    folder.marks[place] = facts.mark;
    return engine.add(handle, at);
  }
}
