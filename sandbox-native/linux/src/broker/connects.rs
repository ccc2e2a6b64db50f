//! Connects that may have to wait for the other side: each in a child that answers for itself, since a socket can't be asked
//! to connect without waiting unless all who hold it see the flag.

use super::call::Call;
use super::caller::Caller;
use crate::sys::{self, CloneOutcome};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::Signal;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
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
    child: Rc<OwnedFd>,
}

impl Connects {
    /// Starts a connect under the caller's own rulesets, and gives the child that makes it and answers. `node` is what the
    /// address leads to, held until then.
    pub fn start(
        &mut self,
        call: &Call<'_>,
        (listener, rulesets): (BorrowedFd<'_>, &[&OwnedFd]),
        (socket, address, node): (OwnedFd, &[u8], Option<OwnedFd>),
    ) -> Result<Rc<OwnedFd>, Errno> {
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
                let child = Rc::new(pidfd);
                self.waiting.push(Waiting { id, tid, since: Instant::now(), child: child.clone() });
                Ok(child)
            }
        }
    }

    /// How long poll may sleep.
    pub fn pause(&self) -> Option<Duration> {
        (!self.waiting.is_empty()).then_some(PAUSE)
    }

    /// Ends a child's connect, and gives its caller this errno if it waits still.
    pub fn cancel(&mut self, child: &Rc<OwnedFd>, listener: BorrowedFd<'_>, errno: Errno) {
        let _ = rustix::process::pidfd_send_signal(child.as_ref(), Signal::KILL);
        let _ = rustix::event::poll(&mut [PollFd::new(child.as_ref(), PollFlags::IN)], None);
        if let Some(at) = self.waiting.iter().position(|waiting| Rc::ptr_eq(&waiting.child, child)) {
            sys::answer_errno(listener, self.waiting.swap_remove(at).id, errno.raw_os_error());
        }
    }

    /// Forgets what was answered, and interrupts those whose callers a signal waits for: what is started again finds the
    /// socket on its way, as it would without a broker.
    pub fn look(&mut self, listener: BorrowedFd<'_>) {
        self.waiting.retain(|waiting| {
            if !sys::notice_is_live(listener, waiting.id) {
                // Answered, or the caller is gone.
                let _ = rustix::process::pidfd_send_signal(waiting.child.as_ref(), Signal::KILL);
                return false;
            }
            // Killed from outside: one that answers is known by its answer.
            if has_ended(&waiting.child) {
                sys::answer_errno(listener, waiting.id, RESTART);
                return false;
            }
            // Sent again as long as it takes: it may come before the child is where it can be interrupted.
            if waiting.since.elapsed() >= PAUSE && is_signalled(waiting.tid) {
                let _ = rustix::process::pidfd_send_signal(waiting.child.as_ref(), Signal::USR1);
            }
            true
        });
    }
}

fn is_signalled(tid: libc::pid_t) -> bool {
    !Caller::new(tid).fresh_status().is_ok_and(|status| status.pending == 0)
}

/// Whether a child has ended.
pub fn has_ended(child: &OwnedFd) -> bool {
    let mut entry = [PollFd::new(child, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    rustix::event::poll(&mut entry, Some(&now)).is_ok_and(|count| count > 0)
}
