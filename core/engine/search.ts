import { compileSearchModule, instantiateSearch, type LoadedSearch, type SearchComponent } from "./load.ts";

/** What the search component throws for a query it can't use: the `fault` records of wasm/wit/search.wit. */
export type EngineFault = { message: string; position?: number; hint?: string; part?: string };

/** An instance whose linear memory grew beyond this is dropped after use: linear memory never shrinks. */
const KEPT_BYTES = 64 << 20;

/** More searches than this at once are rare; their instances are made for them and dropped. */
const KEPT_INSTANCES = 4;

/** The buffer to begin with: larger than all but a few files of a source tree. */
const FIRST_BUFFER_BYTES = 1 << 20;

const idle: SearchEngine[] = [];

/** The canonical ABI's name of `grep.search` in wasm/wit/search.wit, whose two u32 and one s32 it takes and gives as they are. */
const SEARCH_EXPORT = "cordon:search/grep@0.1.0#search";

/** What `grep.search` says of a binary file. */
export const BINARY = -1;

/** One instance of the component, for one search at a time. */
export class SearchEngine {
  readonly grep: SearchComponent["grep"];
  readonly walk: SearchComponent["walk"];
  /**
   * `grep.search` without jco's wrapper, which keeps a record of each call and costs 2 to 7 µs where a small file is
   * searched in 3. Returns the number of matches or `BINARY`.
   */
  readonly search: (bytes: number, budget: number) => number;
  readonly #memory: WebAssembly.Memory;
  #address = 0;
  #capacity = 0;
  #view = new Uint8Array(0);

  constructor({ search, memory, exports }: LoadedSearch) {
    const core = exports[SEARCH_EXPORT];
    if (typeof core !== "function") throw new Error(`Cannot use the search engine: it has no "${SEARCH_EXPORT}"`);
    this.grep = search.grep;
    this.walk = search.walk;
    // The type of WebAssembly.Exports says no more than Function; the signature is that of the WIT file.
    this.search = core as (bytes: number, budget: number) => number;
    this.#memory = memory;
  }

  /**
   * The component's buffer, at least `bytes` long, for files to be read into. Good until the next call of the component.
   * Its old content is lost when it has to grow.
   */
  buffer(bytes: number): Uint8Array {
    if (bytes > this.#capacity) {
      const capacity = Math.max(bytes, FIRST_BUFFER_BYTES);
      this.#address = this.grep.reserve(capacity);
      this.#capacity = capacity;
      this.#view = new Uint8Array(0);
    }
    // A memory that has grown leaves the views of its old buffer with no bytes in them.
    if (this.#view.byteLength === 0) this.#view = new Uint8Array(this.#memory.buffer, this.#address, this.#capacity);
    return this.#view;
  }

  /** Bytes of linear memory in use. */
  get memoryBytes(): number {
    return this.#memory.buffer.byteLength;
  }
}

/**
 * Runs one search with an instance of its own. An instance whose search threw anything but a fault of the query is
 * dropped: after a trap its memory may be in any state.
 */
export async function withSearchEngine<Result>(use: (engine: SearchEngine) => Promise<Result>): Promise<Result> {
  const engine = idle.pop() ?? new SearchEngine(await instantiateSearch(await compileSearchModule()));
  let sound = true;
  try {
    return await use(engine);
  } catch (error) {
    sound = !(error instanceof WebAssembly.RuntimeError);
    throw error;
  } finally {
    if (sound && idle.length < KEPT_INSTANCES && engine.memoryBytes <= KEPT_BYTES) idle.push(engine);
  }
}

/** The fault in what a call of the component threw, or undefined if it is no fault of the query. */
export function engineFault(thrown: unknown): EngineFault | undefined {
  // jco throws the record of a WIT result's error case as it is; all else that comes out of a component is an Error.
  if (thrown instanceof Error || typeof thrown !== "object" || thrown === null || !("message" in thrown)) return undefined;
  // Both fault records of search.wit have this shape.
  return thrown as EngineFault;
}
