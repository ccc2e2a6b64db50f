import { chmodSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import { cordonPath, missingPrograms, SYSTEM_PATH } from "./run_cordon.ts";

/** Who runs cordon, and what the machine gives it. */
export type Cell = { user: "root" | "ordinary"; namespaces: "with" | "without" };

/** The four cells of the matrix. */
export const CELLS: readonly Cell[] = [
  { user: "root", namespaces: "with" },
  { user: "root", namespaces: "without" },
  { user: "ordinary", namespaces: "with" },
  { user: "ordinary", namespaces: "without" },
];

/** The ids of the ordinary user where the tests run as root: Debian's nobody. Nothing is made for it. */
export const ORDINARY_ID = 65_534;

/**
 * In a user namespace whose own limit is zero no further one can be made, and with an empty bounding set no exec brings
 * capabilities back (capabilities(7)): what a hardened host looks like to the programs on it.
 */
const WITHOUT_NAMESPACES =
  'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --ambient-caps=-all --inh-caps=-all --bounding-set=-all "$@"';

/** The two cells of the user who runs the tests. */
export const OWN_CELLS: readonly Cell[] = CELLS.filter(
  ({ user }) => user === (process.geteuid?.() === 0 ? "root" : "ordinary"),
);

/** A cell that this machine has, with the uid that its files need; or the sentence that says why it has not. */
export type FoundCell =
  | { found: true; uid: number; wrap: (argv: string[]) => string[] }
  | { found: false; why: string };

/** Finds a cell by really starting `true` in it. */
export function findCell(cell: Cell): FoundCell {
  const caller = process.geteuid?.() ?? -1;
  if (cell.user === "root" && caller !== 0) return { found: false, why: "the tests do not run as root" };
  const missing = missingPrograms(["setpriv", "unshare", "sh"]);
  if (missing.length > 0) return { found: false, why: `${missing.join(", ")} missing (Debian: util-linux)` };
  const wrap = (argv: string[]) => [...asUser(cell, caller), ...withoutNamespaces(cell), ...argv];
  const tried = Bun.spawnSync(wrap(["true"]), { env: { PATH: SYSTEM_PATH }, cwd: "/" });
  if (tried.exitCode !== 0) return { found: false, why: `can't be made here: ${tried.stderr.toString().trim()}` };
  return { found: true, uid: cell.user === "ordinary" && caller === 0 ? ORDINARY_ID : caller, wrap };
}

function asUser({ user }: Cell, caller: number): string[] {
  if (user === "root" || caller !== 0) return [];
  return ["setpriv", `--reuid=${ORDINARY_ID}`, `--regid=${ORDINARY_ID}`, "--clear-groups"];
}

function withoutNamespaces({ user, namespaces }: Cell): string[] {
  if (namespaces === "with") return [];
  const map = user === "root" ? "--map-root-user" : "--map-current-user";
  return ["unshare", "--user", map, "--keep-caps", "sh", "-c", WITHOUT_NAMESPACES, "sh"];
}

/** A copy of the executable that every user can read, since the clone may lie in a home that others can't enter. */
export function sharedCordon(folder: string): string {
  const copy = join(folder, "cordon");
  copyFileSync(cordonPath(), copy);
  chmodSync(copy, 0o755);
  chmodSync(folder, 0o755);
  return copy;
}
