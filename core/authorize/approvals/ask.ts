import {
  answerFault,
  type Asker,
  type Escalation,
  type PermissionChoice,
  type PermissionQuestion,
} from "../../contract/asking.ts";
import type { ValidatedCall } from "../../contract/call.ts";
import type { Suggestion } from "../../contract/approval.ts";
import type { Refused } from "../../contract/outcome.ts";
import { refuse } from "../../contract/refuse.ts";
import type { Ruling } from "../../contract/ruling.ts";
import { changedSince } from "../../store/file_mark.ts";
import type { ApprovalBook, ExactCall } from "./book.ts";

/** What a person is asked about, worked out. */
export type Asking = {
  call: ValidatedCall;
  ruling: Ruling;
  command?: string;
  suggestions: readonly Suggestion[];
  exact: ExactCall;
  escalation?: Escalation;
  /** A program that was approved before, and is another by now. */
  changed?: string;
};

/** Asks; a yes is undefined, and saved where the person chose that. The programs must be the same after the answer. */
export async function askPerson(asking: Asking, asker: Asker, book: ApprovalBook): Promise<Refused | undefined> {
  const { call, ruling, exact } = asking;
  const question = questionOf(asking);
  const answer = await asker.ask(question, call.request.signal);
  if (call.request.signal.aborted)
    return refuse({ code: "tool.cancelled", message: "The call was cancelled", at: "authorize" }, ruling);
  // Only a plain yes that was on offer is a yes, whatever a client sends.
  const fault = answerFault(answer, question);
  if (answer.choice === "deny" || fault !== undefined) return saidNo(question, ruling, fault ?? answer.reason);
  const changed = exact.bound && changedSince(exact.bound);
  if (changed !== undefined) return changedRefusal(question.title, changed, ruling);
  if (answer.choice === "once") return undefined;
  const suggestion = question.suggestions.find(({ rule }) => answer.rule === undefined || rule === answer.rule);
  if (!suggestion) return saidNo(question, ruling, "nothing was on offer to be saved");
  const { rule: _r, choice, reason: _w, ...terms } = answer;
  const scope = choice === "session" ? "session" : (terms.scope ?? "project");
  book.save({ suggestion, terms: { ...terms, scope }, exact, by: `a person at ${call.request.door}` });
  return undefined;
}

function questionOf({ call, ruling, command, suggestions, escalation, changed }: Asking): PermissionQuestion {
  const { verdict, reason, by, rule, trace } = ruling;
  const saves: PermissionChoice[] = suggestions.length > 0 ? ["session", "always"] : [];
  return {
    id: call.request.id,
    tool: call.tool.name,
    title: call.tool.title(call.args),
    input: call.args,
    ...(command === undefined ? {} : { command }),
    decision: { verdict, reason, by, ...(rule ? { rule } : {}), trace },
    choices: ["once", ...saves, "deny"],
    suggestions,
    ...(escalation ? { escalation } : {}),
    ...(changed === undefined ? {} : { changed }),
  };
}

function saidNo({ title }: PermissionQuestion, ruling: Ruling, reason: string | undefined): Refused {
  const why = reason ? `: ${reason}` : "";
  const message = `The person said no to ${title}${why}`;
  return refuse({ code: "policy.refused_by_person", message, at: "authorize" }, ruling);
}

/** What was approved is not what would run. */
export function changedRefusal(title: string, path: string, ruling: Ruling): Refused {
  return refuse(
    {
      code: "policy.changed_since_approval",
      message: `${title} was not run: ${JSON.stringify(path)} changed after it was approved`,
      at: "authorize",
      hint: "look at what changed, then send the call again to be asked anew",
      details: { path },
    },
    ruling,
  );
}
