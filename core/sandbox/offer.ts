import type { LinuxFacts } from "../contract/facts.ts";
import type { Property, Tier } from "../contract/plan.ts";
import type { SandboxPolicy } from "../contract/sandbox_policy.ts";
import { isWithin } from "../config/path_order.ts";

/** Why a machine does not give a property, and the next step for the person. */
export type Lack = { why: string; help: string };

/** What one tier gives here: true, or why not. */
export type Offer = Partial<Record<Property, true | Lack>>;

const NO_NAMESPACES_HELP = "allow user namespaces (see `cordon doctor`), or drop the demand";

/** Why no broker can answer the command's calls here; nothing where one can. */
export function brokerLack({ userNotification, sysctls, filtered }: LinuxFacts): string | undefined {
  if ((sysctls.yamaPtraceScope ?? 0) >= 2)
    return "kernel.yama.ptrace_scope is 2 or 3, so that the broker may not read what the command asks for";
  if (userNotification) return undefined;
  return filtered
    ? "an outer sandbox has the listener of this process's seccomp filters"
    : "a seccomp filter can have no listener here";
}

/** Where a sandbox is around this one already, no setting of the machine helps. */
const NESTED_HELP = "start cordon outside the other sandbox, or drop the demand";

/** What a tier gives for this policy, and why not where it does not. Shown by `doctor` and `--explain`. */
export function offerOf(tier: Tier, policy: SandboxPolicy, facts: LinuxFacts): Offer {
  const offer = offerAlone(tier, policy, facts);
  if (!facts.filtered || facts.userNotification) return offer;
  const nested = Object.entries(offer).map(([property, given]) =>
    given === true || given.help !== NO_NAMESPACES_HELP
      ? [property, given]
      : [property, { ...given, help: NESTED_HELP }],
  );
  return Object.fromEntries(nested);
}

function offerAlone(tier: Tier, policy: SandboxPolicy, facts: LinuxFacts): Offer {
  const always: Offer = { "env.scrubbed": true, limits: limitsOffer(policy, facts) };
  if (tier === "none") return { ...always, ...noneOffer(facts) };
  const opened = { why: "the same command opens the network", help: "leave out one of the two" };
  const net = policy.network === "blocked" ? true : opened;
  const lack = brokerLack(facts);
  const without = (why: string) => ({ why, help: NO_NAMESPACES_HELP });
  return {
    ...always,
    "syscalls.filtered": true,
    "keyring.blocked": true,
    "net.blocked": net,
    "fs.write_confined": tier === "landlock" ? untruncated(facts, policy, lack) : confined("write", policy, lack),
    "fs.read_confined": confined("read", policy, lack),
    "fs.read_hidden": lack === undefined ? true : hiddenByKernel(tier, policy, lack),
    "fs.protected": lack === undefined ? true : protectedByKernel(tier, policy, lack),
    "net.loopback": tier === "namespaces" || net !== true ? net : brokeredLoopback(facts),
    "proc.isolated": tier === "namespaces" ? true : without(visibleProcesses(facts)),
  };
}

/** Before ABI 3 Landlock lets a file be truncated that may only be read; the broker opens it for writing first. */
function untruncated(facts: LinuxFacts, policy: SandboxPolicy, lack: string | undefined): true | Lack {
  if (lack === undefined || facts.landlockAbi >= 3) return confined("write", policy, lack);
  return {
    why: `Landlock of this kernel (ABI ${facts.landlockAbi}) lets readable files be truncated, and ${lack}`,
    help: NO_NAMESPACES_HELP,
  };
}

/** Without a network namespace the broker binds and connects, on copies of the command's sockets. */
function brokeredLoopback(facts: LinuxFacts): true | Lack {
  const lack = brokerLack(facts) ?? (facts.socketCopies === false ? "pidfd_getfd(2) is refused here" : undefined);
  if (lack === undefined) return true;
  return { why: `a loopback needs a network namespace or a broker, and ${lack}`, help: NO_NAMESPACES_HELP };
}

function visibleProcesses({ landlockAbi }: LinuxFacts): string {
  const signalled = landlockAbi < 6 ? ", and Landlock of this kernel lets the user's own be signalled" : "";
  return `other processes' names stay visible without a pid namespace${signalled}`;
}

