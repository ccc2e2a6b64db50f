import { ToolFault } from "./fault.ts";
import type { Failure, Outcome, Refused, StageName } from "./outcome.ts";
import type { Ruling } from "./ruling.ts";

/** Makes a stage's refusal. Never throws. */
export function refuse(failure: Failure, decision?: Ruling): Refused {
  const plain = { ok: false, refused: true, failure, denials: [], coercions: [], ...(decision ? { decision } : {}) };
  // The only maker of Refused: every stage's "no" has this shape, so the tail needs no second case.
  return plain as unknown as Refused;
}

/** True when a stage said no. */
export function isRefused(value: object): value is Refused {
  return "refused" in value && value.refused === true;
}

/** Turns anything thrown into a failure: a ToolFault keeps its code, the rest is `tool.crashed` with its message. */
export function failureOf(thrown: unknown, at: StageName): Failure {
  if (thrown instanceof ToolFault) {
    const hint = thrown.hint === undefined ? {} : { hint: thrown.hint };
    const details = thrown.details === undefined ? {} : { details: thrown.details };
    return { code: thrown.code, message: thrown.message, at, ...hint, ...details };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { code: "tool.crashed", message, at, hint: "this is a defect in cordon; please report it with the call" };
}

/** Ends a call that threw somewhere on the path. Never throws. */
export function crashed(thrown: unknown): Outcome {
  return refuse(failureOf(thrown, "execute"));
}
