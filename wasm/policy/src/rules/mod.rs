//! Rules `deny > ask > allow` over tool calls and over every part of a shell command.

mod acts;
mod acts_files;
mod acts_git;
mod acts_net;
mod command;
mod command_rules;
mod compile;
mod critical;
mod decide;
mod effects;
mod evaluated_data;
mod examples;
mod explain;
mod hidden_programs;
mod hosts;
mod interactive;
mod judge;
mod known_names;
mod part;
mod paths;
mod pattern;
mod programs;
mod read_only;
mod read_only_checks;
mod read_only_options;
mod read_only_tools;
mod reading;
mod restrictions;
mod shell_only;
mod shell_state;
mod tools;
pub mod types;
mod walk;
mod wildcard;
mod workspace_writes;
mod wrappers;

use pattern::{Matcher, Rule};
use types::{Decision, PolicyQuestion, RuleFault, RuleLists, Verdict};

/// A compiled set of rules.
#[derive(Debug)]
pub struct Policy {
    pub(crate) rules: Vec<Rule>,
    pub(crate) own: Own,
}

/// What the rules that a person wrote refuse or ask about: then what is not understood could be just that.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Own {
    pub(crate) commands: bool,
    pub(crate) paths: bool,
    pub(crate) hosts: bool,
}

impl Policy {
    /// Compiles all lists; the error holds every rule that cannot be used.
    pub fn compile(lists: RuleLists) -> Result<Policy, Vec<RuleFault>> {
        compile::all(lists).map(Policy::of)
    }

    pub(crate) fn of(rules: Vec<Rule>) -> Policy {
        let mut own = Own::default();
        for rule in rules.iter().filter(|rule| rule.verdict != Verdict::Allow && rule.source.layer != "built-in") {
            match rule.matcher {
                Matcher::Path { .. } => own.paths = true,
                Matcher::Host { .. } => own.hosts = true,
                Matcher::Command(_) | Matcher::Unknown(_) | Matcher::Env(_) | Matcher::Privilege(_) => {
                    own.commands = true
                }
                Matcher::Tool(..) | Matcher::Param { .. } => {}
            }
        }
        Policy { rules, own }
    }

    pub(crate) fn into_rules(self) -> Vec<Rule> {
        self.rules
    }

    /// Like [`Policy::compile`], from the JSON of `RuleLists`.
    pub fn compile_json(rules: &str) -> Result<Policy, Vec<RuleFault>> {
        let lists = serde_json::from_str(rules).map_err(|fault| {
            let why = format!("The rules are not valid: {fault}");
            vec![RuleFault { rule: String::new(), origin: String::new(), why }]
        })?;
        Policy::compile(lists)
    }

    /// The answer where no set of rules was compiled.
    pub fn unknown_set() -> Decision {
        Decision::malformed("it names no compiled rules")
    }

    /// Judges one call. Never fails: what is not understood is not allowed.
    pub fn decide(&self, question: &PolicyQuestion) -> Decision {
        decide::decide(self, question)
    }

    /// Like [`Policy::decide`], from the JSON of `PolicyQuestion` to that of `Decision`.
    pub fn decide_json(&self, question: &str) -> String {
        let decision = match serde_json::from_str(question) {
            Ok(question) => self.decide(&question),
            Err(fault) => Decision::malformed(&fault.to_string()),
        };
        to_json(&decision)
    }
}

/// The JSON of a value of ours, all of which have text keys only.
pub fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
