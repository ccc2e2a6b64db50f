import type { CappedOutcome, Failure, Outcome } from "../contract/outcome.ts";
import { FileNames } from "../contract/file_names.ts";
import { capText, TEXT_LIMIT_BYTES } from "./cap_text.ts";

/** Fits every string of an outcome to TEXT_LIMIT_BYTES, keeping head and tail, and counts what went. Never throws. */
export function capOutput(outcome: Outcome): CappedOutcome {
  const count = { dropped: 0 };
  const capped = outcome.ok
    ? { ...outcome, output: capValue(outcome.output, count) }
    : { ...outcome, failure: capFailure(outcome.failure, count) };
  // Every string went through capString above; this is the only maker of CappedOutcome.
  return { ...capped, droppedBytes: count.dropped + alreadyDropped(outcome) } as unknown as CappedOutcome;
}

function capFailure(failure: Failure, count: { dropped: number }): Failure {
  const { message, hint, details } = failure;
  return {
    ...failure,
    message: capString(message, count),
    ...(hint === undefined ? {} : { hint: capString(hint, count) }),
    ...(details === undefined ? {} : { details: capValue(details, count) }),
  };
}

/** A command's collector cuts while it reads, to bound memory; its count joins ours. */
function alreadyDropped(outcome: Outcome): number {
  if (!outcome.ok || typeof outcome.output !== "object" || outcome.output === null) return 0;
  const own = "droppedBytes" in outcome.output ? outcome.output.droppedBytes : 0;
  return typeof own === "number" ? own : 0;
}

function capValue(value: unknown, count: { dropped: number }): unknown {
  if (typeof value === "string") return capString(value, count);
  // No path is as long as the limit.
  if (value instanceof FileNames) return value;
  if (Array.isArray(value)) return value.map((item) => capValue(item, count));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, capValue(item, count)]));
}

function capString(text: string, count: { dropped: number }): string {
  // A UTF-16 unit is at most three UTF-8 bytes, so short strings need no encoding to be known to fit.
  if (text.length * 3 <= TEXT_LIMIT_BYTES) return text;
  const { text: kept, droppedBytes } = capText(Buffer.from(text), TEXT_LIMIT_BYTES);
  count.dropped += droppedBytes;
  return kept;
}
