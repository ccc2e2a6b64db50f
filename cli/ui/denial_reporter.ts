import type { Denial, TrustedChange } from "@cordon/core/contract";
import { visibleText } from "./visible_text.ts";
import { writeFully } from "./write_fully.ts";

/** Lines for people in one run; a build that probes a thousand paths must not bury its own output. */
const MOST_LINES = 20;

/** Tells people (stderr) and programs (the events file) what was refused, each thing once. */
export type DenialReporter = {
  report: (denial: Denial) => void;
  /** Called once at the end with all denials of the result; guesses are only told when the command failed. */
  finish: (all: readonly Denial[], end: "succeeded" | "failed") => void;
  /** Called once at the end with what was allowed and must be looked at. */
  listTrusted: (changes: readonly TrustedChange[]) => void;
};

/** `events` is an open descriptor or null. */
export function createDenialReporter(events: number | null): DenialReporter {
  const seen = new Set<string>();
  let lines = 0;
  let exact = 0;
  let lost: string | null = null;
  const tell = (denial: Denial) => {
    const key = [denial.op, denial.path ?? denial.host ?? denial.reason, denial.rule].join("\0");
    if (seen.has(key)) return;
    seen.add(key);
    if (events !== null) lost ??= writeFully(events, `${JSON.stringify(denial)}\n`);
    if (++lines <= MOST_LINES) writeFully(2, `${renderDenial(denial)}\n`);
  };
  const report = (denial: Denial) => {
    if (denial.guess) return;
    exact++;
    tell(denial);
  };
  const listTrusted = (changes: readonly TrustedChange[]) => {
    for (const change of changes)
      if (events !== null) lost ??= writeFully(events, `${JSON.stringify({ op: "trusted", ...change })}\n`);
    for (const line of renderTrusted(changes)) writeFully(2, `${line}\n`);
  };
  return {
    report,
    listTrusted,
    finish: (all, end) => {
      for (const denial of all) report(denial);
      if (end === "failed" && exact === 0) for (const denial of all) if (denial.guess) tell(denial);
      if (lines > MOST_LINES)
        writeFully(2, `cordon: ${lines - MOST_LINES} more were blocked; --events FILE lists them all\n`);
      if (lost !== null) writeFully(2, `cordon: the file of --events is not complete: ${lost} while writing to it\n`);
    },
  };
}

/** Lines without their ends; none for none. */
export function renderTrusted(changes: readonly TrustedChange[]): string[] {
  if (changes.length === 0) return [];
  const files = changes.map(({ path, reason }) => `  ${visibleText(path)} (${visibleText(reason)})`);
  return ["cordon: changed files that tools outside the sandbox obey:", ...files];
}

/** One line without its end, for example `cordon: blocked write /root/.bashrc (outside the workspace); allow with …`. */
export function renderDenial(denial: Denial): string {
  const what = visibleText(denial.path ?? denial.host ?? denial.syscall ?? "");
  const grant = denial.grant === undefined ? "" : `; allow with ${visibleText(denial.grant)}`;
  const reason = visibleText(denial.reason);
  if (denial.op === "limit") {
    const raise = denial.grant === undefined ? "" : `; raise it with ${visibleText(denial.grant)}`;
    return `cordon: ${reason}${raise}`;
  }
  if (denial.guess) return `cordon: nothing was seen to be blocked; a guess why the command failed: ${reason}${grant}`;
  return `cordon: blocked ${denial.op} ${what} (${reason})${grant}`;
}
