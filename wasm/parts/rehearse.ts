/** What a start does, done once while the component is built, to learn which functions of its module that needs. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { FIXED_RULES, ownFolderRules } from "../../core/config/builtin_rules.ts";
import { SAMPLE_ENDINGS, SECRET_NAMES } from "../../core/config/protected_paths.ts";
import type { GrepQuery } from "../../core/contract/search.ts";
import type { PolicyQuestion, RuleLists, RuleSource } from "../../core/contract/verdict.ts";
import { instantiatePolicy, instantiateSearch, type LoadedPolicy } from "../../core/engine/load.ts";
import { keepRules, keptRules } from "../../core/engine/policy.ts";
import { PolicyDoor } from "../../core/engine/policy_door.ts";
import { SearchEngine } from "../../core/engine/search.ts";
import { globTree } from "../../core/exec/search/glob_tree.ts";
import { grepTree, type Sight } from "../../core/exec/search/grep_tree.ts";

/** What a module exports once it is an instance. */
export type Exports = WebAssembly.Instance["exports"];

/** A module that is not split has no other half anywhere. */
const WHOLE = Promise.resolve("");

const HOME = "/home/ada";
const PROJECT = `${HOME}/project`;

const QUESTION: PolicyQuestion = {
  tool: "grep_search",
  required: "read-only",
  mode: "workspace-write",
  effects: [{ kind: "read", path: `${PROJECT}/src` }],
  // As many as a search has: maps are made in another way when they are small.
  params: Object.fromEntries(Array.from({ length: 24 }, (_, at) => [`field_${(at * 7) % 24}`, `value ${at}`])),
  cwd: PROJECT,
  home: HOME,
  roots: [PROJECT],
  asks: "person",
  explain: true,
};

/** Makes a policy component whose memory holds the compiled built-in rules. */
export async function beginPolicy(module: WebAssembly.Module): Promise<LoadedPolicy> {
  const loaded = await instantiatePolicy(module, WHOLE);
  keepRules(loaded.policy, FIXED_RULES);
  return loaded;
}

/**
 * Questions on files, under the built-in rules alone, and with rules of a person. Commands have none: whoever runs one waits for a sandbox
 * and the command besides, and the parser is half of the module.
 */
export async function rehearsePolicy(module: WebAssembly.Module): Promise<Exports> {
  const loaded = await beginPolicy(module);
  const { policy, exports } = loaded;
  const door = new PolicyDoor(loaded);
  const fixed = keptRules(policy, FIXED_RULES);
  if (fixed === undefined) throw new Error("The policy component does not keep the rules that it was given");
  const many = Array.from({ length: 40 }, (_, at) => `Read(private-${(at * 7) % 40}/**)`);
  for (const given of [
    {},
    { deny: many, ask: many, allow: many },
    { ask: ["Read(*.key)"], deny: ["Read(secrets/**)", "Edit(~/notes)"], allow: ["Edit(src/**)"] },
  ]) {
    const own = policy.rules.compile(JSON.stringify(folderRules(given)), fixed);
    for (const question of questions()) door.decide(own, question);
    policy.rules.release(own);
  }
  policy.rules.release(fixed);
  return exports;
}

function folderRules(given: Partial<Record<keyof RuleLists, string[]>>): RuleLists {
  const { ask, deny } = ownFolderRules(`${HOME}/.local/state/cordon`, `${HOME}/.config/cordon`);
  const rules = (list: string[] = []): RuleSource[] =>
    list.map((rule) => ({ rule, layer: "user", origin: "config.json:1:1" }));
  return { allow: rules(given.allow), ask: [...ask, ...rules(given.ask)], deny: [...deny, ...rules(given.deny)] };
}

