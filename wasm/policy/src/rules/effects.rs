//! Judges the effects that a call or a command has on paths, hosts and the rest of the machine.

use super::critical;
use super::decide::{Asked, Judged, step};
use super::hosts::{self, Target};
use super::judge::Judge;
use super::path_index::{self, Search};
use super::paths::{PathValue, Places, normalize};
use super::pattern::{Access, Matcher, Rule};
use super::types::{By, Effect, Link, Required, RuleSource, TraceStep, Verdict};
use super::wildcard::{Proof, matches, tokens};

/// Devices that take or give anything and keep nothing.
const STREAMS: [&str; 7] =
    ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero", "/dev/full"];

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

impl Effects<'_, '_> {
    /// Judges an effect that a tool told of.
    pub(crate) fn judge(&self, effect: &Effect, trace: &mut Vec<TraceStep>) {
        let before = trace.len();
        match effect.kind.as_str() {
            "exec" => {
                let mut judge = Judge::new(self.asked);
                judge.source(&effect.command);
                trace.append(&mut judge.steps);
            }
            "read" => {
                let (judged, why) = self.read(&known(&effect.path));
                trace.push(step(effect.path.clone(), judged, why));
            }
            "write" | "delete" => {
                let access = if effect.kind == "write" { Access::Write } else { Access::Delete };
                let (judged, why) = self.write(access, &known(&effect.path));
                trace.push(step(effect.path.clone(), judged, why));
            }
            "net" => {
                let (judged, why) = self.host(&hosts::target(&effect.host, effect.port));
                trace.push(step(effect.host.clone(), judged, why));
            }
            kind => {
                let what = if effect.what.is_empty() { &effect.name } else { &effect.what };
                let (judged, why) = self.other(kind, what);
                trace.push(step(what.clone(), judged, why));
            }
        }
        if let Some(from) = &effect.link {
            let link = Link { from: from.clone(), to: effect.path.clone() };
            trace[before..].iter_mut().for_each(|step| step.link = Some(link.clone()));
        }
    }

    /// The first rule that refuses, or that allows, this use of the path, and no exception of which is about it too.
    fn path_rule(
        &self,
        restricts: bool,
        access: Access,
        path: &PathValue,
        (proof, doubt): (Proof, Doubt),
    ) -> Option<&Rule> {
        let covers = |matcher: &Matcher, proof: Proof| match matcher {
            Matcher::Path { path: pattern, .. } => self.places.covers(pattern, path, proof),
            _ => true,
        };
        let speaks = |rule: &&Rule| {
            let about = match &rule.matcher {
                Matcher::Path { access: about, tool, .. } => {
                    let same_use = *about == access || (*about == Access::Write && access == Access::Delete);
                    let general = matches!(*tool, "" | "read_file" | "edit_file");
                    same_use && (general || *tool == self.asked.tool || (restricts && access != Access::Read))
                }
                Matcher::Tool(_, "read_file") => access == Access::Read,
                Matcher::Tool(_, "edit_file") => access != Access::Read,
                Matcher::Tool(_, "write_file") => access != Access::Read && (restricts && self.asked.tool == "bash"),
                _ => false,
            };
            let ignored = proof == Proof::Possible && doubt != Doubt::Counts && rule.source.layer == "built-in";
            about
                && !ignored
                && covers(&rule.matcher, proof)
                && !rule
                    .except
                    .iter()
                    .any(|carved| matches!(carved, Matcher::Path { .. }) && covers(carved, Proof::Strict))
        };
        let search = match path {
            // A rule that allows must cover all of them.
            PathValue::Known(paths) if proof == Proof::Strict => Search::About(paths.get(..1)?),
            PathValue::Known(paths) => Search::About(paths),
            // Nothing is certain of a path with unknown parts, but that some tool uses it.
            PathValue::Partly(_) if proof != Proof::Possible => Search::Tools,
            PathValue::Partly(_) if doubt != Doubt::Counts => Search::Own,
            PathValue::Partly(_) => Search::All,
        };
        let policy = self.asked.policy;
        let found = path_index::find(policy, self.places.question, restricts, &search);
        found.into_iter().map(|number| policy.rules[number].as_ref()).find(speaks)
    }

    /// `deny` and `ask` rules about a path; a path with unknown parts that could be meant asks as `doubt` says.
    pub(crate) fn restricted(
        &self,
        access: Access,
        path: &PathValue,
        doubt: Doubt,
    ) -> Option<((Verdict, By), RuleSource)> {
        let rule = |proof| self.path_rule(true, access, path, (proof, doubt));
        if let Some(rule) = rule(Proof::Certain) {
            return Some(((rule.verdict, By::Rule), rule.source.clone()));
        }
        // Of a path that is known, what is possible is certain.
        if doubt == Doubt::Ignored || matches!(path, PathValue::Known(_)) {
            return None;
        }
        Some(((Verdict::Ask, By::NotUnderstood), rule(Proof::Possible)?.source.clone()))
    }

