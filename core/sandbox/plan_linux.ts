import type { LinuxFacts } from "../contract/facts.ts";
import type {
  LandlockRule,
  Level,
  LinuxPlan,
  Mount,
  NamespaceKind,
  PlanCommand,
  PlanOp,
  Property,
  Tier,
  WatchKind,
} from "../contract/plan.ts";
import { isWithin, parentsFirst } from "../config/path_order.ts";
import type { SandboxPolicy } from "../contract/sandbox_policy.ts";

/** Why no plan on this machine gives a demanded property, with the next step for the person. */
export type Unenforceable = { property: Property; why: string; help: string };

/** What one tier gives here: true, or why not. */
type Offer = Partial<Record<Property, true | { why: string; help: string }>>;

const NO_NAMESPACES_HELP = "allow user namespaces (see `cordon doctor`), or drop the demand";

/**
 * Picks the cheapest set of mechanisms on this machine that gives every `must`. Pure: the same policy and facts give the
 * same plan. An answer with `missing` means that nothing may run.
 */
export function planLinux(
  policy: SandboxPolicy,
  facts: LinuxFacts,
  command: PlanCommand,
): LinuxPlan | { missing: Unenforceable[] } {
  const tier = chooseTier(facts);
  const offer = offerOf(tier, policy, facts);
  const missing = unmet(policy, offer);
  if (missing.length > 0) return { missing };
  const ops = tier === "namespaces" ? namespaceOps(policy, facts) : landlockOps(policy, offer);
  return { version: 1, tier, command, asked: policy.demands, ops };
}

/** The tier this machine gives. Landlock without namespaces is the weaker one; without both there is only seccomp. */
export function chooseTier(facts: LinuxFacts): Tier {
  const spaces = facts.namespaces;
  if ((spaces.user || spaces.withoutUser) && spaces.procMount && facts.seccompFilter) return "namespaces";
  return facts.landlockAbi > 0 && facts.seccompFilter ? "landlock" : "none";
}

/** What a tier gives for this policy, and why not where it does not. Shown by `doctor` and `--explain`. */
export function offerOf(tier: Tier, policy: SandboxPolicy, facts: LinuxFacts): Offer {
  const always: Offer = {
    "env.scrubbed": true,
    limits: { why: "limits are not built yet", help: "use ulimit or systemd-run for now" },
  };
  if (tier === "none") return { ...always, ...noneOffer(facts) };
  const opened = { why: "the same command opens the network", help: "leave out one of the two" };
  const net = policy.network === "blocked" ? true : opened;
  const filtered: Offer = {
    "syscalls.filtered": true,
    "keyring.blocked": true,
    "net.blocked": net,
    "fs.write_confined": true,
    "fs.read_confined": true,
  };
  if (tier === "namespaces") {
    return {
      ...always,
      ...filtered,
      "fs.read_hidden": true,
      "fs.protected": true,
      "net.loopback": net,
      "proc.isolated": true,
    };
  }
  const without = (why: string) => ({ why, help: NO_NAMESPACES_HELP });
  return {
    ...always,
    ...filtered,
    "fs.read_hidden": hiddenInsideReadable(policy)
      ? without("Landlock cannot hide a file inside a folder that may be read")
      : true,
    "fs.protected": policy.protected.some(({ path }) => policy.write.some((root) => isWithin(path, root)))
      ? without("Landlock cannot protect a file inside a folder that may be written")
      : true,
    "net.loopback": without("a loopback of its own needs a network namespace"),
    "proc.isolated": without("other processes' names stay visible without a pid namespace"),
  };
}

function noneOffer(facts: LinuxFacts): Offer {
  const why =
    facts.landlockAbi > 0
      ? "the kernel refuses seccomp filters"
      : "this kernel has neither user namespaces nor Landlock";
  const lost = { why, help: "use a kernel from 5.13 on with Landlock, or allow user namespaces" };
  const all: Property[] = [
    "fs.write_confined",
    "fs.read_confined",
    "fs.read_hidden",
    "fs.protected",
    "net.blocked",
    "net.loopback",
    "proc.isolated",
    "keyring.blocked",
    "syscalls.filtered",
  ];
  return Object.fromEntries(all.map((property) => [property, lost]));
}

/** True where a secret lies inside something readable, so that leaving it out of the rules does not hide it. */
function hiddenInsideReadable(policy: SandboxPolicy): boolean {
  return policy.hidden.some(({ path }) => [...policy.read, ...policy.write].some((root) => isWithin(path, root)));
}

function unmet(policy: SandboxPolicy, offer: Offer): Unenforceable[] {
  const demands = Object.entries(policy.demands) as [Property, Level][];
  return demands.flatMap(([property, level]) => {
    const given = offer[property] ?? { why: "it is not built yet", help: "drop the demand" };
    return level === "must" && given !== true ? [{ property, ...given }] : [];
  });
}

/** The level of a step is the strictest demand that rests on it. */
function graded(policy: SandboxPolicy, gives: Property[]): { level: Level; gives: Property[] } {
  const asked = gives.filter((property) => policy.demands[property] !== undefined);
  return { level: asked.some((property) => policy.demands[property] === "must") ? "must" : "best", gives: asked };
}

