import type { FileNames } from "@cordon/core/contract";
import type { Cli, Command } from "../command.ts";
import { emptyRulesDraft, foldersOf, readFlags, RULE_FLAGS, type RulesDraft, usageFault } from "../flags.ts";
import { spellOut } from "../short_flags.ts";
import { printHelp } from "../ui/help.ts";
import { usesColour } from "../ui/messages.ts";
import { renderNames } from "../ui/render_matches.ts";
import { writeAnswer } from "../ui/write_fully.ts";
import { SEARCH_EXIT, searchCalls, toggle } from "./search_call.ts";

type GlobDraft = RulesDraft & { input: Record<string, unknown>; nullAfterName: boolean };

/** `cordon glob`: glob_search for people. */
export const command: Command<GlobDraft> = {
  name: "glob",
  summary: "Find files whose path matches a glob",
  usage: "cordon glob [flags] GLOB [FOLDER]",
  details: `Files that ignore files name and hidden files are left out, as in ripgrep. It is a call of glob_search, on the path that all
tool calls take. The order is that of the paths; --newest puts what changed last in front.
Exit codes: ${SEARCH_EXIT.found} something was found, ${SEARCH_EXIT.nothing} nothing was, ${SEARCH_EXIT.failed} something went wrong, 3 the call was denied, 121 bad usage.`,
  flags: {
    "ignore-case": toggle("ignore_case", "i", "upper and lower case are the same"),
    hidden: toggle("hidden", ".", "find hidden files too"),
    "no-ignore": toggle("no_ignore", undefined, "find files too that ignore files name"),
    null: {
      takes: "nothing",
      short: "0",
      help: "a NUL byte after each path, and no line end",
      apply: (draft) => {
        draft.nullAfterName = true;
      },
    },
    newest: {
      takes: "nothing",
      help: "the last changed first",
      apply: (draft) => {
        draft.input["order"] = "newest";
      },
    },
    ...RULE_FLAGS,
  },
  examples: [
    ["cordon glob '**/*.ts' src", "in a folder"],
    ["cordon glob --newest '*.{md,txt}'", "what changed last first"],
  ],
  run: glob,
};

async function glob(args: readonly string[], cli: Cli): Promise<number> {
  const draft: GlobDraft = { ...emptyRulesDraft(), input: { order: "path", limit: 0 }, nullAfterName: false };
  const words = readFlags(spellOut(args, command.flags), draft, {
    table: command.flags,
    words: "mixed",
    folders: foldersOf(cli),
  });
  if (draft.help) return printHelp(command);
  const [pattern, path = ".", ...more] = words;
  if (!pattern) throw usageFault("No glob was given", "write cordon glob GLOB [FOLDER], with quotes around the glob");
  if (more.length > 0)
    throw usageFault(`${more.length} words follow the folder`, "put the glob in quotes, or the shell expands it");
  const view = {
    nameOf: (name: string) => belowFolder(name, cli.world.cwd),
    // Of what is above the working folder some is below it.
    folderOf: (folder: string) => (cli.world.cwd.startsWith(folder) ? undefined : belowFolder(folder, cli.world.cwd)),
    coloured: usesColour(cli, 1),
    grouped: false,
    named: true,
    lineNumbers: false,
    columns: false,
    perMatch: false,
    nullAfterName: draft.nullAfterName,
    terminal: cli.isTty(1),
  };
  const inputs = [{ ...draft.input, pattern, path }];
  return searchCalls({ door: "glob", tool: "glob_search", inputs }, { cli, draft }, (output) => {
    // The answer of the call to glob_search above, in the tool's own shape.
    const { filenames } = output as { filenames: FileNames };
    if (filenames.length > 0) writeAnswer(renderNames(filenames, view));
    return { code: filenames.length > 0 ? SEARCH_EXIT.found : SEARCH_EXIT.nothing };
  });
}

function belowFolder(path: string, folder: string): string {
  const base = folder === "/" ? "/" : `${folder}/`;
  return path.startsWith(base) ? path.slice(base.length) : path;
}
