import type { LandlockRule } from "../contract/plan.ts";
import type { SandboxPolicy } from "../contract/sandbox_policy.ts";
import { isWithin } from "../config/path_order.ts";

/** What Landlock opens: behind the view, which shows less already, or as the wall itself. */
export function landlockRules(policy: SandboxPolicy, tier: "namespaces" | "landlock"): LandlockRule[] {
  const rw = (path: string): LandlockRule => ({ path, access: "rw" });
  const exec = (path: string): LandlockRule => ({ path, access: "read_exec" });
  // What can be read there is what the view shows.
  if (tier === "namespaces") return [exec("/"), ...[...policy.write, "/tmp", "/var/tmp", "/dev", "/proc"].map(rw)];
  const reads = policy.read.filter((path) => !policy.write.includes(path));
  const files = [...policy.write.map(rw), ...reads.map((path) => withoutHidden(exec(path), policy))];
  return [...files, ...policy.devices.map(rw), { path: "/proc", access: "read" }];
}

/** Landlock adds rules up and takes nothing away again, so what is hidden in a folder is left out of its rule. */
function withoutHidden(rule: LandlockRule, policy: SandboxPolicy): LandlockRule {
  const inside = policy.hidden.filter(({ path }) => path !== rule.path && isWithin(path, rule.path));
  const except = [...new Set(inside.map(({ path }) => path))].sort();
  return except.length > 0 ? { ...rule, except } : rule;
}
