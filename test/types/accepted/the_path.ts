/** The path in the only order there is; this file must compile. */
import type { AuditedOutcome, CappedOutcome, Outcome, Refused } from "../../../core/contract/outcome.ts";
import type { ToolRequest } from "../../../core/contract/request.ts";
import { isRefused } from "../../../core/contract/refuse.ts";
import { authorize } from "../../../core/authorize/authorize.ts";
import { validate } from "../../../core/dispatch/validate.ts";
import type { Core } from "../../../core/dispatch/core.ts";
import { execute } from "../../../core/exec/execute.ts";
import { runHooks } from "../../../core/hooks/run_hooks.ts";
import { capOutput } from "../../../core/output/cap_output.ts";
import { planCall } from "../../../core/sandbox/plan_call.ts";

/** Every stage in turn. */
export async function inOrder(request: ToolRequest, core: Core): Promise<Outcome | Refused> {
  const valid = await validate(request, core.registry);
  if (isRefused(valid)) return valid;
  const allowed = await authorize(valid, core.authority);
  if (isRefused(allowed)) return allowed;
  const hooked = await runHooks(allowed, core.hooks, async () => allowed);
  if (isRefused(hooked)) return hooked;
  const planned = await planCall(hooked, core.planner);
  if (isRefused(planned)) return planned;
  return execute(planned, core.hosts);
}

/** The tail in turn; a refusal goes through it like any outcome. */
export function tail(outcome: Outcome | Refused, request: ToolRequest, core: Core): AuditedOutcome {
  const row = core.audit.open(request);
  const capped: CappedOutcome = capOutput(outcome);
  return core.audit.close(row, request, capped);
}
