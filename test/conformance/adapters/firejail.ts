import { missingPrograms } from "../../support/run_cordon.ts";
import type { FoundCell } from "../../support/tiers.ts";
import type { Case } from "../case.ts";
import type { Place } from "../place.ts";
import { type Adapter, BASICS } from "./adapter.ts";

const UNITS: Partial<Record<string, number>> = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 };

/** firejail without a profile and with what its manual offers for one folder. It refuses Debian's nobody, so root runs it where root runs the suite. */
export function firejailAdapter(cell: FoundCell): Adapter {
  const missing = missingPrograms(["firejail"]);
  return {
    id: "firejail",
    version: () => /version (\S+)/.exec(Bun.spawnSync(["firejail", "--version"]).stdout.toString())?.[1] ?? "",
    missing: missing.length > 0 ? "firejail missing (Debian: firejail)" : cell.found ? null : cell.why,
    uid: cell.found ? cell.uid : -1,
    wrap: cell.found ? cell.wrap : (argv) => argv,
    can: new Set([
      ...([
        "write_deny",
        "read_deny",
        "globs_for_reading",
        "globs_for_writing",
        "network_open",
        "env_hide",
        "env_pass",
        "signals",
        ...BASICS,
        "loopback",
        "private_loopback",
      ] as const),
      ...(["limit_memory", "limit_processes", "limit_file_size", "limit_seconds"] as const),
    ]),
    launch: (one, place, argv) => ({ argv: [...optionsOf(one, place), "--", ...argv] }),
    events: () => [],
  };
}

function optionsOf(one: Case, { work }: Place): string[] {
  const { policy = {} } = one;
  const { limits = {} } = policy;
  const option = (name: string, value: string | number | undefined) =>
    value === undefined ? [] : [`--${name}=${value}`];
  return [
    ...[
      "firejail",
      "--quiet",
      "--noprofile",
      "--caps.drop=all",
      "--nonewprivs",
      "--seccomp",
      "--private-tmp",
      "--keep-var-tmp",
      "--private-dev",
    ],
    ...["/", "/var", "/home", "/srv"].map((path) => `--read-only=${path}`),
    ...(policy.write ?? [work]).map((path) => `--read-write=${path}`),
    ...(policy.write_deny ?? []).map((path) => `--read-only=${path}`),
    ...(policy.read_deny ?? []).map((path) => `--blacklist=${path}`),
    ...(policy.network === "open" ? [] : ["--net=none"]),
    ...(policy.env_hide ?? []).map((name) => `--rmenv=${name}`),
    ...option("rlimit-as", limits.memory && bytesOf(limits.memory)),
    ...option("rlimit-nproc", limits.processes),
    ...option("rlimit-fsize", limits.file_size && bytesOf(limits.file_size)),
    ...option("timeout", limits.seconds && `00:00:${String(limits.seconds).padStart(2, "0")}`),
  ];
}

function bytesOf(size: string): number {
  return Number.parseInt(size, 10) * (UNITS[size.at(-1) ?? ""] ?? 1);
}