/** A pattern opens its folder to the kernel; only the broker tells the names in it apart. */
function confined(access: "read" | "write", policy: SandboxPolicy, lack: string | undefined): true | Lack {
  if (lack === undefined || !policy.limited.some((folder) => folder.access === access)) return true;
  return { why: `a pattern can't be allowed: ${lack}`, help: `name folders or files with --allow-${access}` };
}

function hiddenByKernel(tier: Tier, policy: SandboxPolicy, lack: string): true | Lack {
  if (policy.ruled.length > 0) {
    const help = "start in a smaller folder, or let the rule name files and folders without wildcards";
    return { why: `not every file that ${policy.ruled[0]?.reason} is about was found, and ${lack}`, help };
  }
  if (policy.denied.some(({ access, unmounted }) => access === "both" && unmounted)) {
    return { why: `what is not there yet can't be hidden: ${lack}`, help: "name files that exist" };
  }
  const inWritable = policy.hidden.some(({ path }) => policy.write.some((root) => isWithin(path, root)));
  if (tier === "namespaces" || !inWritable) return true;
  return {
    why: `Landlock cannot hide a file inside a folder that may be written, and ${lack}`,
    help: NO_NAMESPACES_HELP,
  };
}

/** Mounts protect what is there; trusted files that are made later need the broker. */
function protectedByKernel(tier: Tier, policy: SandboxPolicy, lack: string): true | Lack {
  const asked = policy.denied.filter(({ access }) => access === "write");
  if (tier === "landlock") {
    const open = [...policy.protected, ...asked].length > 0 || policy.trustFiles === "block";
    const why = `Landlock cannot protect a file inside a folder that may be written, and ${lack}`;
    return open && policy.write.length > 0 ? { why, help: NO_NAMESPACES_HELP } : true;
  }
  if (asked.some(({ unmounted }) => unmounted)) {
    return { why: `what is not there yet can't be protected: ${lack}`, help: "name files that exist" };
  }
  const complete = policy.trustFiles !== "block" || policy.write.length === 0;
  if (complete || (asked.length > 0 && !policy.required.includes("fs.protected"))) return true;
  return {
    why: `only trusted files that were there at the start are protected: ${lack}`,
    help: "start cordon outside the other sandbox, or look at new files with git status",
  };
}

function limitsOffer({ limits }: SandboxPolicy, facts: LinuxFacts): true | Lack {
  const holders = [
    ...(limits.memoryBytes === undefined ? [] : [facts.limits.memory]),
    ...(limits.processes === undefined ? [] : [facts.limits.processes]),
    ...(limits.cpuPercent === undefined ? [] : [facts.limits.cpu]),
  ];
  const why = facts.limits.why === undefined ? "" : `: ${facts.limits.why}`;
  const help = "run it where a control group can be made, for example in systemd-run --user --scope -p Delegate=yes";
  if (Object.keys(limits).length === 0)
    return { why: "no limit is set", help: "set one with --memory, --pids, --cpu or --file-size" };
  if (holders.includes("none")) return { why: `no control group can be had, and nothing else holds it${why}`, help };
  if (holders.includes("rlimit")) return { why: `held for each process and not for all together${why}`, help };
  return true;
}

/** True where a limit that was asked for would not hold at all. */
export function limitsAreVoid({ limits }: SandboxPolicy, facts: LinuxFacts): boolean {
  return (
    (limits.memoryBytes !== undefined && facts.limits.memory === "none") ||
    (limits.processes !== undefined && facts.limits.processes === "none") ||
    (limits.cpuPercent !== undefined && facts.limits.cpu === "none")
  );
}

function noneOffer(facts: LinuxFacts): Offer {
  const lost = noneLack(facts);
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

function noneLack({ openat2, landlockAbi }: LinuxFacts): Lack {
  if (openat2 === false)
    return { why: "openat2(2) is refused", help: "use a kernel from 5.6 on, or a newer container engine" };
  const why =
    landlockAbi > 0 ? "the kernel refuses seccomp filters" : "this kernel has neither user namespaces nor Landlock";
  return { why, help: "use a kernel from 5.13 on with Landlock, or allow user namespaces" };
}
