// The launcher words denials too, where `cordon run` has become it: tests of both sides read the same lines.
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { renderDenial } from "../../cli/ui/denial_reporter.ts";
import type { ObservedDenial } from "../../core/contract/enforced.ts";
import type { LinuxPlan } from "../../core/contract/plan.ts";
import type { SandboxPolicy } from "../../core/contract/sandbox_policy.ts";
import { wordsOf } from "../../core/exec/process/run_record.ts";
import { explainDenial, guessHiddenRead } from "../../core/sandbox/explain_denial.ts";

type Golden = { policy: SandboxPolicy; tell: object; guess: string; cases: { seen: ObservedDenial; line: string }[] };

const golden: Golden = JSON.parse(readFileSync(join(import.meta.dir, "denial_lines.json"), "utf8"));

const plan: LinuxPlan = {
  version: 1,
  tier: "namespaces",
  command: { argv: ["true"], cwd: "/", env: {} },
  asked: {},
  ops: [],
};

const nearest = (path: string): string => (existsSync(path) ? path : nearest(dirname(path)));

test("each refusal has the line that the launcher writes for it", () => {
  const lines = golden.cases.map(({ seen }) =>
    renderDenial(explainDenial(seen, golden.policy, { at: 0, existing: nearest })),
  );
  expect(lines).toEqual(golden.cases.map(({ line }) => line));
});

test("the launcher gets the words of a policy, and a guess has its line", () => {
  expect(wordsOf(golden.policy, plan)).toEqual(golden.tell);
  const guess = guessHiddenRead(golden.policy, plan, 0);
  expect(guess && renderDenial(guess)).toBe(golden.guess);
});
