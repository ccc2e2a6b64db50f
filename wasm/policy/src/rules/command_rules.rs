//! Which rule, table or mode speaks of a simple command.

use super::acts::{Act, Acts};
use super::acts_git;
use super::command::{is_harmless, is_powerful, system_name, text};
use super::effects::is_stream;
use super::judge::{Found, Judge};
use super::paths::{PathValue, Places, is_inside};
use super::pattern::{Access, CommandPattern, Matcher, Rule};
use super::read_only;
use super::shell_only;
use super::types::{By, Mode, Required, RuleSource, Verdict};
use super::wildcard::{Proof, Token, is_unknown, matches};
use super::wrappers::{View, program};
use crate::shell::ast::{Assignment, Simple, Word};

/// A verdict, the rule behind it, and what is not known of the command where that decided.
pub(super) type Permitted = ((Verdict, By), Option<RuleSource>, Option<String>);

impl<'q> Judge<'q> {
    /// The first rule of this list that matches any command line, and whether the match is certain.
    pub(super) fn command_rule(
        &self,
        verdict: Verdict,
        simple: &Simple,
        found: &Found,
        acts: &Acts,
    ) -> Option<(&'q Rule, bool)> {
        let texts = &found.texts(simple).any;
        let any = |rule: &Rule, proof| match &rule.matcher {
            Matcher::Command(pattern) => {
                let mut views = found.views.iter().chain(&found.maybe);
                pattern.any.iter().any(|pattern| texts.iter().any(|text| matches(pattern, text, proof)))
                    || pattern.flags.as_ref().is_some_and(|flags| views.any(|view| flags.matches(view, proof)))
            }
            _ => false,
        };
        let carved = |rule: &Rule| {
            let harmless = simple.assignments.iter().all(is_harmless) && !self.exports;
            let exempt = |matcher: &Matcher| match matcher {
                Matcher::Command(pattern) => {
                    found.opaque.is_none() && found.unsure.is_none() && self.allows(pattern, simple, found, harmless)
                }
                _ => false,
            };
            !rule.except.is_empty() && (rule.except.iter().any(exempt) || self.carved_by_acts(rule, acts))
        };
        let any = |rule: &Rule, proof| any(rule, proof) && !carved(rule);
        let rules = || self.asked.policy.on_commands(verdict);
        let certain = rules().find(|rule| any(rule, Proof::Certain)).map(|rule| (rule, true));
        if !found.texts(simple).doubtful {
            return certain;
        }
        certain.or_else(|| rules().find(|rule| any(rule, Proof::Possible)).map(|rule| (rule, false)))
    }

    /// `allow` rules, the read-only table, then the mode.
    pub(super) fn permitted(&self, simple: &Simple, found: &Found, harmless: bool, acts: &Acts) -> Permitted {
        let inner = &found.views[found.views.len() - 1];
        if self.asked.question.mode != Mode::ReadOnly {
            let whole = self.asked.tool_allow.filter(|_| found.unsure.is_none() || self.evades(acts).is_none());
            let sure = || found.unsure.is_none();
            let rule =
                whole.or_else(|| sure().then(|| self.allow_rule(simple, found, harmless && !self.exports)).flatten());
            if let Some(rule) = rule {
                return match self.outside(rule, acts) {
                    Some(note) => ((self.asked.by_mode(Required::DangerFullAccess), By::Boundary), None, Some(note)),
                    None => ((Verdict::Allow, By::Rule), Some(rule.source.clone()), None),
                };
            }
        }
        let git_elsewhere = program(inner) == Some("git") && !self.in_a_root(inner);
        let ignored = simple.assignments.iter().all(|assignment| leaves_alone(assignment, inner));
        let table =
            (harmless || ignored) && inner.tame && found.scripts.is_empty() && !git_elsewhere && found.unsure.is_none();
        let runs_itself = found.views.len() == 1 && (shell_only::is_shell_only(inner) || self.calls_function(inner));
        let reads = table && (read_only::is_read_only(inner) || runs_itself);
        if reads || harmless && searches_only(found) {
            return ((self.asked.by_mode(Required::ReadOnly), By::ReadOnlyTable), None, None);
        }
        let known = harmless && inner.tame && found.scripts.is_empty();
        if known && keeps_nothing(acts) {
            return ((self.asked.by_mode(Required::ReadOnly), By::ReadOnlyTable), None, None);
        }
        if let Some(written) = known.then(|| self.workspace_writes(inner)).flatten() {
            return ((written.0, written.1), written.2, None);
        }
        if let Some(rule) = known.then(|| self.allowed_acts(acts)).flatten() {
            return ((Verdict::Allow, By::Rule), Some(rule), None);
        }
        let verdict = self.asked.by_mode(Required::DangerFullAccess);
        let why = if verdict == Verdict::Allow { self.evades(acts) } else { found.unsure };
        match why {
            Some(why) => ((verdict.max(Verdict::Ask), By::NotUnderstood), None, Some(why.to_string())),
            None => ((verdict, By::Mode), None, None),
        }
    }

