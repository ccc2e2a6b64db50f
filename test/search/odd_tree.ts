/** Trees with all that is odd in names, contents and ignore files, made from a seed. */
import { lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";

/**
 * A tree below `root` and a home folder beside it, removed at the end of the `using` block. `folders` are relative to root; `lateNuls`
 * are the files with a NUL byte behind the first piece that ripgrep reads.
 */
export type OddTree = {
  root: string;
  home: string;
  folders: string[];
  lateNuls: string[];
  [Symbol.dispose](): void;
};

const FIRST_PIECE_BYTES = 60_000;

const NAMES = [
  "a",
  "b.ts",
  "c.test.ts",
  "keep.log",
  "x.log",
  "B.TS",
  "build",
  "src",
  "gen",
  "a b.md",
  "é.txt",
  "[x].rs",
  "{y}.rs",
  "-dash.c",
  ".hidden.ts",
  ".dir",
  "#odd",
  "trailing ",
  "d1.h",
  "d2.h",
  "Makefile",
  "x.json",
  "ñandú",
  "a-b",
  "a.b",
  "deep",
  "~tilde",
  "50%",
  "two\nlines",
  "tab\tand\u{1}",
  "日本.md",
  "x".repeat(200),
  "a\\b.ts",
  "--files",
];

const RULES = [
  "*.log",
  "!keep.log",
  "/build",
  "build/",
  "gen",
  "**/gen",
  "src/*.ts",
  "/src/**",
  "!src/b.ts",
  "a",
  "!a",
  "*.t?",
  "[ab].ts",
  "d[12].h",
  "\\#odd",
  "# comment",
  "",
  "trailing\\ ",
  "trailing ",
  "*",
  "!*/",
  "!*.ts",
  "/",
  "!",
  "***",
  "deep/*",
  "!deep/a",
  "é*",
  "src//b.ts",
  "{y}.rs",
  "\\{y\\}.rs",
  ".hidden.ts",
  "!.hidden.ts",
  ".*",
  "*.{log,md}",
  "a/**/b.ts",
  "**",
  "**/",
  "/**/x.json",
  "B.ts",
  "[!a]",
  "a?b*",
];

const WORDS = [
  "let",
  "Let",
  "fn",
  "x",
  "foo",
  "foo_bar",
  "foobar",
  "bar",
  "é",
  "É",
  "ß",
  "ſ",
  "K",
  "k",
  "1",
  "42",
  "-2",
  "(",
  "{",
  "}",
  "a.b",
  "tab\t",
  "日本",
  "naïve",
  "\r",
  "\u000c",
  "_",
  "$",
  "\\",
  "ﬁ",
  "İ",
  "aa",
  "aaa",
];

const line = fc
  .array(fc.constantFrom(...WORDS), { maxLength: 6 })
  .chain((words) => fc.constantFrom(words.join(" "), words.join("")));

const text = fc
  .record({
    lines: fc.array(line, { maxLength: 14 }),
    end: fc.constantFrom("\n", "\n", "\n", "\r\n"),
    last: fc.boolean(),
  })
  .map(({ lines, end, last }) => lines.join(end) + (last && lines.length > 0 ? end : ""));

const utf16 = (swap: boolean) => (content: string) => {
  const bytes = Buffer.from(`\uFEFF${content}`, "utf16le");
  return swap ? bytes.swap16() : bytes;
};

/**
 * No line is longer than ripgrep's buffer of 64 KiB: the buffer would stay larger for all files that come later, and with it the
 * piece of a file with a NUL byte that is searched before the byte is met.
 */
const content: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 12, arbitrary: text.map((value) => Buffer.from(value)) },
  { weight: 1, arbitrary: text.map((value) => Buffer.from(`\uFEFF${value}`)) },
  { weight: 1, arbitrary: text.map(utf16(false)) },
  { weight: 1, arbitrary: text.map(utf16(true)) },
  { weight: 1, arbitrary: text.map((value) => Buffer.concat([utf16(false)(value), Buffer.from([0x61])])) },
  { weight: 1, arbitrary: text.map((value) => Buffer.from(value, "latin1")) },
  { weight: 1, arbitrary: fc.tuple(text, text).map(([one, other]) => Buffer.from(`${one}\0${other}`)) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(text, text)
      .map(([one, other]) => Buffer.from(`${one}\n${"hay stack\n".repeat(6600)}${other}\n\0\n${one}`)),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(text, text).map(([one, other]) => Buffer.from(`${one}${"long ".repeat(8000)}\n${other}`)),
  },
  { weight: 1, arbitrary: text.map((value) => Buffer.concat([Buffer.from(value), Buffer.from([0xe9, 0xff, 0x0a])])) },
  { weight: 1, arbitrary: text.map((value) => Buffer.concat([utf16(true)(value), Buffer.from([0xd8, 0x3d])])) },
  { weight: 1, arbitrary: text.map((value) => Buffer.from(value.repeat(40))) },
  { weight: 1, arbitrary: text.map((value) => Buffer.from(`${value}\n${"word ".repeat(60_000 / 6)}\r\n${value}`)) },
  { weight: 1, arbitrary: fc.constant(Buffer.alloc(0)) },
  { weight: 1, arbitrary: fc.constant(Buffer.from([0xff, 0xfe])) },
  { weight: 1, arbitrary: fc.constant(Buffer.from("\uFEFF")) },
);

