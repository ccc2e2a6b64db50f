import { createCore, openSettings, requireNoHooks } from "@cordon/core";
import { bringUpPolicyForFiles } from "@cordon/core/engine/ahead";
import { ToolFault, type ToolRequest, type ToolResult } from "@cordon/core/contract";
import type { Cli, Command } from "../command.ts";
import { EXIT, exitCodeOf } from "../exit_codes.ts";
import { parseDuration } from "../flag_values.ts";
import { emptyRulesDraft, foldersOf, readFlags, RULE_FLAGS, type RulesDraft, usageFault } from "../flags.ts";
import { NOBODY } from "../nobody.ts";
import { createPersonAsker } from "../ui/ask_person.ts";
import { tellNotices } from "../ui/settings_notices.ts";
import { printHelp } from "../ui/help.ts";
import { visibleJson } from "../ui/visible_text.ts";
import { writeAnswer } from "../ui/write_fully.ts";

type CallDraft = RulesDraft & { timeoutMs: number | undefined };

/** `cordon call`: one tool call. */
export const command: Command<CallDraft> = {
  name: "call",
  summary: "Make one tool call",
  usage: "cordon call TOOL [JSON] [flags]",
  details: `The input is JSON from the argument or, without one, from stdin. The result is JSON on stdout.
Exit codes: 0 the tool did its work, 1 it reported an error, 3 the call was denied, 120 the sandbox could not enforce what
the policy demands, 121 bad usage.`,
  flags: {
    timeout: {
      takes: "value",
      hint: "TIME",
      help: "stop the call after this time, for example 90s",
      apply: (draft, value) => {
        draft.timeoutMs = parseDuration("timeout", value ?? "");
      },
    },
    ...RULE_FLAGS,
  },
  examples: [
    [`cordon call bash '{"command":"git status"}'`, "a shell command in the sandbox"],
    [`echo '{"path":"README.md"}' | cordon call read_file`, "the input from stdin"],
    [`cordon call bash --allow 'bash(npm test)' '{"command":"npm test"}'`, "with a rule for this call"],
  ],
  run: callTool,
};

async function callTool(args: readonly string[], cli: Cli): Promise<number> {
  const draft: CallDraft = { ...emptyRulesDraft(), timeoutMs: undefined };
  const [tool, json, ...more] = readFlags(args, draft, {
    table: command.flags,
    words: "mixed",
    folders: foldersOf(cli),
  });
  if (draft.help) return printHelp(command);
  if (!tool) throw usageFault("No tool was named", "write cordon call TOOL [JSON]; cordon tools lists them");
  // All other tools are about files; if that is wrong it costs time and nothing else.
  if (tool.toLowerCase() !== "bash") bringUpPolicyForFiles();
  if (more.length > 0)
    throw usageFault(
      `${more.length + 1} words follow the tool, one JSON text is wanted`,
      "put the JSON in single quotes",
    );
  const input = json === undefined ? await readInput(cli) : parseInput(json, "The argument");
  const asker = json !== undefined && cli.world.stdinIsTty ? createPersonAsker(cli) : NOBODY;
  const settings = await openSettings({ world: cli.world, profile: draft.profile })
    .then((opened) => {
      requireNoHooks(opened);
      return opened;
    })
    .catch((error) => answerInvalid(error));
  if (typeof settings === "number") return settings;
  await tellNotices(cli, settings, EVERYTHING);
  const core = createCore({
    world: cli.world,
    settings,
    rules: draft.rules,
    asker,
    background: "refused",
    ...(draft.mode ? { mode: draft.mode } : {}),
  });
  const abort = new AbortController();
  const stopListening = cli.onSignal(["SIGINT", "SIGTERM", "SIGHUP"], () => abort.abort());
  try {
    const timeout = draft.timeoutMs === undefined ? {} : { timeoutMs: draft.timeoutMs };
    const request: ToolRequest = { id: "call", door: "call", tool, input, signal: abort.signal, ...timeout };
    return show(await core.dispatch(request), cli);
  } finally {
    stopListening();
    await core.close();
  }
}

/** What of the settings files concerns a call. */
const EVERYTHING = ["rules", "mode", "sandbox", "hooks"] as const;

/** A caller that reads JSON hears of bad settings as JSON too. */
function answerInvalid(error: unknown): number {
  if (!(error instanceof ToolFault)) throw error;
  const { code, message, hint } = error;
  writeAnswer(`${JSON.stringify({ ok: false, error: { code, message, ...(hint === undefined ? {} : { hint }) } })}\n`);
  return exitCodeOf(code);
}

function show(result: ToolResult, cli: Cli): number {
  const text = cli.isTty(1) ? visibleJson(JSON.stringify(result, null, 2)) : JSON.stringify(result);
  writeAnswer(`${text}\n`);
  return result.ok ? EXIT.ok : exitCodeOf(result.error.code);
}

async function readInput(cli: Cli): Promise<unknown> {
  if (cli.world.stdinIsTty)
    throw usageFault("No input was given", "write the JSON as the second word, for example '{}', or pipe it in");
  const bytes = await Bun.stdin.bytes();
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw usageFault("The input on stdin is not UTF-8", "send JSON as UTF-8");
  }
  if (text.trim() === "") throw usageFault("The input on stdin is empty", "send a JSON object, for example {}");
  return parseInput(text, "The input on stdin");
}

function parseInput(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageFault(
      `${what} is not JSON: ${error instanceof Error ? error.message : String(error)}`,
      `for example '{"command":"ls"}'`,
    );
  }
}
