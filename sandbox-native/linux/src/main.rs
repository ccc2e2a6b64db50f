//! `cordon-launcher`: carries out one plan for one command. See `sandbox-native/README.md` for the order of steps and
//! the threat model.
#![cfg_attr(not(test), no_main)]

mod bpf;
mod broker;
mod channel;
mod command;
mod confine;
mod descriptors;
mod direct;
mod enforced;
mod exit_code;
mod guardian;
mod init;
mod landlock;
mod landlock_except;
mod limits;
mod limits_cgroup;
mod limits_rlimit;
mod limits_tree;
mod link;
mod maker;
mod mount_kinds;
mod mounts;
mod namespaces;
mod private_tmp;
mod privileges;
mod probe;
mod reap;
mod seccomp;
mod seccomp_table;
mod signals;
mod supervise;
mod sys;
mod warden;

const USAGE: &str = "usage: cordon-launcher run --channel=FD | probe | --version";

/// Does what the command line says; gives the exit code.
#[cfg_attr(test, allow(dead_code, reason = "the tests have a main of their own"))]
fn run() -> i32 {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["run", channel] => match channel.strip_prefix("--channel=").and_then(|fd| fd.parse().ok()) {
            Some(fd) if fd > 2 => supervise::run(fd),
            _ => usage("--channel wants the number of an open descriptor above 2"),
        },
        ["direct", words @ ..] => direct::run(words),
        ["probe"] => print_line(&serde_json::to_string(&probe::facts()).unwrap_or_default()),
        ["--version"] => print_line(concat!("cordon-launcher ", env!("CARGO_PKG_VERSION"))),
        _ => usage("unknown arguments"),
    }
}

fn print_line(line: &str) -> i32 {
    use std::io::Write;
    match writeln!(std::io::stdout(), "{line}") {
        Ok(()) => 0,
        Err(_) => exit_code::USAGE,
    }
}

fn usage(what: &str) -> i32 {
    eprintln!("cordon-launcher: {what}; {USAGE}");
    exit_code::USAGE
}
