import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readMessage } from "./read_message.ts";

describe("A3: messages", () => {
  test("a call with every field", () => {
    expect(readMessage('{"id":"1","tool":"bash","input":{"command":"ls"},"timeoutMs":5000,"stream":true}')).toEqual({
      ok: true,
      message: {
        type: "call",
        call: { id: "1", tool: "bash", input: { command: "ls" }, timeoutMs: 5000, stream: true },
      },
    });
  });
  test.each([
    ['{"type":"ping"}', { type: "ping" }],
    ['{"type":"hello","answers":false}', { type: "hello", answers: false }],
    ['{"type":"cancel","id":"7"}', { type: "cancel", id: "7" }],
    [
      '{"type":"permission","id":"7","choice":"deny","reason":"no"}',
      { type: "permission", id: "7", answer: { choice: "deny", reason: "no" } },
    ],
  ] as const)("%s", (line, message) => {
    expect(readMessage(line)).toEqual({ ok: true, message });
  });
  test.each([
    ["{", "serve.bad_json"],
    ["\ufeff\u0000", "serve.bad_json"],
    [`${"[".repeat(1_000_000)}`, "serve.bad_json"],
    ["null", "serve.bad_message"],
    ["[]", "serve.bad_message"],
    ["1", "serve.bad_message"],
    ['{"id":"1","tool":"bash"}', "serve.bad_message"],
    ['{"tool":"bash","input":{}}', "serve.bad_message"],
    ['{"id":1,"tool":"bash","input":{}}', "serve.bad_message"],
    ['{"id":"","tool":"bash","input":{}}', "serve.bad_message"],
    ['{"id":"1","tool":["bash"],"input":{}}', "serve.bad_message"],
    ['{"id":"1","tool":"bash","input":{},"timeoutMs":"5"}', "serve.bad_message"],
    ['{"id":"1","tool":"bash","input":{},"timeoutMs":0}', "serve.bad_message"],
    ['{"id":"1","tool":"bash","input":{},"timeoutMs":1e99}', "serve.bad_message"],
    ['{"id":"1","tool":"bash","input":{},"door":"run"}', "serve.bad_message"],
    ['{"id":"1","tool":"bash","input":{},"__proto__":{}}', "serve.bad_message"],
    ['{"type":"constructor"}', "serve.bad_message"],
    ['{"type":null,"id":"1","tool":"bash","input":{}}', "serve.bad_message"],
    ['{"type":"permission","id":"1","choice":"for ever"}', "serve.bad_message"],
    ['{"type":"permission","id":"1","choice":"always","scope":"machine"}', "serve.bad_message"],
    ['{"type":"permission","id":"1","choice":"always","forMs":0}', "serve.bad_message"],
    ['{"type":"permission","id":"1","choice":"always","uses":1.5}', "serve.bad_message"],
    ['{"type":"ping","x":1}', "serve.bad_message"],
  ])("%.60s is an error with a next step", (line, code) => {
    const read = readMessage(line);
    expect(read.ok ? "accepted" : read.error.code).toBe(code);
    if (!read.ok) expect(read.error.hint.length).toBeGreaterThan(0);
  });
  test("an error carries the id when there is one", () => {
    expect(readMessage('{"id":"9","tool":"bash","input":{},"strem":true}')).toMatchObject({
      ok: false,
      id: "9",
      error: { hint: "did you mean stream?" },
    });
  });
  test("no JSON makes it throw", () => {
    fc.assert(fc.property(fc.json(), (line) => void readMessage(line)));
    fc.assert(fc.property(fc.string(), (line) => void readMessage(line)));
  });
});