function questions(): PolicyQuestion[] {
  const inside = ["src/main.rs", ".env", ".env.example", "secrets/a", "a.key", ".git/hooks/pre-commit", "package.json"];
  const outside = [`${HOME}/.ssh/id_ed25519`, `${HOME}/.bashrc`, "/usr/include/stdio.h", "/etc/passwd", HOME, "/"];
  const paths = [...inside.map((path) => `${PROJECT}/${path}`), PROJECT, ...outside];
  const asked = paths.flatMap((path): PolicyQuestion[] => [
    { ...QUESTION, effects: [{ kind: "read", path }] },
    { ...QUESTION, tool: "read_file", effects: [{ kind: "read", path }] },
    { ...QUESTION, tool: "write_file", required: "workspace-write", effects: [{ kind: "write", path }] },
  ]);
  return [
    ...asked,
    ...asked.map((question) => ({ ...question, mode: "read-only" as const })),
    { ...QUESTION, cwd: `${PROJECT}/src`, roots: [PROJECT, "/srv/data"] },
  ];
}

/** What is searched for: names, content and counts. */
const WORDS: readonly Partial<GrepQuery>[] = [
  { pattern: "probe" },
  { pattern: "EXPORT_SYMBOL_GPL", mode: "content" },
  { pattern: "int probe", mode: "content", contentLines: true, lineNumbers: false },
  { pattern: "probe", mode: "content", before: 2, after: 2, maxLineBytes: 0 },
  { pattern: "probe", mode: "content", contentLines: true, spans: true, maxLineBytes: 0 },
  { pattern: "probe", mode: "count" },
  { pattern: "nothing like this" },
];

/** The same by common patterns, and in chosen files. */
const PATTERNS: readonly Partial<GrepQuery>[] = [
  ...WORDS,
  { pattern: "int probe(", fixed: true },
  { pattern: "Copyright Notice", letterCase: "ignore" },
  { pattern: "todo|fixme", letterCase: "ignore" },
  { pattern: "todo|fixme|xxx", word: true },
  { pattern: "probe", word: true, mode: "content" },
  { pattern: "\\w+_init\\(", mode: "content" },
  { pattern: "^\\s*(static|int) .*probe\\b", mode: "content", before: 1, after: 2 },
  { pattern: "[a-z]+_[0-9]{2,5}", mode: "count" },
  { pattern: "[A-Z]{3,}_[a-z]+\\b", mode: "count" },
  { pattern: "^\\w+\\s+\\w+\\s+\\w+_probe\\s*\\(" },
  { pattern: "copyright.notice", letterCase: "ignore" },
  { pattern: "probe", word: true, mode: "content", contentLines: true, spans: true, maxLineBytes: 0 },
  { pattern: "probe.*;$", mode: "content", contentLines: true, spans: true },
  { pattern: "nothing like this", mode: "files_without_match" },
  { pattern: "probe", mode: "count_matches", globs: ["*.{c,h}", "!old/**"] },
  { pattern: "probe", types: ["c"], includeHidden: true },
  { pattern: "probe", mode: "content", invert: true, maxCount: 2, headLimit: 3, offset: 1 },
];

const GLOBS = ["*.c", "**/*.{c,h}", "src/**/probe*", "**/*"];

/** Searches for words in a small tree. */
export async function rehearseWords(module: WebAssembly.Module): Promise<Exports> {
  return inTree(module, WORDS, async () => {});
}

/** The same by patterns, in chosen files, and lists of names. */
export async function rehearsePatterns(module: WebAssembly.Module): Promise<Exports> {
  return inTree(module, PATTERNS, async (engine, sight, folder) => {
    const { signal } = new AbortController();
    await grepTree(engine, sight, { ...PLAIN, path: `${folder}/src/a.c` }, signal);
    for (const pattern of GLOBS) {
      for (const order of ["path", "newest"] as const) {
        await globTree(engine, sight, { pattern, path: folder, limit: 100, order }, signal);
      }
    }
  });
}

type More = (engine: SearchEngine, sight: Sight, folder: string) => Promise<void>;

