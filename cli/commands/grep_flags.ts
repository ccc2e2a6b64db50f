import { type FlagSpec, type FlagTable, RULE_FLAGS, type RulesDraft, usageFault } from "../flags.ts";
import { parseChoice } from "../flag_values.ts";
import { patternsIn } from "./grep_files.ts";
import { toggle } from "./search_call.ts";

/** What the flags of `cordon grep` say. What is undefined is as ripgrep has it where no flag says otherwise. */
export type GrepDraft = RulesDraft & {
  /** What goes to the search tool as it is. */
  input: { glob: string[]; iglob: string[]; type: string[]; type_not: string[]; [name: string]: unknown };
  /** What -e and -f gave; undefined if neither was there. */
  patterns: string[] | undefined;
  boundary: "word" | "line" | undefined;
  dotMatchesLineEnd: boolean;
  anyCaseGlobs: boolean;
  unrestricted: number;
  lineNumbers: boolean | undefined;
  names: boolean | undefined;
  heading: boolean | undefined;
  columns: boolean;
  perMatch: boolean;
  nullAfterName: boolean;
  quiet: boolean;
  silent: boolean;
  listFiles: boolean;
  noneWanted: boolean;
  colour: "auto" | "always" | "never";
};

/** The flags of `cordon grep`: ripgrep's, as far as they mean something here. */
export const GREP_FLAGS: FlagTable<GrepDraft> = {
  ...patternFlags(),
  ...fileFlags(),
  ...outputFlags(),
  ...refusedFlags(),
  ...RULE_FLAGS,
};

function patternFlags(): FlagTable<GrepDraft> {
  return {
    regexp: value("e", "PATTERN", "a pattern; of several, any may match (repeatable)", (draft, text) => {
      draft.patterns = [...(draft.patterns ?? []), text];
    }),
    file: value("f", "FILE", "patterns from a file, one on each line (repeatable)", (draft, path) => {
      draft.patterns = [...(draft.patterns ?? []), ...patternsIn(path)];
    }),
    "ignore-case": set("i", "upper and lower case are the same", letterCase("-i")),
    "smart-case": set("S", "the same, if the pattern has no upper-case letter", letterCase("smart_case")),
    "case-sensitive": set("s", "upper and lower case differ (the default)", letterCase(undefined)),
    "word-regexp": set("w", "match whole words only", (draft) => (draft.boundary = "word")),
    "line-regexp": set("x", "match whole lines only", (draft) => (draft.boundary = "line")),
    "fixed-strings": toggle("fixed_strings", "F", "the pattern is plain text"),
    multiline: toggle("multiline", "U", "matches may span lines"),
    "multiline-dotall": set(undefined, "with -U, . matches a line end", (draft) => (draft.dotMatchesLineEnd = true)),
    "invert-match": toggle("invert", "v", "the lines that do not match"),
    "max-count": value("m", "NUM", "at most so many lines of each file", (draft, text) => {
      const limit = wholeNumber("max-count", text);
      draft.noneWanted = limit === 0;
      if (limit > 0) draft.input["max_count"] = limit;
    }),
  };
}

function fileFlags(): FlagTable<GrepDraft> {
  return {
    hidden: toggle("hidden", ".", "search hidden files too"),
    "no-ignore": toggle("no_ignore", undefined, "search files too that ignore files name"),
    "no-ignore-vcs": ignoring("vcs", "leave aside what git has to say"),
    "no-ignore-dot": ignoring("dot", "leave aside .ignore and .rgignore"),
    "no-ignore-parent": ignoring("parent", "leave aside ignore files of the folders above"),
    "no-ignore-exclude": ignoring("exclude", "leave aside .git/info/exclude"),
    "no-ignore-global": ignoring("global", "leave aside git's global excludes"),
    unrestricted: set("u", "--no-ignore; twice, --hidden too", (draft) => (draft.unrestricted += 1)),
    glob: list("glob", "g", "only files that match this glob; ! in front turns it round (repeatable)"),
    iglob: list("iglob", undefined, "the same, whatever the case of letters (repeatable)"),
    "glob-case-insensitive": set(undefined, "-g is --iglob", (draft) => (draft.anyCaseGlobs = true)),
    type: list("type", "t", "only files of this type, such as ts, py, rust (repeatable)"),
    "type-not": list("type_not", "T", "no files of this type (repeatable)"),
    files: set(undefined, "print the files that would be searched", (draft) => (draft.listFiles = true)),
    sort: value(undefined, "BY", "path, which is what it always is, or none", (_, text) => {
      parseChoice("sort", text, ["path", "none"]);
    }),
  };
}

