import { describe, expect, test } from "bun:test";
import { PERMISSION_CHOICES } from "../contract/asking.ts";
import type { ToolRequest } from "../contract/request.ts";
import type { ToolResult } from "../contract/result.ts";
import { createQuestionDesk } from "./question_desk.ts";
import type { ServerLine } from "./server_line.ts";
import { createServeSession } from "./session.ts";

const meta = { durationMs: 0, auditId: "a" };
const done = (output: unknown): ToolResult => ({ ok: true, output, meta });

/** A session over a core that runs what `tool` names: hold waits for release(), ask asks, the rest ends at once. */
function start() {
  const lines: ServerLine[] = [];
  const send = (line: ServerLine) => void lines.push(line);
  const desk = createQuestionDesk(send);
  const held = new Map<string, () => void>();
  const dispatch = async (request: ToolRequest): Promise<ToolResult> => {
    if (request.tool === "crash") throw new Error("audit is full");
    if (request.tool === "say") request.onOutput?.({ stream: "stdout", text: "hi" });
    if (request.tool.startsWith("hold")) {
      const gate = Promise.withResolvers<void>();
      held.set(request.id, gate.resolve);
      request.signal.addEventListener("abort", () => gate.resolve());
      await gate.promise;
      return request.signal.aborted
        ? { ok: false, error: { code: "tool.cancelled", message: "cancelled", at: "execute" }, meta }
        : done("held");
    }
    if (request.tool !== "ask") return done(request.input);
    if (!desk.asker.canAsk())
      return { ok: false, error: { code: "policy.needs_answer", message: "nobody", at: "authorize" }, meta };
    const decision = { verdict: "ask" as const, reason: "r", by: "mode" as const, trace: [] };
    return done(
      await desk.asker.ask(
        {
          id: request.id,
          tool: "ask",
          title: "t",
          input: request.input,
          decision,
          choices: PERMISSION_CHOICES,
          suggestions: [{ rule: "exact", rules: [], shows: "exactly this" }],
        },
        request.signal,
      ),
    );
  };
  const core = {
    dispatch,
    concurrencySafe: async (request: ToolRequest) => request.tool.endsWith("_safe"),
    tools: () => [],
  };
  const session = createServeSession({ core, desk, send, unsentBytes: () => 0, now: () => 5, version: "9.9.9" });
  const say = async (...messages: (object | string)[]) => {
    const text = messages
      .map((message) => `${typeof message === "string" ? message : JSON.stringify(message)}\n`)
      .join("");
    session.push(new TextEncoder().encode(text));
    await Bun.sleep(1);
  };
  const said = (type: ServerLine["type"]) =>
    lines.filter((line) => line.type === type).map((line) => ("id" in line ? line.id : type));
  return { lines, session, say, said, release: (id: string) => held.get(id)?.() };
}

const call = (id: string, tool: string, more: object = {}) => ({ id, tool, input: { n: id }, ...more });

describe("F4: a conversation", () => {
  test("starts with ready and answers a call with started and result", async () => {
    const { lines, say } = start();
    await say(call("1", "echo"));
    expect(lines).toEqual([
      { type: "ready", version: "9.9.9", protocol: 1, tools: [] },
      { id: "1", type: "started", at: 5 },
      { id: "1", type: "result", ok: true, output: { n: "1" }, meta },
    ]);
  });
  test("output is sent only when it was asked for", async () => {
    const { said, say } = start();
    await say(call("1", "say"), call("2", "say", { stream: true }));
    expect(said("output")).toEqual(["2"]);
  });
  test("every malformed line gets one error line and the next call works", async () => {
    const { lines, said, session, say } = start();
    session.push(Uint8Array.from([0xff, 0x0a]));
    await say(
      "{",
      "[]",
      '{"type":"nope"}',
      "",
      { type: "cancel", id: "x" },
      { type: "permission", id: "x", choice: "once" },
      call("1", "echo"),
    );
    const codes = lines.flatMap((line) => (line.type === "error" ? [line.error.code] : []));
    expect(codes).toEqual([
      "serve.bad_utf8",
      "serve.bad_json",
      "serve.bad_message",
      "serve.bad_message",
      "serve.unknown_id",
      "serve.unknown_id",
    ]);
    expect(said("result")).toEqual(["1"]);
  });
  test("an id is taken while its call runs and free afterwards", async () => {
    const { lines, said, say, release } = start();
    await say(call("1", "hold"), call("1", "echo"));
    expect(lines.find((line) => line.type === "error")).toMatchObject({
      id: "1",
      error: { code: "serve.duplicate_id" },
    });
    release("1");
    await Bun.sleep(1);
    await say(call("1", "echo"));
    expect(said("result")).toEqual(["1", "1"]);
  });
  test("a dispatch that throws is a result, not the end", async () => {
    const { lines, said, say } = start();
    await say(call("1", "crash"), call("2", "echo"));
    expect(lines.find((line) => line.type === "result")).toMatchObject({
      ok: false,
      error: { code: "tool.crashed", message: "audit is full" },
    });
    expect(said("result")).toEqual(["1", "2"]);
  });
});

