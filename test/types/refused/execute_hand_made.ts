/** An object with all the fields of a planned call, which no stage made, is executed. */
import type { HookedCall } from "../../../core/contract/call.ts";
import { execute, type Hosts } from "../../../core/exec/execute.ts";

export function run(call: HookedCall, hosts: Hosts) {
  const { request, tool, args, coercions, decision } = call;
  return execute({ request, tool, args, coercions, decision, plan: { files: { paths: [], hidden: [] } } }, hosts);
}
