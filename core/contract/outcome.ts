import type { Coercion } from "./call.ts";
import type { Denial, TrustedChange } from "./denial.ts";
import type { Enforced } from "./enforced.ts";
import type { ErrorCode } from "./error_codes.ts";
import type { IndexNote } from "./search.ts";
import type { Stamp } from "./stage.ts";
import type { Ruling } from "./ruling.ts";

/** The stages that can end a call, as named in errors (`at`) and audit rows. */
export type StageName = "validate" | "authorize" | "hooks" | "plan" | "execute";

/** A failure as callers see it. */
export type Failure = { code: ErrorCode; message: string; at: StageName; hint?: string; details?: unknown };

type Facts = {
  enforced?: Enforced;
  denials: Denial[];
  trusted?: TrustedChange[];
  coercions: Coercion[];
  decision?: Ruling;
  index?: IndexNote;
};

type Ended = ({ ok: true; output: unknown } | { ok: false; failure: Failure }) & Facts;

/** How a call ended before the tail. `output` is JSON, or has FileNames in it, which become JSON; strings in it may still be too long. Made by execute or `refuse`. */
export type Outcome = Ended & Stamp<"outcome">;

/** A stage's "no". It is an Outcome already, so it can't miss capping, audit or result. Made by contract/refuse.ts. */
export type Refused = Outcome & { ok: false; refused: true };

/** Every string fits the limits. `droppedBytes` counts what was cut. Made by output/cap_output.ts only. */
export type CappedOutcome = Ended & { droppedBytes: number } & Stamp<"capped">;

/** The audit row is closed. Made by audit/audit.ts only. */
export type AuditedOutcome = { outcome: CappedOutcome; durationMs: number } & Stamp<"audited">;
