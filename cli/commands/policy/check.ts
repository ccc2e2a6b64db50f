import {
  type CheckBasis,
  createRuleSets,
  decideLine,
  openCheckBasis,
  openCheckStream,
  type RuleSets,
} from "@cordon/core/policy";
import type { Verdict } from "@cordon/core/contract";
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
import { createLineWriter } from "../../ui/line_writer.ts";
import { tellNotices } from "../../ui/settings_notices.ts";
import { visibleLines } from "../../ui/visible_text.ts";
import { refuseLoss, writeAnswer } from "../../ui/write_fully.ts";

type CheckDraft = RulesDraft & { json: boolean; stdin: boolean };

/** Beyond this much unread output, input is left unread. */
const MOST_UNREAD_BYTES = 1024 * 1024;

/** How a decision ends `policy check`. */
const EXIT_OF: Readonly<Record<Verdict, number>> = { allow: EXIT.ok, ask: EXIT.toolError, deny: EXIT.denied };

/** `cordon policy check`. */
export const command: Command<CheckDraft> = {
  name: "policy check",
  summary: "Decide about a command as a call of a model would be decided, and run nothing",
  usage: "cordon policy check [--json] [flags] COMMAND | --stdin --json",
  details: `With --stdin each line is a question and gets one line as its answer, in order:
  {"id"?, "command": "…", "rules"?: {"allow": [], "ask": [], "deny": []}, "cwd"?, "roots"?, "mode"?}
  {"id"?, "op": "read|write|delete", "path": "…", "cwd"?, "roots"?, "rules"?, "mode"?}
  → {"id"?, "decision": "allow|ask|deny", "reason": "…", "trace": […]}
"rules" replace all rules of files and flags, and then the mode is workspace-write unless "mode" names another; the built-in
rules on secrets and trusted files stay. A line that can't be used gets {"decision":"deny","error":{"code","message","line"}}
with its number, and the next is read.
Exit codes: 0 it would run (or all lines were read), 1 it would be asked about, 3 it would be denied, 121 bad usage or bad settings.`,
  flags: {
    stdin: {
      takes: "nothing",
      help: "read questions as JSON lines; goes with --json",
      apply: (draft) => {
        draft.stdin = true;
      },
    },
    json: jsonFlag("the answer as one JSON object"),
    ...RULE_FLAGS,
  },
  examples: [
    ["cordon policy check 'git push origin main'", "with the rules in force here"],
    ["cordon policy check --allow 'Bash(make *)' 'make test'", "with one rule more"],
    [`echo '{"command":"ls","rules":{}}' | cordon policy check --stdin --json`, "a stream of questions"],
  ],
  run: check,
};

async function check(args: readonly string[], cli: Cli): Promise<number> {
  const draft: CheckDraft = { ...emptyRulesDraft(), json: false, stdin: false };
  const words = readFlags(args, draft, { table: command.flags, words: "mixed", folders: foldersOf(cli) });
  if (draft.help) return printHelp(command);
  const [text, ...more] = words;
  if (more.length > 0)
    throw usageFault(
      `${words.length} words were given, one command is wanted`,
      "put the whole command in single quotes",
    );
  if (draft.stdin && text !== undefined) throw usageFault("--stdin takes no command", "send it as a line");
  if (draft.stdin && !draft.json) throw usageFault("--stdin goes with --json", "write --stdin --json");
  if (!draft.stdin && text === undefined)
    throw usageFault("No command was given", "write cordon policy check 'COMMAND'");
  const { basis, settings } = await openCheckBasis(cli.world, draft);
  await tellNotices(cli, settings, ["rules", "mode", "hooks"]);
  const sets = createRuleSets();
  if (text === undefined) return stream(basis, sets);
  const subject = { kind: "command", command: text } as const;
  const { verdict, reason, trace } = await decideLine({ subject }, basis, sets);
  const answer = { decision: verdict, reason, trace };
  writeAnswer(`${draft.json ? JSON.stringify(answer) : `${verdict}: ${visibleLines(reason)}`}\n`);
  return EXIT_OF[verdict];
}

async function stream(basis: CheckBasis, sets: RuleSets): Promise<number> {
  const writer = createLineWriter();
  const lines = await openCheckStream(basis, sets, { bytes: writer.sendBytes, answer: writer.send });
  for await (const chunk of Bun.stdin.stream()) {
    await lines.push(chunk);
    if (writer.unreadBytes() > MOST_UNREAD_BYTES) await writer.flush();
    // Nobody reads the answers any more.
    if (writer.lost() !== null) break;
  }
  await lines.end();
  await writer.flush();
  refuseLoss(writer.lost());
  return EXIT.ok;
}
