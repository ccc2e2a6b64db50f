//! From a question to a decision: rules on the tool, then each effect, then the mode.

use super::Policy;
use super::judge::Judge;
use super::paths::{PathValue, Places, normalize};
use super::pattern::{Access, Matcher, Rule};
use super::tools::{self, EDITING, READING};
use super::types::{By, Decision, Effect, Mode, PolicyQuestion, Required, RuleSource, TraceStep, Verdict};
use super::wildcard::{Proof, matches, tokens};

/// Devices that take or give anything and keep nothing.
const STREAMS: [&str; 7] =
    ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero", "/dev/full"];

type Judged = ((Verdict, By), (Option<RuleSource>, Option<String>));

/// What every judgement needs.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'q> {
    pub(crate) policy: &'q Policy,
    pub(crate) question: &'q PolicyQuestion,
    pub(crate) tool: &'q str,
    /// A rule that allows every call of the tool.
    pub(crate) tool_allow: Option<&'q Rule>,
}

/// What an unknown part of a path counts for, where it could be what a rule is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    Ignored,
    /// Only for rules that a person wrote. The built-in ones are about what the sandbox hides anyway.
    CountsForOwnRules,
    Counts,
}

/// Judges effects on paths.
pub(crate) struct Effects<'q, 'p> {
    pub(crate) places: &'p Places<'q>,
    pub(crate) asked: Asked<'q>,
}

pub(crate) fn decide(policy: &Policy, question: &PolicyQuestion) -> Decision {
    let mut asked = Asked { policy, question, tool: tools::canonical(&question.tool), tool_allow: None };
    let mut trace = Vec::new();
    for verdict in [Verdict::Deny, Verdict::Ask, Verdict::Allow] {
        let Some(rule) = policy.rules.iter().find(|rule| rule.verdict == verdict && asked.is_about_tool(rule)) else {
            continue;
        };
        match verdict {
            Verdict::Allow => asked.tool_allow = Some(rule),
            _ => trace.push(TraceStep {
                part: asked.tool.to_string(),
                span: None,
                verdict,
                by: By::Rule,
                rule: Some(rule.source.clone()),
                note: None,
            }),
        }
    }
    let places = Places::of(question);
    let effects = Effects { places: &places, asked };
    for effect in &question.effects {
        effects.judge(effect, &mut trace);
    }
    if question.effects.is_empty() {
        let (judged, why) = asked.by_tool();
        trace.push(step(asked.tool.to_string(), judged, why));
    }
    conclude(question.mode, trace)
}

fn step(part: String, judged: (Verdict, By), why: (Option<RuleSource>, Option<String>)) -> TraceStep {
    TraceStep { part, span: None, verdict: judged.0, by: judged.1, rule: why.0, note: why.1 }
}

/// The strictest step decides. Mode read-only never asks (A7).
fn conclude(mode: Mode, trace: Vec<TraceStep>) -> Decision {
    let strictest = trace.iter().map(|step| step.verdict).max().unwrap_or(Verdict::Deny);
    let Some(step) = trace.iter().find(|step| step.verdict == strictest) else {
        return Decision::malformed("it names no effect");
    };
    let verdict = if mode == Mode::ReadOnly && strictest == Verdict::Ask { Verdict::Deny } else { strictest };
    let (by, rule) = (step.by, step.rule.clone());
    Decision { verdict, reason: reason(verdict, step, mode), by, rule, trace }
}

fn reason(verdict: Verdict, step: &TraceStep, mode: Mode) -> String {
    let done = match verdict {
        Verdict::Deny => "is denied",
        Verdict::Ask => "needs approval",
        Verdict::Allow | Verdict::None => "is allowed",
    };
    let part = &step.part;
    match (&step.note, &step.rule, step.by) {
        (Some(note), _, By::Boundary) => note.clone(),
        (Some(note), _, By::Mode | By::NotUnderstood) => format!("{note}, so it {done} in mode {}", mode.name()),
        (_, Some(rule), _) => format!("\"{part}\" {done} by the rule \"{}\" ({})", rule.rule, rule.origin),
        (_, _, By::ReadOnlyTable) => format!("\"{part}\" only reads, so it {done} in mode {}", mode.name()),
        _ => format!("\"{part}\" {done} in mode {}", mode.name()),
    }
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Mode::ReadOnly => "read-only",
            Mode::WorkspaceWrite => "workspace-write",
            Mode::DangerFullAccess => "danger-full-access",
            Mode::Prompt => "prompt",
            Mode::Allow => "allow",
        }
    }
}

