import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hashInputs, isFresh, listFiles, type Made, ROOT, targetFolder, writeStamp } from "./cache.ts";

const folder = join("dist", "cache_test");
const made: Made = {
  step: "cache_test",
  inputs: [join(folder, "in")],
  facts: ["compiler 1"],
  outputs: [join(folder, "out")],
};
const put = (path: string, text: string) => writeFileSync(join(ROOT, folder, path), text);

beforeAll(() => {
  mkdirSync(join(ROOT, folder, "in", "node_modules"), { recursive: true });
  put("in/a.ts", "a");
  put("out", "made");
});

afterAll(() => {
  rmSync(join(ROOT, folder), { recursive: true, force: true });
  rmSync(join(ROOT, "dist", "stamps", "cache_test.json"), { force: true });
});

test("a step is fresh after its stamp, and no longer when an input's content, name or a fact changes", () => {
  expect(isFresh(made)).toBe(false);
  writeStamp(made, hashInputs(made));
  expect(isFresh(made)).toBe(true);
  put("in/a.ts", "b");
  expect(isFresh(made)).toBe(false);
  put("in/a.ts", "a");
  expect(isFresh(made)).toBe(true);
  put("in/new.ts", "");
  expect(isFresh(made)).toBe(false);
  rmSync(join(ROOT, folder, "in", "new.ts"));
  expect(isFresh({ ...made, facts: ["compiler 2"] })).toBe(false);
});

test("a step is not fresh when an input changed while it was made", () => {
  const before = hashInputs(made);
  put("in/a.ts", "pulled meanwhile");
  writeStamp(made, before);
  expect(isFresh(made)).toBe(false);
  put("in/a.ts", "a");
  expect(isFresh(made)).toBe(true);
});

test("a step is not fresh when its output was changed or removed", () => {
  writeStamp(made, hashInputs(made));
  put("out", "touched by hand");
  expect(isFresh(made)).toBe(false);
  rmSync(join(ROOT, folder, "out"));
  expect(isFresh(made)).toBe(false);
  expect(() => writeStamp(made, hashInputs(made))).toThrow("was not written");
});

test("packages and build products are no inputs", () => {
  const before = hashInputs(made);
  put("in/node_modules/x.ts", "x");
  expect(hashInputs(made)).toBe(before);
  expect(listFiles(join(ROOT, folder, "in"))).toEqual([join(ROOT, folder, "in", "a.ts")]);
  expect(listFiles(join(ROOT, folder, "absent"))).toEqual([]);
});

test("two clones have target folders of their own, one for each kind of build", () => {
  const folders = [
    targetFolder("native-rustc 1.96.0 (a b)", "/home/ada/cordon"),
    targetFolder("native-rustc 1.96.0 (a b)", "/home/ada/other"),
    targetFolder("check-rustc 1.96.0 (a b)", "/home/ada/cordon"),
  ];
  expect(new Set(folders).size).toBe(3);
  for (const folder of folders) expect(folder).toMatch(/\/cordon-build\/[\w.-]+-[0-9a-f]{8}$/);
  expect(targetFolder("native")).toBe(targetFolder("native", ROOT));
  expect(targetFolder("native")).not.toBe(targetFolder("native", "/home/ada/cordon"));
});
