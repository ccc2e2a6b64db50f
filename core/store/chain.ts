/**
 * The chain of a log: every line carries its number (`seq`) and the SHA-256 of the line before it (`prev`), and the head file
 * holds number and hash of the last line. Mirror: `sandbox-native/linux/src/direct/chain.rs`.
 */
import { readSync } from "node:fs";

/** What the head file holds: the last row's number and hash, and the size of the log after it, in bytes. */
export type Head = { seq: number; hash: string; bytes: number };

/** Where the next row is put on. `torn`: the log ends in the middle of a line. `lost`: there was a log and no head. */
export type ChainEnd = { seq: number; hash: string; torn: boolean; lost: boolean };

/** `prev` of the first row of all. */
export const FIRST_PREV = "0".repeat(64);

/** The head is rewritten in place, so its size never changes. */
const HEAD_BYTES = 192;

/** SHA-256 in hexadecimal; of text its UTF-8. */
export function sha256(bytes: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}

/** One line, without its end. The version, number and link come first, so that no field of a row can stand for them. */
export function chainLine(row: object, end: ChainEnd): string {
  const mark = end.lost ? { headLost: true } : {};
  return JSON.stringify({ v: 2, seq: end.seq + 1, prev: end.hash, ...mark, ...row });
}

/** The head as its file has it. */
export function headLine({ seq, hash, bytes }: Head): string {
  return `${JSON.stringify({ v: 1, seq, hash, bytes }).padEnd(HEAD_BYTES - 1)}\n`;
}

/** Reads the head of an open file; null where there is none or it makes no sense. */
export function readHead(fd: number): Head | null {
  const bytes = Buffer.alloc(HEAD_BYTES);
  return parseHead(bytes.toString("utf8", 0, readSync(fd, bytes, 0, HEAD_BYTES, 0)));
}

/** The same of its text. */
export function parseHead(text: string): Head | null {
  try {
    const { v, seq, hash, bytes }: Record<string, unknown> = JSON.parse(text);
    const sound = v === 1 && isCount(seq) && isCount(bytes) && typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash);
    return sound ? { seq, hash, bytes } : null;
  } catch {
    return null;
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Finds the end of the chain in bytes that follow `head`, the newest lines of the log. */
export function mendFrom(bytes: Uint8Array, head: Head, headless: boolean): ChainEnd {
  const lines = Buffer.from(bytes).toString("latin1").split("\n");
  const rest = lines.pop() ?? "";
  const torn = rest !== "";
  const last = torn ? rest : lines.at(-1);
  const seqs = lines.map((line) => seqOf(Buffer.from(line, "latin1").toString("utf8")));
  const seq = Math.max(head.seq, ...seqs);
  const hash = last === undefined ? head.hash : sha256(Buffer.from(last, "latin1"));
  return { seq, hash, torn, lost: headless && seqs.some((found) => found > 0) };
}

/** The number of a row, 0 for a line that is none of version 2. */
function seqOf(line: string): number {
  try {
    const row: Record<string, unknown> = JSON.parse(line);
    return row["v"] === 2 && isCount(row["seq"]) ? row["seq"] : 0;
  } catch {
    return 0;
  }
}
