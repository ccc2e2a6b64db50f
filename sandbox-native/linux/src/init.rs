//! The process that the supervisor starts. In a pid namespace it is init: it starts the command, reaps orphans, and its
//! end is the end of everything in the namespace. Without one it becomes the command itself.

use crate::channel::Channel;
use crate::command::Prepared;
use crate::confine::Ground;
use crate::enforced::{Failure, Ledger};
use crate::exit_code::{self, WaitStatus};
use crate::link::{Link, Message};
use crate::sys::{self, CloneOutcome};
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Signal, WaitOptions};
use std::os::fd::OwnedFd;

/// Confines this process and runs the command; gives the exit code of this process.
pub fn run(ground: &Ground<'_>, channel: Channel, link: &Link) -> i32 {
    // The supervisor's death, by SIGKILL too, is the command's. If it died before this line, its end of the link is gone.
    if rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).is_err() || link.is_hung_up() {
        return exit_code::REFUSED;
    }
    let refuse = |report| {
        channel.send(&report);
        // If the supervisor is gone there is nobody to tell.
        let _ = link.send(&Message::Refused);
        exit_code::REFUSED
    };
    let prepared = match Prepared::new(&ground.plan.command, ground.tmpdir().as_deref()) {
        Ok(prepared) => prepared,
        Err(failure) => return refuse(Ledger::new(ground.plan).refuse("command", failure)),
    };
    let confined = match ground.confine() {
        Ok(confined) => confined,
        Err(report) => return refuse(*report),
    };
    let in_namespaces = ground.namespaces.is_ok();
    let mut listener = confined.listener;
    if !in_namespaces
        && let Some(listener) = listener.take()
        && let Err(errno) = link.send(&Message::Listener(listener))
    {
        return refuse(Ledger::new(ground.plan).refuse("seccomp", Failure::at("hand over the listener")(errno)));
    }
    channel.send(&confined.enforced);
    drop(channel);
    if in_namespaces {
        return start_and_reap(&prepared, link, listener);
    }
    sys::unmask_all_signals();
    prepared.exec()
}

fn start_and_reap(prepared: &Prepared, link: &Link, listener: Option<OwnedFd>) -> i32 {
    // The command shares uid and view with init. Init's memory still holds the host's environment, so it must be out of
    // reach of ptrace and /proc/1; execve makes the command dumpable again.
    if rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).is_err() {
        return exit_code::REFUSED;
    }
    let (pid, command) = match sys::clone_process(0) {
        Ok(CloneOutcome::Child) => {
            sys::unmask_all_signals();
            return prepared.exec();
        }
        Ok(CloneOutcome::Parent { pid, pidfd }) => (pid, pidfd),
        Err(_) => return exit_code::REFUSED,
    };
    if link.send(&Message::Started { command, listener }).is_err() {
        return exit_code::REFUSED;
    }
    sys::close_standard_streams();
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((dead, status))) if dead.as_raw_pid() == pid => {
                let status = WaitStatus(status.as_raw());
                // What the command left ends here and not with this process: then the supervisor can tell the host before
                // the kernel has taken the mounts apart, which is a third of a millisecond.
                sys::kill_all_but_init();
                while !matches!(rustix::process::wait(WaitOptions::empty()), Err(Errno::CHILD)) {}
                // If the supervisor is gone, so will this process be in a moment.
                let _ = link.send(&Message::Ended(status));
                return status.shell_code();
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return exit_code::REFUSED,
        }
    }
}
