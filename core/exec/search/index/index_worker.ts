/** The thread that keeps the indexes: it works on them while no search runs, and says what a search must look at. */
import { IndexEngine } from "../../../engine/index_engine.ts";
import { instantiateSearch } from "../../../engine/load.ts";
import { ENDED } from "../../../engine/search.ts";
import { nativeFileCalls } from "../native_file_calls.ts";
import type { SearchJob } from "../job.ts";
import type { Outcome } from "./remembered.ts";
import type { IndexNews, IndexTask } from "./messages.ts";
import { TreeIndex } from "./tree_index.ts";
import { IndexLost } from "./tree_state.ts";
import { WatchCalls } from "./watch_calls.ts";

declare const self: Worker;

/** How long it works before it listens to who asks. It stops at once when a search begins, so that none waits for the end of it. */
const SLICE_MS = 50;

/** How often it looks at the events when there is nothing to do: seldom enough to cost nothing, often enough that the kernel's queue of
 *  16,384 events is not full. */
const LOOK_MS = 100;

/** How long it leaves the processors to a search before it looks whether that is over. */
const PAUSE_MS = 5;

/** A tree that nobody searches is forgotten. */
const KEPT_MS = 10 * 60_000;

/** Smaller trees are searched as fast without. */
const LEAST_FILES = 256;

type Kept = { tree: TreeIndex; isReady: boolean; usedAt: number; workedMs: number };

const kept = new Map<string, Kept>();
/** Searches that were answered and have not ended, with what their outcome is to be added to. */
const running = new Map<number, { tree: TreeIndex; key: string; outcome: Outcome }>();
let busy: Int32Array | undefined;
let module: WebAssembly.Module | undefined;
let budgetBytes = 0;
let isTicking = false;

self.onmessage = ({ data }: MessageEvent<IndexTask>) => {
  if (data.type === "start") {
    busy = new Int32Array(data.busy);
    ({ module, budgetBytes } = data);
  } else if (data.type === "keep") void keep(data.job);
  else if (data.type === "ended") learn(data);
  else answer(data);
};

function tell(news: IndexNews): void {
  self.postMessage(news);
}

async function keep(job: SearchJob): Promise<void> {
  const root = job.start;
  if (module === undefined || kept.has(root)) return;
  let calls: WatchCalls | undefined;
  try {
    const files = nativeFileCalls();
    if (files === undefined) throw new IndexLost("the C library is not the one that it needs");
    calls = new WatchCalls();
    const engine = new IndexEngine(await instantiateSearch(module));
    const tree = new TreeIndex({ engine, files, calls, job });
    kept.set(root, { tree, isReady: false, usedAt: performance.now(), workedMs: 0 });
    if (!isTicking) tick();
  } catch (error) {
    calls?.close();
    tell({ type: "lost", root, why: reasonOf(error), again: false });
  }
}

function answer({ id, root, question }: Extract<IndexTask, { type: "ask" }>): void {
  const found = kept.get(root);
  if (found === undefined) {
    tell({ type: "answer", id, why: "the index is being made anew" });
    return;
  }
  const { tree } = found;
  found.usedAt = performance.now();
  const said = guarded(root, () => {
    tree.sync();
    return tree.isBehind ? { why: "new folders are being read" } : tree.choose(question);
  });
  if ("why" in said) {
    tell({ type: "answer", id, why: said.why });
    return;
  }
  const { outcome, ...chosen } = said;
  if (outcome !== undefined && question.key !== undefined) running.set(id, { tree, key: question.key, outcome });
  tell({ type: "answer", id, files: tree.files, ...chosen });
}

/** Remembers what a search came to. */
function learn({ id, told }: Extract<IndexTask, { type: "ended" }>): void {
  const asked = running.get(id);
  running.delete(id);
  // What could not be read may be read the next time, without an event.
  if (asked === undefined || told === undefined || told.some((end, at) => at % 2 === 1 && end < ENDED.binary)) return;
  const { tree, key, outcome } = asked;
  const ends = new Int32Array(outcome.ends.length + told.length);
  ends.set(outcome.ends);
  ends.set(told, outcome.ends.length);
  tree.remembered.keep(key, { ...outcome, ends });
}

/** Works for a while on what there is to do, and comes again. */
function tick(): void {
  isTicking = true;
  let hasMore = false;
  for (const [root, one] of kept) if (!isWanted()) hasMore = workOn(root, one) || hasMore;
  const restMs = hasMore ? 0 : LOOK_MS;
  if (kept.size > 0) setTimeout(tick, isWanted() ? PAUSE_MS : restMs);
  else isTicking = false;
}

/** True while a search runs. */
function isWanted(): boolean {
  return busy === undefined || Atomics.load(busy, 0) > 0;
}

/** Returns whether there is more to do. */
function workOn(root: string, one: Kept): boolean {
  const { tree } = one;
  const begun = performance.now();
  guarded(root, () => {
    if (begun - one.usedAt > KEPT_MS) throw new IndexLost("nobody has searched it for a while");
    tree.sync();
    tree.work(() => isWanted() || performance.now() > begun + SLICE_MS);
    fit(one);
  });
  one.workedMs += performance.now() - begun;
  if (!kept.has(root)) return false;
  if (!tree.isComplete) return true;
  if (!one.isReady) {
    if (tree.files < LEAST_FILES) drop(root, `fewer than ${LEAST_FILES} files are searched as fast without`, false);
    else {
      one.isReady = true;
      tell({ type: "ready", root, files: tree.files, bytes: tree.bytes, workedMs: one.workedMs });
    }
  }
  return false;
}

/** It would be no otherwise the next time. */
class TooLarge extends IndexLost {}

/** Makes room for a tree: those that were not searched for the longest time go. */
function fit(one: Kept): void {
  const total = () => [...kept.values()].reduce((sum, { tree }) => sum + tree.bytes, 0);
  while (total() > budgetBytes) {
    if (one.tree.remembered.clear()) continue;
    const others = [...kept].filter(([, other]) => other !== one).sort(([, a], [, b]) => a.usedAt - b.usedAt);
    const [oldest] = others;
    if (oldest === undefined) throw new TooLarge(`it needs more than ${budgetBytes >> 20} MiB of memory`);
    drop(oldest[0], "its memory was needed for another folder", true);
  }
}

/** Runs what may find out that an index is lost, and forgets it then. */
function guarded<Result>(root: string, act: () => Result): Result | { why: string } {
  try {
    return act();
  } catch (error) {
    const why = reasonOf(error);
    drop(root, why, error instanceof IndexLost && !(error instanceof TooLarge));
    return { why };
  }
}

function drop(root: string, why: string, again: boolean): void {
  kept.get(root)?.tree.close();
  kept.delete(root);
  tell({ type: "lost", root, why, again });
  // The memory of an instance goes with the last that holds it; nobody waits for this thread now.
  Bun.gc(true);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
