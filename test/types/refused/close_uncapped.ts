/** The audit row is closed with an outcome that was not capped. */
import type { AuditLog, OpenRow } from "../../../core/audit/audit.ts";
import type { Outcome } from "../../../core/contract/outcome.ts";
import type { ToolRequest } from "../../../core/contract/request.ts";

export const close = (log: AuditLog, row: OpenRow, request: ToolRequest, outcome: Outcome) => log.close(row, request, outcome);
