/**
 * Searches made up from a seed, by us and by ripgrep 15, to the byte. CORDON_SEARCH_CASES says how many (default 300),
 * CORDON_SEARCH_SEED which. Where the two are known to differ stands in DIFFERENCES, with the reason.
 */
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { GrepQuery, IgnoreKind } from "../../core/contract/search.ts";
import { createSearch } from "../../core/exec/search/mod.ts";
import { EVERYTHING } from "../../core/exec/search/tree_fixture.ts";
import { makeOddTree, oddTree, type OddTree } from "./odd_tree.ts";
import { argumentsFor, ripgrep } from "./ripgrep.ts";
import { firstDifference } from "./first_difference.ts";

const CASES = Number(process.env.CORDON_SEARCH_CASES ?? 300);
const SEED = Number(process.env.CORDON_SEARCH_SEED ?? 20_261_122);
const QUERIES_A_TREE = 12;
const SHOWN_FAULTS = 8;
if ("missing" in ripgrep) console.info(`Skipped: the comparison with ripgrep, because ${ripgrep.missing}`);

/** Queries for which the answer of ripgrep is not ours, on purpose. */
const DIFFERENCES: { why: string; concerns: (query: GrepQuery) => boolean }[] = [
  {
    why: "a pattern that names a return character is refused by rg --crlf, and finds it here",
    concerns: ({ pattern, fixed }) => pattern.includes("\r") || (!fixed && pattern.includes("\\r")),
  },
  {
    why: "rg -v -m counts the matches of a multi-line search that it does not show",
    concerns: ({ multiline, invert, maxCount }) => multiline && invert === true && (maxCount ?? 0) > 0,
  },
  {
    why: "rg -m in a multi-line search counts matches too that it finds only because it does not see what stands before",
    concerns: ({ pattern, fixed, word, multiline, maxCount }) =>
      multiline && (maxCount ?? 0) > 0 && (word === true || (!fixed && /[$^]|\\b|\\B/.test(pattern))),
  },
  {
    why: "rg -o -U with context separates lines of which it shows nothing, since their matches are empty",
    concerns: ({ onlyMatching, multiline, before, after }) => onlyMatching === true && multiline && before + after > 0,
  },
  {
    why: "a pattern may compile to 16 MiB here, to 100 in rg",
    concerns: ({ pattern, fixed }) => fixed !== true && pattern.includes("{1001}"),
  },
  {
    why: "rg -v -m goes on after the first piece of a file that it has read, with context or where lines are not shown",
    concerns: ({ invert, maxCount, before, after, mode }) =>
      invert === true && (maxCount ?? 0) > 0 && (before + after > 0 || mode !== "content"),
  },
  {
    why: "rg --crlf -m asks of a line of context with its \\n whether it matches, so that ^$ does behind any line; without --crlf it takes the \\n off, as we do",
    concerns: ({ pattern, fixed, word, maxCount, after }) =>
      (maxCount ?? 0) > 0 && after > 0 && (word === true || (!fixed && /\\n|\\s|\^|\$/.test(pattern))),
  },
  {
    why: "rg -U looks for the next match as if the text began behind the last one: there stand ^, \\b and the boundary of a word",
    concerns: ({ pattern, fixed, word, multiline }) =>
      multiline &&
      /\\n|\\s|\\D|\\W|\.|\[\^|\^|\$/.test(pattern) &&
      (word === true || (!fixed && /(^|[^[])\^|\\[bB]/.test(pattern))),
  },
  {
    why: "rg -o -U shows the whole line where an empty match at the end of the text is all that there is, as that of (?-m:$); here it is nothing",
    concerns: ({ pattern, fixed, onlyMatching, multiline }) =>
      onlyMatching === true && multiline && !fixed && /\\z|\(\?-m/.test(pattern),
  },
  {
    why: "rg -o -v shows the matches of the lines around what does not match",
    concerns: ({ onlyMatching, invert }) => onlyMatching === true && invert === true,
  },
  {
    why: "\\A and \\z in a line search stand at the ends of the line here; rg --crlf takes \\r\\n off a line before it looks, but not \\n",
    concerns: ({ pattern, fixed, multiline }) => !fixed && !multiline && /\\[Az]|\(\?-m/.test(pattern),
  },
];

const ATOMS = [
  "let",
  "fn",
  "foo",
  "bar",
  "x",
  "é",
  "ß",
  "k",
  "a",
  "\\d+",
  "\\w+",
  "\\s",
  "\\S+",
  ".",
  ".*",
  "[a-f]",
  "[^a-z]",
  "^",
  "$",
  "\\b",
  "\\B",
  "(?i)LET",
  "(foo|bar)",
  "a{2,3}",
  "o+?",
  "\\p{Lu}",
  "(?-u)\\w",
  "\\Alet",
  "k\\z",
  "",
  "日本",
  "\\(",
  "-2",
  "\\t",
  "(?s:.)",
  "[[:upper:]]",
  "(?:)",
  "\\n",
  "\\x61",
  "}",
  "\\p{Greek}|\\p{L}",
  "[\\w--[aeiou]]",
  "[[:^alpha:]]",
  "\\b{start}",
  "\\b{end-half}",
  "(?m:^)",
  "(?-m:$)",
  "(?U:o+)",
  "(?x: f o o )",
  "(?R:$)",
  "(?i:É|ß)",
  "(?P<n>fo+)",
  "\\u{1F600}?",
  "a*",
  "(a|b)*?",
  ".{0,3}",
  "\\n\\n",
  "x\\n",
  "[^\\n]*",
  "\\D",
  "\\W+$",
  "^\\s*",
  "(?s).",
  "(?i)straSSe|k",
];
const BROKEN = [
  "(",
  "[a",
  "a{",
  "*",
  "\\",
  "(?<x",
  "a{2,1}",
  "\\p{Nope}",
  "(?=a)",
  "\\1",
  "[z-a]",
  "a\\x00",
  "[\\x00-\\x01]",
  "(?z)",
  "\\b{nope}",
  "[[:nope:]]",
  "(?P<n>a)(?P<n>b)",
  "a**b{",
  "\\pX",
  "[a--]",
  "x{,3}",
  "x{1001}{1001}",
  "\\8",
  "(?<!a)b",
  "((((\\w{100}){100}){100}){100})",
];

const pattern = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.array(fc.constantFrom(...ATOMS), { minLength: 1, maxLength: 4 }).map((atoms) => atoms.join("")),
  },
  {
    weight: 5,
    arbitrary: fc.tuple(fc.constantFrom(...ATOMS), fc.constantFrom(...ATOMS)).map((atoms) => atoms.join("|")),
  },
  { weight: 1, arbitrary: fc.constantFrom(...BROKEN) },
);

const GLOBS = [
  "*.ts",
  "!*.ts",
  "*.{log,md}",
  "src/**",
  "!src/**",
  "**/a",
  "/a",
  "*",
  "B.ts",
  "[ab]*",
  "gen/",
  "!gen",
  ".*",
  "**/.hidden*",
  "é*",
  "a b.md",
  "*.T?",
];

const context = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(3) });

