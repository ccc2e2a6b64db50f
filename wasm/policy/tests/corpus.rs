//! The labelled commands of test/policy/corpus: what an attack does must not be allowed, what is harmless must not ask,
//! and what a rule refuses is refused however it is written. test/policy/corpus.test.ts runs the attacks for real.

use cordon_policy::rules::Policy;
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Rules {
    allow: Vec<String>,
    ask: Vec<String>,
    deny: Vec<String>,
}

#[derive(Deserialize)]
struct Case {
    id: String,
    command: String,
    #[serde(default)]
    rules: Rules,
    /// `allow`, `deny`, or `refused`: asked about or denied.
    expected: String,
}

fn cases() -> Vec<Case> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../test/policy/corpus");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect(folder).map(|entry| entry.expect(folder).path()).collect();
    files.sort();
    files
        .iter()
        .flat_map(|file| {
            let text = std::fs::read_to_string(file).expect("the corpus is part of the repository");
            serde_json::from_str::<Vec<Case>>(&text).expect("the corpus is a list of cases")
        })
        .collect()
}

/// Of the rules that every layer of the product has (core/config/builtin_rules.ts): reading these asks, and so does writing
/// what git obeys; start-up files are not written.
const BUILT_IN_ASK: [&str; 6] =
    ["Read(.env)", "Read(.env.*)", "Read(id_rsa)", "Read(~/.ssh)", "Edit(/.git/hooks)", "Edit(/.git/config)"];
const BUILT_IN_DENY: [&str; 5] =
    ["Edit(~/.bashrc)", "Edit(~/.profile)", "Edit(~/.gitconfig)", "Edit(~/.config/autostart)", "Edit(~/.ssh)"];

fn sources(rules: &[String], layer: &str) -> Vec<serde_json::Value> {
    rules.iter().map(|rule| serde_json::json!({ "rule": rule, "layer": layer, "origin": "corpus" })).collect()
}

/// The verdict and the reason.
fn decide(case: &Case) -> (String, String) {
    let Rules { allow, ask, deny } = &case.rules;
    let with = |built_in: &[&str], own: &[String]| {
        let built_in: Vec<String> = built_in.iter().map(|rule| rule.to_string()).collect();
        [sources(&built_in, "built-in"), sources(own, "user")].concat()
    };
    let (asking, denying) = (with(&BUILT_IN_ASK, ask), with(&BUILT_IN_DENY, deny));
    let lists = serde_json::json!({ "allow": sources(allow, "user"), "ask": asking, "deny": denying });
    let policy = Policy::compile_json(&lists.to_string()).unwrap_or_else(|faults| panic!("{}: {faults:?}", case.id));
    let question = serde_json::json!({
        "tool": "bash",
        "required": "danger-full-access",
        "mode": "workspace-write",
        "effects": [{ "kind": "exec", "command": case.command }],
        "params": {},
        "cwd": "/ws",
        "home": "/home/me",
        "roots": ["/ws"],
    });
    let answer: serde_json::Value = serde_json::from_str(&policy.decide_json(&question.to_string())).expect("JSON");
    let text = |name: &str| answer[name].as_str().expect("an answer has a verdict and a reason").to_string();
    (text("verdict"), text("reason"))
}

/// Each case whose verdict does not fit, in a line, and how many there are of the kind.
fn misses(expected: &str, fits: impl Fn(&str) -> bool) -> (Vec<String>, usize) {
    let cases: Vec<Case> = cases().into_iter().filter(|case| case.expected == expected).collect();
    let missed = cases.iter().filter_map(|case| {
        let (verdict, reason) = decide(case);
        (!fits(&verdict)).then(|| format!("{}: {:?} is {verdict}: {reason}", case.id, case.command))
    });
    (missed.collect(), cases.len())
}

#[test]
fn c14_d8_no_attack_of_the_corpus_is_allowed() {
    let (missed, count) = misses("refused", |verdict| matches!(verdict, "ask" | "deny"));
    assert!(count >= 275, "the corpus has {count} attacks");
    assert!(missed.is_empty(), "{} of {count} are allowed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn c18_nearly_no_harmless_command_of_the_corpus_asks() {
    let (missed, count) = misses("allow", |verdict| verdict == "allow");
    assert!(count >= 175, "the corpus has {count} harmless commands");
    let share = missed.len() * 100;
    assert!(share <= 2 * count, "{} of {count} ask:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn c14_a_deny_rule_holds_however_the_command_is_written() {
    let (missed, count) = misses("deny", |verdict| verdict == "deny");
    assert!(count >= 50, "the corpus has {count} commands under a deny rule");
    assert!(missed.is_empty(), "{} of {count} are not denied:\n{}", missed.len(), missed.join("\n"));
}
