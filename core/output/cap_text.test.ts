import { expect, test } from "bun:test";
import fc from "fast-check";
import { capText, cutBefore, joinCapped } from "./cap_text.ts";

const text = fc.string({ unit: "binary", maxLength: 200 });
const MARKER = /\n\[(\d+) bytes left out here\]\n/;

test("B18 text that fits is left alone", () => {
  expect(capText(Buffer.from("añ€😀"), 10)).toEqual({ text: "añ€😀", droppedBytes: 0 });
});

test("B18 head and tail are kept, three to two, with what is missing said between them", () => {
  expect(capText(Buffer.from("abcdefghijklmnopqrst"), 10)).toEqual({
    text: "abcdef\n[10 bytes left out here]\nqrst",
    droppedBytes: 10,
  });
});

test("B18 no character is ever cut, and the count of dropped bytes is exact", () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 300 }), (whole, limit) => {
      const bytes = Buffer.from(whole);
      const { text: kept, droppedBytes } = capText(bytes, limit);
      if (bytes.length <= limit)
        return expect({ kept, droppedBytes }).toEqual({ kept: bytes.toString(), droppedBytes: 0 });
      const marker = `\n[${droppedBytes} bytes left out here]\n`;
      // The text itself may hold a marker, so the split is tried at each.
      const splits = kept
        .split(marker)
        .map((_, at, parts) => [parts.slice(0, at + 1).join(marker), parts.slice(at + 1).join(marker)] as const);
      const good = splits.some(([head, tail]) => {
        const size = Buffer.byteLength(head) + Buffer.byteLength(tail);
        return (
          bytes.toString().startsWith(head) &&
          bytes.toString().endsWith(tail) &&
          size === bytes.length - droppedBytes &&
          size <= limit
        );
      });
      expect(good).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("B18 bytes that are no UTF-8 become replacement characters and nothing throws", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.integer({ min: 0, max: 100 }), (bytes, limit) => {
      const { text: kept, droppedBytes } = capText(bytes, limit);
      expect(kept.isWellFormed()).toBe(true);
      expect(droppedBytes > 0).toBe(bytes.length > limit);
    }),
    { numRuns: 500 },
  );
  expect(capText(Uint8Array.of(0x61, 0xff, 0x62), 3).text).toBe("a\ufffdb");
});

test("B18 a byte order mark is content and stays", () => {
  expect(capText(Buffer.from("\ufeffa"), 10).text).toBe("\ufeffa");
});

test("B18 cutBefore goes back to the start of a character and no further", () => {
  const bytes = Buffer.from("a€b");
  expect([0, 1, 2, 3, 4, 5].map((at) => cutBefore(bytes, at))).toEqual([0, 1, 1, 1, 4, 5]);
});

test("B18 parts that were collected apart are joined whole, halves of characters trimmed and counted", () => {
  const euro = Buffer.from("€");
  expect(
    joinCapped(
      Buffer.concat([Buffer.from("a"), euro.subarray(0, 2)]),
      Buffer.concat([euro.subarray(2), Buffer.from("b")]),
      0,
    ),
  ).toEqual({ text: "a€b", droppedBytes: 0 });
  const joined = joinCapped(
    Buffer.concat([Buffer.from("a"), euro.subarray(0, 2)]),
    Buffer.concat([euro.subarray(1), Buffer.from("b")]),
    5,
  );
  expect(joined.droppedBytes).toBe(9);
  expect(joined.text.replace(MARKER, "|")).toBe("a|b");
});
