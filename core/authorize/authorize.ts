import type { Asker } from "../contract/asking.ts";
import type { AuthorizedCall, ValidatedCall } from "../contract/call.ts";
import type { Refused } from "../contract/outcome.ts";
import { failureOf, refuse } from "../contract/refuse.ts";
import type { ModeSetting } from "../contract/request.ts";
import type { ResolvePath } from "../contract/resolved_path.ts";
import type { Place } from "../contract/tool.ts";
import type { Decision, PolicyQuestion } from "../contract/verdict.ts";
import { effectsOf } from "./effects.ts";

/** Answers from the policy component; loads it at the first question. Throws ToolFault `policy.bad_rule`. */
export type Judge = (question: PolicyQuestion) => Promise<Decision>;

/** All that decides whether a call may run. `granted` holds the calls a person allowed for this session. */
export type Authority = {
  judge: Judge;
  mode: ModeSetting;
  place: Place;
  /** Folders beside the workspace that tools may work in (additionalDirectories). */
  roots?: readonly string[];
  resolve: ResolvePath;
  asker: Asker;
  granted: Set<string>;
};

/** May this call run? Asks a person only where the policy says "ask" and someone is there; else that is a no at once. */
export async function authorize(call: ValidatedCall, authority: Authority): Promise<AuthorizedCall | Refused> {
  const question = questionFor(call, authority);
  if ("refused" in question) return question;
  const judged = question.effects.flatMap((effect) => ("path" in effect ? [effect.path] : []));
  if (call.tool.decidedBy === "caller") return stamp(call, callersOwn(call), { by: "caller", judged });
  const decision = await authority.judge(question).catch((error: unknown) => refuse(failureOf(error, "authorize")));
  if ("refused" in decision) return decision;
  if (decision.verdict === "allow") return stamp(call, decision, { by: "policy", judged });
  if (decision.verdict === "deny") return denied(call, decision);
  const answer = await askPerson(call, decision, authority);
  return answer === "yes" ? stamp(call, decision, { by: "person", judged }) : answer;
}

function questionFor(call: ValidatedCall, authority: Authority): PolicyQuestion | Refused {
  const { place, mode, roots = [] } = authority;
  try {
    const effects = effectsOf(call.tool.needs(call.args, place), authority.resolve);
    const { name: tool, requires: required } = call.tool;
    const params = scalarParams(call.args);
    return {
      tool,
      required,
      mode: mode.mode,
      effects,
      params,
      cwd: place.cwd,
      home: place.home,
      roots: [place.workspace, ...roots],
      asks: mode.asks ?? "person",
      explain: true,
    };
  } catch (error) {
    return refuse(failureOf(error, "authorize"));
  }
}

async function askPerson(call: ValidatedCall, decision: Decision, authority: Authority): Promise<"yes" | Refused> {
  const key = JSON.stringify([call.tool.name, call.args]);
  if (authority.granted.has(key)) return "yes";
  if (!authority.asker.canAsk()) return unanswerable(call, decision, authority);
  const question = {
    id: call.request.id,
    tool: call.tool.name,
    title: call.tool.title(call.args),
    input: call.args,
    decision,
  };
  const answer = await authority.asker.ask(question, call.request.signal);
  if (call.request.signal.aborted)
    return refuse({ code: "tool.cancelled", message: "The call was cancelled", at: "authorize" }, decision);
  // Only a plain yes is a yes, whatever a client sends.
  if (answer.choice !== "once" && answer.choice !== "session") {
    const why = answer.reason ? `: ${answer.reason}` : "";
    return refuse(
      { code: "policy.refused_by_person", message: `The person said no to ${question.title}${why}`, at: "authorize" },
      decision,
    );
  }
  if (answer.choice === "session") authority.granted.add(key);
  return "yes";
}

function denied(call: ValidatedCall, decision: Decision): Refused {
  const message = `${call.tool.title(call.args)} is denied: ${decision.reason}`;
  return refuse({ code: "policy.denied", message, at: "authorize", details: { trace: decision.trace } }, decision);
}

function unanswerable(call: ValidatedCall, decision: Decision, authority: Authority): Refused {
  return refuse(
    {
      code: "policy.needs_answer",
      message: `${call.tool.title(call.args)} needs a person's answer and nobody can be asked: ${decision.reason}`,
      at: "authorize",
      hint: hintFor(decision, authority),
      details: { trace: decision.trace },
    },
    decision,
  );
}

/** An ask rule stands above every allow rule and every mode, so neither is worth a try where one asks. */
function hintFor(decision: Decision, { mode }: Authority): string {
  if (decision.by !== "rule")
    return `allow it with a rule (--allow) or another mode (now ${mode.mode}, from ${mode.origin})`;
  return "only a person's answer opens it: call at a terminal, or through a client of `cordon serve` that answers";
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

type Yes = { by: AuthorizedCall["answeredBy"]; judged: readonly string[] };

function stamp(call: ValidatedCall, decision: Decision, { by, judged }: Yes): AuthorizedCall {
  // Allowed by a rule, the mode, a person or the caller on the lines above; this is the only maker of AuthorizedCall.
  return { ...call, decision: { ...decision, answeredBy: by }, answeredBy: by, judged } as unknown as AuthorizedCall;
}
