/**
 * How fast one policy decision is: `bun test/bench/decisions.ts [CORDON]`. Over the commands of test/policy/corpus: each through the
 * component's door, both ways through JSON as every caller but `policy check --stdin` takes it; and 200,000 lines through the
 * executable, with the corpus's rules in each line and without.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../cli/build/cache.ts";
import { addRules, builtinRules } from "../../core/config/builtin_rules.ts";
import type { PolicyQuestion, RuleLists, RuleSource } from "../../core/contract/verdict.ts";
import { compilePolicy, decider } from "../../core/engine/policy.ts";
import { quantile } from "./alternate.ts";
import type { Figure } from "./print_table.ts";

/** Decisions a second, and microseconds. */
export type Decisions = { perSecond: number; p50: number; p99: number };

/** The first thousand, for which the engine still compiles, and those after the first half. */
export type ComponentDecisions = { first: Decisions; steady: Decisions };

/** Lines a second of wall time from start to exit, and of processor time; all threads of the engine count in that. */
export type StreamDecisions = { perSecond: number; perCpuSecond: number };

type Case = { command: string; rules?: unknown };

const LINES = 200_000;
const ROUNDS = 30;
/** Round trips, of which the first half does not count. */
const TRIPS = 10_000;
const TARGET = { perSecond: 50_000, p99: 100 };

const CASES: Case[] = readdirSync(join(ROOT, "test/policy/corpus"))
  .toSorted()
  .flatMap((name) => JSON.parse(readFileSync(join(ROOT, "test/policy/corpus", name), "utf8")));

const rule = (text: string): RuleSource => ({ rule: text, layer: "user", origin: "bench" });
const OWN: RuleLists = {
  allow: ["Bash(npm test:*)", "Bash(npm run *)", "Bash(git commit *)", "Edit(src/**)"].map(rule),
  ask: ["Bash(git push *)"].map(rule),
  deny: ["Bash(rm -rf /*)", "Bash(curl *)", "Read(./secrets/**)"].map(rule),
};

/** Asks each command of the corpus in turn, under the built-in rules and a person's. */
export async function measureComponent(): Promise<ComponentDecisions> {
  const compiled = await compilePolicy(addRules(builtinRules("/home/me/.local/state/cordon"), OWN));
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults));
  const decide = await decider(compiled.policy);
  const questions = CASES.map(
    ({ command }): PolicyQuestion => ({
      tool: "bash",
      required: "danger-full-access",
      mode: "workspace-write",
      effects: [{ kind: "exec", command }],
      params: { command },
      cwd: "/ws",
      home: "/home/me",
      roots: ["/ws"],
    }),
  );
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    for (const question of questions) {
      const before = Bun.nanoseconds();
      decide(question);
      times.push((Bun.nanoseconds() - before) / 1000);
    }
  return { first: summed(times.slice(0, 1000)), steady: summed(times.slice(times.length / 2)) };
}

/** Sends 200,000 lines of the corpus from a file through `policy check --stdin --json` to a file. */
export function measureStream(cordon: string, rules: "with rules" | "without rules"): StreamDecisions {
  const folder = mkdtempSync(join(tmpdir(), "cordon-bench-"));
  try {
    const [input, output] = [join(folder, "in.jsonl"), join(folder, "out.jsonl")];
    writeFileSync(input, Array.from({ length: LINES }, (_, at) => lineOf(at, rules)).join(""));
    const before = performance.now();
    const end = Bun.spawnSync([cordon, "policy", "check", "--stdin", "--json"], {
      cwd: folder,
      env: { HOME: folder, PATH: "/usr/bin:/bin" },
      stdin: Bun.file(input),
      stdout: Bun.file(output),
      stderr: "inherit",
    });
    const seconds = (performance.now() - before) / 1000;
    const answers = readFileSync(output).reduce((count, byte) => count + (byte === 0x0a ? 1 : 0), 0);
    if (!end.success || answers !== LINES) throw new Error(`exit ${end.exitCode}, ${answers} answers`);
    const cpuSeconds = Number(end.resourceUsage.cpuTime.total) / 1e6;
    return { perSecond: LINES / seconds, perCpuSecond: LINES / cpuSeconds };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One line at a time: the next one is sent when the answer is there, so two pipes and both processes' wake-ups are in it. */
export async function measureRoundTrips(cordon: string): Promise<Decisions> {
  const child = Bun.spawn([cordon, "policy", "check", "--stdin", "--json"], { stdin: "pipe", stdout: "pipe" });
  const answers = child.stdout.getReader();
  const times: number[] = [];
  for (let at = 0; at < TRIPS; at += 1) {
    const before = Bun.nanoseconds();
    child.stdin.write(lineOf(at, "without rules"));
    child.stdin.flush();
    for (let whole = false; !whole; ) {
      const { value, done } = await answers.read();
      if (done) throw new Error("policy check ended");
      whole = value.at(-1) === 0x0a;
    }
    times.push((Bun.nanoseconds() - before) / 1000);
  }
  child.stdin.end();
  await child.exited;
  return summed(times.slice(TRIPS / 2));
}

/** The figures for the table of `npm run bench`. */
export async function decisionFigures(cordon: string): Promise<Figure[]> {
  const { steady, first } = await measureComponent();
  const wanted = { unit: "a second", target: TARGET.perSecond, atLeast: true } as const;
  const without = measureStream(cordon, "without rules");
  const withRules = measureStream(cordon, "with rules");
  const trips = await measureRoundTrips(cordon);
  const µs = (what: string, value: number): Figure => ({ what, value, unit: "µs" });
  return [
    { what: "decisions in the component", value: steady.perSecond, ...wanted },
    { ...µs("one decision, median", steady.p50), target: TARGET.p99 },
    { ...µs("one decision, p99", steady.p99), target: TARGET.p99 },
    µs("one of the first 1,000 decisions, median", first.p50),
    µs("one of the first 1,000 decisions, p99", first.p99),
    { what: "200,000 lines of policy check", value: without.perSecond, ...wanted },
    { what: "the same by processor time", value: without.perCpuSecond, ...wanted },
    { what: "200,000 lines with rules in each", value: withRules.perSecond, ...wanted },
    { what: "the same by processor time", value: withRules.perCpuSecond, ...wanted },
    µs("one line sent and answered, median", trips.p50),
    µs("one line sent and answered, p99", trips.p99),
  ];
}

function lineOf(at: number, rules: "with rules" | "without rules"): string {
  const { command, rules: own = {} } = CASES[at % CASES.length] ?? { command: "" };
  return `${JSON.stringify({ id: at, command, ...(rules === "with rules" ? { rules: own } : {}) })}\n`;
}

function summed(times: number[]): Decisions {
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
  return { perSecond: 1e6 / mean, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

if (import.meta.main) {
  const cordon = process.argv[2] ?? join(ROOT, "dist", "cordon");
  for (const { what, value, unit } of await decisionFigures(cordon))
    console.log(`${what.padEnd(44)} ${Math.round(value).toLocaleString("en").padStart(9)} ${unit}`);
}
