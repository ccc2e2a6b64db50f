import { join } from "node:path";
import { missingPrograms } from "../support/run_cordon.ts";
import { CELLS, findCell } from "../support/tiers.ts";

/** What cordon must make of a machine: the tier that it chooses there; `none` is exit 120. */
export type Machine = {
  name: string;
  needs: readonly string[];
  wrap: (argv: string[]) => string[];
  tier: "namespaces" | "landlock" | "none";
  /** Properties of the tier that this machine lacks besides those that the tier lacks anyway. */
  lacks?: readonly string[];
};

const FILTER = join(import.meta.dir, "kernel_without.py");

/** A kernel without some system calls. */
function without(what: string): (argv: string[]) => string[] {
  return (argv) => ["python3", FILTER, what, ...argv];
}

/** In a mount namespace of its own, after some shell commands. Only root can. */
function after(script: string): (argv: string[]) => string[] {
  return (argv) => ["unshare", "--mount", "sh", "-c", `${script} && exec "$@"`, "sh", ...argv];
}

/** The user's own machine, with user namespaces taken away. */
function noNamespaces(argv: string[]): string[] {
  const user = process.geteuid?.() === 0 ? "root" : "ordinary";
  const cell = CELLS.find((one) => one.user === user && one.namespaces === "without");
  const found = cell && findCell(cell);
  return found?.found ? found.wrap(argv) : ["false"];
}

/** What Docker leaves a container: no CAP_SYS_ADMIN, and its default filter. */
function docker(argv: string[]): string[] {
  const kept = "+chown,+dac_override,+fowner,+setgid,+setuid,+kill,+net_bind_service";
  const bounded = process.geteuid?.() === 0 ? ["setpriv", `--bounding-set=-all,${kept}`, "--inh-caps=-all"] : [];
  return [...bounded, ...without("docker")(argv)];
}

const BWRAP = ["bwrap", "--dev-bind", "/", "/", "--unshare-all", "--proc", "/proc"];

/** What only the broker gives. */
const BROKERED = ["fs.protected"];

/** Kinds of machines. */
export const MACHINES: readonly Machine[] = [
  { name: "as it is", needs: [], wrap: (argv) => argv, tier: "namespaces" },
  { name: "no user namespaces", needs: ["setpriv", "unshare"], wrap: noNamespaces, tier: "landlock" },
  { name: "no Landlock", needs: ["python3"], wrap: without("landlock"), tier: "namespaces" },
  {
    name: "neither of the two",
    needs: ["python3", "setpriv", "unshare"],
    wrap: (argv) => noNamespaces(without("landlock")(argv)),
    tier: "none",
  },
  {
    name: "no user notification",
    needs: ["python3"],
    wrap: without("notification"),
    tier: "namespaces",
    lacks: BROKERED,
  },
  {
    name: "no notification, no user namespaces",
    needs: ["python3", "setpriv", "unshare"],
    wrap: (argv) => noNamespaces(without("notification")(argv)),
    tier: "landlock",
    lacks: [...BROKERED],
  },
  {
    name: "an outer sandbox with the listener",
    needs: ["python3"],
    wrap: without("outer_listener"),
    tier: "namespaces",
    lacks: BROKERED,
  },
  { name: "no new mount calls (before 5.12)", needs: ["python3"], wrap: without("new_mounts"), tier: "landlock" },
  { name: "no mount_setattr", needs: ["python3"], wrap: without("mount_setattr"), tier: "landlock" },
  { name: "no pidfd", needs: ["python3"], wrap: without("pidfd"), tier: "namespaces" },
  { name: "no close_range", needs: ["python3"], wrap: without("close_range"), tier: "namespaces" },
  { name: "no openat2 (before 5.6)", needs: ["python3"], wrap: without("openat2"), tier: "none" },
  { name: "no seccomp(2)", needs: ["python3"], wrap: without("seccomp"), tier: "none" },
  { name: "Docker's default", needs: ["python3", "setpriv"], wrap: docker, tier: "landlock" },
  { name: "systemd's RestrictNamespaces", needs: ["python3"], wrap: without("restricted"), tier: "landlock" },
  { name: "inside bwrap", needs: ["bwrap"], wrap: (argv) => [...BWRAP, ...argv], tier: "landlock" },
  { name: "no control groups", needs: ["unshare"], wrap: after("umount -R /sys/fs/cgroup"), tier: "namespaces" },
  {
    name: "no /dev/shm",
    needs: ["unshare"],
    wrap: after("mount -t tmpfs none /dev/shm -o mode=0"),
    tier: "namespaces",
  },
];

/** Why a machine can't be made here; undefined where it can. */
export function reasonToSkip({ needs, wrap }: Machine): string | undefined {
  const missing = missingPrograms(needs);
  if (missing.length > 0) return `${missing.join(", ")} missing`;
  const tried = Bun.spawnSync(wrap(["true"]));
  return tried.exitCode === 0 ? undefined : `can't be made here: ${tried.stderr.toString().trim().split("\n").at(-1)}`;
}
