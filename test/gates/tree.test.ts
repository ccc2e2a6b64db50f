import { expect, test } from "bun:test";
import { committablePaths, rootFaults } from "./tree.ts";

test("the root holds the agreed entries and no others", () => {
  expect(rootFaults(committablePaths())).toEqual([]);
});

test("the gate catches a new entry in the root", () => {
  expect(rootFaults(["core/mod.ts", "scripts/x.sh", "notes.txt"])).toEqual([
    "scripts: not one of the entries that the root may hold",
    "notes.txt: not one of the entries that the root may hold",
  ]);
});

test("file names are snake_case in both languages", () => {
  const sources = committablePaths().filter((path) => /\.(ts|rs|mjs)$/.test(path));
  expect(sources.filter((path) => !/^[a-z0-9_./-]+$/.test(path) || /-/.test(path.split("/").at(-1) ?? ""))).toEqual([]);
});