describe("C4: calls beside each other", () => {
  test("safe ones overtake, the others keep their order", async () => {
    const { said, say, release } = start();
    await say(
      call("1", "hold"),
      call("2", "echo"),
      call("3", "echo_safe"),
      call("4", "hold_safe"),
      call("5", "echo_safe"),
    );
    expect(said("started")).toEqual(["1", "3", "4", "5"]);
    expect(said("result").sort()).toEqual(["3", "5"]);
    release("1");
    await Bun.sleep(1);
    expect(said("result").sort()).toEqual(["1", "2", "3", "5"]);
  });
  test("at most 16 safe ones run at once, and none is forgotten", async () => {
    const { said, say, release } = start();
    await say(...Array.from({ length: 40 }, (_, i) => call(`${i}`, "hold_safe")));
    expect(said("started")).toHaveLength(16);
    for (let i = 0; i < 40; i++) {
      release(`${i}`);
      await Bun.sleep(0);
    }
    await Bun.sleep(1);
    expect(said("result")).toHaveLength(40);
  });
});

describe("E9: questions", () => {
  test("an answer reaches its call, and only once", async () => {
    const { lines, say } = start();
    await say(call("1", "ask"));
    expect(lines.at(-1)).toMatchObject({ id: "1", type: "permission", choices: ["once", "session", "always", "deny"] });
    await say(
      { type: "permission", id: "1", choice: "deny", reason: "no" },
      { type: "permission", id: "1", choice: "once" },
    );
    expect(lines.find((line) => line.type === "result")).toMatchObject({ output: { choice: "deny", reason: "no" } });
    expect(lines.find((line) => line.type === "error")).toMatchObject({ error: { code: "serve.unknown_id" } });
  });
  test("an answer that was not on offer is an error line, and the question waits on", async () => {
    const { lines, say } = start();
    await say(call("1", "ask"));
    await say(
      { type: "permission", id: "1", choice: "always", rule: "Bash(*)" },
      { type: "permission", id: "1", choice: "once", uses: 3 },
      { type: "permission", id: "1", choice: "always", scope: "session" },
    );
    expect(lines.filter((line) => line.type === "error").map(({ id, error }) => [id, error.code])).toEqual(
      Array(3).fill(["1", "serve.bad_message"]),
    );
    await say({ type: "permission", id: "1", choice: "always", rule: "exact", scope: "user", forMs: 5, uses: 2 });
    expect(lines.find((line) => line.type === "result")).toMatchObject({
      output: { choice: "always", rule: "exact", scope: "user", forMs: 5, uses: 2 },
    });
  });
  test("hello with answers false denies what waits and asks no more", async () => {
    const { lines, said, say } = start();
    await say(call("1", "ask"));
    await say({ type: "hello", answers: false }, call("2", "ask"));
    expect(lines.filter((line) => line.type === "result")).toMatchObject([
      { output: { choice: "deny" } },
      { error: { code: "policy.needs_answer" } },
    ]);
    expect(said("permission")).toEqual(["1"]);
  });
  test("the end of input denies what waits, lets the rest finish, then ends", async () => {
    const { said, session, say, release } = start();
    await say(call("1", "ask"), call("2", "hold"), call("3", "ask"));
    const end = session.end();
    await Bun.sleep(1);
    expect(said("result")).toEqual(["1"]);
    release("2");
    await end;
    expect(said("result")).toEqual(["1", "2", "3"]);
    expect(said("permission")).toEqual(["1"]);
  });
  test("a last line without an end is taken", async () => {
    const { said, session } = start();
    session.push(new TextEncoder().encode(JSON.stringify(call("1", "echo"))));
    await session.end();
    expect(said("result")).toEqual(["1"]);
  });
});

describe("F4: cancelling", () => {
  test("a running call gets its signal, a waiting one never starts", async () => {
    const { lines, said, say } = start();
    await say(call("1", "hold"), call("2", "echo"), { type: "cancel", id: "2" });
    expect(said("result")).toEqual(["2"]);
    await say({ type: "cancel", id: "1" });
    expect(said("started")).toEqual(["1"]);
    expect(lines.filter((line) => line.type === "result")).toMatchObject([
      { error: { code: "tool.cancelled" } },
      { error: { code: "tool.cancelled" } },
    ]);
  });
  test("a client that is gone ends every call", async () => {
    const { said, session, say } = start();
    await say(call("1", "hold"), call("2", "ask"), call("3", "hold_safe"));
    await session.abort();
    expect(said("result").sort()).toEqual(["1", "2", "3"]);
  });
});
