import type { Level, Limits, Property } from "./plan.ts";

/** What becomes of files that tools outside the sandbox obey: refused, allowed and named at the end, or allowed. */
export type TrustFiles = "block" | "report" | "allow";

/**
 * What one command asks of the sandbox beyond the policy's defaults. Every list is in the caller's words; the planner
 * resolves them. A model's call can only fill `only*` and `require` (they tighten); the flags of `cordon run` fill the rest.
 */
export type SandboxRequest = {
  allowRead: string[];
  allowWrite: string[];
  denyRead: string[];
  denyWrite: string[];
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
