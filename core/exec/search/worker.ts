/** What a worker thread of the search runs: one part of a search after the other, for as long as the process lasts. */
import { FIXED_RULES } from "../../config/builtin_rules.ts";
import type { ReadQuestion, ReadRules } from "../../contract/search.ts";
import type { Decision, PolicyQuestion } from "../../contract/verdict.ts";
import { instantiateSearch, loadPolicyComponent } from "../../engine/load.ts";
import { mayReadBy, throughLink } from "../../engine/may_read.ts";
import { createRuleJudge } from "../../engine/rule_judge.ts";
import { SearchEngine } from "../../engine/search.ts";
import { type FileCalls, fileCalls } from "./file_calls.ts";
import type { Found } from "./finds.ts";
import { ListedCalls } from "./index/listing.ts";
import type { SearchJob } from "./job.ts";
import type { RealPath } from "./real_path.ts";
import { SharedWork } from "./shared_work.ts";
import { TreeSearch } from "./tree_search.ts";
import type { TreeWalk } from "./tree_walk.ts";

/** What a worker is told. */
export type WorkerTask = { id: number; module: WebAssembly.Module; job: SearchJob; memory: SharedArrayBuffer };

/** What it answers: what it found, "late" if the search had ended before it could join, or what went wrong: then it takes no other task. */
export type WorkerReply = { id: number } & ({ found: Found } | { late: true } | { failed: string; joined: boolean });

declare const self: Worker;

let tools: { engine: SearchEngine; files: FileCalls } | undefined;

self.onmessage = ({ data }: MessageEvent<WorkerTask>) => {
  void answer(data).then((reply) => {
    const names = "found" in reply ? reply.found.names : undefined;
    self.postMessage(reply, names === undefined ? [] : [names.buffer]);
  });
};

async function answer({ id, module, job, memory }: WorkerTask): Promise<WorkerReply> {
  const work = new SharedWork(memory);
  let joined = false;
  try {
    // Before it joins: the others wait for nobody who has not.
    const mayRead = job.asked === undefined ? undefined : await rulesFor(job.asked);
    tools ??= { engine: new SearchEngine(await instantiateSearch(module)), files: fileCalls() };
    joined = work.join();
    if (!joined) return { id, late: true };
    const files = job.listing === undefined ? tools.files : new ListedCalls(tools.files, job.listing);
    const search = new TreeSearch({ engine: tools.engine, files, job, mayRead });
    return { id, found: searchShare(work, search) };
  } catch (error) {
    // A trap leaves the memory of a component in any state, and each has one instance in a thread: another thread takes this one's place.
    self.onmessage = null;
    if (joined) work.stop();
    return { id, joined, failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

type ThreadPolicy = {
  rules: string;
  judge: (question: PolicyQuestion) => Decision;
  /** For each question that is asked of it: there is one for each tool. */
  filters: Map<string, ReadRules["mayRead"]>;
};

/** The policy in this thread: the same component, with the rules of the process. One set of rules at a time, kept for the searches that follow. */
let policy: ThreadPolicy | undefined;

async function rulesFor(asked: ReadQuestion): Promise<ReadRules["mayRead"]> {
  const [rules, about] = [JSON.stringify(asked.rules), JSON.stringify(asked.about)];
  if (policy?.rules !== rules) {
    await loadPolicyComponent("files");
    policy = { rules, judge: await createRuleJudge(() => asked.rules, FIXED_RULES).now(), filters: new Map() };
  }
  const { judge, filters } = policy;
  const mayRead = filters.get(about) ?? mayReadBy(judge, asked);
  filters.set(about, mayRead);
  return throughLink(mayRead, asked.link);
}

function searchShare(work: SharedWork, search: TreeSearch): Found {
  const walk = search.walk();
  try {
    while (!work.isOver) {
      if (walk.step()) share(work, walk);
      else {
        const folder = waitForFolder(work);
        if (folder === undefined) break;
        walk.push(folder);
      }
    }
  } finally {
    walk.leave();
  }
  search.takePart();
  return search.found();
}

/** Hands the oldest folder on, which has most below it, if anybody waits. */
function share(work: SharedWork, walk: TreeWalk): void {
  if (!work.isWanted) return;
  const oldest = walk.give();
  if (oldest !== undefined && !work.offer(oldest)) walk.push(oldest);
}

function waitForFolder(work: SharedWork): RealPath | undefined {
  const offered = work.take();
  if (offered !== undefined) return offered;
  work.pause();
  for (;;) {
    const folder = work.resume();
    if (folder !== undefined || work.isOver) return folder;
    work.sleep();
  }
}