function namespaceOps(policy: SandboxPolicy, facts: LinuxFacts): PlanOp[] {
  const user: NamespaceKind[] = facts.namespaces.user ? ["user"] : [];
  const net: NamespaceKind[] = policy.network === "blocked" ? ["net"] : [];
  const kinds: NamespaceKind[] = [...user, "mount", "pid", "ipc", "uts", ...net];
  const network = policy.network === "blocked" ? "private" : "open";
  const ops: PlanOp[] = [
    {
      op: "namespaces",
      kinds,
      ...graded(policy, ["proc.isolated", "net.blocked", "fs.write_confined", "fs.read_confined"]),
    },
    {
      op: "view",
      mounts: mountsOf(policy),
      ...graded(policy, ["fs.write_confined", "fs.read_confined", "fs.read_hidden", "fs.protected"]),
    },
    { op: "loopback", ...graded(policy, ["net.loopback"]) },
    { op: "private_tmp", at: showsHostTmp(policy) ? "host" : "view", ...graded(policy, ["fs.write_confined"]) },
    { op: "privileges", ...graded(policy, ["syscalls.filtered", "fs.write_confined"]) },
    // The backstop: what the view shows read-only, Landlock refuses to write once more.
    {
      op: "landlock",
      rules: landlockRules(policy, "namespaces"),
      scope: ["signal", "abstract_unix_socket"],
      level: "best",
      gives: [],
    },
    { op: "seccomp", network, watch: watched(policy), ...graded(policy, ["syscalls.filtered", "keyring.blocked"]) },
  ];
  return ops.filter((op) => op.op !== "loopback" || net.length > 0);
}

/** Where the host's /tmp may be written, a new one over it would take away what was allowed, a workspace below it too. */
function showsHostTmp(policy: SandboxPolicy): boolean {
  return policy.write.some((root) => isWithin("/tmp", root));
}

function landlockOps(policy: SandboxPolicy, offer: Offer): PlanOp[] {
  const network = policy.network;
  // What no rule opens is hidden and protected as well, as long as it lies in nothing that a rule does open.
  const closed: Property[] = ["fs.read_hidden", "fs.protected"];
  const files: Property[] = [
    "fs.write_confined",
    "fs.read_confined",
    ...closed.filter((property) => offer[property] === true),
  ];
  return [
    { op: "private_tmp", at: "host", ...graded(policy, ["fs.write_confined"]) },
    { op: "privileges", ...graded(policy, ["syscalls.filtered", "fs.write_confined"]) },
    {
      op: "landlock",
      rules: landlockRules(policy, "landlock"),
      scope: ["signal", "abstract_unix_socket"],
      ...graded(policy, files),
    },
    {
      op: "seccomp",
      network,
      watch: watched(policy),
      ...graded(policy, ["syscalls.filtered", "keyring.blocked", "net.blocked"]),
    },
  ];
}

function watched(policy: SandboxPolicy): WatchKind[] {
  return policy.network === "blocked" ? ["write", "connect"] : ["write"];
}

/** The view, folders before what lies in them, so that each later mount is laid over an earlier one. */
function mountsOf(policy: SandboxPolicy): Mount[] {
  const write = new Set(policy.write);
  const shown = [...new Set([...policy.write, ...policy.read])];
  const insideOther = (path: string, roots: readonly string[]) =>
    roots.some((root) => root !== path && isWithin(path, root));
  const closed = policy.services.filter((folder) => !shown.includes(folder) && insideOther(folder, shown));
  const named = (path: string) => closed.some((folder) => isWithin(path, folder));
  const binds = shown
    .filter((path) => named(path) || !insideOther(path, write.has(path) ? policy.write : shown))
    .map((path): Mount => ({ path, access: write.has(path) ? "rw" : "ro" }));
  const byPath = (a: Mount, b: Mount) => parentsFirst(a.path, b.path);
  const root = binds.filter(({ path }) => path === "/");
  const rest = binds.filter(({ path }) => path !== "/");
  const services = closed.map((path): Mount => ({ path, access: "hidden_dir" }));
  return [
    ...root,
    ...baseMounts(policy, root[0], rest),
    ...[...services, ...rest].sort(byPath),
    ...guards(policy, shown).sort(byPath),
  ];
}

/** What every view has. Over a bind of the host's root its links are there already, and a writable one brings its /tmp. */
function baseMounts(policy: SandboxPolicy, root: Mount | undefined, binds: readonly Mount[]): Mount[] {
  const own: Mount[] = [
    { path: "/proc", access: "proc" },
    { path: "/dev", access: "dev" },
  ];
  const temporary = ["/tmp", "/var/tmp"].flatMap((path) => temporaryMounts(path, policy.home, binds));
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
function guards(policy: SandboxPolicy, shown: readonly string[]): Mount[] {
  const visible = policy.hidden.filter(({ path }) => shown.some((root) => isWithin(path, root)));
  // In a folder that is hidden already there is nothing left to hide or protect, and nothing to mount on. One that is not
  // shown hides nothing here: a workspace may lie below it.
  const inHidden = (path: string) =>
    visible.some((other) => other.folder && other.path !== path && isWithin(path, other.path));
  const guarded = policy.protected.filter(
    ({ path }) => policy.write.some((root) => isWithin(path, root)) && !policy.write.includes(path) && !inHidden(path),
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

function landlockRules(policy: SandboxPolicy, tier: "namespaces" | "landlock"): LandlockRule[] {
  const rw = (path: string): LandlockRule => ({ path, access: "rw" });
  const exec = (path: string): LandlockRule => ({ path, access: "read_exec" });
  const files = [...policy.write.map(rw), ...policy.read.filter((path) => !policy.write.includes(path)).map(exec)];
  if (tier === "namespaces") return [exec("/"), ...files, rw("/tmp"), rw("/var/tmp"), rw("/dev"), rw("/proc")];
  return [...files, ...policy.devices.map(rw), { path: "/proc", access: "read" }];
}
