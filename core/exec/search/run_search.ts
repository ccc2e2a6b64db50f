import type { FileView } from "../../contract/search.ts";
import { compileSearchModule } from "../../engine/load.ts";
import type { SearchEngine } from "../../engine/search.ts";
import { type FileCalls, fileCalls } from "./file_calls.ts";
import type { Found } from "./finds.ts";
import { ListedCalls } from "./index/listing.ts";
import type { SearchJob } from "./job.ts";
import type { Pace } from "./pace.ts";
import type { RealPath } from "./real_path.ts";
import { SharedWork } from "./shared_work.ts";
import { TreeSearch } from "./tree_search.ts";
import type { TreeWalk } from "./tree_walk.ts";
import { areWorkersBusy, startWorkers } from "./worker_set.ts";

/** A tree in which so many folders are left after so many were seen is worth other threads. Smaller ones are done before they are up. */
const FOLDERS_SEEN = 24;
const FOLDERS_LEFT = 4;

/** How long this thread, which may not block, sleeps between two looks at whether there is work for it. */
const LOOK_MS = 1;

let calls: FileCalls | undefined;

/** A search as this thread runs it. `work` and `collect` are there once other threads may help. */
type Run = {
  walk: TreeWalk;
  pace: Pace;
  isOpened: boolean;
  work?: SharedWork;
  collect?: () => Promise<Found[]>;
};

/**
 * Everything below the start of the job, or the one file it is, in parts: one for each thread that searched. Names are in the engine then, those of
 * all threads. `known` is a part that was found before. Ends early at the
 * end of its time. Throws `tool.cancelled`.
 */
export async function runSearch(
  engine: SearchEngine,
  job: SearchJob,
  { view, pace, start, known }: { view: FileView; pace: Pace; start: "file" | "folder"; known?: Found | undefined },
): Promise<Found[]> {
  calls ??= fileCalls();
  const files = job.listing === undefined ? calls : new ListedCalls(calls, job.listing);
  const search = new TreeSearch({ engine, files, job, mayRead: view.mayRead });
  if (start === "file") {
    for (const _ of search.visitOneFile(job.start)) {
      if (pace.isOver || search.hasPage) break;
      if (pace.isDue()) await pace.breathe();
    }
    search.takePart();
    return [search.finds.found];
  }
  const run: Run = { walk: search.walk(), pace, isOpened: false };
  run.walk.push(job.start);
  try {
    // A rule that is a function of this thread alone can be asked by no other.
    const shared = view.mayRead === undefined || view.asked !== undefined;
    await visitAll(run, shared ? () => openToOthers(run, withRules(job, view)) : undefined);
  } finally {
    run.walk.leave();
    run.work?.stop();
    // Also after a cancellation, so that the workers are free for the next search; nobody waits for it then.
    void run.collect?.().catch(() => undefined);
  }
  search.takePart();
  const noted = job.listing === undefined ? {} : { noted: engine.noted() };
  const others = [...((await run.collect?.()) ?? []), ...(known === undefined ? [] : [known])];
  for (const { names } of others) if (names !== undefined) engine.absorb(names);
  return [{ ...search.finds.found, ...noted }, ...others];
}

function withRules(job: SearchJob, { asked }: FileView): SearchJob {
  return asked === undefined ? job : { ...job, asked };
}

async function visitAll(run: Run, open: (() => Promise<void>) | undefined): Promise<void> {
  const { walk, pace } = run;
  while (!isOver(run)) {
    if (walk.step()) {
      share(run);
      if (!run.isOpened && walk.seen >= FOLDERS_SEEN && walk.left >= FOLDERS_LEFT) {
        run.isOpened = true;
        await open?.();
      }
      if (pace.isDue()) await pace.breathe();
    } else {
      const folder = await nextFolder(run);
      if (folder === undefined) return;
      walk.push(folder);
    }
  }
}

async function openToOthers(run: Run, job: SearchJob): Promise<void> {
  if (job.alone || areWorkersBusy()) return;
  run.work = new SharedWork();
  run.work.join();
  run.collect = once(startWorkers(await compileSearchModule(), job, run.work));
}

function share({ work, walk }: Run): void {
  if (work?.isWanted !== true) return;
  const oldest = walk.give();
  if (oldest !== undefined && !work.offer(oldest)) walk.push(oldest);
}

/** A folder that another thread hands over. Undefined when the search is done. */
async function nextFolder({ work, pace }: Run): Promise<RealPath | undefined> {
  if (work === undefined) return undefined;
  work.pause();
  for (;;) {
    const folder = work.resume();
    if (folder !== undefined || work.isOver || pace.isOver) return folder;
    await Bun.sleep(LOOK_MS);
    pace.check();
  }
}

function isOver({ pace, work }: Run): boolean {
  return pace.isOver || work?.isOver === true;
}

function once<Result>(make: () => Promise<Result>): () => Promise<Result> {
  let made: Promise<Result> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
