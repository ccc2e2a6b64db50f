/** The policy component in two halves, with the built-in rules compiled in its memory, against the whole one that compiles them anew. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { FIXED_RULES, ownFolderRules } from "../../core/config/builtin_rules.ts";
import type { PolicyQuestion, RuleLists } from "../../core/contract/verdict.ts";
import { instantiatePolicy, type LoadedPolicy } from "../../core/engine/load.ts";
import { keepRules, keptRules } from "../../core/engine/policy.ts";
import { PolicyDoor } from "../../core/engine/policy_door.ts";

const GENERATED = join(import.meta.dir, "..", "..", "core", "engine", "generated");
const NO_REST = Promise.resolve("/nowhere");

const OWN: RuleLists = ownFolderRules("/home/ada/.local/state/cordon", "/home/ada/.config/cordon");

const question = (more: Partial<PolicyQuestion>): PolicyQuestion => ({
  tool: "grep_search",
  required: "read-only",
  mode: "workspace-write",
  effects: [{ kind: "read", path: "/home/ada/project/src" }],
  params: { pattern: "probe", path: "src" },
  cwd: "/home/ada/project",
  home: "/home/ada",
  roots: ["/home/ada/project"],
  asks: "person",
  explain: true,
  ...more,
});

const onPaths = (paths: readonly string[]): PolicyQuestion[] =>
  paths.flatMap((path) => [
    question({ effects: [{ kind: "read", path }] }),
    question({ tool: "read_file", effects: [{ kind: "read", path }] }),
    question({ tool: "write_file", required: "workspace-write", effects: [{ kind: "write", path }] }),
  ]);

const PATHS = [
  ...["/home/ada/project/src/a.c", "/home/ada/project/.env", "/home/ada/project/.env.example", "/home/ada/.ssh/id_rsa"],
  ...[
    "/etc/passwd",
    "/home/ada/.bashrc",
    "/home/ada/.config/cordon/config.json",
    "/home/ada/project/.git/hooks/pre-commit",
  ],
  ...["/home/ada/.local/state/cordon/audit.jsonl", "/home/ada/project/package.json", "/home/ada/project/.npmrc", "/"],
];

function module(name: string): WebAssembly.Module {
  return new WebAssembly.Module(readFileSync(join(GENERATED, name)));
}

/** The whole module, which has compiled nothing. */
async function whole(): Promise<LoadedPolicy> {
  return instantiatePolicy(module("policy.core.wasm"), NO_REST);
}

async function halves(rest?: Promise<string>): Promise<LoadedPolicy> {
  return instantiatePolicy(module("policy.first.wasm"), rest);
}

/** A door and the set of all built-in rules, compiled by that instance itself or found in it. */
function begin(loaded: LoadedPolicy, from: "compiled here" | "kept") {
  const { rules } = loaded.policy;
  const under =
    from === "kept" ? keptRules(loaded.policy, FIXED_RULES) : rules.compile(JSON.stringify(FIXED_RULES), undefined);
  if (under === undefined) throw new Error("the built-in rules are not kept");
  const set = rules.compile(JSON.stringify(OWN), under);
  const door = new PolicyDoor(loaded);
  return (asked: PolicyQuestion) => door.decide(set, asked);
}

function commands(): string[] {
  const folder = join(import.meta.dir, "corpus");
  const cases: { command: string }[] = readdirSync(folder).flatMap((name) =>
    JSON.parse(readFileSync(join(folder, name), "utf8")),
  );
  return cases.map(({ command }) => command);
}

describe("the policy component in two halves", () => {
  test("F3 decides each command of the corpus, and each path, as the whole component does with rules compiled anew", async () => {
    const [one, other] = [begin(await halves(), "kept"), begin(await whole(), "compiled here")];
    const asked = commands().map((command) =>
      question({ tool: "bash", required: "danger-full-access", effects: [{ kind: "exec", command }] }),
    );
    expect(asked.length).toBeGreaterThan(400);
    for (const each of [...asked, ...onPaths(PATHS)]) expect(one(each)).toEqual(other(each));
  });

  test("F3 answers questions about files without the rest; about a command it can't, and then answers nothing any more", async () => {
    const decide = begin(await halves(NO_REST), "kept");
    expect(onPaths(PATHS).map((each) => decide(each).verdict)).toContain("deny");
    expect(decide(question({})).verdict).toBe("allow");
    const command = question({ tool: "bash", effects: [{ kind: "exec", command: "ls" }] });
    expect(() => decide(command)).toThrow("The policy engine failed");
    expect(() => decide(question({}))).toThrow("The policy engine failed");
  });

  test("keeps the very rules of this build, and no others", async () => {
    const { policy } = await halves(NO_REST);
    expect(keptRules(policy, FIXED_RULES)).toBeNumber();
    expect(keptRules(policy, { ...FIXED_RULES, deny: FIXED_RULES.deny.slice(1) })).toBeUndefined();
    expect(keptRules((await whole()).policy, FIXED_RULES)).toBeUndefined();
  });

  test("rules that can't be used are not kept", async () => {
    const { policy } = await whole();
    const wrong: RuleLists = { allow: [], ask: [], deny: [{ rule: "Bahs(rm *)", layer: "user", origin: "a:1" }] };
    expect(() => keepRules(policy, wrong)).toThrow();
    expect(keptRules(policy, wrong)).toBeUndefined();
  });
});
