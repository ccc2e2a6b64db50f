//! The shapes of core/contract/verdict.ts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The three answers, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing is known: another part decides. Only in traces.
    None,
    /// Run it.
    Allow,
    /// Ask a person.
    Ask,
    /// Do not run it.
    Deny,
}

/// The permission mode of the session (A7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Only what changes nothing.
    ReadOnly,
    /// Changes inside the workspace as well.
    WorkspaceWrite,
    /// Everything.
    DangerFullAccess,
    /// A person is asked for everything.
    Prompt,
    /// Everything, and no rule of the mode asks.
    Allow,
}

/// The permission that a call needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Required {
    /// Changes nothing.
    ReadOnly,
    /// Changes the workspace.
    WorkspaceWrite,
    /// Anything else.
    DangerFullAccess,
}

/// Something that a call would do.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Effect {
    /// `exec`, `read`, `write`, `delete`, `net` or `unknown`.
    pub kind: String,
    /// The shell command of `exec`.
    pub command: String,
    /// The absolute path of `read`, `write` and `delete`.
    pub path: String,
    /// The host of `net`.
    pub host: String,
    /// What an `unknown` effect is about.
    pub what: String,
}

/// A rule with its place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleSource {
    /// The rule as written.
    pub rule: String,
    /// The layer of configuration.
    pub layer: String,
    /// `file:line` or a flag.
    pub origin: String,
    /// Rules that carve out of a `deny` or `ask` rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<String>,
    /// Examples that the rule must match.
    #[serde(default, rename = "match", skip_serializing)]
    pub matching: Vec<String>,
    /// Examples that it must not match.
    #[serde(default, rename = "notMatch", skip_serializing)]
    pub not_matching: Vec<String>,
    /// The author's sentence on why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// All rules in force.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct RuleLists {
    /// Rules that allow.
    pub allow: Vec<RuleSource>,
    /// Rules that ask.
    pub ask: Vec<RuleSource>,
    /// Rules that deny.
    pub deny: Vec<RuleSource>,
}

/// A rule that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleFault {
    /// The rule as written.
    pub rule: String,
    /// `file:line` or a flag.
    pub origin: String,
    /// What is wrong, with the nearest right thing.
    pub why: String,
}

/// The question.
#[derive(Debug, Clone, Deserialize)]
pub struct PolicyQuestion {
    /// The tool's name, or one of its aliases.
    pub tool: String,
    /// What the tool needs when nothing more is known.
    pub required: Required,
    /// The session's mode.
    pub mode: Mode,
    /// What the call would do.
    pub effects: Vec<Effect>,
    /// The call's scalar parameters.
    pub params: BTreeMap<String, String>,
    /// The working folder, absolute.
    pub cwd: String,
    /// The home folder, absolute.
    pub home: String,
    /// The folders that may be written, the workspace first.
    pub roots: Vec<String>,
}

/// What decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// A rule.
    Rule,
    /// The fixed table of commands that change nothing.
    ReadOnlyTable,
    /// The permission mode.
    Mode,
    /// A limit that no rule and no mode lifts.
    Boundary,
    /// A part whose effect cannot be known.
    NotUnderstood,
}

/// One judged part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TraceStep {
    /// The part as text.
    pub part: String,
    /// Its place in the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<[u32; 2]>,
    /// What it may do.
    pub verdict: Verdict,
    /// What decided.
    pub by: By,
    /// The rule, if one decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleSource>,
    /// One sentence for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The strictest verdict of all parts.
    pub verdict: Verdict,
    /// One sentence for people and models.
    pub reason: String,
    /// What decided.
    pub by: By,
    /// The rule, if one decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleSource>,
    /// Every judged part.
    pub trace: Vec<TraceStep>,
}

impl Decision {
    /// The answer to a question that is not one.
    pub(crate) fn malformed(why: &str) -> Decision {
        let reason = format!("The question to the policy is not valid: {why}");
        Decision { verdict: Verdict::Deny, reason, by: By::NotUnderstood, rule: None, trace: Vec::new() }
    }
}
