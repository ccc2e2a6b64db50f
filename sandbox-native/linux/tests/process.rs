//! Exit codes, signals, descriptors, and that nothing survives.

mod support;

use serde_json::json;
use std::os::fd::AsRawFd;
use support::{As, Place, eventually, golden, in_every_tier, is_alive, run_plan, start, tiers};

#[test]
fn exit_codes_are_the_commands_own() {
    for (script, code) in [("exit 0", 0), ("exit 1", 1), ("exit 42", 42), ("exit 255", 255)] {
        in_every_tier(script, |told, _, ended| {
            assert_eq!(ended.code, Some(code), "{told}");
            assert_eq!(ended.line("exit"), &json!({ "t": "exit", "code": code, "signal": null }), "{told}");
        });
    }
}

#[test]
fn a_signal_is_128_and_its_number_and_is_named() {
    in_every_tier("kill -TERM $$", |told, _, ended| {
        assert_eq!(ended.code, Some(143), "{told}");
        assert_eq!(ended.line("exit"), &json!({ "t": "exit", "code": null, "signal": "SIGTERM" }), "{told}");
    });
}

#[test]
fn a_command_that_is_not_there_is_127_and_one_that_can_not_run_is_126() {
    for (name, surroundings) in tiers() {
        let place = Place::new();
        for (command, code) in [("no-such-command", 127), ("./missing", 127), ("./file", 126), ("/usr", 126)] {
            let ended = run_plan(&place, &golden(name, &place, &[command]), surroundings);
            assert_eq!(ended.code, Some(code), "{name} {command} {ended:#?}");
            assert!(ended.stderr.contains(command), "{name} {ended:#?}");
        }
    }
}

#[test]
fn a_script_without_an_interpreter_line_runs_in_sh() {
    in_every_tier("printf 'echo ran $1\\n' > s; chmod +x s; exec env ./s word", |told, _, ended| {
        assert_eq!(ended.stdout, "ran word\n", "{told}");
    });
}

#[test]
fn a_signal_from_the_host_reaches_the_trap_of_the_command() {
    for (name, surroundings) in tiers() {
        let place = Place::new();
        let script = "trap 'echo caught; exit 7' TERM; echo ready; while :; do sleep 0.05; done";
        let mut running = start(&place, &golden(name, &place, &["/bin/sh", "-c", script]), surroundings);
        assert_eq!(running.first_output(), "ready\n", "{name}");
        running.tell(&json!({ "t": "signal", "signal": "SIGTERM" }));
        let ended = running.finish();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(7), "caught\n"), "{name} {ended:#?}");
    }
}

#[test]
fn a_signal_to_the_launcher_reaches_the_command() {
    for (name, surroundings) in tiers() {
        let place = Place::new();
        let script = "trap 'echo caught; exit 7' HUP; echo ready; while :; do sleep 0.05; done";
        let mut running = start(&place, &golden(name, &place, &["/bin/sh", "-c", script]), surroundings);
        assert_eq!(running.first_output(), "ready\n", "{name}");
        let pid = rustix::process::Pid::from_child(&running.child);
        rustix::process::kill_process(pid, rustix::process::Signal::HUP).expect("signal the launcher");
        let ended = running.finish();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(7), "caught\n"), "{name} {ended:#?}");
    }
}

#[test]
fn kill_and_a_closed_channel_end_the_whole_tree() {
    for (name, surroundings) in tiers() {
        for closes in [false, true] {
            let place = Place::new();
            let marker = format!("{}.{}", 7_000 + std::process::id(), u8::from(closes));
            let script = format!("(setsid sleep {marker} &) ; echo ready; sleep {marker}");
            let mut running = start(&place, &golden(name, &place, &["/bin/sh", "-c", &script]), surroundings);
            assert_eq!(running.first_output(), "ready\n", "{name}");
            assert!(eventually(|| is_alive(&marker)), "{name}");
            if closes {
                running.channel.shutdown(std::net::Shutdown::Write).expect("close the host's side");
            } else {
                running.tell(&json!({ "t": "kill" }));
            }
            let ended = running.finish();
            assert_eq!(ended.code, Some(137), "{name} {ended:#?}");
            assert!(!is_alive(&marker), "{name}");
        }
    }
}

#[test]
fn the_end_of_the_command_ends_what_it_left_in_the_background() {
    let marker = format!("{}.5", 8_000 + std::process::id());
    in_every_tier(&format!("(setsid sleep {marker} > /dev/null 2>&1 &); exit 3"), |told, _, ended| {
        assert_eq!(ended.code, Some(3), "{told}");
        assert!(!is_alive(&marker), "{told}");
    });
}

