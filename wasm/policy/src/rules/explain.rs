//! The dear fields of the trace, filled for a question that asks for them.

use super::acts::Acts;
use super::command::{shown, text};
use super::judge::{Found, Judge};
use super::pattern::{CommandPattern, Matcher, Rule};
use super::types::{By, Effect, RuleSource, Verdict};
use super::wildcard::{ANYTHING, Proof, QUOTED_SPACE, Token, matches};
use crate::shell::ast::{Simple, Word};

/// Rules shown as shadowed, at most.
const MAX_SHADOWED: usize = 20;

impl Judge<'_> {
    /// Fills the steps of one command, which begin at `first`.
    pub(super) fn explain(&mut self, first: usize, simple: &Simple, found: &Found, acts: &Acts) {
        let label = shown(&found.views[0].argv);
        let stripped = stripped(simple, found);
        let effects: Vec<Effect> = acts.list.iter().flat_map(super::acts::Act::shown).chain(unknown(acts)).collect();
        let shadowed = self.shadowed(simple, found);
        let why = self.why_not_allowed(found);
        for step in self.steps[first..].iter_mut().filter(|step| step.part == label) {
            step.stripped.clone_from(&stripped);
            step.effects.clone_from(&effects);
            step.shadowed = shadowed.iter().filter(|source| step.rule.as_ref() != Some(source)).cloned().collect();
            let open = matches!(step.verdict, Verdict::Ask | Verdict::Deny);
            if open && matches!(step.by, By::Mode | By::NotUnderstood) {
                step.why.clone_from(&why);
            }
        }
    }

    /// Every rule on commands that matches as well.
    fn shadowed(&self, simple: &Simple, found: &Found) -> Vec<RuleSource> {
        let texts: Vec<Vec<Token>> = found.views.iter().map(|view| text(&view.argv, view.open)).collect();
        let fits = |pattern: &CommandPattern| {
            pattern.any.iter().any(|pattern| texts.iter().any(|text| matches(pattern, text, Proof::Certain)))
        };
        let about = |rule: &&Rule| match &rule.matcher {
            Matcher::Command(pattern) if rule.verdict == Verdict::Allow => {
                let harmless = simple.assignments.iter().all(super::command::is_harmless);
                self.allows(pattern, simple, found, harmless)
            }
            Matcher::Command(pattern) => fits(pattern),
            _ => false,
        };
        self.asked
            .policy
            .rules
            .iter()
            .map(|rule| rule.as_ref())
            .filter(about)
            .take(MAX_SHADOWED)
            .map(|rule| rule.source.clone())
            .collect()
    }

    /// The allow rule that matches the longest beginning, and where the command leaves it.
    fn why_not_allowed(&self, found: &Found) -> Option<String> {
        let inner = &found.views[found.views.len() - 1];
        let whole = text(&inner.argv, inner.open);
        let mut nearest: Option<(usize, &Rule)> = None;
        for rule in self.asked.policy.rules.iter().filter(|rule| rule.verdict == Verdict::Allow) {
            let Matcher::Command(pattern) = &rule.matcher else { continue };
            let Some(first) = pattern.any.first() else { continue };
            let same = first.iter().zip(&whole).take_while(|(left, right)| left == right && **left != ANYTHING).count();
            let words = first[..same].split(|token| *token == Token::from(' ')).count() - 1;
            // The first word at least, or it is another program.
            let near =
                words > 0 || same == first.len() || whole.get(same).is_none_or(|token| *token == Token::from(' '));
            if same > 0 && near && nearest.is_none_or(|(known, _)| known < same) {
                nearest = Some((same, rule));
            }
        }
        let Some((same, rule)) = nearest else { return Some("no allow rule is about this program".to_string()) };
        let source = &rule.source;
        let told = format!("the nearest allow rule is \"{}\" ({})", source.rule, source.origin);
        if found.views.len() > 1 && !inner.transparent {
            return Some(format!("{told}, which does not reach through {}", shown(&found.views[0].argv[..1])));
        }
        let word = word_at(&inner.argv, &whole, same);
        Some(match word {
            Some(word) => format!("{told}; \"{word}\" is where the command differs"),
            None => format!("{told}; the command ends before the rule does"),
        })
    }
}

fn word_at(argv: &[&Word], whole: &[Token], at: usize) -> Option<String> {
    if at >= whole.len() {
        return None;
    }
    let before = whole[..at].iter().filter(|token| **token == Token::from(' ') && **token != QUOTED_SPACE).count();
    argv.get(before).map(|word| shown(&[word]))
}

/// Assignments and wrappers before the innermost command, outermost first.
fn stripped(simple: &Simple, found: &Found) -> Vec<String> {
    let assigned = simple.assignments.iter().map(|assignment| format!("{}=", assignment.name));
    let wrapped = found.views.windows(2).filter_map(|pair| {
        let (outer, inner) = (&pair[0].argv, &pair[1].argv);
        let before = outer.len().checked_sub(inner.len()).filter(|before| *before > 0)?;
        Some(shown(&outer[..before]))
    });
    assigned.chain(wrapped).collect()
}

fn unknown(acts: &Acts) -> Option<Effect> {
    let what = acts.unknown.or(acts.files.then_some("it changes files that its words do not name"))?;
    Some(Effect { kind: "unknown".to_string(), what: what.to_string(), ..Effect::default() })
}
