/** struct linux_dirent64 (getdents64(2)): inode, a number for seeking, length of the record, type, name with a NUL byte at its end. */
export const ENTRY = { inode: 0, offset: 8, length: 16, type: 18, name: 19 } as const;

/** The types that are looked at, of readdir(3). */
export const TYPE = { folder: 4, file: 8 } as const;

/** One entry of a folder: where its record is and how long, its type and its inode; the name's bytes as characters. */
export type Entry = { at: number; length: number; type: number; inode: number; name: string };

/** The entries in raw bytes, without `.` and `..`. */
export function readEntries(raw: Buffer): Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; at + ENTRY.name < raw.length; ) {
    const length = raw.readUInt16LE(at + ENTRY.length);
    if (length <= ENTRY.name) break;
    const start = at + ENTRY.name;
    let end = start;
    while (end < at + length && raw[end] !== 0) end += 1;
    const name = raw.toString("latin1", start, end);
    if (name !== "." && name !== "..")
      entries.push({ at, length, type: raw[at + ENTRY.type] ?? 0, inode: inodeOf(raw, at), name });
    at += length;
  }
  return entries;
}

/** The inode of the entry at a place. Two of more than 2^53 may be taken for one. */
export function inodeOf(raw: Buffer, at: number): number {
  return raw.readUInt32LE(at) + raw.readUInt32LE(at + 4) * 2 ** 32;
}

/** Names that tell a search which rules hold in a folder: it must see them, whatever it looks for (wasm/search/src/entries.rs). */
export const STANDING_OUT: ReadonlySet<string> = new Set([".rgignore", ".ignore", ".gitignore", ".git", ".jj"]);
