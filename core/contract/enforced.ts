import type { Level, PlanOp, Property, Tier } from "./plan.ts";

/** What became of one step: carried out, or not, with the errno name or sentence that says why. */
export type OpReport = { op: PlanOp["op"]; level: Level; state: "enforced" | "partial" | "missing"; why?: string };

/** What the operating system really did. Goes into every result and every audit row. */
export type Enforced = {
  tier: Tier;
  landlockAbi: number;
  properties: Partial<Record<Property, "enforced" | "partial" | "missing">>;
  ops: OpReport[];
};

/**
 * Lines the launcher writes to the report channel, one JSON object each, in this order: `enforced` or `refused` first,
 * then any number of `denial` and `trusted`, then `exit`. `trusted` is a change that a rule with the effect "report" allowed, one
 * line a path. `limit` names the bound that ended the command, for example "memory".
 */
export type LauncherReport =
  | ({ t: "enforced"; tmpdir?: string } & Enforced)
  | { t: "refused"; property?: Property; op: string; why: string; errno?: string; ops: OpReport[] }
  | ({ t: "denial" } & ObservedDenial)
  | ({ t: "trusted" } & ObservedChange)
  | { t: "exit"; code: number | null; signal: string | null; limit?: string };

/** A change of a file that tools outside the sandbox obey. */
export type ObservedChange = { path: string; reason: string; syscall: string; pid: number; exe?: string };

/**
 * A refusal as the kernel's side saw it. `errno` is what the caller got, for example "EROFS", or is absent when unknown.
 * `reason` and `grant` are those of the broker's rule, where one decided.
 */
export type ObservedDenial = {
  op: "write" | "read" | "connect" | "exec" | "limit";
  path?: string;
  host?: string;
  port?: number;
  syscall: string;
  pid: number;
  exe?: string;
  errno?: string;
  /** A sentence for what the other fields can't say, for example that nothing listens in the private loopback. */
  note?: string;
  rule: Property;
  reason?: string;
  grant?: string;
};

/** Lines the host writes to the launcher: the plan first, then any of these. Closing the channel means `kill`. */
export type LauncherControl = { t: "plan"; plan: unknown } | { t: "signal"; signal: string } | { t: "kill" };
