//! The plan, the report and the machine facts as data: the Rust mirror of `core/contract/plan.ts`, `enforced.ts` and
//! `facts.ts`. Unknown fields are errors, because a field that one side does not know is a protection it would drop.

mod enforced;
mod facts;
mod guard;
mod order;

pub use enforced::{Control, DeniedOp, Enforced, ObservedDenial, OpReport, Report, State, Trusted, properties};
pub use facts::{ContainerFact, LimitFacts, LimitHolder, LinuxFacts, NamespaceFacts, SysctlFacts};
pub use guard::{Guard, GuardAccess, GuardEffect, GuardRule, GuardWhen};
pub use order::{PlanFault, check_order};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A protection that can be demanded by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Property {
    /// Writes reach only what the plan lists.
    #[serde(rename = "fs.write_confined")]
    FsWriteConfined,
    /// Reads reach only what the plan lists.
    #[serde(rename = "fs.read_confined")]
    FsReadConfined,
    /// Listed secrets can't be read.
    #[serde(rename = "fs.read_hidden")]
    FsReadHidden,
    /// Listed paths inside writable folders can't be changed.
    #[serde(rename = "fs.protected")]
    FsProtected,
    /// Nothing leaves over the network.
    #[serde(rename = "net.blocked")]
    NetBlocked,
    /// A loopback of its own that works.
    #[serde(rename = "net.loopback")]
    NetLoopback,
    /// Other processes of the machine can't be seen or signalled.
    #[serde(rename = "proc.isolated")]
    ProcIsolated,
    /// The environment is the plan's and nothing else.
    #[serde(rename = "env.scrubbed")]
    EnvScrubbed,
    /// The kernel keyring is closed.
    #[serde(rename = "keyring.blocked")]
    KeyringBlocked,
    /// System calls without a use in ordinary work are refused.
    #[serde(rename = "syscalls.filtered")]
    SyscallsFiltered,
    /// Memory, processes and time are bounded.
    #[serde(rename = "limits")]
    Limits,
}

/// `Must`: without it nothing runs (exit 120). `Best`: its absence is reported and the command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Demanded.
    Must,
    /// Wanted.
    Best,
}

/// Which set of mechanisms the plan is built on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// A view of its own in namespaces, Landlock behind it, seccomp.
    Namespaces,
    /// Landlock and seccomp on the host's own view.
    Landlock,
    /// No file system confinement.
    None,
}

/// A Linux namespace kind, in the words of namespaces(7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum NamespaceKind {
    User,
    Mount,
    Pid,
    Ipc,
    Uts,
    Net,
}

/// How one path appears in the command's view; see `MountAccess` in `plan.ts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum MountAccess {
    Ro,
    Rw,
    HiddenDir,
    HiddenFile,
    Protected,
    /// A link bound onto itself inside a writable folder: it can't be removed, renamed or replaced.
    PinnedLink,
    Tmpfs,
    Proc,
    Dev,
    Symlink,
}

/// One entry of the view. `path` is absolute and real; links in it are not followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mount {
    /// Where it appears, and for binds also where it comes from.
    pub path: String,
    /// How it appears.
    pub access: MountAccess,
    /// What a `symlink` points at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// What a Landlock rule allows below its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum LandlockAccess {
    Read,
    ReadExec,
    Rw,
}

/// One Landlock rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LandlockRule {
    /// Absolute and real, as seen by the command.
    pub path: String,
    /// What is allowed at and below it.
    pub access: LandlockAccess,
    /// Paths below it that stay closed: the rule is laid on what stands beside the way to each of them. Read rules only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<String>,
}

/// What a Landlock domain may not reach outside itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Scope {
    Signal,
    AbstractUnixSocket,
}

/// Where the private temporary folder lies: in the view (a tmpfs at /tmp) or on the host (a new folder of mode 0700).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum TmpPlace {
    View,
    Host,
}

