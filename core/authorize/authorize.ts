import type { Asker } from "../contract/asking.ts";
import type { AuthorizedCall, ValidatedCall } from "../contract/call.ts";
import type { Refused } from "../contract/outcome.ts";
import { failureOf, refuse } from "../contract/refuse.ts";
import type { ModeSetting } from "../contract/request.ts";
import type { ResolvePath } from "../contract/resolved_path.ts";
import type { Answerer, Ruling } from "../contract/ruling.ts";
import type { Need, Place } from "../contract/tool.ts";
import type { Decision, PolicyQuestion, RuleSource } from "../contract/verdict.ts";
import { changedSince } from "../store/file_mark.ts";
import { askPerson, type Asking, changedRefusal } from "./approvals/ask.ts";
import { bindCommand } from "./approvals/bind.ts";
import { type ApprovalBook, type ExactCall, grantsUsedBy } from "./approvals/book.ts";
import { keyOfCall } from "./approvals/exact_call.ts";
import { suggestionsFor } from "./approvals/suggest.ts";
import { effectsOf } from "./effects.ts";
import { type Lifts, liftsOf } from "./escalation.ts";

/**
 * Answers from the policy component, with the rules of approvals beside those of the files; loads it at the first question.
 * Throws ToolFault `policy.bad_rule`.
 */
export type Judge = (question: PolicyQuestion, approved: readonly RuleSource[]) => Promise<Decision>;

/** All that decides whether a call may run. `searchPath` is the PATH of commands; `policy` the digest of the rules and mode in force. */
export type Authority = {
  judge: Judge;
  mode: ModeSetting;
  place: Place;
  /** Folders beside the workspace that tools may work in (additionalDirectories). */
  roots?: readonly string[];
  resolve: ResolvePath;
  asker: Asker;
  approvals: ApprovalBook;
  /** False where the managed file alone may allow: then nothing is saved, and nothing that was saved holds. */
  savable: boolean;
  searchPath: string;
  policy: () => string;
};

/** One call on its way through this stage. */
type Case = {
  call: ValidatedCall;
  needs: readonly Need[];
  question: PolicyQuestion;
  judged: readonly string[];
  lifts?: Lifts;
};

/** May this call run? Asks a person only where the policy says "ask" and someone is there; else that is a no at once. */
export async function authorize(call: ValidatedCall, authority: Authority): Promise<AuthorizedCall | Refused> {
  try {
    const open = openCase(call, authority);
    if (call.tool.decidedBy === "caller") return stamp(open, callersOwn(call), { by: "caller" });
    const ruling = await decide(open, authority);
    if (ruling.verdict === "deny") return denied(open, ruling);
    if (ruling.verdict === "allow") return stamp(open, ruling, { by: ruling.grants?.length ? "grant" : "policy" });
    return await seekApproval(open, ruling, authority);
  } catch (error) {
    return refuse(failureOf(error, "authorize"));
  }
}

function openCase(call: ValidatedCall, { place, mode, resolve, roots: others = [] }: Authority): Case {
  const needs = call.tool.needs(call.args, place);
  const { name: tool, requires: required } = call.tool;
  const lifts = call.tool.decidedBy === "policy" ? liftsOf(needs, resolve) : undefined;
  const effects = [...effectsOf(needs, resolve), ...(lifts?.effects ?? [])];
  const params = scalarParams(call.args);
  const { cwd, home, workspace } = place;
  const asks = mode.asks ?? "person";
  const roots = [workspace, ...others];
  const about = { tool, required, mode: mode.mode, effects, params, cwd, home, roots };
  const question: PolicyQuestion = { ...about, asks, explain: true };
  const judged = effects.flatMap((effect) => ("path" in effect ? [effect.path] : []));
  return { call, needs, question, judged, ...(lifts ? { lifts } : {}) };
}

/** The policy's answer with the approvals that hold now; one that has no use left is no approval. */
async function decide({ question, lifts }: Case, { judge, approvals, policy, savable }: Authority): Promise<Ruling> {
  const about = { question, policy: policy(), ...(lifts ? { lifts: lifts.kinds } : {}) };
  const approved = savable ? approvals.rules() : [];
  const decision = await judge(question, approved);
  if (lifts && decision.verdict !== "deny") return { ...escalated(decision, lifts, question), ...about };
  const grants = decision.verdict === "allow" ? grantsUsedBy(decision) : [];
  if (grants.length === 0) return { ...decision, ...about };
  if (approvals.use(grants)) return { ...decision, ...about, grants };
  const others = approved.filter(({ origin }) => !grants.some((id) => origin.endsWith(` ${id}`)));
  return { ...(await judge(question, others)), ...about };
}

/** An escalation asks whatever the mode and the rules say (E2), but for read-only, which never asks (A7). */
function escalated(decision: Decision, { lifts, justification }: Lifts, { mode, asks }: PolicyQuestion): Decision {
  const verdict = mode === "read-only" || asks === "deny" ? "deny" : "ask";
  const why = justification === "" ? "" : `, because: ${justification}`;
  const reason = `it asks for more than the sandbox gives (${lifts.join("; ")})${why}`;
  const step = { part: "escalation", verdict, by: "boundary", note: reason } as const;
  return { verdict, reason, by: "boundary", trace: [...decision.trace, step] };
}

