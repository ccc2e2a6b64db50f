// F5: `cordon serve` against lines that nobody would write. The seed is fixed, so a failure can be had again.
import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeScratch, removeScratch } from "../support/scratch.ts";
import { startServe } from "../support/serve_client.ts";

const scratch = makeScratch();
afterAll(() => removeScratch(scratch));

const SEED = 0x5eed_c0de;
const LINES = 300;

/** Mulberry32: small, well spread, and the same everywhere. Gives numbers from 0 up to 1. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const SOUND = [
  '{"id":"f","tool":"read_file","input":{"path":"a.txt"}}',
  '{"id":"f","tool":"grep_search","input":{"pattern":"a+","output_mode":"content","-C":2}}',
  '{"id":"f","tool":"edit_file","input":{"path":"none.txt","old_string":"a","new_string":"b"}}',
  '{"id":"f","tool":"glob_search","input":{"pattern":"**/*.{ts,txt}"}}',
  '{"type":"permission","id":"f","choice":"once"}',
  '{"type":"cancel","id":"f"}',
  '{"type":"hello","answers":false}',
  '{"type":"ping"}',
];
const PIECES = [
  "null",
  "[]",
  "{}",
  '""',
  "-1",
  "1e309",
  "true",
  '"\\ud800"',
  '"__proto__"',
  '"constructor"',
  "\\u0000",
  "é",
  "\u2028",
  '"',
  "{",
  "}",
  ",",
  "\t",
];

function mutate(random: () => number): Uint8Array {
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  if (random() < 0.1)
    return Uint8Array.from({ length: 1 + Math.floor(random() * 200) }, () => Math.floor(random() * 256));
  let line = pick(SOUND) ?? "";
  for (let times = 1 + Math.floor(random() * 3); times > 0; times--) {
    const at = Math.floor(random() * line.length);
    const length = Math.floor(random() * 12);
    line = line.slice(0, at) + (random() < 0.3 ? "" : (pick(PIECES) ?? "")) + line.slice(at + length);
  }
  const bytes = Buffer.from(line);
  if (random() < 0.2 && bytes.length > 0) bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
  return bytes;
}

test(`F5 ${LINES} random and damaged lines: every answer is protocol, no crash, and the next call works`, async () => {
  writeFileSync(join(scratch.work, "a.txt"), "alpha\n");
  const random = createRandom(SEED);
  const client = await startServe({ scratch });
  for (let sent = 0; sent < LINES; sent++) {
    await client.raw(mutate(random));
    await client.raw("\n");
  }
  expect(await client.call("read_file", { path: "a.txt" })).toMatchObject({ ok: true });
  const end = await client.close();
  expect(end).toMatchObject({ code: 0, signal: null, stderr: "" });
  const known = new Set(["ready", "pong", "error", "started", "output", "permission", "result"]);
  for (const line of client.lines) {
    expect(known.has(line.type ?? "")).toBe(true);
    expect(line.error?.code).not.toBe("tool.crashed");
  }
  expect(client.lines.filter(({ type }) => type === "error").length).toBeGreaterThan(LINES / 4);
});
