//! Ends every process that the command left behind where no pid namespace does it.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions};

/// Kills all descendants and waits for them. As subreaper this process inherits each orphan, so killing its children
/// until it has none reaches every generation. Processes of the command can outrun one round but not be born outside.
pub fn kill_descendants() {
    loop {
        for child in children() {
            // One that is dead already is reaped below.
            let _ = rustix::process::kill_process(child, Signal::KILL);
        }
        // Blocks until one of the killed ends; an error is ECHILD: none is left.
        if rustix::process::wait(WaitOptions::empty()).is_err() {
            return;
        }
        while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {}
    }
}

/// Waits for one child. It may have been waited for already.
pub fn wait_for(child: libc::pid_t) {
    while let Err(Errno::INTR) = rustix::process::waitpid(Pid::from_raw(child), WaitOptions::empty()) {}
}

fn children() -> Vec<Pid> {
    let me = rustix::process::getpid().as_raw_nonzero();
    let listed = std::fs::read_to_string(format!("/proc/self/task/{me}/children"));
    let parse = |text: &str| text.parse().ok().and_then(Pid::from_raw);
    match listed {
        Ok(text) => text.split_ascii_whitespace().filter_map(parse).collect(),
        // A kernel without CONFIG_PROC_CHILDREN.
        Err(_) => children_by_scan(me.get()),
    }
}

fn children_by_scan(me: i32) -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| parent_of(*pid) == Some(me)).filter_map(Pid::from_raw).collect()
}

/// The parent of a process.
pub fn parent_of(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold any; the fields after the last one are state and parent.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}
