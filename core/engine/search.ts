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

/** One instance of the component, for one search at a time. */
export class SearchEngine {
  readonly grep: SearchComponent["grep"];
  readonly walk: SearchComponent["walk"];
  readonly #memory: WebAssembly.Memory;
  #address = 0;
  #view = new Uint8Array(0);

  constructor(loaded: LoadedSearch) {
    this.grep = loaded.search.grep;
    this.walk = loaded.search.walk;
    this.#memory = loaded.memory;
  }

  /**
   * The component's buffer, at least `bytes` long, for files to be read into. Good until the next call of the component.
   * Its old content is lost when it has to grow.
   */
  buffer(bytes: number): Uint8Array {
    if (this.#view.byteLength >= bytes && bytes > 0) return this.#view;
    const detached = this.#address !== 0 && this.#view.byteLength === 0;
    const wanted = Math.max(bytes, this.#capacity, FIRST_BUFFER_BYTES);
    if (!detached || wanted > this.#capacity) {
      this.#address = this.grep.reserve(wanted);
      this.#capacity = wanted;
    }
    this.#view = new Uint8Array(this.#memory.buffer, this.#address, this.#capacity);
    return this.#view;
  }
  #capacity = 0;

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
  if (!(thrown instanceof Error) || !("payload" in thrown)) return undefined;
  const { payload } = thrown;
  if (typeof payload !== "object" || payload === null || !("message" in payload)) return undefined;
  // jco lifts the error case of a WIT result into `payload`; both fault records have this shape.
  return payload as EngineFault;
}
