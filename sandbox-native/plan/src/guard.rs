//! What the broker is told to guard: the rules that mounts and Landlock can't express, first match decides.

use crate::Property;
use serde::{Deserialize, Serialize};

/// Which calls a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum GuardAccess {
    Read,
    Write,
    Both,
}

/// A condition on a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GuardWhen {
    /// Only where the name exists already.
    Exists,
    /// Only where a symlink is made there.
    Symlink,
}

/// What a matching rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardEffect {
    /// The kernel decides alone.
    Allow,
    /// The call ends in EACCES and is reported.
    Deny,
    /// The call is carried out, and its path is named in a `trusted` line.
    Report,
    /// A git configuration: written only as a checked copy of harmless keys.
    GitConfig,
}

/// One rule. Exactly one of `path` (it and everything below) and `glob` (a path or any ancestor of it) is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardRule {
    /// Absolute and real.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Absolute, with `**`, `*`, `?`, `[..]`, `{a,b}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glob: Option<String>,
    /// Which calls it is about.
    pub access: GuardAccess,
    /// When it is about them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<GuardWhen>,
    /// What it does.
    pub effect: GuardEffect,
    /// The property in whose name it refuses.
    pub rule: Property,
    /// What a person is told.
    pub reason: String,
    /// The smallest flag that would allow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
}

/// What the broker watches over, and what it decides by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Guard {
    /// For a path and an access the first that matches decides; where none does, the kernel decides alone.
    pub rules: Vec<GuardRule>,
    /// Repositories under other names than `.git` are guarded as those are.
    pub git_layout: bool,
    /// Calls that change mode, owner, times or attributes are judged too.
    pub metadata: bool,
    /// Every open is judged, and refused reads are reported.
    pub reads: bool,
    /// Real paths of the host's sockets that may be connected.
    pub unix: Vec<String>,
}
