import type { LimitName, SandboxSetting } from "../../contract/settings.ts";
import type { Property } from "../../contract/plan.ts";
import { nearestNames } from "../nearest_names.ts";
import { bytesOf, countOf, percentOf } from "../units.ts";
import { type Content, LIMIT_KEYS, type PlacedSetting } from "./content.ts";
import { CLAUDE_NETWORK_KEYS, CLAUDE_SANDBOX_KEYS, PROPERTIES } from "./known_keys.ts";
import { invalid, type Located } from "./located.ts";
import { booleanOf, choiceOf, itemsOf, type KeyTable, readKeys, textOf, wrong } from "./readers.ts";

type PathField = "allowRead" | "allowWrite" | "denyRead" | "denyWrite" | "allowUnix";

/** Why host lists are refused, as those of the flags are. */
const HOST_LISTS = "host lists come with the network proxy, not in this version";

/**
 * Reads a `sandbox` block, ours or Claude Code's. `strict` refuses what would promise more than is held; another program's own file is
 * read for what it says of ours, and the rest is listed as not used. Throws ToolFault `config.invalid`.
 */
export function readSandbox(block: Located, content: Content, strict: boolean): PlacedSetting[] {
  const found: PlacedSetting[] = [];
  const note = (at: Located, why?: string) =>
    void content.unused.push({ value: why === undefined ? at.key : `${at.key} (${why})`, origin: at.origin });
  const paths = (field: PathField) => (at: Located) => {
    for (const item of itemsOf(at)) found.push({ field, value: pathOf(item), origin: item.origin });
  };
  const one = (setting: SandboxSetting, at: Located) => void found.push({ ...setting, origin: at.origin });
  const hosts = (at: Located) => {
    if (itemsOf(at).length === 0) return;
    if (strict)
      throw invalid(
        at.origin,
        `"${at.key}" can't be used: ${HOST_LISTS}`,
        '"network": true opens the whole network; without it there is none',
      );
    note(at, `${HOST_LISTS}; the network stays blocked`);
  };
  const network: KeyTable = {
    allowedDomains: hosts,
    deniedDomains: hosts,
    allowUnixSockets: paths("allowUnix"),
    ...notUsed(CLAUDE_NETWORK_KEYS),
  };
  const pathLists: KeyTable = {
    allowRead: paths("allowRead"),
    allowWrite: paths("allowWrite"),
    denyRead: paths("denyRead"),
    denyWrite: paths("denyWrite"),
  };
  const table: KeyTable = {
    ...pathLists,
    filesystem: (at) => readKeys(at, pathLists, (key) => note(key)),
    network: (at) => {
      if (at.members) return readKeys(at, network, (key) => note(key));
      one({ field: "network", value: networkOf(at) }, at);
    },
    allowUnix: paths("allowUnix"),
    allowEnv: (at) => {
      if (at.value === "all") return one({ field: "allowEnv", value: "all" }, at);
      for (const item of itemsOf(at)) one({ field: "allowEnv", value: variableOf(item) }, item);
    },
    limits: (at) => readKeys(at, limitTable(one), (key) => note(key)),
    trustFiles: (at) => one({ field: "trustFiles", value: choiceOf(at, ["block", "report", "allow"]) }, at),
    reportReads: (at) => one({ field: "reportReads", value: booleanOf(at) }, at),
    require: (at) => {
      for (const item of itemsOf(at)) one({ field: "require", value: propertyOf(item) }, item);
    },
    ...notUsed(CLAUDE_SANDBOX_KEYS),
  };
  readKeys(block, table, (at) => note(at, at.key.endsWith("enabled") ? "the sandbox is always on" : undefined));
  return found;
}

/** A table of keys that are known and do nothing. */
export function notUsed(keys: readonly string[]): KeyTable {
  return Object.fromEntries(keys.map((key) => [key, "not used"]));
}

function limitTable(one: (setting: SandboxSetting, at: Located) => void): KeyTable {
  return Object.fromEntries(
    Object.entries(LIMIT_KEYS).map(([key, field]) => [
      key,
      (at: Located) => one({ field, value: limitOf(at, field) }, at),
    ]),
  );
}

function limitOf(at: Located, field: LimitName): number {
  const text = typeof at.value === "number" || typeof at.value === "string" ? String(at.value) : "";
  const [parse, wanted] = {
    memoryBytes: [bytesOf, 'a size is wanted, for example "2G"'] as const,
    fileBytes: [bytesOf, 'a size is wanted, for example "1G"'] as const,
    processes: [countOf, "a whole number above 0 is wanted"] as const,
    cpuPercent: [percentOf, 'a share of one processor is wanted, for example "50%"'] as const,
  }[field];
  const value = parse(text);
  if (value !== null) return value;
  throw wrong(at, wanted);
}

function networkOf(at: Located): "open" | "blocked" {
  if (typeof at.value === "boolean") return at.value ? "open" : "blocked";
  if (at.value === "open" || at.value === "blocked") return at.value;
  throw wrong(at, '"open", "blocked", true or false is wanted');
}

function pathOf(at: Located): string {
  const path = textOf(at);
  if (!path.startsWith("~") || path === "~" || path.startsWith("~/")) return path;
  throw wrong(at, "only ~ and ~/… are expanded; write the whole path");
}

function variableOf(at: Located): string {
  const name = textOf(at);
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return name;
  throw wrong(at, "the name of a variable is wanted: letters, digits and _");
}

function propertyOf(at: Located): Property {
  const name = textOf(at);
  if (isProperty(name)) return name;
  const known = Object.keys(PROPERTIES);
  const [near] = nearestNames(name, known);
  throw wrong(at, near === undefined ? `one of ${known.join(", ")} is wanted` : `did you mean "${near}"?`);
}

function isProperty(name: string): name is Property {
  return Object.hasOwn(PROPERTIES, name);
}
