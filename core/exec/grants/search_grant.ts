import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { isWithin } from "../../config/path_order.ts";
import { isSecretName } from "../../config/protected_paths.ts";
import { ToolFault } from "../../contract/fault.ts";
import type { FilePlan } from "../../contract/file_plan.ts";
import type { SearchGrant } from "../../contract/search.ts";
import { fsFault, moved } from "./fs_fault.ts";

/** Whether the rules let one more file be read that nobody was asked about. Absolute real paths, files and folders. */
export type ReadFilter = (path: string) => boolean;

/**
 * The search handle of one call: starts only where the plan says, by the real path that was judged, and sees nothing that
 * the plan hides or a rule keeps from reading. A start that leads elsewhere by now throws `fs.moved`. The search engine is loaded by the first search.
 */
export function createSearchGrant(plan: FilePlan, rules: () => Promise<ReadFilter>): SearchGrant {
  // By name too: the survey looks for secret files only near the top, and a search meets them at any depth.
  const isHidden = (path: string) =>
    plan.hidden.some((secret) => isWithin(path, secret)) || isSecretName(basename(path));
  const open = async () => {
    const [{ createSearch }, allowed] = await Promise.all([import("../search/mod.ts"), rules()]);
    return createSearch({ mayRead: (path) => !isHidden(path) && allowed(path) });
  };
  return {
    grep: async (query, signal) => (await open()).grep({ ...query, path: startOf(plan, query.path) }, signal),
    glob: async (query, signal) => (await open()).glob({ ...query, path: startOf(plan, query.path) }, signal),
  };
}

function startOf(plan: FilePlan, path: string): string {
  const planned = plan.paths.find(({ given, real, access }) => access === "read" && (given === path || real === path));
  if (!planned) {
    throw new ToolFault({
      code: "sandbox.outside",
      message: `Cannot search "${path}": the plan of this call does not list it`,
      hint: "A tool must name each path in needs",
    });
  }
  const now = realNow(planned.real);
  if (now !== planned.real) throw moved("read", planned.real, `it leads to "${now}" now`);
  return planned.real;
}

function realNow(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw fsFault("read", path, error);
  }
}
