import { beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { FIXED_RULES } from "../../config/builtin_rules.ts";
import type { FileView, GrepQuery, ReadQuestion, ReadRules } from "../../contract/search.ts";
import type { Decision, PolicyQuestion, RuleSource } from "../../contract/verdict.ts";
import { mayReadBy } from "../../engine/may_read.ts";
import { createRuleJudge } from "../../engine/rule_judge.ts";
import { createSearchGrant, type ReadFilter } from "../grants/search_grant.ts";
import { createSearch } from "./mod.ts";
import type { Trapped } from "./trap_fixture.ts";
import { EVERYTHING, makeTree, NEVER, NO_GIT_SETTINGS, queryOf, type Tree } from "./tree_fixture.ts";

/** Enough folders for other threads to be wanted, and to be up while there is work left. */
const PARTS = 400;

/** In each part: what rules keep from being read, each beside a twin that they leave. */
const SHUT = ["secrets/token", "plan.draft", "a.key"];
const OPEN = ["public/token", "plan.final", "a.keys"];

const RULES = {
  deny: [ruleOf("Read(**/secrets/**)"), ruleOf("Read(**/*.key)")],
  ask: [ruleOf("Read(**/*.draft)")],
  allow: [],
};

let tree: Tree;
beforeAll(() => {
  const names = [...SHUT, ...OPEN, ...Array.from({ length: 20 }, (_, at) => `more${at}`)];
  const parts = Array.from({ length: PARTS }, (_, part) => names.map((name) => [`part${part}/${name}`, "x"]));
  tree = makeTree(Object.fromEntries(parts.flat()));
});

function ruleOf(rule: string): RuleSource {
  return { rule, layer: "user", origin: "settings.json:1" };
}

function askedIn(root: string): ReadQuestion {
  const about = { tool: "grep_search", required: "read-only", mode: "workspace-write", params: {} } as const;
  return { rules: RULES, about: { ...about, cwd: root, home: "/home/ada", roots: [root] } };
}

function judgeOf({ rules }: ReadQuestion): Promise<(question: PolicyQuestion) => Decision> {
  return createRuleJudge(() => rules, FIXED_RULES).now();
}

async function rulesIn(root: string): Promise<Required<ReadRules>> {
  const asked = askedIn(root);
  return { mayRead: mayReadBy(await judgeOf(asked), asked), asked };
}

async function found(view: Partial<FileView>, rest: Partial<GrepQuery> = {}): Promise<string[]> {
  const search = createSearch({ ...EVERYTHING, ...view }, NO_GIT_SETTINGS);
  const { filenames } = await search.grep(queryOf(tree, "x", rest), NEVER);
  return [...filenames.list()];
}

describe("a search under a person's own rules", () => {
  test("D7 leaves out what is denied and what would ask, and nothing beside it, on one thread and on several", async () => {
    const rules = await rulesIn(tree.root);
    const all = await found({});
    const isShut = (name: string) => SHUT.some((shut) => name.endsWith(`/${shut}`));
    const expected = all.filter((name) => !isShut(name));
    expect(all.length - expected.length).toBe(PARTS * SHUT.length);
    expect(OPEN.every((open) => expected.includes(`part7/${open}`))).toBe(true);
    expect(await found({ mayRead: rules.mayRead })).toEqual(expected);
    // The first of them starts the threads, and may be over before they are up.
    for (let turn = 0; turn < 4; turn += 1) expect(await found(rules)).toEqual(expected);
  });

  test("D7 other threads ask for themselves: where this one has no files left to judge, theirs are judged by the same rules", async () => {
    const { asked } = await rulesIn(tree.root);
    // Rules of this thread that leave everything show which files another one has judged.
    const careless: ReadRules = { mayRead: () => true, asked };
    const counts: number[] = [];
    for (let turn = 0; turn < 100 && !counts.some((count) => count < PARTS); turn += 1)
      counts.push((await found(careless)).filter((name) => name.endsWith("/a.key")).length);
    if (navigator.hardwareConcurrency > 1) expect(Math.min(...counts)).toBeLessThan(PARTS);
    expect((await found(careless)).filter((name) => name.endsWith("/a.keys"))).toHaveLength(PARTS);
  });

  test("D7 a thread that can't have the rules helps not, and nothing is left out or shown for it", async () => {
    const { mayRead, asked } = await rulesIn(tree.root);
    const expected = await found({ mayRead });
    const broken = { ...asked, rules: { ...asked.rules, deny: [ruleOf("Read(")] } };
    for (let turn = 0; turn < 4; turn += 1) expect(await found({ mayRead, asked: broken })).toEqual(expected);
  });

  test("D7 a search of one large folder can be cancelled between two questions", async () => {
    using large = makeTree(Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`f${at}`, "x"])));
    const stop = new AbortController();
    let asked = 0;
    const mayRead = (paths: readonly string[]): boolean => {
      asked += paths.length;
      // The start is a question of its own.
      if (paths.length === 1) return true;
      stop.abort();
      Bun.sleepSync(30);
      return true;
    };
    const search = createSearch({ ...EVERYTHING, mayRead }, NO_GIT_SETTINGS);
    await expect(search.grep(queryOf(large, "x"), stop.signal)).rejects.toMatchObject({ code: "tool.cancelled" });
    expect(asked).toBeLessThan(200);
  });

  test("D7 an ignore file that may not be read has no say", async () => {
    using small = makeTree({ ".ignore": "a\n", a: "x", b: "x" });
    const asked = { ...askedIn(small.root), rules: { ...RULES, deny: [ruleOf("Read(**/.ignore)")] } };
    const view = { ...EVERYTHING, mayRead: mayReadBy(await judgeOf(asked), asked), asked };
    const { filenames } = await createSearch(view, NO_GIT_SETTINGS).grep(queryOf(small, "x"), NEVER);
    expect([...filenames.list()]).toEqual(["a", "b"]);
  });
});

