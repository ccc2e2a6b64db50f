import type { FileView } from "../../contract/search.ts";
import { type Listing, readFolder } from "./read_folder.ts";
import { childOf, type RealPath, shownPath } from "./real_path.ts";

/** Longest time that reading ahead keeps the event loop, and with it the news that the component is up. */
const STRETCH_MS = 1;

/**
 * Folders read while the component is compiled on another core, which takes 20 to 30 ms in a cold process. Nothing is
 * known of ignore rules then, so what turns out to be ignored was read for nothing; hidden folders are left for later.
 */
export class ReadAhead {
  readonly #view: FileView;
  readonly #listings = new Map<RealPath, Listing>();

  constructor(view: FileView) {
    this.#view = view;
  }

  /** Reads the folders below a path, the nearest first, until `until` settles. Never rejects. */
  async fill(path: string, until: Promise<unknown>): Promise<void> {
    let over = false;
    const end = (): void => {
      over = true;
    };
    until.then(end, end);
    const next: RealPath[] = [path];
    for (let at = 0; at < next.length && !over; ) {
      for (const stop = performance.now() + STRETCH_MS; at < next.length && performance.now() < stop; at += 1) {
        this.#read(next, at);
      }
      await new Promise((resume) => setImmediate(resume));
    }
  }

  /** The listing of a folder; undefined if it can't be read. A listing is given out once: a walk visits a folder once. */
  take(path: RealPath): Listing | undefined {
    const ahead = this.#listings.get(path);
    if (ahead === undefined) return readFolder(path);
    this.#listings.delete(path);
    return ahead;
  }

  #read(next: RealPath[], at: number): void {
    const path = next[at];
    if (path === undefined || !this.#view.mayRead(shownPath(path))) return;
    const listing = readFolder(path);
    if (listing === undefined) return;
    this.#listings.set(path, listing);
    for (const [place, name] of listing.names.entries()) {
      if (listing.kinds[place] === "d" && name[0] !== ".") next.push(childOf(path, name));
    }
  }
}
