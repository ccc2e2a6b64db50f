/** What each millisecond of `cordon run -- true` is spent on, as far as the executable tells. */
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { quantile } from "./alternate.ts";
import { CORDON } from "./rows.ts";

/** One phase of a run; `medianMs` over all rounds. */
export type Phase = { phase: string; medianMs: number };

const ROUNDS = 20;

/**
 * With CORDON_TRACE=FILE the executable appends one JSON line a phase, `{"phase": "…", "ms": 1.2}`. Empty when it writes
 * none.
 */
export function measurePhases(folder: string): Phase[] {
  const workspace = join(folder, "workspace");
  const file = join(folder, "trace.jsonl");
  mkdirSync(workspace, { recursive: true });
  const times = new Map<string, number[]>();
  for (let round = 0; round < ROUNDS; round += 1) {
    rmSync(file, { force: true });
    const env = { ...process.env, CORDON_TRACE: file };
    Bun.spawnSync([CORDON, "run", "--", "true"], {
      cwd: workspace,
      env,
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    });
    for (const { phase, ms } of readPhases(file)) times.set(phase, [...(times.get(phase) ?? []), ms]);
  }
  return [...times].map(([phase, values]) => ({ phase, medianMs: quantile(values, 0.5) }));
}

function readPhases(file: string): { phase: string; ms: number }[] {
  try {
    const lines = readFileSync(file, "utf8").trim().split("\n");
    return lines
      .map((line) => JSON.parse(line))
      .filter((line) => typeof line.phase === "string" && typeof line.ms === "number");
  } catch {
    return []; // this executable writes no trace
  }
}
