/** D6: how much a server may remember of searched folders is the person's to say, down to nothing. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCordon } from "../support/run_cordon.ts";
import { startQuickClient } from "../support/quick_client.ts";
import { makeScratch, removeScratch } from "../support/scratch.ts";

test("D6 a server without memory for searches remembers nothing, and one with some begins to", async () => {
  const scratch = makeScratch();
  try {
    writeFileSync(join(scratch.work, "a"), "needle\n");
    for (const [flags, state] of [
      [["--search-memory", "0"], undefined],
      [["--search-memory=64M"], "building"],
    ] as const) {
      const client = startQuickClient({ scratch }, [...flags]);
      const { ok, meta } = await client.call("grep_search", { pattern: "needle" });
      expect({ ok, state: meta.index?.state }).toEqual({ ok: true, state });
      expect((await client.close()).code).toBe(0);
    }
  } finally {
    removeScratch(scratch);
  }
});

test("D6 a size that is none is refused", async () => {
  const scratch = makeScratch();
  try {
    const { code, stderr } = await runCordon(["serve", "--search-memory", "much"], { scratch });
    expect({ code, stderr }).toEqual({ code: 121, stderr: expect.stringContaining("--search-memory") });
  } finally {
    removeScratch(scratch);
  }
});
