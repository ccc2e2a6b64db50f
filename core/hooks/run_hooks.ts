import type { AuthorizedCall, HookedCall } from "../contract/call.ts";
import type { Refused } from "../contract/outcome.ts";
import { isRefused, refuse } from "../contract/refuse.ts";
import type { ToolRequest } from "../contract/request.ts";

/** What a hook says of a call. `rewrite` gives a whole new input; it is validated and authorized like the first. */
export type HookAnswer =
  | { answer: "proceed" }
  | { answer: "deny"; reason: string }
  | { answer: "rewrite"; input: unknown };

/** Something that may refuse or rewrite a call after it was allowed. A hook that throws refuses. */
export type Hook = { name: string; before: (call: AuthorizedCall) => Promise<HookAnswer> };

/** Sends a rewritten request through validate and authorize again. */
export type Revisit = (request: ToolRequest) => Promise<AuthorizedCall | Refused>;

/** Asks every hook in order. A second rewrite is refused: two hooks could rewrite each other's input for ever. */
export async function runHooks(
  call: AuthorizedCall,
  hooks: readonly Hook[],
  revisit: Revisit,
): Promise<HookedCall | Refused> {
  const first = await pass(call, hooks);
  if (isRefused(first)) return first;
  if (!("rewritten" in first)) return stamp(first);
  const again = await revisit({ ...call.request, input: first.rewritten });
  if (isRefused(again)) return again;
  const second = await pass(again, hooks);
  if (isRefused(second)) return second;
  if ("rewritten" in second) return failed(call, second.by, "asked for a second rewrite of the same call");
  return stamp(second);
}

type Rewrite = { rewritten: unknown; by: string };

async function pass(call: AuthorizedCall, hooks: readonly Hook[]): Promise<AuthorizedCall | Rewrite | Refused> {
  for (const hook of hooks) {
    const said = await ask(hook, call);
    if (typeof said === "string") return failed(call, hook.name, said);
    if (said.answer === "deny") {
      const message = `The hook ${hook.name} refused ${call.tool.name}: ${said.reason}`;
      return refuse({ code: "hook.denied", message, at: "hooks" }, call.decision);
    }
    if (said.answer === "rewrite") return { rewritten: said.input, by: hook.name };
    // Types end where a hook is written without them: an answer that is none of the three must not pass.
    if (said.answer !== "proceed") return failed(call, hook.name, "gave an answer that means nothing");
  }
  return call;
}

/** The hook's answer, or what went wrong as text; also when it throws before it gives a promise. */
async function ask(hook: Hook, call: AuthorizedCall): Promise<HookAnswer | string> {
  try {
    const said = await hook.before(call);
    return typeof said === "object" && said !== null ? said : "gave no answer";
  } catch (error) {
    return String(error);
  }
}

function failed(call: AuthorizedCall, name: string, what: string): Refused {
  const message = `The hook ${name} failed, so ${call.tool.name} was not run: ${what}`;
  return refuse({ code: "hook.failed", message, at: "hooks" }, call.decision);
}

function stamp(call: AuthorizedCall): HookedCall {
  // Every hook answered "proceed" for exactly this input; this is the only maker of HookedCall.
  return { ...call } as unknown as HookedCall;
}
