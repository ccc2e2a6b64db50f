import { compileSearchModule } from "../../../engine/load.ts";
import type { IndexNote } from "../../../contract/search.ts";
import type { Found } from "../finds.ts";
import { sha256 } from "../../../store/chain.ts";
import type { SearchJob } from "../job.ts";
import type { IndexNews, IndexTask } from "./messages.ts";
import type { Question } from "./tree_answers.ts";

/** In an executable the worker is an entry of its own below the root; else it is the file beside this one. */
const ENTRY = /\/(\$bunfs|~BUN)\//.test(import.meta.url)
  ? new URL("./core/exec/search/index/index_worker.js", import.meta.url)
  : new URL("./index_worker.ts", import.meta.url);

/** An index that can't be had is not asked for again before this time is over. */
const RETRY_MS = 10 * 60_000;

/** A thread that does not answer for so long costs more than it saves. */
const ANSWER_MS = 1000;

type Answer = Extract<IndexNews, { type: "answer" }>;
type Root = { state: "building"; why?: string } | { state: "ready" } | { state: "lost"; why: string; until: number };

/** What a search is told: the job with what it must look at, what is known without, and what the result says of it. */
type Consulted = { job: SearchJob; note: IndexNote; known?: Found; id?: number };

/** A search that can be spared files. `remembers`: what is found hangs on nothing but its job, so that the same job finds the same. */
export type Indexed = {
  job: SearchJob;
  start: "file" | "folder";
  remembers: boolean;
  search: (job: SearchJob, known?: Found) => Promise<Found[]>;
  /** Asked at the end: false if the search was cut short. */
  isWhole: () => boolean;
};

/** The indexes of this process, kept by a thread of their own. It starts with the first search of a folder. */
export class SearchIndex {
  readonly #budgetBytes: number;
  readonly #busy = new Int32Array(new SharedArrayBuffer(4));
  readonly #roots = new Map<string, Root>();
  /** Why an index was lost that the next search has made anew. */
  readonly #reasons = new Map<string, string>();
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #worker: Worker | undefined;
  #lastId = 0;

  /** `budgetBytes` is for all indexes together. */
  constructor(budgetBytes: number) {
    this.#budgetBytes = budgetBytes;
  }

  /** Runs one search of a folder with what the index knows, and has one made for the next if there is none. */
  async use({ job, remembers, search, isWhole }: Indexed): Promise<{ found: Found[]; note: IndexNote }> {
    Atomics.add(this.#busy, 0, 1);
    let id: number | undefined;
    let told: Int32Array | undefined;
    try {
      const consulted = await this.#consult(job, remembers);
      const { note, known } = consulted;
      ({ id } = consulted);
      const found = await search(consulted.job, known);
      if (isWhole()) told = joined(found);
      return { found, note };
    } finally {
      Atomics.sub(this.#busy, 0, 1);
      if (id !== undefined) this.#tell({ type: "ended", id, ...(told === undefined ? {} : { told }) });
    }
  }

  async #consult(job: SearchJob, remembers: boolean): Promise<Consulted> {
    const found = this.#find(job.start);
    if (found === undefined) return { job, note: this.#keep(job) };
    const [root, state] = found;
    if (state.state === "building") return { job, note: state };
    if (state.state === "lost") return { job, note: { state: "off", why: state.why } };
    const answer = await this.#ask(root, questionOf(job, remembers));
    const { id } = answer;
    if ("why" in answer) return { job, id, note: { state: "off", why: answer.why } };
    const { listing, files, candidates, known } = answer;
    const note: IndexNote = { state: "used", files, candidates };
    if (known === undefined) return { job: { ...job, listing }, id, note };
    return { job: { ...job, listing }, id, known, note: { ...note, remembered: known.totalFiles } };
  }

  /** The folder or one above it that has an index, or will have or can't have one. */
  #find(start: string): [string, Root] | undefined {
    const isAbove = (root: string): boolean => start === root || start.startsWith(root === "/" ? "/" : `${root}/`);
    let best: [string, Root] | undefined;
    for (const [root, known] of this.#roots) {
      if (known.state === "lost" && performance.now() > known.until) this.#roots.delete(root);
      else if (known.state === "ready" && isAbove(root)) return [root, known];
      else if (start === root || (known.state === "building" && isAbove(root))) best = [root, known];
    }
    return best;
  }

  #keep(job: SearchJob): IndexNote {
    const why = this.#reasons.get(job.start);
    this.#reasons.delete(job.start);
    const root: Root = { state: "building", ...(why === undefined ? {} : { why }) };
    this.#roots.set(job.start, root);
    void this.#begin(job);
    return root;
  }

