/** A call that nobody allowed is planned. */
import type { ValidatedCall } from "../../../core/contract/call.ts";
import { type CallPlanner, planCall } from "../../../core/sandbox/plan_call.ts";

export const plan = (call: ValidatedCall, planner: CallPlanner) => planCall(call, planner);