const KINDS: IgnoreKind[] = ["dot", "exclude", "global", "parent", "vcs"];

const query = fc.record({
  pattern,
  folder: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(5) }),
  mode: fc.constantFrom<GrepQuery["mode"]>(
    "content",
    "content",
    "content",
    "content",
    "content",
    "count",
    "count_matches",
    "files_with_matches",
    "files_without_match",
  ),
  invert: fc.constantFrom(false, false, false, false, true),
  onlyMatching: fc.constantFrom(false, false, false, false, true),
  maxCount: fc.constantFrom(0, 0, 0, 0, 1, 2, 3),
  before: context,
  after: context,
  lineNumbers: fc.boolean(),
  letterCase: fc.constantFrom<GrepQuery["letterCase"]>("sensitive", "sensitive", "ignore", "smart"),
  word: fc.constantFrom(false, false, false, true),
  multiline: fc.constantFrom(false, false, true),
  fixed: fc.constantFrom(false, false, false, true),
  globs: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fc.constantFrom(...GLOBS), { maxLength: 3 }) },
  ),
  iglobs: fc.oneof(
    { weight: 5, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fc.constantFrom(...GLOBS), { maxLength: 2 }) },
  ),
  globIgnoreCase: fc.constantFrom(false, false, true),
  types: fc.constantFrom<string[]>([], [], [], [], ["ts"], ["rust", "c"], ["md"]),
  typesNot: fc.constantFrom<string[]>([], [], [], ["ts"], ["c", "md"]),
  includeHidden: fc.boolean(),
  noIgnore: fc.constantFrom(false, false, false, true),
  noIgnoreKinds: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.uniqueArray(fc.constantFrom(...KINDS), { maxLength: 2 }) },
  ),
});