    /// An `allow` rule speaks of the innermost command line; of a wrapper's only if it spells out what is wrapped.
    fn allow_rule(&self, simple: &Simple, found: &Found, harmless: bool) -> Option<&'q Rule> {
        let allowed = |rule: &&Rule| match &rule.matcher {
            Matcher::Command(pattern) => self.allows(pattern, simple, found, harmless),
            _ => false,
        };
        self.asked.policy.on_commands(Verdict::Allow).find(allowed)
    }

    pub(super) fn allows(&self, pattern: &CommandPattern, simple: &Simple, found: &Found, harmless: bool) -> bool {
        let texts = found.texts(simple);
        let fits = |text: &[Token]| pattern.any.iter().any(|pattern| matches(pattern, text, Proof::Strict));
        if harmless
            && let Some((inner, folder)) = &texts.inner
            && (fits(inner) || *folder > 0 && fits(&inner[*folder..]))
        {
            return true;
        }
        let spelled = found.views.len() == 1 || pattern.fixed > texts.wrapped;
        spelled && (harmless && fits(&texts.outer) || texts.assigned.as_ref().is_some_and(|text| fits(text)))
    }

    /// Git obeys the configuration of the repository that it stands in. Inside a root that is the root's own, whose
    /// settings are closed to writing, or one below it, whose `.git` is closed too; a bare repository that came as plain
    /// files is not obeyed, since commands of tools run with safe.bareRepository=explicit.
    fn in_a_root(&self, view: &View) -> bool {
        let question = self.asked.question;
        let trusted = |cwd: &String| {
            question.roots.iter().any(|root| is_inside(cwd, root)) || *cwd == super::paths::normalize(&question.cwd)
        };
        let mut cwds = self.places.cwds.clone();
        for folder in acts_git::line(&view.argv[1..]).folders {
            let within = Places { cwds: cwds.clone(), ..self.places.clone() };
            match within.resolve(folder) {
                PathValue::Known(paths) => cwds.extend(paths),
                PathValue::Partly(_) => return false,
            }
        }
        !cwds.is_empty() && cwds.iter().all(trusted)
    }
}

/// `tee /dev/stderr`: all that it writes goes to devices that keep nothing.
fn keeps_nothing(acts: &Acts) -> bool {
    let stream = |act: &Act| match act {
        Act::Path { access: Access::Write, path: PathValue::Known(paths), .. } => {
            paths.iter().all(|path| is_stream(path))
        }
        _ => false,
    };
    acts.complete() && !acts.list.is_empty() && acts.list.iter().all(stream)
}

/// `find -exec` with commands that only read.
fn searches_only(found: &Found) -> bool {
    let Some((find, inner)) = found.views.split_first().filter(|(_, inner)| !inner.is_empty()) else { return false };
    let real = find.argv[0].text.as_deref().map(system_name) == Some("find");
    let runs_directly = found.leaves.len() == inner.len() && found.maybe.is_empty() && found.scripts.is_empty();
    real && runs_directly && read_only::finds_only(&find.argv[1..]) && inner.iter().all(read_only::is_read_only)
}

