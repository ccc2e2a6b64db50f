import { expect, test } from "bun:test";
import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../test/support/tool_calls.ts";
import { dropOldest, dropUnfinished, unfinishedName } from "./unfinished.ts";

test("E4 what a killed writer left is removed after a while, and nothing else", () => {
  const folder = temporaryFolder();
  // Above every pid_max of Linux.
  const dead = `record.8388608.${crypto.randomUUID()}`;
  const mine = unfinishedName(join(folder, "record"));
  for (const name of ["record", "audit.jsonl.1", "notes.8388608", dead]) writeFileSync(join(folder, name), "");
  writeFileSync(mine, "");
  dropUnfinished(folder);
  expect(readdirSync(folder)).toContain(dead);
  dropUnfinished(folder, Date.now() + 120_000);
  expect(readdirSync(folder).sort()).toEqual([
    "audit.jsonl.1",
    "notes.8388608",
    "record",
    mine.slice(folder.length + 1),
  ]);
});

test("E4 only the newest of a kind are kept", () => {
  const folder = temporaryFolder();
  for (const [at, name] of ["one-a", "one-b", "one-c", "two-a"].entries()) {
    writeFileSync(join(folder, name), "");
    utimesSync(join(folder, name), 1000 - at, 1000 - at);
  }
  dropOldest(folder, { named: /^one-/, most: 2 });
  expect(readdirSync(folder).sort()).toEqual(["one-a", "one-b", "two-a"]);
  dropOldest(folder, { named: /^one-/, most: 2 });
  expect(readdirSync(folder)).toHaveLength(3);
});