async function seekApproval(open: Case, ruling: Ruling, authority: Authority): Promise<AuthorizedCall | Refused> {
  const { call } = open;
  const { asking, complete } = await prepareQuestion(open, ruling, authority);
  // A person's earlier answer to this very question; a rule of the managed layer and an escalation are asked about each time.
  const savable =
    authority.savable && complete && !open.lifts && ruling.rule?.layer !== "managed" && !managedAsk(ruling);
  if (savable) {
    const earlier = authority.approvals.exact(asking.exact.key);
    const good = earlier.find(({ bound }) => !bound || changedSince(bound) === undefined);
    if (good && authority.approvals.use([good.id]))
      return stamp(open, { ...ruling, grants: [good.id] }, { by: "grant", exact: asking.exact });
    const changed = good ? undefined : earlier.flatMap(({ bound }) => (bound && changedSince(bound)) ?? []).at(0);
    if (changed !== undefined) asking.changed = changed;
  }
  if (!authority.asker.canAsk()) {
    const title = call.tool.title(call.args);
    return asking.changed === undefined
      ? unanswerable(open, ruling, authority)
      : changedRefusal(title, asking.changed, ruling);
  }
  if (authority.savable && !open.lifts) asking.suggestions = await suggestions(open, ruling, { authority, savable });
  const no = await askPerson(asking, authority.asker, authority.approvals);
  if (no) return no;
  return stamp(open, ruling, { by: "person", exact: asking.exact });
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

async function prepareQuestion(open: Case, ruling: Ruling, { place, searchPath }: Authority) {
  const { call, needs, judged, lifts } = open;
  const key = keyOfCall({ tool: call.tool.name, args: call.args, needs, judged, cwd: place.cwd });
  const command = commandOf(needs);
  const binding = command === undefined ? undefined : await bindCommand(command, { cwd: place.cwd, searchPath });
  const exact: ExactCall = { key, ...(binding ? { bound: binding.bound } : {}) };
  const asking: Mutable<Asking> = { call, ruling, suggestions: [], exact };
  if (command !== undefined) asking.command = command;
  if (lifts) asking.escalation = { lifts: lifts.lifts, justification: lifts.justification };
  return { asking, complete: binding?.complete ?? true };
}

type Savable = { authority: Authority; savable: boolean };

async function suggestions({ question, needs }: Case, decision: Decision, { authority, savable }: Savable) {
  const { judge, approvals } = authority;
  const command = commandOf(needs);
  const { script } = command === undefined ? { script: undefined } : await bindCommand(command, NO_LOOK_UP);
  const tryRules = (rules: readonly string[]) =>
    judge(question, [...approvals.rules(), ...rules.map((rule) => ({ rule, layer: "grant", origin: "approval new" }))]);
  return suggestionsFor({ question, decision, command, script, exact: savable, tryRules });
}

/** Only the parse is wanted. */
const NO_LOOK_UP = { cwd: "/", searchPath: "" };

function commandOf(needs: readonly Need[]): string | undefined {
  return needs.flatMap((need) => (need.kind === "exec" ? [need.command] : [])).at(0);
}

function managedAsk({ trace }: Decision): boolean {
  return trace.some(({ verdict, rule }) => verdict === "ask" && rule?.layer === "managed");
}

function denied({ call }: Case, ruling: Ruling): Refused {
  const message = `${call.tool.title(call.args)} is denied: ${ruling.reason}`;
  return refuse({ code: "policy.denied", message, at: "authorize", details: { trace: ruling.trace } }, ruling);
}

function unanswerable({ call, lifts }: Case, ruling: Ruling, { mode }: Authority): Refused {
  const hint = lifts
    ? "leave the escalation out, or call where a person can be asked"
    : // An ask rule stands above every allow rule and every mode, so neither is worth a try where one asks.
      ruling.by === "rule"
      ? "only a person's answer opens it: call at a terminal, or through a client of `cordon serve` that answers"
      : `allow it with a rule (--allow) or another mode (now ${mode.mode}, from ${mode.origin})`;
  return refuse(
    {
      code: "policy.needs_answer",
      message: `${call.tool.title(call.args)} needs a person's answer and nobody can be asked: ${ruling.reason}`,
      at: "authorize",
      hint,
      details: { trace: ruling.trace },
    },
    ruling,
  );
}

/** `cordon run`: the person typed the command, so the flags and the sandbox decide, not the rules for models. */
function callersOwn(call: ValidatedCall): Decision {
  const reason = "the person's own command; the sandbox decides what it can do";
  return {
    verdict: "allow",
    reason,
    by: "mode",
    trace: [{ part: call.tool.name, verdict: "allow", by: "mode", note: reason }],
  };
}

function scalarParams(args: unknown): Record<string, string> {
  if (typeof args !== "object" || args === null) return {};
  const scalars = Object.entries(args).filter(([, value]) => ["string", "number", "boolean"].includes(typeof value));
  return Object.fromEntries(scalars.map(([key, value]) => [key, String(value)]));
}

type Yes = { by: Answerer; exact?: ExactCall };

function stamp({ call, judged }: Case, ruling: Ruling, { by, exact }: Yes): AuthorizedCall {
  const bound = exact?.bound ?? null;
  const decision = { ...ruling, answeredBy: by };
  // Allowed by a rule, the mode, a person or the caller on the lines above; this is the only maker of AuthorizedCall.
  return { ...call, decision, answeredBy: by, judged, bound } as unknown as AuthorizedCall;
}
