import { createCore, openSettings, requireNoHooks } from "@cordon/core";
import type { ToolRequest, ToolResult } from "@cordon/core/contract";
import type { Cli } from "../command.ts";
import { EXIT, exitCodeOf } from "../exit_codes.ts";
import type { FlagSpec, RulesDraft } from "../flags.ts";
import { NOBODY } from "../nobody.ts";
import { showError } from "../ui/messages.ts";
import { tellNotices } from "../ui/settings_notices.ts";
import { grouped } from "./grep_pattern.ts";

/** How `cordon grep` and `cordon glob` end, as ripgrep does: something was found, nothing was, or something went wrong. */
export const SEARCH_EXIT = { found: 0, nothing: 1, failed: 2 } as const;

/** What is asked of a search tool: its name is the door's too, the input is that of the tool. */
export type SearchCall = {
  door: "grep" | "glob";
  tool: "grep_search" | "glob_search";
  inputs: readonly object[];
  /** The patterns that were put together to one, each as it was written: if the one can't be used, the person is told which of them. */
  written?: readonly string[];
};

/** What an answer stands for of SEARCH_EXIT, and where the answer to the same call goes on, in fields of its input, if more is wanted. */
export type Shown = { code: number; next?: object };

/** What of the settings files concerns a search. */
const CONCERNS = ["rules", "mode"] as const;

/** A flag that sets this field of the tool's input to true. */
export function toggle<Draft extends { input: Record<string, unknown> }>(
  name: string,
  short: string | undefined,
  help: string,
): FlagSpec<Draft> {
  return {
    takes: "nothing",
    ...(short === undefined ? {} : { short }),
    help,
    apply: (draft) => {
      // A field of the input by its name in the tool's schema; the draft's type knows only some of them.
      const input: Record<string, unknown> = draft.input;
      input[name] = true;
    },
  };
}

/**
 * Makes one call for each input, on the path that all tool calls take, and one for each part of an answer that is too large for one, and hands
 * the answers to `show`. Resolves to the exit code: 3 if a call was denied, else as SEARCH_EXIT says.
 */
export async function searchCalls(
  { door, tool, inputs, written = [] }: SearchCall,
  { cli, draft }: { cli: Cli; draft: RulesDraft },
  show: (output: unknown) => Shown,
): Promise<number> {
  const settings = await openSettings({ world: cli.world, profile: draft.profile });
  requireNoHooks(settings);
  await tellNotices(cli, settings, CONCERNS);
  const core = createCore({
    world: cli.world,
    settings,
    rules: draft.rules,
    asker: NOBODY,
    background: "refused",
    ...(draft.mode ? { mode: draft.mode } : {}),
  });
  const abort = new AbortController();
  const stopListening = cli.onSignal(["SIGINT", "SIGTERM", "SIGHUP"], () => abort.abort());
  const codes: number[] = [];
  try {
    for (const input of inputs) {
      const ask = (asked: object) =>
        core.dispatch({ id: door, door, tool, input: asked, signal: abort.signal } satisfies ToolRequest);
      for (let part: object | undefined = input; part !== undefined; ) {
        const { code, next } = shownOf(await blamed(await ask(part), part, { ask, written }), cli, show);
        codes.push(code);
        part = next && { ...input, ...next };
      }
    }
  } finally {
    stopListening();
    await core.close();
  }
  return worstOf(codes);
}

/**
 * A pattern that was put together is no pattern of the person: the fault is that of the first of the written ones that can't be used alone.
 * They are compiled before anything is searched, and the time of a search in which one can be used is up at once.
 */
async function blamed(
  result: ToolResult,
  input: object,
  { ask, written }: { ask: (input: object) => Promise<ToolResult>; written: readonly string[] },
): Promise<ToolResult> {
  const isPattern = (asked: ToolResult) => !asked.ok && asked.error.code === "search.bad_pattern";
  if (!isPattern(result)) return result;
  // One that can be used by itself may not be one in a group: it ends in a comment.
  for (const pattern of [...written.filter((text) => text !== ""), ...written.map(grouped)]) {
    const alone = await ask({ ...input, pattern, time_budget_ms: 1 });
    if (isPattern(alone)) return alone;
  }
  return result;
}

function shownOf(result: ToolResult, cli: Cli, show: (output: unknown) => Shown): Shown {
  if (result.ok) return show(result.output);
  const { code, message, hint } = result.error;
  showError(cli, { code, message, ...(hint === undefined ? {} : { hint }) });
  const exit = exitCodeOf(code);
  return { code: exit === EXIT.toolError ? SEARCH_EXIT.failed : exit };
}

/** A denial or an error of one place outweighs what was found in another. */
function worstOf(codes: readonly number[]): number {
  const bad = codes.find((code) => code > SEARCH_EXIT.nothing);
  return bad ?? (codes.includes(SEARCH_EXIT.found) ? SEARCH_EXIT.found : SEARCH_EXIT.nothing);
}
