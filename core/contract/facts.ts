/**
 * What this Linux machine lets this user do, as `cordon-launcher probe` prints it in one JSON object. Each entry was
 * really tried in a child, not guessed from versions. `sandbox-native/plan` mirrors it in Rust.
 */
export type LinuxFacts = {
  /** As `uname -r` says. */
  kernel: string;
  /** 0 when the kernel has no Landlock or it is switched off. */
  landlockAbi: number;
  namespaces: NamespaceFacts;
  /** `mount_setattr` with AT_RECURSIVE, from kernel 5.12; false also where no namespace could be made to try it in. */
  mountSetattr: boolean;
  /** openat2(2) works, from kernel 5.6; old container engines refuse it. Absent: it works. */
  openat2?: boolean;
  /** Seccomp filters can be installed. */
  seccompFilter: boolean;
  /** A filter can have a listener; false also when an outer sandbox already has one. */
  userNotification: boolean;
  /** pidfd_getfd(2) works, with which the broker takes copies of sockets; some containers refuse it. Absent: it works. */
  socketCopies?: boolean;
  noNewPrivs: boolean;
  /** Effective ids. */
  uid: number;
  gid: number;
  /** CAP_SYS_ADMIN is effective. */
  capSysAdmin: boolean;
  /** What can hold the limits of a run. */
  limits: LimitFacts;
  /** A filter of whoever started this process is on it already. */
  filtered: boolean;
  /** The kernel's security modules as `/sys/kernel/security/lsm` lists them; absent where it can't be read. */
  lsm?: string;
  /** Signs of a container, each with what was found; empty when there is none. */
  container: { kind: "file" | "env" | "cgroup"; found: string }[];
  /** Settings that decide about namespaces; absent where the kernel has no such setting. */
  sysctls: {
    maxUserNamespaces?: number;
    unprivilegedUsernsClone?: number;
    apparmorRestrictUnprivilegedUserns?: number;
    /** From 2 on the broker may not read the command's memory. */
    yamaPtraceScope?: number;
  };
};

/** What holds a limit: a control group, an rlimit, or nothing. */
export type LimitHolder = "cgroup2" | "cgroup1" | "rlimit" | "none";

/**
 * What can hold each limit. By a group, memory is that of all processes together and processes are those of the run; by an
 * rlimit, memory is that of each process and processes are those of the user. Only a group can hold a share of the cpu.
 */
export type LimitFacts = {
  memory: LimitHolder;
  processes: LimitHolder;
  cpu: LimitHolder;
  /** Why not all of them are held by a control group. */
  why?: string;
};

/** Whether namespaces can be made, and what works in them. */
export type NamespaceFacts = {
  /** A user namespace with its id map, and mount, pid, ipc, uts and net namespaces in it. */
  user: boolean;
  /** The errno name of the first thing that failed on that way, for example "ENOSPC". */
  userErrno?: string;
  /** The same namespaces without a user namespace (CAP_SYS_ADMIN). */
  withoutUser: boolean;
  /** A new proc can be mounted in the new pid namespace of whichever way worked. */
  procMount: boolean;
  procErrno?: string;
};
