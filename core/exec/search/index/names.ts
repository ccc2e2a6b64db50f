import type { FileCalls } from "../file_calls.ts";
import { ENTRY } from "./entries.ts";
import { NUMBER } from "./folder.ts";
import type { TreeState } from "./tree_state.ts";
import { IN, type WatchCalls, type WatchEvent } from "./watch_calls.ts";

/**
 * Whether a name that was made may have gone before its folder was read. It may have been a second name of a known file (link(2) raises the same
 * event as the making of a file, and none on the folder of the first name), and a change by it was not told.
 */
export class Moves {
  /** Files that were made, or got their name, in this batch of events and in the one before: their folder is read after the batch. */
  #made = new Set<string>();
  #madeBefore = new Set<string>();
  /** Renames of which the new name has not come up. */
  readonly #left = new Set<number>();
  #arrivedFolder = false;
  #hides = false;

  /** Begins a batch. */
  begin(): void {
    this.#hides = this.mayHideNames;
    this.#madeBefore = this.#made;
    this.#made = new Set();
    this.#left.clear();
    this.#arrivedFolder = false;
  }

  /** Takes one event of a batch. */
  note({ watch, mask, cookie, name }: WatchEvent): void {
    const is = (event: number): boolean => (mask & event) !== 0;
    if (is(IN.movedFrom)) this.#left.add(cookie);
    if (is(IN.movedTo)) this.#left.delete(cookie);
    if (is(IN.isDir)) {
      // Its new name may be one that is not watched.
      if (is(IN.movedTo)) this.#arrivedFolder = true;
      // Names that came and went in it before it was watched are told by nothing.
      if (is(IN.create)) this.#hides = true;
      return;
    }
    const file = `${watch}/${name}`;
    const isNew = this.#made.has(file) || this.#madeBefore.has(file);
    if (isNew && is(IN.delete | IN.movedTo)) this.#hides = true;
    if (is(IN.create | IN.movedTo)) this.#made.add(file);
  }

  /** True unless it can be ruled out since `clear`. */
  get mayHideNames(): boolean {
    const areNew = this.#made.size + this.#madeBefore.size > 0;
    return this.#hides || (areNew && (this.#left.size > 0 || this.#arrivedFolder));
  }

  /** The files were looked at. */
  clear(): void {
    this.#hides = false;
    this.#left.clear();
    this.#arrivedFolder = false;
  }
}

/** Finds the files that have more than one name, or have changed unnoticed: one call of the kernel for each file. */
export function checkLinks(state: TreeState, { files, calls }: { files: FileCalls; calls: WatchCalls }): void {
  for (const folder of state.folders.values()) {
    const handle = files.reach(folder.path);
    if (handle < 0) continue;
    for (const [place, number] of folder.numbers.entries()) {
      if (number < 0) continue;
      const at = (folder.at[place] ?? 0) + ENTRY.name;
      const facts = calls.facts(folder.raw.subarray(at, folder.raw.indexOf(0, at)), handle);
      const isSame = facts?.links === 1 && facts.mark === folder.marks[place];
      if (!isSame) state.unsign(folder, place, (facts?.links ?? 0) > 1 ? NUMBER.always : NUMBER.stale);
    }
    files.closeFolder({ path: folder.path, handle, bytes: 0 });
    state.settle(folder);
  }
}
