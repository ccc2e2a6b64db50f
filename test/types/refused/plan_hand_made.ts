/** A PlannedCall is written by hand. */
import type { HookedCall, PlannedCall } from "../../../core/contract/call.ts";

export function forge(call: HookedCall): PlannedCall {
  const { request, tool, args, coercions, decision } = call;
  const planned: PlannedCall = { request, tool, args, coercions, decision, plan: { files: { paths: [], hidden: [] } } };
  return planned;
}
