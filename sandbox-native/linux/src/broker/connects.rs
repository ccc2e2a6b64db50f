//! Connects that may have to wait for the other side: each in a thread, since a socket can't be asked to connect without
//! waiting unless all who hold it see the flag.

use super::call::{Answer, Call};
use super::caller::Caller;
use crate::sys;
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// More at once get EAGAIN: each holds a thread and two or three descriptors here.
const MOST_WAITING: usize = 128;
const STACK_BYTES: usize = 64 << 10;
/// How often the signals of callers are looked at.
const PAUSE: Duration = Duration::from_millis(20);

/// ERESTARTSYS: the kernel makes EINTR of it, or starts the call again, as the signal's handler wants it.
const RESTART: i32 = 512;

/// Connects that wait, and the listener that their threads answer by.
#[derive(Default)]
pub struct Connects {
    waiting: Vec<Waiting>,
    listener: Option<Arc<OwnedFd>>,
}

struct Waiting {
    id: u64,
    tid: libc::pid_t,
    since: Instant,
    /// Set by whoever answers.
    answered: Arc<AtomicBool>,
    /// Set when the thread has ended.
    over: Arc<AtomicBool>,
}

impl Connects {
    /// Starts a connect. `node` is what the address leads to, held until then.
    pub fn start(
        &mut self,
        call: &Call<'_>,
        listener: BorrowedFd<'_>,
        (socket, address, node): (OwnedFd, Vec<u8>, Option<OwnedFd>),
    ) -> Result<Answer, Errno> {
        self.waiting.retain(|waiting| !waiting.over.load(Ordering::Acquire));
        if self.waiting.len() >= MOST_WAITING {
            return Err(Errno::AGAIN);
        }
        let listener = match &self.listener {
            Some(listener) => Arc::clone(listener),
            None => {
                Arc::clone(self.listener.insert(Arc::new(listener.try_clone_to_owned().map_err(|_| Errno::MFILE)?)))
            }
        };
        let (answered, over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let waiting = Waiting {
            id: call.id,
            tid: call.caller.tid,
            since: Instant::now(),
            answered: Arc::clone(&answered),
            over: Arc::clone(&over),
        };
        let id = call.id;
        let connect = move || {
            let connected = sys::connect(socket.as_fd(), &address);
            drop((socket, node));
            if !answered.swap(true, Ordering::AcqRel) {
                let answer = connected.map_or_else(Answer::Fail, |()| Answer::Value(0));
                answer.give(listener.as_fd(), id);
            }
            over.store(true, Ordering::Release);
        };
        std::thread::Builder::new().stack_size(STACK_BYTES).spawn(connect).map_err(|_| Errno::AGAIN)?;
        self.waiting.push(waiting);
        Ok(Answer::Given)
    }

    /// How long poll may sleep.
    pub fn pause(&self) -> Option<Duration> {
        self.waiting.iter().any(Waiting::is_open).then_some(PAUSE)
    }

    /// Answers those whose callers a signal waits for. Their threads go on; the call is started again and finds the socket
    /// on its way, as it would without a broker.
    pub fn look_at_signals(&self, listener: BorrowedFd<'_>) {
        for waiting in self.waiting.iter().filter(|waiting| waiting.is_open() && waiting.since.elapsed() >= PAUSE) {
            let is_calm = Caller::new(waiting.tid).fresh_status().is_ok_and(|status| status.pending == 0);
            if !is_calm && !waiting.answered.swap(true, Ordering::AcqRel) {
                sys::answer_errno(listener, waiting.id, RESTART);
            }
        }
    }
}

impl Waiting {
    fn is_open(&self) -> bool {
        !self.answered.load(Ordering::Acquire)
    }
}
