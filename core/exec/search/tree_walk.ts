import { type SearchEngine, TURN } from "../../engine/search.ts";
import type { FolderNumbers } from "./folder_numbers.ts";
import { isLossy, type RealPath } from "./real_path.ts";

/** How one thread of a search goes through its folders. */
export type TreeWalk = {
  /** Adds a folder. */
  push: (folder: RealPath) => void;
  /** Does a little. False if there is no folder left. */
  step: () => boolean;
  /** Takes the oldest folder out, which has most below it; undefined if there is not more than one. */
  give: () => RealPath | undefined;
  /** Folders that were visited, and that wait. */
  readonly seen: number;
  readonly left: number;
  /** Closes what is open. Call it at the end, whatever the end was. */
  leave: () => void;
};

/** Each folder is listed and filtered from here: where each entry must be judged here, or folders are not those of the system. */
export class FolderByFolder implements TreeWalk {
  readonly #visit: (folder: RealPath, push: (folder: RealPath) => void) => Generator<undefined, void, undefined>;
  readonly #folders: RealPath[] = [];
  #current: Generator<undefined, void, undefined> | undefined;
  seen = 0;

  constructor(visit: (folder: RealPath, push: (folder: RealPath) => void) => Generator<undefined, void, undefined>) {
    this.#visit = visit;
  }

  get left(): number {
    return this.#folders.length;
  }

  push(folder: RealPath): void {
    this.#folders.push(folder);
  }

  step(): boolean {
    if (this.#current === undefined) {
      const folder = this.#folders.pop();
      if (folder === undefined) return false;
      this.#current = this.#visit(folder, (inner) => this.push(inner));
    }
    if (this.#current.next().done === true) {
      this.#current = undefined;
      this.seen += 1;
    }
    return true;
  }

  give(): RealPath | undefined {
    return this.#folders.length > 1 ? this.#folders.shift() : undefined;
  }

  leave(): void {
    this.#current?.return();
  }
}

/** What a tour hands on: a file of the choice that there is something to say of, and a folder that can't be read. */
export type TourEnds = {
  tell: (folder: RealPath, entry: number, ended: number) => void;
  unreadable: (folder: RealPath) => void;
};

/** The component goes through folders by itself, and asks here for the rules of ignore files only. */
export class Tour implements TreeWalk {
  readonly #engine: SearchEngine;
  readonly #numbers: FolderNumbers;
  readonly #ends: TourEnds;
  seen = 0;
  left = 0;

  constructor(engine: SearchEngine, numbers: FolderNumbers, ends: TourEnds) {
    this.#engine = engine;
    this.#numbers = numbers;
    this.#ends = ends;
  }

  push(folder: RealPath): void {
    this.#engine.push(folder);
    this.left += 1;
  }

  step(): boolean {
    const { why, path, told, opened, waiting } = this.#engine.go();
    this.seen = opened;
    this.left = waiting;
    if (why === TURN.over) return false;
    if (why === TURN.told && told.length === 0) return true;
    const folder = realPath(path);
    if (why === TURN.unreadable) this.#ends.unreadable(folder);
    else if (why === TURN.rules) {
      const [seen = 0, parent = -1] = told;
      this.#engine.entered(this.#numbers.enter(folder, seen, parent < 0 ? undefined : parent));
    } else {
      for (let at = 0; at < told.length; at += 2) this.#ends.tell(folder, told[at] ?? 0, told[at + 1] ?? 0);
    }
    return true;
  }

  give(): RealPath | undefined {
    const path = this.#engine.give();
    return path === undefined ? undefined : realPath(path);
  }

  leave(): void {
    this.#engine.leave();
  }
}

// A byte order mark at the front of a name is part of it.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes as a path: text wherever that can name them again. */
export function realPath(bytes: Uint8Array): RealPath {
  const text = decoder.decode(bytes);
  return isLossy(text) ? Buffer.from(bytes) : text;
}
