import type { GrantTerms, Suggestion } from "./approval.ts";
import type { Decision } from "./verdict.ts";

/** What a call asks for beyond what the sandbox gives. `lifts` are sentences, exact and whole. */
export type Escalation = { lifts: readonly string[]; justification: string };

/**
 * What a person is asked. `title` is the tool's one-line name for the call; `input` is what will run, whole. `choices` are the
 * answers on offer, and `suggestions` what "session" and "always" could save, from narrow to broad: the first where the answer
 * names none. `changed` names a program or script that is not what was approved before.
 */
export type PermissionQuestion = {
  id: string;
  tool: string;
  title: string;
  input: unknown;
  command?: string;
  decision: Decision;
  choices: readonly PermissionChoice[];
  suggestions: readonly Suggestion[];
  escalation?: Escalation;
  changed?: string;
};

/**
 * All answers that there are. "session" holds until the process ends, "always" is saved: for this project, unless the answer says
 * otherwise.
 */
export const PERMISSION_CHOICES = ["once", "session", "always", "deny"] as const;

/** One of the answers. */
export type PermissionChoice = (typeof PERMISSION_CHOICES)[number];

/** A person's answer. The terms are those of "session" and "always"; `reason` goes with "deny". */
export type PermissionAnswer = { choice: PermissionChoice; reason?: string } & GrantTerms;

/**
 * Asks a person. `canAsk` is looked at for each call: a client may say at any time that it can't answer. `ask` resolves to
 * "deny" when `signal` aborts.
 */
export type Asker = {
  canAsk: () => boolean;
  ask: (question: PermissionQuestion, signal: AbortSignal) => Promise<PermissionAnswer>;
};

/** Why an answer does not fit its question; undefined when it does. Never throws. */
export function answerFault(
  answer: PermissionAnswer,
  { choices, suggestions }: PermissionQuestion,
): string | undefined {
  const { choice, rule, scope, forMs, uses } = answer;
  if (!choices.includes(choice)) return `"choice" is ${choice}, and ${choices.join(", ")} are on offer`;
  const saves = choice === "session" || choice === "always";
  if (!saves && [rule, scope, forMs, uses].some((term) => term !== undefined))
    return `"rule", "scope", "forMs" and "uses" go with "session" and "always", not with "${choice}"`;
  if (rule !== undefined && !suggestions.some((one) => one.rule === rule))
    return `"rule" is none that was shown; shown were ${suggestions.map((one) => JSON.stringify(one.rule)).join(", ")}`;
  if (scope !== undefined && (choice === "session") !== (scope === "session"))
    return `"scope" ${scope} does not go with "${choice}"`;
  return undefined;
}
