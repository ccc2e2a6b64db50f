/**
 * The same searches by us and by ripgrep over one tree with all that is odd in it. ripgrep is told to sort by path, to
 * print names always, and to be as we are where we differ on purpose: `.` matches line ends in a multi-line search, `$`
 * stands before `\r\n`, and there are no global ignore files. Not in the lists because ripgrep 13 panics on it: a
 * multi-line `$` whose files are only named.
 */
import { expect, test } from "bun:test";
import type { GrepQuery } from "../../contract/search.ts";
import { createSearch } from "./mod.ts";
import { EVERYTHING, makeTree, NEVER, NO_GIT_SETTINGS, queryOf, type Tree } from "./tree_fixture.ts";

const ripgrep = Bun.which("rg");
if (ripgrep === null) console.info("Skipped: the comparison with ripgrep, because there is no rg on PATH");

/** What ripgrep is told for the same query. */
function argumentsFor(query: GrepQuery): string[] {
  return [
    "--no-config",
    "--no-ignore-global",
    "--sort=path",
    "--color=never",
    "--with-filename",
    "--no-heading",
    "--crlf",
    query.lineNumbers ? "--line-number" : "--no-line-number",
    ...(query.before > 0 ? [`--before-context=${query.before}`] : []),
    ...(query.after > 0 ? [`--after-context=${query.after}`] : []),
    ...(query.letterCase === "ignore" ? ["--ignore-case"] : []),
    ...(query.multiline ? ["--multiline", "--multiline-dotall"] : []),
    ...(query.fixed === true ? ["--fixed-strings"] : []),
    ...(query.globs ?? []).map((glob) => `--glob=${glob}`),
    ...(query.types ?? []).map((type) => `--type=${type}`),
    ...(query.includeHidden === true ? ["--hidden", "--glob=!.git"] : []),
    ...(query.mode === "content" ? [] : [`--${query.mode.replaceAll("_", "-")}`]),
    "-e",
    query.pattern,
  ];
}

function askRipgrep(tree: Tree, query: GrepQuery): string {
  const { stdout, exitCode } = Bun.spawnSync([ripgrep ?? "rg", ...argumentsFor(query)], {
    cwd: tree.root,
    stdin: "ignore",
  });
  expect([0, 1]).toContain(exitCode);
  return stdout.toString().replaceAll("\r\n", "\n").replace(/\n$/, "");
}

async function askUs(query: GrepQuery): Promise<string> {
  const answer = await createSearch(EVERYTHING, NO_GIT_SETTINGS).grep(query, NEVER);
  return query.mode === "files_with_matches" ? answer.filenames.list().join("\n") : answer.content;
}

function oddTree(): Tree {
  const code = Array.from({ length: 60 }, (_, n) =>
    n % 9 === 0 ? `fn item_${n}(x: &str) {` : `  let v${n} = "é${n}";`,
  );
  return makeTree({
    ".git/info/exclude": "excluded.txt\n",
    ".gitignore": "*.log\n/build/\n!important.log\nnode_modules\n# comment\n\\#odd\n",
    ".ignore": "ignored_by_ignore\n",
    "excluded.txt": "let x",
    "important.log": "let important = 1;\n",
    "other.log": "let other = 1;\n",
    "build/out.rs": "let built",
    "sub/build/out.rs": "let sub built\n",
    "sub/.gitignore": "*.tmp\n!*.log\n/only_here/**\n",
    "sub/a.tmp": "let tmp",
    "sub/back.log": "let back again\n",
    "sub/only_here/x": "let hidden from us",
    "sub/deeper/only_here/x": "let seen\n",
    "inner/.git/HEAD": "ref",
    "inner/other.log": "let inner repository\n",
    "node_modules/m/index.js": "let module",
    ignored_by_ignore: "let no",
    "src/main.rs": `${code.join("\n")}\n`,
    "src/lib.ts": `${code.join("\r\n")}\r\n`,
    "src/no_end.md": "# let\nlet last line has no end",
    "src/blank": "\n\n\nlet\n\n",
    "src/empty": "",
    "src/binary.bin": "let\0let",
    "with space/f g.txt": "let space\n",
    ".hidden/f": "let hidden\n",
    "bom.txt": "\uFEFFlet after a mark\n",
    "utf16.txt": new Uint8Array(Buffer.from("\uFEFFlet utf16\nno\n", "utf16le")),
    "latin1.txt": new Uint8Array([0x6c, 0x65, 0x74, 0x20, 0xe9, 0x0a]),
  });
}

