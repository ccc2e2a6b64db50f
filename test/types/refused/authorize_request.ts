/** A request that was never checked against a schema is authorized. */
import { type Authority, authorize } from "../../../core/authorize/authorize.ts";
import type { ToolRequest } from "../../../core/contract/request.ts";

export const allow = (request: ToolRequest, authority: Authority) => authorize(request, authority);
