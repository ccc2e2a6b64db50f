/** A real command in the real sandbox of this machine, for tests. Nothing but tests imports this. */
import { readdirSync, readFileSync } from "node:fs";
import type { LinuxFacts } from "../contract/facts.ts";
import type { LinuxPlan } from "../contract/plan.ts";
import { DEFAULT_SANDBOX_REQUEST } from "../contract/sandbox_request.ts";
import { type Launch, launch, type RunningCommand } from "../exec/process/launch.ts";
import { policyFor } from "../sandbox/plan_call.ts";
import { planLinux } from "../sandbox/plan_linux.ts";
import { smallCore } from "./small_core.ts";
import type { TempFolder } from "./temp_folder.ts";

/** Which mechanisms the plan may use: all that the machine has, or those without namespaces. */
export type TestedTier = "namespaces" | "landlock";

/** Starts `sh -c script` under the default policy with the folder `app` as workspace. Throws where the tier is not to be had. */
export async function startShell(
  folder: TempFolder,
  script: string,
  parts: Partial<Launch> & { tier?: TestedTier } = {},
): Promise<RunningCommand> {
  const { planner, hosts } = smallCore({ folder, tools: [] });
  const facts = await planner.machine();
  const plan = shellPlan(folder, script, parts.tier === "landlock" ? withoutNamespaces(facts) : facts);
  const { tier: _, ...rest } = parts;
  return launch({
    plan,
    launcher: hosts.local.launcher(),
    stdio: "collect",
    timeoutMs: 30_000,
    signal: new AbortController().signal,
    ...rest,
  });
}

/** The plan of `sh -c script` on a machine with these facts. */
export function shellPlan(folder: TempFolder, script: string, facts: LinuxFacts): LinuxPlan {
  const { planner } = smallCore({ folder, tools: [] });
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: folder.root };
  const plan = planLinux(policyFor(DEFAULT_SANDBOX_REQUEST, planner), facts, {
    argv: ["sh", "-c", script],
    cwd: planner.place.cwd,
    env,
  });
  if ("missing" in plan) throw new Error(plan.missing.map(({ property, why }) => `${property}: ${why}`).join("; "));
  return plan;
}

/** The same machine as if no namespaces could be made. */
export function withoutNamespaces(facts: LinuxFacts): LinuxFacts {
  return { ...facts, namespaces: { user: false, withoutUser: false, procMount: false } };
}

/** Host processes that have `marker` as an argument; waits up to ten seconds for there to be `wanted` of them. */
export async function processesWith(marker: string, wanted: number): Promise<number> {
  let found = -1;
  for (let tries = 0; tries < 200 && found !== wanted; tries++) {
    if (tries > 0) await Bun.sleep(50);
    found = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && argumentsOf(name).includes(marker)).length;
  }
  return found;
}

function argumentsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}
