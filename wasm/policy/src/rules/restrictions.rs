//! `deny` and `ask` rules, and limits, on what a command does; and what is allowed because each thing that it does is.

use super::acts::{Act, Acts};
use super::critical;
use super::decide::Judged;
use super::effects::{Doubt, Effects, is_stream};
use super::hosts::Target;
use super::judge::Judge;
use super::paths::PathValue;
use super::pattern::{Access, Matcher, Rule};
use super::types::{By, Mode, Required, RuleSource, Verdict};
use super::wildcard::Proof;
use crate::shell::ast::Span;

impl<'q> Judge<'q> {
    /// Notes the strictest refusal of anything that the command does; true if there is one.
    pub(super) fn restrict(&mut self, label: &str, span: Span, acts: &Acts) -> bool {
        let effects = Effects { places: &self.places, asked: self.asked };
        let mut strictest: Option<Judged> = None;
        for act in &acts.list {
            let Some(judged) = restriction(&effects, act) else { continue };
            if strictest.as_ref().is_none_or(|known| known.0.0 < judged.0.0) {
                strictest = Some(judged);
            }
        }
        let unknown = acts.unknown.and_then(|_| effects.other_restricted("unknown", label));
        if let Some(rule) = unknown.filter(|rule| strictest.as_ref().is_none_or(|known| known.0.0 < rule.verdict)) {
            strictest = Some(((rule.verdict, By::Rule), (Some(rule.source.clone()), None)));
        }
        let Some((judged, why)) = strictest else { return false };
        self.push(label.to_string(), span, judged, why);
        true
    }

    /// The rule that allows everything the command does, if all of it is known and allowed.
    pub(super) fn allowed_acts(&self, acts: &Acts) -> Option<RuleSource> {
        if !acts.complete() || self.asked.question.mode == Mode::ReadOnly {
            return None;
        }
        let effects = Effects { places: &self.places, asked: self.asked };
        let downloads = acts.list.iter().any(|act| matches!(act, Act::Net(..)));
        let mut found = None;
        for act in &acts.list {
            let rule = match act {
                Act::Path { access, path, .. } => effects.allowed(*access, path),
                Act::Net(target, _) => {
                    effects.host_rule(Verdict::Allow, target, Proof::Strict).map(|rule| rule.source.clone())
                }
                Act::Privilege(_) | Act::Env(_) => None,
            };
            // What is fetched from an allowed host may be kept where the mode lets the workspace be written.
            let by_mode = downloads
                && matches!(act, Act::Path { path, .. } if self.places.is_workspace(path))
                && self.asked.by_mode(Required::WorkspaceWrite) == Verdict::Allow;
            if rule.is_none() && !by_mode {
                return None;
            }
            found = found.or(rule);
        }
        found
    }

    /// A rule that allows a program allows what it does in the workspace: a write elsewhere is judged like a redirection, unless
    /// the rule spells the whole command out, or another one allows the path.
    pub(super) fn outside(&self, rule: &Rule, acts: &Acts) -> Option<String> {
        let exact = matches!(&rule.matcher, Matcher::Command(pattern) if pattern.any.len() == 1 && pattern.fixed == pattern.any[0].len());
        if exact || self.asked.by_mode(Required::DangerFullAccess) == Verdict::Allow {
            return None;
        }
        let effects = Effects { places: &self.places, asked: self.asked };
        let outside = acts.list.iter().find_map(|act| match act {
            Act::Path { access, path, .. } if effects.allowed(*access, path).is_none() => self.places.outside(path),
            _ => None,
        })?;
        Some(format!(
            "writes to \"{outside}\", outside the workspace or a file that tools outside the sandbox obey, so a person must answer"
        ))
    }

    /// Why a rule that a person wrote could be evaded by what is not known of the command.
    pub(super) fn evades(&self, acts: &Acts) -> Option<&'static str> {
        let own = self.asked.policy.own;
        let any = own.commands || own.paths || own.hosts;
        match acts.unknown {
            Some(why) if any => Some(why),
            _ if acts.files && own.paths => Some("which files it changes is not known"),
            _ => None,
        }
    }

    /// Whether an exception of a rule on commands covers everything that this command does.
    pub(super) fn carved_by_acts(&self, rule: &Rule, acts: &Acts) -> bool {
        let covers = |act: &Act, carved: &Matcher| match (act, carved) {
            (Act::Path { access, path, .. }, Matcher::Path { access: about, path: pattern, .. }) => {
                let same = about == access || *about == Access::Write && *access == Access::Delete;
                same && self.places.covers(pattern, path, Proof::Strict)
            }
            (Act::Net(target, _), Matcher::Host { host, .. }) => host.covers(target, Proof::Strict),
            _ => false,
        };
        acts.complete()
            && !acts.list.is_empty()
            && acts.list.iter().all(|act| rule.except.iter().any(|carved| covers(act, carved)))
    }
}

fn restriction(effects: &Effects, act: &Act) -> Option<Judged> {
    match act {
        Act::Path { access, path, whole } => path_restriction(effects, *access, path, *whole),
        Act::Net(target, host) => {
            let (judged, rule) = effects.host_restricted(target)?;
            let doubtful = judged.1 == By::NotUnderstood && *target == Target::Unknown;
            let note = doubtful.then(|| format!("It may connect to {host}, which a rule could be about"));
            Some((judged, (Some(rule), note)))
        }
        Act::Privilege(what) => {
            let rule = effects.other_restricted("privilege", what)?;
            Some(((rule.verdict, By::Rule), (Some(rule.source.clone()), None)))
        }
        Act::Env(name) => {
            let rule = effects.other_restricted("env", name)?;
            Some(((rule.verdict, By::Rule), (Some(rule.source.clone()), None)))
        }
    }
}

fn path_restriction(effects: &Effects, access: Access, path: &PathValue, whole: bool) -> Option<Judged> {
    // `tee /dev/null` keeps nothing, as a redirection there does. Removing it is another thing.
    if access == Access::Write && matches!(path, PathValue::Known(paths) if paths.iter().all(|path| is_stream(path))) {
        return None;
    }
    if matches!(path, PathValue::Known(paths) if paths.iter().any(|path| critical::is_disk(path))) {
        let note = "A disk is never written to".to_string();
        return Some(((Verdict::Deny, By::Boundary), (None, Some(note))));
    }
    let restricted = effects.restricted(access, path, Doubt::CountsForOwnRules);
    let inside = || whole.then(|| effects.restricted_inside(path)).flatten();
    if let Some((judged @ (Verdict::Deny, _), rule)) = restricted {
        return Some((judged, (Some(rule), None)));
    }
    if let Some(name) = effects.places.policy_file(path) {
        let note = format!("\"{name}\" decides what may run, so no mode and no rule allows a change of it by itself");
        return Some(((Verdict::Ask, By::Boundary), (None, Some(note))));
    }
    let (judged, rule) = restricted.or_else(inside)?;
    let note = (judged.1 == By::NotUnderstood)
        .then(|| "It has unknown parts that could make it what a rule is about".to_string());
    Some((judged, (Some(rule), note)))
}
