import type { MachineReport } from "@cordon/core";
import type { LimitHolder, LinuxFacts, Tier } from "@cordon/core/contract";
import { PROPERTY_WORDS } from "./property_words.ts";
import { visibleText } from "./visible_text.ts";

const TIER_WORDS = {
  namespaces: "mount view, namespaces, Landlock and seccomp",
  landlock: "Landlock and seccomp, without namespaces",
  none: "none: nothing that needs a sandbox will run",
} as const satisfies Record<Tier, string>;

/** A machine report for people. Ends in a newline. */
export function renderMachine(report: MachineReport, version: string): string {
  const { facts, launcher } = report;
  const lines = [
    `cordon ${version} on ${report.platform}`,
    `tier  ${report.tier}: ${TIER_WORDS[report.tier]}`,
    "",
    ...(report.supported
      ? report.properties.flatMap(renderProperty)
      : ["There is no sandbox for this operating system in this version"]),
    ...report.missing.flatMap(renderMissing),
    ...(facts ? ["", ...renderFacts(facts)] : []),
    ...(launcher
      ? [`launcher              ${visibleText(launcher.path)} (sha256 ${launcher.sha256.slice(0, 12)}…)`]
      : []),
  ];
  return `${lines.join("\n")}\n`;
}

function renderProperty({ property, state, why, help }: MachineReport["properties"][number]): string[] {
  const head = `  ${state === "enforced" ? "yes" : "NO "}  ${property.padEnd(18)} ${PROPERTY_WORDS[property]}`;
  return [head, ...(why ? [`       why:  ${why}`] : []), ...(help ? [`       help: ${help}`] : [])];
}

function renderMissing({ part, why, help }: MachineReport["missing"][number]): string[] {
  const steps = help.map((step, at) => `  ${at === 0 ? "help:" : "  or:"} ${visibleText(step)}`);
  return ["", `missing: ${part}`, `  why:  ${visibleText(why)}`, ...steps];
}

function renderFacts(facts: LinuxFacts): string[] {
  const { namespaces, sysctls, container } = facts;
  const user = namespaces.user ? "yes" : `no${namespaces.userErrno ? ` (${namespaces.userErrno})` : ""}`;
  const rows: [string, string][] = [
    ["kernel", facts.kernel],
    ["landlock abi", facts.landlockAbi === 0 ? "0 (switched off, or kernel before 5.13)" : String(facts.landlockAbi)],
    ["user namespaces", user],
    ["namespaces as root", namespaces.withoutUser ? "yes" : "no"],
    ["new proc", namespaces.procMount ? "yes" : `no${namespaces.procErrno ? ` (${namespaces.procErrno})` : ""}`],
    ["seccomp filter", facts.seccompFilter ? "yes" : "no"],
    ["user notification", facts.userNotification ? "yes" : "no"],
    ...renderLimits(facts.limits),
    [
      "container signs",
      container.length === 0 ? "none" : container.map(({ kind, found }) => `${kind} ${visibleText(found)}`).join(", "),
    ],
    ...renderSysctls(sysctls),
  ];
  return rows.map(([name, value]) => `${name.padEnd(20)}  ${value}`);
}

/** What holds the limits of a run, and what would help where it is less than a control group. */
function renderLimits({ memory, processes, cpu, why }: LinuxFacts["limits"]): [string, string][] {
  const held = `memory ${HOLDER_WORDS[memory]}, processes ${HOLDER_WORDS[processes]}, cpu ${HOLDER_WORDS[cpu]}`;
  if (why === undefined) return [["limits", held]];
  return [
    ["limits", held],
    ["", `why:  ${visibleText(why)}`],
    ["", "help: start it with systemd-run --user --scope cordon …, or as root"],
  ];
}

const HOLDER_WORDS = {
  cgroup2: "by control group (v2)",
  cgroup1: "by control group (v1)",
  rlimit: "by rlimit, less exactly",
  none: "not at all",
} as const satisfies Record<LimitHolder, string>;

/** Under the names that the person would give to sysctl(8); the second is Debian's, the third Ubuntu's. */
function renderSysctls(sysctls: LinuxFacts["sysctls"]): [string, string][] {
  const named: [string, number | undefined][] = [
    ["user.max_user_namespaces", sysctls.maxUserNamespaces],
    ["kernel.unprivileged_userns_clone", sysctls.unprivilegedUsernsClone],
    ["kernel.apparmor_restrict_unprivileged_userns", sysctls.apparmorRestrictUnprivilegedUserns],
    ["kernel.yama.ptrace_scope", sysctls.yamaPtraceScope],
  ];
  return named.flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [["setting", `${name} = ${value}`]],
  );
}
