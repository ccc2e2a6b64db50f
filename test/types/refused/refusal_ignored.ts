/** What a stage gives is used without looking whether it is a refusal. */
import { authorize } from "../../../core/authorize/authorize.ts";
import type { ToolRequest } from "../../../core/contract/request.ts";
import type { Core } from "../../../core/dispatch/core.ts";
import { validate } from "../../../core/dispatch/validate.ts";

export async function go(request: ToolRequest, core: Core) {
  return authorize(await validate(request, core.registry), core.authority);
}
