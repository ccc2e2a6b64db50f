import { compileSearchModule } from "../../../engine/load.ts";
import type { IndexNote } from "../../../contract/search.ts";
import type { SearchJob } from "../job.ts";
import type { IndexNews, IndexTask } from "./messages.ts";

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

/** What a search is told: the job with what it must look at, and what the result says of it. */
export type Consulted = { job: SearchJob; note: IndexNote };

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
  async use<Result>(job: SearchJob, search: (consulted: Consulted) => Promise<Result>): Promise<Result> {
    Atomics.add(this.#busy, 0, 1);
    try {
      return await search(await this.#consult(job));
    } finally {
      Atomics.sub(this.#busy, 0, 1);
    }
  }

  async #consult(job: SearchJob): Promise<Consulted> {
    const found = this.#find(job.start);
    if (found === undefined) return { job, note: this.#keep(job) };
    const [root, known] = found;
    if (known.state === "building") return { job, note: known };
    if (known.state === "lost") return { job, note: { state: "off", why: known.why } };
    const answer = await this.#ask(root, job);
    if ("why" in answer) return { job, note: { state: "off", why: answer.why } };
    const { listing, files, candidates } = answer;
    return { job: { ...job, listing }, note: { state: "used", files, candidates } };
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

  async #ask(root: string, { start, grep }: SearchJob): Promise<Answer> {
    this.#lastId += 1;
    const id = this.#lastId;
    const late: Answer = { type: "answer", id, why: "its thread is busy" };
    let timer: Timer | undefined;
    const answer = new Promise<Answer>((resolve) => {
      this.#waiting.set(id, resolve);
      timer = setTimeout(() => resolve(late), ANSWER_MS);
    });
    this.#tell({ type: "ask", id, root, start, ...(grep === undefined ? {} : { grep }) });
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
export async function searchIndexed<Found>(
  index: SearchIndex | undefined,
  job: SearchJob,
  search: (job: SearchJob) => Promise<Found>,
  start: "file" | "folder",
): Promise<{ found: Found; note?: IndexNote }> {
  if (index === undefined) return { found: await search(job) };
  if (start === "file") return { found: await search(job), note: { state: "off", why: "one file is searched" } };
  return index.use(job, async (consulted) => ({ found: await search(consulted.job), note: consulted.note }));
}

/** The rules that most searches have: what they enter is worth watching. */
function usual(scope: SearchJob["scope"]): SearchJob["scope"] {
  const { closedNames, sampleEndings } = scope;
  const none = { globs: [], iglobs: [], fileTypes: [], fileTypesNot: [] };
  return { ...none, ignoreCase: false, hidden: false, noIgnore: false, closedNames, sampleEndings };
}
