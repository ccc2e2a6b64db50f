import type { PermissionQuestion } from "../contract/asking.ts";
import type { ErrorCode } from "../contract/error_codes.ts";
import type { ToolDescription } from "../contract/request.ts";
import type { ToolResult } from "../contract/result.ts";

/** A fault of the conversation itself; faults of a call are in its result. */
export type ProtocolError = { code: ErrorCode; message: string; hint: string };

/**
 * Everything that `cordon serve` writes. `at` is milliseconds since the epoch. `droppedBytes` were left out in front of `text`,
 * because the client did not read.
 */
export type ServerLine =
  | { type: "ready"; version: string; protocol: number; tools: ToolDescription[] }
  | { type: "pong" }
  | { type: "error"; id?: string; error: ProtocolError }
  | { id: string; type: "started"; at: number }
  | { id: string; type: "output"; stream: "stdout" | "stderr"; text: string; droppedBytes?: number }
  | { id: string; type: "permission"; request: Omit<PermissionQuestion, "id" | "choices">; choices: readonly string[] }
  | ({ id: string; type: "result" } & ServedResult);

/** The result of a call; a call that was cancelled before its turn came was never audited and has no `meta`. */
export type ServedResult = ToolResult | { ok: false; error: Extract<ToolResult, { ok: false }>["error"] };
