// E4, E7: runs that are ended by SIGKILL at any moment leave no process, file, mount or control group behind.
import { expect, test } from "bun:test";
import { readdirSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describeEachTier, type TierPlace } from "../support/each_tier.ts";
import { processesWith, uniqueSleep } from "../support/processes.ts";
import { runCordon, startCordon } from "../support/run_cordon.ts";
import { findTraces, isClean, newTraces, processesIn } from "../support/traces.ts";
import { waitFor } from "../support/wait_for.ts";
import { PATIENCE_MS, times } from "./length.ts";

/** In both tiers together 60 and 1,000. */
const KILLS = times({ short: 30, long: 500 });

const AT_ONCE = 4;

/** The latest moment of a kill: by then a run is well under way on a machine that is three times as busy. */
const LATEST_MS = 250;

/** With nobody above the launcher, with cordon above it, and with control groups where they can be had. */
const WAYS: string[][] = [[], ["--timeout", "5m"]];

/** What the state folder may hold. */
const STATED = /^(launcher-[0-9a-f]{64}(\.verified)?|machine-[0-9a-f]+\.json|audit\.jsonl(\.head)?|plans)$/;

const UNFINISHED = /\.\d+\.[0-9a-f-]{36}$/;

describeEachTier((place) => {
  test(`E7 ${KILLS} runs killed at random moments leave nothing`, () => killMany(place), PATIENCE_MS);
});

/** What a killed run was about to write is removed by the next one that writes there, once it is too old to be under way. */
async function expectOnlyStated({ scratch, around }: TierPlace): Promise<void> {
  for (const name of readdirSync(scratch.state)) {
    if (UNFINISHED.test(name)) utimesSync(join(scratch.state, name), 0, 0);
    else if (name.startsWith("machine-")) rmSync(join(scratch.state, name));
  }
  expect((await runCordon(["run", "--timeout", "5m", "--", "true"], around)).code).toBe(0);
  expect(readdirSync(scratch.state).filter((name) => !STATED.test(name))).toEqual([]);
}

async function killMany(place: TierPlace): Promise<void> {
  const { scratch, around } = place;
  for (const flags of WAYS) expect((await runCordon(["run", ...flags, "--", "true"], around)).code).toBe(0);
  const before = { traces: findTraces(), work: readdirSync(scratch.work), home: readdirSync(scratch.home) };
  const mark = uniqueSleep();
  const script = `exec >/dev/null 2>&1; (setsid sh -c 'sleep ${mark} & sleep ${mark}' &); echo x > "$TMPDIR/file"; sleep ${mark}`;
  let started = 0;
  const killer = async () => {
    while (started < KILLS) {
      const flags = WAYS[started++ % WAYS.length] ?? [];
      const run = startCordon(["run", ...flags, "--", "sh", "-c", script], around);
      await Bun.sleep(Math.random() * LATEST_MS);
      run.kill("SIGKILL");
      await run.finished();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, killer));
  await waitFor("every process to be gone", () => processesWith(mark).length + processesIn(scratch.top).length === 0);
  await waitFor("every trace to be gone", () => isClean(newTraces(before.traces))).catch(() => {});
  expect(newTraces(before.traces)).toEqual({ temporaries: [], mounts: [], groups: [] });
  expect({ work: readdirSync(scratch.work), home: readdirSync(scratch.home) }).toEqual({
    work: before.work,
    home: before.home,
  });
  await expectOnlyStated(place);
}