impl<'q> Asked<'q> {
    /// The seed's matrix (A7): what the mode says of a call that no rule is about.
    pub(crate) fn by_mode(&self, needs: Required) -> Verdict {
        match (self.question.mode, needs) {
            (Mode::Prompt, _) => Verdict::Ask,
            (_, Required::ReadOnly) => Verdict::Allow,
            (Mode::ReadOnly, _) => Verdict::Deny,
            (Mode::WorkspaceWrite, Required::DangerFullAccess) => Verdict::Ask,
            _ => Verdict::Allow,
        }
    }

    /// What is not understood is never allowed by a rule; a mode that allows everything still does, if no rule could be evaded.
    pub(crate) fn unknown(&self) -> Verdict {
        match self.question.mode {
            Mode::ReadOnly => Verdict::Deny,
            Mode::DangerFullAccess | Mode::Allow if !self.policy.restricts() => Verdict::Allow,
            _ => Verdict::Ask,
        }
    }

    pub(crate) fn has_read_rules(&self) -> bool {
        self.policy.rules.iter().any(|rule| {
            let reading =
                matches!(rule.matcher, Matcher::Path { access: Access::Read, .. } | Matcher::Tool(_, "read_file"));
            reading && rule.verdict != Verdict::Allow
        })
    }

    fn is_about_tool(&self, rule: &Rule) -> bool {
        match &rule.matcher {
            Matcher::Tool(_, "edit_file") => EDITING.contains(&self.tool),
            Matcher::Tool(_, "read_file") => READING.contains(&self.tool),
            Matcher::Tool(pattern, _) => matches(pattern, &tokens(self.tool), Proof::Certain),
            Matcher::Param { tool, names, value } => {
                let given = names.iter().find_map(|name| self.question.params.get(name));
                *tool == self.tool && given.is_some_and(|given| matches(value, &tokens(given), Proof::Certain))
            }
            // A call whose effects are not told is judged by its parameter.
            Matcher::Path { tool, path, .. } if rule.verdict != Verdict::Allow && self.question.effects.is_empty() => {
                let places = Places::of(self.question);
                let given = tools::PATHS.iter().find_map(|name| self.question.params.get(*name));
                let bound = *tool == self.tool
                    || (*tool == "read_file" && READING.contains(&self.tool))
                    || (*tool == "edit_file" && EDITING.contains(&self.tool));
                bound && given.is_some_and(|given| places.covers(path, &places.resolve_text(given), Proof::Certain))
            }
            _ => false,
        }
    }

    fn by_tool(&self) -> Judged {
        match self.tool_allow.filter(|_| self.lifts(self.question.required)) {
            Some(rule) => ((Verdict::Allow, By::Rule), (Some(rule.source.clone()), None)),
            None => self.by_required(self.question.required),
        }
    }

    /// No rule lifts mode read-only.
    fn lifts(&self, needs: Required) -> bool {
        self.question.mode != Mode::ReadOnly || needs == Required::ReadOnly
    }

    fn by_required(&self, needs: Required) -> Judged {
        ((self.by_mode(needs), By::Mode), (None, None))
    }

    /// The first rule of the list about this use of the path.
    fn path_rule(&self, verdict: Verdict, access: Access, covers: impl Fn(&Rule) -> bool) -> Option<&'q Rule> {
        let restricts = verdict != Verdict::Allow;
        self.policy.rules.iter().filter(|rule| rule.verdict == verdict).find(|rule| match &rule.matcher {
            Matcher::Path { access: about, tool, .. } => {
                let same_use = *about == access || (*about == Access::Write && access == Access::Delete);
                let general = matches!(*tool, "" | "read_file" | "edit_file");
                let same_tool = general || *tool == self.tool || (restricts && access != Access::Read);
                same_use && same_tool && covers(rule)
            }
            Matcher::Tool(_, "read_file") => access == Access::Read,
            Matcher::Tool(_, "edit_file") => access != Access::Read,
            Matcher::Tool(_, "write_file") => access != Access::Read && (restricts && self.tool == "bash"),
            _ => false,
        })
    }
}

impl Effects<'_, '_> {
    fn judge(&self, effect: &Effect, trace: &mut Vec<TraceStep>) {
        let path = PathValue::Known(vec![normalize(&effect.path)]);
        match effect.kind.as_str() {
            "exec" => {
                let mut judge = Judge::new(self.asked);
                judge.source(&effect.command);
                trace.append(&mut judge.steps);
            }
            "read" => {
                let (judged, why) = self.read(&path);
                trace.push(step(effect.path.clone(), judged, why));
            }
            "write" | "delete" => {
                let access = if effect.kind == "write" { Access::Write } else { Access::Delete };
                let (judged, why) = self.write(access, &path);
                trace.push(step(effect.path.clone(), judged, why));
            }
            "net" => {
                let (judged, why) = self.outside(&effect.host, false);
                trace.push(step(effect.host.clone(), judged, why));
            }
            _ => {
                let (judged, why) = self.outside(&effect.what, true);
                trace.push(step(effect.what.clone(), judged, why));
            }
        }
    }

