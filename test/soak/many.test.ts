// E4: runs beside each other and one after the other in the same folder.
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { describeEachTier } from "../support/each_tier.ts";
import { runCordon } from "../support/run_cordon.ts";
import { findTraces, newTraces } from "../support/traces.ts";
import { PATIENCE_MS, times } from "./length.ts";

const AT_ONCE = 20;
const ROUNDS = times({ short: 2, long: 10 });
const IN_A_ROW = times({ short: 100, long: 200 });

describeEachTier(({ scratch, around }) => {
  test(
    `E4 ${AT_ONCE} runs at once in one folder all succeed, ${ROUNDS} times over`,
    async () => {
      const before = findTraces();
      for (let round = 0; round < ROUNDS; round++) {
        const runs = Array.from({ length: AT_ONCE }, (_, at) =>
          runCordon(["run", "--", "sh", "-c", `echo ${at} > own-${at}; cat own-${at}; rm own-${at}`], around),
        );
        const ends = await Promise.all(runs);
        for (const [at, end] of ends.entries()) expect(end).toMatchObject({ code: 0, stdout: `${at}\n`, stderr: "" });
      }
      expect(readdirSync(scratch.work)).toEqual([]);
      expect(newTraces(before)).toEqual({ temporaries: [], mounts: [], groups: [] });
    },
    PATIENCE_MS,
  );
  test(
    `E4 ${IN_A_ROW} runs in a row all succeed`,
    async () => {
      for (let at = 0; at < IN_A_ROW; at++)
        expect(await runCordon(["run", "--", "echo", String(at)], around)).toMatchObject({
          code: 0,
          stdout: `${at}\n`,
          stderr: "",
        });
    },
    PATIENCE_MS,
  );
});