const rules = fc
  .array(fc.constantFrom(...RULES), { minLength: 1, maxLength: 5 })
  .map((lines) => `${lines.join("\n")}\n`);

type Plan = {
  folders: string[][];
  files: { folder: number; name: string; content: Uint8Array }[];
  ignore: { folder: number; name: string; rules: string }[];
  repositories: { folder: number; kind: "folder" | "file" | "worktree" | "jj"; exclude: string }[];
  global: { place: "ignore" | "config" | "none"; rules: string };
  links: { folder: number; name: string; to: string }[];
  byteName: boolean;
};

/** Where links lead: into the tree, round in a circle, to a file, to nothing. */
const TARGETS = ["..", ".", "src", "b.ts", "nowhere", "/etc"];

/** What a tree is made of. */
export const oddTree: fc.Arbitrary<Plan> = fc.record({
  folders: fc.array(fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }), { maxLength: 5 }),
  files: fc.array(fc.record({ folder: fc.nat(8), name: fc.constantFrom(...NAMES), content }), {
    minLength: 3,
    maxLength: 22,
  }),
  ignore: fc.array(
    fc.record({ folder: fc.nat(8), name: fc.constantFrom(".gitignore", ".gitignore", ".ignore", ".rgignore"), rules }),
    { maxLength: 4 },
  ),
  repositories: fc.array(
    fc.record({
      folder: fc.constantFrom(0, 0, 1, 2, 3),
      kind: fc.constantFrom("folder" as const, "folder" as const, "file" as const, "worktree" as const, "jj" as const),
      exclude: rules,
    }),
    { maxLength: 2 },
  ),
  global: fc.record({ place: fc.constantFrom("ignore", "config", "none", "none"), rules }),
  links: fc.array(fc.record({ folder: fc.nat(8), name: fc.constantFrom(...NAMES), to: fc.constantFrom(...TARGETS) }), {
    maxLength: 2,
  }),
  byteName: fc.boolean(),
});

/** Makes the tree. What the plan wants twice is made once. */
export function makeOddTree(plan: Plan): OddTree {
  const place = realpathSync(mkdtempSync(join(tmpdir(), "cordon-odd-")));
  const root = join(place, "tree");
  const home = join(place, "home");
  mkdirSync(join(home, ".config", "git"), { recursive: true });
  mkdirSync(root);
  const folders = ["", ...plan.folders.map((names) => names.join("/"))].filter((folder) =>
    tried(() => mkdirSync(join(root, folder), { recursive: true })),
  );
  const at = (number: number) => join(root, folders[number % folders.length] ?? "");
  for (const { folder, name, content: bytes } of plan.files) tried(() => writeFileSync(join(at(folder), name), bytes));
  for (const { folder, name, rules: lines } of plan.ignore) tried(() => writeFileSync(join(at(folder), name), lines));
  for (const repository of plan.repositories) tried(() => makeRepository(at(repository.folder), place, repository));
  makeGlobal(home, plan.global);
  for (const { folder, name, to } of plan.links) tried(() => symlinkSync(to, join(at(folder), name)));
  if (plan.byteName)
    writeFileSync(
      Buffer.concat([Buffer.from(`${root}/by`), Buffer.from([0xff, 0x2e]), Buffer.from("ts")]),
      "let foo\n",
    );
  const lateNuls = plan.files
    .filter(({ content: bytes }) => bytes.indexOf(0) >= FIRST_PIECE_BYTES)
    .map(({ folder, name }) => join(at(folder), name))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true);
  return { root, home, folders, lateNuls, [Symbol.dispose]: () => rmSync(place, { recursive: true, force: true }) };
}

function makeRepository(folder: string, place: string, { kind, exclude }: Plan["repositories"][number]): void {
  if (kind === "jj") mkdirSync(join(folder, ".jj"));
  else if (kind === "folder") {
    mkdirSync(join(folder, ".git", "info"), { recursive: true });
    writeFileSync(join(folder, ".git", "HEAD"), "let head\n");
    writeFileSync(join(folder, ".git", "info", "exclude"), exclude);
  } else if (kind === "file") writeFileSync(join(folder, ".git"), "gitdir: /nonexistent/let\n");
  else {
    const common = join(place, "common");
    mkdirSync(join(common, "info"), { recursive: true });
    mkdirSync(join(common, "worktrees", "w"), { recursive: true });
    writeFileSync(join(common, "info", "exclude"), exclude);
    writeFileSync(join(common, "worktrees", "w", "commondir"), "../..\n");
    writeFileSync(join(folder, ".git"), `gitdir: ${join(common, "worktrees", "w")}\n`);
  }
}

function makeGlobal(home: string, { place, rules: lines }: Plan["global"]): void {
  if (place === "ignore") writeFileSync(join(home, ".config", "git", "ignore"), lines);
  if (place !== "config") return;
  writeFileSync(join(home, ".gitconfig"), "[core]\n\texcludesFile = ~/excludes\n");
  writeFileSync(join(home, "excludes"), lines);
}

/** False where something else has the name already. */
function tried(make: () => void): boolean {
  try {
    make();
    return true;
  } catch {
    return false;
  }
}
