//! From a question to a decision: rules on the tool, then each effect, then the mode.

use super::Policy;
use super::effects::Effects;
use super::hosts;
use super::paths::{PathValue, Places, normalize};
use super::pattern::{Access, Matcher, Rule};
use super::tools::{self, EDITING, EXECUTING, READING};
use super::types::{Asks, By, Decision, Effect, Mode, PolicyQuestion, Required, RuleSource, TraceStep, Verdict};
use super::wildcard::{Proof, matches, tokens};

/// A verdict with what decided, and the rule and the sentence behind it.
pub(crate) type Judged = ((Verdict, By), (Option<RuleSource>, Option<String>));

/// What every judgement needs.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'q> {
    pub(crate) policy: &'q Policy,
    pub(crate) question: &'q PolicyQuestion,
    pub(crate) tool: &'q str,
    /// A rule that allows every call of the tool.
    pub(crate) tool_allow: Option<&'q Rule>,
}

pub(crate) fn decide(policy: &Policy, question: &PolicyQuestion) -> Decision {
    let mut asked = Asked { policy, question, tool: tools::canonical(&question.tool), tool_allow: None };
    let mut trace = Vec::new();
    for verdict in [Verdict::Deny, Verdict::Ask, Verdict::Allow] {
        let about = |rule: &&Rule| asked.is_about_tool(rule);
        let paths = || question.effects.is_empty().then(|| policy.on_paths(verdict).find(about)).flatten();
        let Some(rule) = policy.on_calls(verdict).find(about).or_else(paths) else { continue };
        match verdict {
            Verdict::Allow => asked.tool_allow = Some(rule),
            _ => trace.push(TraceStep {
                rule: Some(rule.source.clone()),
                ..TraceStep::new(asked.tool.to_string(), None, (verdict, By::Rule))
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
    conclude(question, trace)
}

pub(crate) fn step(part: String, judged: (Verdict, By), why: (Option<RuleSource>, Option<String>)) -> TraceStep {
    TraceStep { rule: why.0, note: why.1, ..TraceStep::new(part, None, judged) }
}

/// The strictest step decides. Mode read-only never asks (A7), and neither does a session in which nobody shall be asked.
fn conclude(question: &PolicyQuestion, trace: Vec<TraceStep>) -> Decision {
    let strictest = trace.iter().map(|step| step.verdict).max().unwrap_or(Verdict::Deny);
    let Some(step) = trace.iter().find(|step| step.verdict == strictest) else {
        return Decision::malformed("it names no effect");
    };
    let silent = question.mode == Mode::ReadOnly || question.asks == Asks::Deny;
    let verdict = if silent && strictest == Verdict::Ask { Verdict::Deny } else { strictest };
    let (by, rule) = (step.by, step.rule.clone());
    let mut reason = reason(verdict, step, question.mode);
    if verdict != strictest && question.mode != Mode::ReadOnly {
        reason.push_str("; it would ask, and this session asks nobody");
    }
    Decision { verdict, reason, by, rule, trace }
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
        (_, Some(rule), _) => {
            let why = rule.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("\"{part}\" {done} by the rule \"{}\" ({}){why}", rule.rule, rule.origin)
        }
        (_, _, By::ReadOnlyTable) => format!("\"{part}\" only reads, so it {done} in mode {}", mode.name()),
        _ => format!("\"{part}\" {done} in mode {}", mode.name()),
    }
}

impl Mode {
    pub(crate) fn name(self) -> &'static str {
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

    /// Whether the rule speaks of the call as a whole, and no exception of it does.
    fn is_about_tool(&self, rule: &Rule) -> bool {
        self.names(rule, &rule.matcher) && !rule.except.iter().any(|carved| self.carves(rule, carved))
    }

    fn names(&self, rule: &Rule, matcher: &Matcher) -> bool {
        match matcher {
            Matcher::Tool(_, "bash") => EXECUTING.contains(&self.tool),
            Matcher::Tool(_, "edit_file") => EDITING.contains(&self.tool),
            Matcher::Tool(_, "read_file") => READING.contains(&self.tool),
            Matcher::Tool(pattern, _) => matches(pattern, &tokens(self.tool), Proof::Certain),
            Matcher::Param { tool, names, value } => {
                let given = names.iter().find_map(|name| self.question.params.get(name));
                *tool == self.tool && given.is_some_and(|given| matches(value, &tokens(given), Proof::Certain))
            }
            // A call whose effects are not told is judged by its parameter.
            Matcher::Host { tool, host } if self.question.effects.is_empty() => {
                let proof = if rule.verdict == Verdict::Allow { Proof::Strict } else { Proof::Certain };
                let bound = if tool.is_empty() { self.tool == "WebFetch" } else { *tool == self.tool };
                let url = self.question.params.get("url").filter(|_| bound);
                url.is_some_and(|url| host.covers(&hosts::of_url(url), proof))
            }
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

    /// Whether an exception covers the whole call.
    fn carves(&self, rule: &Rule, carved: &Matcher) -> bool {
        let effects = &self.question.effects;
        let places = Places::of(self.question);
        let covers = |effect: &Effect| match carved {
            Matcher::Path { path, access, .. } => {
                let same = (*access == Access::Read) == (effect.kind == "read");
                let value = PathValue::Known(vec![normalize(&effect.path)]);
                !effect.path.is_empty() && same && places.covers(path, &value, Proof::Strict)
            }
            Matcher::Host { host, .. } => {
                effect.kind == "net" && host.covers(&hosts::target(&effect.host, effect.port), Proof::Strict)
            }
            _ => false,
        };
        match carved {
            Matcher::Path { .. } | Matcher::Host { .. } => !effects.is_empty() && effects.iter().all(covers),
            _ => self.names(rule, carved),
        }
    }

    fn by_tool(&self) -> Judged {
        match self.tool_allow.filter(|_| self.lifts(self.question.required)) {
            Some(rule) => ((Verdict::Allow, By::Rule), (Some(rule.source.clone()), None)),
            None => self.by_required(self.question.required),
        }
    }

    /// No rule lifts mode read-only.
    pub(crate) fn lifts(&self, needs: Required) -> bool {
        self.question.mode != Mode::ReadOnly || needs == Required::ReadOnly
    }

    pub(crate) fn by_required(&self, needs: Required) -> Judged {
        ((self.by_mode(needs), By::Mode), (None, None))
    }
}
