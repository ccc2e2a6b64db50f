import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./cache.ts";
import { seconds } from "./progress.ts";
import targets from "./targets.json";

test("every target of package.json's scripts has a list of steps that starts with the packages", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const called = Object.values<string>(scripts).map((script) => script.split(" ").at(-1) ?? "");
  expect(called.sort()).toEqual(Object.keys(targets).sort());
  for (const steps of Object.values(targets)) expect(steps[0]).toBe("packages");
});

test("npm test runs everything that npm run check runs", () => {
  expect(targets.test.flat()).toEqual(expect.arrayContaining(targets.check.flat()));
});

test("durations read as people say them", () => {
  expect(seconds(240)).toBe("0.2 s");
  expect(seconds(65_000)).toBe("1 min 05 s");
});
