/**
 * D7: what a person's own rules keep from being read is in no answer, and what stands beside it is in each: from `cordon grep` and `glob`, and
 * through `cordon serve` without an index and with one. The tree is large enough for all threads to search it.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { callTool } from "../support/call_tool.ts";
import { startQuickClient } from "../support/quick_client.ts";
import { runCordon } from "../support/run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";

/** Folders of the tree. */
const PARTS = 300;

/** In each of them: what RULES shut, and its twins that they leave open. */
const SHUT = ["secrets/token", "a.key", "plan.draft"];
const OPEN = ["public/token", "a.keys", "plan.final"];

const RULES = [
  "--deny",
  "Read(secrets/**)",
  "--deny",
  "Read(part*/secrets/**)",
  "--deny",
  "Read(*.key)",
  "--ask",
  "Read(*.draft)",
];

/** The last are what a file has become that was shut or open before. */
const CHANGES = ["secrets/new", "public/new", "moved/token"];

let scratch: Scratch;
beforeAll(() => {
  scratch = makeScratch();
  for (let part = 0; part < PARTS; part += 1) for (const name of [...SHUT, ...OPEN]) put(`part${part}/${name}`);
  for (const name of ["secrets/token", "public/token"]) put(name);
});
afterAll(() => removeScratch(scratch));

const at = (name: string) => join(scratch.work, name);

function put(name: string): void {
  mkdirSync(dirname(at(name)), { recursive: true });
  writeFileSync(at(name), "needle\n");
}

/** What may be found: in the order of paths. */
function open(): string[] {
  const parts = Array.from({ length: PARTS }, (_, part) => OPEN.map((name) => `part${part}/${name}`));
  return ["public/token", ...parts.flat()].sort();
}

/** The same without the rules: the test would prove nothing if that were no more. */
function all(): string[] {
  const parts = Array.from({ length: PARTS }, (_, part) => SHUT.map((name) => `part${part}/${name}`));
  return ["secrets/token", ...open(), ...parts.flat()].sort();
}

const lines = (text: string) => text.split("\n").filter((line) => line !== "");

describe("D7 under a person's own rules", () => {
  test("cordon grep and cordon glob leave out what is denied and what would ask, and nothing else", async () => {
    const commands = [
      ["grep", "-l", "needle"],
      ["grep", "--files"],
      ["glob", "**"],
    ] as const;
    for (const [command, ...words] of commands) {
      const run = (flags: string[]) => runCordon([command, ...flags, ...words], { scratch });
      const found = async (flags: string[]) => lines((await run(flags)).stdout).sort();
      expect(await found(RULES)).toEqual(open());
      expect(await found([])).toEqual(all());
    }
  });

  test("a server's answers do so, asked again and again, without an index and with one, and after changes", async () => {
    for (const memory of ["0", "64M"]) {
      const client = startQuickClient({ scratch }, [...RULES, "--search-memory", memory]);
      const found = async (tool: string, input: object) => {
        const { ok, output, error, meta } = await client.call(tool, input);
        expect({ ok, error }).toEqual({ ok: true, error: undefined });
        const names = [...(output?.filenames ?? [])].map((name) => name.replace(`${scratch.work}/`, ""));
        return { names: names.sort(), state: meta.index?.state };
      };
      const grep = () => found("grep_search", { pattern: "needle", head_limit: 0 });
      const glob = () => found("glob_search", { pattern: "**", limit: 0 });
      const isEnough = (state: string | undefined, turn: number) => turn >= 4 && (memory === "0" || state === "used");
      let state: string | undefined;
      for (let turn = 0; turn < 200 && !isEnough(state, turn); turn += 1) {
        const answer = await grep();
        ({ state } = answer);
        expect(answer.names).toEqual(open());
        if (turn < 4) expect((await glob()).names).toEqual(open());
        else await Bun.sleep(20);
      }
      expect(state).toBe(memory === "0" ? undefined : "used");
      const direct = await client.call("read_file", { path: "secrets/token" });
      expect([direct.ok, direct.error?.code]).toEqual([false, "policy.denied"]);
      // An approval that is given while the server lives opens no more than one that was there before.
      expect((await runCordon(["approvals", "add", "Read(*.draft)"], { scratch })).code).toBe(0);
      expect([(await grep()).names, (await glob()).names]).toEqual([open(), open()]);
      for (const name of CHANGES.slice(0, 2)) put(name);
      renameSync(at("part0/secrets"), at("moved"));
      const changed = [...open(), "public/new", "moved/token"].sort();
      expect([(await grep()).names, (await glob()).names]).toEqual([changed, changed]);
      renameSync(at("moved"), at("part0/secrets"));
      for (const name of CHANGES) rmSync(at(name), { force: true });
      expect([(await grep()).names, (await glob()).names]).toEqual([open(), open()]);
      expect((await client.close()).code).toBe(0);
      expect((await runCordon(["approvals", "clear"], { scratch })).code).toBe(0);
    }
  });

  test("a rule written for the workspace holds for folders beside it as well, as it does for a file that is named", async () => {
    const beside = join(scratch.top, "beside");
    for (const name of ["secrets/token", "plan.draft", "public/token"]) {
      mkdirSync(dirname(join(beside, name)), { recursive: true });
      writeFileSync(join(beside, name), "needle\n");
    }
    const config = join(scratch.home, ".config/cordon");
    mkdirSync(config, { recursive: true });
    const permissions = { additionalDirectories: [beside], ask: ["Read(secrets/**)"], deny: ["Read(./plan.draft)"] };
    writeFileSync(join(config, "config.json"), JSON.stringify({ permissions }));
    const around = { scratch };
    const codeOf = async (name: string) =>
      (await callTool("read_file", { path: join(beside, name) }, around)).error?.code;
    expect(await codeOf("secrets/token")).toBe("policy.needs_answer");
    expect(await codeOf("plan.draft")).toBe("policy.denied");
    expect(await codeOf("public/token")).toBeUndefined();
    const { stdout } = await runCordon(["grep", "-l", "needle", beside], around);
    expect(stdout).toBe(`${beside}/public/token\n`);
  });
});

