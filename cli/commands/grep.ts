import type { Cli, Command } from "../command.ts";
import {
  emptyRulesDraft,
  type FlagSpec,
  foldersOf,
  readFlags,
  RULE_FLAGS,
  type RulesDraft,
  usageFault,
} from "../flags.ts";
import { printHelp } from "../ui/help.ts";
import { usesColour } from "../ui/messages.ts";
import { type GrepOutput, renderMatches, type SearchView } from "../ui/render_matches.ts";
import { writeAnswer, writeFully } from "../ui/write_fully.ts";
import { SEARCH_EXIT, searchCalls, toggle } from "./search_call.ts";

type GrepDraft = RulesDraft & {
  /** What goes to grep_search as it is. */
  input: { glob: string[]; type: string[]; [name: string]: unknown };
  pattern: string | undefined;
  lineNumbers: boolean | undefined;
  colour: string;
};

/** `cordon grep`: grep_search for people. */
export const command: Command<GrepDraft> = {
  name: "grep",
  summary: "Search file contents with a regular expression",
  usage: "cordon grep [flags] PATTERN [PATH …]",
  details: `Patterns, ignore files, globs and types are ripgrep's. It is one call of grep_search for each PATH, on the path that all
tool calls take: rules decide, secrets are left out, the log has a row. Lines over 2,000 bytes are cut around the match.
Exit codes: ${SEARCH_EXIT.found} something matched, ${SEARCH_EXIT.nothing} nothing did, ${SEARCH_EXIT.failed} something went wrong, 3 the call was denied, 121 bad usage.`,
  flags: {
    regexp: {
      takes: "value",
      short: "e",
      hint: "PATTERN",
      help: "the pattern, where it starts with a dash: --regexp=-x",
      apply: (draft, value) => {
        draft.pattern = value ?? "";
      },
    },
    "ignore-case": toggle("-i", "i", "upper and lower case are the same"),
    "smart-case": toggle("smart_case", "S", "the same, if the pattern has no upper-case letter"),
    "word-regexp": toggle("word", "w", "match whole words only"),
    "fixed-strings": toggle("fixed_strings", "F", "the pattern is plain text"),
    multiline: toggle("multiline", "U", "matches may span lines, and . matches a line end"),
    hidden: toggle("hidden", ".", "search hidden files too"),
    "no-ignore": toggle("no_ignore", undefined, "search files too that ignore files name"),
    "files-with-matches": mode("files_with_matches", "l", "print the names of files that match"),
    count: mode("count", "c", "print the number of matching lines of each file"),
    "after-context": lines("-A", "A", "lines to show after each match"),
    "before-context": lines("-B", "B", "lines to show before each match"),
    context: lines("-C", "C", "lines to show before and after each match"),
    "max-lines": lines("head_limit", "m", "stop after so many lines, or files with -l and -c"),
    glob: list("glob", "g", "only files that match this glob; ! in front turns it round (repeatable)"),
    type: list("type", "t", "only files of this type, such as ts, py, rust (repeatable)"),
    "line-number": {
      takes: "nothing",
      short: "n",
      help: "line numbers, also where the output is no terminal",
      apply: (draft) => {
        draft.lineNumbers = true;
      },
    },
    "no-line-number": {
      takes: "nothing",
      short: "N",
      help: "no line numbers",
      apply: (draft) => {
        draft.lineNumbers = false;
      },
    },
    color: {
      takes: "value",
      hint: "WHEN",
      help: "auto (the default), always or never",
      apply: (draft, value) => {
        if (!["auto", "always", "never"].includes(value ?? ""))
          throw usageFault(`--color takes auto, always or never, found ${JSON.stringify(value)}`);
        draft.colour = value ?? "auto";
      },
    },
    ...RULE_FLAGS,
  },
  examples: [
    ["cordon grep -i 'todo|fixme' src", "in a folder"],
    ["cordon grep -t rust -C 2 'fn main'", "Rust files, with context"],
    ["cordon grep -l -g '!*.test.ts' createCore", "names only, without tests"],
  ],
  run: grep,
};

async function grep(args: readonly string[], cli: Cli): Promise<number> {
  const draft: GrepDraft = {
    ...emptyRulesDraft(),
    input: { glob: [], type: [], output_mode: "content", head_limit: 0 },
    pattern: undefined,
    lineNumbers: undefined,
    colour: "auto",
  };
  const words = readFlags(args, draft, { table: command.flags, words: "mixed", folders: foldersOf(cli) });
  if (draft.help) return printHelp(command);
  const pattern = draft.pattern ?? words.shift();
  if (!pattern) throw usageFault("No pattern was given", "write cordon grep PATTERN [PATH …]");
  const terminal = cli.isTty(1);
  const view: SearchView = {
    cwd: cli.world.cwd,
    coloured: draft.colour === "always" || (draft.colour === "auto" && usesColour(cli, 1)),
    grouped: terminal,
    lineNumbers: draft.lineNumbers ?? terminal,
    terminal,
  };
  const shared = { ...draft.input, pattern, content_lines: true, spans: view.coloured };
  const inputs = (words.length === 0 ? ["."] : words).map((path) => ({ ...withoutEmpty(shared), path }));
  return searchCalls({ door: "grep", tool: "grep_search", inputs }, { cli, draft }, (output) => {
    // The answer of the call to grep_search above, in the tool's own shape.
    const found = output as GrepOutput;
    const text = renderMatches(found, view);
    if (text !== "") writeAnswer(`${text}\n`);
    tellSkipped(found);
    return found.numFiles > 0;
  });
}

/** A list that is empty would mean that no file fits. */
function withoutEmpty(input: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => !(Array.isArray(value) && value.length === 0)));
}

function tellSkipped({ skipped, partial }: GrepOutput): void {
  for (const name of skipped?.unreadableNames ?? []) writeFully(2, `cordon: ${name}: can't be read\n`);
  if ((skipped?.tooLarge ?? 0) > 0)
    writeFully(2, `cordon: ${skipped?.tooLarge} files over 256 MiB were not searched\n`);
  if (partial !== undefined) writeFully(2, "cordon: the time was up; there may be more\n");
}

function mode(name: string, short: string, help: string): FlagSpec<GrepDraft> {
  return {
    takes: "nothing",
    short,
    help,
    apply: (draft) => {
      draft.input["output_mode"] = name;
    },
  };
}

function lines(name: string, short: string, help: string): FlagSpec<GrepDraft> {
  return {
    takes: "value",
    hint: "NUM",
    short,
    help,
    apply: (draft, value) => {
      if (!/^\d{1,9}$/.test(value ?? "")) throw usageFault(`-${short} takes a number, found ${JSON.stringify(value)}`);
      draft.input[name] = Number(value);
    },
  };
}

function list(name: "glob" | "type", short: string, help: string): FlagSpec<GrepDraft> {
  return {
    takes: "value",
    hint: name.toUpperCase(),
    short,
    help,
    apply: (draft, value) => {
      if (!value) throw usageFault(`--${name} needs a value`);
      draft.input[name].push(value);
    },
  };
}
