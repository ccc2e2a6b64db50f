import { createRuleSets, openCheckBasis, readTestLines, runExpectation } from "@cordon/core/policy";
import { type RuleLists, ToolFault } from "@cordon/core/contract";
import type { Cli, Command } from "../../command.ts";
import { EXIT } from "../../exit_codes.ts";
import { parsePath } from "../../flag_values.ts";
import { emptyRulesDraft, foldersOf, readFlags, RULE_FLAGS, type RulesDraft, jsonFlag } from "../../flags.ts";
import { printHelp } from "../../ui/help.ts";
import { visibleText } from "../../ui/visible_text.ts";
import { writeAnswer } from "../../ui/write_fully.ts";

type TestDraft = RulesDraft & { json: boolean };

/** What did not come out as wanted. */
type Failed = { origin: string; message: string };

/** `cordon policy test`. */
export const command: Command<TestDraft> = {
  name: "policy test",
  summary: "Run the examples of rules, and files of expected decisions",
  usage: "cordon policy test [--json] [flags] [FILE…]",
  details: `Rules of settings files may carry examples: {"rule": "Bash(git push *)", "match": ["git push origin"], "notMatch": ["git pull"]}.
A FILE has questions as cordon policy check --stdin takes them, one a line, with "expect": "allow", "ask" or "deny".
Exit codes: 0 all came out as wanted, 1 some did not, 121 bad usage or bad settings.`,
  flags: {
    json: jsonFlag("the result as one JSON object"),
    ...RULE_FLAGS,
  },
  examples: [
    ["cordon policy test", "the examples of the rules in force here"],
    ["cordon policy test policy-tests.jsonl", "and a file of expected decisions"],
  ],
  run: test,
};

async function test(args: readonly string[], cli: Cli): Promise<number> {
  const draft: TestDraft = { ...emptyRulesDraft(), json: false };
  const folders = foldersOf(cli);
  const words = readFlags(args, draft, { table: command.flags, words: "mixed", folders });
  if (draft.help) return printHelp(command);
  const { basis } = await openCheckBasis(cli.world, draft);
  const sets = createRuleSets();
  const examples = examplesIn(basis.rules);
  const failed = await failedExamples(() => sets.judgeFor(basis.rules));
  const lines = words.flatMap((word) => readTestLines(parsePath("FILE", word, folders)));
  // Rules that can't be used decide nothing, so there is no use in asking them.
  for (const line of failed.length > 0 ? [] : lines) {
    const message = await runExpectation(line, basis, sets);
    if (message !== null) failed.push({ origin: line.origin, message });
  }
  const ran = examples + (failed.length > 0 && lines.length > 0 ? 0 : lines.length);
  writeAnswer(
    draft.json ? `${JSON.stringify({ examples, lines: lines.length, failed }, null, 2)}\n` : render(ran, failed),
  );
  return failed.length > 0 ? EXIT.toolError : EXIT.ok;
}

/** A rule set whose examples fail does not compile; every fault is one failure. */
async function failedExamples(compile: () => Promise<unknown>): Promise<Failed[]> {
  try {
    await compile();
    return [];
  } catch (error) {
    if (!(error instanceof ToolFault) || error.code !== "policy.bad_rule") throw error;
    return faultsOf(error.details);
  }
}

/** `details` of policy.bad_rule are RuleFault[]. */
function faultsOf(details: unknown): Failed[] {
  if (!Array.isArray(details)) return [];
  return details.map((fault: { rule: string; origin: string; why: string }) => {
    return { origin: fault.origin, message: `${JSON.stringify(fault.rule)}: ${fault.why}` };
  });
}

function examplesIn({ allow, ask, deny }: RuleLists): number {
  const rules = [...allow, ...ask, ...deny];
  return rules.reduce((sum, { match = [], notMatch = [] }) => sum + match.length + notMatch.length, 0);
}

function render(ran: number, failed: readonly Failed[]): string {
  const lines = failed.map(({ origin, message }) => `FAILED ${visibleText(origin)}: ${visibleText(message)}`);
  const end = failed.length === 0 ? `${ran} as wanted` : `${failed.length} not as wanted`;
  return `${[...lines, end].join("\n")}\n`;
}
