import type { ReadRule, SandboxRequest } from "../contract/sandbox_request.ts";

/** Who closed a path: a setting by its place, or the flag. */
export function closedBy(request: SandboxRequest, list: "denyRead" | "denyWrite", path: string): string {
  return request.closedBy?.[list][path] ?? (list === "denyRead" ? "--deny-read" : "--deny-write");
}

/** A deny rule as refusals name it. */
export function ruledBy({ rule, origin }: ReadRule): string {
  return `the deny rule ${rule} of ${origin}`;
}
