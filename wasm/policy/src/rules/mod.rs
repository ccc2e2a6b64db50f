//! Rules `deny > ask > allow` over tool calls and over every part of a shell command.

mod acts;
mod acts_files;
mod acts_git;
mod acts_net;
mod argument_programs;
mod bases;
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
mod unknown_words;
mod variable_names;
mod walk;
mod wildcard;
mod workspace_writes;
mod wrappers;

use std::rc::Rc;

use path_index::PathIndex;
use pattern::{Access, Matcher, Rule};
use types::{Decision, PolicyQuestion, RuleFault, RuleLists, Verdict};

/// A compiled set of rules.
#[derive(Debug, Default)]
pub struct Policy {
    /// Those that deny, those that ask, those that allow.
    pub(crate) rules: Vec<Rc<Rule>>,
    pub(crate) own: Own,
    kinds: [Kinds; 3],
    index: PathIndex,
    /// Some rule refuses reading, or asks about it.
    pub(crate) guards_reading: bool,
    under: Option<Under>,
    /// The numbers of the rules that are not those of the set under it.
    added: Vec<usize>,
}

/// A set whose rules are in another one, each before the other's of the same verdict.
#[derive(Debug)]
struct Under {
    policy: Rc<Policy>,
    /// For each of its rules the number in the other set.
    numbers: Vec<usize>,
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
        Policy::compile_over(None, lists)
    }

    /// The same with the rules of another set before those of each list: what is known of them is not worked out again.
    pub fn compile_over(under: Option<Rc<Policy>>, lists: RuleLists) -> Result<Policy, Vec<RuleFault>> {
        compile::all(lists).map(|rules| Policy::of(under, rules))
    }

    pub(crate) fn of(under: Option<Rc<Policy>>, added: Vec<Rule>) -> Policy {
        let mut made = Policy::default();
        let mut numbers = Vec::new();
        let mut added = added.into_iter().peekable();
        for verdict in [Verdict::Deny, Verdict::Ask, Verdict::Allow] {
            for rule in under.iter().flat_map(|under| &under.rules).filter(|rule| rule.verdict == verdict) {
                numbers.push(made.rules.len());
                made.rules.push(rule.clone());
            }
            while let Some(rule) = added.next_if(|rule| rule.verdict == verdict) {
                made.added.push(made.rules.len());
                made.rules.push(Rc::new(rule));
            }
        }
        made.under = under.map(|policy| Under { policy, numbers });
        made.index = PathIndex::of(&made.rules, &made.added);
        made.sort_by_kind();
        made
    }

    fn sort_by_kind(&mut self) {
        let Policy { rules, own, kinds, guards_reading, .. } = self;
        for (number, rule) in rules.iter().enumerate() {
            let kind = &mut kinds[list_of(rule.verdict)];
            let written = rule.verdict != Verdict::Allow && rule.source.layer != "built-in";
            match &rule.matcher {
                Matcher::Path { access, .. } => {
                    own.paths |= written;
                    *guards_reading |= *access == Access::Read && rule.verdict != Verdict::Allow;
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
                    *guards_reading |= *name == "read_file" && rule.verdict != Verdict::Allow;
                    kind.paths.push(number);
                    kind.calls.push(number);
                }
                Matcher::Param { .. } => kind.calls.push(number),
            }
        }
    }

    fn by(&self, verdict: Verdict, of: fn(&Kinds) -> &Vec<usize>) -> impl Iterator<Item = &Rule> {
        of(&self.kinds[list_of(verdict)]).iter().map(|number| self.rules[*number].as_ref())
    }

    /// Rules on commands, in order.
    pub(crate) fn on_commands(&self, verdict: Verdict) -> impl Iterator<Item = &Rule> {
        self.by(verdict, |kinds| &kinds.commands)
    }

    /// Rules that may be about a path.
    pub(crate) fn on_paths(&self, verdict: Verdict) -> impl Iterator<Item = &Rule> {
        self.by(verdict, |kinds| &kinds.paths)
    }

    /// Rules on hosts and the other effects.
    pub(crate) fn on_others(&self, verdict: Verdict) -> impl Iterator<Item = &Rule> {
        self.by(verdict, |kinds| &kinds.others)
    }

    /// Rules that may be about a call as a whole.
    pub(crate) fn on_calls(&self, verdict: Verdict) -> impl Iterator<Item = &Rule> {
        self.by(verdict, |kinds| &kinds.calls)
    }

    /// Those that are in no other set.
    pub(crate) fn into_rules(self) -> impl Iterator<Item = Rule> {
        self.rules.into_iter().filter_map(Rc::into_inner)
    }

    /// Like [`Policy::compile`], from the JSON of `RuleLists`.
    pub fn compile_json(rules: &str) -> Result<Policy, Vec<RuleFault>> {
        Policy::compile_json_over(None, rules)
    }

    /// Like [`Policy::compile_over`], from the JSON of `RuleLists`.
    pub fn compile_json_over(under: Option<Rc<Policy>>, rules: &str) -> Result<Policy, Vec<RuleFault>> {
        let lists = serde_json::from_str(rules).map_err(|fault| {
            let why = format!("The rules are not valid: {fault}");
            vec![RuleFault { rule: String::new(), origin: String::new(), why }]
        })?;
        Policy::compile_over(under, lists)
    }

    /// Judges one call. Never fails: what is not understood is not allowed.
    pub fn decide(&self, question: &PolicyQuestion) -> Decision {
        decide::decide(self, question)
    }

    /// Like [`Policy::decide`], from the JSON of `PolicyQuestion` to that of `Decision`.
    pub fn decide_json(&self, question: &str) -> String {
        let mut answer = Vec::new();
        Policy::answer(Some(self), question.as_bytes(), &mut answer);
        String::from_utf8(answer).unwrap_or_default()
    }

    /// The same with bytes; without a policy the answer is `deny`.
    pub fn answer(policy: Option<&Policy>, question: &[u8], answer: &mut Vec<u8>) {
        let asked = std::str::from_utf8(question).map_err(|fault| fault.to_string());
        let asked = asked.and_then(|text| serde_json::from_str(text).map_err(|fault| fault.to_string()));
        let decision = match (policy, asked) {
            (Some(policy), Ok(question)) => policy.decide(&question),
            (Some(_), Err(fault)) => Decision::malformed(&fault),
            (None, _) => Decision::malformed("it names no compiled rules"),
        };
        // Writing to memory can't fail, and all keys are texts.
        let _ = serde_json::to_writer(answer, &decision);
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
