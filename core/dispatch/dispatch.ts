import { authorize } from "../authorize/authorize.ts";
import type { PlannedCall } from "../contract/call.ts";
import type { Outcome, Refused } from "../contract/outcome.ts";
import { crashed, isRefused } from "../contract/refuse.ts";
import type { ToolRequest } from "../contract/request.ts";
import type { ToolResult } from "../contract/result.ts";
import { execute } from "../exec/execute.ts";
import { runHooks } from "../hooks/run_hooks.ts";
import { planCall } from "../sandbox/plan_call.ts";
import type { Core } from "./core.ts";
import { finish } from "./finish.ts";
import { validate } from "./validate.ts";

/**
 * Runs one tool call. Throws only when the audit row can't be opened, before anything has run (`audit.unwritable`); every
 * other way out goes through finish().
 */
export async function dispatch(request: ToolRequest, core: Core): Promise<ToolResult> {
  const row = core.audit.open(request);
  const outcome = await run(request, core).catch(crashed);
  return finish(request, outcome, row, core);
}

async function run(request: ToolRequest, core: Core): Promise<Outcome | Refused> {
  const planned = await prepare(request, core);
  return isRefused(planned) ? planned : execute(planned, core.hosts);
}

/** Every stage before execute. `explain` shows what it gives and runs nothing, so what is shown is what would run. */
export async function prepare(request: ToolRequest, core: Core): Promise<PlannedCall | Refused> {
  const valid = await validate(request, core.registry);
  if (isRefused(valid)) return valid;
  const allowed = await authorize(valid, core.authority);
  if (isRefused(allowed)) return allowed;
  const hooked = await runHooks(allowed, core.hooks, (again) => authorizeAgain(again, core));
  if (isRefused(hooked)) return hooked;
  return planCall(hooked, core.planner);
}

/** A hook that rewrote the input sends the call back to validate, once. */
async function authorizeAgain(request: ToolRequest, core: Core) {
  const valid = await validate(request, core.registry);
  return isRefused(valid) ? valid : authorize(valid, core.authority);
}
