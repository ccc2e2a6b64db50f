import { statSync } from "node:fs";
import { missingPrograms } from "../../support/run_cordon.ts";
import type { FoundCell } from "../../support/tiers.ts";
import type { Case } from "../case.ts";
import type { Place } from "../place.ts";
import { type Adapter, BASICS } from "./adapter.ts";

/** bubblewrap with the usual options for one folder: everything read-only, the workspace writable, all namespaces. */
export function bwrapAdapter(cell: FoundCell): Adapter {
  const missing = missingPrograms(["bwrap"]);
  return {
    id: "bwrap",
    version: () => Bun.spawnSync(["bwrap", "--version"]).stdout.toString().trim().replace("bubblewrap ", ""),
    missing: missing.length > 0 ? "bwrap missing (Debian: bubblewrap)" : cell.found ? null : cell.why,
    uid: cell.found ? cell.uid : -1,
    wrap: cell.found ? cell.wrap : (argv) => argv,
    can: new Set([
      "write_deny",
      "read_deny",
      "network_open",
      "env_hide",
      "env_pass",
      "signals",
      ...BASICS,
      "loopback",
      "private_loopback",
    ]),
    launch: (one, place, argv) => ({ argv: [...optionsOf(one, place), "--", ...argv] }),
    events: () => [],
  };
}

function optionsOf(one: Case, place: Place): string[] {
  const { policy = {} } = one;
  return [
    ...["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"],
    ...(policy.write ?? [place.work]).flatMap((path) => ["--bind", path, path]),
    ...(policy.write_deny ?? []).flatMap((path) => ["--ro-bind", path, path]),
    ...(policy.read_deny ?? []).flatMap((path) =>
      statSync(path).isDirectory() ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path],
    ),
    ...["--unshare-all", "--die-with-parent", "--new-session", "--chdir", one.cwd ?? place.work],
    ...(policy.network === "open" ? ["--share-net"] : []),
    ...(policy.env_hide ?? []).flatMap((name) => ["--unsetenv", name]),
  ];
}
