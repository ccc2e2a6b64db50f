import type { ModeSetting } from "../../contract/request.ts";
import type { SandboxEntry, SandboxSetting } from "../../contract/settings.ts";
import type { Mode } from "../../contract/verdict.ts";

/** The modes from the strictest to the loosest. */
const STRICTNESS: readonly Mode[] = ["read-only", "prompt", "workspace-write", "danger-full-access", "allow"];

/** True where `one` lets no more through than `other`. */
export function isAsStrict(one: ModeSetting, other: ModeSetting): boolean {
  if (STRICTNESS.indexOf(one.mode) > STRICTNESS.indexOf(other.mode)) return false;
  return other.asks !== "deny" || one.asks === "deny" || one.mode === "read-only";
}

/** The stricter of two modes; the first where they are the same. */
export function stricter(one: ModeSetting, other: ModeSetting): ModeSetting {
  return isAsStrict(one, other) ? one : other;
}

/** True for what no sandbox becomes weaker by, given the entries before it. */
export function tightens(entry: SandboxSetting, before: readonly SandboxEntry[]): boolean {
  switch (entry.field) {
    case "denyRead":
    case "denyWrite":
    case "require":
      return true;
    case "network":
      return entry.value === "blocked";
    case "trustFiles":
      return entry.value === "block";
    case "reportReads":
      return entry.value;
    case "memoryBytes":
    case "processes":
    case "cpuPercent":
    case "fileBytes": {
      const set = before.findLast(({ field }) => field === entry.field);
      return set === undefined || entry.value <= Number(set.value);
    }
    default:
      return false;
  }
}
