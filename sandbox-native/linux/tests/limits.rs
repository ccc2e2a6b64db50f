//! Limits: each holds, is named, and leaves no control group behind. Everything here is bounded twice, so that a limit that does
//! not hold fails a test and not the machine.

mod support;

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use support::{As, Ended, Place, eventually, facts, golden, is_alive, run_plan, start, tiers};

/// What holds a limit in these surroundings: `memory`, `processes` or `cpu` of the facts.
fn holder(limit: &str, surroundings: As) -> String {
    facts(surroundings)["limits"][limit].as_str().expect("a word").to_owned()
}

/// Runs a script under these limits in every tier.
fn in_every_tier(limits: &Value, script: &str, check: impl Fn(&str, As, &Ended)) {
    for (name, surroundings) in tiers() {
        let place = Place::new();
        let ended = run_plan(&place, &limited(name, &place, limits, script), surroundings);
        check(&format!("{name} as {surroundings:?}: {ended:#?}"), surroundings, &ended);
        // A test beside this one kills a launcher, whose group goes a moment later.
        assert!(eventually(|| groups_left().is_empty()), "{name} {:?}", groups_left());
    }
}

fn limited(name: &str, place: &Place, limits: &Value, script: &str) -> Value {
    let mut plan = golden(name, place, &["/bin/sh", "-c", script]);
    let mut step = json!({ "op": "limits", "level": "must", "gives": ["limits"] });
    for (key, value) in limits.as_object().expect("an object") {
        step[key] = value.clone();
    }
    plan["ops"].as_array_mut().expect("a list").insert(0, step);
    plan
}

/// Above every process id of Linux (PID_MAX_LIMIT is 1 << 22): the maker of the groups that a test makes itself.
const NO_MAKER: u32 = 1 << 23;

/// Control groups of runs whose maker is gone, but for those that a test beside this one has made.
fn groups_left() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            match name.strip_prefix("cordon-").and_then(|rest| rest.split('-').nth(1)) {
                Some(pid) if pid == NO_MAKER.to_string() => {}
                Some(pid) if !Path::new("/proc").join(pid).exists() => found.push(entry.path()),
                Some(_) => {}
                None => folders.push(entry.path()),
            }
        }
    }
    found
}

fn limit_denials(ended: &Ended) -> Vec<&Value> {
    ended.denials().into_iter().filter(|line| line["op"] == "limit").collect()
}

#[test]
fn a_command_within_its_limits_runs_as_without_them() {
    let limits = json!({ "memoryBytes": 512 << 20, "processes": 50, "fileBytes": 1 << 20 });
    in_every_tier(&limits, "echo in; exit 3", |told, surroundings, ended| {
        if holder("processes", surroundings) == "none" {
            assert_eq!(ended.code, Some(120), "{told}");
            return;
        }
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(3), "in\n"), "{told}");
        assert_eq!(ended.line("enforced")["properties"]["limits"], "enforced", "{told}");
        assert!(ended.line("exit").get("limit").is_none(), "{told}");
        assert_eq!(limit_denials(ended), Vec::<&Value>::new(), "{told}");
    });
}

#[test]
fn more_memory_than_the_limit_ends_the_process_and_is_named() {
    // tail keeps one line of 400 MB whole, and ulimit is the second bound.
    let script = "ulimit -v 2000000; head -c 400000000 /dev/zero | tail -n 1 | wc -c; exit 5";
    in_every_tier(&json!({ "memoryBytes": 100 << 20 }), script, |told, surroundings, ended| {
        assert_ne!(ended.stdout.trim(), "400000000", "{told}");
        assert_eq!(ended.code, Some(5), "{told}");
        if holder("memory", surroundings).starts_with("cgroup") {
            let denials = limit_denials(ended);
            assert_eq!(denials.len(), 1, "{told}");
            assert_eq!(denials[0]["grant"], "--memory", "{told}");
            let reason = denials[0]["reason"].as_str().expect("a reason");
            assert!(reason.starts_with("the memory limit of 100 MB was reached"), "{told}");
            assert_eq!(ended.line("exit")["limit"], "memory", "{told}");
        }
    });
}

#[test]
fn an_oom_kill_of_the_command_is_137() {
    let script = "ulimit -v 2000000; exec tail -n 1 /dev/zero";
    in_every_tier(&json!({ "memoryBytes": 60 << 20 }), script, |told, surroundings, ended| {
        if holder("memory", surroundings).starts_with("cgroup") {
            let exit = json!({ "t": "exit", "code": null, "signal": "SIGKILL", "limit": "memory" });
            assert_eq!((ended.code, ended.line("exit")), (Some(137), &exit), "{told}");
        } else {
            assert_eq!(ended.code, Some(1), "{told}");
            assert!(ended.stderr.contains("memory"), "{told}");
        }
    });
}

#[test]
fn a_fork_bomb_is_bounded_named_and_gone_at_the_end() {
    let marker = format!("{}.7", 5_000 + std::process::id());
    // Not a real bomb: 120 are tried, and none starts another.
    let script = format!("for n in $(seq 120); do sleep {marker} & done 2>/dev/null; exit 6");
    in_every_tier(&json!({ "processes": 20 }), &script, |told, surroundings, ended| {
        match holder("processes", surroundings).as_str() {
            "none" => {
                assert_eq!(ended.code, Some(120), "{told}");
                assert_eq!(ended.line("refused")["op"], "limits", "{told}");
            }
            // A shell that can't fork says so and ends with 2.
            how => {
                assert_eq!(ended.code, Some(2), "{told}");
                if how.starts_with("cgroup") {
                    assert_eq!(ended.line("exit")["limit"], "processes", "{told}");
                    assert_eq!(limit_denials(ended)[0]["grant"], "--pids", "{told}");
                }
            }
        }
        assert!(!is_alive(&marker), "{told}");
    });
}

