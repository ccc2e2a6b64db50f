//! Any command against rules that refuse and rules that allow: no panic, and a rule that refuses never makes a verdict milder.
#![no_main]

use cordon_policy::rules::Policy;
use libfuzzer_sys::fuzz_target;

const ALLOW: &str = r#"{"rule":"Bash(git *)","layer":"t","origin":"t"},{"rule":"Bash(echo *)","layer":"t","origin":"t"}"#;
const DENY: &str = r#"{"rule":"Bash(rm *)","layer":"t","origin":"t"},{"rule":"Read(.env)","layer":"t","origin":"t"}"#;

thread_local! {
    static OPEN: Policy = compiled("");
    static REFUSING: Policy = compiled(DENY);
}

fn compiled(deny: &str) -> Policy {
    Policy::compile_json(&format!(r#"{{"allow":[{ALLOW}],"ask":[],"deny":[{deny}]}}"#)).expect("the rules are valid")
}

fn strictness(answer: &str) -> usize {
    let verdict = answer.split("\"verdict\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a verdict");
    ["allow", "ask", "deny"].iter().position(|known| *known == verdict).expect("a known verdict")
}

fuzz_target!(|input: &str| {
    let modes = ["read-only", "workspace-write", "danger-full-access", "prompt", "allow"];
    let mode = modes[input.len() % modes.len()];
    let command: String = input.chars().flat_map(json_escape).collect();
    let question = format!(
        r#"{{"tool":"bash","required":"danger-full-access","mode":"{mode}","effects":[{{"kind":"exec","command":"{command}"}}],"params":{{}},"cwd":"/ws","home":"/home/me","roots":["/ws"]}}"#
    );
    let open = OPEN.with(|policy| policy.decide_json(&question));
    let refusing = REFUSING.with(|policy| policy.decide_json(&question));
    assert!(strictness(&refusing) >= strictness(&open), "{open}\n{refusing}");
    assert!(mode != "read-only" || strictness(&open) != 1, "mode read-only asks: {open}");
});

fn json_escape(letter: char) -> Vec<char> {
    match letter {
        '"' | '\\' => vec!['\\', letter],
        letter if (letter as u32) < 32 => format!("\\u{:04x}", letter as u32).chars().collect(),
        letter => vec![letter],
    }
}
