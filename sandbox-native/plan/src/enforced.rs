//! What became of a plan: the lines that the launcher and the host exchange. Mirror of `core/contract/enforced.ts`.

use crate::{Level, LinuxPlan, OpName, Property, Tier};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How far a step or a property was carried out, from worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum State {
    Missing,
    Partial,
    Enforced,
}

/// What became of one step; `why` holds an errno name or a sentence when there is something to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpReport {
    /// The step.
    pub op: OpName,
    /// Its level in the plan.
    pub level: Level,
    /// How far it was carried out.
    pub state: State,
    /// What is missing or was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What the operating system really did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Enforced {
    /// The plan's tier.
    pub tier: Tier,
    /// Landlock's ABI on this kernel, 0 when it has none.
    pub landlock_abi: u32,
    /// Each property that was asked for or given.
    pub properties: BTreeMap<Property, State>,
    /// Each step of the plan.
    pub ops: Vec<OpReport>,
}

/// What was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum DeniedOp {
    Write,
    Read,
    Connect,
    Exec,
    Limit,
}

/// A refusal as the kernel's side saw it; absent fields are unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct ObservedDenial {
    pub op: DeniedOp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    pub syscall: String,
    pub pid: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exe: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errno: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub rule: Property,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
}

/// A change that was carried out and that the person must hear of: something outside the sandbox obeys this path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Trusted {
    pub path: String,
    pub reason: String,
    pub syscall: String,
    pub pid: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exe: Option<String>,
}

/// A line from the launcher to the host: `enforced` or `refused`, then any number of `denial` and `trusted`, then `exit`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Report {
    Enforced {
        #[serde(flatten)]
        enforced: Enforced,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tmpdir: Option<String>,
    },
    Refused {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        property: Option<Property>,
        op: String,
        why: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        errno: Option<String>,
        ops: Vec<OpReport>,
    },
    Denial(ObservedDenial),
    Trusted(Trusted),
    Exit {
        code: Option<i32>,
        signal: Option<String>,
        /// The limit that ended the command, in words: "memory", "processes", "file size", …
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<String>,
    },
}

/// A line from the host to the launcher: the plan first, then any of the others. Closing the channel means `Kill`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "lowercase", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum Control {
    Plan { plan: Box<LinuxPlan> },
    Signal { signal: String },
    Kill {},
}

/// The state of each property that is asked for or given by a step.
///
/// A property stands on every `must` step that gives it, so it is as good as the worst of them; where only `best` steps
/// give it, the best of those counts. One that no step gives is missing, except `env.scrubbed`: the command gets the
/// plan's environment and no other, whatever the steps are.
pub fn properties(plan: &LinuxPlan, reports: &[OpReport]) -> BTreeMap<Property, State> {
    let mut states = BTreeMap::new();
    let given = plan.ops.iter().flat_map(|op| op.graded().1.iter().copied());
    for property in plan.asked.keys().copied().chain(given) {
        let of_level = |wanted: Level| {
            plan.ops.iter().filter_map(move |op| {
                let (level, gives) = op.graded();
                let report = reports.iter().find(|report| report.op == op.name())?;
                (level == wanted && gives.contains(&property)).then_some(report.state)
            })
        };
        let state = of_level(Level::Must).min().or(of_level(Level::Best).max());
        let bare = if property == Property::EnvScrubbed { State::Enforced } else { State::Missing };
        states.insert(property, state.unwrap_or(bare));
    }
    states
}
