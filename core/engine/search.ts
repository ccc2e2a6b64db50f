import { type CoreFunction, coreFunctions } from "./core_functions.ts";
import {
  type ComponentFiles,
  type ComponentFolders,
  compileSearchModule,
  type FilesLink,
  instantiateSearch,
  type LoadedSearch,
  type SearchComponent,
} from "./load.ts";

export type { ComponentFiles, ComponentFolders } from "./load.ts";

/** What the search component throws for a query it can't use: the `fault` records of wasm/wit/search.wit. */
export type EngineFault = { message: string; position?: number; hint?: string; part?: string; known?: string[] };

/** An instance whose linear memory grew beyond this is dropped after use: linear memory never shrinks. */
const KEPT_BYTES = 64 << 20;

/** More searches than this at once are rare; their instances are made for them and dropped. */
const KEPT_INSTANCES = 4;

/** The buffer to begin with: larger than all but a few files of a source tree. */
const FIRST_BUFFER_BYTES = 1 << 20;

/** The room for a folder's entries to begin with: some thousand names. */
const FIRST_ENTRIES_BYTES = 64 << 10;

const idle: SearchEngine[] = [];

/**
 * Functions of wasm/wit/search.wit that are called for each file or folder, by their names in the canonical ABI, which
 * hands numbers, booleans (0, 1), enums (by place) and options of numbers (0, 0 or 1, value) over as they are. A small file
 * is searched in 3 µs, less than jco's wrapper takes.
 */
const CORE = {
  reserveBuffer: "cordon:search/grep@0.1.0#reserve",
  visit: "cordon:search/grep@0.1.0#visit",
  enter: "cordon:search/walk@0.1.0#enter",
  addRules: "cordon:search/walk@0.1.0#add-rules",
  reserve: "cordon:search/walk@0.1.0#reserve",
  survey: "cordon:search/walk@0.1.0#survey",
  filter: "cordon:search/walk@0.1.0#filter",
  choose: "cordon:search/walk@0.1.0#choose",
  order: "cordon:search/walk@0.1.0#order",
  startTour: "cordon:search/tour@0.1.0#start",
  hide: "cordon:search/tour@0.1.0#hide",
  push: "cordon:search/tour@0.1.0#push",
  go: "cordon:search/tour@0.1.0#go",
  entered: "cordon:search/tour@0.1.0#entered",
  give: "cordon:search/tour@0.1.0#give",
  leave: "cordon:search/tour@0.1.0#leave",
  startNames: "cordon:search/names@0.1.0#start",
  namesFolder: "cordon:search/names@0.1.0#folder",
  list: "cordon:search/names@0.1.0#take-files",
  gathered: "cordon:search/names@0.1.0#gathered",
  noted: "cordon:search/names@0.1.0#noted",
  absorb: "cordon:search/names@0.1.0#absorb",
  page: "cordon:search/names@0.1.0#page",
} as const;

/** Numbers at the front of a report of `visit` or `go`. */
const REPORT_HEAD = 6;

/** In place of what an entry of a choice is: neither a file nor a folder. */
const LEFT_OUT = 2;

/** The enum `source` of search.wit, by place. */
const SOURCES = ["rgignore", "ignore", "gitignore", "exclude", "global"] as const;

/** The enum `gather` of search.wit, by place. */
const GATHERS = ["nothing", "names", "counts", "ages"] as const;

/** What is gathered of files, in the place of telling of them: see `names` in search.wit. */
export type Gather = (typeof GATHERS)[number];

/** Which of the names are wanted. Those below `base` are without it, unless it is empty; `limit` 0 is all. */
export type WantedNames = { offset: number; limit: number; base: string; newest: boolean };

/** Names and the numbers that stand with them, in order; `total` is how many were gathered. */
export type NamesPage = { bytes: Uint8Array; end: "\n" | "\0"; count: number; numbers: Float64Array; total: number };

/** Where ignore rules come from. */
export type RuleSource = (typeof SOURCES)[number];

/** A folder for the component: its path from `parent`, which is absent for the outermost. `above` as in search.wit. */
export type EngineFolder = {
  name: string | Uint8Array;
  parent: number | undefined;
  above: boolean;
  repository: boolean;
};