    /// `deny` and `ask` rules about a path; a path with unknown parts that could be meant asks as `doubt` says.
    pub(crate) fn restricted(
        &self,
        access: Access,
        path: &PathValue,
        doubt: Doubt,
    ) -> Option<((Verdict, By), RuleSource)> {
        let rule = |verdict, proof| {
            self.asked.path_rule(verdict, access, |rule| match &rule.matcher {
                _ if proof == Proof::Possible && doubt != Doubt::Counts && rule.source.layer == "built-in" => false,
                Matcher::Path { path: pattern, .. } => self.places.covers(pattern, path, proof),
                _ => true,
            })
        };
        if let Some(rule) = rule(Verdict::Deny, Proof::Certain) {
            return Some(((Verdict::Deny, By::Rule), rule.source.clone()));
        }
        if let Some(rule) = rule(Verdict::Ask, Proof::Certain) {
            return Some(((Verdict::Ask, By::Rule), rule.source.clone()));
        }
        let possible = (doubt != Doubt::Ignored)
            .then(|| rule(Verdict::Deny, Proof::Possible).or_else(|| rule(Verdict::Ask, Proof::Possible)))??;
        Some(((Verdict::Ask, By::NotUnderstood), possible.source.clone()))
    }

    fn allowed(&self, access: Access, path: &PathValue) -> Option<RuleSource> {
        let rule = self.asked.path_rule(Verdict::Allow, access, |rule| match &rule.matcher {
            Matcher::Path { path: pattern, .. } => self.places.covers(pattern, path, Proof::Strict),
            _ => true,
        });
        rule.map(|rule| rule.source.clone())
    }

    fn read(&self, path: &PathValue) -> Judged {
        if let Some((judged, rule)) = self.restricted(Access::Read, path, Doubt::Counts) {
            return (judged, (Some(rule), None));
        }
        let tool = self.asked.tool_allow.map(|rule| rule.source.clone());
        match tool.or_else(|| self.allowed(Access::Read, path)) {
            Some(rule) => ((Verdict::Allow, By::Rule), (Some(rule), None)),
            None => self.asked.by_required(Required::ReadOnly),
        }
    }

    /// Judges a write: limits, rules, then whether it stays in the workspace.
    pub(crate) fn write(&self, access: Access, path: &PathValue) -> Judged {
        if let PathValue::Known(paths) = path {
            if paths.iter().any(|path| super::critical::is_disk(path)) {
                let note = "A disk is never written to".to_string();
                return ((Verdict::Deny, By::Boundary), (None, Some(note)));
            }
            if paths.iter().all(|path| STREAMS.contains(&path.as_str()) || path.starts_with("/dev/fd/")) {
                return ((Verdict::Allow, By::ReadOnlyTable), (None, None));
            }
        }
        if let Some((judged, rule)) = self.restricted(access, path, Doubt::Counts) {
            return (judged, (Some(rule), None));
        }
        let inside = self.places.is_workspace(path);
        let needs = if inside { Required::WorkspaceWrite } else { Required::DangerFullAccess };
        let own = self.asked.tool_allow.filter(|_| self.asked.tool != "bash").map(|rule| rule.source.clone());
        match own.or_else(|| self.allowed(access, path)).filter(|_| self.asked.lifts(needs)) {
            Some(rule) => ((Verdict::Allow, By::Rule), (Some(rule), None)),
            None => {
                let note = (!inside).then(|| {
                    "The path is outside the workspace, or one that tools outside the sandbox obey".to_string()
                });
                ((self.asked.by_mode(needs), By::Mode), (None, note))
            }
        }
    }

    /// A host, or something unknown.
    fn outside(&self, subject: &str, unknown: bool) -> Judged {
        let about = |rule: &&Rule| match &rule.matcher {
            Matcher::Host(pattern) if !unknown => {
                matches(pattern, &tokens(&subject.to_ascii_lowercase()), Proof::Certain)
            }
            Matcher::Unknown(pattern) if unknown => matches(pattern, &tokens(subject), Proof::Certain),
            _ => false,
        };
        for verdict in [Verdict::Deny, Verdict::Ask, Verdict::Allow] {
            let rule = self.asked.policy.rules.iter().filter(|rule| rule.verdict == verdict).find(about);
            let rule = rule.or(self.asked.tool_allow.filter(|_| verdict == Verdict::Allow));
            if let Some(rule) =
                rule.filter(|_| verdict != Verdict::Allow || self.asked.lifts(self.asked.question.required))
            {
                return ((verdict, By::Rule), (Some(rule.source.clone()), None));
            }
        }
        let needs = if unknown { Required::DangerFullAccess } else { self.asked.question.required };
        self.asked.by_required(needs)
    }
}
