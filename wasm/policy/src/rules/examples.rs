//! The examples of a rule, asked of the rule itself: commands for rules on commands, paths for rules on paths, hosts for
//! rules on hosts, names for rules on tools, values for rules on a parameter. The workspace is `/workspace`, the home folder
//! `/home/user`; a path that is not absolute lies in the workspace.

use std::collections::BTreeMap;

use super::Policy;
use super::pattern::{Access, Matcher};
use super::types::{Decision, Effect, Mode, PolicyQuestion, Required, Verdict};

/// A sentence about the first example that comes out wrong. `policy` holds the one rule.
pub(crate) fn wrong(policy: &Policy, matching: &[String], not_matching: &[String]) -> Option<String> {
    let missed = matching.iter().find(|example| !matches(policy, example));
    if let Some(example) = missed {
        return Some(format!("The rule does not match its example \"{example}\""));
    }
    let caught = not_matching.iter().find(|example| matches(policy, example));
    caught.map(|example| format!("The rule matches \"{example}\", which it must not"))
}

fn matches(policy: &Policy, example: &str) -> bool {
    let Some(rule) = policy.rules.first() else { return false };
    let decision = policy.decide(&question(&rule.matcher, rule.verdict, example));
    match rule.verdict {
        Verdict::Allow => decision.verdict == Verdict::Allow && by_the_rule(&decision),
        _ => by_the_rule(&decision),
    }
}

fn by_the_rule(decision: &Decision) -> bool {
    decision.trace.iter().any(|step| step.rule.is_some())
}

fn question(matcher: &Matcher, verdict: Verdict, example: &str) -> PolicyQuestion {
    let effect = |kind: &str| Effect { kind: kind.to_string(), ..Effect::default() };
    let (tool, effects, params) = match matcher {
        Matcher::Command(_) | Matcher::Env(_) | Matcher::Privilege(_) => {
            ("bash", vec![Effect { command: example.to_string(), ..effect("exec") }], None)
        }
        Matcher::Path { access, tool, .. } => {
            let (kind, default) = match access {
                Access::Read => ("read", "read_file"),
                Access::Write => ("write", "edit_file"),
                Access::Delete => ("delete", "bash"),
            };
            let tool = if tool.is_empty() { default } else { tool };
            (tool, vec![Effect { path: absolute(example), ..effect(kind) }], None)
        }
        Matcher::Host { .. } => ("WebFetch", vec![Effect { host: example.to_string(), ..effect("net") }], None),
        Matcher::Unknown(_) => ("bash", vec![Effect { what: example.to_string(), ..effect("unknown") }], None),
        Matcher::Param { tool, names, .. } => (*tool, Vec::new(), names.first().cloned()),
        Matcher::Tool(..) => (example, Vec::new(), None),
    };
    PolicyQuestion {
        tool: tool.to_string(),
        required: Required::DangerFullAccess,
        // No mode of its own speaks then.
        mode: if verdict == Verdict::Allow { Mode::WorkspaceWrite } else { Mode::Allow },
        effects,
        params: params.map(|name| BTreeMap::from([(name, example.to_string())])).unwrap_or_default(),
        cwd: "/workspace".to_string(),
        home: "/home/user".to_string(),
        roots: vec!["/workspace".to_string()],
        ..PolicyQuestion::default()
    }
}

fn absolute(example: &str) -> String {
    match example.strip_prefix("~/") {
        Some(below) => format!("/home/user/{below}"),
        None if example.starts_with('/') => example.to_string(),
        None => format!("/workspace/{example}"),
    }
}