type Made = Omit<GrepQuery, "path" | "headLimit" | "offset"> & { folder: number };

function queryIn(tree: OddTree, { folder, ...rest }: Made): GrepQuery {
  const path = join(tree.root, tree.folders[folder % tree.folders.length] ?? "");
  const lines = rest.mode === "content" ? rest : { ...rest, before: 0, after: 0, onlyMatching: false };
  return { ...lines, path, relativeTo: path, headLimit: 0, offset: 0, maxLineBytes: 0 };
}

function run(args: string[], cwd: string, home: string): { text: string; exitCode: number } {
  const program = "path" in ripgrep ? ripgrep.path : "rg";
  const env = { HOME: home, PATH: "/usr/bin:/bin", GIT_CONFIG_SYSTEM: "/nonexistent" };
  const { stdout, exitCode } = Bun.spawnSync([program, ...args], { cwd, env, stdin: "ignore", stderr: "ignore" });
  return { text: stdout.toString(), exitCode };
}

/** Of ripgrep's output: without the return of `\r\n`, and without the remark where a NUL byte ended a search, in a name of two lines too. */
function plain(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(/^(?:.*two\n)?.*: WARNING: stopped searching binary file after match .*\n/gm, "")
    .replace(/\n$/, "");
}

const gitSettings = (home: string) => ({ home, systemFile: "/nonexistent" });
const { signal } = new AbortController();

async function ours(tree: OddTree, asked: GrepQuery): Promise<string> {
  try {
    const answer = await createSearch(EVERYTHING, gitSettings(tree.home)).grep(asked, signal);
    return asked.mode.startsWith("files_") ? answer.filenames.list().join("\n") : answer.content;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "search.bad_pattern") return "refused";
    throw error;
  }
}

function theirs(tree: OddTree, asked: GrepQuery): string {
  const { text, exitCode } = run(argumentsFor(asked), asked.path, tree.home);
  // ripgrep ends with 2 also where no file was left to search; the pattern alone, on an empty file, tells the two apart.
  const isRefused =
    exitCode === 2 && run([...argumentsFor(asked), "--", "/dev/null"], asked.path, tree.home).exitCode === 2;
  return isRefused ? "refused" : plain(text);
}

function whereOf(tree: OddTree, { path, relativeTo: _, ...asked }: GrepQuery, number: number): string {
  return `tree ${number} of seed ${SEED}, in "${path.slice(tree.root.length + 1)}": ${JSON.stringify(asked)}`;
}

test.skipIf("missing" in ripgrep)(
  "D7 A5 a generated search gives what ripgrep gives",
  async () => {
    const trees = fc.sample(oddTree, { numRuns: Math.ceil(CASES / QUERIES_A_TREE), seed: SEED });
    const faults: ({ where: string } & ReturnType<typeof firstDifference>)[] = [];
    const queries = fc.sample(query, { numRuns: CASES, seed: SEED });
    for (const [number, plan] of trees.entries()) {
      using tree = makeOddTree(plan);
      for (const made of queries.slice(number * QUERIES_A_TREE, (number + 1) * QUERIES_A_TREE)) {
        const asked = queryIn(tree, made);
        if (DIFFERENCES.some(({ concerns }) => concerns(asked))) continue;
        // What rg has shown of a file decides, with context, where its next piece begins, and so how far it looks before a NUL byte.
        if (asked.before + asked.after > 0) for (const path of tree.lateNuls) rmSync(path, { force: true });
        const output = await ours(tree, asked);
        const expected = theirs(tree, asked);
        if (output !== expected)
          faults.push({ where: whereOf(tree, asked, number), ...firstDifference(output, expected) });
      }
    }
    expect(faults.slice(0, SHOWN_FAULTS)).toEqual([]);
  },
  3_600_000,
);
