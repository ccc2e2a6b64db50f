import type { PlanCommand } from "../contract/plan.ts";
import type { SandboxPolicy } from "../contract/sandbox_policy.ts";
import { isWithin } from "../config/path_order.ts";
import { CACHES } from "../config/private_caches.ts";

/** What it needs to know about a command. */
export type CacheQuestion = {
  env: Readonly<Record<string, string>>;
  /** Variables that the person named; they stay as they are. */
  named: readonly string[] | "all";
  policy: SandboxPolicy;
};

/**
 * Moves caches that the command could not write into the private temporary folder. One that the policy opens stays where it
 * is, and so does one in which a folder is opened: programs look for that one below the usual place.
 */
export function privateCaches({ env, named, policy }: CacheQuestion): Pick<PlanCommand, "caches"> {
  const opened = [...policy.read, ...policy.write];
  const moved = CACHES.filter(({ variable, usual }) => {
    if (named !== "all" && named.includes(variable)) return false;
    const place = env[variable] ?? (usual === undefined ? undefined : `${policy.home}/${usual}`);
    if (place === undefined || policy.write.some((root) => isWithin(place, root))) return false;
    return !opened.some((root) => isWithin(root, place));
  });
  const caches = Object.fromEntries(moved.map(({ variable, folder }) => [variable, folder]));
  return moved.length > 0 ? { caches } : {};
}
