//! Judges one command a line of stdin, given as JSON `{"command", "rules"?}`, and prints the decision.

use std::io::BufRead;

fn main() {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let case: serde_json::Value = serde_json::from_str(&line).expect("a line is JSON");
        let list = |name: &str| -> Vec<serde_json::Value> {
            let rules = case["rules"][name].as_array().cloned().unwrap_or_default();
            rules.iter().map(|rule| serde_json::json!({ "rule": rule, "layer": "user", "origin": "stdin" })).collect()
        };
        let lists = serde_json::json!({ "allow": list("allow"), "ask": list("ask"), "deny": list("deny") });
        let policy = cordon_policy::rules::Policy::compile_json(&lists.to_string()).expect("the rules are valid");
        let question = serde_json::json!({
            "tool": "bash", "required": "danger-full-access", "mode": "workspace-write",
            "effects": [{ "kind": "exec", "command": case["command"] }],
            "params": {}, "cwd": "/ws", "home": "/home/me", "roots": ["/ws"],
        });
        println!("{}", policy.decide_json(&question.to_string()));
    }
}