const PATTERNS = [
  "let",
  "^let",
  "let$",
  "item_\\d+",
  "\\blet\\b",
  "v1|v2",
  "é\\d",
  "[^a-z]let",
  "\\s+let",
  "^$",
  "^",
  "LET",
  "l.t",
  "(?i)LET\\w*",
  "x: &str",
  "\\Alet",
  "\\{$",
  "nothing at all",
  "(a|b)?",
  ".*",
];

const OPTIONS: Partial<GrepQuery>[] = [
  {},
  { mode: "count" },
  { mode: "content" },
  { mode: "content", before: 2, after: 1 },
  { mode: "content", after: 3, lineNumbers: false },
  { mode: "content", letterCase: "ignore" },
  { mode: "content", includeHidden: true, before: 1 },
  { mode: "content", globs: ["*.{rs,ts}"] },
  { globs: ["*.log"] },
  { globs: ["!src/**"] },
  { types: ["rust"] },
  { types: ["ts"], includeHidden: true },
];

const MULTILINE = [
  "\\{\\s+let",
  "let.*?let",
  "(?s)fn.{10,200}?;",
  "\\n\\n",
  "^let",
  "[a-z]$",
  "last line has no end\\z",
  "a\\n",
];

test.skipIf(ripgrep === null)(
  "D7 each pattern with each option gives what ripgrep gives",
  async () => {
    using tree = oddTree();
    for (const pattern of PATTERNS) {
      for (const options of OPTIONS) {
        const query = queryOf(tree, pattern, options);
        const name = JSON.stringify({ pattern, ...options });
        expect({ name, output: await askUs(query) }).toEqual({ name, output: askRipgrep(tree, query) });
      }
    }
  },
  120_000,
);

test.skipIf(ripgrep === null)(
  "D7 multi-line and fixed patterns give what ripgrep gives",
  async () => {
    using tree = oddTree();
    for (const pattern of MULTILINE) {
      for (const options of [{ mode: "content" }, { mode: "content", before: 1, after: 1 }, {}] as const) {
        const query = queryOf(tree, pattern, { multiline: true, ...options });
        const name = JSON.stringify({ pattern, ...options });
        expect({ name, output: await askUs(query) }).toEqual({ name, output: askRipgrep(tree, query) });
      }
    }
    for (const pattern of ["x: &str) {", "\\d", "let"]) {
      const query = queryOf(tree, pattern, { fixed: true, mode: "content" });
      expect(await askUs(query)).toBe(askRipgrep(tree, query));
    }
  },
  60_000,
);

test.skipIf(ripgrep === null)("D6 the files of a whole tree are those of rg --files", async () => {
  using tree = oddTree();
  const { stdout } = Bun.spawnSync([ripgrep ?? "rg", "--no-config", "--no-ignore-global", "--files"], {
    cwd: tree.root,
  });
  const theirs = stdout.toString().trimEnd().split("\n").sort();
  const ours = await createSearch(EVERYTHING, NO_GIT_SETTINGS).glob(
    { pattern: "**", path: tree.root, limit: 1000 },
    NEVER,
  );
  expect(
    ours.filenames
      .list()
      .map((name) => name.slice(tree.root.length + 1))
      .sort(),
  ).toEqual(theirs);
});
