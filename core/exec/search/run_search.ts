import type { FileView } from "../../contract/search.ts";
import type { SearchEngine } from "../../engine/search.ts";
import { type FileCalls, fileCalls } from "./file_calls.ts";
import type { Found } from "./finds.ts";
import type { SearchJob } from "./job.ts";
import type { Pace } from "./pace.ts";
import type { RealPath } from "./real_path.ts";
import { TreeSearch } from "./tree_search.ts";

let calls: FileCalls | undefined;

/** Everything below the start of the job, or the one file it is, searched by this thread. Ends early at the end of its time. */
export async function runSearch(
  engine: SearchEngine,
  job: SearchJob,
  { view, pace, start }: { view: FileView; pace: Pace; start: "file" | "folder" },
): Promise<Found> {
  calls ??= fileCalls();
  const search = new TreeSearch({ engine, files: calls, job, mayRead: view.mayRead });
  if (start === "file") {
    search.visitOneFile(job.start);
    return search.finds.found;
  }
  const folders: RealPath[] = [job.start];
  const push = (folder: RealPath): void => void folders.push(folder);
  for (let folder = folders.pop(); folder !== undefined && !pace.isOver; folder = folders.pop()) {
    for (const _ of search.visitFolder(folder, push)) {
      if (pace.isDue()) await pace.breathe();
      if (pace.isOver) break;
    }
    if (pace.isDue()) await pace.breathe();
  }
  return search.finds.found;
}
