import { FileNames } from "../contract/file_names.ts";
import type { AuditedOutcome, CappedOutcome } from "../contract/outcome.ts";
import { failureOf } from "../contract/refuse.ts";
import type { Door, ToolRequest } from "../contract/request.ts";
import type { Ruling } from "../contract/ruling.ts";
import type { AppendLog } from "../store/append_log.ts";
import { sha256 } from "../store/chain.ts";
import { maskSecrets } from "../store/mask.ts";

/** The most UTF-16 units of a call's id that a row keeps. */
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
 * Rows hold no input and no output, since secrets must never enter the log: a call is known by the SHA-256 of its input, its
 * result and the policy. Only with `commands` do they have the question that was decided, words like secrets masked: that is
 * what `policy replay` and `policy suggest` read. `log` is made at the first row, so that a command which runs no call writes
 * nothing.
 */
export function createAuditLog(log: () => AppendLog, clock: AuditClock, commands = () => false): AuditLog {
  return {
    open: (request) => {
      const row = { id: clock.newId(), startedMs: clock.monotonic() };
      const input = digest(request.input);
      log().append({
        row: "open",
        id: row.id,
        at: clock.now(),
        door: request.door,
        tool: toolWord(request.tool),
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
          row: "close",
          id: row.id,
          at: clock.now(),
          tool: toolWord(request.tool),
          durationMs,
          ...summary(outcome, request.door),
          ...(commands() && outcome.decision?.question ? { question: maskSecrets(outcome.decision.question) } : {}),
        });
      } catch (error) {
        const hint = "the call has ended, but its closing row is not in the log; make room or set CORDON_STATE_DIR";
        return stamp({ ...outcome, ok: false, failure: { ...failureOf(error, "execute"), hint } }, durationMs);
      }
      return stamp(outcome, durationMs);
    },
  };
}

function summary(outcome: CappedOutcome, door: Door): object {
  const { decision, enforced, denials } = outcome;
  return {
    ok: outcome.ok,
    // What `cordon run` prints goes past this process.
    ...(outcome.ok
      ? door === "run"
        ? {}
        : { result: digest(withoutNames(outcome.output)) }
      : { code: outcome.failure.code, stage: outcome.failure.at }),
    ...(decision ? ruled(decision) : {}),
    decided: deciderOf(outcome),
    ...(enforced ? { tier: enforced.tier, properties: enforced.properties } : {}),
    denials: denials.length,
  };
}

function ruled({ verdict, by, rule, policy, grants, lifts }: Ruling): object {
  return {
    verdict,
    by,
    ...(rule ? { rule: rule.rule } : {}),
    ...(policy ? { policy } : {}),
    ...(grants?.length ? { grants } : {}),
    ...(lifts?.length ? { lifts } : {}),
  };
}

/** Who had the last word: what the policy went by, whoever answered in its place, or what stopped the call after that. */
function deciderOf(outcome: CappedOutcome): string {
  const { decision } = outcome;
  if (!outcome.ok) {
    const { code, at } = outcome.failure;
    if (at === "validate") return "schema";
    if (at === "hooks") return "hook";
    if (code === "policy.refused_by_person") return "person";
    if (code === "policy.needs_answer") return "nobody";
    if (code.startsWith("sandbox.")) return "sandbox";
  }
  const answered = decision?.answeredBy;
  return answered === undefined || answered === "policy" ? (decision?.by ?? "nobody") : answered;
}

/** SHA-256 of the JSON text; undefined input has the digest of nothing. */
function digest(input: unknown): string {
  // JSON.stringify of JavaScriptCore takes seconds to give up on 50 000 nested arrays, which fit in one short line.
  if (isDeeper(input, DEPTH_LIMIT)) return "nested too deep";
  return sha256(JSON.stringify(input) ?? "");
}

/** Names that are bytes count by the digest of those: making text of them all would cost more than the search for them. */
function withoutNames(output: unknown): unknown {
  if (typeof output !== "object" || output === null || Array.isArray(output)) return output;
  const known = Object.entries(output).map(([key, value]: [string, unknown]) => [
    key,
    value instanceof FileNames ? value.digest(sha256) : value,
  ]);
  return Object.fromEntries(known);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  // Lists can be long, and to copy one takes as long as to look at it.
  const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return levels === 0 || items.some((item) => isDeeper(item, levels - 1));
}

/** Names of tools are known words; what else stands there could be anything, a secret too. */
function toolWord(name: string): string {
  return /^[A-Za-z][\w.:-]{0,99}$/.test(name) ? name : "(no name of a tool)";
}

/** A caller's word in a row: a megabyte of it, or a secret pasted into the wrong field, must not fill the log. */
function short(word: string): string {
  return word.length <= WORD_LIMIT ? word : `${word.slice(0, WORD_LIMIT)}…`;
}

function stamp(outcome: CappedOutcome, durationMs: number): AuditedOutcome {
  // The closing row was written, or the outcome says that it was not; this is the only maker of AuditedOutcome.
  return { outcome, durationMs } as AuditedOutcome;
}
