import { createRuleSets, type Finding, lintSettings, openCheckBasis } from "@cordon/core/policy";
import { ToolFault } from "@cordon/core/contract";
import type { Cli, Command } from "../../command.ts";
import { EXIT } from "../../exit_codes.ts";
import { emptyRulesDraft, readFlagsOnly, RULE_FLAGS, type RulesDraft, jsonFlag } from "../../flags.ts";
import { printHelp } from "../../ui/help.ts";
import { visibleText } from "../../ui/visible_text.ts";
import { writeAnswer } from "../../ui/write_fully.ts";

type LintDraft = RulesDraft & { json: boolean };

/** `cordon policy lint`. */
export const command: Command<LintDraft> = {
  name: "policy lint",
  summary: "Find what in the settings files does not do what it says",
  usage: "cordon policy lint [--json] [flags]",
  details: `Errors: a file or rule that can't be used, with the nearest right name; an exception as wide as its rule. Warnings: rules that
stronger ones leave nothing of, rules that can never match, rules as broad as an interpreter, layers that contradict each other, hooks,
which are not run. Notes: what waits for trust, keys that are not used, rules that others hold anyway.
Exit codes: 0 there is no error and no warning, 1 there is one, 121 bad usage.`,
  flags: {
    json: jsonFlag("the findings as one JSON array"),
    ...RULE_FLAGS,
  },
  examples: [
    ["cordon policy lint", "the files of this person, folder and machine"],
    ["cordon policy lint --json | jq '.[].code'", "in CI"],
  ],
  run: async (args, cli) => {
    const draft: LintDraft = { ...emptyRulesDraft(), json: false };
    readFlagsOnly(args, draft, { command, cli, instead: "it looks at the files in force here" });
    if (draft.help) return printHelp(command);
    const found = await findingsOf(draft, cli);
    writeAnswer(draft.json ? `${JSON.stringify(found, null, 2)}\n` : render(found));
    return found.some(({ level }) => level !== "note") ? EXIT.toolError : EXIT.ok;
  },
};

async function findingsOf(draft: LintDraft, cli: Cli): Promise<Finding[]> {
  try {
    const { basis, settings } = await openCheckBasis(cli.world, draft);
    const [workspace = basis.cwd] = basis.roots;
    const place = { cwd: basis.cwd, home: basis.home, workspace };
    const looked = { ...settings, rules: basis.rules };
    return await lintSettings({ settings: looked, builtIn: basis.builtIn, place, sets: createRuleSets() });
  } catch (error) {
    if (!(error instanceof ToolFault) || error.code !== "config.invalid") throw error;
    // The message starts with the place.
    const [, origin = "", message = error.message] = /^(\S.*?:\d+:\d+): (.*)$/s.exec(error.message) ?? [];
    const hint = error.hint === undefined ? {} : { hint: error.hint };
    return [{ level: "error", code: "file.unusable", origin, message, ...hint }];
  }
}

function render(found: readonly Finding[]): string {
  if (found.length === 0) return "nothing to say: every rule is used as it reads\n";
  const lines = found.flatMap(({ level, code, origin, message, hint }) => [
    `${level.padEnd(7)} ${visibleText(origin)}: ${visibleText(message)} [${code}]`,
    ...(hint === undefined ? [] : [`        hint: ${visibleText(hint)}`]),
  ]);
  return `${lines.join("\n")}\n`;
}
