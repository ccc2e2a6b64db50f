/**
 * A refusal as an event. `grant` is the smallest flag of `cordon run` that would have allowed it;
 * absent when no flag can. `at` is milliseconds since the epoch.
 */
export type Denial = {
  at: number;
  op: "read" | "write" | "connect" | "exec" | "limit";
  path?: string;
  host?: string;
  syscall?: string;
  exe?: string;
  pid?: number;
  rule: string;
  reason: string;
  grant?: string;
  /** True where the cause is inferred from the policy and not seen in the kernel. People are told so. */
  guess?: true;
};

/** A file that tools outside the sandbox obey, and that the command changed. Allowed, and named at the end. */
export type TrustedChange = { at: number; path: string; reason: string; syscall: string; pid: number; exe?: string };
