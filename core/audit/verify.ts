import type { StoredLog } from "../store/append_log.ts";
import { FIRST_PREV, sha256 } from "../store/chain.ts";

/** Something that can't be so in a log that only grew. `line` counts from 1; `seq` is the number of the row concerned. */
export type ChainFault = { kind: FaultKind; file: string; line: number; seq?: number; message: string };

type FaultKind = "edited" | "missing" | "order" | "truncated" | "foreign" | "head_lost" | "anchor";

/** What verifying found. `notes` are no faults: a line that a crash cut short, rows of an older version, rows left open. */
export type Verified = {
  ok: boolean;
  files: number;
  rows: number;
  last: { seq: number; hash: string } | null;
  faults: ChainFault[];
  notes: string[];
};

/** `row` is null where a line is no row of version 2; `cut` says that it has no end. */
type Line = { file: string; line: number; bytes: Buffer; row: Row | null; cut: boolean };

type Row = { v: unknown; seq: number; prev: string; row: string; id: string; headLost: boolean };

/**
 * Follows the chain from the first row to the head. `anchor` is a number and hash that were noted earlier, somewhere that who
 * can write the log can't: only that shows a log and head that were both written anew.
 */
export function verifyLog(log: StoredLog, anchor?: { seq: number; hash: string }): Verified {
  const lines = log.files.flatMap(({ path, bytes }) => linesOf(path, bytes));
  const faults: ChainFault[] = [];
  const notes: string[] = [];
  const end = follow(lines, faults, notes);
  compareHead(log, end, lines.at(-1), faults);
  if (anchor) compareAnchor(lines, anchor, faults);
  const open = openRows(lines);
  if (open > 0) notes.push(`${open} calls have no closing row: they run still, or their process was ended`);
  const rows = lines.filter(({ row }) => row !== null).length;
  const last = end.seq === 0 ? null : { seq: end.seq, hash: end.hash };
  return { ok: faults.length === 0, files: log.files.length, rows, last, faults, notes };
}

type End = { seq: number; hash: string };

function follow(lines: readonly Line[], faults: ChainFault[], notes: string[]): End {
  let end: End = { seq: 0, hash: FIRST_PREV };
  let old = 0;
  for (const [at, line] of lines.entries()) {
    if (line.cut && at === lines.length - 1) {
      notes.push(`the last line of ${line.file} was torn by a crash`);
      break;
    }
    const next = { seq: end.seq, hash: sha256(line.bytes) };
    if (line.row === null) {
      // Chained by the row after it, or by nothing: then that row or the head shows it.
      const kept = lines.slice(at + 1).find(({ row }) => row !== null)?.row?.prev === next.hash || end.seq === 0;
      if (end.seq === 0 && isOld(line)) old++;
      else if (kept) notes.push(`line ${line.line} of ${line.file} was torn by a crash; the chain goes on behind it`);
      else faults.push(fault("foreign", line, "is no row of this log"));
    } else {
      checkLink(line, line.row, { end, first: at === old }, faults);
      next.seq = line.row.seq;
    }
    end = next;
  }
  if (old > 0) notes.push(`${old} rows of an older version stand before the chain`);
  return end;
}

type Before = { end: End; first: boolean };

function checkLink(line: Line, row: Row, { end, first }: Before, faults: ChainFault[]): void {
  if (row.headLost)
    faults.push(fault("head_lost", line, "was written after the head file was lost; rows before it may be missing"));
  if (row.seq === end.seq + 1 && row.prev === end.hash) return;
  // The oldest files may have been taken away on purpose, and then the log starts later.
  if (first && end.seq === 0 && row.seq > 1)
    return void faults.push(
      fault("missing", line, `is the first and has number ${row.seq}: ${row.seq - 1} rows before it are gone`),
    );
  if (row.seq === end.seq + 1)
    return void faults.push(fault("edited", line, "does not fit the row before it: that one was changed"));
  if (row.seq > end.seq + 1)
    return void faults.push(
      fault("missing", line, `follows number ${end.seq}: ${row.seq - end.seq - 1} rows between them are gone`),
    );
  faults.push(fault("order", line, `follows number ${end.seq}: rows were put in another order or in twice`));
}

function compareHead({ head, files }: StoredLog, end: End, last: Line | undefined, faults: ChainFault[]): void {
  const at = last ?? { file: files.at(-1)?.path ?? "the log", line: 0, row: null, bytes: Buffer.alloc(0), cut: false };
  if (typeof head === "string") {
    if (end.seq > 0)
      faults.push(fault("head_lost", at, `is the last, and the head file is ${head}: rows after it may be missing`));
    return;
  }
  if (head.seq > end.seq)
    return void faults.push({
      ...fault("truncated", at, ""),
      message: `the log ends at number ${end.seq} and its head says ${head.seq}: ${head.seq - end.seq} rows at the end are gone`,
    });
  if (head.seq === end.seq && head.hash !== end.hash)
    faults.push(fault("edited", at, "is the last and not what its head says: it was changed"));
}

function compareAnchor(lines: readonly Line[], anchor: End, faults: ChainFault[]): void {
  const line = lines.find(({ row }) => row?.seq === anchor.seq);
  const at = line ?? { file: "the log", line: 0, row: null, bytes: Buffer.alloc(0), cut: false };
  if (!line || sha256(line.bytes) !== anchor.hash)
    faults.push({
      ...fault("anchor", at, ""),
      message: `row ${anchor.seq} is ${line ? "not the one that was noted" : "gone"}`,
    });
}

function fault(kind: FaultKind, { file, line, row }: Line, what: string): ChainFault {
  const seq = row ? { seq: row.seq } : {};
  return { kind, file, line, ...seq, message: `line ${line} of ${file}${row ? ` (row ${row.seq})` : ""} ${what}` };
}

function openRows(lines: readonly Line[]): number {
  const open = new Set<string>();
  for (const { row } of lines) {
    if (row?.row === "open") open.add(row.id);
    else if (row?.row === "close") open.delete(row.id);
  }
  return open.size;
}

function linesOf(file: string, bytes: Buffer): Line[] {
  const lines: Line[] = [];
  for (let at = 0, line = 1; at < bytes.length; line++) {
    const found = bytes.indexOf(0x0a, at);
    const end = found < 0 ? bytes.length : found;
    const part = bytes.subarray(at, end);
    lines.push({ file, line, bytes: part, row: found < 0 ? null : rowOf(part), cut: found < 0 });
    at = end + 1;
  }
  return lines;
}

function rowOf(bytes: Buffer): Row | null {
  const value = parse(bytes);
  if (value === null || value["v"] !== 2) return null;
  const { seq, prev, row, id } = value;
  if (typeof seq !== "number" || typeof prev !== "string") return null;
  return { v: 2, seq, prev, row: String(row), id: String(id), headLost: value["headLost"] === true };
}

function isOld({ bytes }: Line): boolean {
  return parse(bytes)?.["v"] === 1;
}

function parse(bytes: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return typeof value === "object" && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}
