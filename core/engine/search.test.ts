import { expect, test } from "bun:test";
import { compileSearchModule, instantiateSearch } from "./load.ts";
import { SearchEngine } from "./search.ts";

const SCOPE = {
  globs: [],
  iglobs: [],
  ignoreCase: false,
  fileTypes: [],
  fileTypesNot: [],
  hidden: false,
  noIgnore: false,
  closedNames: [],
  sampleEndings: [],
};

test("D6 names are gathered also where the component's memory grows meanwhile", async () => {
  const engine = new SearchEngine(await instantiateSearch(await compileSearchModule()));
  engine.startWalk(SCOPE);
  engine.startNames("names");
  const name = new TextEncoder().encode(`${"n".repeat(200)}\0`);
  engine.entries(name.length).set(name);
  engine.choose(0, name.length - 1);
  engine.namesFolder("/w");
  const before = engine.memoryBytes;
  const names = 50_000;
  // Each of these calls lists the one file of the choice.
  for (let at = 0; at < names; at += 1) expect(engine.list(-1, 0)).toBe(1);
  expect(engine.memoryBytes).toBeGreaterThan(before);
  expect(engine.gathered().length).toBeGreaterThan(names * 200);
});
