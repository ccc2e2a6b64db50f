import type { Level, Property } from "./plan.ts";

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
};

/** The demands of a policy by property. */
export type Demands = Partial<Record<Property, Level>>;
