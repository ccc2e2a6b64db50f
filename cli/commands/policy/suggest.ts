import { auditLogOf } from "@cordon/core/audit";
import { NO_RULES } from "@cordon/core/contract";
import { createRuleSets, openCheckBasis, type Proposed, suggestRules } from "@cordon/core/policy";
import type { Cli, Command } from "../../command.ts";
import { EXIT } from "../../exit_codes.ts";
import { COMMON_FLAGS, type CommonDraft, emptyCommonDraft, readFlagsOnly, jsonFlag } from "../../flags.ts";
import { LOG_FLAG, type LogDraft } from "./log_flag.ts";
import { printHelp } from "../../ui/help.ts";
import { visibleText } from "../../ui/visible_text.ts";
import { writeAnswer } from "../../ui/write_fully.ts";

type SuggestDraft = CommonDraft & LogDraft & { json: boolean };

/** Calls that are shown by name for each proposal. */
const MOST_SHOWN = 5;

/** `cordon policy suggest`. */
export const command: Command<SuggestDraft> = {
  name: "policy suggest",
  summary: "Propose the smallest rules that would have saved questions, and say what else they admit",
  usage: "cordon policy suggest [--log FILE] [--json]",
  details: `It reads the calls of the audit log that asked. The log has them only where settings say "audit": {"commands": true}. Nothing is proposed for
interpreters, shells and wrappers, nor what would let through a call that was refused. Nothing is written: put what you want into a settings file.
Exit codes: 0 it was looked through, 121 bad usage or bad settings.`,
  flags: {
    log: LOG_FLAG,
    json: jsonFlag("the proposals as one JSON object"),
    ...COMMON_FLAGS,
  },
  examples: [["cordon policy suggest", "from this user's own log"]],
  run: async (args, cli) => {
    const draft: SuggestDraft = { ...emptyCommonDraft(), log: undefined, json: false };
    readFlagsOnly(args, draft, { command, cli, instead: "write --log FILE for another log" });
    if (draft.help) return printHelp(command);
    return suggest(draft, cli);
  },
};

async function suggest(draft: SuggestDraft, cli: Cli): Promise<number> {
  const { basis } = await openCheckBasis(cli.world, { rules: NO_RULES, mode: draft.mode });
  const log = draft.log ?? auditLogOf(cli.world);
  const found = await suggestRules({ log, builtIn: basis.builtIn, rules: basis.rules, sets: createRuleSets() });
  writeAnswer(draft.json ? `${JSON.stringify(found, null, 2)}\n` : render(found));
  return EXIT.ok;
}

function render({ asked, silent, proposals }: Proposed): string {
  const told = proposals.flatMap(({ rules, saves, admits }) => [
    `"allow": ${JSON.stringify(rules)}`,
    `  saves ${saves.length} ${saves.length === 1 ? "question" : "questions"}: ${shown(saves)}`,
    ...(admits.length > 0 ? [`  admits of the log too: ${shown(admits)}`] : []),
    `  admits besides: every call that fits ${rules.map((rule) => visibleText(rule)).join(" or ")}`,
  ]);
  const unknown =
    silent > 0
      ? [`${silent} calls have no question in the log: set "audit": {"commands": true} to have them from now on`]
      : [];
  return `${[...told, `${asked} calls of the log would ask now, ${proposals.length} proposals`, ...unknown].join("\n")}\n`;
}

function shown(calls: readonly string[]): string {
  const names = [...new Set(calls)];
  const more = names.length > MOST_SHOWN ? `, and ${names.length - MOST_SHOWN} more` : "";
  return (
    names
      .slice(0, MOST_SHOWN)
      .map((name) => visibleText(name))
      .join("; ") + more
  );
}
