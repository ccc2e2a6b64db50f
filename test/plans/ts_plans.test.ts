/** The plans of both sides: what the launcher's golden files hold is what TypeScript's types say, and what the planner makes is written down. */
import { expect, test } from "bun:test";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LinuxFacts } from "../../core/contract/facts.ts";
import type { LinuxPlan } from "../../core/contract/plan.ts";
import { DEFAULT_SANDBOX_REQUEST, type SandboxRequest } from "../../core/contract/sandbox_request.ts";
import { planLinux } from "../../core/sandbox/plan_linux.ts";
import { buildPolicy } from "../../core/sandbox/policy.ts";
import { reportLines } from "../../core/exec/process/report_lines.ts";
import { DEVELOPER, factsOf, WITHOUT_NAMESPACES } from "../../core/testing/made_up_machine.ts";

const FOLDER = join(import.meta.dir, "from_policy");
const command = { argv: ["/bin/sh", "-c", "make"], cwd: "/home/ada/app", env: { HOME: "/home/ada", PATH: "/usr/bin" } };

/** Each golden file with the request and the machine that it is the plan of. */
const PLANS: Record<string, { asked: Partial<SandboxRequest>; facts: LinuxFacts }> = {
  namespaces_default: { asked: {}, facts: factsOf() },
  namespaces_as_root: {
    asked: {},
    facts: factsOf({
      namespaces: { user: false, withoutUser: true, procMount: true },
      uid: 0,
      gid: 0,
      capSysAdmin: true,
    }),
  },
  namespaces_open_network: { asked: { network: "open" }, facts: factsOf() },
  namespaces_flags: {
    asked: {
      allowRead: ["/home/ada/.ssh"],
      denyWrite: ["/home/ada/app/.envrc"],
      require: ["fs.protected", "proc.isolated"],
    },
    facts: factsOf(),
  },
  namespaces_no_write: { asked: { onlyWrite: [] }, facts: factsOf() },
  landlock_default: { asked: {}, facts: WITHOUT_NAMESPACES },
  landlock_open_network: { asked: { network: "open" }, facts: WITHOUT_NAMESPACES },
};

function planOf({ asked, facts }: { asked: Partial<SandboxRequest>; facts: LinuxFacts }) {
  return planLinux(buildPolicy({ ...DEFAULT_SANDBOX_REQUEST, ...asked }, DEVELOPER), facts, command);
}

/** Set to write the files anew after a change that is meant; then read the difference before committing it. */
const WRITE = Bun.env["CORDON_WRITE_GOLDEN"] === "1";

for (const [name, parts] of Object.entries(PLANS)) {
  test(`F2 the planner makes exactly the golden plan ${name}`, () => {
    const path = join(FOLDER, `${name}.json`);
    const plan: unknown = JSON.parse(JSON.stringify(planOf(parts)));
    if (WRITE) writeFileSync(path, `${JSON.stringify(plan, null, 2)}\n`);
    expect(plan).toEqual(JSON.parse(readFileSync(path, "utf8")));
  });
}

test("F2 no golden plan is left over", () => {
  expect(readdirSync(FOLDER).sort()).toEqual(
    Object.keys(PLANS)
      .map((name) => `${name}.json`)
      .sort(),
  );
});

test("F2 the planner is pure: the same policy and facts give the same plan", () => {
  for (const parts of Object.values(PLANS)) expect(planOf(parts)).toEqual(planOf(parts));
});

test("F2 the planner's steps come in the order of the launcher's golden plans", () => {
  for (const name of ["namespaces_default", "landlock_default"]) {
    const golden: LinuxPlan = JSON.parse(readFileSync(join(import.meta.dir, `${name}.json`), "utf8"));
    const made: LinuxPlan = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), "utf8"));
    expect(made.ops.map(({ op }) => op)).toEqual(golden.ops.map(({ op }) => op));
    expect(Object.keys(made).sort()).toEqual(Object.keys(golden).sort());
    for (const [at, op] of made.ops.entries())
      expect(Object.keys(op).sort()).toEqual(Object.keys(golden.ops[at] ?? {}).sort());
  }
});

test("F2 every kind of line that the launcher sends is read", async () => {
  const bytes = readFileSync(join(import.meta.dir, "report_lines.jsonl"));
  const kinds = [];
  for await (const report of reportLines(new Blob([bytes]).stream())) kinds.push(report.t);
  expect([...new Set(kinds)]).toEqual(["denial", "trusted", "exit"]);
});
