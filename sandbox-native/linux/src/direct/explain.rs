//! The words for a refusal. Mirror of `core/sandbox/explain_denial.ts` and `cli/ui/denial_reporter.ts`.

use super::record::{Guess, Reasoned, Tell};
use super::visible_text::visible_text;
use plan::{DeniedOp, ObservedDenial};
use std::path::Path;

/// One denial in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    pub op: DeniedOp,
    /// The path or host; none is said by the system call's name.
    pub what: Option<String>,
    pub syscall: String,
    pub rule: String,
    pub reason: String,
    pub grant: Option<String>,
}

impl Denial {
    /// Gives a refusal its reason and the smallest flag that would have allowed it.
    pub fn explain(seen: &ObservedDenial, tell: &Tell) -> Denial {
        let (what, reason, grant) = match (&seen.reason, seen.op) {
            // A rule of the broker, or a limit.
            (Some(reason), _) => (seen.path.clone().or_else(|| host_of(seen)), reason.clone(), whole_grant(seen)),
            (None, DeniedOp::Connect) => connection(seen),
            (None, _) => touching(seen, tell),
        };
        let rule = serde_json::to_value(seen.rule).ok().and_then(|value| value.as_str().map(str::to_owned));
        Denial { op: seen.op, what, syscall: seen.syscall.clone(), rule: rule.unwrap_or_default(), reason, grant }
    }

    /// The line for people, without its end.
    pub fn line(&self) -> String {
        if self.op == DeniedOp::Limit {
            let raise =
                self.grant.as_ref().map_or(String::new(), |grant| format!("; raise it with {}", visible_text(grant)));
            return format!("cordon: {}{raise}", visible_text(&self.reason));
        }
        let what = visible_text(self.what.as_deref().unwrap_or(&self.syscall));
        format!("cordon: blocked {} {what} ({}){}", word(self.op), visible_text(&self.reason), allow_with(&self.grant))
    }
}

/// The line for a failure that nothing explains.
pub fn guess_line(guess: &Guess) -> String {
    let reason = visible_text(&guess.reason);
    format!(
        "cordon: nothing was seen to be blocked; a guess why the command failed: {reason}{}",
        allow_with(&guess.grant)
    )
}

fn allow_with(grant: &Option<String>) -> String {
    grant.as_ref().map_or(String::new(), |grant| format!("; allow with {}", visible_text(grant)))
}

fn word(op: DeniedOp) -> &'static str {
    match op {
        DeniedOp::Write => "write",
        DeniedOp::Read => "read",
        DeniedOp::Connect => "connect",
        DeniedOp::Exec => "exec",
        DeniedOp::Limit => "limit",
    }
}

type Words = (Option<String>, String, Option<String>);

fn host_of(seen: &ObservedDenial) -> Option<String> {
    let host = seen.host.as_ref()?;
    let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
    Some(seen.port.map_or(host.clone(), |port| format!("{host}:{port}")))
}

fn connection(seen: &ObservedDenial) -> Words {
    if let Some(path) = &seen.path {
        return (Some(path.clone()), "sockets of the host are closed".into(), Some(flag("--allow-unix", path)));
    }
    let loopback = |host: &String| host == "::1" || host.starts_with("127.") || host.starts_with("::ffff:127.");
    let reason = match &seen.host {
        Some(host) if loopback(host) => {
            "the host's loopback is not the command's, and nothing listens there on its own"
        }
        _ => "the network is blocked",
    };
    let host = host_of(seen).unwrap_or_else(|| "the network".into());
    (Some(host), reason.into(), Some("--allow-net".into()))
}

/// A flag that ends in "=" is for the path.
fn whole_grant(seen: &ObservedDenial) -> Option<String> {
    let grant = seen.grant.as_ref()?;
    match (grant.strip_suffix('='), &seen.path) {
        (Some(name), Some(path)) => Some(flag(name, path)),
        _ => Some(grant.clone()),
    }
}

fn touching(seen: &ObservedDenial, tell: &Tell) -> Words {
    let path = seen.path.clone().unwrap_or_else(|| "an unknown path".into());
    let write = seen.op == DeniedOp::Write;
    let rule = |rules: &[Reasoned]| rules.iter().find(|rule| is_within(&path, &rule.path)).cloned();
    if let Some(rule) = rule(&tell.protected).filter(|_| write) {
        return (Some(path), rule.reason, rule.grant);
    }
    if let Some(rule) = rule(&tell.hidden) {
        let grant = (!write && !rule.asked).then(|| flag("--allow-read", &path));
        return (Some(path), rule.reason, grant);
    }
    let (name, verb) = match seen.op {
        DeniedOp::Write => ("--allow-write", "write"),
        DeniedOp::Exec => ("--allow-read", "run"),
        _ => ("--allow-read", "read"),
    };
    let grant = flag(name, &nearest_existing(&path));
    (Some(path), format!("outside what the command may {verb}"), Some(grant))
}

fn is_within(path: &str, folder: &str) -> bool {
    folder == "/" || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Only what exists can be allowed.
fn nearest_existing(path: &str) -> String {
    let existing = Path::new(path).ancestors().find(|path| path.exists());
    existing.map_or_else(|| "/".into(), |path| path.to_string_lossy().into_owned())
}

fn flag(name: &str, path: &str) -> String {
    let value = format!("{name}={path}");
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./~-".contains(c);
    if value.chars().all(plain) { value } else { format!("'{}'", value.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Golden {
        tell: Tell,
        guess: String,
        cases: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        seen: ObservedDenial,
        line: String,
    }

    #[test]
    fn each_refusal_has_the_line_that_cordon_writes_for_it() {
        let text = include_str!("../../../../test/plans/denial_lines.json");
        let golden: Golden = serde_json::from_str(text).expect("JSON");
        for Case { seen, line } in &golden.cases {
            assert_eq!(Denial::explain(seen, &golden.tell).line(), *line);
        }
        assert_eq!(golden.tell.guess.as_ref().map(guess_line), Some(golden.guess));
    }
}
