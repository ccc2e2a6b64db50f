/** Machines that give cordon less than it would like, made around one run on this one. */
import { constants } from "node:os";
import { dirname, join } from "node:path";
import type { Tier } from "@cordon/core/contract";
import { callNumber } from "../support/attempt.ts";
import { missingPrograms } from "../support/run_cordon.ts";
import type { Scratch } from "../support/scratch.ts";
import { findCell, OWN_CELLS } from "../support/tiers.ts";

/** Where a machine is put up: the executable is a copy that every wrapping can reach. */
export type Site = { scratch: Scratch; binary: string };

/** One machine: what cordon should say of it, and the command line that is run in it. */
export type Machine = {
  title: string;
  tier: Tier;
  /** What `cordon doctor` must call missing here, beyond what the tier lacks anyway. */
  lacks?: readonly string[];
  /** The sentence why this machine can't be made here; null when it can. */
  missing: () => string | null;
  wrap: (argv: string[], site: Site) => string[];
};

const LANDLOCK_CALLS = ["444", "445", "446"];

/** open_tree, move_mount, fsopen, fsconfig, fsmount, fspick and mount_setattr. */
const MOUNT_CALLS = ["428", "429", "430", "431", "432", "433", "442"];

/** seccomp(2) with SECCOMP_FILTER_FLAG_NEW_LISTENER, which an outer listener makes EBUSY. */
const NEW_LISTENER = `${callNumber("seccomp")}&1:8`;

const { ENOSYS, EBUSY } = constants.errno;

function refusing(errno: number, calls: readonly string[], argv: string[]): string[] {
  return ["python3", join(import.meta.dir, "refuse_calls.py"), String(errno), ...calls, "--", ...argv];
}

const needs = (programs: readonly string[]) => () => {
  const missing = missingPrograms(programs);
  return missing.length === 0 ? null : `${missing.join(", ")} missing`;
};

const bare = OWN_CELLS.find(({ namespaces }) => namespaces === "without") ?? OWN_CELLS[0];

function withoutNamespaces(argv: string[]): string[] {
  const found = bare === undefined ? undefined : findCell(bare);
  if (!found?.found) throw new Error(found?.why ?? "no such cell");
  return found.wrap(argv);
}

function bareMissing(): string | null {
  const found = bare === undefined ? undefined : findCell(bare);
  return found?.found ? needs(["python3"])() : (found?.why ?? "no such cell");
}

/** The home is read-only, as in many containers. */
export const HOME_NOT_WRITABLE: Machine = {
  title: "a home that can't be written",
  tier: "landlock",
  missing: needs(["bwrap"]),
  wrap: (argv, { scratch }) => [
    ...["bwrap", "--bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--ro-bind", scratch.home, scratch.home],
    ...["--", ...argv],
  ],
};

/** The table. The first is this machine as it is, to compare with. */
export const MACHINES: readonly Machine[] = [
  { title: "this machine", tier: "namespaces", missing: () => null, wrap: (argv) => argv },
  { title: "no user namespaces", tier: "landlock", missing: bareMissing, wrap: withoutNamespaces },
  {
    title: "no Landlock",
    tier: "namespaces",
    missing: needs(["python3"]),
    wrap: (argv) => refusing(ENOSYS, LANDLOCK_CALLS, argv),
  },
  {
    title: "neither user namespaces nor Landlock",
    tier: "none",
    missing: bareMissing,
    wrap: (argv) => withoutNamespaces(refusing(ENOSYS, LANDLOCK_CALLS, argv)),
  },
  {
    title: "no seccomp listener",
    tier: "namespaces",
    lacks: ["fs.protected"],
    missing: needs(["python3"]),
    wrap: (argv) => refusing(EBUSY, [NEW_LISTENER], argv),
  },
  {
    title: "no user namespaces and no seccomp listener",
    tier: "landlock",
    lacks: ["fs.protected"],
    missing: bareMissing,
    wrap: (argv) => withoutNamespaces(refusing(EBUSY, [NEW_LISTENER], argv)),
  },
  {
    title: "no new mount calls",
    tier: "landlock",
    missing: needs(["python3"]),
    wrap: (argv) => refusing(ENOSYS, MOUNT_CALLS, argv),
  },
  {
    // Its proc is covered in places, and the kernel mounts no new one that would show more.
    title: "inside bubblewrap",
    tier: "landlock",
    missing: needs(["bwrap"]),
    wrap: (argv, { scratch, binary }) => [
      ...["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"],
      ...["--bind", scratch.top, scratch.top],
      ...["--ro-bind", dirname(binary), dirname(binary), "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--"],
      ...argv,
    ],
  },
  {
    title: "inside cordon",
    tier: "landlock",
    lacks: ["fs.protected"],
    missing: () => null,
    wrap: (argv, { scratch, binary }) => [
      ...[binary, "run", `--allow-read=${dirname(binary)}`, `--allow-write=${scratch.top}`, "--trust-files=allow"],
      // The outer one closes its own state.
      ...["--", "env", `CORDON_STATE_DIR=${scratch.top}/inner`, ...argv],
    ],
  },
  {
    title: "no HOME",
    tier: "namespaces",
    missing: () => null,
    wrap: (argv) => ["env", "--unset=HOME", ...argv],
  },
  ...(["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"] as const).map(
    (closed): Machine => ({
      title: `closed: ${closed}`,
      tier: "namespaces",
      missing: () => null,
      wrap: (argv) => ["sh", "-c", `exec "$@" ${closed}`, "sh", ...argv],
    }),
  ),
  HOME_NOT_WRITABLE,
];
