//! The decisions of test/policy/decisions.jsonl, one line a case. core/engine/policy.test.ts asks the component the same.

use cordon_policy::rules::Policy;
use cordon_policy::rules::types::{Effect, Mode, PolicyQuestion, Required, RuleLists, RuleSource};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(default)]
struct Case {
    id: String,
    tool: String,
    command: Option<String>,
    read: Option<String>,
    write: Option<String>,
    host: Option<String>,
    required: Required,
    mode: Mode,
    cwd: String,
    params: std::collections::BTreeMap<String, String>,
    allow: Vec<String>,
    ask: Vec<String>,
    deny: Vec<String>,
    verdict: String,
}

impl Default for Case {
    fn default() -> Self {
        Case {
            id: String::new(),
            tool: "bash".to_string(),
            command: None,
            read: None,
            write: None,
            host: None,
            required: Required::DangerFullAccess,
            mode: Mode::WorkspaceWrite,
            cwd: "/ws".to_string(),
            params: Default::default(),
            allow: Vec::new(),
            ask: Vec::new(),
            deny: Vec::new(),
            verdict: String::new(),
        }
    }
}

fn sources(rules: &[String]) -> Vec<RuleSource> {
    let source = |rule: &String| RuleSource {
        rule: rule.clone(),
        layer: "test".to_string(),
        origin: "test:1".to_string(),
        ..RuleSource::default()
    };
    rules.iter().map(source).collect()
}

fn effects(case: &Case) -> Vec<Effect> {
    let exec = case.command.clone().map(|command| Effect { kind: "exec".to_string(), command, ..Effect::default() });
    let read = case.read.clone().map(|path| Effect { kind: "read".to_string(), path, ..Effect::default() });
    let write = case.write.clone().map(|path| Effect { kind: "write".to_string(), path, ..Effect::default() });
    let net = case.host.clone().map(|host| Effect { kind: "net".to_string(), host, ..Effect::default() });
    [exec, read, write, net].into_iter().flatten().collect()
}

/// What the policy says, or the sentence of the first fault.
fn verdict(case: &Case) -> (String, String) {
    let lists = RuleLists { allow: sources(&case.allow), ask: sources(&case.ask), deny: sources(&case.deny) };
    let policy = match Policy::compile(lists) {
        Ok(policy) => policy,
        Err(faults) => return ("fault".to_string(), faults[0].why.clone()),
    };
    let question = PolicyQuestion {
        tool: case.tool.clone(),
        required: case.required,
        mode: case.mode,
        effects: effects(case),
        params: case.params.clone(),
        cwd: case.cwd.clone(),
        home: "/home/me".to_string(),
        roots: vec!["/ws".to_string()],
        ..PolicyQuestion::default()
    };
    let decision = policy.decide(&question);
    let verdict = format!("{:?}", decision.verdict).to_lowercase();
    (verdict, format!("{} {:?}", decision.reason, decision.trace))
}

#[test]
fn c14_d8_a7_every_decision_of_the_corpus_is_as_written() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../test/policy/decisions.jsonl");
    let corpus = std::fs::read_to_string(path).expect("the corpus is part of the repository");
    let cases: Vec<Case> = corpus.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert!(cases.len() >= 120, "the corpus has {} cases", cases.len());
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let (verdict, why) = verdict(case);
            let what = case.command.as_ref().or(case.read.as_ref()).or(case.write.as_ref()).or(case.host.as_ref());
            (verdict != case.verdict)
                .then(|| format!("{}: {what:?} wants {}, is {verdict}: {why}", case.id, case.verdict))
        })
        .collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
