import type { ErrorCode } from "./error_codes.ts";

/** What goes with a fault beside its code. `hint` is the next step, for a person or a model. `details` is plain JSON. */
export type FaultParts = { code: ErrorCode; message: string; hint?: string; details?: unknown };

/** An error that a caller is expected to see. Its code is API, its words are not. Everything else that is thrown is a crash. */
export class ToolFault extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: unknown;

  /** `parts.message` is one sentence without a full stop: what could not be done, what was found, what is wanted. */
  constructor(parts: FaultParts) {
    super(parts.message);
    this.name = "ToolFault";
    this.code = parts.code;
    this.hint = parts.hint;
    this.details = parts.details;
  }
}
