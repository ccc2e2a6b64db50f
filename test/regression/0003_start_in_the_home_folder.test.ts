import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { runCordon } from "../support/run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";

let scratch: Scratch;
beforeEach(() => {
  scratch = makeScratch();
});
afterEach(() => removeScratch(scratch));

test("a start in the home folder is refused with what to do, and the named way works", async () => {
  const refused = await runCordon(["run", "--", "true"], { scratch, cwd: scratch.home });
  expect(refused.code).toBe(121);
  expect(refused.stderr).toContain("sandbox.outside");
  expect(refused.stderr).toContain("--allow-write=.");
  expect((await runCordon(["run", "--allow-write=.", "--", "true"], { scratch, cwd: scratch.home })).code).toBe(0);
  expect((await runCordon(["run", "--", "true"], { scratch })).code).toBe(0);
});

test("a start at the root works, whatever folders there are closed to this user", async () => {
  mkdirSync(join(scratch.work, "closed"), { mode: 0o000 });
  expect((await runCordon(["run", "--", "true"], { scratch })).code).toBe(0);
  expect((await runCordon(["run", "--", "true"], { scratch, cwd: "/" })).code).toBe(0);
});
