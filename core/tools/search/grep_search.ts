import { Type } from "@sinclair/typebox";
import type { GrepAnswer } from "../../contract/search.ts";
import { defineTool } from "../define_tool.ts";
import { fileScope, ignoreScope, noIgnore, oneOrMore } from "./scope_fields.ts";

/** Lines or files in one answer when the caller names no limit. */
const DEFAULT_HEAD_LIMIT = 250;

const count = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }));
const choice = (otherwise: boolean, description: string) =>
  Type.Optional(Type.Boolean({ default: otherwise, description }));

/** Searches file contents with ripgrep's behaviour (A5, A12, D7). Errors: search.*, fs.not_found, sandbox.hidden. */
export const grepSearch = defineTool({
  name: "grep_search",
  aliases: ["Grep"],
  description:
    "Searches file contents with a regular expression (ripgrep's syntax). output_mode files_with_matches gives paths, " +
    "content gives matching lines, count gives matches a file. Binary files, hidden files and those .gitignore names are " +
    "left out. At most 250 lines (content) or files (other modes) unless head_limit says otherwise; appliedLimit in the " +
    "result says that there are more, and offset gets the next ones. Lines of more than 8 MB end an answer too: its next " +
    "says what from and offset get those that follow.",
  requires: "read-only",
  params: () =>
    Type.Object(
      {
        pattern: Type.String({ minLength: 1, description: "The regular expression" }),
        path: Type.Optional(
          Type.String({ minLength: 1, description: "The file or folder to search; default the working folder" }),
        ),
        glob: Type.Optional(
          oneOrMore(
            "Only files matching this glob, like *.ts; ! in front turns it round; of several the last that fits decides",
          ),
        ),
        iglob: Type.Optional(oneOrMore("The same, whatever the case of letters; comes after glob")),
        type: Type.Optional(oneOrMore("Only files of this type of ripgrep's list, like ts, py, rust")),
        type_not: Type.Optional(oneOrMore("No files of this type")),
        output_mode: Type.Optional(
          Type.Union(
            [
              Type.Literal("files_with_matches"),
              Type.Literal("content"),
              Type.Literal("count"),
              Type.Literal("files_without_match"),
              Type.Literal("count_matches"),
            ],
            { default: "files_with_matches", description: "What to return; count is lines, count_matches matches" },
          ),
        ),
        "-A": count("Lines to show after each match; mode content only"),
        "-B": count("Lines to show before each match; mode content only"),
        "-C": count("Lines to show before and after each match; -A and -B are stronger; mode content only"),
        "-n": choice(true, "Line numbers; mode content only"),
        "-i": choice(false, "Ignore case"),
        smart_case: choice(false, "Ignore case if the pattern has no upper-case letter"),
        word: choice(false, "Match whole words only"),
        fixed_strings: choice(false, "The pattern is plain text"),
        hidden: choice(false, "Search hidden files too"),
        no_ignore: noIgnore("Search files too that ignore files name"),
        invert: choice(false, "The lines that do not match"),
        only_matching: choice(false, "Each match on a line of its own, without what is around it; mode content only"),
        max_count: Type.Optional(Type.Integer({ minimum: 1, description: "Lines of each file at most" })),
        line_limit_bytes: count("Longer lines are cut around the match; 0 is never; default 2000"),
        content_lines: choice(false, "Give content as an array of lines; mode content only"),
        spans: choice(false, "Say where in each line the matches are: line, column, bytes; mode content only"),
        time_budget_ms: Type.Optional(
          Type.Integer({ minimum: 1, description: "Answer with what was found so far after this time" }),
        ),
        multiline: choice(false, "Matches may span lines, and . matches a line end"),
        head_limit: count("Lines (mode content) or files to return at most; 0 is no limit; default 250"),
        offset: count("Lines or files to skip first; default 0"),
        from: Type.Optional(
          Type.String({
            minLength: 1,
            description:
              "The file to go on at, as next of an answer names it; offset counts from there; mode content only",
          }),
        ),
      },
      { additionalProperties: false },
    ),
  paramAliases: { context: "-C" },
  readOnly: () => true,
  concurrencySafe: () => true,
  title: (args) => `Search for ${args.pattern ?? "a pattern"}`,
  needs: (args) => [{ kind: "fs.search", path: args.path ?? "." }],
  run: async (args, { search, signal }) => {
    const query = {
      pattern: args.pattern,
      path: args.path ?? ".",
      ...fileScope(args),
      includeHidden: args.hidden ?? false,
      ...ignoreScope(args.no_ignore),
      ...(args.invert ? { invert: true } : {}),
      ...(args.only_matching ? { onlyMatching: true } : {}),
      ...(args.max_count === undefined ? {} : { maxCount: args.max_count }),
      ...(args.line_limit_bytes === undefined ? {} : { maxLineBytes: args.line_limit_bytes }),
      before: args["-B"] ?? args["-C"] ?? 0,
      after: args["-A"] ?? args["-C"] ?? 0,
      lineNumbers: args["-n"] ?? true,
      letterCase: args["-i"] ? "ignore" : args.smart_case ? "smart" : "sensitive",
      word: args.word ?? false,
      fixed: args.fixed_strings ?? false,
      multiline: args.multiline ?? false,
      mode: args.output_mode ?? "files_with_matches",
      headLimit: args.head_limit ?? DEFAULT_HEAD_LIMIT,
      offset: args.offset ?? 0,
      ...(args.from === undefined ? {} : { from: args.from }),
      spans: args.spans ?? false,
      ...(args.content_lines ? { contentLines: true } : {}),
      ...(args.time_budget_ms === undefined ? {} : { timeBudgetMs: args.time_budget_ms }),
    } as const;
    const { content, contentLines, ...result } = toResult(await search.grep(query, signal));
    return { ...result, content: contentLines ?? content };
  },
});

/** Leaves `skipped` out where nothing was, and names where there are none: they are news only then. */
function toResult({ skipped, ...found }: GrepAnswer) {
  const { unreadableNames, ...counts } = skipped;
  const anySkipped = skipped.binary + skipped.unreadable + skipped.tooLarge > 0;
  return {
    ...found,
    ...(anySkipped ? { skipped: { ...counts, ...(unreadableNames.length > 0 ? { unreadableNames } : {}) } } : {}),
  };
}
