import { expect, test } from "bun:test";
import { layOut } from "./front.ts";

const SETTINGS = { build: "b", launcherSha256: "s", read: ["HOME", "PATH"] };
const ENTRY = 0x20_1000n;

/** An ELF executable of these segments: type and address, each of one page. */
function elf(segments: [type: number, address: number][], change: { kind?: number; entry?: bigint } = {}): Uint8Array {
  const bytes = new Uint8Array(0x3000);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0x7f454c46);
  view.setUint16(16, change.kind ?? 2, true);
  view.setBigUint64(24, change.entry ?? ENTRY, true);
  view.setBigUint64(32, 64n, true);
  view.setUint16(54, 56, true);
  view.setUint16(56, segments.length, true);
  segments.forEach(([type, address], index) => {
    const at = 64 + 56 * index;
    view.setUint32(at, type, true);
    view.setBigUint64(at + 8, 0x1000n, true);
    view.setBigUint64(at + 16, BigInt(address), true);
    view.setBigUint64(at + 32, 0x1000n, true);
    view.setBigUint64(at + 40, 0x1000n, true);
  });
  return bytes;
}

const front = elf([[1, 0x10_0000]], { entry: 0x10_0010n }).fill(7, 0x1000, 0x2000);
const lay = (start: Uint8Array) => layOut(start, { front, settings: SETTINGS, offset: 0x5_0000 });

test("the note's header becomes that of the front, the entry its own, and nothing else changes", () => {
  const start = elf([
    [1, 0x20_0000],
    [4, 0x20_0254],
  ]);
  const { head, body } = lay(start);
  const view = new DataView(head.buffer);
  const at = 64 + 56;
  expect([view.getUint32(at, true), view.getUint32(at + 4, true)]).toEqual([1, 5]);
  expect([8, 16, 32].map((field) => Number(view.getBigUint64(at + field, true)))).toEqual([
    0x5_0000,
    0x10_0000,
    body.length,
  ]);
  expect(view.getBigUint64(24, true)).toBe(0x10_0010n);
  const same = head.slice();
  same.set(start.subarray(at, at + 56), at);
  same.set(start.subarray(24, 32), 24);
  expect([...same]).toEqual([...start]);
});

test("behind its code stand the address where Bun begins, the length of the texts, and the texts", () => {
  const { body } = lay(elf([[4, 0]]));
  expect(body.subarray(0, 0x1000).every((byte) => byte === 7)).toBe(true);
  const view = new DataView(body.buffer, 0x1000);
  expect(view.getBigUint64(0, true)).toBe(ENTRY);
  const text = "b\0s\0HOME\0PATH";
  expect(view.getUint32(8, true)).toBe(text.length);
  expect(new TextDecoder().decode(body.subarray(0x100c, 0x100c + text.length))).toBe(text);
});

test("an executable that is laid out otherwise gets no front", () => {
  const fine: [number, number][] = [
    [1, 0x20_0000],
    [4, 0],
  ];
  expect(() => lay(elf(fine))).not.toThrow();
  expect(() => lay(elf(fine, { kind: 3 }))).toThrow("another way");
  expect(() => lay(elf([[1, 0x20_0000]]))).toThrow("another way");
  expect(() => lay(elf([...fine, [1, 0x10_1000]]))).toThrow("something of its own");
  expect(() => lay(new Uint8Array(0x1000))).toThrow("no executable");
});
