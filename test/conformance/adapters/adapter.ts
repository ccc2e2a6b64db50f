import type { Case } from "../case.ts";
import type { Place } from "../place.ts";

/** Something that not every tool has a word for. A case that needs one which a tool lacks is "n/a" for it, not a failure. */
export type Feature =
  | "write_deny"
  | "read_deny"
  | "missing_paths"
  | "globs_for_reading"
  | "globs_for_writing"
  | "network_open"
  | "unix"
  | "trust_block"
  | "trust_report"
  | "trust_allow"
  | "env_hide"
  | "env_pass"
  | "limit_memory"
  | "limit_processes"
  | "limit_file_size"
  | "limit_output"
  | "limit_seconds"
  | "report_reads"
  | "loopback"
  | "private_loopback"
  | "read_confined"
  | "shared_limits"
  | "signals"
  | "events"
  | BasicFeature;

/** What a sandbox in another sandbox may have to do without: closed places in an open folder, modes and times outside, own unix sockets. */
export type BasicFeature = "deny_inside" | "metadata" | "own_sockets";

/** What every tool has that is started on a machine which gives it all it wants. */
export const BASICS: readonly BasicFeature[] = ["deny_inside", "metadata", "own_sockets"];

/** How a tool is started for one case. `env` comes on top of PATH, HOME and LANG. `files` are written first, before the tool's user gets them. */
export type Launch = { argv: string[]; env?: Record<string, string>; files?: Record<string, string> };

/** A denial as the tool reported it. */
export type ToolEvent = { op: string; path?: string; host?: string; grant?: string; rule?: string };

/** One column of the score table: a tool in certain surroundings. */
export type Adapter = {
  /** What the command line of the runner selects by, such as `bwrap` or `cordon/landlock/ordinary`. */
  id: string;
  version: () => string;
  /** Why it can't be run here, or null. */
  missing: string | null;
  uid: number;
  /** Turns a command line into one for the surroundings (user, with or without user namespaces). */
  wrap: (argv: string[]) => string[];
  can: ReadonlySet<Feature>;
  launch: (one: Case, place: Place, argv: string[]) => Launch;
  /** The denials it reported; null where it reports none in a form for programs. */
  events: (place: Place, stderr: string) => ToolEvent[];
};

const GLOB = /[*?[{]/;

/** What a case needs a word for. */
export function featuresOf(one: Case): Feature[] {
  const { policy = {} } = one;
  const hasGlob = (...lists: (string[] | undefined)[]) =>
    lists.flatMap((list) => list ?? []).some((path) => GLOB.test(path.replaceAll(/\{[A-Z]+\}/g, "")));
  const limits = Object.keys(policy.limits ?? {});
  const found: (Feature | false)[] = [
    (policy.write_deny ?? []).length > 0 && "write_deny",
    (policy.read_deny ?? []).length > 0 && "read_deny",
    (policy.read_deny ?? []).some((path) => !/^\{[SOH]\}/.test(path)) && "deny_inside",
    hasGlob(policy.read, policy.read_deny) && "globs_for_reading",
    hasGlob(policy.write, policy.write_deny) && "globs_for_writing",
    policy.network === "open" && "network_open",
    (policy.unix ?? []).length > 0 && "unix",
    policy.trust === "block" && "trust_block",
    policy.trust === "report" && "trust_report",
    policy.trust === "allow" && "trust_allow",
    (policy.env_hide ?? []).length > 0 && "env_hide",
    (policy.env_pass ?? []).length > 0 && "env_pass",
    limits.includes("memory") && "limit_memory",
    limits.includes("processes") && "limit_processes",
    limits.includes("file_size") && "limit_file_size",
    limits.includes("output") && "limit_output",
    limits.includes("seconds") && "limit_seconds",
    policy.report === "reads" && "report_reads",
    one.feature ?? false,
    one.signal !== undefined && one.signal !== "KILL" && "signals",
    one.events !== undefined && "events",
  ];
  return found.filter((feature) => feature !== false);
}