/** What rules say of a tree that is named through a link: each file by one of its two names, with a twin that neither name shuts. */
const linkRules = () => ({
  deny: [ruleOf("Read(alias/**/a.key)"), ruleOf("Read(/alias/part1/public/**)")],
  ask: ["alias/**/secrets/**", "holder/inner/**/secrets/**", `/${tree.root}/**/*.draft`].map((path) =>
    ruleOf(`Read(${path})`),
  ),
  allow: [],
});

/** Makes a folder with links to the tree: `alias` to it, and `holder`, in which `inner` is the folder that the tree's parent has. */
function linksTo({ root }: Tree): Tree {
  const links = makeTree({});
  symlinkSync(root, join(links.root, "alias"));
  mkdirSync(join(links.root, "holder"));
  symlinkSync(root, join(links.root, "holder/inner"));
  return links;
}

/** Searches as a call does whose start was named like this. */
function searchAt({ absolute, real }: { absolute: string; real: string }, filter: ReadFilter) {
  const paths = [{ given: absolute, absolute, real, access: "read", exists: true } as const];
  const rules = { readable: async () => filter, git: NO_GIT_SETTINGS };
  const search = createSearchGrant({ paths, hidden: [] }, rules);
  const below = (names: readonly string[]) => names.map((name) => name.replace(`${real}/`, "")).sort();
  const query = { ...queryOf(tree, "x"), path: absolute, relativeTo: real };
  return {
    grep: async () => below((await search.grep(query, NEVER)).filenames.list()),
    glob: async (pattern: string) => {
      const { filenames } = await search.glob({ pattern, path: absolute, limit: 0, order: "path" }, NEVER);
      return below(filenames.list());
    },
  };
}

