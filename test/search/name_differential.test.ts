/**
 * Searches for names made up from a seed, by us, by ripgrep 15 (`rg --files`) and by fd 10, to the byte: odd names, ignore files, globs.
 * CORDON_SEARCH_CASES says how many, CORDON_SEARCH_SEED which. Where they are known to differ stands in DIFFERENCES, with the reason.
 */
import { expect, test } from "bun:test";
import { lstatSync } from "node:fs";
import fc from "fast-check";
import type { GlobQuery, IgnoreKind } from "../../core/contract/search.ts";
import { createSearch } from "../../core/exec/search/mod.ts";
import { EVERYTHING, NEVER } from "../../core/exec/search/tree_fixture.ts";
import { FD_KINDS, fd, fdArguments, type NameQuery } from "./fd.ts";
import { makeOddTree, oddTree, type OddTree } from "./odd_tree.ts";
import { ripgrep, scopeArguments } from "./ripgrep.ts";

const CASES = Number(process.env.CORDON_SEARCH_CASES ?? 300);
const SEED = Number(process.env.CORDON_SEARCH_SEED ?? 20_261_122);
const QUERIES_A_TREE = 12;
const SHOWN_FAULTS = 8;
const HOUR_MS = 3_600_000;
if ("missing" in ripgrep) console.info(`Skipped: the comparison of names with ripgrep, because ${ripgrep.missing}`);
if ("missing" in fd) console.info(`Skipped: the comparison of names with fd, because ${fd.missing}`);

/** Where fd gives other names than we do, on purpose. */
const DIFFERENCES: { why: string; concerns: (asked: NameQuery, plan: Plan) => boolean }[] = [
  {
    why: "fd does not know .rgignore",
    concerns: (_, { ignore }) => ignore.some(({ name }) => name === ".rgignore"),
  },
];

type Plan = typeof oddTree extends fc.Arbitrary<infer Made> ? Made : never;

/** Globs whose front names no folder in full: those that do are entered whatever ignore files say, as people mean it. */
const NAME_GLOBS = [
  "*.ts",
  "**/*.ts",
  "*",
  "**",
  "**/*",
  "*.{ts,log}",
  "**/a",
  "[a-d]*",
  "**/src/*",
  "*.T?",
  "d?.h",
  "**/*.test.*",
  "é*",
  "a b*",
  "*/b.ts",
  "**/deep/**",
  "by*",
  "[!a]*",
  "*\\[x\\]*",
  "{a,b}*",
  "*/*",
  ".*",
  "?",
];

/** What turns round what it names is known to us and ripgrep alone. */
const TURNED = ["!*.ts", "!gen"];

const SCOPE_GLOBS = [
  "*.ts",
  "!*.ts",
  "*.{log,md}",
  "src/**",
  "!src/**",
  "**/a",
  "/a",
  "B.ts",
  "gen/",
  "!gen",
  ".*",
  "é*",
];

const KINDS: IgnoreKind[] = ["dot", "exclude", "global", "parent", "vcs"];
const few = <Value>(values: readonly Value[], most: number) =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constant<Value[]>([]) },
    { weight: 1, arbitrary: fc.uniqueArray(fc.constantFrom(...values), { maxLength: most }) },
  );

const switches = {
  ignoreCase: fc.boolean(),
  includeHidden: fc.boolean(),
  noIgnore: fc.constantFrom(false, false, true),
};
const nameQuery = fc.record({ glob: fc.constantFrom(...NAME_GLOBS), ...switches, noIgnoreKinds: few(FD_KINDS, 2) });
const fileQuery = fc.record({
  ...switches,
  noIgnoreKinds: few(KINDS, 2),
  globs: few(SCOPE_GLOBS, 3),
  iglobs: few(SCOPE_GLOBS, 2),
  types: few(["ts", "rust", "md"], 2),
  typesNot: few(["c", "md"], 1),
});

const home = (tree: OddTree) => ({ HOME: tree.home, PATH: "/usr/bin:/bin", GIT_CONFIG_SYSTEM: "/nonexistent" });

/** The names that a program lists, as text of one character a byte. */
function listed(program: typeof fd, args: string[], tree: OddTree): string[] {
  const argv = ["path" in program ? program.path : "", ...args];
  const { stdout } = Bun.spawnSync(argv, { cwd: tree.root, env: home(tree), stdin: "ignore", stderr: "ignore" });
  return namesIn(stdout);
}

function namesIn(bytes: Uint8Array): string[] {
  return Buffer.from(bytes).toString("latin1").split("\0").slice(0, -1);
}