  async #begin({ grep: _, ...rest }: SearchJob): Promise<void> {
    try {
      this.#worker ??= this.#start(await compileSearchModule());
      this.#tell({ type: "keep", job: { ...rest, scope: usual(rest.scope) } });
    } catch (error) {
      this.#lose(rest.start, error instanceof Error ? error.message : String(error));
    }
  }

  #start(module: WebAssembly.Module): Worker {
    const worker = new Worker(ENTRY.href);
    worker.onmessage = ({ data }: MessageEvent<IndexNews>) => this.#hear(data);
    worker.onerror = ({ message }) => {
      this.#worker = undefined;
      for (const root of this.#roots.keys()) this.#lose(root, `its thread failed: ${message}`);
      for (const id of [...this.#waiting.keys()])
        this.#hear({ type: "answer", id, why: `its thread failed: ${message}` });
    };
    // It must not keep the process.
    worker.unref();
    const task: IndexTask = { type: "start", module, busy: this.#sharedBusy(), budgetBytes: this.#budgetBytes };
    worker.postMessage(task);
    return worker;
  }

  #sharedBusy(): SharedArrayBuffer {
    const { buffer } = this.#busy;
    if (buffer instanceof SharedArrayBuffer) return buffer;
    throw new Error("the count of searches is not in shared memory");
  }

  #tell(task: IndexTask): void {
    this.#worker?.postMessage(task);
  }

  async #ask(root: string, question: Question): Promise<Answer> {
    this.#lastId += 1;
    const id = this.#lastId;
    const late: Answer = { type: "answer", id, why: "its thread is busy" };
    let timer: Timer | undefined;
    const answer = new Promise<Answer>((resolve) => {
      this.#waiting.set(id, resolve);
      timer = setTimeout(() => resolve(late), ANSWER_MS);
    });
    this.#tell({ type: "ask", id, root, question });
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  #hear(news: IndexNews): void {
    if (news.type === "answer") this.#waiting.get(news.id)?.(news);
    else if (news.type === "ready") this.#roots.set(news.root, { state: "ready" });
    else if (news.again) {
      this.#roots.delete(news.root);
      this.#reasons.set(news.root, news.why);
    } else this.#lose(news.root, news.why);
  }

  #lose(root: string, why: string): void {
    this.#roots.set(root, { state: "lost", why, until: performance.now() + RETRY_MS });
  }
}

/** Searches a tree with what is known of it, if anything remembers trees here. */
export async function searchIndexed(
  index: SearchIndex | undefined,
  indexed: Indexed,
): Promise<{ found: Found[]; note?: IndexNote }> {
  const { job, start, search } = indexed;
  if (index === undefined) return { found: await search(job) };
  if (start === "file") return { found: await search(job), note: { state: "off", why: "one file is searched" } };
  return index.use(indexed);
}

function joined(found: readonly Found[]): Int32Array {
  const all = new Int32Array(found.reduce((sum, { noted }) => sum + (noted?.length ?? 0), 0));
  let end = 0;
  for (const { noted } of found) {
    if (noted === undefined) continue;
    all.set(noted, end);
    end += noted.length;
  }
  return all;
}

function questionOf(job: SearchJob, remembers: boolean): Question {
  const { start, grep, scope, gather } = job;
  return {
    start,
    scope,
    gather,
    // Of a file that matches in places without a text there may be no line, so that a page can need any number of files.
    keep: grep?.onlyMatching === true ? 0 : job.keep,
    ...(grep === undefined ? {} : { grep }),
    ...(remembers ? { key: keyOf(job) } : {}),
  };
}

/** Jobs that find the same in the same files have the same key: how lines are shown and which page is asked for is left out. */
function keyOf({ start, grep, scope, hidden, noIgnoreKinds, globalExcludes }: SearchJob): string {
  const shown = { lineNumbers: true, maxLineBytes: 0, spans: false, before: 0, after: 0 };
  const excludes = Buffer.from(globalExcludes ?? []).toString("latin1");
  const all = [start, grep === undefined ? null : { ...grep, ...shown }, scope, hidden, noIgnoreKinds, excludes];
  return sha256(JSON.stringify(all));
}

/** The rules that most searches have: what they enter is worth watching. */
function usual(scope: SearchJob["scope"]): SearchJob["scope"] {
  const { closedNames, sampleEndings } = scope;
  const none = { globs: [], iglobs: [], fileTypes: [], fileTypesNot: [] };
  return { ...none, ignoreCase: false, hidden: false, noIgnore: false, closedNames, sampleEndings };
}
