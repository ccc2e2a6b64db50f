import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Cell, findCell } from "../../support/tiers.ts";
import type { Case } from "../case.ts";
import type { Place } from "../place.ts";
import type { Adapter, Feature, Launch, ToolEvent } from "./adapter.ts";

const EVENTS = "events.jsonl";

/** Everything that cases ask for. The tier without namespaces has no loopback of its own, and says so. */
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
  "read_confined",
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
    can: new Set(CAN.filter((feature) => tier === "namespaces" || feature !== "loopback")),
    launch: (one, place, argv) => cordonLaunch(one, place, { binary, argv }),
    events: (place) => cordonEvents(place),
  };
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
