import { expect, test } from "bun:test";
import fc from "fast-check";
import { COLLECT_LIMIT_BYTES, collectOutput } from "./collect_output.ts";

async function* inPieces(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let at = 0;
  for (const end of [...ends, bytes.length]) {
    yield bytes.subarray(at, end);
    at = end;
  }
}

test("B18 any text in any pieces arrives whole, at the end and at the listener", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "binary", maxLength: 100 }),
      fc.array(fc.nat(), { maxLength: 20 }),
      async (text, cuts) => {
        const bytes = Buffer.from(text);
        const heard: string[] = [];
        const { text: kept, droppedBytes } = await collectOutput(inPieces(bytes, cuts), (piece) => heard.push(piece));
        expect([kept, heard.join(""), droppedBytes]).toEqual([bytes.toString(), bytes.toString(), 0]);
        expect(heard.every((piece) => piece !== "" && piece.isWellFormed())).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});

test("B18 of long output the head and the tail stay, and the dropped bytes are counted exactly", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 70_000 }),
      fc.nat({ max: 3 }),
      async (times, size, shift) => {
        const bytes = Buffer.from("x".repeat(shift) + "😀".repeat((COLLECT_LIMIT_BYTES / 4) * times + 2));
        const cuts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => n * size);
        const { text, droppedBytes } = await collectOutput(inPieces(bytes, cuts));
        const marker = `\n[${droppedBytes} bytes left out here]\n`;
        const [head = "", tail = ""] = text.split(marker);
        expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBe(bytes.length - droppedBytes);
        expect(text).not.toContain("\ufffd");
        expect(head.startsWith(`${"x".repeat(shift)}😀`) && tail.endsWith("😀")).toBe(true);
        expect(bytes.length - droppedBytes).toBeLessThanOrEqual(COLLECT_LIMIT_BYTES);
        expect(bytes.length - droppedBytes).toBeGreaterThan(COLLECT_LIMIT_BYTES - 8);
      },
    ),
    { numRuns: 12 },
  );
});

test("B18 memory stays bounded: a stream of 200 MB keeps no more than the limit", async () => {
  const chunk = Buffer.alloc(65_536, "x");
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (let n = 0; n < 3200; n++) yield chunk;
  }
  Bun.gc(true);
  const before = process.memoryUsage().rss;
  const { droppedBytes } = await collectOutput(endless());
  expect(droppedBytes).toBe(3200 * 65_536 - COLLECT_LIMIT_BYTES);
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
});

test("B18 a reused buffer does not change what was collected", async () => {
  const buffer = Buffer.from("first");
  async function* reusing(): AsyncGenerator<Uint8Array> {
    yield buffer;
    buffer.write("later");
    yield buffer;
  }
  expect((await collectOutput(reusing())).text).toBe("firstlater");
});

test("B18 invalid bytes survive as replacement characters and half a character at the end is not lost", async () => {
  const heard: string[] = [];
  const { text } = await collectOutput(inPieces(Uint8Array.of(0x61, 0xff, 0xe2, 0x82), [1, 3]), (piece) =>
    heard.push(piece),
  );
  expect([text, heard.join("")]).toEqual(["a\ufffd\ufffd", "a\ufffd\ufffd"]);
});
