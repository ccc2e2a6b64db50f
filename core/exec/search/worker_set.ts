import type { Found } from "./finds.ts";
import type { SearchJob } from "./job.ts";
import type { SharedWork } from "./shared_work.ts";
import type { WorkerReply, WorkerTask } from "./worker.ts";

/** More threads than this gain nothing: the kernel's locks are the limit then. */
const MOST_WORKERS = 7;

/** In an executable the worker is an entry of its own below the root; else it is the file beside this one. */
const ENTRY = /\/(\$bunfs|~BUN)\//.test(import.meta.url)
  ? new URL("./core/exec/search/worker.js", import.meta.url)
  : new URL("./worker.ts", import.meta.url);

type Pending = { replied: (reply: WorkerReply) => void };

/** The workers of this process: made at the first search that is large enough, and kept. */
const workers: { worker: Worker; pending: Map<number, Pending> }[] = [];
let lastId = 0;
let isBusy = false;

/** True if another search has the workers, or this machine has one core. */
export function areWorkersBusy(): boolean {
  return isBusy || workerCount() === 0;
}

/**
 * Lets the workers join a search. What comes back resolves, once the search is over, to what each one that joined has found.
 * Rejects if one of them failed: its part of the tree was not searched.
 */
export function startWorkers(module: WebAssembly.Module, job: SearchJob, work: SharedWork): () => Promise<Found[]> {
  isBusy = true;
  while (workers.length < workerCount()) workers.push(makeWorker());
  lastId += 1;
  const id = lastId;
  const task: WorkerTask = { id, module, job, memory: work.memory };
  const replies = workers.map(({ worker, pending }) => {
    const reply = new Promise<WorkerReply>((replied) => pending.set(id, { replied }));
    worker.postMessage(task);
    return reply;
  });
  return async () => {
    const joined = work.threads - 1;
    const found: Found[] = [];
    let failure: string | undefined;
    await new Promise<void>((resolve) => {
      let open = joined;
      if (open === 0) resolve();
      for (const reply of replies) {
        void reply.then((answer) => {
          // Who has not joined has taken nothing: the others do it all.
          if ("late" in answer || ("failed" in answer && !answer.joined)) return;
          if ("found" in answer) found.push(answer.found);
          else failure = answer.failed;
          open -= 1;
          if (open <= 0 || failure !== undefined) resolve();
        });
      }
    });
    isBusy = false;
    if (failure !== undefined) throw new Error(`A worker of the search failed: ${failure}`);
    return found;
  };
}

function makeWorker(): (typeof workers)[number] {
  const worker = new Worker(ENTRY.href);
  const pending = new Map<number, Pending>();
  const reply = (answer: WorkerReply): void => {
    pending.get(answer.id)?.replied(answer);
    pending.delete(answer.id);
  };
  /** The next search that wants workers makes another. */
  const drop = (): void => {
    const at = workers.findIndex((one) => one.worker === worker);
    if (at >= 0) workers.splice(at, 1);
    worker.terminate();
  };
  worker.onmessage = ({ data }: MessageEvent<WorkerReply>) => {
    if ("failed" in data) drop();
    reply(data);
  };
  worker.onerror = ({ message }) => {
    drop();
    for (const id of [...pending.keys()]) reply({ id, joined: true, failed: message });
  };
  // An idle worker must not keep the process.
  worker.unref();
  return { worker, pending };
}

function workerCount(): number {
  return Math.min(navigator.hardwareConcurrency - 1, MOST_WORKERS);
}
