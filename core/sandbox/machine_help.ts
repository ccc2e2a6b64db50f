import type { LinuxFacts } from "../contract/facts.ts";
import { brokerLack } from "./offer.ts";

/** A part of the sandbox that this machine lacks, and what would help, each step with the name that the system gives it. */
export type MissingPart = { part: string; why: string; help: string[] };

/** What is missing here and what would help. Pure; `launcher` is the executable that an AppArmor profile would name. */
export function missingParts(facts: LinuxFacts, launcher: string): MissingPart[] {
  return [...namespacesLack(facts, launcher), ...landlockLack(facts), ...seccompLack(facts), ...brokerHelp(facts)];
}

const CONTAINER_HELP = [
  "Docker, Podman: run the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined",
  "Kubernetes: securityContext with seccompProfile Unconfined and procMount Unmasked",
];

const SYSTEMD_HELP =
  "in the unit of a systemd service: RestrictNamespaces=no, and SystemCallFilter= without a list that refuses";

function namespacesLack(facts: LinuxFacts, launcher: string): MissingPart[] {
  const { namespaces, container, filtered } = facts;
  const made = namespaces.user || namespaces.withoutUser;
  if (made && namespaces.procMount && facts.mountSetattr) return [];
  const errno = made ? namespaces.procErrno : namespaces.userErrno;
  const suffix = errno === undefined ? "" : ` (${errno})`;
  if (made && namespaces.procMount) {
    const why = "mount_setattr(2) is refused: nothing could be made read-only";
    return [
      { part: "a view of the file system", why, help: ["use a kernel from 5.12 on, or a newer container engine"] },
    ];
  }
  if (made) {
    return [
      {
        part: "a /proc of the command's own",
        why: `it can't be mounted in a new pid namespace${suffix}: parts of the present /proc are covered`,
        help: container.length > 0 ? CONTAINER_HELP : ["unmount what covers parts of /proc, or start cordon outside"],
      },
    ];
  }
  const settings = settingsHelp(facts, launcher);
  const outer = [...(container.length > 0 ? CONTAINER_HELP : []), ...(filtered ? [SYSTEMD_HELP] : [])];
  const help = [...settings, ...outer];
  return [
    {
      part: "namespaces",
      why: `the kernel refuses new user namespaces${suffix}`,
      help: help.length > 0 ? help : ["use a kernel with CONFIG_USER_NS, or start cordon as root"],
    },
  ];
}

/** Settings that are known to refuse user namespaces, under the names that sysctl(8) takes. */
function settingsHelp({ sysctls }: LinuxFacts, launcher: string): string[] {
  const { maxUserNamespaces, unprivilegedUsernsClone, apparmorRestrictUnprivilegedUserns } = sysctls;
  return [
    ...(unprivilegedUsernsClone === 0 ? ["Debian, Arch hardened: sudo sysctl kernel.unprivileged_userns_clone=1"] : []),
    ...(maxUserNamespaces === 0 ? ["Red Hat, hardened systems: sudo sysctl user.max_user_namespaces=15000"] : []),
    ...(apparmorRestrictUnprivilegedUserns === 1
      ? [
          `Ubuntu from 23.10: a profile in /etc/apparmor.d/cordon, loaded with sudo apparmor_parser -r: abi <abi/4.0>, profile cordon ${launcher} flags=(unconfined) { userns, }`,
          "Ubuntu, for all programs: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0",
        ]
      : []),
  ];
}

/** The ABI from which on Landlock gives all that is asked of it. */
const WHOLE_ABI = 6;

function landlockLack({ landlockAbi, kernel, lsm, container }: LinuxFacts): MissingPart[] {
  const part = "Landlock";
  if (landlockAbi >= WHOLE_ABI) return [];
  if (landlockAbi > 0) {
    const lost = [
      ...(landlockAbi < 3 ? ["truncate(2) is not refused"] : []),
      ...(landlockAbi < 4 ? ["TCP is not refused a second time"] : []),
      "signals and abstract sockets are not scoped",
    ];
    const why = `ABI ${landlockAbi} of kernel ${kernel}: ${lost.join(", ")}`;
    return [{ part, why, help: ["use a kernel from 6.12 on; without namespaces these are held by nothing else"] }];
  }
  if (lsm !== undefined && !lsm.split(",").includes("landlock")) {
    const why = `it is not among the kernel's security modules: ${lsm}`;
    return [
      { part, why, help: [`if the kernel has it (5.13 and newer), add it to the boot parameter: lsm=landlock,${lsm}`] },
    ];
  }
  const outer = container.length > 0 ? CONTAINER_HELP.slice(0, 1) : [];
  return [{ part, why: `kernel ${kernel} does not offer it here`, help: ["use a kernel from 5.13 on", ...outer] }];
}

function seccompLack({ seccompFilter }: LinuxFacts): MissingPart[] {
  if (seccompFilter) return [];
  return [
    {
      part: "seccomp",
      why: "no filter can be installed",
      help: ["use a kernel with CONFIG_SECCOMP_FILTER", "in a container, allow the system call seccomp(2)"],
    },
  ];
}

function brokerHelp(facts: LinuxFacts): MissingPart[] {
  const why = brokerLack(facts);
  if (why === undefined) return [];
  const scope = facts.sysctls.yamaPtraceScope ?? 0;
  const help =
    scope >= 3
      ? ["kernel.yama.ptrace_scope=3 holds until the next boot; set 1 in /etc/sysctl.d and boot again"]
      : scope === 2
        ? ["sudo sysctl kernel.yama.ptrace_scope=1"]
        : facts.filtered
          ? ["start cordon outside the other sandbox; only one can have the listener"]
          : ["use a kernel from 5.0 on"];
  return [{ part: "the broker", why: `${why}; refusals are not reported, and new files are not protected`, help }];
}
