//! Rules `deny > ask > allow` over tool calls and over every part of a shell command.

mod acts;
mod acts_files;
mod acts_git;
mod acts_net;
mod argument_programs;
mod command;
mod command_rules;
mod compile;
mod critical;
mod decide;
mod effects;
mod evaluated_data;
mod examples;
mod explain;
mod flags_in_rules;
mod git_programs;
mod hidden_programs;
mod hosts;
mod interactive;
mod judge;
mod known_names;
mod part;
mod path_index;
mod paths;
mod pattern;
mod programs;
mod read_only;
mod read_only_checks;
mod read_only_options;
mod read_only_tools;
mod reading;
mod restrictions;
mod sed_script;
mod shell_only;
mod shell_state;
mod tools;
pub mod types;
mod variable_names;
mod walk;
mod wildcard;
mod workspace_writes;
mod wrappers;

use path_index::Kept;
use pattern::{Access, Matcher, Rule};
use types::{Decision, PolicyQuestion, RuleFault, RuleLists, Verdict};

/// A compiled set of rules.
#[derive(Debug)]
pub struct Policy {
    pub(crate) rules: Vec<Rule>,
    pub(crate) own: Own,
    kinds: [Kinds; 3],
    pub(crate) index: Kept,
    /// Some rule refuses reading, or asks about it.
    pub(crate) guards_reading: bool,
}

/// The numbers of the rules of one verdict, by what they can be about.
#[derive(Debug, Default)]
struct Kinds {
    commands: Vec<usize>,
    paths: Vec<usize>,
    others: Vec<usize>,
    calls: Vec<usize>,
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

    pub(crate) fn of(mut rules: Vec<Rule>) -> Policy {
        let mut own = Own::default();
        let mut kinds: [Kinds; 3] = Default::default();
        let mut guards_reading = false;
        for (number, rule) in rules.iter().enumerate() {
            let kind = &mut kinds[list_of(rule.verdict)];
            let written = rule.verdict != Verdict::Allow && rule.source.layer != "built-in";
            match &rule.matcher {
                Matcher::Path { access, .. } => {
                    own.paths |= written;
                    guards_reading |= *access == Access::Read && rule.verdict != Verdict::Allow;
                    kind.paths.push(number);
                }
                Matcher::Host { .. } => {
                    own.hosts |= written;
                    kind.others.push(number);
                    kind.calls.push(number);
                }
                Matcher::Command(_) => {
                    own.commands |= written;
                    kind.commands.push(number);
                }
                Matcher::Unknown(_) | Matcher::Env(_) | Matcher::Privilege(_) => {
                    own.commands |= written;
                    kind.others.push(number);
                }
                Matcher::Tool(_, name) => {
                    guards_reading |= *name == "read_file" && rule.verdict != Verdict::Allow;
                    kind.paths.push(number);
                    kind.calls.push(number);
                }
                Matcher::Param { .. } => kind.calls.push(number),
            }
        }
        let matchers = rules.iter_mut().flat_map(|rule| std::iter::once(&mut rule.matcher).chain(&mut rule.except));
        path_index::number(matchers);
        Policy { rules, own, kinds, index: Kept::default(), guards_reading }
    }

    fn by(&self, verdict: Verdict, of: fn(&Kinds) -> &Vec<usize>) -> impl Iterator<Item = &Rule> {
        of(&self.kinds[list_of(verdict)]).iter().map(|number| &self.rules[*number])
    }

    /// Rules on commands, in order.
    pub(crate) fn on_commands(&self, verdict: Verdict) -> impl Iterator<Item = &Rule> {
        self.by(verdict, |kinds| &kinds.commands)
    }

    /// Rules that may be about a path.
    pub(crate) fn on_paths(&self, verdict: Verdict) -> impl Iterator<Item = &Rule> {
        self.by(verdict, |kinds| &kinds.paths)
    }

    pub(crate) fn numbers_on_paths(&self, verdict: Verdict) -> &[usize] {
        &self.kinds[list_of(verdict)].paths
    }

    /// Rules on hosts and the other effects.
    pub(crate) fn on_others(&self, verdict: Verdict) -> impl Iterator<Item = &Rule> {
        self.by(verdict, |kinds| &kinds.others)
    }

    /// Rules that may be about a call as a whole.
    pub(crate) fn on_calls(&self, verdict: Verdict) -> impl Iterator<Item = &Rule> {
        self.by(verdict, |kinds| &kinds.calls)
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

pub(crate) fn list_of(verdict: Verdict) -> usize {
    match verdict {
        Verdict::Deny => 0,
        Verdict::Ask => 1,
        Verdict::Allow | Verdict::None => 2,
    }
}

/// The JSON of a value of ours, all of which have text keys only.
pub fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
