import type { Mount } from "../contract/plan.ts";
import type { SandboxPolicy } from "../contract/sandbox_policy.ts";
import { isWithin, parentsFirst } from "../config/path_order.ts";

/**
 * The view, folders before what lies in them, so that each later mount is laid over an earlier one. `guarded` says that the
 * broker judges what lies in protected folders, so that one which a flag opens in part needs no mount.
 */
export function mountsOf(policy: SandboxPolicy, { guarded }: { guarded: boolean }): Mount[] {
  const write = new Set(policy.write);
  const shown = [...new Set([...policy.write, ...policy.read, ...policy.unix])];
  const insideOther = (path: string, roots: readonly string[]) =>
    roots.some((root) => root !== path && isWithin(path, root));
  const closed = policy.services.filter((folder) => !shown.includes(folder) && insideOther(folder, shown));
  // Over a read-only bind of the root lie folders of the view's own, which cover what of the host is below them.
  const covering = (path: string, roots: readonly string[]) =>
    TEMPORARY.some((folder) => isWithin(path, folder)) && !write.has("/")
      ? roots.filter((root) => root !== "/")
      : roots;
  const named = (path: string) => closed.some((folder) => isWithin(path, folder));
  const binds = shown
    .filter((path) => named(path) || !insideOther(path, covering(path, write.has(path) ? policy.write : shown)))
    .map((path): Mount => ({ path, access: write.has(path) ? "rw" : "ro" }));
  const byPath = (a: Mount, b: Mount) => parentsFirst(a.path, b.path);
  const root = binds.filter(({ path }) => path === "/");
  const rest = binds.filter(({ path }) => path !== "/");
  const services = closed.map((path): Mount => ({ path, access: "hidden_dir" }));
  return [
    ...root,
    ...baseMounts(policy, root[0], rest),
    ...[...services, ...rest].sort(byPath),
    ...guards(policy, shown, guarded).sort(byPath),
  ];
}

/** Folders that each view has for itself. */
const TEMPORARY: readonly string[] = ["/tmp", "/var/tmp"];

/** What every view has. Over a bind of the host's root its links are there already, and a writable one brings its /tmp. */
function baseMounts(policy: SandboxPolicy, root: Mount | undefined, binds: readonly Mount[]): Mount[] {
  const own: Mount[] = [
    { path: "/proc", access: "proc" },
    { path: "/dev", access: "dev" },
  ];
  const temporary = TEMPORARY.flatMap((path) => temporaryMounts(path, policy.home, binds));
  const links = policy.links.map(({ path, target }): Mount => ({ path, access: "symlink", target }));
  return [...own, ...(root?.access === "rw" ? [] : temporary), ...(root ? [] : links)];
}

/**
 * A private folder in place of the host's. Where a workspace or the home lies below it, the folders above them are closed:
 * they would be writable there and look like the host's, and what is written to them would be lost without a word.
 */
function temporaryMounts(path: string, home: string, binds: readonly Mount[]): Mount[] {
  const firstBelow = (inner: string) => inner.split("/", path.split("/").length + 1).join("/");
  const above = binds.flatMap((bind) => (firstBelow(bind.path) === bind.path ? [] : [firstBelow(bind.path)]));
  const closed = [...above, firstBelow(home)].filter((folder) => folder !== path && isWithin(folder, path));
  return [
    { path, access: "tmpfs" },
    ...[...new Set(closed)].sort().map((folder): Mount => ({ path: folder, access: "hidden_dir" })),
  ];
}

/** What is laid over the folders: protected places read-only, secrets empty. */
function guards(policy: SandboxPolicy, shown: readonly string[], brokered: boolean): Mount[] {
  const visible = policy.hidden.filter(({ path }) => shown.some((root) => isWithin(path, root)));
  // In a folder that is hidden already there is nothing left to hide or protect, and nothing to mount on. One that is not
  // shown hides nothing here: a workspace may lie below it.
  const inHidden = (path: string) =>
    visible.some((other) => other.folder && other.path !== path && isWithin(path, other.path));
  const opened = policy.opened.flatMap(({ place }) => ("path" in place ? [place.path] : []));
  const openInPart = (path: string) => brokered && opened.some((inner) => isWithin(inner, path));
  const guarded = policy.protected.filter(
    ({ path, kind, missing }) =>
      missing !== true &&
      // The broker refuses every change of it but git's own harmless ones, which go by a rename onto it.
      !(brokered && kind === "git_config") &&
      policy.write.some((root) => isWithin(path, root)) &&
      !policy.write.includes(path) &&
      !inHidden(path) &&
      !openInPart(path),
  );
  const hidden = visible.filter(
    ({ path }, at) => !inHidden(path) && visible.findIndex((other) => other.path === path) === at,
  );
  const pinned = policy.pinned.filter(
    (path) => !inHidden(path) && !guarded.some((other) => isWithin(path, other.path)),
  );
  return [
    ...pinned.map((path): Mount => ({ path, access: "pinned_link" })),
    ...guarded.map(({ path }): Mount => ({ path, access: "protected" })),
    ...hidden.map(({ path, folder }): Mount => ({ path, access: folder ? "hidden_dir" : "hidden_file" })),
  ];
}