#[test]
fn killing_the_launcher_itself_ends_the_command() {
    for (name, surroundings) in tiers() {
        let place = Place::new();
        let marker = format!("{}.9", 9_000 + std::process::id());
        let script = format!("echo ready; exec sleep {marker}");
        let mut running = start(&place, &golden(name, &place, &["/bin/sh", "-c", &script]), surroundings);
        assert_eq!(running.first_output(), "ready\n", "{name}");
        running.child.kill().expect("SIGKILL");
        running.child.wait().expect("wait");
        assert!(eventually(|| !is_alive(&marker)), "{name}");
    }
}

#[test]
fn killing_the_launcher_or_its_supervisor_leaves_no_process_and_no_folder() {
    for (name, surroundings) in tiers() {
        for which in ["launcher", "supervisor"] {
            let place = Place::new();
            let marker = format!("{}.{}", 6_000 + std::process::id(), u8::from(which == "launcher"));
            // The shell's parent is the supervisor where there is no pid namespace.
            let script = format!("(setsid sleep {marker} > /dev/null 2>&1 &); echo $PPID $TMPDIR; sleep {marker}");
            let mut running = start(&place, &golden(name, &place, &["/bin/sh", "-c", &script]), surroundings);
            let told = running.first_output();
            let (parent, tmp) = told.trim().split_once(' ').expect("two words");
            assert!(eventually(|| is_alive(&marker)), "{name}");
            let supervisor = parent.parse().ok().filter(|pid| *pid > 1).and_then(rustix::process::Pid::from_raw);
            match supervisor {
                Some(pid) if which == "supervisor" => {
                    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("SIGKILL");
                }
                _ => running.child.kill().expect("SIGKILL"),
            }
            running.child.wait().expect("wait");
            assert!(eventually(|| !is_alive(&marker)), "{name} {which}");
            assert!(tmp == "/tmp" || eventually(|| !std::path::Path::new(tmp).exists()), "{name} {which} {tmp}");
        }
    }
}

#[test]
fn inherited_descriptors_are_closed() {
    for (name, surroundings) in tiers() {
        let place = Place::new();
        let secret = std::fs::File::open(place.top.join("outside")).expect("open");
        rustix::io::fcntl_setfd(&secret, rustix::io::FdFlags::empty()).expect("let it be inherited");
        // Not `<&N`: dash knows one digit only.
        let script = format!(
            "cat /proc/self/fd/{0} 2>/dev/null; ls /proc/self/fd | sort -n | head -3 | tr '\\n' ' '",
            secret.as_raw_fd()
        );
        let ended = run_plan(&place, &golden(name, &place, &["/bin/sh", "-c", &script]), surroundings);
        assert_eq!(ended.stdout.trim(), "0 1 2", "{name} {ended:#?}");
    }
}

#[test]
fn streams_that_were_closed_are_dev_null_and_the_end_is_still_told() {
    for name in ["landlock_default.json", "namespaces_default.json"] {
        if !tiers().contains(&(name, As::Caller)) {
            eprintln!("skipped: {name}");
            continue;
        }
        let place = Place::new();
        let script = "readlink /proc/self/fd/0; echo lost >&2; cat; exit 4";
        let ended = run_plan(&place, &golden(name, &place, &["/bin/sh", "-c", script]), As::ClosedStreams);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(4), "/dev/null\n"), "{name} {ended:#?}");
        assert_eq!(ended.line("exit")["code"], 4, "{name} {ended:#?}");
    }
}

#[test]
fn the_environment_is_the_plans_and_no_other() {
    in_every_tier("env | cut -d= -f1 | sort | tr '\\n' ' '", |told, _, ended| {
        assert_eq!(ended.stdout.trim(), "HOME LANG PATH PWD TMPDIR", "{told}");
    });
}

#[test]
fn no_signal_is_ignored_or_blocked_in_the_command() {
    in_every_tier("exec grep -E 'Sig(Blk|Ign)' /proc/self/status", |told, _, ended| {
        let masks: Vec<&str> = ended.stdout.split_whitespace().filter(|word| !word.ends_with(':')).collect();
        assert_eq!(masks, ["0000000000000000", "0000000000000000"], "{told}");
    });
}

#[test]
fn twenty_at_once_in_one_folder_all_succeed() {
    for (name, surroundings) in tiers() {
        let place = Place::new();
        let plan = golden(name, &place, &["true"]);
        let running: Vec<_> = (0..20).map(|_| start(&place, &plan, surroundings)).collect();
        for one in running {
            let ended = one.finish();
            assert_eq!(ended.code, Some(0), "{name} {ended:#?}");
        }
    }
}

#[test]
fn an_early_signal_is_not_lost() {
    let place = Place::new();
    let plan = golden("landlock_default.json", &place, &["sleep", "30"]);
    let mut running = start(&place, &plan, As::Caller);
    running.tell(&json!({ "t": "signal", "signal": "SIGTERM" }));
    assert_eq!(running.finish().code, Some(143));
}