function outputFlags(): FlagTable<GrepDraft> {
  return {
    "files-with-matches": mode("files_with_matches", "l", "print the names of files that match"),
    "files-without-match": mode("files_without_match", undefined, "print the names of files that do not"),
    count: mode("count", "c", "print the number of matching lines of each file"),
    "count-matches": mode("count_matches", undefined, "print the number of matches in each file"),
    "only-matching": toggle("only_matching", "o", "print the matches alone"),
    "after-context": number("-A", "A", "lines to show after each match"),
    "before-context": number("-B", "B", "lines to show before each match"),
    context: number("-C", "C", "lines to show before and after each match"),
    "max-lines": number("head_limit", undefined, "stop after so many lines, or files with -l and -c"),
    "max-columns": number(
      "line_limit_bytes",
      "M",
      "cut lines of more bytes around the match; 0, the default, is never",
    ),
    "line-number": set(
      "n",
      "line numbers, also where the output is no terminal",
      (draft) => (draft.lineNumbers = true),
    ),
    "no-line-number": set("N", "no line numbers", (draft) => (draft.lineNumbers = false)),
    column: set(undefined, "the column of the first match of each line, in bytes", (draft) => (draft.columns = true)),
    vimgrep: set(undefined, "each match on a line of its own, with its line and column", (draft) => {
      draft.perMatch = true;
      draft.columns = true;
    }),
    "with-filename": set("H", "names, also of a single file", (draft) => (draft.names = true)),
    "no-filename": set("I", "no names", (draft) => (draft.names = false)),
    heading: set(undefined, "a file's name above its lines", (draft) => (draft.heading = true)),
    "no-heading": set(undefined, "a file's name on each line", (draft) => (draft.heading = false)),
    null: set("0", "a NUL byte after each name", (draft) => (draft.nullAfterName = true)),
    quiet: set("q", "print nothing: the exit code tells", (draft) => (draft.quiet = true)),
    "no-messages": set(undefined, "say nothing of files that can't be read", (draft) => (draft.silent = true)),
    pretty: set("p", "--color=always --heading -n", (draft) => {
      Object.assign(draft, { colour: "always", heading: true, lineNumbers: true } satisfies Partial<GrepDraft>);
    }),
    color: value(undefined, "WHEN", "auto (the default), always or never", (draft, text) => {
      draft.colour = parseChoice("color", text, ["auto", "always", "never"]);
    }),
  };
}

/** Flags of ripgrep that mean nothing here, each with what to do instead. */
function refusedFlags(): FlagTable<GrepDraft> {
  const noOther = "patterns have one syntax here: that of Rust's regex crate";
  return {
    follow: refused("L", "links are never followed", "name the folder that the link leads to as PATH"),
    text: refused("a", "binary files are never searched", "read the file with a command of your own"),
    pcre2: refused("P", noOther, "match more without look-around, and narrow the result down"),
    replace: refused("r", "it does not rewrite what it prints", "send the lines to sed"),
    "search-zip": refused("z", "compressed files are not searched", "decompress them first"),
    json: refused(undefined, "it prints for people", 'ask the tool: cordon call grep_search \'{"pattern":"…"}\''),
    pre: refused(undefined, "it runs no other program", "run the program yourself, with cordon run"),
    "max-depth": refused("d", "folders are searched whatever their depth", "leave folders out with -g '!/*/*/'"),
  };
}

type Apply = (draft: GrepDraft) => unknown;

function set(short: string | undefined, help: string, apply: Apply): FlagSpec<GrepDraft> {
  return {
    takes: "nothing",
    ...(short === undefined ? {} : { short }),
    help,
    apply: (draft) => void apply(draft),
  };
}

function value(
  short: string | undefined,
  hint: string,
  help: string,
  apply: (draft: GrepDraft, text: string) => void,
): FlagSpec<GrepDraft> {
  const spec = {
    takes: "value",
    hint,
    help,
    apply: (draft: GrepDraft, text: string | null) => apply(draft, text ?? ""),
  };
  return { ...spec, takes: "value", ...(short === undefined ? {} : { short }) };
}

function refused(short: string | undefined, why: string, instead: string): FlagSpec<GrepDraft> {
  const apply = () => {
    throw usageFault(`cordon grep does not have this flag of ripgrep: ${why}`, instead);
  };
  // As an optional value it is refused with one and without.
  return { takes: "optional", help: "", hidden: true, ...(short === undefined ? {} : { short }), apply };
}

function letterCase(name: "-i" | "smart_case" | undefined): Apply {
  return ({ input }) => {
    input["-i"] = name === "-i";
    input["smart_case"] = name === "smart_case";
  };
}

function mode(name: string, short: string | undefined, help: string): FlagSpec<GrepDraft> {
  return set(short, help, ({ input }) => {
    input["output_mode"] = name;
  });
}

function number(name: string, short: string | undefined, help: string): FlagSpec<GrepDraft> {
  return value(short, "NUM", help, ({ input }, text) => {
    input[name] = wholeNumber(short ?? name, text);
  });
}

function wholeNumber(flag: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) {
    const dashes = flag.length === 1 ? "-" : "--";
    throw usageFault(`${dashes}${flag} takes a number, found ${JSON.stringify(text)}`);
  }
  return Number(text);
}

function list(
  name: "glob" | "iglob" | "type" | "type_not",
  short: string | undefined,
  help: string,
): FlagSpec<GrepDraft> {
  return value(short, name.replace("_not", "").toUpperCase(), help, ({ input }, text) => {
    if (text === "") throw usageFault(`--${name.replace("_", "-")} needs a value`);
    input[name].push(text);
  });
}

function ignoring(kind: string, help: string): FlagSpec<GrepDraft> {
  return set(undefined, help, ({ input }) => {
    const kinds = input["no_ignore"];
    if (kinds !== true) input["no_ignore"] = [...(Array.isArray(kinds) ? kinds : []), kind];
  });
}
