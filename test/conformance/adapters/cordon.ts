import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SYSTEM_PATH } from "../../support/run_cordon.ts";
import { type Cell, findCell } from "../../support/tiers.ts";
import type { Case } from "../case.ts";
import { makePlace, type Place, removePlace } from "../place.ts";
import { type Adapter, BASICS, type Feature, type Launch, type ToolEvent } from "./adapter.ts";

const EVENTS = "events.jsonl";

/** Everything that cases ask for. What a cell can't give, `cordon doctor` says in it. */
const CAN: readonly Feature[] = [
  "write_deny",
  "read_deny",
  "missing_paths",
  "globs_for_reading",
  "globs_for_writing",
  "network_open",
  "unix",
  "trust_block",
  "trust_report",
  "trust_allow",
  "env_hide",
  "env_pass",
  "limit_memory",
  "limit_processes",
  "limit_file_size",
  "limit_output",
  "limit_seconds",
  "report_reads",
  "loopback",
  "private_loopback",
  "read_confined",
  "shared_limits",
  "signals",
  ...BASICS,
  "events",
];

/** cordon in one cell of the matrix. `binary` is a copy that the cell's user can read. */
export function cordonAdapter(cell: Cell, binary: string): Adapter {
  const found = findCell(cell);
  const tier = cell.namespaces === "with" ? "namespaces" : "landlock";
  return {
    id: `cordon/${tier}/${cell.user}`,
    version: () => cordonVersion(binary),
    missing: found.found ? null : found.why,
    uid: found.found ? found.uid : -1,
    wrap: found.found ? found.wrap : (argv) => argv,
    can: found.found ? canIn(binary, found.uid, found.wrap) : new Set(),
    launch: (one, place, argv) => cordonLaunch(one, place, { binary, argv }),
    events: (place) => cordonEvents(place),
  };
}

type Doctor = {
  tier?: string;
  properties: { property: string; state: string }[];
  missing?: { part: string }[];
  facts: { limits?: Record<"memory" | "processes", string> };
};

/** What rests on the broker: a process has one listener at most, so it can't be had inside another sandbox that has one. */
const BROKERED: readonly Feature[] = [
  ...BASICS,
  "write_deny",
  "missing_paths",
  "globs_for_reading",
  "globs_for_writing",
  "trust_block",
  "trust_report",
  "unix",
  "report_reads",
  "events",
];

/** What it can do where a command line starts as `wrap` says, by its own word. */
export function canIn(binary: string, uid: number, wrap: (argv: string[], place: Place) => string[]): Set<Feature> {
  const place = makePlace(uid);
  const env = { PATH: SYSTEM_PATH, HOME: place.home, CORDON_STATE_DIR: join(place.state, "cordon") };
  const asked = Bun.spawnSync(wrap([binary, "doctor", "--json"], place), { cwd: place.work, env });
  removePlace(place);
  const { tier, properties, facts, missing }: Doctor = JSON.parse(
    asked.stdout.toString() || '{"properties":[],"facts":{}}',
  );
  const lacks = (name: string) => properties.some(({ property, state }) => property === name && state === "missing");
  const { memory = "none", processes = "none" } = facts.limits ?? {};
  const lost: (Feature | false)[] = [
    lacks("net.loopback") && "loopback",
    (lacks("net.loopback") || tier !== "namespaces") && "private_loopback",
    memory === "none" && "limit_memory",
    !memory.startsWith("cgroup") && "shared_limits",
    processes === "none" && "limit_processes",
  ];
  const hasBroker = missing?.every(({ part }) => part !== "the broker") ?? true;
  return new Set(CAN.filter((feature) => !lost.includes(feature) && (hasBroker || !BROKERED.includes(feature))));
}

/** The first line of `cordon --version`. */
export function cordonVersion(binary: string): string {
  return Bun.spawnSync([binary, "--version"])
    .stdout.toString()
    .trim()
    .replace(/^cordon /, "");
}

/** The command line of `cordon run` for a case. */
export function cordonLaunch(one: Case, place: Place, { binary, argv }: { binary: string; argv: string[] }): Launch {
  return {
    argv: [binary, "run", "--events", join(place.state, EVENTS), ...flagsOf(one, place), "--", ...argv],
    env: { CORDON_STATE_DIR: join(place.state, "cordon") },
  };
}

function flagsOf({ policy = {} }: Case, { work }: Place): string[] {
  const each = (flag: string, paths: string[] = []) => paths.map((path) => `--${flag}=${path}`);
  const { limits = {} } = policy;
  const one = (flag: string, value: string | number | undefined) => (value === undefined ? [] : [`--${flag}=${value}`]);
  return [
    ...(policy.write?.length === 0 ? [`--deny-write=${work}`] : []),
    ...each(
      "allow-write",
      policy.write?.filter((path) => path !== work),
    ),
    ...each("deny-write", policy.write_deny),
    ...each("allow-read", policy.read),
    ...each("deny-read", policy.read_deny),
    ...(policy.network === "open" ? ["--allow-net"] : []),
    ...each("allow-unix", policy.unix),
    ...(policy.trust === undefined || policy.trust === "block" ? [] : [`--trust-files=${policy.trust}`]),
    ...each("allow-env", policy.env_pass),
    ...one("memory", limits.memory),
    ...one("pids", limits.processes),
    ...one("file-size", limits.file_size),
    ...one("output", limits.output),
    ...one("timeout", limits.seconds === undefined ? undefined : `${limits.seconds}s`),
    ...one("report", policy.report),
  ];
}

/** The lines that `--events` wrote. */
export function cordonEvents({ state }: Place): ToolEvent[] {
  let text = "";
  try {
    text = readFileSync(join(state, EVENTS), "utf8");
  } catch {
    return []; // It never came so far.
  }
  return text
    .split("\n")
    .filter(Boolean)
    .map((line): ToolEvent => JSON.parse(line));
}
