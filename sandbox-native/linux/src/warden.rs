//! The warden at its work: it answers trapped calls, reaps, and ends what the command left.

use crate::broker::Broker;
use crate::exit_code::{self, WaitStatus};
use crate::link::{Link, Message};
use crate::{reap, sys};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::WaitOptions;
use std::os::fd::AsFd;

/// The process above the command.
pub struct Warden {
    command: libc::pid_t,
    broker: Option<Broker>,
}

/// What poll found.
struct Ready {
    signals: bool,
    hung_up: bool,
    notices: bool,
    unheard: bool,
}

impl Warden {
    pub fn new(command: libc::pid_t, broker: Option<Broker>) -> Warden {
        Warden { command, broker }
    }

    /// Serves until the command has ended, ends the rest, and tells. Gives the exit code of this process.
    pub fn serve(mut self, link: Link) -> i32 {
        let Ok(signals) = sys::make_signalfd(&[libc::SIGCHLD, libc::SIGPWR]) else { return exit_code::REFUSED };
        // A child that ended before the signalfd was there is reaped all the same.
        let mut ended = self.reap(&link);
        while ended.is_none() {
            let Ok(ready) = self.wait(signals.as_fd(), &link) else { break };
            if ready.hung_up {
                // The supervisor is gone. In a pid namespace this process would not be here either.
                break;
            }
            if ready.signals {
                while let Some((signal, _)) = sys::read_signal(signals.as_fd()) {
                    if signal == libc::SIGPWR {
                        end_all();
                        return exit_code::REFUSED;
                    }
                }
                ended = self.reap(&link);
            }
            if let Some(broker) = &mut self.broker {
                broker.retry(&link);
                if ready.notices && ended.is_none() && broker.serve(&link).is_err() {
                    self.broker = None;
                }
            }
            if ready.unheard {
                self.broker = None;
            }
        }
        // What the command left ends here and not with this process: then the supervisor can tell the host before the
        // kernel has taken the mounts apart, which is a third of a millisecond.
        end_all();
        let status = ended.unwrap_or(WaitStatus::KILLED);
        if let Some(broker) = self.broker.as_mut().filter(|_| status.shell_code() != 0) {
            broker.conclude(&link);
        }
        // If the supervisor is gone, so will this process be in a moment.
        let _ = link.send(&Message::Ended(status));
        status.shell_code()
    }

    fn wait(&self, signals: std::os::fd::BorrowedFd<'_>, link: &Link) -> Result<Ready, Errno> {
        // An entry whose descriptor is gone stands for itself with the signals: poll has no empty place.
        let listener = self.broker.as_ref().map_or(signals, Broker::listener);
        let pause = self.broker.as_ref().and_then(Broker::pause);
        let pause = pause.map(|pause| Timespec { tv_sec: 0, tv_nsec: pause.subsec_nanos().into() });
        let mut entries = [
            PollFd::from_borrowed_fd(listener, PollFlags::IN),
            PollFd::from_borrowed_fd(signals, PollFlags::IN),
            PollFd::from_borrowed_fd(link.as_fd(), PollFlags::empty()),
        ];
        match rustix::event::poll(&mut entries, pause.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
        let [listener, signals, link] = entries.map(|entry| entry.revents());
        let has_broker = self.broker.is_some();
        Ok(Ready {
            signals: signals.contains(PollFlags::IN),
            hung_up: link.contains(PollFlags::HUP),
            notices: has_broker && listener.contains(PollFlags::IN),
            // Everyone under the filter is gone. Receiving would say ENOENT, as for one caller that was killed, and poll
            // would come back at once for as long as the kernel takes to tear the namespaces down.
            unheard: has_broker && listener.contains(PollFlags::HUP),
        })
    }

    /// Reaps what has ended; gives how the command did, if it is among them. Tells when it has stopped.
    fn reap(&self, link: &Link) -> Option<WaitStatus> {
        let mut ended = None;
        while let Ok(Some((child, status))) = rustix::process::wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
            if child.as_raw_pid() != self.command {
                continue;
            }
            match status.stopping_signal() {
                // A supervisor that is gone stops nobody.
                Some(signal) => drop(link.send(&Message::Stopped(signal))),
                None => ended = Some(WaitStatus(status.as_raw())),
            }
        }
        ended
    }
}

/// Kills and reaps everything below this process.
fn end_all() {
    if rustix::process::getpid().is_init() {
        sys::kill_all_but_init();
        while !matches!(rustix::process::wait(WaitOptions::empty()), Err(Errno::CHILD)) {}
    } else {
        reap::kill_descendants();
    }
}
