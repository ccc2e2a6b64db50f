//! Judges every part of a shell command.

use std::cell::OnceCell;

use super::Policy;
use super::acts::Acts;
use super::command::shown;
use super::command_rules::Texts;
use super::critical;
use super::decide::Asked;
use super::effects::{Doubt, Effects};
use super::evaluated_data;
use super::interactive;
use super::known_names::KnownNames;
use super::paths::{PathValue, Places};
use super::pattern::Access;
use super::programs;
use super::types::{By, Required, RuleSource, TraceStep, Verdict};
use super::walk::{Flat, Place, flatten};
use super::wildcard::{ANYTHING, Proof, matches, tokens};
use super::wrappers::{self, View};
use crate::shell::ast::{Piece, Redirect, Script, Simple, Span, Word};

/// Scripts inside scripts (`sh -c`, `eval`) before the rest counts as unknown.
const MAX_SCRIPTS: u32 = 8;
/// A word made of pieces.
pub(crate) fn word_of(pieces: Vec<Piece>) -> Word {
    let text = match pieces.as_slice() {
        [] => Some(String::new()),
        [Piece::Lit(text)] => Some(text.clone()),
        _ => None,
    };
    Word { text, pieces, ..Word::default() }
}

/// Everything a simple command runs.
#[derive(Default)]
pub(super) struct Found<'a> {
    pub(super) views: Vec<View<'a>>,
    /// For refusing only.
    pub(super) maybe: Vec<View<'a>>,
    pub(super) scripts: Vec<String>,
    pub(super) opaque: Option<&'static str>,
    /// Why its options are not known: what it does could be anything that its program can do.
    pub(super) unsure: Option<&'static str>,
    /// Which of the views run no other one.
    pub(super) leaves: Vec<usize>,
    /// See [`Texts`].
    pub(super) texts: OnceCell<Texts>,
}

/// The judge of one script.
pub(crate) struct Judge<'q> {
    pub(crate) asked: Asked<'q>,
    pub(super) places: Places<'q>,
    /// The place of the script's text in the whole command, if it is not the whole.
    outer: Option<Span>,
    depth: u32,
    /// A variable is exported, so a program may get more than its own line says.
    pub(super) exports: bool,
    pub(super) names: KnownNames,
    pub(crate) steps: Vec<TraceStep>,
}

impl<'q> Judge<'q> {
    pub(crate) fn new(asked: Asked<'q>) -> Self {
        Judge {
            asked,
            places: Places::of(asked.question),
            outer: None,
            depth: 0,
            exports: false,
            names: KnownNames::default(),
            steps: Vec::new(),
        }
    }

    /// Judges a script given as text.
    pub(crate) fn source(&mut self, source: &str) {
        match crate::shell::parse(source) {
            Ok(script) => self.script(&script),
            Err(fault) => {
                let part: String = source.chars().take(200).collect();
                let note = format!("The command cannot be parsed: {}", fault.message);
                self.not_understood(part, fault.span, note);
            }
        }
    }

    fn script(&mut self, script: &Script) {
        let flat = flatten(script);
        self.names = KnownNames::of(script, &flat);
        if let Some(name) = critical::fork_bomb(&flat) {
            let note =
                format!("The function \"{name}\" starts itself again and again (a fork bomb), which is never run");
            self.push(name.to_string(), [0, 0], (Verdict::Deny, By::Boundary), (None, Some(note)));
        }
        self.hidden_code(script, &flat);
        self.follow_shell(script, &flat);
        for part in &flat.parts {
            self.part(part, script);
        }
        for redirect in &flat.redirects {
            self.redirect(redirect);
        }
        for span in &flat.tests {
            let verdict = self.asked.by_mode(Required::ReadOnly);
            self.push("test".to_string(), *span, (verdict, By::ReadOnlyTable), (None, None));
        }
        if self.steps.is_empty() {
            let verdict = self.asked.by_mode(Required::ReadOnly);
            self.push("nothing".to_string(), [0, 0], (verdict, By::ReadOnlyTable), (None, None));
        }
    }

    /// Arithmetic evaluates the values of variables, and with them the substitutions written there:
    /// `x='a[$(rm f)]'; echo $((x))` removes f.
    fn hidden_code(&mut self, script: &Script, flat: &Flat) {
        let facts = script.facts;
        if facts.prompt_expansion || facts.arithmetic && facts.quoted_code {
            let note = "Quoted text with a substitution could be run by an arithmetic or prompt expansion".to_string();
            self.not_understood("$(…)".to_string(), [0, 0], note);
        } else if let Some(name) = evaluated_data::evaluates_data(script, flat) {
            let note =
                Some(format!("Arithmetic would run code in the value of {name}, which is not certainly a number"));
            let verdict = self.asked.by_mode(Required::DangerFullAccess);
            self.push("arithmetic".to_string(), [0, 0], (verdict, By::Mode), (None, note));
        }
    }

    pub(super) fn assignments_only(&mut self, simple: &Simple, powerful: Option<&str>) {
        let names: Vec<&str> = simple.assignments.iter().map(|assignment| assignment.name.as_str()).collect();
        let label = if names.is_empty() { "redirection".to_string() } else { format!("{}=…", names.join("=… ")) };
        if let Some(name) = powerful {
            let note = format!("Setting {name} changes what later commands do");
            return self.not_understood(label, simple.span, note);
        }
        let verdict = self.asked.by_mode(Required::ReadOnly);
        self.push(label, simple.span, (verdict, By::ReadOnlyTable), (None, None));
    }

