//! Where no pid namespace ends the tree: a process above the supervisor, so that neither can be killed without the other
//! cleaning up. It is the one that the host started; the supervisor is its child.

use crate::channel::Channel;
use crate::enforced::Failure;
use crate::exit_code::{self, WaitStatus};
use crate::reap;
use crate::signals::{Forwarder, SI_KERNEL};
use crate::sys::{self, CloneOutcome};
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Signal, WaitOptions};
use std::os::fd::{AsFd, BorrowedFd};

/// Which of the two processes this is.
pub enum Above {
    /// The supervisor, with the channel.
    Supervisor(Channel),
    /// The guardian, when the supervisor has ended and nothing of the tree is left: exit with this code.
    Guardian(i32),
}

/// Puts a guardian above this process, which goes on as its child.
pub fn stand_above(channel: Channel) -> Result<Above, (Channel, Failure)> {
    let above = rustix::process::getpid();
    let prepared = || -> Result<_, Failure> {
        sys::mask_all_signals();
        // Orphans of a supervisor that was killed come here and not to the host's init.
        rustix::process::set_child_subreaper(Some(above)).map_err(Failure::at("subreaper"))?;
        let signals = sys::make_signalfd(&Forwarder::SIGNALS).map_err(Failure::at("signalfd"))?;
        Ok((signals, sys::clone_process(0).map_err(Failure::at("clone"))?))
    };
    match prepared() {
        Err(failure) => Err((channel, failure)),
        Ok((_, CloneOutcome::Child)) => {
            // The guardian's death, which the supervisor answers by ending everything.
            let armed = rustix::process::set_parent_process_death_signal(Some(Signal::POWER));
            match armed {
                Err(errno) => Err((channel, Failure::at("death signal")(errno))),
                Ok(()) if rustix::process::getppid() != Some(above) => Ok(Above::Guardian(exit_code::REFUSED)),
                Ok(()) => Ok(Above::Supervisor(channel)),
            }
        }
        Ok((signals, CloneOutcome::Parent { pid, pidfd })) => {
            let alone = channel.has_console();
            // The host must not wait for this side of anything.
            drop(channel);
            sys::close_standard_streams();
            // As the supervisor, it is outside: nothing confined may look into it.
            let _ = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
            let code = watch_over(pid, pidfd.as_fd(), signals.as_fd(), alone);
            reap::kill_descendants();
            Ok(Above::Guardian(code))
        }
    }
}

/// Passes on signals that were meant for the launcher; a terminal's have reached the supervisor too. `alone`: no host stands
/// above, so a shell waits for this process to stop.
fn watch_over(supervisor: libc::pid_t, supervisor_fd: BorrowedFd<'_>, signals: BorrowedFd<'_>, alone: bool) -> i32 {
    loop {
        let mut entry = [rustix::event::PollFd::from_borrowed_fd(signals, rustix::event::PollFlags::IN)];
        // Interrupted is as good as ready: the reads do not block.
        let _ = rustix::event::poll(&mut entry, None);
        while let Some((signal, origin)) = sys::read_signal(signals) {
            if signal != libc::SIGCHLD
                && origin != SI_KERNEL
                && let Some(signal) = Signal::from_named_raw(signal)
            {
                // One that has just ended needs no signal.
                let _ = rustix::process::pidfd_send_signal(supervisor_fd, signal);
            }
            if signal == libc::SIGTSTP && alone {
                sys::stop_this_process(libc::SIGSTOP);
            }
        }
        loop {
            match rustix::process::wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
                // The supervisor stopped as its command did; a shell waits for this process to do so.
                Ok(Some((child, status))) if status.stopped() => {
                    if child.as_raw_pid() == supervisor && alone {
                        sys::stop_this_process(libc::SIGSTOP);
                        break;
                    }
                }
                Ok(Some((dead, status))) if dead.as_raw_pid() == supervisor => {
                    return WaitStatus(status.as_raw()).shell_code();
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) | Err(_) => break,
            }
        }
    }
}
