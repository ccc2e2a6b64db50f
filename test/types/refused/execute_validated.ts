/** A call that was only validated is executed: no policy, no hook, no plan. */
import type { ValidatedCall } from "../../../core/contract/call.ts";
import { execute, type Hosts } from "../../../core/exec/execute.ts";

export const run = (call: ValidatedCall, hosts: Hosts) => execute(call, hosts);
