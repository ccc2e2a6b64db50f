import type { LimitName, SandboxSetting } from "../../contract/settings.ts";
import type { ModeSetting } from "../../contract/request.ts";
import type { RuleLists } from "../../contract/verdict.ts";

/** A value with its place. */
export type Placed<T> = { value: T; origin: string };

/** What one entry of a sandbox block sets, with its place. */
export type PlacedSetting = SandboxSetting & { origin: string };

/** Why a limit's name is what it is in a file. */
export const LIMIT_KEYS: Readonly<Record<string, LimitName>> = {
  memory: "memoryBytes",
  pids: "processes",
  cpu: "cpuPercent",
  fileSize: "fileBytes",
};

/** What stands in one file, nothing weighed yet. The layer of rules is the file's. */
export type Content = {
  rules: RuleLists;
  mode?: ModeSetting;
  /** The mode is a ceiling (managed only), and modes that never ask are closed. */
  locked?: Placed<boolean>;
  noBypass?: Placed<true>;
  managedRulesOnly?: Placed<true>;
  roots: Placed<string>[];
  sandbox: PlacedSetting[];
  profiles: Map<string, PlacedSetting[]>;
  include: Placed<string>[];
  auditCommands?: Placed<boolean>;
  /** Hooks stand in it: the events of those that may decide about a call. */
  hooks?: Placed<string[]>;
  /** Hooks are not wanted: those of this layer and weaker ones. */
  noHooks?: Placed<true>;
  /** Keys that are known and do nothing, with the reason where there is one to give. */
  unused: Placed<string>[];
};

/** A file without a word in it. */
export function emptyContent(): Content {
  return {
    rules: { allow: [], ask: [], deny: [] },
    roots: [],
    sandbox: [],
    profiles: new Map(),
    include: [],
    unused: [],
  };
}