#[test]
fn as_many_processes_run_as_the_limit_says() {
    // sh and three more: four in all.
    let script = "sleep 0.2 & sleep 0.2 & sleep 0.2 & wait; echo fine";
    for (count, fine) in [(4, true), (2, false)] {
        in_every_tier(&json!({ "processes": count }), script, |told, surroundings, ended| {
            if holder("processes", surroundings).starts_with("cgroup") {
                assert_eq!(ended.stdout.contains("fine"), fine, "{count} {told}");
            }
        });
    }
}

#[test]
fn a_file_larger_than_the_limit_is_not_written_and_the_limit_is_named() {
    let script =
        "head -c 100000 /dev/zero > small && head -c 3000000 /dev/zero > large; code=$?; wc -c < large; exit $code";
    in_every_tier(&json!({ "fileBytes": 1 << 20 }), script, |told, _, ended| {
        assert_eq!((ended.code, ended.stdout.trim()), (Some(153), "1048576"), "{told}");
        assert_eq!(ended.line("exit")["limit"], "file size", "{told}");
        assert_eq!(limit_denials(ended)[0]["reason"], "the file size limit of 1 MB was reached", "{told}");
    });
}

#[test]
fn a_share_of_the_cpu_is_held_by_a_group_or_refused() {
    let script = "cat /proc/self/cgroup";
    in_every_tier(&json!({ "cpuPercent": 50 }), script, |told, surroundings, ended| {
        if holder("cpu", surroundings) == "none" {
            assert_eq!(ended.code, Some(120), "{told}");
            let why = ended.line("refused")["why"].as_str().expect("why");
            assert!(why.contains("only a control group can hold a share"), "{told}");
        } else {
            assert_eq!(ended.code, Some(0), "{told}");
            assert!(ended.stdout.lines().any(|line| line.contains("cpu") && line.contains("/cordon-")), "{told}");
        }
    });
}

#[test]
fn a_command_can_not_change_its_limits_or_leave_its_group() {
    let script = "ulimit -f unlimited 2>/dev/null && echo raised
        find /sys/fs/cgroup -name 'cordon-*' -type d 2>/dev/null | while read g; do
            for f in pids.max memory.limit_in_bytes memory.max; do (echo 999999999 > $g/$f) 2>/dev/null && echo changed $g/$f; done
        done
        find /sys/fs/cgroup -name cgroup.procs 2>/dev/null | while read f; do (echo 0 > $f) 2>/dev/null && echo left $f; done
        find /sys/fs/cgroup -maxdepth 2 -type d 2>/dev/null | while read g; do mkdir $g/mine 2>/dev/null && echo made $g/mine; done
        echo end";
    let limits = json!({ "fileBytes": 1 << 20, "memoryBytes": 512 << 20 });
    in_every_tier(&limits, script, |told, _, ended| assert_eq!(ended.stdout, "end\n", "{told}"));
}

#[test]
fn a_killed_launcher_leaves_no_group() {
    for (name, surroundings) in tiers() {
        if !holder("memory", surroundings).starts_with("cgroup") {
            continue;
        }
        let place = Place::new();
        let marker = format!("{}.3", 4_000 + std::process::id());
        let script = format!("(setsid sleep {marker} > /dev/null 2>&1 &); echo ready; sleep {marker}");
        let plan = limited(name, &place, &json!({ "memoryBytes": 512 << 20 }), &script);
        let mut running = start(&place, &plan, surroundings);
        if running.first_output() != "ready\n" {
            panic!("{name} {surroundings:?} {:#?}", running.finish());
        }
        running.child.kill().expect("SIGKILL");
        running.child.wait().expect("wait");
        assert!(eventually(|| !is_alive(&marker)), "{name}");
        assert!(eventually(|| groups_left().is_empty()), "{name} {:?}", groups_left());
    }
}

#[test]
fn the_group_of_a_run_that_could_not_clean_up_is_removed_by_the_next() {
    let tiers = tiers();
    let Some((name, surroundings)) = tiers.iter().find(|(_, who)| holder("processes", *who) == "cgroup1") else {
        eprintln!("skipped: no control groups of version 1 for this user");
        return;
    };
    let own = std::fs::read_to_string("/proc/self/cgroup").expect("own groups");
    let path = own.lines().find_map(|line| line.split_once(":pids:")).expect("pids").1;
    let namespace = std::fs::read_link("/proc/self/ns/pid").expect("link");
    let namespace: String = namespace.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    let parent = PathBuf::from("/sys/fs/cgroup/pids").join(path.trim_start_matches('/'));
    let stale = parent.join(format!("cordon-{namespace}-{NO_MAKER}-1"));
    let foreign = parent.join(format!("cordon-1-{NO_MAKER}-1"));
    for folder in [&stale, &foreign] {
        std::fs::create_dir(folder).expect("mkdir");
    }
    let place = Place::new();
    let ended = run_plan(&place, &limited(name, &place, &json!({ "processes": 50 }), "true"), *surroundings);
    let left = (stale.exists(), foreign.exists());
    let _ = std::fs::remove_dir(&stale);
    std::fs::remove_dir(&foreign).expect("remove");
    assert_eq!((ended.code, left), (Some(0), (false, true)), "{ended:#?}");
}