/** What `grep.visit` says of a file in place of a number of matches; `part`: it is not over, and there are lines to render. */
export const ENDED = { binary: -1, unreadable: -2, tooLarge: -3, part: -4 } as const;

/** What came of a stretch of files: the entry to go on with, and pairs of an entry and its number of matches, or one of `ENDED`. */
export type Visited = { next: number; told: Int32Array };

/** Why a tour gives the host its turn. */
export const TURN = { over: 0, told: 1, rules: 2, unreadable: 3 } as const;

/**
 * What `tour.go` says: `path` are the bytes of the folder that it is about, `opened` counts the folders since the start, `waiting` those
 * that are left. `told` is as in `Visited`, but for `rules`: there it is what `survey` said, and the parent's number or -1.
 */
export type Turned = Visited & { why: number; path: Uint8Array; opened: number; waiting: number };

const encoder = new TextEncoder();

/** One instance of the component, for one search at a time. */
export class SearchEngine {
  readonly grep: SearchComponent["grep"];
  readonly walk: SearchComponent["walk"];
  readonly #core: Record<keyof typeof CORE, CoreFunction>;
  readonly #memory: WebAssembly.Memory;
  readonly #buffer: Room = { at: 0, bytes: 0, view: EMPTY };
  readonly #entries: Room = { at: 0, bytes: 0, view: EMPTY };
  readonly #files: FilesLink;
  #view = new DataView(new ArrayBuffer(0));

  constructor({ search, memory, exports, files }: LoadedSearch) {
    this.#files = files;
    this.grep = search.grep;
    this.walk = search.walk;
    this.#core = coreFunctions(exports, CORE);
    this.#memory = memory;
  }

  /** Gives the component the files of a search, and its folders if it may go through them by itself. */
  link(files: ComponentFiles, folders?: ComponentFolders): void {
    this.#files.to = files;
    if (folders !== undefined) this.#files.folders = folders;
  }

  /** `tour.start` and `tour.hide`: begins a tour without folders in which these paths are not seen. */
  startTour(lists: boolean, hidden: readonly string[]): void {
    this.#core.startTour(lists ? 1 : 0);
    for (const path of hidden) this.#core.hide(this.write(path));
  }

  /** `tour.push`: adds a folder. */
  push(path: string | Uint8Array): void {
    this.#core.push(this.write(path));
  }

  /** `tour.go`: goes on until there is something to tell or to ask. Copies: good until whenever. */
  go(): Turned {
    const turned = this.#report(this.#core.go() >>> 0);
    // The component may have taken other places for what it reads.
    this.#buffer.bytes = 0;
    this.#entries.bytes = 0;
    return turned;
  }

  /** `tour.entered`: the number of the folder that the tour asked for. */
  entered(folder: number): void {
    this.#core.entered(folder);
  }

  /** `tour.give`: the path of the oldest folder, which the tour forgets; undefined if there is not more than one. */
  give(): Uint8Array | undefined {
    const { why, path } = this.#report(this.#core.give() >>> 0);
    return why === 0 ? undefined : path;
  }

  /** `tour.leave`: closes what is open. */
  leave(): void {
    this.#core.leave();
  }

