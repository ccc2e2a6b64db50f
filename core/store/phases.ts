import { appendFileSync } from "node:fs";

/** A stopwatch for the parts of one run. `time` and `timeAsync` hand on what the work gives. */
export type Phases = {
  time: <T>(phase: string, work: () => T) => T;
  timeAsync: <T>(phase: string, work: () => Promise<T>) => Promise<T>;
  /** Appends one line a phase, `{"phase","ms"}`, and what no phase holds as "everything else". */
  write: () => void;
};

/** Measures nothing: what holds unless somebody asks. */
export const NO_PHASES: Phases = { time: (_, work) => work(), timeAsync: (_, work) => work(), write: () => {} };

/**
 * Measures into `file`; for `npm run bench` and for people who wonder. The first phase is what was over before this call,
 * counted from the start of the process. Times are milliseconds of a steady clock.
 */
export function createPhases(file: string): Phases {
  const startedMs = performance.now();
  const spent = new Map<string, number>([["start Bun, load cordon", startedMs]]);
  const add = (phase: string, fromMs: number) => {
    spent.set(phase, (spent.get(phase) ?? 0) + performance.now() - fromMs);
  };
  return {
    time: (phase, work) => {
      const fromMs = performance.now();
      try {
        return work();
      } finally {
        add(phase, fromMs);
      }
    },
    timeAsync: async (phase, work) => {
      const fromMs = performance.now();
      return work().finally(() => add(phase, fromMs));
    },
    write: () => {
      const known = [...spent.values()].reduce((sum, ms) => sum + ms, 0);
      spent.set("everything else", performance.now() - known);
      const lines = [...spent].map(([phase, ms]) => `${JSON.stringify({ phase, ms: Math.round(ms * 1000) / 1000 })}\n`);
      appendFileSync(file, lines.join(""), { mode: 0o600 });
    },
  };
}
