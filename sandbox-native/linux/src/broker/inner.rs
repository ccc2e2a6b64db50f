//! Callers that have confined themselves further. The broker is outside of a Landlock domain that a caller made for itself, as
//! every sandbox does that is started in this one, so what it makes for such a caller is made by a child under the same
//! rulesets. It remembers each ruleset with the process that took it; who descends from that one is under it too.

use super::call::{Answer, Call};
use crate::link::{Link, Message};
use crate::sys::{self, CloneOutcome};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, WaitOptions};
use std::os::fd::{AsFd, OwnedFd};

/// The kernel lays 16 domains over each other; this many take one in one run.
const MOST_DOMAINS: usize = 256;

/// No command is started through more processes than this.
const LONGEST_LINE: usize = 1000;

/// The rulesets that callers took, in that order.
#[derive(Default)]
pub struct Domains {
    taken: Vec<(libc::pid_t, OwnedFd)>,
    /// The command; who does not descend from it has lost a parent.
    command: libc::pid_t,
}

impl Domains {
    pub fn below(command: libc::pid_t) -> Domains {
        Domains { taken: Vec::new(), command }
    }

    /// Remembers what landlock_restrict_self takes; the kernel does the rest.
    pub fn note(&mut self, call: &Call<'_>) -> Result<Answer, Errno> {
        if call.int(0) < 0 {
            // Only a change of what is logged, or an error.
            return Ok(Answer::Continue);
        }
        if self.taken.len() >= MOST_DOMAINS {
            return Err(Errno::TOOBIG);
        }
        let tgid = call.caller.status()?.tgid;
        let process = rustix::process::pidfd_open(Pid::from_raw(tgid).ok_or(Errno::SRCH)?, PidfdFlags::empty())?;
        let ruleset = rustix::process::pidfd_getfd(&process, call.int(0), PidfdGetfdFlags::empty())?;
        self.taken.push((tgid, ruleset));
        Ok(Answer::Continue)
    }

    /// The rulesets that a caller is under. One whose line of parents is broken could be below any of them.
    pub fn of(&self, call: &Call<'_>) -> Result<Vec<&OwnedFd>, Errno> {
        if self.taken.is_empty() {
            return Ok(Vec::new());
        }
        let tgid = call.caller.status()?.tgid;
        let line = line_of(tgid);
        // A parent that died while the line was read left its child to another: then it reads differently now.
        let whole = line.last() == Some(&self.command) && line_of(tgid) == line;
        let under = |(process, _): &&(libc::pid_t, OwnedFd)| !whole || line.contains(process);
        Ok(self.taken.iter().filter(under).map(|(_, ruleset)| ruleset).collect())
    }

    /// Makes a call for its caller, under what that one is under.
    pub fn make(&self, call: &Call<'_>, act: impl FnOnce() -> Result<(), Errno>) -> Result<(), Errno> {
        let rulesets = self.of(call)?;
        if rulesets.is_empty() { act() } else { in_child(&rulesets, || act().map(|()| None)).map(drop) }
    }

    /// The same for a call that gives a descriptor.
    pub fn open(&self, call: &Call<'_>, act: impl FnOnce() -> Result<OwnedFd, Errno>) -> Result<OwnedFd, Errno> {
        let rulesets = self.of(call)?;
        if rulesets.is_empty() {
            return act();
        }
        in_child(&rulesets, || act().map(Some))?.ok_or(Errno::BADF)
    }
}

/// A process and its ancestors, up to the child of this process.
fn line_of(process: libc::pid_t) -> Vec<libc::pid_t> {
    let me = rustix::process::getpid().as_raw_nonzero().get();
    let mut line = vec![process];
    while let Some(parent) = line.last().and_then(|last| crate::reap::parent_of(*last)) {
        if parent == me || parent == 0 || line.len() >= LONGEST_LINE {
            break;
        }
        line.push(parent);
    }
    line
}

/// Acts in a child with these domains, which has everything else in common with this process.
fn in_child(
    rulesets: &[&OwnedFd],
    act: impl FnOnce() -> Result<Option<OwnedFd>, Errno>,
) -> Result<Option<OwnedFd>, Errno> {
    let (mine, theirs) = Link::pair()?;
    match sys::clone_process(0)? {
        CloneOutcome::Child => {
            let confined = rulesets.iter().try_for_each(|ruleset| sys::restrict_self(ruleset.as_fd()));
            let told = match confined.and_then(|()| act()) {
                Ok(file) => Message::Made(file),
                Err(errno) => Message::Failed(errno.raw_os_error()),
            };
            let _ = theirs.send(&told);
            sys::exit_now();
        }
        CloneOutcome::Parent { pid, .. } => {
            drop(theirs);
            let told = mine.wait();
            while let Err(Errno::INTR) = rustix::process::waitpid(Pid::from_raw(pid), WaitOptions::empty()) {}
            match told? {
                Message::Made(file) => Ok(file),
                Message::Failed(errno) => Err(Errno::from_raw_os_error(errno)),
                _ => Err(Errno::PERM),
            }
        }
    }
}