describe("a search whose start is named through a link", () => {
  const isShut = (name: string) => ["secrets/token", "plan.draft", "a.key"].some((shut) => name.endsWith(`/${shut}`));

  async function rulesAt(root: string): Promise<Required<ReadRules>> {
    const asked = { ...askedIn(root), rules: linkRules() };
    return { mayRead: mayReadBy(await judgeOf(asked), asked), asked };
  }

  test("D4 D7 leaves out what a rule says of either name, and nothing beside it, on one thread and on several", async () => {
    using links = linksTo(tree);
    const rules = await rulesAt(links.root);
    const through = { absolute: join(links.root, "alias"), real: tree.root };
    const all = await searchAt(through, undefined).grep();
    const expected = all.filter((name) => !isShut(name) && name !== "part1/public/token");
    expect(all.length - expected.length).toBe(PARTS * SHUT.length + 1);
    expect(expected).toContain("part10/public/token");
    for (const filter of [{ mayRead: rules.mayRead }, rules])
      expect(await searchAt(through, filter).grep()).toEqual(expected);
    expect(await searchAt(through, rules).glob("**")).toEqual(expected);
    // By its real name only the rule about that name is about it.
    const byRealName = searchAt({ absolute: tree.root, real: tree.root }, rules);
    expect(await byRealName.grep()).toEqual(all.filter((name) => !name.endsWith(".draft")));
  });

  test("D4 D7 the link may be a folder above the start, and the start a file or a folder that a pattern names", async () => {
    using links = linksTo(tree);
    const rules = await rulesAt(links.root);
    const at = (name: string, below: string) =>
      searchAt({ absolute: join(links.root, name, below), real: join(tree.root, below) }, rules);
    const shown = (names: string[]) => names.filter((name) => !name.startsWith("more"));
    expect(shown(await at("alias", "part7").grep())).toEqual(["a.keys", "plan.final", "public/token"]);
    expect(shown(await at("alias", "part1").glob("**"))).toEqual(["a.keys", "plan.final"]);
    expect(shown(await at("holder/inner", "part7").grep())).toEqual(["a.key", "a.keys", "plan.final", "public/token"]);
    expect(await at("alias", "").glob("part7/secrets/*")).toEqual([]);
    expect(await at("alias", "").glob("part7/public/*")).toEqual(["part7/public/token"]);
    await expect(at("alias", "part7/a.key").grep()).rejects.toMatchObject({ code: "sandbox.hidden" });
    expect(await at("alias", "part7/a.keys").grep()).toHaveLength(1);
  });

  test("D4 D7 other threads ask about both names as well", async () => {
    using links = linksTo(tree);
    const { asked } = await rulesAt(links.root);
    const careless: ReadRules = { mayRead: () => true, asked };
    const search = searchAt({ absolute: join(links.root, "alias"), real: tree.root }, careless);
    const counts: number[] = [];
    for (let turn = 0; turn < 100 && !counts.some((count) => count < PARTS); turn += 1)
      counts.push((await search.grep()).filter((name) => name.endsWith("/a.key")).length);
    if (navigator.hardwareConcurrency > 1) expect(Math.min(...counts)).toBeLessThan(PARTS);
    expect((await search.grep()).filter((name) => name.endsWith("/a.keys"))).toHaveLength(PARTS);
  });

  test("D7 an ignore file that may not be read by the name with the link has no say, and nothing is asked twice without a link", async () => {
    using small = makeTree({ "store/.ignore": "a\n", "store/a": "x", "store/b": "x" });
    symlinkSync("store", join(small.root, "alias"));
    const asked: string[] = [];
    const mayRead = (paths: readonly string[]) => {
      asked.push(...paths.map((path) => path.slice(small.root.length + 1)));
      return !paths.includes(join(small.root, "alias/.ignore"));
    };
    const from = (name: string) =>
      searchAt({ absolute: join(small.root, name), real: join(small.root, "store") }, { mayRead });
    expect(await from("store").grep()).toEqual(["b"]);
    expect(asked.sort()).toEqual(["store", "store/.ignore", "store/b"]);
    expect(await from("alias").grep()).toEqual(["a", "b"]);
    expect(asked).toContain("alias/b");
  });
});

test.skipIf(navigator.hardwareConcurrency === 1)(
  "D7 a policy component that fails in another thread ends the search, and nothing is shown; the next is right, on all threads",
  async () => {
    const parts = Array.from({ length: PARTS }, (_, part) =>
      ["a.key", "a.keys"].map((name) => [`part${part}/${name}`, "x"]),
    );
    using small = makeTree(Object.fromEntries(parts.flat()));
    using marks = makeTree({ trap: "" });
    const program = [join(import.meta.dir, "trap_fixture.ts"), small.root, join(marks.root, "trap")];
    const child = Bun.spawn([process.execPath, ...program], { stdout: "pipe", stderr: "inherit", timeout: 50_000 });
    const { failure, before, after, judgedByOthers }: Trapped = JSON.parse(await child.stdout.text());
    expect(failure).toContain("The policy engine failed");
    const expected = parts.map(([, [open = ""] = []]) => open).sort();
    expect(after).toEqual([expected, expected, expected]);
    if (before.length > 0) expect(before).toEqual(expected);
    expect(Math.max(...judgedByOthers)).toBeGreaterThan(0);
    expect(await child.exited).toBe(0);
  },
);

describe("one question for many files", () => {
  test("D7 is answered with yes only where each of them may be read", async () => {
    const { mayRead } = await rulesIn(tree.root);
    const paths = [...SHUT, ...OPEN].map((name) => join(tree.root, "part1", name));
    for (let chosen = 1; chosen < 1 << paths.length; chosen += 1) {
      const some = paths.filter((_, at) => (chosen >> at) & 1);
      expect(mayRead(some)).toBe(some.every((path) => mayRead([path])));
    }
    expect(OPEN.every((name) => mayRead([join(tree.root, "part1", name)]))).toBe(true);
    expect(SHUT.some((name) => mayRead([join(tree.root, "part1", name)]))).toBe(false);
  });
});
