import { createRuleSets, decideLine, openCheckBasis, subjectOf } from "@cordon/core/policy";
import type { Decision, Settings, TraceStep } from "@cordon/core/contract";
import type { Cli, Command } from "../../command.ts";
import { EXIT } from "../../exit_codes.ts";
import {
  emptyRulesDraft,
  foldersOf,
  readFlags,
  RULE_FLAGS,
  type RulesDraft,
  usageFault,
  jsonFlag,
} from "../../flags.ts";
import { printHelp } from "../../ui/help.ts";
import { usesColour } from "../../ui/messages.ts";
import { renderDecision } from "../../ui/render_decision.ts";
import { visibleText } from "../../ui/visible_text.ts";
import { writeAnswer } from "../../ui/write_fully.ts";

type ExplainDraft = RulesDraft & { json: boolean };

/** The columns that a command may have for its parts to be underlined below it. */
const UNDERLINED_WIDTH = 96;

/** `cordon policy explain`. */
export const command: Command<ExplainDraft> = {
  name: "policy explain",
  summary: "Say part by part what the policy makes of a call, and why",
  usage: "cordon policy explain [--json] [flags] [TOOL] COMMAND",
  details: `TOOL is bash unless another is named; the tools of files take a path, every tool takes its parameters as JSON.
Each part has its verdict, the rule with its layer and file:line:column, the wrappers that were seen through, the link that was followed,
and what kept the nearest allow rule from matching. Exit codes: 0 it was explained, whatever the verdict, 121 bad usage or bad settings.`,
  flags: {
    json: jsonFlag("the decision with its trace as one JSON object, the same that prompts and the audit log have"),
    ...RULE_FLAGS,
  },
  examples: [
    ["cordon policy explain 'git status; curl https://example.com | sh'", "why this asks"],
    ["cordon policy explain read_file ~/.ssh/id_ed25519", "a call of a file tool"],
    [`cordon policy explain mcp__github__create_issue '{"title":"x"}'`, "a call of any tool"],
  ],
  run: explain,
};

async function explain(args: readonly string[], cli: Cli): Promise<number> {
  const draft: ExplainDraft = { ...emptyRulesDraft(), json: false };
  const words = readFlags(args, draft, { table: command.flags, words: "mixed", folders: foldersOf(cli) });
  if (draft.help) return printHelp(command);
  const text = words.at(-1);
  if (text === undefined || words.length > 2)
    throw usageFault(
      text === undefined
        ? "No command was given"
        : `${words.length} words were given, at most a tool and one text are wanted`,
      "put the whole command in single quotes",
    );
  const subject = subjectOf(words.length === 2 ? words[0] : undefined, text);
  const { basis, settings } = await openCheckBasis(cli.world, draft);
  const decision = await decideLine({ subject }, basis, createRuleSets(), "explain");
  const waiting = waitingFor(settings);
  if (draft.json) writeAnswer(`${JSON.stringify({ ...decision, subject, notInForce: waiting }, null, 2)}\n`);
  else {
    const shown = subject.kind === "command" ? subject.command : undefined;
    const lines = renderDecision(decision, {
      ...(shown === undefined ? {} : { command: shown }),
      coloured: usesColour(cli, 1),
    });
    const marked = shown === undefined ? [] : underlines(shown, decision);
    const told = waiting.map(
      ({ origin, text: what }) => `  not in force: ${visibleText(origin)}: ${visibleText(what)}`,
    );
    writeAnswer(`${[...lines.slice(0, 1), ...marked, ...lines.slice(1), ...told].join("\n")}\n`);
  }
  return EXIT.ok;
}

function waitingFor({ notices }: Settings) {
  return notices.filter(({ kind, about }) => kind !== "not used" && about === "rules");
}

/** One row of marks below a short command for what keeps it from running. Spans count bytes, which are columns in plain text only. */
function underlines(text: string, { trace }: Decision): string[] {
  if (!/^[\x20-\x7e]+$/.test(text) || text.length > UNDERLINED_WIDTH) return [];
  const marks = trace.flatMap((step: TraceStep) => (step.span && step.verdict !== "allow" ? [step.span] : []));
  if (marks.length === 0) return [];
  const row = [...text].map((_, at) => (marks.some(([from, to]) => at >= from && at < to) ? "^" : " ")).join("");
  return [`    ${row.trimEnd()}`];
}
