/**
 * Puts the front (`sandbox-native/front`) into the executable that Bun compiled: one more segment, and the entry at its start. All
 * that Bun made stays where it is. `core/adr/0009-start-up-and-opens.md` has the reasons.
 */
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { BuildError } from "./progress.ts";

/** What the front is told; `read` are the names of the variables that planning reads. Mirror of `front/src/settings.rs`. */
export type FrontSettings = { build: string; launcherSha256: string; read: readonly string[] };

/** Fields of the ELF header and of a program header, by their offset (elf(5)); all of 64 bits, low byte first. */
const HEADER = { bytes: 64, type: 16, entry: 24, tableOffset: 32, entryBytes: 54, entries: 56 } as const;
const SEGMENT = {
  bytes: 56,
  flags: 4,
  offset: 8,
  address: 16,
  physical: 24,
  fileBytes: 32,
  memoryBytes: 40,
  align: 48,
} as const;
const EXECUTABLE = 2;
const LOAD = 1;
const NOTE = 4;
const READ_AND_EXECUTE = 5;

/** The largest page of both architectures; a segment lies in the file as it does on pages. */
const PAGE_BYTES = 0x10000;

/** As many bytes as the front reads after its own (`APPENDED_BYTES` in front/src/bare.rs). */
const SETTINGS_BYTES = 4096;

/** Where a segment lies, in bytes; `at` is the offset of its program header. */
type Segment = { at: number; type: number; offset: number; address: number; fileBytes: number; memoryBytes: number };

/** Writes the front into the executable. Throws a BuildError for one that is not laid out as Bun lays it out. */
export function addFront(executable: string, front: Uint8Array, settings: FrontSettings): void {
  const file = openSync(executable, "r+");
  try {
    const start = new Uint8Array(PAGE_BYTES);
    readSync(file, start, 0, start.length, 0);
    const size = fstatSync(file).size;
    const offset = Math.ceil(size / PAGE_BYTES) * PAGE_BYTES;
    const { head, body } = layOut(start, { front, settings, offset });
    writeSync(file, body, 0, body.length, offset);
    // Last: a build that is stopped leaves what can be started or nothing.
    writeSync(file, head, 0, head.length, 0);
  } finally {
    closeSync(file);
  }
}

type Layout = { front: Uint8Array; settings: FrontSettings; offset: number };

/** The executable's first bytes with the new segment, and the segment. The note that gives up its header is only for tools. */
export function layOut(start: Uint8Array, { front, settings, offset }: Layout): { head: Uint8Array; body: Uint8Array } {
  const head = start.slice();
  const view = viewOf(head);
  const segments = segmentsOf(head);
  const note = segments.find(({ type }) => type === NOTE);
  const code = segmentsOf(front).find(({ type }) => type === LOAD);
  if (view.getUint16(HEADER.type, true) !== EXECUTABLE || note === undefined || code === undefined)
    throw new BuildError("The executable has no place for a front: Bun lays it out in another way than it did");
  const own = front.subarray(code.offset, code.offset + code.fileBytes);
  const body = new Uint8Array(own.length + SETTINGS_BYTES);
  body.set(own);
  body.set(settingsBytes(settings, number(view, HEADER.entry)), own.length);
  const end = code.address + body.length;
  const meets = segments.some(
    ({ type, address, memoryBytes }) => type === LOAD && address < end && code.address < address + memoryBytes,
  );
  if (meets || code.address % PAGE_BYTES !== 0)
    throw new BuildError("The front lies where the executable has something of its own");
  view.setUint32(note.at, LOAD, true);
  view.setUint32(note.at + SEGMENT.flags, READ_AND_EXECUTE, true);
  const place = {
    offset,
    address: code.address,
    physical: code.address,
    fileBytes: body.length,
    memoryBytes: body.length,
    align: PAGE_BYTES,
  };
  for (const [field, value] of Object.entries(place)) {
    view.setBigUint64(note.at + SEGMENT[field as keyof typeof place], BigInt(value), true);
  }
  view.setBigUint64(HEADER.entry, BigInt(number(viewOf(front), HEADER.entry)), true);
  return { head, body };
}

/** Where Bun begins, the length of the texts, and the texts. */
function settingsBytes({ build, launcherSha256, read }: FrontSettings, entry: number): Uint8Array {
  const texts = new TextEncoder().encode([build, launcherSha256, ...read].join("\0"));
  const bytes = new Uint8Array(12 + texts.length);
  if (bytes.length > SETTINGS_BYTES) throw new BuildError("The front's settings are longer than it reads");
  viewOf(bytes).setBigUint64(0, BigInt(entry), true);
  viewOf(bytes).setUint32(8, texts.length, true);
  bytes.set(texts, 12);
  return bytes;
}

function segmentsOf(elf: Uint8Array): Segment[] {
  const view = viewOf(elf);
  const table = number(view, HEADER.tableOffset);
  const count = view.getUint16(HEADER.entries, true);
  const known = view.getUint32(0) === 0x7f454c46 && view.getUint16(HEADER.entryBytes, true) === SEGMENT.bytes;
  if (!known || table + count * SEGMENT.bytes > elf.length)
    throw new BuildError("This is no executable for Linux of 64 bits");
  return Array.from({ length: count }, (_, index) => {
    const at = table + index * SEGMENT.bytes;
    const field = (name: "offset" | "address" | "fileBytes" | "memoryBytes") => number(view, at + SEGMENT[name]);
    const [offset, address] = [field("offset"), field("address")];
    return {
      at,
      type: view.getUint32(at, true),
      offset,
      address,
      fileBytes: field("fileBytes"),
      memoryBytes: field("memoryBytes"),
    };
  });
}

function number(view: DataView, at: number): number {
  return Number(view.getBigUint64(at, true));
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
