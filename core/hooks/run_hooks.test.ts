import { expect, test } from "bun:test";
import { authorize } from "../authorize/authorize.ts";
import { isRefused } from "../contract/refuse.ts";
import { validate } from "../dispatch/validate.ts";
import { echoTool, requestOf, smallCore } from "../testing/small_core.ts";
import { tempFolder } from "../testing/temp_folder.ts";
import { type Hook, type HookAnswer, type Revisit, runHooks } from "./run_hooks.ts";

/** An allowed call through the real stages before the hooks. */
async function allowedCall() {
  using folder = tempFolder({ "app/": "" });
  const core = smallCore({ folder, tools: [echoTool()] });
  const revisit: Revisit = async (request) => {
    const valid = await validate(request, core.registry);
    return isRefused(valid) ? valid : authorize(valid, core.authority);
  };
  const call = await revisit(requestOf("echo", { text: "old" }));
  if (isRefused(call)) throw new Error(call.failure.message);
  return { call, revisit };
}

/** How the hooks end: the arguments that go on, or the refusal. */
async function endOf(...hooks: Hook[]) {
  const { call, revisit } = await allowedCall();
  const end = await runHooks(call, hooks, revisit);
  return isRefused(end) ? `${end.failure.code}: ${end.failure.message}` : end.args;
}

const hook = (name: string, before: Hook["before"]): Hook => ({ name, before });
const saying = (name: string, answer: HookAnswer) => hook(name, async () => answer);
const proceed = saying("calm", { answer: "proceed" });

test("D1 without hooks, and with hooks that proceed, the call goes on as it is", async () => {
  expect(await endOf()).toEqual({ text: "old" });
  expect(await endOf(proceed, proceed)).toEqual({ text: "old" });
});

test("D1 one hook that denies is enough, and the ones after it are not asked", async () => {
  const asked: string[] = [];
  const late = hook("late", async () => {
    asked.push("late");
    return { answer: "proceed" };
  });
  expect(await endOf(proceed, saying("guard", { answer: "deny", reason: "not today" }), late)).toBe(
    "hook.denied: The hook guard refused echo: not today",
  );
  expect(asked).toEqual([]);
});

test("D1 a hook that fails refuses, whether it throws at once, later, or answers nonsense", async () => {
  const failed = /^hook\.failed: The hook odd failed, so echo was not run: /;
  const throwing = hook("odd", () => {
    throw new Error("at once");
  });
  expect(await endOf(throwing)).toMatch(failed);
  expect(await endOf(hook("odd", async () => Promise.reject(new Error("later"))))).toMatch(failed);
  for (const answer of [undefined, null, "proceed", {}, { answer: "maybe" }]) {
    // What a hook that is written without types could give.
    const untyped: Hook["before"] = () => Promise.resolve(answer as HookAnswer);
    expect(await endOf(hook("odd", untyped))).toMatch(failed);
  }
});

test("D1 one rewrite is taken and shown to every hook again; a second one is refused under its hook's name", async () => {
  const shown: unknown[] = [];
  const once = hook("once", async ({ args }) => {
    shown.push(args);
    return shown.length === 1 ? { answer: "rewrite", input: { text: "new" } } : { answer: "proceed" };
  });
  expect(await endOf(once)).toEqual({ text: "new" });
  expect(shown).toEqual([{ text: "old" }, { text: "new" }]);
  let turn = 0;
  const first = hook("first", async () =>
    turn++ === 0 ? { answer: "rewrite", input: { text: "a" } } : { answer: "proceed" },
  );
  const second = saying("second", { answer: "rewrite", input: { text: "b" } });
  expect(await endOf(first, second)).toBe(
    "hook.failed: The hook second failed, so echo was not run: asked for a second rewrite of the same call",
  );
});
