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

for (const cell of OWN_CELLS) {
  const folder = mkdtempSync("/var/tmp/conformance-cordon-");
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const adapter = cordonAdapter(cell, sharedCordon(folder));
  describe(`E4 A15 ${adapter.id}`, () => {
    if (adapter.missing !== null) {
      test.skip(adapter.missing, () => {});
      return;
    }
    const cases = loadCases();
    // All start with the first test that runs, a few at a time; each test then waits for its own.
    let column: ReturnType<typeof runColumn> | undefined;
    for (const { id, title, group } of cases) {
      test(`${group}: ${title} (${id})`, async () => {
        column ??= runColumn(cases, adapter);
        const outcome = await column.outcome(id);
        // What the machine lacks a program for, and what the tier says that it has not, proves nothing and breaks nothing.
        if (outcome.state !== "passed") expect(outcome.state).not.toBe("failed");
      });
    }
  });
}
