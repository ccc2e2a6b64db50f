import type { Level, Limits, Property } from "./plan.ts";

/** What becomes of files that tools outside the sandbox obey: refused, allowed and named at the end, or allowed. */
export type TrustFiles = "block" | "report" | "allow";

/** A path, or what a glob matches. `inside`: not itself, if it is a file, but what lies in it. */
export type RulePattern = ({ path: string } | { glob: string }) & { inside: boolean };

/** A deny rule on reading: what its patterns name is hidden with all below, but for what `except` names. Absolute. */
export type ReadRule = { rule: string; origin: string; patterns: RulePattern[]; except: RulePattern[] };

/**
 * What one command asks of the sandbox beyond the policy's defaults. Every list is in the caller's words; the planner
 * resolves them. A model's call can only fill `only*` and `require` (they tighten); the flags of `cordon run` fill the rest.
 */
export type SandboxRequest = {
  allowRead: string[];
  allowWrite: string[];
  denyRead: string[];
  denyWrite: string[];
  /** Who asked for a closed path, where it was no flag: a setting with its place, by the path. */
  closedBy?: Readonly<Record<"denyRead" | "denyWrite", Readonly<Record<string, string>>>>;
  /** Deny rules on reading that hold for the command. */
  readRules?: readonly ReadRule[];
  /** "policy" keeps the default, "open" shares the host's network, "blocked" demands none. */
  network: "policy" | "open" | "blocked";
  /** Names to pass, or "all" for every variable whose name does not look like a secret. */
  allowEnv: string[] | "all";
  require: Property[];
  trustFiles: TrustFiles;
  /** A flag named `trustFiles`, so the word of a settings file does not change it. */
  trustFilesAsked?: true;
  /** Sockets of the host that may be connected to. */
  allowUnix: string[];
  /** Denied reads are seen and reported as exactly as writes; every open costs about 10 µs then. */
  reportReads: boolean;
  /** `outputBytes` counts stdout and stderr together; the host holds it, the rest is the launcher's. */
  limits: Limits & { outputBytes?: number };
  /** Writable folders for this command instead of the workspace; must lie inside what the policy lets it write. */
  onlyWrite?: string[];
};

/** The request that changes nothing. */
export const DEFAULT_SANDBOX_REQUEST: SandboxRequest = {
  allowRead: [],
  allowWrite: [],
  denyRead: [],
  denyWrite: [],
  network: "policy",
  allowEnv: [],
  require: [],
  trustFiles: "block",
  allowUnix: [],
  reportReads: false,
  limits: {},
};

/** The demands of a policy by property. */
export type Demands = Partial<Record<Property, Level>>;
