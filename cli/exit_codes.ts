import type { ErrorCode } from "@cordon/core/contract";

/** How a command of ours ends. Above 128: 128 plus the number of the signal that ended the command. */
export const EXIT = {
  ok: 0,
  toolError: 1,
  denied: 3,
  unenforced: 120,
  usage: 121,
  timedOut: 124,
  notExecutable: 126,
  notFound: 127,
  signalBase: 128,
} as const;

/** What `--help` says of each code. */
export const EXIT_MEANINGS: Readonly<Record<number, string>> = {
  [EXIT.unenforced]: "the sandbox could not enforce what the policy demands; nothing ran",
  [EXIT.usage]: "bad usage or bad configuration; nothing ran",
  [EXIT.timedOut]: "the time limit ended the command",
  [EXIT.notExecutable]: "the command is not executable",
  [EXIT.notFound]: "the command was not found",
  [EXIT.signalBase]: "and above: 128+n, signal n ended the command",
};

const BY_CODE: Partial<Record<ErrorCode, number>> = {
  "policy.denied": EXIT.denied,
  "policy.needs_answer": EXIT.denied,
  "policy.refused_by_person": EXIT.denied,
  "policy.changed_since_approval": EXIT.denied,
  "policy.bad_grants": EXIT.usage,
  "hook.denied": EXIT.denied,
  "hook.failed": EXIT.denied,
  "sandbox.loosen_refused": EXIT.denied,
  "sandbox.outside": EXIT.denied,
  "sandbox.hidden": EXIT.denied,
  "sandbox.protected": EXIT.denied,
  "sandbox.unenforced": EXIT.unenforced,
  "sandbox.unsupported": EXIT.unenforced,
  "policy.bad_rule": EXIT.usage,
  "audit.unwritable": EXIT.usage,
  "audit.unreadable": EXIT.usage,
  "state.locked": EXIT.usage,
  "state.insecure": EXIT.usage,
  "config.invalid": EXIT.usage,
  usage: EXIT.usage,
};

/** The exit code of a failed call at the doors `call` and `tools`; 1 for every error a tool itself reports. */
export function exitCodeOf(code: ErrorCode): number {
  return BY_CODE[code] ?? EXIT.toolError;
}

/** The exit code when `cordon run` itself failed: nothing ran, so the command's own codes 0 to 119 are never used but for a defect. */
export function runExitCodeOf(code: ErrorCode): number {
  if (code === "exec.not_found") return EXIT.notFound;
  if (code === "tool.crashed") return EXIT.toolError;
  const known = BY_CODE[code];
  return known === undefined || known === EXIT.denied ? EXIT.usage : known;
}
