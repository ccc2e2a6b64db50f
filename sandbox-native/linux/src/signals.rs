//! Signals on their way to the command, each delivered once.

use crate::sys;
use rustix::process::Signal;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// A copy of a terminal's signal that the host passes on comes within this time.
const COPY_WINDOW: Duration = Duration::from_millis(300);

/// `si_code` of a signal that the kernel sent, as the terminal's are (`asm-generic/siginfo.h`).
pub const SI_KERNEL: i32 = 0x80;

/// Forwards signals to the command, and keeps those that come before it runs.
#[derive(Default)]
pub struct Forwarder {
    command: Option<OwnedFd>,
    early: Vec<i32>,
    last_from_terminal: Option<(i32, Instant)>,
}

impl Forwarder {
    /// What the supervisor listens to.
    pub const SIGNALS: [i32; 11] = [
        libc::SIGCHLD,
        // The guardian's death.
        libc::SIGPWR,
        libc::SIGTERM,
        libc::SIGINT,
        libc::SIGHUP,
        libc::SIGQUIT,
        libc::SIGUSR1,
        libc::SIGUSR2,
        libc::SIGWINCH,
        libc::SIGCONT,
        libc::SIGTSTP,
    ];

    /// The command runs: it gets what came before.
    pub fn attach(&mut self, command: OwnedFd) {
        self.command = Some(command);
        for signal in std::mem::take(&mut self.early) {
            self.deliver(signal);
        }
    }

    /// Whether the command is stopped at this moment.
    pub fn is_stopped(&self) -> bool {
        self.command.as_ref().is_some_and(|command| sys::is_stopped(command.as_fd()))
    }

    /// A signal that this process got. What the terminal sent went to its whole foreground group, and the command is in
    /// it: passing it on would be twice.
    pub fn take(&mut self, signal: i32, origin: i32) {
        if origin == SI_KERNEL {
            self.last_from_terminal = Some((signal, Instant::now()));
        } else {
            self.pass_on(signal);
        }
    }

    /// A signal that the host passes on, by kill or over the channel.
    pub fn pass_on(&mut self, signal: i32) {
        match self.last_from_terminal {
            Some((last, at)) if last == signal && at.elapsed() < COPY_WINDOW => {}
            _ => self.deliver(signal),
        }
    }

    fn deliver(&mut self, signal: i32) {
        match (&self.command, Signal::from_named_raw(signal)) {
            // A command that has just ended needs no signal.
            (Some(command), Some(signal)) => drop(rustix::process::pidfd_send_signal(command, signal)),
            (Some(_), None) => {}
            (None, _) => self.early.push(signal),
        }
    }
}