describe("D4 D7 under rules that name a link", () => {
  /** In each folder of `store`: what a rule shuts by the name of the link, by the real name, and what none shuts. */
  const NAMES = ["linked.key", "linked.draft", "real.key", "open.key"];
  const LINK_RULES = [
    ...["--ask", "Read(alias/**/linked.key)", "--ask", "Read(store/**/real.key)"],
    ...["--deny", "Read(alias/**/linked.draft)"],
  ];

  let linked: Scratch;
  const around = () => ({ scratch: linked });
  beforeAll(() => {
    linked = makeScratch();
    for (let part = 0; part < PARTS; part += 1) {
      mkdirSync(join(linked.work, `store/part${part}`), { recursive: true });
      for (const name of NAMES) writeFileSync(join(linked.work, `store/part${part}`, name), "needle\n");
    }
    mkdirSync(join(linked.work, "holder"));
    for (const name of ["alias", "holder/link"]) symlinkSync(join(linked.work, "store"), join(linked.work, name));
  });
  afterAll(() => removeScratch(linked));

  /** Which of NAMES read_file reads in this folder. */
  async function readable(folder: string): Promise<string[]> {
    const read = await Promise.all(
      NAMES.map((name) => callTool("read_file", { path: `${folder}/${name}` }, around(), LINK_RULES)),
    );
    return NAMES.filter((_, at) => read[at]?.ok === true);
  }

  const inAll = (names: readonly string[]) =>
    Array.from({ length: PARTS }, (_, part) => names.map((name) => `part${part}/${name}`))
      .flat()
      .sort();

  test("cordon grep and cordon glob show of a folder that is named through a link what read_file reads by that name", async () => {
    const found = async (...words: string[]) =>
      lines((await runCordon([words[0] ?? "", ...LINK_RULES, ...words.slice(1)], around())).stdout);
    for (const [folder, names] of [
      ["alias", ["open.key"]],
      ["holder/link", ["linked.key", "linked.draft", "open.key"]],
    ] as const) {
      expect(await readable(`${folder}/part7`)).toEqual([...names]);
      const expected = inAll(names);
      const below = (paths: string[]) => paths.map((path) => path.replace(/^.*(?=part)/, "")).sort();
      expect(below(await found("grep", "-l", "needle", folder))).toEqual(expected);
      expect(below(await found("grep", "--files", folder))).toEqual(expected);
      expect(below(await found("glob", "**", folder))).toEqual(expected);
      expect(below(await found("grep", "-l", "needle", `${folder}/part7`))).toHaveLength(names.length);
    }
  });

  test("a server does so by each name of the folder in turn, without an index and with one", async () => {
    for (const memory of ["0", "64M"]) {
      const client = startQuickClient(around(), [...LINK_RULES, "--search-memory", memory]);
      const found = async (tool: string, input: object) => {
        const { output, error, meta } = await client.call(tool, input);
        expect(error).toBeUndefined();
        const names = (output?.filenames ?? []).map((name) => name.replace(`${linked.work}/store/`, ""));
        return { names: names.sort(), state: meta.index?.state };
      };
      const grep = (path: string) => found("grep_search", { pattern: "needle", path, head_limit: 0 });
      const glob = (path: string) => found("glob_search", { pattern: "**", path, limit: 0 });
      const byLink = inAll(["open.key"]);
      const byRealName = inAll(["linked.key", "linked.draft", "open.key"]);
      const isEnough = (state: string | undefined, turn: number) => turn >= 2 && (memory === "0" || state === "used");
      let state: string | undefined;
      for (let turn = 0; turn < 200 && !isEnough(state, turn); turn += 1) {
        if (turn > 2) await Bun.sleep(20);
        const answer = await grep("alias");
        ({ state } = answer);
        expect(answer.names).toEqual(byLink);
        expect((await grep("store")).names).toEqual(byRealName);
      }
      expect(state).toBe(memory === "0" ? undefined : "used");
      expect((await glob("alias")).names).toEqual(byLink);
      expect((await glob("holder/link")).names).toEqual(byRealName);
      expect((await grep("alias/part7")).names).toEqual(["part7/open.key"]);
      expect((await client.close()).code).toBe(0);
    }
  });
});
