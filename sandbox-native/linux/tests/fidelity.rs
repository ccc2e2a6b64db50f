//! The same calls in and out of the sandbox say the same, line for line: results, errnos and what is there afterwards.
//! This test program runs itself as the command.

mod support;

#[path = "fidelity/calls.rs"]
mod calls;

use serde_json::{Value, json};
use std::process::Command;
use support::{As, Place, golden, op, run_plan, tiers};

/// Not a test of its own: makes the calls in the folder that CALLS_IN names and prints a line for each.
#[test]
#[ignore = "runs inside and outside of the sandbox, started by the other tests"]
fn calls() {
    let Ok(folder) = std::env::var("CALLS_IN") else { return };
    std::env::set_current_dir(&folder).expect("enter the folder");
    print!("{}", calls::told());
}

const WORDS: [&str; 4] = ["--ignored", "--exact", "--nocapture", "calls"];

/// A plan that has the calls of its tier all answered by the broker.
fn everything_trapped(name: &str, place: &Place) -> Value {
    let attempts = place.top.join("attempts");
    let argv: Vec<&str> = [attempts.to_str().expect("text")].into_iter().chain(WORDS).collect();
    let mut plan = golden(name, place, &argv);
    let guard = json!({ "rules": [], "gitLayout": false, "metadata": true, "reads": true, "unix": [] });
    let steps = plan["ops"].as_array_mut().expect("a list");
    match steps.iter_mut().find(|step| step["op"] == "broker") {
        Some(step) => step["guard"] = guard,
        None => {
            let broker = json!({ "op": "broker", "guard": guard, "level": "must", "gives": [] });
            steps.insert(steps.len() - 1, broker);
        }
    }
    op(&mut plan, "broker").expect("a broker")["level"] = json!("must");
    plan["command"]["env"]["CALLS_IN"] = json!(place.work);
    plan["command"]["env"]["RUST_BACKTRACE"] = json!("0");
    plan
}

fn lines(stdout: &str) -> Vec<String> {
    stdout.lines().filter(|line| line.contains(" -> ")).map(str::to_owned).collect()
}

fn fresh() -> Place {
    let place = Place::new();
    // What is closed in the plans of both tiers is not what is compared here.
    for name in [".git", "secrets", ".env"] {
        let path = place.work.join(name);
        if path.is_dir() { std::fs::create_dir_all(&path) } else { std::fs::write(&path, "") }.expect("leave it");
    }
    place
}

fn outside(surroundings: As) -> Vec<String> {
    let place = fresh();
    let mut command = Command::new(place.top.join("attempts"));
    if surroundings == As::Nobody {
        use std::os::unix::process::CommandExt;
        place.give_to(support::NOBODY);
        command.uid(support::NOBODY).gid(support::NOBODY);
    }
    if surroundings != As::Nobody && rustix::process::geteuid().is_root() {
        // Without the capabilities that the sandbox takes, or root would be told another story.
        let attempts = place.top.join("attempts");
        command = Command::new("setpriv");
        command.args(["--bounding-set", "-all", "--inh-caps", "-all", "--no-new-privs"]).arg(attempts);
    }
    let output = command.args(WORDS).env("CALLS_IN", &place.work).current_dir(&place.work).output().expect("run");
    lines(&String::from_utf8_lossy(&output.stdout))
}

#[test]
fn every_call_says_the_same_in_and_out_of_the_sandbox() {
    for (name, surroundings) in tiers() {
        if surroundings == As::NoNamespaces {
            continue;
        }
        let place = fresh();
        let ended = run_plan(&place, &everything_trapped(name, &place), surroundings);
        let inside = lines(&ended.stdout);
        let wanted = outside(surroundings);
        assert!(wanted.len() > 150, "only {} lines outside", wanted.len());
        let differ: Vec<String> = wanted
            .iter()
            .zip(inside.iter().map(Some).chain(std::iter::repeat(None)))
            .filter(|(out, inn)| Some(*out) != *inn)
            .map(|(out, inn)| format!("outside {out:60} inside {}", inn.map_or("nothing", String::as_str)))
            .collect();
        assert!(differ.is_empty(), "{name} as {surroundings:?}:\n{}\n{}", differ.join("\n"), ended.stderr);
        assert_eq!(inside.len(), wanted.len(), "{name} as {surroundings:?}");
    }
}