/// What the seccomp filter does about sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// No network namespace: sockets that could reach anything are refused.
    Blocked,
    /// No network namespace either: TCP sockets, with which the broker listens on the loopback only and connects to what
    /// listens there in this run.
    Loopback,
    /// A network namespace confines: ordinary families are open.
    Private,
    /// The host's network is open to the command.
    Open,
}

impl Network {
    /// What is left of it where no broker binds and connects sockets.
    pub fn without_broker(self) -> Network {
        if self == Network::Loopback { Network::Blocked } else { self }
    }
}

/// One step of the plan. `level` and `gives` are the same in each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum PlanOp {
    #[serde(rename_all = "camelCase")]
    Limits {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        memory_bytes: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        processes: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cpu_percent: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file_bytes: Option<u64>,
        level: Level,
        gives: Vec<Property>,
    },
    Namespaces {
        kinds: Vec<NamespaceKind>,
        level: Level,
        gives: Vec<Property>,
    },
    View {
        mounts: Vec<Mount>,
        level: Level,
        gives: Vec<Property>,
    },
    Loopback {
        level: Level,
        gives: Vec<Property>,
    },
    PrivateTmp {
        at: TmpPlace,
        level: Level,
        gives: Vec<Property>,
    },
    Privileges {
        level: Level,
        gives: Vec<Property>,
    },
    Landlock {
        rules: Vec<LandlockRule>,
        scope: Vec<Scope>,
        level: Level,
        gives: Vec<Property>,
    },
    Broker {
        guard: Guard,
        level: Level,
        gives: Vec<Property>,
    },
    Seccomp {
        network: Network,
        level: Level,
        gives: Vec<Property>,
    },
}

/// The name of a step, as it stands in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum OpName {
    Limits,
    Namespaces,
    View,
    Loopback,
    PrivateTmp,
    Privileges,
    Landlock,
    Broker,
    Seccomp,
}

impl PlanOp {
    /// The step's name; the derived order of names is the order in which steps are applied.
    pub fn name(&self) -> OpName {
        match self {
            PlanOp::Limits { .. } => OpName::Limits,
            PlanOp::Namespaces { .. } => OpName::Namespaces,
            PlanOp::View { .. } => OpName::View,
            PlanOp::Loopback { .. } => OpName::Loopback,
            PlanOp::PrivateTmp { .. } => OpName::PrivateTmp,
            PlanOp::Privileges { .. } => OpName::Privileges,
            PlanOp::Landlock { .. } => OpName::Landlock,
            PlanOp::Broker { .. } => OpName::Broker,
            PlanOp::Seccomp { .. } => OpName::Seccomp,
        }
    }

    /// Whether the step may fail, and which properties it gives.
    pub fn graded(&self) -> (Level, &[Property]) {
        match self {
            PlanOp::Limits { level, gives, .. }
            | PlanOp::Namespaces { level, gives, .. }
            | PlanOp::View { level, gives, .. }
            | PlanOp::Loopback { level, gives }
            | PlanOp::PrivateTmp { level, gives, .. }
            | PlanOp::Privileges { level, gives }
            | PlanOp::Landlock { level, gives, .. }
            | PlanOp::Broker { level, gives, .. }
            | PlanOp::Seccomp { level, gives, .. } => (*level, gives),
        }
    }
}

/// The command as it is run: `argv[0]` is searched in `env["PATH"]` inside the view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanCommand {
    /// Program and arguments; never empty.
    pub argv: Vec<String>,
    /// Absolute, as seen in the view.
    pub cwd: String,
    /// The whole environment; a private temporary folder adds TMPDIR and the caches.
    pub env: BTreeMap<String, String>,
    /// Variables for places below the private temporary folder, by their names in it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub caches: BTreeMap<String, String>,
}

/// A whole plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinuxPlan {
    /// 1 today; it changes when a field does.
    pub version: u32,
    /// Which mechanisms it is built on.
    pub tier: Tier,
    /// What to run.
    pub command: PlanCommand,
    /// Each property the policy wants.
    pub asked: BTreeMap<Property, Level>,
    /// The steps, in the fixed order.
    pub ops: Vec<PlanOp>,
}