async function inTree(
  module: WebAssembly.Module,
  searches: readonly Partial<GrepQuery>[],
  more: More,
): Promise<Exports> {
  const loaded = await instantiateSearch(module, WHOLE);
  const engine = new SearchEngine(loaded);
  const folder = makeTree();
  try {
    const view = { hidden: [`${folder}/hidden.c`], closedNames: SECRET_NAMES, sampleEndings: SAMPLE_ENDINGS };
    const sight: Sight = { view, globalExcludes: new TextEncoder().encode("*.swp\n"), alone: true };
    const { signal } = new AbortController();
    for (const search of searches) await grepTree(engine, sight, { ...PLAIN, ...search, path: folder }, signal);
    await more(engine, sight, folder);
    // Thousands of names are then there to be handed over, and to be put in order with those of others.
    await grepTree(engine, sight, { ...PLAIN, path: folder }, signal);
    shareWithOthers(engine, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
  return loaded.exports;
}

const PLAIN: GrepQuery = {
  pattern: "probe",
  path: "",
  includeHidden: false,
  before: 0,
  after: 0,
  lineNumbers: true,
  letterCase: "sensitive",
  word: false,
  multiline: false,
  mode: "files_with_matches",
  headLimit: 0,
  offset: 0,
};

/** As a search does that other threads help with. */
function shareWithOthers(engine: SearchEngine, folder: string): void {
  engine.absorb(engine.gathered());
  engine.page({ offset: 0, limit: 0, base: folder, newest: false });
  engine.startTour(true, []);
  for (const name of ["src", "old"]) engine.push(join(folder, name));
  engine.give();
  engine.leave();
}

const FILES: Readonly<Record<string, string>> = {
  ".gitignore":
    "*.o\n/build/\n!keep.o\n**/cache/*.tmp\n# a comment\n*.py[cod]\n.*\n!.keep\n*.[0-9]*\n*~\n\\#*#\n/x-*.[ch]\n/docs/**\n**/many/m-/*.[o]\n",
  ".git/config": "",
  ".git/info/exclude": "*.local\n",
  ".ignore": "vendor\n",
  "src/.gitignore": "generated.c\n",
  "src/a.c": `static int probe(void)\n{\n\treturn 0; /* Copyright Notice */\n}\n${"int line_42 = 1;\n".repeat(200)}`,
  "src/b.h": "int probe(int x);\r\n// todo: my_init(probe) and more\r\n",
  "src/generated.c": "probe\n",
  "src/empty.c": "",
  "src/deep/er/probe.txt": `${"x".repeat(5000)} probe\nFIXME probe_init(1);\n`,
  "old/c.c": "int probe;\n",
  "vendor/d.c": "int probe;\n",
  "build/e.o": "probe",
  "image.png": "\x89PNG\0\0probe",
  "late.bin": `${"text\n".repeat(50_000)}probe\0${"text\n".repeat(50_000)}`,
  "large.txt": `${"some text of a line\n".repeat(150_000)}probe\n${"x".repeat(3 << 20)}`,
  "wide.txt": `\ufeff${"wide probe\n"}`,
  "no-end.txt": "one\nprobe",
  "x.1": "probe\n",
  "hidden.c": "int probe;\n",
  ".env": "PROBE=1\n",
  ".env.example": "PROBE=\n",
  "umlaut-\u00e4.md": "Pr\u00fcfung: probe \u2713\n",
};

/** More than fits where little is kept: lists are sorted, and maps made, in another way when they are short. */
const MANY: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from({ length: 1600 }, (_, at) => [
    `many/${["m", "m-", "m."][at % 3]}${(at * 37) % 100}/${["a", "a-a", "a.b", "b"][at % 4]}/${(at * 37) % 1600}.c`,
    at % 2 ? "int probe;\n" : `int x${at};\n`.repeat(at % 200),
  ]),
);

const FLAT: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from({ length: 3000 }, (_, at) => [`flat/file-${(at * 1237) % 3000}.${at % 3 ? "c" : "md"}`, `probe ${at}\n`]),
);

function makeTree(): string {
  const folder = mkdtempSync(join(tmpdir(), "cordon-rehearsal-"));
  for (const [name, text] of [...Object.entries(FILES), ...Object.entries(MANY), ...Object.entries(FLAT)]) {
    mkdirSync(join(folder, dirname(name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
