/** A call that was allowed but not planned is executed: no sandbox. */
import type { HookedCall } from "../../../core/contract/call.ts";
import { execute, type Hosts } from "../../../core/exec/execute.ts";

export const run = (call: HookedCall, hosts: Hosts) => execute(call, hosts);
