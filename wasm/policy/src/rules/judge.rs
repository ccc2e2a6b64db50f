//! Judges every part of a shell command.

use super::Policy;
use super::command::{is_harmless, is_powerful, shown};
use super::critical;
use super::decide::{Asked, Effects};
use super::evaluated_data;
use super::interactive;
use super::paths::{PathValue, Places};
use super::pattern::Access;
use super::read_only;
use super::types::{By, Required, RuleSource, TraceStep, Verdict};
use super::walk::{Flat, Part, Place, flatten};
use super::wildcard::Token;
use super::wrappers::{self, Inner, View, program};
use crate::shell::ast::{Piece, Redirect, Script, Simple, Span, Word};

/// Scripts inside scripts (`sh -c`, `eval`) before the rest counts as unknown.
const MAX_SCRIPTS: u32 = 8;
/// Command lines looked at for one simple command.
const MAX_VIEWS: usize = 64;

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
}

/// The judge of one script.
pub(crate) struct Judge<'q> {
    pub(crate) asked: Asked<'q>,
    pub(super) places: Places<'q>,
    /// The place of the script's text in the whole command, if it is not the whole.
    outer: Option<Span>,
    depth: u32,
    pub(crate) steps: Vec<TraceStep>,
}

impl<'q> Judge<'q> {
    pub(crate) fn new(asked: Asked<'q>) -> Self {
        Judge { asked, places: Places::of(asked.question), outer: None, depth: 0, steps: Vec::new() }
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
        if let Some(name) = critical::fork_bomb(&flat) {
            let note =
                format!("The function \"{name}\" starts itself again and again (a fork bomb), which is never run");
            self.push(name.to_string(), [0, 0], (Verdict::Deny, By::Boundary), (None, Some(note)));
        }
        self.hidden_code(script, &flat);
        self.follow_folders(&flat);
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

    /// Collects every folder that may be the current one, and whether HOME is set.
    fn follow_folders(&mut self, flat: &Flat) {
        for part in &flat.parts {
            let simple = part.simple;
            self.places.home_changed |= simple.assignments.iter().any(|assignment| assignment.name == "HOME");
            let name = simple.words.first().and_then(|word| word.text.as_deref()).unwrap_or_default();
            if !matches!(name, "cd" | "pushd" | "popd" | "chdir") || self.places.cwds.is_empty() {
                continue;
            }
            let target = simple.words[1..]
                .iter()
                .find(|word| !matches!(word.text.as_deref(), Some("--" | "-P" | "-L" | "-e" | "-")));
            let last = Places { cwds: self.places.cwds.last().cloned().into_iter().collect(), ..self.places.clone() };
            let path = match target {
                Some(word) => last.resolve(word),
                None if name == "cd" => PathValue::Known(vec![self.asked.question.home.clone()]),
                None => continue,
            };
            match path {
                PathValue::Known(paths) if self.places.cwds.len() < 8 => self.places.cwds.extend(paths),
                _ => self.places.cwds.clear(),
            }
        }
    }

    fn part(&mut self, part: &Part, script: &Script) {
        let simple = part.simple;
        let words: Vec<&Word> = simple.words.iter().collect();
        let powerful = simple.assignments.iter().find(|assignment| is_powerful(&assignment.name));
        if words.is_empty() {
            return self.assignments_only(simple, powerful.map(|assignment| assignment.name.as_str()));
        }
        let view = View { argv: words, transparent: true, open: false, tame: true };
        let mut found = self.explore(view);
        self.commands_from_input(part, script, &mut found);
        let label = shown(&found.views[0].argv);
        if let Some(step) = self.refused(&label, simple, &found, part.place) {
            return self.steps.push(step);
        }
        self.arguments(&found);
        let before = self.steps.len();
        for text in std::mem::take(&mut found.scripts) {
            self.inner_script(&text, simple.span);
        }
        if let Some(why) = found.opaque.or_else(|| self.dynamic_name(&found)) {
            return self.not_understood(
                label,
                simple.span,
                format!("\"{}\" is not understood: {why}", shown(&found.views[0].argv)),
            );
        }
        // A shell that got its whole script as text does what the script does, which is judged above.
        if self.steps.len() > before
            && wrappers::is_real_shell(&found.views[found.views.len() - 1])
            && simple.assignments.is_empty()
        {
            return;
        }
        let harmless = simple.assignments.iter().all(is_harmless);
        let (verdict, by, rule) = self.permitted(simple, &found, harmless);
        let note = (by == By::Mode).then(|| format!("\"{label}\" is not known to be read-only"));
        self.push(label, simple.span, (verdict, by), (rule, note));
    }

    fn assignments_only(&mut self, simple: &Simple, powerful: Option<&str>) {
        let names: Vec<&str> = simple.assignments.iter().map(|assignment| assignment.name.as_str()).collect();
        let label = if names.is_empty() { "redirection".to_string() } else { format!("{}=…", names.join("=… ")) };
        if let Some(name) = powerful {
            let note = format!("Setting {name} changes what later commands do");
            return self.not_understood(label, simple.span, note);
        }
        let verdict = self.asked.by_mode(Required::ReadOnly);
        self.push(label, simple.span, (verdict, By::ReadOnlyTable), (None, None));
    }

    fn explore<'a>(&self, view: View<'a>) -> Found<'a> {
        let mut found = Found { views: vec![view], ..Found::default() };
        let mut at = 0;
        while at < found.views.len() + found.maybe.len() && at < MAX_VIEWS {
            let sure = at < found.views.len();
            let view = if sure { &found.views[at] } else { &found.maybe[at - found.views.len()] };
            let inner = if sure { wrappers::inner(view) } else { Vec::new() };
            let git = wrappers::without_git_options(view);
            at += 1;
            found.maybe.extend(git);
            for inner in inner {
                match inner {
                    Inner::Argv(view) => found.views.push(view),
                    Inner::Script(text) => found.scripts.push(text),
                    Inner::Somewhere(views) => found.maybe.extend(views),
                    Inner::Opaque(why) => found.opaque = Some(why),
                }
            }
        }
        if at >= MAX_VIEWS {
            found.opaque = Some("it nests too many commands");
        }
        found
    }

    /// `sh <<E`, `bash <<< 'text'`, `curl … | sh`.
    fn commands_from_input(&self, part: &Part, script: &Script, found: &mut Found) {
        if !part.place.fed || !found.views.iter().any(wrappers::reads_commands) || !found.scripts.is_empty() {
            return;
        }
        let last = part.simple.redirects.iter().rfind(|redirect| redirect.op.starts_with('<'));
        let text = last.and_then(|redirect| match (redirect.op, redirect.here_doc) {
            ("<<<", _) => redirect.target.text.clone(),
            (_, Some(index)) => script.here_docs.get(index).and_then(|doc| doc.text.clone()),
            _ => None,
        });
        match text {
            Some(text) => found.scripts.push(text),
            None => found.opaque = Some("a shell takes its commands from a pipe or a file"),
        }
    }

    /// Limits first, then `deny` and `ask` rules.
    fn refused(&self, label: &str, simple: &Simple, found: &Found, place: Place) -> Option<TraceStep> {
        let here = Places { cwds: self.places.cwds.last().cloned().into_iter().collect(), ..self.places.clone() };
        let step = |judged, why| Some(self.step(label.to_string(), simple.span, judged, why));
        let all = || found.views.iter().chain(&found.maybe);
        if let Some(note) = all().find_map(|view| critical::refusal(view, &here)) {
            return step((Verdict::Deny, By::Boundary), (None, Some(note)));
        }
        let deny = self.command_rule(Verdict::Deny, simple, found);
        if let Some((rule, true)) = &deny {
            return step((Verdict::Deny, By::Rule), (Some(rule.source.clone()), None));
        }
        if let Some(note) = all().find_map(|view| critical::refusal(view, &self.places)) {
            return step((Verdict::Ask, By::Boundary), (None, Some(note)));
        }
        if let Some(note) = found.views.iter().find_map(|view| interactive::refusal(view, place)) {
            return step((Verdict::Deny, By::Boundary), (None, Some(note)));
        }
        let (rule, certain) =
            self.command_rule(Verdict::Ask, simple, found).filter(|(_, certain)| *certain).or(deny)?;
        let by = if certain { By::Rule } else { By::NotUnderstood };
        let note = (!certain).then(|| format!("\"{label}\" has unknown parts that could make it match a rule"));
        step((Verdict::Ask, by), (Some(rule.source.clone()), note))
    }

    fn dynamic_name(&self, found: &Found) -> Option<&'static str> {
        let unknown = found.views.iter().any(|view| view.argv[0].text.is_none());
        unknown.then_some("the name of the command is not known before it runs")
    }

    fn inner_script(&mut self, text: &str, span: Span) {
        if self.depth >= MAX_SCRIPTS {
            return self.not_understood("…".to_string(), span, "The command nests too many scripts".to_string());
        }
        let outer = Some(self.outer.unwrap_or(span));
        let mut inner =
            Judge { asked: self.asked, places: self.places.clone(), outer, depth: self.depth + 1, steps: Vec::new() };
        inner.source(text);
        self.steps.append(&mut inner.steps);
    }

    /// `deny` and `ask` rules on reading, for each argument that may be a path.
    fn arguments(&mut self, found: &Found) {
        let inner = &found.views[found.views.len() - 1];
        let Some(name) = program(inner).filter(|name| read_only::reads_arguments(name)) else { return };
        if !self.asked.has_read_rules() {
            return;
        }
        let reader = read_only::is_read_only(inner);
        let flags = |letters: &str| {
            inner.argv.iter().any(|word| {
                word.text.as_deref().is_some_and(|text| {
                    text.starts_with('-') && !text.starts_with("--") && text.contains(|letter| letters.contains(letter))
                })
            })
        };
        let has_pattern = matches!(name, "grep" | "rg" | "egrep" | "fgrep" | "jq" | "sed" | "awk") && !flags("ef");
        let below = matches!(name, "grep" | "egrep" | "fgrep") && flags("rR") || name == "rg" && flags("u.");
        let mut operands = 0;
        for word in &inner.argv[1..] {
            let option = word.text.as_deref().filter(|text| text.starts_with('-'));
            operands += usize::from(option.is_none());
            if option.is_none() && has_pattern && operands == 1 {
                continue;
            }
            let path = match option {
                Some(text) => self
                    .places
                    .resolve_text(text.split_once('=').map_or(text.get(2..).unwrap_or_default(), |(_, value)| value)),
                None => self.places.resolve(word),
            };
            self.read(shown(&[word]), word.span, &path, reader);
            if let (true, None, PathValue::Known(paths)) = (below, option, &path) {
                let inside: Vec<Token> = super::wildcard::tokens(&format!("{}/", paths[0]))
                    .into_iter()
                    .chain([super::wildcard::UNKNOWN])
                    .collect();
                self.read(shown(&[word]), word.span, &PathValue::Partly(inside), true);
            }
        }
    }

    fn read(&mut self, part: String, span: Span, path: &PathValue, unknown_counts: bool) {
        let effect = Effects { places: &self.places, asked: self.asked };
        if let Some((judged, rule)) = effect.restricted(Access::Read, path, unknown_counts) {
            self.push(part, span, judged, (Some(rule), None));
        }
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
        if redirect.op.starts_with('<') {
            self.read(part.clone(), redirect.span, &path, true);
        }
        if redirect.op == "<" {
            return;
        }
        let (judged, why) = Effects { places: &self.places, asked: self.asked }.write(Access::Write, &path);
        if judged.1 != By::ReadOnlyTable {
            self.push(part, redirect.span, judged, why);
        }
    }

    fn not_understood(&mut self, part: String, span: Span, note: String) {
        self.push(part, span, (self.asked.unknown(), By::NotUnderstood), (None, Some(note)));
    }

    fn push(&mut self, part: String, span: Span, judged: (Verdict, By), why: (Option<RuleSource>, Option<String>)) {
        self.steps.push(self.step(part, span, judged, why));
    }

    fn step(
        &self,
        part: String,
        span: Span,
        judged: (Verdict, By),
        why: (Option<RuleSource>, Option<String>),
    ) -> TraceStep {
        let span = Some(self.outer.unwrap_or(span));
        TraceStep { part, span, verdict: judged.0, by: judged.1, rule: why.0, note: why.1 }
    }
}

impl Policy {
    /// Whether any rule refuses or asks: then what is not understood could be what it is about.
    pub(crate) fn restricts(&self) -> bool {
        self.rules.iter().any(|rule| rule.verdict != Verdict::Allow)
    }
}
