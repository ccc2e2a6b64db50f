import { describe, expect, test } from "bun:test";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { faultOf, runOnFile, temporaryFolder } from "../../../test/support/tool_calls.ts";
import { readFile, sliceLines } from "./read_file.ts";

const folder = temporaryFolder();
const path = join(folder, "a file\nwith ünïcode.txt");
const place = { cwd: folder, home: folder, workspace: folder };

async function read(content: string | Uint8Array, args: object = {}): Promise<unknown> {
  writeFileSync(path, content);
  return runOnFile(readFile, { path, ...args });
}

describe("read_file", () => {
  test("A8 returns the file in the seed's shape", async () => {
    expect(await read("a\nb\nc\n")).toEqual({
      type: "text",
      file: { filePath: path, content: "a\nb\nc\n", numLines: 3, startLine: 1, totalLines: 3 },
    });
  });

  test("A8 offset counts lines to skip, limit counts lines to return", async () => {
    expect(await read("a\nb\nc\nd", { offset: 1, limit: 2 })).toEqual({
      type: "text",
      file: { filePath: path, content: "b\nc\n", numLines: 2, startLine: 2, totalLines: 4, nextOffset: 3 },
    });
  });

  test("A8 offset and limit past the end saturate", async () => {
    const huge = Number.MAX_SAFE_INTEGER;
    expect(await read("a\nb", { offset: 1, limit: huge })).toMatchObject({
      file: { content: "b", numLines: 1, startLine: 2 },
    });
    expect(await read("a\nb", { offset: huge, limit: huge })).toMatchObject({
      file: { content: "", numLines: 0, startLine: 3 },
    });
    expect(await read("")).toMatchObject({ file: { content: "", numLines: 0, startLine: 1, totalLines: 0 } });
  });

  test("D3 numbers lines on demand, and only then", async () => {
    expect(await read("a\nb\n", { offset: 1, line_numbers: true })).toMatchObject({ file: { content: "     2\tb\n" } });
    expect(await read("a\nb\n", { offset: 1 })).toMatchObject({ file: { content: "b\n" } });
  });

  test("D3 refuses a binary file and reads one with a late NUL or without any", async () => {
    const fault = await faultOf(() => read("ab\0c"));
    expect(fault).toMatchObject({ code: "fs.binary", message: expect.stringContaining("byte 2") });
    expect((await faultOf(() => read(`${"a".repeat(8191)}\0`))).code).toBe("fs.binary");
    expect(await read(`${"a".repeat(8192)}\0`)).toMatchObject({ type: "text" });
    expect(await read("abc")).toMatchObject({ file: { content: "abc" } });
  });

  test("keeps CRLF and the BOM, and shows what is not UTF-8 as U+FFFD", async () => {
    expect(await read("\uFEFFa\r\nb\r\n")).toMatchObject({ file: { content: "\uFEFFa\r\nb\r\n", numLines: 2 } });
    expect(await read(Buffer.from([0x61, 0xff, 0x62]))).toMatchObject({ file: { content: "a\uFFFDb" } });
  });

  test("C16 ends an answer at a line end below its limit and says where to go on", async () => {
    const line = `${"x".repeat(99)}\n`;
    const text = line.repeat(2000);
    const first = await read(text);
    expect(first).toMatchObject({ file: { numLines: 1310, nextOffset: 1310, totalLines: 2000 } });
    expect(await read(text, { offset: 1310 })).toMatchObject({
      file: { numLines: 690, startLine: 1311, content: line.repeat(690) },
    });
    expect(await read("y".repeat(300_000))).toMatchObject({ file: { numLines: 1, content: "y".repeat(300_000) } });
  });

  test("C16 refuses a file above 10 MiB with a way to go on, and reads one of 10 MiB", async () => {
    writeFileSync(path, "x".repeat(10_000));
    truncateSync(path, 10 * 1024 * 1024 + 1);
    const fault = await faultOf(() => runOnFile(readFile, { path }));
    expect(fault).toMatchObject({ code: "fs.too_large", hint: expect.stringContaining("grep_search") });
    truncateSync(path, 10 * 1024 * 1024);
    expect(await runOnFile(readFile, { path })).toMatchObject({ file: { totalLines: 1 } });
  });

  test("C16 refuses a folder and a device", async () => {
    mkdirSync(join(folder, "dir"));
    for (const other of [join(folder, "dir"), "/dev/zero"]) {
      expect((await faultOf(() => runOnFile(readFile, { path: other }))).code).toBe("fs.not_a_file");
    }
  });

  test("C9 says that it only reads, and needs just its path", () => {
    expect(readFile.readOnly({ path })).toBe(true);
    expect(readFile.concurrencySafe({ path })).toBe(true);
    expect(readFile.needs({ path }, place)).toEqual([{ kind: "fs.read", path }]);
    expect(readFile.title({})).toBe("Read a file");
  });

  const texts = fc
    .array(fc.constantFrom("a", "é", "\n", "\r\n", "\uFEFF", "🧪"), { maxLength: 40 })
    .map((parts) => parts.join(""));

  test("A8 slices put together are the file (property)", () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 9 }), (text, step) => {
        let whole = "";
        for (let skip = 0; ; ) {
          const slice = sliceLines(text, skip, step);
          whole += slice.text;
          if (!slice.more) break;
          skip = slice.startLine - 1 + slice.numLines;
        }
        expect(whole).toBe(text);
      }),
    );
  });

  test("A8 a slice is what splitting by lines gives (property)", () => {
    fc.assert(
      fc.property(texts, fc.nat(50), fc.integer({ min: 1, max: 50 }), (text, skip, count) => {
        const lines = text.split(/(?<=\n)/).filter((line) => line !== "");
        const slice = sliceLines(text, skip, count);
        expect(slice.text).toBe(lines.slice(skip, skip + count).join(""));
        expect(slice.totalLines).toBe(lines.length);
        expect(slice.numLines).toBe(lines.slice(skip, skip + count).length);
      }),
    );
  });
});