    /// Limits first, then `deny` and `ask` rules.
    pub(super) fn refused(&self, label: &str, simple: &Simple, found: &Found, at: (Place, &Acts)) -> Option<TraceStep> {
        let (place, acts) = at;
        let step = |judged, why| Some(self.step(label.to_string(), simple.span, judged, why));
        let all = || found.views.iter().chain(&found.maybe);
        let names_critical = all().any(critical::concerns);
        if names_critical {
            let here = Places { cwds: self.places.cwds.last().cloned().into_iter().collect(), ..self.places.clone() };
            if let Some(note) = all().find_map(|view| critical::refusal(view, &here)) {
                return step((Verdict::Deny, By::Boundary), (None, Some(note)));
            }
        }
        let deny = self.command_rule(Verdict::Deny, simple, found, acts);
        if let Some((rule, true)) = &deny {
            return step((Verdict::Deny, By::Rule), (Some(rule.source.clone()), None));
        }
        let refusal = || all().find_map(|view| critical::refusal(view, &self.places));
        if let Some(note) = names_critical.then(refusal).flatten() {
            return step((Verdict::Ask, By::Boundary), (None, Some(note)));
        }
        if let Some(note) = found.views.iter().find_map(|view| interactive::refusal(view, place)) {
            return step((Verdict::Deny, By::Boundary), (None, Some(note)));
        }
        if let Some(note) = all().find_map(foreign_shell) {
            return step((Verdict::Ask, By::Boundary), (None, Some(note)));
        }
        let (rule, certain) =
            self.command_rule(Verdict::Ask, simple, found, acts).filter(|(_, certain)| *certain).or(deny)?;
        let by = if certain { By::Rule } else { By::NotUnderstood };
        let note = (!certain).then(|| format!("\"{label}\" has unknown parts that could make it match a rule"));
        step((Verdict::Ask, by), (Some(rule.source.clone()), note))
    }

    pub(super) fn inner_script(&mut self, text: &str, span: Span) {
        if self.depth >= MAX_SCRIPTS {
            return self.not_understood("…".to_string(), span, "The command nests too many scripts".to_string());
        }
        let outer = Some(self.outer.unwrap_or(span));
        let mut inner = Judge {
            places: self.places.clone(),
            outer,
            depth: self.depth + 1,
            exports: self.exports,
            ..Judge::new(self.asked)
        };
        inner.source(text);
        self.steps.append(&mut inner.steps);
    }

    fn redirect(&mut self, redirect: &Redirect) {
        let text = redirect.target.text.as_deref();
        let part = format!("{} {}", redirect.op, shown(&[&redirect.target]));
        let copies = text.is_some_and(|text| {
            !text.is_empty() && text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit())
        });
        let own =
            matches!(redirect.target.pieces.as_slice(), [Piece::Dyn { why: crate::shell::ast::Why::Process, .. }]);
        if redirect.here_doc.is_some() || redirect.op == "<<<" || own || (redirect.op.ends_with('&') && copies) {
            return;
        }
        if text.is_some_and(|text| text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/")) {
            let note = Some("The shell would open a network connection".to_string());
            return self.push(
                part,
                redirect.span,
                (self.asked.by_mode(Required::DangerFullAccess), By::Mode),
                (None, note),
            );
        }
        let path = self.places.resolve(&redirect.target);
        if may_connect(&path) {
            let note = Some("The shell would open a network connection if the name turned out to be one".to_string());
            let asked = (self.asked.by_mode(Required::DangerFullAccess), By::Mode);
            self.push(part.clone(), redirect.span, asked, (None, note));
        }
        if redirect.op.starts_with('<') {
            self.read(|| part.clone(), redirect.span, &path, Doubt::Counts);
        }
        if redirect.op == "<" {
            return;
        }
        let (judged, why) = Effects { places: &self.places, asked: self.asked }.write(Access::Write, &path);
        if judged.1 != By::ReadOnlyTable {
            self.push(part, redirect.span, judged, why);
        }
    }

    pub(super) fn not_understood(&mut self, part: String, span: Span, note: String) {
        self.push(part, span, (self.asked.unknown(), By::NotUnderstood), (None, Some(note)));
    }

    pub(super) fn push(
        &mut self,
        part: String,
        span: Span,
        judged: (Verdict, By),
        why: (Option<RuleSource>, Option<String>),
    ) {
        self.steps.push(self.step(part, span, judged, why));
    }

    pub(super) fn step(
        &self,
        part: String,
        span: Span,
        judged: (Verdict, By),
        why: (Option<RuleSource>, Option<String>),
    ) -> TraceStep {
        let span = Some(self.outer.unwrap_or(span));
        TraceStep { rule: why.0, note: why.1, ..TraceStep::new(part, span, judged) }
    }
}

/// What a shell with another language runs is never allowed by a rule or a mode.
fn foreign_shell(view: &View) -> Option<String> {
    let name = wrappers::program(view).filter(|name| programs::is_foreign_shell(name))?;
    let asked =
        !matches!(view.argv.get(1..), Some([word]) if matches!(word.text.as_deref(), Some("--version" | "-Version")));
    asked.then(|| format!("\"{name}\" runs text of another shell, which is not parsed, so a person must answer"))
}

/// `/dev/tcp/$host/80` is a connection only once the shell knows the name.
fn may_connect(path: &PathValue) -> bool {
    let PathValue::Partly(text) = path else { return false };
    // `/dev/tcp/` and `/dev/udp/`.
    let pattern = [tokens("/dev/"), vec![ANYTHING], tokens("p/"), vec![ANYTHING]].concat();
    matches(&pattern, text, Proof::Possible)
}

impl Policy {
    /// Whether any rule refuses or asks: then what is not understood could be what it is about.
    pub(crate) fn restricts(&self) -> bool {
        self.rules.iter().any(|rule| rule.verdict != Verdict::Allow)
    }
}
