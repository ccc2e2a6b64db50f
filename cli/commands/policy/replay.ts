import { auditLogOf } from "@cordon/core/audit";
import { NO_RULES } from "@cordon/core/contract";
import {
  type Change,
  createRuleSets,
  openCheckBasis,
  readPolicyFile,
  replayLog,
  type Replayed,
} from "@cordon/core/policy";
import type { Cli, Command } from "../../command.ts";
import { EXIT } from "../../exit_codes.ts";
import { parsePath } from "../../flag_values.ts";
import { COMMON_FLAGS, type CommonDraft, emptyCommonDraft, readFlagsOnly, usageFault, jsonFlag } from "../../flags.ts";
import { LOG_FLAG, type LogDraft } from "./log_flag.ts";
import { printHelp } from "../../ui/help.ts";
import { visibleText } from "../../ui/visible_text.ts";
import { writeAnswer } from "../../ui/write_fully.ts";

type ReplayDraft = CommonDraft & LogDraft & { policy: string | undefined; json: boolean };

/** `cordon policy replay`. */
export const command: Command<ReplayDraft> = {
  name: "policy replay",
  summary: "Say which calls of the audit log another policy would decide otherwise",
  usage: "cordon policy replay --policy FILE [--log FILE] [--json]",
  details: `FILE is a settings file; its rules stand alone under the built-in ones, and its mode holds where it names one. The log has what was
decided only where settings say "audit": {"commands": true}; words that look like secrets are masked there. Nothing is run.
Exit codes: 0 nothing would change, 1 something would, 121 bad usage or a file that can't be used.`,
  flags: {
    policy: {
      takes: "value",
      hint: "FILE",
      help: "the settings file to try",
      apply: (draft, value, folders) => {
        draft.policy = parsePath("policy", value ?? "", folders);
      },
    },
    log: LOG_FLAG,
    json: jsonFlag("the result as one JSON object"),
    ...COMMON_FLAGS,
  },
  examples: [["cordon policy replay --policy new.json", "what would change"]],
  run: async (args, cli) => {
    const draft: ReplayDraft = { ...emptyCommonDraft(), policy: undefined, log: undefined, json: false };
    readFlagsOnly(args, draft, { command, cli, instead: "write --policy FILE" });
    if (draft.help) return printHelp(command);
    if (draft.policy === undefined) throw usageFault("No policy was named", "write cordon policy replay --policy FILE");
    return replay(draft, draft.policy, cli);
  },
};

async function replay(draft: ReplayDraft, path: string, cli: Cli): Promise<number> {
  const policy = await readPolicyFile(path);
  const { basis } = await openCheckBasis(cli.world, { rules: NO_RULES, mode: draft.mode });
  const mode = draft.mode ?? policy.mode;
  const tried = {
    builtIn: basis.builtIn,
    policy: { rules: policy.rules, ...(mode ? { mode } : {}) },
    sets: createRuleSets(),
  };
  const found = await replayLog(draft.log ?? auditLogOf(cli.world), tried);
  writeAnswer(draft.json ? `${JSON.stringify(found, null, 2)}\n` : render(found));
  return found.changes.length > 0 ? EXIT.toolError : EXIT.ok;
}

function render({ calls, silent, same, changes }: Replayed): string {
  const told = changes.map(({ from, to, tool, what, reason }: Change) => {
    return `${from.padEnd(5)} -> ${to.padEnd(5)} ${tool}: ${visibleText(what)}\n               ${visibleText(reason)}`;
  });
  const unknown =
    silent > 0
      ? [`${silent} have no question in the log: set "audit": {"commands": true} to have them from now on`]
      : [];
  return `${[...told, `${calls} calls: ${changes.length} would change, ${same} would not`, ...unknown].join("\n")}\n`;
}
