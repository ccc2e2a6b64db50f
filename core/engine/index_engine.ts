import type { LoadedSearch } from "./load.ts";
import { SearchEngine } from "./search.ts";

/** The interface `index` of wasm/wit/search.wit, by the names of the canonical ABI: see CORE in search.ts. */
const ADD = "cordon:search/index@0.1.0#add";

/** What the component says where there is no number. */
const NONE = -1;

/** What is known of a file that is chosen, in the lower two bits of its number (wasm/search/src/index.rs). */
export const CHOSEN = { look: 0, binary: 1, plain: 2, bits: 2, mask: 3 } as const;

type Query = Parameters<SearchEngine["grep"]["compile"]>[0];

/** An instance of the component that keeps the signatures of a tree's files. */
export class IndexEngine {
  /** For reading files into the instance, and for judging entries. */
  readonly search: SearchEngine;
  readonly #index: LoadedSearch["search"]["index"];
  readonly #memory: WebAssembly.Memory;
  readonly #add: (folder: number, at: number) => number;

  constructor(loaded: LoadedSearch) {
    this.search = new SearchEngine(loaded);
    this.#index = loaded.search.index;
    this.#memory = loaded.memory;
    const add = loaded.exports[ADD];
    if (typeof add !== "function") throw new Error(`Cannot use the search engine: its module exports no "${ADD}"`);
    // search.wit: numbers in, a number out, and so it is called for each file without jco's wrapper.
    this.#add = add as (folder: number, at: number) => number;
  }

  /**
   * Reads a file of an open folder, whose name is at a place of the room for entries. Its number; undefined if it can't be read or
   * can't be told from others.
   */
  add(folder: number, at: number): number | undefined {
    const number = this.#add(folder, at);
    return number === NONE ? undefined : number;
  }

  /** Forgets a file; its number may be given out again. */
  remove(number: number): void {
    this.#index.remove(number);
  }

  /**
   * Numbers of the files that a search must look at, and of those that are known to end at a NUL byte, four times each and plus what `CHOSEN` says. Good
   * until the next call. Undefined if nothing can be told from the pattern.
   */
  choose(query: Query): Uint32Array | undefined {
    const count = this.#index.choose(query);
    return count === NONE ? undefined : new Uint32Array(this.#memory.buffer, this.#index.chosen() >>> 0, count);
  }

  /** Bytes of linear memory that the instance has. */
  get bytes(): number {
    return this.#memory.buffer.byteLength;
  }
}
