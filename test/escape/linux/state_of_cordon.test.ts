import { expect } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { runCordon } from "../../support/run_cordon.ts";

attempt(
  "E5 cordon's own state, its log and its launcher can't be changed from inside, even where the home is open",
  ["sh"],
  async ({ scratch, shell, around }) => {
    await shell("true");
    const before = readdirSync(scratch.state, { recursive: true, encoding: "utf8" }).sort();
    const end = await runCordon(
      [
        "run",
        `--allow-write=${scratch.top}`,
        "--",
        "sh",
        "-c",
        `
cd ${scratch.state}; for f in $(find . -type f); do echo evil >> $f; rm -f $f; done; echo evil > planted; mv audit.jsonl other; cd ${scratch.top}; mv state other; rm -rf state; echo own > home/own; cat home/own`,
      ],
      around,
    );
    expect(end.stdout).toBe("own\n");
    const after = readdirSync(scratch.state, { recursive: true, encoding: "utf8" });
    expect(after).toEqual(expect.arrayContaining(before));
    expect(after).not.toContain("planted");
    expect(readFileSync(join(scratch.state, "audit.jsonl"), "utf8")).not.toContain("evil");
  },
);
