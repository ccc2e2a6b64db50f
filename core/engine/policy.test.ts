import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Effect, PolicyQuestion, RuleLists, RuleSource } from "../contract/verdict.ts";
import { compilePolicy, decide, parseShell, releasePolicy } from "./policy.ts";

type Case = {
  id: string;
  tool?: string;
  command?: string;
  read?: string;
  write?: string;
  host?: string;
  required?: PolicyQuestion["required"];
  mode?: PolicyQuestion["mode"];
  cwd?: string;
  params?: Record<string, string>;
  allow?: string[];
  ask?: string[];
  deny?: string[];
  verdict: string;
};

const corpus = join(import.meta.dir, "../../test/policy");
const rows = <Row>(name: string): Row[] =>
  readFileSync(join(corpus, name), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

function sources(rules: string[] = []): RuleSource[] {
  return rules.map((rule) => ({ rule, layer: "test", origin: "test:1" }));
}

function question(row: Case): PolicyQuestion {
  const effects: Effect[] = [];
  if (row.command !== undefined) effects.push({ kind: "exec", command: row.command });
  if (row.read !== undefined) effects.push({ kind: "read", path: row.read });
  if (row.write !== undefined) effects.push({ kind: "write", path: row.write });
  if (row.host !== undefined) effects.push({ kind: "net", host: row.host });
  return {
    tool: row.tool ?? "bash",
    required: row.required ?? "danger-full-access",
    mode: row.mode ?? "workspace-write",
    effects,
    params: row.params ?? {},
    cwd: row.cwd ?? "/ws",
    home: "/home/me",
    roots: ["/ws"],
  };
}

async function verdict(row: Case): Promise<string> {
  const lists: RuleLists = { allow: sources(row.allow), ask: sources(row.ask), deny: sources(row.deny) };
  const compiled = await compilePolicy(lists);
  if (!compiled.ok) return "fault";
  const decision = await decide(compiled.policy, question(row));
  await releasePolicy(compiled.policy);
  return decision.verdict;
}

describe("policy component", () => {
  test("C14 D8 A7 E10 every decision of the corpus is as written", async () => {
    const wrong: string[] = [];
    for (const row of rows<Case>("decisions.jsonl")) {
      const got = await verdict(row);
      if (got !== row.verdict) wrong.push(`${row.id}: ${row.command ?? ""} wants ${row.verdict}, is ${got}`);
    }
    expect(wrong).toEqual([]);
  });

  test("C14 a parse gives words with spans, and marks what is not certain", async () => {
    const parsed = await parseShell("echo 'a b' $x > é");
    expect(parsed).toEqual({
      ok: true,
      script: {
        items: [
          {
            node: {
              type: "simple",
              span: [0, 18],
              assignments: [],
              words: [
                { span: [0, 4], text: "echo" },
                { span: [5, 10], text: "a b" },
                { span: [11, 13], dynamic: ["parameter"] },
              ],
              redirects: [{ span: [14, 18], op: ">", target: { span: [16, 18], text: "é" } }],
            },
            background: false,
          },
        ],
        here_docs: [],
        facts: { arithmetic: false, quoted_code: false, prompt_expansion: false },
      },
    });
  });

  test("C14 the component refuses deep nesting by name, and works on afterwards", async () => {
    for (const [open, close] of [
      ["( ", ")"],
      ["{ ", "; }"],
      ["$(", ")"],
      ['"${a:-', '}"'],
      ["if ", ""],
      ["coproc ", ""],
    ] as const) {
      const deep = await parseShell(`${open.repeat(2_000)}x${close.repeat(2_000)}`);
      expect(deep).toMatchObject({ ok: false, fault: { code: "shell.too_deep" } });
    }
    expect(await parseShell("ls")).toMatchObject({ ok: true });
  });

  test("C14 a rule on a tool that does not exist names the nearest one", async () => {
    const compiled = await compilePolicy({ allow: [], ask: [], deny: sources(["Bahs(rm *)"]) });
    expect(compiled).toMatchObject({
      ok: false,
      faults: [{ rule: "Bahs(rm *)", why: expect.stringContaining('"bash"') }],
    });
  });

  test("C14 a released policy denies", async () => {
    const compiled = await compilePolicy({ allow: [], ask: [], deny: [] });
    if (!compiled.ok) throw new Error("no rule can't be wrong");
    await releasePolicy(compiled.policy);
    expect((await decide(compiled.policy, question({ id: "", command: "ls", verdict: "" }))).verdict).toBe("deny");
  });
});
