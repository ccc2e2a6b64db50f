/**
 * D7: what a person's own rules keep from being read is in no answer, and what stands beside it is in each: from `cordon grep` and `glob`, and
 * through `cordon serve` without an index and with one. The tree is large enough for all threads to search it.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
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
