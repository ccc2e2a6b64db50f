//! Rules `deny > ask > allow` over tool calls and over every part of a shell command.

mod command;
mod command_rules;
mod critical;
mod decide;
mod evaluated_data;
mod hidden_programs;
mod interactive;
mod judge;
mod paths;
mod pattern;
mod read_only;
mod read_only_checks;
mod read_only_options;
mod reading;
mod shell_only;
mod shell_state;
mod tools;
pub mod types;
mod walk;
mod wildcard;
mod workspace_writes;
mod wrappers;

use pattern::Rule;
use types::{Decision, PolicyQuestion, RuleFault, RuleLists, Verdict};

/// A compiled set of rules.
#[derive(Debug)]
pub struct Policy {
    pub(crate) rules: Vec<Rule>,
}

impl Policy {
    /// Compiles all lists; the error holds every rule that cannot be used.
    pub fn compile(lists: RuleLists) -> Result<Policy, Vec<RuleFault>> {
        let (mut rules, mut faults) = (Vec::new(), Vec::new());
        let all = [(lists.deny, Verdict::Deny), (lists.ask, Verdict::Ask), (lists.allow, Verdict::Allow)];
        for (list, verdict) in all {
            for source in list {
                match pattern::compile(&source.rule).and_then(|matcher| pattern::fitting(matcher, verdict)) {
                    Ok(matcher) => rules.push(Rule { source, verdict, matcher }),
                    Err(why) => faults.push(RuleFault { rule: source.rule, origin: source.origin, why }),
                }
            }
        }
        if faults.is_empty() { Ok(Policy { rules }) } else { Err(faults) }
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