  /** The name of an entry of the choice, as bytes. */
  nameOf(entry: number): Uint8Array {
    const order = this.#core.order() >>> 0;
    const [at = 0, bytes = 0] = new Uint32Array(this.#memory.buffer, order + entry * 12, 2);
    const entries = this.#core.reserve(0) >>> 0;
    return new Uint8Array(this.#memory.buffer, entries + at, bytes).slice();
  }

  /** The bytes before the NUL byte that ends a text in linear memory. A copy: good until whenever. */
  nameAt(at: number): Buffer {
    const memory = Buffer.from(this.#memory.buffer, at >>> 0);
    return Buffer.from(memory.subarray(0, memory.indexOf(0)));
  }

  /** Numbers in linear memory. Good until the next call of the component. */
  get memoryView(): DataView {
    if (this.#view.buffer !== this.#memory.buffer) this.#view = new DataView(this.#memory.buffer);
    return this.#view;
  }

  #report(place: number): Turned {
    const [why = 0, count = 0, path = 0, pathBytes = 0, opened = 0, waiting = 0] = new Int32Array(
      this.#memory.buffer,
      place,
      REPORT_HEAD,
    );
    const more = why === TURN.rules ? 1 : count;
    const told = new Int32Array(this.#memory.buffer, place + REPORT_HEAD * Int32Array.BYTES_PER_ELEMENT, more * 2);
    const name = new Uint8Array(this.#memory.buffer, path >>> 0, pathBytes);
    return { why, next: why, told: told.slice(), path: name.slice(), opened, waiting };
  }

  /** `grep.visit`: reads and searches files of the last choice from its entry `start` on. A copy: good until whenever. */
  visit(folder: number, start: number): Visited {
    const report = this.#core.visit(folder, start) >>> 0;
    // A large file may have made the component take another buffer.
    this.#buffer.bytes = 0;
    const [next = 0, count = 0] = new Int32Array(this.#memory.buffer, report, REPORT_HEAD);
    const told = new Int32Array(this.#memory.buffer, report + REPORT_HEAD * Int32Array.BYTES_PER_ELEMENT, count * 2);
    return { next, told: count === 0 ? told : told.slice() };
  }

  /** `names.start`: forgets all names. */
  startNames(gather: Gather): void {
    this.#core.startNames(GATHERS.indexOf(gather));
  }

  /** `names.folder`: says which folder is listed or visited next. A tour says it by itself. */
  namesFolder(path: string | Uint8Array): void {
    this.#core.namesFolder(this.write(path));
  }

  /** `names.take-files`: gathers files of the last choice from its entry `start` on. Returns the entry to go on with. */
  list(folder: number, start: number): number {
    // Before the memory is looked at: the component may make it grow.
    const next = this.#core.list(folder, start) >>> 0;
    return new Int32Array(this.#memory.buffer, next, 1)[0] ?? 0;
  }

  /** `names.gathered`: all that was gathered. A copy. */
  gathered(): Uint8Array<ArrayBuffer> {
    const place = this.#core.gathered() >>> 0;
    const [at = 0, bytes = 0] = new Uint32Array(this.#memory.buffer, place, 2);
    return new Uint8Array(this.#memory.buffer, at, bytes).slice();
  }

  /** `names.noted`: pairs of a number and what was said of the file. A copy. */
  noted(): Int32Array {
    const place = this.#core.noted() >>> 0;
    const [at = 0, count = 0] = new Uint32Array(this.#memory.buffer, place, 2);
    return new Int32Array(this.#memory.buffer, at, count).slice();
  }

  /** `names.absorb`: adds what another instance gathered. */
  absorb(gathered: Uint8Array): void {
    this.#core.absorb(this.write(gathered));
  }

  /** `names.page`: the wanted names in their order. Copies. */
  page({ offset, limit, base, newest }: WantedNames): NamesPage {
    const place = this.#core.page(offset, limit, this.write(base), newest ? 1 : 0) >>> 0;
    const { buffer } = this.#memory;
    const [at = 0, bytes = 0, numbersAt = 0, count = 0, total = 0, numbers = 0, end = 0] = new Uint32Array(
      buffer,
      place,
      7,
    );
    return {
      bytes: new Uint8Array(buffer, at, bytes).slice(),
      end: end === 0 ? "\0" : "\n",
      count,
      numbers: new Float64Array(buffer, numbersAt, numbers).slice(),
      total,
    };
  }

  /** `walk.choose`: makes one file, whose name is in the room for entries, the whole choice. */
  choose(at: number, bytes: number): void {
    this.#core.choose(at, bytes);
  }

  /** All of linear memory. It has no bytes any more once the memory has grown. */
  get memory(): Uint8Array {
    return new Uint8Array(this.#memory.buffer);
  }

  /** `walk.enter`: adds a folder and returns its number. */
  enter({ name, parent, above, repository }: EngineFolder): number {
    const bytes = this.write(name);
    return this.#core.enter(parent === undefined ? 0 : 1, parent ?? 0, bytes, above ? 1 : 0, repository ? 1 : 0);
  }

  /** `walk.add-rules`: gives a folder the rules in the first `bytes` bytes of the buffer. */
  addRules(folder: number, source: RuleSource, bytes: number): void {
    this.#core.addRules(folder, SOURCES.indexOf(source), bytes);
  }

  /** `walk.survey`: bits for what stands out in the first `bytes` bytes of the room for entries. */
  survey(bytes: number): number {
    return this.#core.survey(bytes);
  }

  /** Makes `visit` leave an entry of the choice out. */
  leaveOut(entry: number): void {
    const order = this.#core.order() >>> 0;
    new Uint32Array(this.#memory.buffer, order, (entry + 1) * 3)[entry * 3 + 2] = LEFT_OUT;
  }

  /** `walk.filter` and `walk.order`: three numbers for each entry to visit. A copy: good until whenever. */
  filter(folder: number, bytes: number): Uint32Array {
    const count = this.#core.filter(folder, bytes);
    const order = this.#core.order() >>> 0;
    return new Uint32Array(this.#memory.buffer, order, count * 3).slice();
  }

  /** Writes text into the buffer as UTF-8, or bytes as they are, and returns the length in bytes. */
  write(text: string | Uint8Array): number {
    // A UTF-16 unit is at most three bytes of UTF-8.
    if (typeof text === "string") return encoder.encodeInto(text, this.buffer(text.length * 3)).written;
    this.buffer(text.length).set(text);
    return text.length;
  }

  /**
   * The component's buffer, at least `bytes` long, for files to be read into. Good until the next call of the component.
   * Its old content is lost when it has to grow.
   */
  buffer(bytes: number): Uint8Array {
    return this.#room(this.#buffer, Math.max(bytes, FIRST_BUFFER_BYTES), (size) => this.#core.reserveBuffer(size));
  }

  /** The component's room for the raw entries of a folder, at least `bytes` long. Its content stays when it has to grow. */
  entries(bytes: number): Uint8Array {
    return this.#room(this.#entries, Math.max(bytes, FIRST_ENTRIES_BYTES), (size) => this.#core.reserve(size));
  }

  #room(room: Room, bytes: number, reserve: (bytes: number) => number): Uint8Array {
    if (bytes > room.bytes) {
      room.at = reserve(bytes) >>> 0;
      room.bytes = bytes;
      room.view = EMPTY;
    }
    // A memory that has grown leaves the views of its old buffer with no bytes in them.
    if (room.view.byteLength === 0) room.view = new Uint8Array(this.#memory.buffer, room.at, room.bytes);
    return room.view;
  }

  /** Forgets where the room for entries is: a walk that starts makes a new one. */
  startWalk(scope: Parameters<SearchComponent["walk"]["start"]>[0]): void {
    this.walk.start(scope);
    this.#entries.bytes = 0;
  }

  /** Bytes of linear memory in use. */
  get memoryBytes(): number {
    return this.#memory.buffer.byteLength;
  }
}

/** A piece of linear memory that the component gave out. */
type Room = { at: number; bytes: number; view: Uint8Array };

const EMPTY = new Uint8Array(0);

/**
 * Runs one search with an instance of its own. An instance whose search threw anything but a fault of the query is
 * dropped: after a trap its memory may be in any state. `meanwhile` runs beside the compiler if the component has to be
 * brought up first; it must not reject.
 */
export async function withSearchEngine<Result>(
  use: (engine: SearchEngine) => Promise<Result>,
  meanwhile?: (loaded: Promise<unknown>) => Promise<void>,
): Promise<Result> {
  const engine = idle.pop() ?? (await makeEngine(meanwhile));
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

async function makeEngine(meanwhile?: (loaded: Promise<unknown>) => Promise<void>): Promise<SearchEngine> {
  const compiling = compileSearchModule();
  const [module] = await Promise.all([compiling, meanwhile?.(compiling)]);
  return new SearchEngine(await instantiateSearch(module));
}

/** The fault in what a call of the component threw, or undefined if it is no fault of the query. */
export function engineFault(thrown: unknown): EngineFault | undefined {
  // jco throws the record of a WIT result's error case as it is; all else that comes out of a component is an Error.
  if (thrown instanceof Error || typeof thrown !== "object" || thrown === null || !("message" in thrown))
    return undefined;
  // Both fault records of search.wit have this shape.
  return thrown as EngineFault;
}
