import type { Property } from "./plan.ts";
import type { ModeSetting } from "./request.ts";
import type { TrustFiles } from "./sandbox_request.ts";
import type { RuleLists } from "./verdict.ts";

/** The layers that come from files, weakest first. */
export const FILE_LAYERS = ["user", "project", "local", "managed"] as const;

/** One of them. */
export type FileLayer = (typeof FILE_LAYERS)[number];

/** A file that settings may come from. "untrusted": only what tightens was taken from it. */
export type SettingsFile = {
  path: string;
  layer: FileLayer;
  format: "cordon" | "claude-code";
  state: "in force" | "untrusted" | "absent";
};

/** Something that stands in a file and does not hold, or not as written; `origin` is `file:line:column`. */
export type SettingsNotice = {
  kind: "untrusted" | "not used" | "held" | "bound";
  /** What it would have been about, so that a door speaks only of what concerns it. */
  about: "rules" | "mode" | "sandbox" | "hooks" | "other";
  origin: string;
  text: string;
};

/** What one entry of a `sandbox` block sets. Paths are as written; sizes are bytes, `cpuPercent` 100 is one processor. */
export type SandboxSetting =
  | { field: "allowRead" | "allowWrite" | "denyRead" | "denyWrite" | "allowUnix"; value: string }
  | { field: "allowEnv"; value: string | "all" }
  | { field: "network"; value: "open" | "blocked" }
  | { field: "trustFiles"; value: TrustFiles }
  | { field: "require"; value: Property }
  | { field: "reportReads"; value: boolean }
  | { field: LimitName; value: number };

/** The limits that a file can set. */
export type LimitName = "memoryBytes" | "processes" | "cpuPercent" | "fileBytes";

/** The same with its place. */
export type SandboxEntry = SandboxSetting & { origin: string; layer: FileLayer; trusted: boolean };

/** All that the files say, layers added up. Rules of `project` and `local` that would loosen are in it only where the person trusts them. */
export type Settings = {
  files: SettingsFile[];
  rules: RuleLists;
  /** The mode that the files ask for, and the one that none may pass; `byDefault` is a managed one that is no ceiling. */
  mode?: ModeSetting;
  ceiling?: ModeSetting;
  /** The sandbox entries of all layers, weakest first, managed last. Those of a profile stand before the managed ones. */
  sandbox: SandboxEntry[];
  /** Folders beside the workspace that tools may work in, absolute and real. */
  roots: string[];
  /** Hooks in force that could refuse a call, with their events. They are not run in this version, so no tool may be called. */
  hooks: { origin: string; events: string[] }[];
  /** Only rules of the managed file may allow. */
  managedOnly: boolean;
  /** The audit log keeps what replay needs. */
  auditCommands: boolean;
  notices: SettingsNotice[];
  /** Whether there are project files, and whether the person trusts them as they are now. */
  workspaceTrust: "nothing to trust" | "trusted" | "changed" | "untrusted";
  /** SHA-256 over the project's files; what `cordon policy trust` stores. Absent where there are none. */
  digest?: string;
};
