import { expect, test } from "bun:test";
import { IndexEngine } from "../../../engine/index_engine.ts";
import { compileSearchModule, instantiateSearch } from "../../../engine/load.ts";
import { engineScope, type SearchJob } from "../job.ts";
import { nativeFileCalls } from "../native_file_calls.ts";
import { EVERYTHING, makeTree } from "../tree_fixture.ts";
import { TreeIndex } from "./tree_index.ts";
import { WatchCalls } from "./watch_calls.ts";

const FILES = 100;

test("D7 work on an index stops after the file at hand when a search begins, and goes on with the next", async () => {
  using tree = makeTree(Object.fromEntries(Array.from({ length: FILES }, (_, at) => [`in/f${at}`, `text ${at}\n`])));
  const files = nativeFileCalls();
  if (files === undefined) return;
  const job: SearchJob = {
    start: tree.root,
    scope: engineScope({}, EVERYTHING),
    keep: 0,
    gather: "names",
    hidden: [],
    noIgnoreKinds: [],
    alone: true,
  };
  const engine = new IndexEngine(await instantiateSearch(await compileSearchModule()));
  const index = new TreeIndex({ engine, files, calls: new WatchCalls(), job });
  try {
    const workFor = (files: number): void => {
      let asked = 0;
      index.work(() => {
        asked += 1;
        return index.files >= files || asked > 2 * FILES;
      });
    };
    for (const wanted of [1, 2, 10]) {
      workFor(wanted);
      expect({ files: index.files, isComplete: index.isComplete }).toEqual({ files: wanted, isComplete: false });
    }
    workFor(Number.POSITIVE_INFINITY);
    expect({ files: index.files, isComplete: index.isComplete }).toEqual({ files: FILES, isComplete: true });
  } finally {
    index.close();
  }
});
