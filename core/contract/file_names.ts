/** What file names are made of: each of the names in `bytes` is followed by `end`, and stands in `folder` ("" or with a slash behind it). */
export type NameBytes = { folder: string; bytes: Uint8Array; end: "\n" | "\0"; count: number };

// A byte order mark at the front of a name is part of it.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * File names as a search found them: bytes, of which text is made only for who wants it. As JSON it is a list of strings. What is no UTF-8 is
 * shown as U+FFFD there, and stays what it is in `lines`.
 */
export class FileNames {
  readonly #names: NameBytes;
  #list: readonly string[] | undefined;

  constructor(names: NameBytes) {
    this.#names = names;
  }

  /** Names that are text already. */
  static of(list: readonly string[]): FileNames {
    const bytes = Buffer.from(list.map((name) => `${name}\0`).join(""));
    const names = new FileNames({ folder: "", bytes, end: "\0", count: list.length });
    names.#list = list;
    return names;
  }

  /** How many there are. */
  get length(): number {
    return this.#names.count;
  }

  /** The names as text. */
  list(): readonly string[] {
    this.#list ??= this.#decode();
    return this.#list;
  }

  toJSON(): readonly string[] {
    return this.list();
  }

  /** What stands for the names where only a digest of them is kept. */
  digest(digestOf: (bytes: Uint8Array) => string): unknown {
    const { folder, bytes, end } = this.#names;
    return [folder, end, digestOf(bytes)];
  }

  /**
   * The names as bytes to be written, each with `end` behind it and the folder that they are in as `shown` shows it. Undefined if `shown`
   * says that it can't tell for all of them at once.
   */
  lines(shown: (folder: string) => string | undefined, end: "\n" | "\0"): Uint8Array | undefined {
    const { bytes, count, end: own } = this.#names;
    const folder = shown(this.#names.folder);
    if (folder === undefined) return undefined;
    if ((folder === "" && end === own) || count === 0) return bytes;
    // One character a byte: so the bytes stay what they are.
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length - 1).toString("latin1");
    const front = Buffer.from(folder).toString("latin1");
    return Buffer.from(`${front}${text.replaceAll(own, `${end}${front}`)}${end}`, "latin1");
  }

  #decode(): readonly string[] {
    const { folder, bytes, end, count } = this.#names;
    if (count === 0) return [];
    const names = decoder.decode(bytes.subarray(0, -1)).split(end);
    return folder === "" ? names : names.map((name) => folder + name);
  }
}
