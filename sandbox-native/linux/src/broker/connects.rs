//! Connects that may have to wait for the other side: each in a child that answers for itself, since a socket can't be asked
//! to connect without waiting unless all who hold it see the flag.

use super::call::{Answer, Call};
use super::caller::Caller;
use crate::sys::{self, CloneOutcome};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::Signal;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// More at once get EAGAIN: each is a process.
const MOST_WAITING: usize = 128;
/// How often callers are looked at.
const PAUSE: Duration = Duration::from_millis(20);

/// ERESTARTSYS: the kernel makes EINTR of it, or starts the call again, as the signal's handler wants it.
const RESTART: i32 = 512;

/// Connects that wait.
#[derive(Default)]
pub struct Connects {
    waiting: Vec<Waiting>,
}

struct Waiting {
    id: u64,
    tid: libc::pid_t,
    since: Instant,
    child: OwnedFd,
}

impl Connects {
    /// Starts a connect under the caller's own rulesets. `node` is what the address leads to, held until then.
    pub fn start(
        &mut self,
        call: &Call<'_>,
        (listener, rulesets): (BorrowedFd<'_>, &[&OwnedFd]),
        (socket, address, node): (OwnedFd, &[u8], Option<OwnedFd>),
    ) -> Result<Answer, Errno> {
        if self.waiting.len() >= MOST_WAITING {
            return Err(Errno::AGAIN);
        }
        match sys::clone_process(0)? {
            CloneOutcome::Child => {
                let confined = rulesets.iter().try_for_each(|ruleset| sys::restrict_self(ruleset.as_fd()));
                // Pipes of others would not end while this process has them too.
                let mut kept = vec![listener.as_raw_fd(), socket.as_raw_fd()];
                kept.extend(node.as_ref().map(AsRawFd::as_raw_fd));
                sys::close_others(&mut kept);
                sys::be_interruptible();
                match confined.and_then(|()| sys::connect(socket.as_fd(), address)) {
                    Ok(()) => sys::answer_value(listener, call.id, 0),
                    Err(Errno::INTR) => sys::answer_errno(listener, call.id, RESTART),
                    Err(errno) => sys::answer_errno(listener, call.id, errno.raw_os_error()),
                }
                sys::exit_now();
            }
            CloneOutcome::Parent { pidfd, .. } => {
                let (id, tid) = (call.id, call.caller.tid);
                self.waiting.push(Waiting { id, tid, since: Instant::now(), child: pidfd });
                Ok(Answer::Given)
            }
        }
    }

    /// How long poll may sleep.
    pub fn pause(&self) -> Option<Duration> {
        (!self.waiting.is_empty()).then_some(PAUSE)
    }

    /// Forgets what was answered, and interrupts those whose callers a signal waits for: what is started again finds the
    /// socket on its way, as it would without a broker.
    pub fn look(&mut self, listener: BorrowedFd<'_>) {
        self.waiting.retain(|waiting| {
            if !sys::notice_is_live(listener, waiting.id) {
                // Answered, or the caller is gone.
                let _ = rustix::process::pidfd_send_signal(&waiting.child, Signal::KILL);
                return false;
            }
            if has_ended(&waiting.child) {
                sys::answer_errno(listener, waiting.id, RESTART);
                return false;
            }
            // Sent again as long as it takes: it may come before the child is where it can be interrupted.
            if waiting.since.elapsed() >= PAUSE && is_signalled(waiting.tid) {
                let _ = rustix::process::pidfd_send_signal(&waiting.child, Signal::USR1);
            }
            true
        });
    }
}

fn is_signalled(tid: libc::pid_t) -> bool {
    !Caller::new(tid).fresh_status().is_ok_and(|status| status.pending == 0)
}

/// Killed from outside: a child that answers is known by its answer.
fn has_ended(child: &OwnedFd) -> bool {
    let mut entry = [PollFd::new(child, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    rustix::event::poll(&mut entry, Some(&now)).is_ok_and(|count| count > 0)
}
