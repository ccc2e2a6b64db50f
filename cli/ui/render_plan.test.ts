import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { LinuxPlan } from "@cordon/core/contract";
import { renderPlan } from "./render_plan.ts";

const golden = (name: string): LinuxPlan =>
  JSON.parse(readFileSync(join(import.meta.dir, "../../test/plans/from_policy", `${name}.json`), "utf8"));
const shown = (plan: LinuxPlan) => renderPlan({ files: { paths: [], hidden: [] }, sandbox: plan });

test("F5: --explain names every rule's place, and a reason stands once for rules that follow each other", () => {
  for (const name of ["namespaces_default", "landlock_default"]) {
    const plan = golden(name);
    const text = shown(plan);
    for (const op of plan.ops)
      if (op.op === "broker")
        for (const rule of op.guard.rules) {
          expect(text).toContain(rule.path ?? rule.glob ?? "?");
          expect(text).toContain(rule.reason);
        }
    expect(text).toContain("new hooks and settings in repositories of any name are refused");
    expect(text).toContain("to change: refused but for git's own way");
  }
});

test("F5: --explain shows limits and what a rule of Landlock leaves out", () => {
  const plan = golden("landlock_default");
  const limited = {
    ...plan,
    ops: [{ op: "limits", processes: 5, cpuPercent: 50, level: "must", gives: ["limits"] }, ...plan.ops],
  };
  const text = shown(limited as LinuxPlan);
  expect(text).toContain("must  limits: 5 processes, cpu 50%");
  expect(text).toContain("but not /etc/shadow");
});
