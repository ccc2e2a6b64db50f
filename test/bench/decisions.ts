/** How fast the policy component answers: `bun test/bench/decisions.ts`. Typical commands under the built-in rules and a person's. */
import { addRules, builtinRules } from "../../core/config/builtin_rules.ts";
import type { PolicyQuestion, RuleLists, RuleSource } from "../../core/contract/verdict.ts";
import { compilePolicy, decider } from "../../core/engine/policy.ts";
import { quantile } from "./alternate.ts";

/** Figures of one measurement: decisions a second, and microseconds. */
export type Decisions = { perSecond: number; p50: number; p99: number; commands: number };

const COMMANDS = [
  "ls -la",
  "git status",
  "npm test",
  "cd src && git log --oneline | head -20",
  'git commit -m "fix: x"',
  "cat package.json | jq .scripts",
  "grep -rn foo src",
  "rm -rf build",
  "echo x > out.txt",
  "npm run build 2>&1 | tail -20",
  "cp a.txt src/b.txt",
  "python3 script.py",
  "find . -name '*.ts' | head",
];
const ROUNDS = 2_000;

const rule = (text: string): RuleSource => ({ rule: text, layer: "user", origin: "bench" });
const OWN: RuleLists = {
  allow: ["Bash(npm test:*)", "Bash(npm run *)", "Bash(git commit *)", "Edit(src/**)"].map(rule),
  ask: ["Bash(git push *)"].map(rule),
  deny: ["Bash(rm -rf /*)", "Bash(curl *)", "Read(./secrets/**)"].map(rule),
};

/** Asks each command many times in turn, both ways through JSON. */
export async function measureDecisions(): Promise<Decisions> {
  const compiled = await compilePolicy(addRules(builtinRules("/home/me/.local/state/cordon"), OWN));
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults));
  const decide = await decider(compiled.policy);
  const questions = COMMANDS.map(
    (command): PolicyQuestion => ({
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
  // The first rounds compile.
  const warm = times.slice(times.length / 4);
  const mean = warm.reduce((sum, time) => sum + time, 0) / warm.length;
  return { perSecond: 1e6 / mean, p50: quantile(warm, 0.5), p99: quantile(warm, 0.99), commands: COMMANDS.length };
}

if (import.meta.main) {
  const { perSecond, p50, p99, commands } = await measureDecisions();
  const round = (value: number) => value.toFixed(1);
  console.log(
    `${Math.round(perSecond)} decisions a second over ${commands} commands; median ${round(p50)} µs, p99 ${round(p99)} µs`,
  );
}
