import { expect, test } from "bun:test";
import { readFileSync, symlinkSync, unlinkSync } from "node:fs";
import type { AuditLog } from "../audit/audit.ts";
import { ToolFault } from "../contract/fault.ts";
import type { ToolRequest } from "../contract/request.ts";
import type { ToolResult } from "../contract/result.ts";
import type { Hook } from "../hooks/run_hooks.ts";
import {
  auditIn,
  crashingTool,
  decisionOf,
  echoTool,
  judgeOf,
  readTool,
  requestOf,
  type SmallCore,
  smallCore,
} from "../testing/small_core.ts";
import { type TempFolder, tempFolder } from "../testing/temp_folder.ts";
import { dispatch } from "./dispatch.ts";

type Row = { row: string; id: string; tool: string; ok?: boolean; code?: string; stage?: string; verdict?: string };

const rowsOf = (folder: TempFolder): Row[] =>
  readFileSync(folder.at("audit.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line): Row => JSON.parse(line));

/** One call through a whole core, with the two rows it left. */
async function send(request: ToolRequest, parts: Partial<SmallCore> = {}) {
  using folder = tempFolder({ "app/note.txt": "hello" });
  const result = await dispatch(
    request,
    smallCore({ folder, tools: [echoTool(), readTool(), crashingTool()], ...parts }),
  );
  return { result, rows: rowsOf(folder) };
}

const codeOf = (result: ToolResult) => (result.ok ? "ok" : `${result.error.code} at ${result.error.at}`);

test("A6 a call goes through validate, authorize, hooks, plan and execute, in this order", async () => {
  const order: string[] = [];
  const seen = <T>(name: string, value: T): T => {
    order.push(name);
    return value;
  };
  using folder = tempFolder({ "app/note.txt": "hello" });
  const peek = readTool();
  const tool = { ...peek, check: (args: unknown) => seen("validate", peek.check(args)), run: peek.run.bind(peek) };
  const hook: Hook = { name: "watch", before: async () => seen("hooks", { answer: "proceed" as const }) };
  const core = smallCore({
    folder,
    tools: [tool],
    authority: { judge: async () => seen("authorize", decisionOf("allow")) },
    hooks: [hook],
  });
  const resolve = core.planner.resolve;
  core.planner = { ...core.planner, resolve: (path) => seen("plan", resolve(path)) };
  tool.run = async (args, grants) => seen("execute", await peek.run(args, grants));
  const result = await dispatch(requestOf("peek", { path: "note.txt" }), core);
  expect(result).toMatchObject({ ok: true, output: { text: "hello" } });
  expect(order).toEqual(["validate", "authorize", "hooks", "plan", "execute"]);
});

test("A6 a known tool ends as an audited success", async () => {
  const { result, rows } = await send(requestOf("echo", { text: "hi", times: "2" }));
  expect(result).toMatchObject({
    ok: true,
    output: { said: "hihi" },
    meta: { coercions: [{ path: "/times", from: '"2"', to: "2" }] },
  });
  expect(rows.map(({ row, ok }) => [row, ok])).toEqual([
    ["open", undefined],
    ["close", true],
  ]);
  expect(rows.map(({ id }) => id)).toEqual([result.meta.auditId, result.meta.auditId]);
});

test("A6 an unknown tool ends as an audited refusal with the name that was meant", async () => {
  const { result, rows } = await send(requestOf("ecko", { text: "hi" }));
  expect(result).toMatchObject({
    ok: false,
    error: { code: "tool.unknown", at: "validate", hint: "did you mean echo?" },
  });
  expect(rows.map(({ row, tool, code, stage }) => ({ row, tool, code, stage }))).toEqual([
    { row: "open", tool: "ecko", code: undefined, stage: undefined },
    { row: "close", tool: "ecko", code: "tool.unknown", stage: "validate" },
  ]);
});

test("A6 a tool that throws ends as tool.crashed through the same tail", async () => {
  const { result, rows } = await send(requestOf("crash", {}));
  expect(result).toMatchObject({
    ok: false,
    error: { code: "tool.crashed", message: "nobody thought of this", at: "execute" },
  });
  expect(rows.at(-1)).toMatchObject({ row: "close", ok: false, code: "tool.crashed" });
});

const deny: Hook = { name: "guard", before: async () => ({ answer: "deny", reason: "not today" }) };

test("A6 D1 a refusal of every stage is audited under its code and its stage", async () => {
  const ways: [ToolRequest, Partial<SmallCore>, string][] = [
    [requestOf("echo", { text: 5 }), {}, "input.invalid at validate"],
    [requestOf("echo", { text: "x" }), { authority: { judge: judgeOf("deny") } }, "policy.denied at authorize"],
    [requestOf("echo", { text: "x" }), { authority: { judge: judgeOf("ask") } }, "policy.needs_answer at authorize"],
    [requestOf("echo", { text: "x" }), { hooks: [deny] }, "hook.denied at hooks"],
    [requestOf("peek", { path: "." }), {}, "fs.not_a_file at plan"],
    [requestOf("peek", { path: "gone.txt" }), {}, "fs.not_found at execute"],
  ];
  for (const [request, parts, wanted] of ways) {
    const { result, rows } = await send(request, parts);
    expect(codeOf(result)).toBe(wanted);
    expect(rows.map(({ row, code, stage }) => (code ? `${code} at ${stage}` : row))).toEqual(["open", wanted]);
  }
});

test("B18 a refusal is capped like any other output, its details too", async () => {
  const name = "x".repeat(500_000);
  const { result } = await send(requestOf("echo", { text: "x", [name]: 1 }));
  if (result.ok) throw new Error("the unknown field was accepted");
  expect(result.error.code).toBe("input.invalid");
  for (const text of [result.error.message, JSON.stringify(result.error.details)])
    expect(text.length).toBeLessThan(201_000);
  expect(result.meta.droppedBytes).toBeGreaterThan(0);
});

test("E1 when the opening row can't be written nothing runs and dispatch rejects", async () => {
  const ran: string[] = [];
  const closed: AuditLog["open"] = () => {
    throw new ToolFault({ code: "audit.unwritable", message: "no room" });
  };
  using folder = tempFolder({ "app/": "" });
  const core = smallCore({ folder, tools: [echoTool(ran)], audit: { ...auditIn(folder), open: closed } });
  await expect(dispatch(requestOf("echo", { text: "x" }), core)).rejects.toMatchObject({ code: "audit.unwritable" });
  expect(ran).toEqual([]);
  await dispatch(requestOf("echo", { text: "x" }), { ...core, audit: auditIn(folder) });
  expect(ran).toEqual(["x"]);
});

test("D1 a rewrite by a hook is validated and authorized again, and what runs is the rewritten call", async () => {
  const judged: unknown[] = [];
  const rewrite: Hook = {
    name: "tidy",
    before: async ({ args }) =>
      JSON.stringify(args).includes("new") ? { answer: "proceed" } : { answer: "rewrite", input: { text: "new" } },
  };
  const judge = async (question: { params: unknown }) => {
    judged.push(question.params);
    return decisionOf("allow");
  };
  const { result } = await send(requestOf("echo", { text: "old" }), { hooks: [rewrite], authority: { judge } });
  expect(result).toMatchObject({ ok: true, output: { said: "new" } });
  expect(judged).toEqual([{ text: "old" }, { text: "new" }]);
});

test("D1 a rewrite into something invalid or denied is refused", async () => {
  const into = (input: unknown): Hook => ({ name: "tidy", before: async () => ({ answer: "rewrite", input }) });
  expect(codeOf((await send(requestOf("echo", { text: "old" }), { hooks: [into({ txt: 1 })] })).result)).toBe(
    "input.invalid at validate",
  );
  const judge = async (question: { params: Record<string, string> }) =>
    decisionOf(question.params["text"] === "old" ? "allow" : "deny");
  const denied = await send(requestOf("echo", { text: "old" }), {
    hooks: [into({ text: "new" })],
    authority: { judge },
  });
  expect(codeOf(denied.result)).toBe("policy.denied at authorize");
});

test("A24 a call that was cancelled before it started runs nothing and says so; another one runs", async () => {
  const ran: string[] = [];
  const cancelled = await send(requestOf("echo", { text: "x" }, { signal: AbortSignal.abort() }), {
    tools: [echoTool(ran)],
  });
  expect([codeOf(cancelled.result), ran]).toEqual(["tool.cancelled at execute", []]);
  expect(cancelled.rows.at(-1)).toMatchObject({ row: "close", code: "tool.cancelled" });
  expect((await send(requestOf("echo", { text: "x" }), { tools: [echoTool(ran)] })).result.ok).toBe(true);
});

test("D1 a link that is swapped while a person is asked is not followed; one that stays is", async () => {
  for (const swap of [true, false]) {
    using folder = tempFolder({ "app/note.txt": "hello", "secret.txt": "key" });
    symlinkSync(folder.at("app/note.txt"), folder.at("app/link"));
    const ask = async () => {
      if (swap) {
        unlinkSync(folder.at("app/link"));
        symlinkSync(folder.at("secret.txt"), folder.at("app/link"));
      }
      return { choice: "once" as const };
    };
    const core = smallCore({
      folder,
      tools: [readTool()],
      authority: { judge: judgeOf("ask"), asker: { canAsk: () => true, ask } },
    });
    const result = await dispatch(requestOf("peek", { path: "link" }), core);
    expect(codeOf(result)).toBe(swap ? "fs.moved at plan" : "ok");
  }
});
