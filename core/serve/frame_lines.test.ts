import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createLineFramer, type Frame } from "./frame_lines.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function frames(chunks: Uint8Array[], limitBytes = 64): Frame[] {
  const framer = createLineFramer(limitBytes);
  return [...chunks.flatMap((chunk) => framer.push(chunk)), ...framer.end()];
}

function split(all: Uint8Array, cuts: number[]): Uint8Array[] {
  const places = [0, ...cuts.map((cut) => cut % (all.length + 1)).sort((a, b) => a - b), all.length];
  return places.slice(1).map((end, i) => all.subarray(places[i], end));
}

/** Bytes that meet every case often: line ends, halves of characters, plain letters. */
const stream = fc.array(fc.oneof(fc.constantFrom(0x0a, 0x0d, 0xc3, 0xa4, 0xff), fc.integer({ min: 97, max: 122 })), {
  maxLength: 200,
});

describe("A3: framing", () => {
  test("any split of the same bytes gives the same frames", () => {
    fc.assert(
      fc.property(
        stream,
        fc.array(fc.nat(), { maxLength: 20 }),
        fc.integer({ min: 1, max: 20 }),
        (raw, cuts, limit) => {
          const all = Uint8Array.from(raw);
          expect(frames(split(all, cuts), limit)).toEqual(frames([all], limit));
        },
      ),
      { numRuns: 2_000 },
    );
  });
  test("the frames are the lines, by the plain definition", () => {
    fc.assert(
      fc.property(stream, fc.integer({ min: 1, max: 20 }), (raw, limit) => {
        const lines = Buffer.from(raw)
          .toString("latin1")
          .split("\n")
          .map((line) => Buffer.from(line.replace(/\r$/, ""), "latin1"));
        const wanted = lines
          .filter((line) => line.length > 0)
          .map((line): Frame => {
            if (line.length > limit) return { kind: "too_long" };
            const text = line.toString("utf8");
            return Buffer.from(text).equals(line) ? { kind: "line", text } : { kind: "bad_utf8" };
          });
        expect(frames([Uint8Array.from(raw)], limit)).toEqual(wanted);
      }),
      { numRuns: 2_000 },
    );
  });
  test("text of any kind comes back whole", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 10 })), (texts) => {
        const lines = texts.map((text) => JSON.stringify(text));
        expect(frames([bytes(lines.join("\n"))], 10_000)).toEqual(lines.map((text) => ({ kind: "line", text })));
      }),
    );
  });
  test("a line of 20 MB is refused at once, is not kept, and the next line is read", () => {
    const framer = createLineFramer(16 * 1024 * 1024);
    const chunk = new Uint8Array(1024 * 1024).fill(0x61);
    const found: number[] = [];
    for (let i = 1; i <= 20; i++) if (framer.push(chunk).some((frame) => frame.kind === "too_long")) found.push(i);
    expect(found).toEqual([17]);
    expect(framer.push(bytes('\n{"type":"ping"}\n'))).toEqual([{ kind: "line", text: '{"type":"ping"}' }]);
    expect(framer.end()).toEqual([]);
  });
  test("a line of exactly the limit is accepted, with \\r\\n too", () => {
    expect(frames([bytes("abcd\r\nabcd\nabcde\nabcd")], 4).map((frame) => frame.kind)).toEqual([
      "line",
      "line",
      "too_long",
      "line",
    ]);
  });
  test("the reader's buffer may be used again after push", () => {
    const framer = createLineFramer(64);
    const buffer = bytes("abc");
    framer.push(buffer);
    buffer.fill(0x78);
    expect(framer.push(bytes("\n"))).toEqual([{ kind: "line", text: "abc" }]);
  });
});