async function ours(tree: OddTree, query: Omit<GlobQuery, "path" | "limit">): Promise<string[]> {
  const search = createSearch(EVERYTHING, { home: tree.home, systemFile: "/nonexistent" });
  const { filenames } = await search.glob({ order: "path", ...query, path: tree.root, limit: 0 }, NEVER);
  return namesIn(filenames.lines(() => "", "\0") ?? Buffer.from("not all in one folder\0"));
}

/** Runs generated cases, and says in which of them the two lists are not the same. */
async function compare<Asked>(
  queries: fc.Arbitrary<Asked>,
  seed: number,
  both: (asked: Asked, tree: OddTree, plan: Plan) => Promise<{ names: string[]; expected: string[] } | undefined>,
): Promise<unknown[]> {
  const plans = fc.sample(oddTree, { numRuns: Math.ceil(CASES / QUERIES_A_TREE), seed });
  const all = fc.sample(queries, { numRuns: CASES, seed });
  const faults: unknown[] = [];
  for (const [number, plan] of plans.entries()) {
    using tree = makeOddTree(plan);
    for (const asked of all.slice(number * QUERIES_A_TREE, (number + 1) * QUERIES_A_TREE)) {
      const found = await both(asked, tree, plan);
      if (found === undefined || Bun.deepEquals(found.names, found.expected)) continue;
      faults.push({ where: `tree ${number} of seed ${seed}: ${JSON.stringify(asked)}`, ...found });
    }
  }
  return faults.slice(0, SHOWN_FAULTS);
}

test.skipIf("missing" in ripgrep)(
  "D6 D7 the files of a generated scope are those of rg --files --glob, byte for byte and in its order",
  async () => {
    const faults = await compare(fileQuery, SEED + 1, async ({ ignoreCase, ...scope }, tree) => ({
      names: await ours(tree, { pattern: "**", ignoreCase, ...scope }),
      expected: listed(
        ripgrep,
        [
          "--no-config",
          "--files",
          "--null",
          "--sort=path",
          ...scopeArguments({ ...scope, globIgnoreCase: ignoreCase }),
        ],
        tree,
      ),
    }));
    expect(faults).toEqual([]);
  },
  HOUR_MS,
);

test.skipIf("missing" in ripgrep)(
  "D6 a generated search for names gives the files that ripgrep would search and that fit the glob",
  async () => {
    const globs = fc.record({ ...switches, glob: fc.constantFrom(...NAME_GLOBS, ...TURNED) });
    const faults = await compare(globs, SEED + 2, async ({ glob, ignoreCase, ...scope }, tree) => {
      const list = (args: string[]) =>
        listed(ripgrep, ["--no-config", "--files", "--null", "--sort=path", ...args], tree);
      const fits = { globs: [glob], globIgnoreCase: ignoreCase, includeHidden: true, noIgnore: true };
      const fitting = new Set(list(scopeArguments(fits)));
      return {
        names: await ours(tree, { pattern: glob, ignoreCase, ...scope }),
        expected: list(scopeArguments(scope)).filter((name) => fitting.has(name)),
      };
    });
    expect(faults).toEqual([]);
  },
  HOUR_MS,
);

test.skipIf("missing" in fd)(
  "D6 a generated search for names gives the files that fd finds",
  async () => {
    const faults = await compare(nameQuery, SEED + 3, async (asked, tree, plan) => {
      if (DIFFERENCES.some(({ concerns }) => concerns(asked, plan))) return undefined;
      const { glob, ...scope } = asked;
      return {
        names: (await ours(tree, { pattern: glob, ...scope })).sort(),
        // fd keeps a name from being taken for an option.
        expected: listed(fd, fdArguments(asked, tree.root), tree)
          .map((name) => name.replace(/^\.\/-/, "-"))
          .sort(),
      };
    });
    expect(faults).toEqual([]);
  },
  HOUR_MS,
);

test(
  "D6 what a generated search finds by age is what it finds by path, the last changed first and else by path",
  async () => {
    const faults = await compare(nameQuery, SEED + 4, async ({ glob, ...scope }, tree) => {
      const byPath = await ours(tree, { pattern: glob, ...scope });
      const changed = (name: string) =>
        lstatSync(Buffer.concat([Buffer.from(`${tree.root}/`), Buffer.from(name, "latin1")])).mtimeMs;
      const ages = new Map(byPath.map((name) => [name, changed(name)]));
      return {
        names: await ours(tree, { pattern: glob, order: "newest", ...scope }),
        expected: byPath.toSorted((one, other) => (ages.get(other) ?? 0) - (ages.get(one) ?? 0)),
      };
    });
    expect(faults).toEqual([]);
  },
  HOUR_MS,
);
