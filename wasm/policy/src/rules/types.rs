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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Only what changes nothing.
    #[default]
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Required {
    /// Changes nothing.
    ReadOnly,
    /// Changes the workspace.
    WorkspaceWrite,
    /// Anything else.
    #[default]
    DangerFullAccess,
}

/// What becomes of a call that would ask.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asks {
    /// A person is asked.
    #[default]
    Person,
    /// It is denied (preset `dont-ask`).
    Deny,
}

/// Something that a call would do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Effect {
    /// `exec`, `read`, `write`, `delete`, `net`, `env`, `privilege` or `unknown`.
    pub kind: String,
    /// The shell command of `exec`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// The absolute path of `read`, `write` and `delete`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The name by which the path was reached, where a symlink leads from there to `path`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The host of `net`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// The port of `net`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The variable of `env`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What a `privilege` or an `unknown` effect is about.
    #[serde(skip_serializing_if = "String::is_empty")]
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
    #[serde(default, skip_serializing)]
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
#[derive(Debug, Clone, Default, Deserialize)]
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
    /// What becomes of a call that would ask.
    #[serde(default)]
    pub asks: Asks,
    /// Fill the dear fields of the trace.
    #[serde(default)]
    pub explain: bool,
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

/// The symlink that led to a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Link {
    /// The name that was given.
    pub from: String,
    /// Where it leads.
    pub to: String,
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
    /// The wrappers and prefixes seen through, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stripped: Vec<String>,
    /// The symlink that led to what was judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// Rules that match too and are weaker.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shadowed: Vec<RuleSource>,
    /// What kept the nearest allow rule from matching.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What the part was understood to do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
}

impl TraceStep {
    /// A step with what every step has.
    pub(crate) fn new(part: String, span: Option<[u32; 2]>, judged: (Verdict, By)) -> TraceStep {
        TraceStep {
            part,
            span,
            verdict: judged.0,
            by: judged.1,
            rule: None,
            note: None,
            stripped: Vec::new(),
            link: None,
            shadowed: Vec::new(),
            why: None,
            effects: Vec::new(),
        }
    }
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
