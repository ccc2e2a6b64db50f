import type { AuditedOutcome, CappedOutcome } from "../contract/outcome.ts";
import { failureOf } from "../contract/refuse.ts";
import type { ToolRequest } from "../contract/request.ts";
import type { AppendLog } from "../store/append_log.ts";

/** The most UTF-16 units of a tool's name or a call's id that a row keeps. */
const WORD_LIMIT = 100;

/** No tool has parameters nested anywhere near this. */
const DEPTH_LIMIT = 500;

/** A row that was opened and not closed yet. `startedMs` is of a clock that never goes back. */
export type OpenRow = { id: string; startedMs: number };

/** The bracket around every call. A crash in between leaves a row open, which is evidence. */
export type AuditLog = {
  /** Writes the opening row; throws ToolFault `audit.unwritable`, and then nothing may run. */
  open: (request: ToolRequest) => OpenRow;
  /** Writes the closing row. When that fails the outcome becomes an error. Never throws. */
  close: (row: OpenRow, request: ToolRequest, outcome: CappedOutcome) => AuditedOutcome;
};

/** What the log needs from the world. `now` is milliseconds since the epoch, `monotonic` milliseconds of a steady clock. */
export type AuditClock = { now: () => number; monotonic: () => number; newId: () => string; pid: number };

/**
 * Rows hold no input and no output, since secrets must never enter the log: a call is known by the SHA-256 of its input.
 * `log` is made at the first row, so that a command which runs no call writes nothing.
 */
export function createAuditLog(log: () => AppendLog, clock: AuditClock): AuditLog {
  return {
    open: (request) => {
      const row = { id: clock.newId(), startedMs: clock.monotonic() };
      const input = digest(request.input);
      log().append({
        v: 1,
        row: "open",
        id: row.id,
        at: clock.now(),
        door: request.door,
        tool: short(request.tool),
        call: short(request.id),
        input,
        pid: clock.pid,
      });
      return row;
    },
    close: (row, request, outcome) => {
      const durationMs = Math.round((clock.monotonic() - row.startedMs) * 1000) / 1000;
      try {
        log().append({
          v: 1,
          row: "close",
          id: row.id,
          at: clock.now(),
          tool: short(request.tool),
          durationMs,
          ...summary(outcome),
        });
      } catch (error) {
        const hint = "the call has ended, but its closing row is not in the log; make room or set CORDON_STATE_DIR";
        return stamp({ ...outcome, ok: false, failure: { ...failureOf(error, "execute"), hint } }, durationMs);
      }
      return stamp(outcome, durationMs);
    },
  };
}

function summary(outcome: CappedOutcome): object {
  const { decision, enforced, denials } = outcome;
  return {
    ok: outcome.ok,
    ...(outcome.ok ? {} : { code: outcome.failure.code, stage: outcome.failure.at }),
    ...(decision
      ? { verdict: decision.verdict, by: decision.by, ...(decision.rule ? { rule: decision.rule.rule } : {}) }
      : {}),
    ...(enforced ? { tier: enforced.tier, properties: enforced.properties } : {}),
    denials: denials.length,
  };
}

/** SHA-256 of the JSON text; undefined input has the digest of nothing. */
function digest(input: unknown): string {
  // JSON.stringify of JavaScriptCore takes seconds to give up on 50 000 nested arrays, which fit in one short line.
  if (isDeeper(input, DEPTH_LIMIT)) return "nested too deep";
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(input) ?? "").digest("hex");
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}

/** A caller's word in a row: a megabyte of it, or a secret pasted into the wrong field, must not fill the log. */
function short(word: string): string {
  return word.length <= WORD_LIMIT ? word : `${word.slice(0, WORD_LIMIT)}…`;
}

function stamp(outcome: CappedOutcome, durationMs: number): AuditedOutcome {
  // The closing row was written, or the outcome says that it was not; this is the only maker of AuditedOutcome.
  return { outcome, durationMs } as AuditedOutcome;
}
