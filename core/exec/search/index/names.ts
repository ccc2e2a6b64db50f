import type { FileCalls } from "../file_calls.ts";
import { ENTRY } from "./entries.ts";
import { NUMBER } from "./folder.ts";
import type { TreeState } from "./tree_state.ts";
import { IN, type WatchCalls, type WatchEvent } from "./watch_calls.ts";

/**
 * Whether a name that was made may have left for where nobody watches before its folder was read. It may be a second name of a known
 * file (link(2) raises the same event as the making of a file, and none on the folder of the first name), and a change by it would not be told.
 */
export class Moves {
  #made = false;
  readonly #left = new Set<number>();
  #arrivedFolder = false;

  /** Takes one event of a batch. */
  note({ mask, cookie }: WatchEvent): void {
    const isFolder = (mask & IN.isDir) !== 0;
    if ((mask & IN.create) !== 0 && !isFolder) this.#made = true;
    if ((mask & IN.movedFrom) !== 0) this.#left.add(cookie);
    if ((mask & IN.movedTo) !== 0) this.#left.delete(cookie);
    // Its new name may be one that is not watched.
    if ((mask & IN.movedTo) !== 0 && isFolder) this.#arrivedFolder = true;
  }

  /** True after a batch of which that can't be ruled out. */
  get mayHideNames(): boolean {
    return this.#made && (this.#left.size > 0 || this.#arrivedFolder);
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