/// Builtins and programs of the table that obey no variable but those with power over every program. Not tar, which has
/// TAR_OPTIONS, nor git, file, xz, dpkg and others.
const HEEDLESS: [&str; 52] = [
    ":",
    "[",
    "awk",
    "basename",
    "cat",
    "cd",
    "cmp",
    "comm",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "expand",
    "expr",
    "false",
    "fgrep",
    "find",
    "fold",
    "grep",
    "head",
    "id",
    "join",
    "jq",
    "ls",
    "md5sum",
    "nl",
    "nproc",
    "od",
    "paste",
    "printenv",
    "printf",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "sed",
    "seq",
    "sha1sum",
    "sha256sum",
    "sleep",
    "sort",
    "stat",
    "tac",
    "tail",
    "test",
    "tr",
    "true",
    "wc",
];

/// Whether a variable set for this command alone can change nothing about it: the tools of POSIX and the builtins read
/// none but those with power over every program.
fn leaves_alone(assignment: &Assignment, inner: &View) -> bool {
    let scalar = !assignment.array && assignment.subscript.is_none();
    // `IFS= read -r line`: the separator holds for this builtin alone.
    let separates = assignment.name == "IFS" && inner.argv[0].text.as_deref() == Some("read");
    let plain = !is_powerful(&assignment.name) && program(inner).is_some_and(|name| HEEDLESS.contains(&name));
    scalar && (plain || separates)
}

/// The texts of a command that rules are compared with; made once.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// Each that a `deny` or `ask` rule may match.
    any: Vec<Vec<Token>>,
    /// Some part of them is not known.
    doubtful: bool,
    /// The innermost command line, if it is all that counts, and where its name begins behind a folder of the system.
    inner: Option<(Vec<Token>, usize)>,
    outer: Vec<Token>,
    /// Tokens of the wrappers.
    wrapped: usize,
    assigned: Option<Vec<Token>>,
}

impl Found<'_> {
    pub(super) fn texts(&self, simple: &Simple) -> &Texts {
        self.texts.get_or_init(|| Texts::of(self, simple))
    }
}

impl Texts {
    fn of(found: &Found, simple: &Simple) -> Texts {
        let mut made = Texts { assigned: with_assignments(simple, &found.views[0].argv), ..Texts::default() };
        let last = found.views.len() - 1;
        for (index, view) in found.views.iter().chain(&found.maybe).enumerate() {
            let whole = text(&view.argv, view.open);
            let name = view.argv[0].text.as_deref().unwrap_or_default();
            let letters = name.chars().count();
            if index == last {
                // Without what is added behind an open one.
                let own = whole.len() - if view.open { 2 } else { 0 };
                made.wrapped = made.outer.len().saturating_sub(own);
                let folder = letters - system_name(name).chars().count();
                made.inner = view.transparent.then(|| (whole.clone(), folder.min(whole.len())));
            }
            if index == 0 {
                made.outer.clone_from(&whole);
            }
            let folder = whole[..letters.min(whole.len())].iter().rposition(|token| *token == Token::from('/'));
            if let Some(folder) = folder {
                made.any.push(whole[folder + 1..].to_vec());
            }
            made.any.push(whole);
        }
        made.any.extend(made.assigned.clone());
        made.doubtful = made.any.iter().any(|text| text.iter().any(|token| is_unknown(*token)));
        made
    }
}

/// The text of a command with its assignments before it, as a rule may spell it out.
fn with_assignments(simple: &Simple, words: &[&Word]) -> Option<Vec<Token>> {
    if simple.assignments.is_empty()
        || simple.assignments.iter().any(|assignment| assignment.array || assignment.subscript.is_some())
    {
        return None;
    }
    let mut made = Vec::new();
    for assignment in &simple.assignments {
        let sign = if assignment.append { "+=" } else { "=" };
        made.extend(super::wildcard::tokens(&format!("{}{sign}", assignment.name)));
        made.extend(text(&assignment.values.iter().collect::<Vec<_>>(), false));
        made.push(Token::from(' '));
    }
    made.extend(text(words, false));
    Some(made)
}
