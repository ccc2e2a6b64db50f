//! Facts of the machine as `cordon-launcher probe` finds them. Mirror of `core/contract/facts.ts`.

use serde::{Deserialize, Serialize};

/// What this machine lets this user do; each entry was really tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LinuxFacts {
    /// As `uname -r` says.
    pub kernel: String,
    /// 0 when the kernel has no Landlock or it is switched off.
    pub landlock_abi: u32,
    /// Namespaces, and what works in them.
    pub namespaces: NamespaceFacts,
    /// `mount_setattr` with AT_RECURSIVE, from kernel 5.12; false also where no namespace could be made to try it in.
    pub mount_setattr: bool,
    /// openat2(2) works, from kernel 5.6; old container engines refuse it.
    pub openat2: bool,
    /// Seccomp filters can be installed.
    pub seccomp_filter: bool,
    /// A filter can have a listener; false also when an outer sandbox already has one (EBUSY).
    pub user_notification: bool,
    /// pidfd_getfd(2) works, with which the broker takes copies of its callers' sockets.
    pub socket_copies: bool,
    /// PR_SET_NO_NEW_PRIVS works.
    pub no_new_privs: bool,
    /// Effective user id.
    pub uid: u32,
    /// Effective group id.
    pub gid: u32,
    /// CAP_SYS_ADMIN is effective.
    pub cap_sys_admin: bool,
    /// What can hold the limits of a run.
    pub limits: LimitFacts,
    /// A filter of whoever started this process is on it already.
    pub filtered: bool,
    /// The kernel's security modules as `/sys/kernel/security/lsm` lists them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lsm: Option<String>,
    /// Signs of a container, each with what was found.
    pub container: Vec<ContainerFact>,
    /// Settings that decide about namespaces.
    pub sysctls: SysctlFacts,
}

/// Whether namespaces can be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NamespaceFacts {
    /// A user namespace with its id map, and mount, pid, ipc, uts and net namespaces in it.
    pub user: bool,
    /// The errno name of the first thing that failed on that way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_errno: Option<String>,
    /// The same namespaces without a user namespace (CAP_SYS_ADMIN).
    pub without_user: bool,
    /// A new proc can be mounted in the new pid namespace of whichever way worked.
    pub proc_mount: bool,
    /// The errno name when it can't.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proc_errno: Option<String>,
}

/// What can hold each limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LimitFacts {
    /// Of all processes together by a group, of each by an rlimit.
    pub memory: LimitHolder,
    /// By a group those of the run, by an rlimit those of the user.
    pub processes: LimitHolder,
    /// Only a group can hold it.
    pub cpu: LimitHolder,
    /// Why not all of them are held by a control group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What holds a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum LimitHolder {
    Cgroup2,
    Cgroup1,
    Rlimit,
    None,
}

/// One sign that this is a container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContainerFact {
    /// `file`, `env` or `cgroup`.
    pub kind: String,
    /// The path, the variable, or the cgroup line.
    pub found: String,
}

/// Values of sysctls; absent where the kernel has no such setting or it can't be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SysctlFacts {
    /// `user.max_user_namespaces`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_user_namespaces: Option<i64>,
    /// `kernel.unprivileged_userns_clone` (Debian's switch)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unprivileged_userns_clone: Option<i64>,
    /// `kernel.apparmor_restrict_unprivileged_userns` (Ubuntu's switch)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apparmor_restrict_unprivileged_userns: Option<i64>,
    /// `kernel.yama.ptrace_scope`; from 2 on the broker may not read the command's memory
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yama_ptrace_scope: Option<i64>,
}
