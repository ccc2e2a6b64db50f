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
 * then any number of `denial`, then `exit`.
 */
export type LauncherReport =
  | ({ t: "enforced"; tmpdir?: string } & Enforced)
  | { t: "refused"; property?: Property; op: string; why: string; errno?: string; ops: OpReport[] }
  | ({ t: "denial" } & ObservedDenial)
  | { t: "exit"; code: number | null; signal: string | null };

/** A refusal as the kernel's side saw it. `errno` is what the caller got, for example "EROFS", or is absent when unknown. */
export type ObservedDenial = {
  op: "write" | "connect";
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
};

/** Lines the host writes to the launcher: the plan first, then any of these. Closing the channel means `kill`. */
export type LauncherControl = { t: "plan"; plan: unknown } | { t: "signal"; signal: string } | { t: "kill" };
