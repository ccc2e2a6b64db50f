import { resolve } from "node:path";
import { ToolFault } from "../../contract/fault.ts";
import type { TrustFiles } from "../../contract/sandbox_request.ts";
import type { SandboxRequest } from "../../contract/sandbox_request.ts";
import type { SandboxEntry } from "../../contract/settings.ts";
import type { Place } from "../../contract/tool.ts";
import type { Mode } from "../../contract/verdict.ts";
import { fixedFolder, isGlob } from "../globs.ts";
import { kindSync } from "../look.ts";
import { fromHome } from "../protected_paths.ts";

/** Where entries apply. In mode read-only nothing that a file allows is writable: only a flag opens there. */
export type Applied = { place: Place; mode: Mode };

type PathList = "allowRead" | "allowWrite" | "denyRead" | "denyWrite" | "allowUnix";

const TRUST_ORDER: readonly TrustFiles[] = ["block", "report", "allow"];

/**
 * Puts what the settings files say of the sandbox under what a command or its flags ask. Lists add up; of single values the flag's
 * holds, except where the managed file is stricter: asking for more by a flag throws ToolFault `sandbox.loosen_refused`.
 */
export function applySandbox(
  entries: readonly SandboxEntry[],
  asked: SandboxRequest,
  { place, mode }: Applied,
): SandboxRequest {
  if (entries.length === 0) return asked;
  const paths = (list: PathList): string[] =>
    entries.flatMap(({ field, value }) => (field === list ? [absolute(String(value), place)] : []));
  // What a file allows may be absent on this machine or today; what it denies may come to be.
  const present = (list: PathList) => paths(list).filter(isPresent);
  const closedBy = (list: "denyRead" | "denyWrite") =>
    Object.fromEntries(
      entries.flatMap(({ field, value, origin }) =>
        field === list ? [[absolute(String(value), place), `sandbox.${list} of ${origin}`] as const] : [],
      ),
    );
  const configured = mode === "read-only" ? [] : present("allowWrite");
  return {
    ...asked,
    allowRead: [...present("allowRead"), ...asked.allowRead],
    allowWrite: [...configured, ...asked.allowWrite],
    denyRead: [...paths("denyRead"), ...asked.denyRead],
    denyWrite: [...paths("denyWrite"), ...asked.denyWrite],
    closedBy: { denyRead: closedBy("denyRead"), denyWrite: closedBy("denyWrite") },
    allowUnix: [...present("allowUnix"), ...asked.allowUnix],
    network: networkOf(entries, asked.network),
    allowEnv: environmentOf(entries, asked.allowEnv),
    require: [
      ...new Set([...entries.flatMap((entry) => (entry.field === "require" ? [entry.value] : [])), ...asked.require]),
    ],
    trustFiles: trustFilesOf(entries, asked),
    reportReads: asked.reportReads || lastOf(entries, "reportReads")?.value === true,
    limits: limitsOf(entries, asked.limits),
  };
}

function absolute(path: string, { workspace, home }: Place): string {
  return resolve(workspace, path === "~" ? home : fromHome(path, home));
}

function isPresent(path: string): boolean {
  try {
    return kindSync(path) !== undefined || (isGlob(path) && kindSync(fixedFolder(path)) !== undefined);
  } catch {
    return false;
  }
}

function lastOf<Field extends SandboxEntry["field"]>(
  entries: readonly SandboxEntry[],
  field: Field,
): Extract<SandboxEntry, { field: Field }> | undefined {
  return entries.findLast((entry): entry is Extract<SandboxEntry, { field: Field }> => entry.field === field);
}

function networkOf(entries: readonly SandboxEntry[], asked: SandboxRequest["network"]): SandboxRequest["network"] {
  const set = lastOf(entries, "network");
  if (set === undefined || asked === "blocked") return asked;
  if (asked === "policy") return set.value;
  if (set.layer === "managed" && set.value === "blocked") throw held("--allow-net", "the network", set.origin);
  return asked;
}

function trustFilesOf(entries: readonly SandboxEntry[], request: SandboxRequest): TrustFiles {
  const { trustFiles: asked, trustFilesAsked } = request;
  const set = lastOf(entries, "trustFiles");
  if (set === undefined) return asked;
  if (!trustFilesAsked) return set.value;
  const looser = TRUST_ORDER.indexOf(asked) > TRUST_ORDER.indexOf(set.value);
  if (set.layer === "managed" && looser) throw held(`--trust-files=${asked}`, "trusted files", set.origin);
  return asked;
}

function environmentOf(
  entries: readonly SandboxEntry[],
  asked: SandboxRequest["allowEnv"],
): SandboxRequest["allowEnv"] {
  const named = entries.flatMap((entry) => (entry.field === "allowEnv" ? [entry.value] : []));
  return asked === "all" || named.includes("all") ? "all" : [...named, ...asked];
}

const LIMITS = ["memoryBytes", "processes", "cpuPercent", "fileBytes"] as const;

function limitsOf(entries: readonly SandboxEntry[], asked: SandboxRequest["limits"]): SandboxRequest["limits"] {
  const limits = { ...asked };
  for (const name of LIMITS) {
    const set = lastOf(entries, name);
    if (set === undefined) continue;
    const own = asked[name];
    limits[name] = own === undefined ? set.value : set.layer === "managed" ? Math.min(own, set.value) : own;
  }
  return limits;
}

function held(flag: string, what: string, origin: string): ToolFault {
  return new ToolFault({
    code: "sandbox.loosen_refused",
    message: `${flag} asks for more of ${what} than ${origin} gives, and no flag loosens the managed file`,
    hint: "leave the flag out, or ask whoever manages this machine",
  });
}
