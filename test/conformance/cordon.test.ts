import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { OWN_CELLS, sharedCordon } from "../support/tiers.ts";
import { cordonAdapter } from "./adapters/cordon.ts";
import { loadCases } from "./load_cases.ts";
import { runColumn } from "./run_column.ts";

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
        expect(outcome).not.toMatchObject({ state: "failed" });
      });
    }
  });
}
