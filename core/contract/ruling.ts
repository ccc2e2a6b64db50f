import type { Decision, PolicyQuestion } from "./verdict.ts";

/** Whose yes let a call run: the policy's, a person's just now, one that a person gave earlier, or the caller's own. */
export type Answerer = "policy" | "person" | "grant" | "caller";

/**
 * The policy's decision on one call with what became of it: for the audit row, never for the model. `policy` is the SHA-256 of the
 * rules and mode in force. `grants` are the ids of saved approvals that were used. `lifts` names what an escalation opened.
 */
export type Ruling = Decision & {
  answeredBy?: Answerer;
  question?: PolicyQuestion;
  policy?: string;
  grants?: readonly string[];
  lifts?: readonly string[];
};
