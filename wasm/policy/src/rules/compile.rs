//! From the rules of a file to rules that can be asked; every fault is found here and not at the first call.

use super::Policy;
use super::examples;
use super::pattern::{self, Access, Matcher, Rule};
use super::tools::{self, Subject};
use super::types::{RuleFault, RuleLists, RuleSource, Verdict};
use super::wildcard::tokens;

/// Compiles all lists, `deny` first; the error holds every fault.
pub(crate) fn all(lists: RuleLists) -> Result<Vec<Rule>, Vec<RuleFault>> {
    let (mut rules, mut faults) = (Vec::new(), Vec::new());
    let all = [(lists.deny, Verdict::Deny), (lists.ask, Verdict::Ask), (lists.allow, Verdict::Allow)];
    for (list, verdict) in all {
        for source in list {
            let (rule, origin) = (source.rule.clone(), source.origin.clone());
            match one(source, verdict).and_then(with_examples) {
                Ok(made) => rules.push(made),
                Err(why) => faults.push(RuleFault { rule, origin, why }),
            }
        }
    }
    if faults.is_empty() { Ok(rules) } else { Err(faults) }
}

fn one(source: RuleSource, verdict: Verdict) -> Result<Rule, String> {
    let matcher = fitting(pattern::compile(&source.rule)?, verdict)?;
    if verdict == Verdict::Allow && !source.except.is_empty() {
        return Err("\"except\" carves out of deny and ask rules; an allow rule is made narrower itself".to_string());
    }
    let mut except = Vec::new();
    for text in &source.except {
        if text.trim() == source.rule.trim() {
            return Err(format!("The exception \"{text}\" leaves nothing of the rule"));
        }
        let carved = pattern::compile(text).and_then(|carved| fitting(carved, Verdict::Allow));
        let carved = carved.map_err(|why| format!("The exception \"{text}\" can't be used: {why}"))?;
        if !can_carve(&matcher, &carved) {
            return Err(format!(
                "The exception \"{text}\" is about something else than the rule, so it carves nothing out"
            ));
        }
        except.push(carved);
    }
    Ok(Rule { matcher: by_parts(matcher, &except), source, verdict, except })
}

/// Takes the examples out: they have done their work.
fn with_examples(mut rule: Rule) -> Result<Rule, String> {
    let matching = std::mem::take(&mut rule.source.matching);
    let not_matching = std::mem::take(&mut rule.source.not_matching);
    if matching.is_empty() && not_matching.is_empty() {
        return Ok(rule);
    }
    let policy = Policy::of(None, vec![rule]);
    let wrong = examples::wrong(&policy, &matching, &not_matching);
    let rule = policy.into_rules().next();
    match (wrong, rule) {
        (None, Some(rule)) => Ok(rule),
        (Some(why), _) => Err(why),
        (None, None) => Err("The rule was lost".to_string()),
    }
}

/// A bare tool with exceptions inside it is judged part by part.
fn by_parts(matcher: Matcher, except: &[Matcher]) -> Matcher {
    match matcher {
        Matcher::Tool(_, "bash") if except.iter().any(|carved| matches!(carved, Matcher::Command(_))) => {
            Matcher::Command(pattern::command("*"))
        }
        other => other,
    }
}

fn can_carve(rule: &Matcher, carved: &Matcher) -> bool {
    match (rule, carved) {
        (Matcher::Command(_), Matcher::Command(_) | Matcher::Path { .. } | Matcher::Host { .. }) => true,
        (Matcher::Path { access: Access::Read, .. }, Matcher::Path { access, .. }) => *access == Access::Read,
        (Matcher::Path { .. }, Matcher::Path { access, .. }) => *access != Access::Read,
        (Matcher::Host { .. }, Matcher::Host { .. }) => true,
        (Matcher::Param { tool, .. }, Matcher::Param { tool: other, .. }) => tool == other,
        (Matcher::Unknown(_), Matcher::Unknown(_)) => true,
        (Matcher::Env(_), Matcher::Env(_)) | (Matcher::Privilege(_), Matcher::Privilege(_)) => true,
        (Matcher::Tool(..), _) => true,
        _ => false,
    }
}

/// Refuses what would let an `allow` rule match more than it says, and what can never match.
fn fitting(matcher: Matcher, verdict: Verdict) -> Result<Matcher, String> {
    let allows = verdict == Verdict::Allow;
    let wrong = match &matcher {
        Matcher::Path { path, .. } if path.widened && allows => {
            "A set of characters in brackets is not supported in an allow rule; write one rule for each"
        }
        Matcher::Host { host, .. } if allows && !host.may_allow() => {
            "A star inside a host name allows more than it seems to; write \"*.example.com\" or the whole name"
        }
        Matcher::Unknown(_) if allows => "What is not understood is never allowed by a rule; use it in ask or deny",
        Matcher::Env(_) | Matcher::Privilege(_) if allows => {
            "A rule on this effect can't allow: the rest of the call would go unseen; use it in ask or deny"
        }
        Matcher::Param { tool, value, .. } if allows && *tool == "WebFetch" && host_is_open(value) => {
            "The host of the address must be written out up to the slash behind it; or use WebFetch(domain:…)"
        }
        Matcher::Param { tool, .. } if allows && !tool.starts_with("mcp__") && is_seen_through(tool) => {
            "A rule on a parameter can't allow: the rest of the call would go unseen; use it in ask or deny"
        }
        _ => return Ok(matcher),
    };
    Err(wrong.to_string())
}

fn is_seen_through(tool: &str) -> bool {
    matches!(
        tools::find(tool).map(|tool| tool.subject),
        Some(Subject::Command | Subject::ReadPath | Subject::WritePath)
    )
}

/// `https://example.com*` would also cover `https://example.com.evil.net`.
fn host_is_open(value: &[u32]) -> bool {
    let Some(scheme) = value.windows(3).position(|part| part == tokens("://")) else { return true };
    let host = &value[scheme + 3..];
    let end = host.iter().position(|token| *token == u32::from('/')).unwrap_or(host.len());
    value[..scheme].contains(&super::wildcard::ANYTHING)
        || host[..end].contains(&super::wildcard::ANYTHING)
        || (end == host.len() && host.contains(&super::wildcard::ANYTHING))
}
