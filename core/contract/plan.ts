/**
 * The plan: everything the launcher does for one command, as data. The planner makes it, the launcher carries it out in
 * the order of `ops` and refuses any other order. `sandbox-native/plan` mirrors these types in Rust; `test/plans` holds
 * golden files that both sides read.
 */

/** A protection that can be demanded by name. The mechanism behind it differs by machine, the promise does not. */
export type Property =
  | "fs.write_confined"
  | "fs.read_confined"
  | "fs.read_hidden"
  | "fs.protected"
  | "net.blocked"
  | "net.loopback"
  | "proc.isolated"
  | "env.scrubbed"
  | "keyring.blocked"
  | "syscalls.filtered"
  | "limits";

/** `must`: without it nothing runs (exit 120). `best`: its absence is reported and the command runs. */
export type Level = "must" | "best";

/** Which set of mechanisms the plan is built on. */
export type Tier = "namespaces" | "landlock" | "none";

/** A Linux namespace kind, in the words of namespaces(7). */
export type NamespaceKind = "user" | "mount" | "pid" | "ipc" | "uts" | "net";

/**
 * How one path appears in the command's view of the file system. `ro` and `rw` bind the host's path at the same place;
 * `hidden_dir` and `hidden_file` put something empty over it; `protected` binds it read-only inside a writable folder;
 * `pinned_link` binds a link onto itself, so that it can't be replaced;
 * `tmpfs` is a new empty folder in memory; `proc`, `dev` are made new; `symlink` points at `target`.
 */
export type MountAccess =
  | "ro"
  | "rw"
  | "hidden_dir"
  | "hidden_file"
  | "protected"
  | "pinned_link"
  | "tmpfs"
  | "proc"
  | "dev"
  | "symlink";

/** One entry of the view. `path` is absolute and real: the planner resolved it, the launcher does not follow links in it. */
export type Mount = { path: string; access: MountAccess; target?: string };

/**
 * What the Landlock ruleset allows below a path. `rw` includes creating, removing, renaming and linking. `except` (with "read"
 * and "read_exec" only) names paths below that stay closed: the launcher opens the folder's children instead of the folder, all
 * along the way to each of them, as they are at the start, and follows no link.
 */
export type LandlockRule = { path: string; access: "read" | "read_exec" | "rw"; except?: string[] };

/**
 * What the broker does about a path. `deny` refuses, `allow` leaves it to the kernel, `report` allows and names it at the end;
 * `git_config` refuses all but git's own way of making a configuration, and of that only keys that run nothing.
 */
export type GuardEffect = "allow" | "deny" | "report" | "git_config";

/**
 * One rule of the broker: for a path and an access the first rule that matches decides, and where none does, the kernel alone.
 * Exactly one of `path` (this name and all below) and `glob` (absolute; `**`, `*`, `?`, `[..]`, `{a,b}`; a backslash takes the
 * meaning of the next character; matches a path or a folder above it) is there. A rule with `when` is about the name itself
 * and not about what lies below: "exists" only where something else than a folder stands there already, "symlink" only where a
 * symlink is made. `rule`, `reason` and `grant` are what the event says; a `grant` that ends in "=" is completed with the path.
 */
export type GuardRule = {
  path?: string;
  glob?: string;
  access: "read" | "write" | "both";
  when?: "exists" | "symlink";
  effect: GuardEffect;
  rule: Property;
  reason: string;
  grant?: string;
};

/**
 * What the broker decides by. `gitLayout`: a repository under any name has no new hooks and settings. `metadata`: modes, owners,
 * times and attributes count as writes; `reads`: every open is looked at. `unix`: real paths of sockets of the host that may
 * be connected to; those that are bound in the run always may.
 */
export type Guard = { rules: GuardRule[]; gitLayout: boolean; metadata: boolean; reads: boolean; unix: string[] };

/** Bounds on what one command may use; each absent one is no bound. `cpuPercent` counts one processor as 100. */
export type Limits = { memoryBytes?: number; processes?: number; cpuPercent?: number; fileBytes?: number };

type Graded = { level: Level; gives: Property[] };

/**
 * One step of the plan. The launcher's README states the order and the reason for each place in it. Without `broker` no call is
 * trapped.
 *
 * `private_tmp` at "view" is a new tmpfs at /tmp, made before the mounts of the view so that a mount below /tmp stands in
 * it; at "host" it is a new folder of mode 0700. Either way the launcher sets TMPDIR, adds the Landlock rule for it and
 * names it in its report. A `must` step that is only partly carried out is a refusal.
 *
 * `loopback` brings up that of a new network namespace. In the landlock tier the broker gives it, on the host's own loopback: it
 * listens there alone, and connects only to what listens in this run; `seccomp` then has the network "loopback".
 */
export type PlanOp =
  | ({ op: "limits" } & Limits & Graded)
  | ({ op: "namespaces"; kinds: NamespaceKind[] } & Graded)
  | ({ op: "view"; mounts: Mount[] } & Graded)
  | ({ op: "loopback" } & Graded)
  | ({ op: "private_tmp"; at: "view" | "host" } & Graded)
  | ({ op: "privileges" } & Graded)
  | ({ op: "landlock"; rules: LandlockRule[]; scope: ("signal" | "abstract_unix_socket")[] } & Graded)
  | ({ op: "broker"; guard: Guard } & Graded)
  | ({ op: "seccomp"; network: "blocked" | "loopback" | "private" | "open" } & Graded);

/**
 * The command as the launcher runs it. `argv[0]` is searched in `env.PATH` inside the view; 127 and 126 as a shell says.
 * `caches` are further variables, each for a place below the private temporary folder, whose name only the launcher knows.
 */
export type PlanCommand = { argv: string[]; cwd: string; env: Record<string, string>; caches?: Record<string, string> };

/** A whole plan. `asked` lists each property the policy wants with its level; `version` changes when a field does. */
export type LinuxPlan = {
  version: 1;
  tier: Tier;
  command: PlanCommand;
  asked: Partial<Record<Property, Level>>;
  ops: PlanOp[];
};
