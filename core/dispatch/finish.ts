import type { OpenRow } from "../audit/audit.ts";
import type { Enforced } from "../contract/enforced.ts";
import type { AuditedOutcome, Outcome } from "../contract/outcome.ts";
import type { ToolRequest } from "../contract/request.ts";
import type { ResultMeta, ToolResult } from "../contract/result.ts";
import { capOutput } from "../output/cap_output.ts";
import type { Core } from "./core.ts";

/** The tail that every exit shares: cap, close the audit row, make the result. Never throws. */
export function finish(request: ToolRequest, outcome: Outcome, row: OpenRow, core: Core): ToolResult {
  return toResult(core.audit.close(row, request, capOutput(outcome)), row);
}

function toResult({ outcome, durationMs }: AuditedOutcome, row: OpenRow): ToolResult {
  const meta: ResultMeta = {
    durationMs,
    auditId: row.id,
    ...(outcome.enforced ? { sandbox: newsOf(outcome.enforced) } : {}),
    ...(outcome.denials.length > 0 ? { denials: outcome.denials } : {}),
    ...(outcome.trusted?.length ? { trusted: outcome.trusted } : {}),
    ...(outcome.coercions.length > 0 ? { coercions: outcome.coercions } : {}),
    ...(outcome.index ? { index: outcome.index } : {}),
    ...(outcome.droppedBytes > 0 ? { droppedBytes: outcome.droppedBytes } : {}),
  };
  return outcome.ok ? { ok: true, output: outcome.output, meta } : { ok: false, error: outcome.failure, meta };
}

/** Steps that went as planned say nothing that the properties don't. */
function newsOf(enforced: Enforced): Enforced {
  return { ...enforced, ops: enforced.ops.filter(({ state }) => state !== "enforced") };
}
