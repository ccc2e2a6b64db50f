import type { Coercion } from "./call.ts";
import type { Denial, TrustedChange } from "./denial.ts";
import type { Enforced } from "./enforced.ts";
import type { Failure } from "./outcome.ts";
import type { IndexNote } from "./search.ts";

/** What every result carries. `droppedBytes` is present when output was cut. `auditId` finds the row in the log. */
export type ResultMeta = {
  durationMs: number;
  auditId: string;
  sandbox?: Enforced;
  denials?: Denial[];
  /** Files that tools outside the sandbox obey, and that the command changed. */
  trusted?: TrustedChange[];
  coercions?: Coercion[];
  droppedBytes?: number;
  /** Of a search in a process that lasts: whether what it remembers of the tree was used, and why not. */
  index?: IndexNote;
};

/** The answer to a ToolRequest, the same at every door. */
export type ToolResult =
  | { ok: true; output: unknown; meta: ResultMeta }
  | { ok: false; error: Failure; meta: ResultMeta };
