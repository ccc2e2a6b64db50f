import type { LinuxFacts } from "../contract/facts.ts";
import type { Property, Tier } from "../contract/plan.ts";
import type { SandboxPolicy } from "../contract/sandbox_policy.ts";
import { type MissingPart, missingParts } from "./machine_help.ts";
import { offerOf } from "./offer.ts";
import { chooseTier } from "./plan_linux.ts";

/** One protection on this machine, and what would help where it is missing or has a bound. */
export type PropertyReport = { property: Property; state: "enforced" | "missing"; why?: string; help?: string };

/** What this machine can enforce under the default policy in this folder; shown by `cordon doctor`. */
export type MachineReport = {
  platform: string;
  supported: boolean;
  tier: Tier;
  properties: PropertyReport[];
  facts?: LinuxFacts;
  launcher?: { path: string; sha256: string };
  /** What this machine lacks; empty where it has everything. */
  missing: MissingPart[];
};

/** What describeMachine looks at. */
export type MachineParts = {
  platform: string;
  policy: SandboxPolicy;
  facts?: LinuxFacts;
  launcher?: { path: string; sha256: string };
};

/** By default there is none; what is asked here is whether one would hold. */
const EVERY_LIMIT = { memoryBytes: 1, processes: 1, cpuPercent: 1, fileBytes: 1 };

const UNSEEN = {
  why: "this workspace has more folders than are looked through, so files named like secrets deeper down can be read",
  help: "start in a smaller folder, or name them: --deny-read='**/.env'",
};

/** Says what the planner would get here. Pure: the same offer that planning uses. */
export function describeMachine({ platform, policy, facts, launcher }: MachineParts): MachineReport {
  if (!facts) return { platform, supported: false, tier: "none", properties: [], missing: [] };
  const tier = chooseTier(facts);
  // Object.entries forgets the key type; the offer's keys are properties by its own type.
  const offers = Object.entries(offerOf(tier, { ...policy, limits: EVERY_LIMIT }, facts)) as [
    Property,
    true | { why: string; help: string },
  ][];
  const properties = offers.map(
    ([property, given]): PropertyReport =>
      given === true
        ? { property, state: "enforced", ...(property === "fs.read_hidden" && policy.secretsUnseen ? UNSEEN : {}) }
        : { property, state: "missing", ...given },
  );
  const missing = missingParts(facts, launcher?.path ?? "/path/of/the/launcher");
  return { platform, supported: true, tier, properties, missing, facts, ...(launcher ? { launcher } : {}) };
}
