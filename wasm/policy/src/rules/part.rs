//! One simple command: what it runs, what it does, and what is said of it.

use super::acts::{self, Act, Acts};
use super::command::{is_harmless, is_powerful, shown};
use super::judge::{Found, Judge};
use super::types::{By, TraceStep, Verdict};
use super::unknown_words;
use super::walk::Part;
use super::wrappers::{self, Inner, View};
use crate::shell::ast::{Script, Simple, Word};

/// Command lines looked at for one simple command.
const MAX_VIEWS: usize = 64;

impl<'q> Judge<'q> {
    /// Judges a simple command, with each value of the variables in it that the script itself tells; the strictest counts.
    pub(super) fn part(&mut self, part: &Part, script: &Script) {
        let Some(cases) = self.names.cases(part.simple) else {
            return self.one_part(part, script, &part.simple.words);
        };
        let before = self.steps.len();
        let mut strictest = Vec::new();
        let gravest = |steps: &[TraceStep]| steps.iter().map(|step| step.verdict).max();
        for words in cases {
            self.one_part(part, script, &words);
            let steps = self.steps.split_off(before);
            if strictest.is_empty() || gravest(&strictest) < gravest(&steps) {
                strictest = steps;
            }
        }
        self.steps.append(&mut strictest);
    }

    fn one_part(&mut self, part: &Part, script: &Script, words: &[Word]) {
        let simple = part.simple;
        let words: Vec<&Word> = words.iter().collect();
        let powerful = simple.assignments.iter().find(|assignment| is_powerful(&assignment.name));
        if words.is_empty() {
            return self.assignments_only(simple, powerful.map(|assignment| assignment.name.as_str()));
        }
        let view = View { argv: words, transparent: true, open: false, fed: false, tame: true };
        let mut found = self.explore(view);
        self.commands_from_input(part, script, &mut found);
        let label = shown(&found.views[0].argv);
        let acts = self.acts(simple, &found);
        let before = self.steps.len();
        self.parts_of(&label, part, &mut found, &acts);
        if self.asked.question.explain {
            self.explain(before, simple, &found, &acts);
        }
    }

    /// Everything said of one command, in order: limits and refusals, what it reads and changes, what it runs, and the rest.
    fn parts_of(&mut self, label: &str, part: &Part, found: &mut Found, acts: &Acts) {
        let simple = part.simple;
        let refused = self.refused(label, simple, found, (part.place, acts));
        let mut settled = refused.is_some();
        if let Some(step) = refused {
            let denied = step.verdict == Verdict::Deny;
            self.steps.push(step);
            if denied {
                return;
            }
        }
        self.arguments(found);
        settled |= self.restrict(label, simple.span, acts);
        let before = self.steps.len();
        for text in std::mem::take(&mut found.scripts) {
            self.inner_script(&text, simple.span);
        }
        if settled {
            return;
        }
        if let Some(why) = found.opaque.or_else(|| self.dynamic_name(found)) {
            let note = format!("\"{}\" is not understood: {why}", shown(&found.views[0].argv));
            return self.not_understood(label.to_string(), simple.span, note);
        }
        // A shell that got its whole script as text does what the script does, which is judged above.
        if self.steps.len() > before
            && wrappers::is_real_shell(&found.views[found.views.len() - 1])
            && simple.assignments.is_empty()
        {
            return;
        }
        let harmless = simple.assignments.iter().all(is_harmless);
        let (judged, rule, note) = self.permitted(simple, found, harmless, acts);
        let note = match (note, judged.1) {
            (Some(why), By::NotUnderstood) => {
                Some(format!("\"{label}\" is not understood: {why}, which a rule could be about"))
            }
            (Some(why), _) => Some(format!("\"{label}\" {why}")),
            (None, By::Mode) => Some(format!("\"{label}\" is not known to be read-only")),
            (None, _) => None,
        };
        self.push(label.to_string(), simple.span, judged, (rule, note));
    }

    /// A call of a function that the script defines before; what its body does is judged where it stands.
    pub(super) fn calls_function(&self, view: &View) -> bool {
        let word = view.argv[0];
        word.text.as_deref().is_some_and(|name| self.names.is_function(name, word.span[0]))
    }

    /// What all of its command lines do.
    fn acts(&self, simple: &Simple, found: &Found) -> Acts {
        let mut all = Acts { everyday: true, ..Acts::default() };
        for (index, view) in found.views.iter().enumerate() {
            let leaf = found.leaves.contains(&index);
            let does = if index == 0 && self.calls_function(view) {
                Acts::default()
            } else if leaf {
                acts::of(view, &self.places)
            } else {
                acts::of_wrapper(view, &self.places)
            };
            all.join(if leaf { does } else { Acts { everyday: true, ..does } });
        }
        for assignment in &simple.assignments {
            all.list.push(Act::Env(assignment.name.clone()));
            if is_powerful(&assignment.name) {
                all.unknown = all.unknown.or(Some("it sets a variable that programs obey"));
            }
        }
        all.unknown = all.unknown.or(found.unsure);
        if self.exports {
            all.unknown = all.unknown.or(Some("a variable was exported that programs may obey"));
        }
        all
    }

    pub(super) fn explore<'a>(&self, view: View<'a>) -> Found<'a> {
        let mut found = Found { views: vec![view], ..Found::default() };
        let mut at = 0;
        while at < found.views.len() + found.maybe.len() && at < MAX_VIEWS {
            let sure = at < found.views.len();
            let view = if sure { &found.views[at] } else { &found.maybe[at - found.views.len()] };
            let inner = if sure { wrappers::inner(view) } else { Vec::new() };
            let git = wrappers::without_git_options(view);
            let unsure = if sure { unknown_words::could_be_options(view) } else { None };
            if sure && inner.is_empty() {
                found.leaves.push(at);
            }
            at += 1;
            found.unsure = found.unsure.or(unsure);
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

    fn dynamic_name(&self, found: &Found) -> Option<&'static str> {
        let unknown = found.views.iter().any(|view| view.argv[0].text.is_none());
        unknown.then_some("the name of the command is not known before it runs")
    }
}
