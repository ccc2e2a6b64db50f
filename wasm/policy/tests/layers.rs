//! A set that is compiled over another one decides as one that is compiled whole, and the door for lines as the one for
//! questions.

use std::rc::Rc;

use cordon_policy::lines::Lines;
use cordon_policy::rules::Policy;
use cordon_policy::rules::types::{RuleLists, RuleSource};

const BUILT_IN: [&[&str]; 3] =
    [&["Edit(//etc)", "Edit(.env.*)", "Edit(~/.ssh)"], &["Read(.env)", "Read(~/.ssh)", "Edit(/.git/hooks)"], &[]];
const OWN: [&[&str]; 3] =
    [&["Bash(curl *)", "Read(secrets/**)"], &["Edit(*.lock)", "effect:net(*)"], &["Bash(npm *)", "Edit(/.git/**)"]];

const COMMANDS: [&str; 16] = [
    "ls -la",
    "cat .env secrets/a",
    "cd src && cat ../secrets/a",
    "npm test && curl x",
    "echo x > .git/hooks/pre-commit",
    "cp a Cargo.lock",
    "rm -rf .git",
    "rm -rf / ",
    "tee /etc/hosts < .env.local",
    "cat $x",
    "grep -r x .",
    "mv ~/.ssh /tmp",
    "wget https://example.com",
    "find . -delete",
    "cat < ~/.ssh/id_rsa",
    "for f in *; do cat \"$f\"; done",
];

fn sources(rules: &[&str], layer: &str) -> Vec<RuleSource> {
    let source = |rule: &&str| RuleSource {
        rule: rule.to_string(),
        layer: layer.to_string(),
        origin: layer.to_string(),
        ..RuleSource::default()
    };
    rules.iter().map(source).collect()
}

fn lists(layers: &[(&[&[&str]; 3], &str)]) -> RuleLists {
    let list = |at: usize| layers.iter().flat_map(|(rules, layer)| sources(rules[at], layer)).collect();
    RuleLists { deny: list(0), ask: list(1), allow: list(2) }
}

fn question(command: &str, cwd: &str, explain: bool) -> String {
    let effects = serde_json::json!([{ "kind": "exec", "command": command }]);
    let question = serde_json::json!({
        "tool": "bash", "required": "danger-full-access", "mode": "workspace-write", "effects": effects,
        "params": { "command": command }, "cwd": cwd, "home": "/home/me", "roots": ["/ws"], "explain": explain,
    });
    question.to_string()
}

fn both() -> (Policy, Policy) {
    let whole = Policy::compile(lists(&[(&BUILT_IN, "built-in"), (&OWN, "user")])).expect("the rules are valid");
    let under = Rc::new(Policy::compile(lists(&[(&BUILT_IN, "built-in")])).expect("the rules are valid"));
    let over = Policy::compile_over(Some(under), lists(&[(&OWN, "user")])).expect("the rules are valid");
    (whole, over)
}

#[test]
fn c13_rules_over_a_set_decide_as_all_of_them_compiled_at_once() {
    let (whole, over) = both();
    // More folders than are kept, twice.
    for cwd in (0..24).map(|number| format!("/ws/{}", number % 12)) {
        for command in COMMANDS {
            for explain in [false, true] {
                let question = question(command, &cwd, explain);
                assert_eq!(whole.decide_json(&question), over.decide_json(&question), "{command} in {cwd}");
            }
        }
    }
}

#[test]
fn c13_lines_are_answered_as_questions_once_their_context_is_known() {
    let (policy, _) = both();
    let mut lines = Lines::new();
    let input: String =
        COMMANDS.iter().map(|command| format!("{}\r\n", serde_json::json!({ "id": 7, "command": command }))).collect();
    let mut out = Vec::new();
    let policies = |number: u32| (number == 3).then_some(&policy);
    assert_eq!(lines.answer(policies, input.as_bytes(), 0, &mut out), 0);
    lines.learn(3, question("other", "/ws", false).as_bytes(), false);
    assert_eq!(lines.answer(policies, input.as_bytes(), 0, &mut out), input.len());
    let answers: Vec<serde_json::Value> =
        String::from_utf8(out).expect("UTF-8").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(answers.len(), COMMANDS.len());
    for (command, answer) in COMMANDS.iter().zip(&answers) {
        let decided: serde_json::Value =
            serde_json::from_str(&policy.decide_json(&question(command, "/ws", false))).expect("JSON");
        assert_eq!(answer["id"], 7);
        assert_eq!(answer["decision"], decided["verdict"], "{command}");
        assert_eq!((&answer["reason"], &answer["trace"]), (&decided["reason"], &decided["trace"]), "{command}");
    }
    lines.forget();
    assert_eq!(lines.answer(policies, input.as_bytes(), 0, &mut Vec::new()), 0);
}

#[test]
fn c13_a_line_of_another_kind_or_context_is_the_hosts() {
    let (policy, _) = both();
    let policies = |_: u32| Some(&policy);
    let mut known = Lines::new();
    assert_eq!(known.answer(policies, br#"{"command":"ls"}"#, 0, &mut Vec::new()), 0);
    known.learn(1, question("", "/ws", false).as_bytes(), true);
    known.forget();
    let mut answered = |line: &[u8]| known.answer(policies, line, 0, &mut Vec::new()) == line.len();
    assert!(answered(br#"{"command":"ls","label":[1,{"a":null}],"id":"x","rules":null}"#));
    let hosts: [&[u8]; 14] = [
        br#"{"command":"ls","rules":{}}"#,
        br#"{"command":"ls","mode":"prompt"}"#,
        br#"{"command":"ls","cwd":"/ws"}"#,
        br#"{"command":"ls","roots":[]}"#,
        br#"{"command":"ls","op":null}"#,
        br#"{"command":5}"#,
        br#"{"command":"ls","command":"rm -rf /"}"#,
        br#"{"command":"\ud800"}"#,
        br#"{"command":"ls","id":1.5}"#,
        br#"{"command":"ls","id":"\u0041"}"#,
        br#"{"command":"ls","id":12345678901234567}"#,
        br#"{"command":"ls"}}"#,
        b"{\"command\":\"\xff\"}",
        b"[]",
    ];
    for line in hosts {
        assert!(!answered(line), "{}", String::from_utf8_lossy(line));
    }
    known.release(1);
    assert_ne!(known.answer(policies, br#"{"command":"ls"}"#, 0, &mut Vec::new()), 16);
}