    /// The strictest `deny` or `ask` rule about something inside this folder, which goes with it.
    pub(crate) fn restricted_inside(&self, path: &PathValue) -> Option<((Verdict, By), RuleSource)> {
        let PathValue::Known(paths) = path else { return None };
        let policy = self.asked.policy;
        let found = path_index::find(policy, self.places.question, true, &Search::Inside(paths));
        let rule = &policy.rules[*found.first()?];
        Some(((rule.verdict, By::Rule), rule.source.clone()))
    }

    /// An `allow` rule that covers every value of the path.
    pub(crate) fn allowed(&self, access: Access, path: &PathValue) -> Option<RuleSource> {
        let rule = self.path_rule(false, access, path, (Proof::Strict, Doubt::Ignored));
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
            if paths.iter().any(|path| critical::is_disk(path)) {
                let note = "A disk is never written to".to_string();
                return ((Verdict::Deny, By::Boundary), (None, Some(note)));
            }
            if paths.iter().all(|path| is_stream(path)) {
                return ((Verdict::Allow, By::ReadOnlyTable), (None, None));
            }
        }
        let restricted = self.restricted(access, path, Doubt::Counts);
        if let Some((judged @ (Verdict::Deny, _), rule)) = restricted {
            return (judged, (Some(rule), None));
        }
        if let Some(name) = self.places.policy_file(path) {
            let note =
                format!("\"{name}\" decides what may run, so no mode and no rule allows a change of it by itself");
            return ((Verdict::Ask, By::Boundary), (None, Some(note)));
        }
        if let Some((judged, rule)) = restricted {
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

    /// The first rule of the list about this host.
    pub(crate) fn host_rule(&self, verdict: Verdict, target: &Target, proof: Proof) -> Option<&Rule> {
        let covers = |matcher: &Matcher, proof| match matcher {
            Matcher::Host { tool, host } => {
                let bound = verdict != Verdict::Allow || tool.is_empty() || *tool == self.asked.tool;
                bound && host.covers(target, proof)
            }
            _ => false,
        };
        let about = |rule: &&Rule| {
            covers(&rule.matcher, proof) && !rule.except.iter().any(|carved| covers(carved, Proof::Strict))
        };
        self.asked.policy.on_others(verdict).find(about)
    }

    /// `deny` and `ask` rules about a host.
    pub(crate) fn host_restricted(&self, target: &Target) -> Option<((Verdict, By), RuleSource)> {
        let rule = |verdict, proof| self.host_rule(verdict, target, proof).map(|rule| rule.source.clone());
        if let Some(rule) = rule(Verdict::Deny, Proof::Certain) {
            return Some(((Verdict::Deny, By::Rule), rule));
        }
        if let Some(rule) = rule(Verdict::Ask, Proof::Certain) {
            return Some(((Verdict::Ask, By::Rule), rule));
        }
        let possible = rule(Verdict::Deny, Proof::Possible).or_else(|| rule(Verdict::Ask, Proof::Possible));
        possible.map(|rule| ((Verdict::Ask, By::NotUnderstood), rule))
    }

    fn host(&self, target: &Target) -> Judged {
        if let Some((judged, rule)) = self.host_restricted(target) {
            let note = (judged.1 == By::NotUnderstood).then(|| "The name of the host is not understood".to_string());
            return (judged, (Some(rule), note));
        }
        let rule = self.host_rule(Verdict::Allow, target, Proof::Strict).or(self.asked.tool_allow);
        match rule.filter(|_| self.asked.lifts(self.asked.question.required)) {
            Some(rule) => ((Verdict::Allow, By::Rule), (Some(rule.source.clone()), None)),
            None => self.asked.by_required(self.asked.question.required),
        }
    }

    /// `deny` and `ask` rules on effects of the kinds `env`, `privilege` and `unknown`.
    pub(crate) fn other_restricted(&self, kind: &str, what: &str) -> Option<&Rule> {
        let covers = |matcher: &Matcher| match matcher {
            Matcher::Unknown(pattern) if !matches!(kind, "env" | "privilege") => {
                matches(pattern, &tokens(what), Proof::Certain)
            }
            Matcher::Env(pattern) if kind == "env" => matches(pattern, &tokens(what), Proof::Certain),
            Matcher::Privilege(pattern) if kind == "privilege" => matches(pattern, &tokens(what), Proof::Certain),
            _ => false,
        };
        let about = |rule: &&Rule| covers(&rule.matcher) && !rule.except.iter().any(covers);
        let policy = self.asked.policy;
        policy.on_others(Verdict::Deny).chain(policy.on_others(Verdict::Ask)).find(about)
    }

    fn other(&self, kind: &str, what: &str) -> Judged {
        match self.other_restricted(kind, what) {
            Some(rule) => ((rule.verdict, By::Rule), (Some(rule.source.clone()), None)),
            None => match self.asked.tool_allow.filter(|_| self.asked.lifts(Required::DangerFullAccess)) {
                Some(rule) => ((Verdict::Allow, By::Rule), (Some(rule.source.clone()), None)),
                None => self.asked.by_required(Required::DangerFullAccess),
            },
        }
    }
}

/// Whether nothing is kept of what is written there.
pub(crate) fn is_stream(path: &str) -> bool {
    STREAMS.contains(&path) || path.starts_with("/dev/fd/")
}

fn known(path: &str) -> PathValue {
    PathValue::Known(vec![normalize(path)])
}
