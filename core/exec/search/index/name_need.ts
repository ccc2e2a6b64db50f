/** What the name of a file must begin with and end with to match a glob: bytes, and several ends of which one is enough. */
export type NameNeed = { start: Buffer; ends: readonly Buffer[] };

/** The last part of a glob that can be understood here: letters and wildcards, at its end perhaps a choice of words. */
const LAST_PART = /(?:^|\/)([\w.*?-]*)(?:\{([\w.,-]*)\})?$/;

/** What a glob needs of names. Undefined where nothing can be told: then all names are looked at. */
export function nameNeed(glob: string | undefined, ignoresCase: boolean): NameNeed | undefined {
  if (glob === undefined || ignoresCase || /^[!#]/.test(glob)) return undefined;
  const parts = LAST_PART.exec(glob);
  if (parts === null) return undefined;
  const [, last = "", choice] = parts;
  const words = last.split(/[*?]+/);
  const start = words[0] ?? "";
  const end = words.at(-1) ?? "";
  // Without a wildcard the whole name is known: it begins and ends with it.
  const ends = (choice ?? "").split(",").map((word) => `${end}${word}`);
  // "dir/" is about folders.
  if (last === "" && choice === undefined) return undefined;
  return { start: Buffer.from(start), ends: ends.map((word) => Buffer.from(word)) };
}

/** Records are so long that their length is a multiple of this; what stands after the NUL byte of the name is anything. */
const ALIGNED_BYTES = 8;

/** True if the name that begins at a place of a folder's raw entries may match. `end` is that of its record. */
export function fits({ start, ends }: NameNeed, raw: Buffer, { at, end }: { at: number; end: number }): boolean {
  let nameEnd = Math.max(at, end - ALIGNED_BYTES);
  while (nameEnd < end && raw[nameEnd] !== 0) nameEnd += 1;
  for (let place = 0; place < start.length; place += 1) if (raw[at + place] !== start[place]) return false;
  return ends.some((word) => {
    const from = nameEnd - word.length;
    if (from < at) return false;
    for (let place = 0; place < word.length; place += 1) if (raw[from + place] !== word[place]) return false;
    return true;
  });
}
