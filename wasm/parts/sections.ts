/** Reads and writes the binary format of core modules, as far as splitting one needs it (WebAssembly core specification, chapter 5). */

/** Numbers of sections. */
export const SECTION = {
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  memory: 5,
  global: 6,
  export: 7,
  element: 9,
  code: 10,
  data: 11,
  dataCount: 12,
} as const;

/** What an import or export is. */
export const KIND = { function: 0, table: 1, memory: 2, global: 3 } as const;

/** A section by its number, and what is in it. */
export type Section = { id: number; body: Uint8Array };

/** What sections are written from: bytes as they are, and lists of them. */
export type Bytes = readonly (number | Uint8Array)[];

const HEADER = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

/** Reads what stands one after the other in bytes. */
export class Reader {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  byte(): number {
    const byte = this.bytes[this.at];
    if (byte === undefined) throw new RangeError("A WebAssembly module ends too early");
    this.at += 1;
    return byte;
  }

  /** An unsigned number of up to 32 bits, in LEB128. */
  number(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }

  take(count: number): Uint8Array {
    this.at += count;
    if (this.at > this.bytes.length) throw new RangeError("A WebAssembly module ends too early");
    return this.bytes.subarray(this.at - count, this.at);
  }

  /** What is left. */
  rest(): Uint8Array {
    return this.take(this.bytes.length - this.at);
  }
}

/** The sections of a module, without those that are only for tools. */
export function sectionsOf(module: Uint8Array): Section[] {
  const reader = new Reader(module, HEADER.length);
  const sections: Section[] = [];
  while (!reader.isAtEnd) {
    const id = reader.byte();
    const body = reader.take(reader.number());
    if (id !== 0) sections.push({ id, body });
  }
  return sections;
}

/** The module of these sections, which are put in the order that the format wants. */
export function moduleOf(sections: readonly Section[]): Uint8Array<ArrayBuffer> {
  const place = (id: number) => (id === SECTION.dataCount ? SECTION.element + 0.5 : id);
  const sorted = [...sections].sort((one, other) => place(one.id) - place(other.id));
  return bytesOf([HEADER, ...sorted.flatMap(({ id, body }) => [id, ...number(body.length), body])]);
}

/** One section by its number; undefined if the module has none. */
export function find(sections: readonly Section[], id: number): Uint8Array | undefined {
  return sections.find((section) => section.id === id)?.body;
}

/** The same module with other sections in place of its own, or beside them; those that are undefined are taken out. */
export function replaced(sections: readonly Section[], others: Readonly<Record<number, Bytes | undefined>>): Section[] {
  const kept = sections.filter(({ id }) => !(id in others));
  const added = Object.entries(others).flatMap(([id, body]) =>
    body === undefined ? [] : [{ id: Number(id), body: bytesOf(body) }],
  );
  return [...kept, ...added];
}

/** How many entries a section has, and the bytes after that number. Nothing for a section that is not there. */
export function entriesOf(section: Uint8Array | undefined): { count: number; bytes: Uint8Array } {
  if (section === undefined) return { count: 0, bytes: new Uint8Array(0) };
  const reader = new Reader(section);
  return { count: reader.number(), bytes: reader.rest() };
}

/** A section with more entries at its end. */
export function extended(section: Uint8Array | undefined, more: readonly Bytes[]): Bytes {
  const { count, bytes } = entriesOf(section);
  return [...number(count + more.length), bytes, ...more.map(bytesOf)];
}

/** An unsigned number in LEB128. */
export function number(value: number): number[] {
  const bytes: number[] = [];
  let left = value >>> 0;
  do {
    const more = left >>> 7;
    bytes.push((left & 0x7f) | (more > 0 ? 0x80 : 0));
    left = more;
  } while (left > 0);
  return bytes;
}

/** A signed number of 32 bits in LEB128, as `i32.const` has it. */
export function signed(value: number): number[] {
  const bytes: number[] = [];
  for (let left = value | 0; ; left >>= 7) {
    const low = left & 0x7f;
    const isLast = left >> 6 === 0 || left >> 6 === -1;
    bytes.push(isLast ? low : low | 0x80);
    if (isLast) return bytes;
  }
}

/** A name with its length. */
export function name(text: string): number[] {
  const bytes = new TextEncoder().encode(text);
  return [...number(bytes.length), ...bytes];
}

/** All of it in one piece. */
export function bytesOf(parts: Bytes): Uint8Array<ArrayBuffer> {
  const size = parts.reduce<number>((sum, part) => sum + (typeof part === "number" ? 1 : part.length), 0);
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    if (typeof part === "number") bytes[at++] = part;
    else {
      bytes.set(part, at);
      at += part.length;
    }
  }
  return bytes;
}
