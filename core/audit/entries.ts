import type { StoredLog } from "../store/append_log.ts";

/** One call of the log: its two rows put together. Without `ended` it runs still, or its process was ended. */
export type AuditEntry = {
  id: string;
  seq: number;
  at: number;
  door: string;
  tool: string;
  call: string;
  input: string;
  ended?: AuditEnd;
};

/** How it ended. `decided` is who had the last word, `by` what the policy went by. */
export type AuditEnd = {
  durationMs: number;
  ok: boolean;
  code?: string;
  verdict?: string;
  by?: string;
  decided?: string;
  rule?: string;
  grants?: string[];
  lifts?: string[];
  policy?: string;
  result?: string;
  tier?: string;
  denials: number;
  question?: unknown;
};

/** What to show. `since` is milliseconds since the epoch; the words must be equal to those of the entry. */
export type AuditFilter = { since?: number; tool?: string; verdict?: string; decided?: string; failed?: boolean };

/** The calls of a log, oldest first; lines that are no rows are passed over, which `verifyLog` names. */
export function entriesOf(log: StoredLog): AuditEntry[] {
  const entries = new Map<string, AuditEntry>();
  for (const { bytes } of log.files) {
    for (const line of bytes.toString("utf8").split("\n")) {
      const row = parseRow(line);
      if (row?.["row"] === "open") entries.set(text(row, "id"), opened(row));
      const entry = row?.["row"] === "close" ? entries.get(text(row, "id")) : undefined;
      if (row && entry) entry.ended = ended(row);
    }
  }
  return [...entries.values()];
}

/** Whether an entry is wanted. */
export function keeps({ at, tool, ended }: AuditEntry, filter: AuditFilter): boolean {
  if (filter.since !== undefined && at < filter.since) return false;
  if (filter.tool !== undefined && tool !== filter.tool) return false;
  if (filter.verdict !== undefined && ended?.verdict !== filter.verdict) return false;
  if (filter.decided !== undefined && (ended?.decided ?? ended?.by) !== filter.decided) return false;
  return filter.failed !== true || ended?.ok === false;
}

type RawRow = Record<string, unknown>;

function parseRow(line: string): RawRow | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function opened(row: RawRow): AuditEntry {
  return {
    id: text(row, "id"),
    seq: number(row, "seq"),
    at: number(row, "at"),
    door: text(row, "door"),
    tool: text(row, "tool"),
    call: text(row, "call"),
    input: text(row, "input"),
  };
}

function ended(row: RawRow): AuditEnd {
  const words = ["code", "verdict", "by", "decided", "rule", "policy", "result", "tier"] as const;
  const lists = ["grants", "lifts"] as const;
  return {
    durationMs: number(row, "durationMs"),
    ok: row["ok"] === true,
    ...Object.fromEntries(words.flatMap((name) => (typeof row[name] === "string" ? [[name, row[name]]] : []))),
    ...Object.fromEntries(lists.flatMap((name) => (Array.isArray(row[name]) ? [[name, row[name]]] : []))),
    denials: number(row, "denials"),
    ...(row["question"] === undefined ? {} : { question: row["question"] }),
  };
}

function text(row: RawRow, name: string): string {
  const value = row[name];
  return typeof value === "string" ? value : "";
}

function number(row: RawRow, name: string): number {
  const value = row[name];
  return typeof value === "number" ? value : 0;
}
