/** A call that no hook has seen is planned. */
import type { AuthorizedCall } from "../../../core/contract/call.ts";
import { type CallPlanner, planCall } from "../../../core/sandbox/plan_call.ts";

export const plan = (call: AuthorizedCall, planner: CallPlanner) => planCall(call, planner);
