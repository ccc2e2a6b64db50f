// F5: `cordon serve`, the JSON mode. Whatever comes in, an error line goes out and the session goes on.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { processesWith, uniqueSleep } from "../support/processes.ts";
import { runCordon, startCordon } from "../support/run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";
import { type Client, startServe } from "../support/serve_client.ts";
import { waitFor } from "../support/wait_for.ts";

const TOOLS = ["read_file", "write_file", "edit_file", "glob_search", "grep_search", "bash"];

let scratch: Scratch;
let client: Client;
beforeEach(async () => {
  scratch = makeScratch();
  writeFileSync(join(scratch.work, "a.txt"), "alpha\nbeta\n");
  client = await startServe({ scratch });
});
afterEach(async () => {
  client.kill("SIGKILL");
  await client.close().catch(() => {});
  removeScratch(scratch);
});

/** The proof that a session lives: a call that must give its result. */
async function stillWorks(): Promise<void> {
  expect(await client.call("read_file", { path: "a.txt" })).toMatchObject({
    ok: true,
    output: { file: { content: "alpha\nbeta\n" } },
  });
}

describe("framing", () => {
  test("F5 the first line says ready, the protocol and the tools with their schemas", () => {
    const [first] = client.lines;
    expect(first).toMatchObject({ type: "ready", protocol: 1, version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
    expect(first?.tools?.map((tool) => tool.name).sort()).toEqual([...TOOLS].sort());
  });
  const BAD: Record<string, { line: string | Uint8Array; code: string }> = {
    "bad JSON": { line: '{"id":"1",', code: "serve.bad_json" },
    "a word": { line: "hello", code: "serve.bad_json" },
    "JSON that is no object": { line: "[1,2]", code: "serve.bad_message" },
    null: { line: "null", code: "serve.bad_message" },
    "an unknown type": { line: '{"type":"shutdown"}', code: "serve.bad_message" },
    "a call without an id": { line: '{"tool":"bash","input":{}}', code: "serve.bad_message" },
    "an id of the wrong type": { line: '{"id":1,"tool":"bash","input":{}}', code: "serve.bad_message" },
    "an unknown field of the message": {
      line: '{"id":"x","tool":"bash","input":{},"inptu":1}',
      code: "serve.bad_message",
    },
    "a time limit that is no number": {
      line: '{"id":"x","tool":"bash","input":{},"timeoutMs":"5"}',
      code: "serve.bad_message",
    },
    "invalid UTF-8": { line: new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), code: "serve.bad_utf8" },
    "a UTF-8 character cut short": { line: new Uint8Array([0x22, 0xe2, 0x82, 0x22]), code: "serve.bad_utf8" },
    "a line of 20 MB": { line: Buffer.alloc(20 * 1024 * 1024, 0x61), code: "serve.too_long" },
    "JSON nested 100,000 deep": { line: "[".repeat(100_000), code: "serve.bad_json" },
    "an answer to no question": { line: '{"type":"permission","id":"none","choice":"once"}', code: "serve.unknown_id" },
    "a cancel of no call": { line: '{"type":"cancel","id":"none"}', code: "serve.unknown_id" },
  };
  for (const [what, { line, code }] of Object.entries(BAD)) {
    test(`F5 ${what} gets an error line with ${code}, and the next call works`, async () => {
      await client.raw(line);
      await client.raw("\n");
      const answer = await client.wait({ type: "error" });
      expect(answer.error).toMatchObject({ code, message: expect.any(String), hint: expect.any(String) });
      await stillWorks();
      expect(client.lines.filter(({ type }) => type === "error")).toHaveLength(1);
      expect((await client.close()).code).toBe(0);
    });
  }
  test("F5 empty lines are nothing, and lines may end in CRLF", async () => {
    await client.raw('\n\r\n\n{"type":"ping"}\r\n');
    await client.wait({ type: "pong" });
    await stillWorks();
    expect(client.lines.some(({ type }) => type === "error")).toBe(false);
  });
  test("F5 a line that comes byte by byte is one line, UTF-8 cut anywhere", async () => {
    for (const byte of Buffer.from('{"id":"ü","tool":"read_file","input":{"path":"a.txt"}}\n'))
      await client.raw(new Uint8Array([byte]));
    expect(await client.wait({ id: "ü", type: "result" })).toMatchObject({ ok: true });
  });
});

describe("calls", () => {
  test("A3 an unknown tool, an unknown field and a wrong type are results with code, place and hint", async () => {
    expect(await client.call("read_fil", { path: "a.txt" })).toMatchObject({
      ok: false,
      error: { code: "tool.unknown", at: "validate", hint: expect.stringContaining("read_file") },
    });
    const field = await client.call("read_file", { path: "a.txt", ofset: 1 });
    expect(field).toMatchObject({ ok: false, error: { code: "input.invalid", at: "validate" } });
    expect(JSON.stringify(field.error)).toContain("did you mean offset");
    const type = await client.call("read_file", { path: 7 });
    expect(type).toMatchObject({ ok: false, error: { code: "input.invalid" } });
    expect(JSON.stringify(type.error)).toContain("/path");
    await stillWorks();
  });
  test("F5 a second call with the id of a running one is refused, and the first goes on", async () => {
    await client.send({ id: "same", tool: "bash", input: { command: "sleep 1; echo first" } });
    await client.wait({ id: "same", type: "started" });
    await client.send({ id: "same", tool: "bash", input: { command: "echo second" } });
    expect(await client.wait({ id: "same", type: "error" })).toMatchObject({ error: { code: "serve.duplicate_id" } });
    expect(await client.wait({ id: "same", type: "result" })).toMatchObject({
      ok: true,
      output: { stdout: "first\n" },
    });
  });
  test("A13 cancel ends a running command with its whole tree", async () => {
    const mark = uniqueSleep();
    // exit 5 keeps bash from replacing itself by the last command.
    const command = `sleep ${mark} & sleep ${mark}; exit 5`;
    client.kill("SIGTERM");
    await client.close();
    client = await startServe({ scratch }, ["--mode", "danger-full-access"]);
    await client.send({ id: "long", tool: "bash", input: { command } });
    await waitFor("the tree to stand", () => processesWith(mark).length >= 3);
    await client.send({ type: "cancel", id: "long" });
    await client.wait({ id: "long", type: "result" });
    await waitFor("the tree to be gone", () => processesWith(mark).length === 0);
    await stillWorks();
  });
  test("A13 timeoutMs and the tool's own timeout end a command; a time-out is a normal result", async () => {
    const timedOut = {
      ok: true,
      output: { interrupted: true, returnCodeInterpretation: "timeout", stdout: "begun\n" },
    };
    const command = "echo begun; sleep 1000";
    expect(await client.call("bash", { command }, { timeoutMs: 700 })).toMatchObject(timedOut);
    expect(await client.call("bash", { command, timeout: 700 })).toMatchObject(timedOut);
  });
  test("E8 with stream the output comes as it is written, before the result", async () => {
    await client.send({ id: "s", tool: "bash", input: { command: "echo one; sleep 1; echo two >&2" }, stream: true });
    await client.wait({ id: "s", type: "output", stream: "stdout" });
    expect(client.lines.some(({ type }) => type === "result")).toBe(false);
    await client.wait({ id: "s", type: "output", stream: "stderr" });
    const result = await client.wait({ id: "s", type: "result" });
    expect(result.output).toMatchObject({ stdout: "one\n", stderr: "two\n" });
    const order = client.lines.filter(({ id }) => id === "s").map(({ type }) => type);
    expect(order).toEqual(["started", "output", "output", "result"]);
  });
  test("C4 read-only calls run beside each other and each gets its own answer", async () => {
    const ids = Array.from({ length: 50 }, (_, at) => `r${at}`);
    for (const id of ids) await client.send({ id, tool: "read_file", input: { path: "a.txt", limit: 1 } });
    for (const id of ids)
      expect(await client.wait({ id, type: "result" })).toMatchObject({ ok: true, output: { file: { numLines: 1 } } });
  });
});

/** Longer than warming up takes, also on a slow machine; a test that is too early passes. */
const WARMED_MS = 1000;

describe("the time before the first call", () => {
  test("a server warms up without a question and without a row, and the first call asks as ever", async () => {
    const asking = await startServe({ scratch }, ["--ask", "grep_search"]);
    await Bun.sleep(WARMED_MS);
    expect(asking.lines.map(({ type }) => type)).toEqual(["ready"]);
    expect(existsSync(join(scratch.state, "audit.jsonl"))).toBe(false);
    await asking.send({ id: "s", tool: "grep_search", input: { pattern: "alpha" } });
    await asking.wait({ id: "s", type: "permission" });
    await asking.send({ type: "permission", id: "s", choice: "deny" });
    expect(await asking.wait({ id: "s", type: "result" })).toMatchObject({ ok: false });
    expect((await asking.close()).code).toBe(0);
  });
});

describe("the end", () => {
  test("F5 end of stdin lets a running call finish, then exits 0", async () => {
    await client.send({ id: "last", tool: "bash", input: { command: "sleep 1; echo done" } });
    expect((await client.close()).code).toBe(0);
    expect(client.lines.at(-1)).toMatchObject({ id: "last", type: "result", ok: true, output: { stdout: "done\n" } });
  });
  test("F5 a last line without its line end counts, and a cut one is an error line", async () => {
    await client.raw('{"type":"ping"}\n{"id":');
    expect((await client.close()).code).toBe(0);
    expect(client.lines.at(-1)).toMatchObject({ type: "error", error: { code: "serve.bad_json" } });
  });
  test("F5 nothing on stdin at all exits 0 after the ready line", async () => {
    const end = await runCordon(["serve"], { scratch });
    expect(end).toMatchObject({ code: 0, stderr: "" });
    expect(end.stdout.trim().split("\n")).toHaveLength(1);
  });
  test("E7 a client that closes stdout and goes away leaves no process", async () => {
    const mark = uniqueSleep();
    const started = startCordon(["serve", "--mode", "danger-full-access"], { scratch });
    started.stdin.write(`{"id":"1","tool":"bash","input":{"command":"touch up; sleep ${mark}; exit 5"}}\n`);
    await started.stdin.flush();
    await waitFor("the command to run", () => existsSync(join(scratch.work, "up")));
    await started.stdout.cancel();
    await started.stdin.end();
    started.kill("SIGTERM");
    await waitFor("the tree to be gone", () => processesWith(mark).length === 0);
    await started.exited();
  });
  test("E7 SIGKILL of serve leaves no process", async () => {
    const mark = uniqueSleep();
    await client.send({ id: "1", tool: "bash", input: { command: `sleep ${mark}` } });
    await waitFor("the command to run", () => processesWith(mark).length > 0);
    client.kill("SIGKILL");
    await waitFor("the tree to be gone", () => processesWith(mark).length === 0);
  });
  test("A25 the log has a row pair for every call of a session", async () => {
    await stillWorks();
    await client.call("nothing", {});
    await client.close();
    const rows = readFileSync(join(scratch.state, "audit.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows.map(({ row }) => row)).toEqual(["open", "close", "open", "close"]);
  });
});
