import { expect, test } from "bun:test";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../test/support/tool_calls.ts";
import { createOutputCap, outputDenial, passOn } from "./output_cap.ts";

async function* chunksOf(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all).toString();
}

test("E9 both streams count together, what is beyond is dropped, and it is said once", async () => {
  let passed = 0;
  const cap = createOutputCap(6, () => passed++);
  expect(await textOf(cap.within(chunksOf("abc", "d")))).toBe("abcd");
  expect(passed).toBe(0);
  expect(await textOf(cap.within(chunksOf("ef")))).toBe("ef");
  expect(passed).toBe(0);
  expect(await textOf(cap.within(chunksOf("g", "h")))).toBe("");
  expect(await textOf(cap.within(chunksOf("i")))).toBe("");
  expect(passed).toBe(1);
});

test("E9 without a limit everything passes", async () => {
  const cap = createOutputCap(undefined, () => {
    throw new Error("no limit was set");
  });
  expect(await textOf(cap.within(chunksOf("a", "b".repeat(100_000))))).toHaveLength(100_001);
});

test("E9 what is handed on arrives whole and in order", async () => {
  const path = join(temporaryFolder(), "out");
  const fd = openSync(path, "w");
  await passOn(chunksOf("one ", "", "two ", "three"), fd);
  closeSync(fd);
  expect(readFileSync(path, "utf8")).toBe("one two three");
});

test("E9 the event of too much output names the limit and its flag", () => {
  expect(outputDenial(10 * 1024 ** 2)).toMatchObject({
    op: "limit",
    reason: "the output limit of 10 MB was reached and the command was ended",
    grant: "--output",
  });
  expect(outputDenial(1000).reason).toContain("1000 bytes");
});
