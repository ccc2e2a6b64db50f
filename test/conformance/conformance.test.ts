import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CaseFile } from "./case.ts";
import { loadCases } from "./load_cases.ts";
import { details, markdown } from "./score.ts";

test("the schema for other readers is the one that the runner checks with", () => {
  const file = JSON.parse(readFileSync(join(import.meta.dir, "case.schema.json"), "utf8"));
  expect(file).toEqual(JSON.parse(JSON.stringify(CaseFile)));
});

test("E4 every case matches the schema, is there once, and says what is done and what must come of it", () => {
  const cases = loadCases();
  expect(cases.length).toBeGreaterThanOrEqual(150);
  for (const { wants } of cases) expect(["allowed", "refused"]).toContain(wants);
});

test("the table counts what passed of what applies", () => {
  const cases = loadCases().slice(0, 3);
  const states = [
    { state: "passed" },
    { state: "failed", why: "it wrote" },
    { state: "not_applicable", why: "has no globs" },
  ] as const;
  const outcomes = new Map(cases.map(({ id }, at) => [id, states[at] ?? { state: "skipped" as const, why: "none" }]));
  const columns = [
    { id: "one", version: "1.0", missing: null, outcomes },
    { id: "two", version: "", missing: "not installed", outcomes: new Map() },
  ];
  const table = markdown(cases, columns, "Today.");
  expect(table).toContain("| **all** | **3** | **1/2** |");
  expect(table).toContain("`two`: not installed");
  expect(details(cases, columns)).toContain("failed: it wrote");
});
