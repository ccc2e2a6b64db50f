import { expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import type { PermissionAnswer, PermissionQuestion } from "../contract/asking.ts";
import { isRefused } from "../contract/refuse.ts";
import type { Effect, PolicyQuestion } from "../contract/verdict.ts";
import { validate } from "../dispatch/validate.ts";
import { decisionOf, echoTool, judgeOf, readTool, requestOf, smallCore } from "../testing/small_core.ts";
import { type TempFolder, tempFolder } from "../testing/temp_folder.ts";
import { defineTool } from "../tools/define_tool.ts";
import { type Authority, authorize } from "./authorize.ts";

const own = defineTool({
  name: "own",
  description: "A person's own command",
  requires: "danger-full-access",
  params: () => Type.Object({}),
  decidedBy: "caller",
  title: () => "Own",
  needs: () => [],
  run: async () => null,
});

/** Authorizes one call in a folder: who answered, or the code of the refusal. */
async function ask(folder: TempFolder, request: ReturnType<typeof requestOf>, authority: Partial<Authority>) {
  const core = smallCore({ folder, tools: [echoTool(), readTool(), own], authority });
  const valid = await validate(request, core.registry);
  if (isRefused(valid)) throw new Error(valid.failure.message);
  const end = await authorize(valid, core.authority);
  return isRefused(end) ? end.failure.code : end.answeredBy;
}

const echo = (text: string, signal?: AbortSignal) => requestOf("echo", { text }, signal ? { signal } : {});
const somebody = (answer: PermissionAnswer, asked: PermissionQuestion[] = []): Authority["asker"] => ({
  canAsk: () => true,
  ask: async (question) => {
    asked.push(question);
    return answer;
  },
});

test("D1 allow passes, deny is refused, and nobody is asked about either", async () => {
  using folder = tempFolder({ "app/": "" });
  const asked: PermissionQuestion[] = [];
  const asker = somebody({ choice: "once" }, asked);
  expect(await ask(folder, echo("x"), { judge: judgeOf("allow"), asker })).toBe("policy");
  expect(await ask(folder, echo("x"), { judge: judgeOf("deny"), asker })).toBe("policy.denied");
  expect(asked).toEqual([]);
});

test("D1 ask is a no at once where nobody can be asked, and goes to the person where somebody can", async () => {
  using folder = tempFolder({ "app/": "" });
  const asked: PermissionQuestion[] = [];
  expect(await ask(folder, echo("x"), { judge: judgeOf("ask") })).toBe("policy.needs_answer");
  expect(await ask(folder, echo("x"), { judge: judgeOf("ask"), asker: somebody({ choice: "once" }, asked) })).toBe(
    "person",
  );
  expect(await ask(folder, echo("x"), { judge: judgeOf("ask"), asker: somebody({ choice: "deny" }, asked) })).toBe(
    "policy.refused_by_person",
  );
  expect(asked[0]).toMatchObject({
    id: "c1",
    tool: "echo",
    title: "Echo x",
    input: { text: "x" },
    decision: { verdict: "ask" },
  });
});

test("D1 an answer that is none of those on offer is a no", async () => {
  using folder = tempFolder({ "app/": "" });
  const odd: Authority["asker"]["ask"] = async () => JSON.parse('{"choice":"for ever"}');
  expect(await ask(folder, echo("x"), { judge: judgeOf("ask"), asker: { canAsk: () => true, ask: odd } })).toBe(
    "policy.refused_by_person",
  );
});

test("D9 once holds for one call; session and always hold for the same call again and for no other", async () => {
  for (const [choice, times] of [
    ["once", 2],
    ["session", 1],
    ["always", 1],
  ] as const) {
    using folder = tempFolder({ "app/": "" });
    const asked: PermissionQuestion[] = [];
    const { approvals } = smallCore({ folder, tools: [] }).authority;
    const authority = { judge: judgeOf("ask"), asker: somebody({ choice }, asked), approvals };
    const who = [await ask(folder, echo("x"), authority), await ask(folder, echo("x"), authority)];
    expect(who).toEqual(["person", choice === "once" ? "person" : "grant"]);
    expect(asked).toHaveLength(times);
    expect(await ask(folder, echo("y"), authority)).toBe("person");
    expect(asked).toHaveLength(times + 1);
  }
});

test("D9 what was allowed for the session is denied all the same once the policy denies it", async () => {
  using folder = tempFolder({ "app/": "" });
  const { approvals } = smallCore({ folder, tools: [] }).authority;
  const asker = somebody({ choice: "session" });
  expect(await ask(folder, echo("x"), { judge: judgeOf("ask"), asker, approvals })).toBe("person");
  expect(await ask(folder, echo("x"), { judge: judgeOf("deny"), asker, approvals })).toBe("policy.denied");
});

test("A24 a call that is cancelled while a person thinks is cancelled, whatever the answer then is", async () => {
  using folder = tempFolder({ "app/": "" });
  const stop = new AbortController();
  const thinking: Authority["asker"]["ask"] = (_, signal) =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve({ choice: "session" }));
      stop.abort();
    });
  const { approvals } = smallCore({ folder, tools: [] }).authority;
  const asker = { canAsk: () => true, ask: thinking };
  expect(await ask(folder, echo("x", stop.signal), { judge: judgeOf("ask"), asker, approvals })).toBe("tool.cancelled");
  expect(await ask(folder, echo("x"), { judge: judgeOf("ask"), approvals })).toBe("policy.needs_answer");
});

test("D1 a policy that fails refuses", async () => {
  using folder = tempFolder({ "app/": "" });
  const judge = async () => Promise.reject(new Error("the component is broken"));
  expect(await ask(folder, echo("x"), { judge })).toBe("tool.crashed");
});

test("D1 the person's own command is not judged by the rules for models", async () => {
  using folder = tempFolder({ "app/": "" });
  expect(await ask(folder, requestOf("own", {}, { door: "run" }), { judge: judgeOf("deny") })).toBe("caller");
});

test("D1 a path through a link is judged at both ends, a plain one once, and the mode and scalars go along", async () => {
  using folder = tempFolder({ "app/note.txt": "x", "secret.txt": "x" });
  symlinkSync(folder.at("secret.txt"), folder.at("app/link.txt"));
  const questions: PolicyQuestion[] = [];
  const judge = async (question: PolicyQuestion) => {
    questions.push(question);
    const isSecret = (effect: Effect) => effect.kind === "read" && effect.path === folder.at("secret.txt");
    return decisionOf(question.effects.some(isSecret) ? "deny" : "allow");
  };
  expect(await ask(folder, requestOf("peek", { path: "link.txt" }), { judge })).toBe("policy.denied");
  expect(await ask(folder, requestOf("peek", { path: "./note.txt" }), { judge })).toBe("policy");
  expect(questions.map(({ effects }) => effects)).toEqual([
    [
      { kind: "read", path: folder.at("app/link.txt") },
      { kind: "read", path: folder.at("secret.txt"), link: folder.at("app/link.txt") },
    ],
    [{ kind: "read", path: folder.at("app/note.txt") }],
  ]);
  expect(questions[0]).toMatchObject({
    tool: "peek",
    required: "read-only",
    mode: "workspace-write",
    params: { path: "link.txt" },
    roots: [folder.at("app")],
  });
});

test("D1 a path that can't be looked up refuses the call with its own code", async () => {
  using folder = tempFolder({ "app/": "" });
  symlinkSync(folder.at("app/b"), folder.at("app/a"));
  symlinkSync(folder.at("app/a"), folder.at("app/b"));
  expect(await ask(folder, requestOf("peek", { path: "a" }), {})).toBe("fs.bad_path");
});
