import type { AuditLog } from "../audit/audit.ts";
import type { Authority } from "../authorize/authorize.ts";
import type { Hosts } from "../exec/execute.ts";
import type { Hook } from "../hooks/run_hooks.ts";
import type { CallPlanner } from "../sandbox/plan_call.ts";
import type { Registry } from "../tools/registry.ts";

/** Everything the path needs, one field a stage. Made once by createCore() in mod.ts. */
export type Core = {
  audit: AuditLog;
  registry: Registry;
  authority: Authority;
  hooks: readonly Hook[];
  planner: CallPlanner;
  hosts: Hosts;
};
