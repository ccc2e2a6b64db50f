//! Opens of FIFOs that wait for the other end. No thread waits: each is tried again without blocking, and as every writer
//! comes through here, a reader hears of it at once.

use super::call::Answer;
use super::caller::Caller;
use crate::sys;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// More callers than this get EAGAIN: each holds a descriptor or two here.
const MOST_WAITING: usize = 400;
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// ERESTARTSYS: the kernel makes EINTR of it, or starts the call again, as the signal's handler wants it.
const RESTART: i32 = 512;

/// One open that waits.
pub struct Pending {
    pub id: u64,
    pub tid: libc::pid_t,
    pub cloexec: bool,
    /// The FIFO itself, by O_PATH.
    pub fifo: OwnedFd,
    /// Without O_NONBLOCK, O_CREAT and the like.
    pub flags: OFlags,
    /// Its own end, open already: a reader that waits for a writer.
    held: Option<OwnedFd>,
    since: Instant,
}

/// All that wait.
#[derive(Default)]
pub struct Fifos {
    waiting: Vec<Pending>,
    next: Option<Instant>,
}

/// What a try came to.
enum Tried {
    Open(OwnedFd),
    Failed(i32),
    NotYet,
}

impl Pending {
    /// `first` is what a first try gave, which was made with the rights of the caller.
    pub fn new(id: u64, tid: libc::pid_t, (fifo, flags): (OwnedFd, OFlags), first: Option<OwnedFd>) -> Pending {
        let kept = OFlags::RWMODE | OFlags::APPEND | OFlags::from_bits_retain(libc::O_LARGEFILE.cast_unsigned());
        let cloexec = flags.contains(OFlags::CLOEXEC);
        Pending { id, tid, cloexec, fifo, flags: flags & kept, held: first, since: Instant::now() }
    }

    fn reads(&self) -> bool {
        self.flags & OFlags::RWMODE == OFlags::RDONLY
    }

    fn attempt(&mut self) -> Tried {
        if let Some(reader) = &self.held {
            return if !self.reads() || has_writer(reader) { self.hand_over() } else { self.interrupted() };
        }
        let flags = self.flags | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let link = format!("/proc/self/fd/{}", self.fifo.as_raw_fd());
        match rustix::fs::openat2(rustix::fs::CWD, link, flags, Mode::empty(), ResolveFlags::empty()) {
            Ok(reader) if self.reads() => {
                // It counts as a reader from now on, so that writers get through.
                self.held = Some(reader);
                Tried::NotYet
            }
            Ok(writer) => {
                self.held = Some(writer);
                self.hand_over()
            }
            Err(Errno::NXIO) => self.interrupted(),
            Err(errno) => Tried::Failed(errno.raw_os_error()),
        }
    }

    fn hand_over(&mut self) -> Tried {
        let Some(file) = self.held.take() else { return Tried::NotYet };
        match rustix::fs::fcntl_setfl(&file, self.flags - OFlags::RWMODE) {
            Ok(()) => Tried::Open(file),
            Err(errno) => Tried::Failed(errno.raw_os_error()),
        }
    }

    /// A signal that the caller would have been woken for.
    fn interrupted(&self) -> Tried {
        // The first moments are not worth a look into /proc.
        if self.since.elapsed() < Duration::from_millis(5) {
            return Tried::NotYet;
        }
        match Caller::new(self.tid).fresh_status() {
            Ok(status) if status.pending == 0 => Tried::NotYet,
            _ => Tried::Failed(RESTART),
        }
    }
}

/// Whether a writer is there, or has been since the reader came. tee(2) takes nothing out of the pipe, and tells an empty one
/// without writers from one that has some; POLLHUP is for a writer that has left again.
fn has_writer(reader: &OwnedFd) -> bool {
    let mut entry = [PollFd::new(reader, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let polled = rustix::event::poll(&mut entry, Some(&now));
    if polled.is_ok() && entry.iter().any(|entry| !entry.revents().is_empty()) {
        return true;
    }
    let copied = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
        .and_then(|(_read, write)| rustix::pipe::tee(reader, &write, 1, SpliceFlags::NONBLOCK));
    !matches!(copied, Ok(0))
}

impl Fifos {
    /// Takes over an open that may have to wait. EAGAIN when too many do.
    pub fn take(&mut self, pending: Pending, listener: BorrowedFd<'_>) -> Result<Answer, Errno> {
        if self.waiting.len() >= MOST_WAITING {
            return Err(Errno::AGAIN);
        }
        // A writer without a reader changes nothing for the others.
        let moves = pending.held.is_some();
        self.waiting.push(pending);
        self.next.get_or_insert_with(|| Instant::now() + SHORTEST_PAUSE);
        if moves {
            self.try_all(listener);
        }
        Ok(Answer::Given)
    }

    /// How long poll may sleep.
    pub fn pause(&self) -> Option<Duration> {
        if self.waiting.is_empty() {
            return None;
        }
        let left = self.next.map_or(SHORTEST_PAUSE, |next| next.saturating_duration_since(Instant::now()));
        Some(left.max(SHORTEST_PAUSE))
    }

    /// Tries those that wait, if it is time.
    pub fn retry(&mut self, listener: BorrowedFd<'_>) {
        if !self.waiting.is_empty() && self.next.is_none_or(|next| Instant::now() >= next) {
            self.try_all(listener);
        }
    }

    fn try_all(&mut self, listener: BorrowedFd<'_>) {
        // A writer lets a reader through and a reader a writer, so as long as anything moves, look again.
        let mut moved = true;
        while moved {
            moved = false;
            let mut at = 0;
            while let Some(pending) = self.waiting.get_mut(at) {
                let counted = pending.held.is_some();
                let tried =
                    if sys::notice_is_live(listener, pending.id) { pending.attempt() } else { Tried::Failed(0) };
                moved |= counted != pending.held.is_some() || matches!(tried, Tried::Open(_));
                let (id, cloexec, reads) = (pending.id, pending.cloexec, pending.reads());
                match tried {
                    Tried::NotYet => {
                        at += 1;
                        continue;
                    }
                    Tried::Open(file) => {
                        // While the writer is still open here, its readers are let through.
                        if !reads {
                            let fifo = self.waiting.swap_remove(at);
                            self.let_readers_through(listener, &fifo.fifo);
                            Answer::File { file, cloexec }.give(listener, id);
                            break;
                        }
                        Answer::File { file, cloexec }.give(listener, id);
                    }
                    Tried::Failed(errno) => sys::answer_errno(listener, id, errno),
                }
                self.waiting.swap_remove(at);
            }
        }
        self.next = Some(Instant::now() + self.spacing());
    }

    fn let_readers_through(&mut self, listener: BorrowedFd<'_>, fifo: &OwnedFd) {
        let Ok(wanted) = rustix::fs::fstat(fifo) else { return };
        let same = |pending: &Pending| {
            pending.held.is_some()
                && rustix::fs::fstat(&pending.fifo)
                    .is_ok_and(|stat| (stat.st_dev, stat.st_ino) == (wanted.st_dev, wanted.st_ino))
        };
        let mut at = 0;
        while let Some(pending) = self.waiting.get_mut(at) {
            if !same(pending) {
                at += 1;
                continue;
            }
            let (id, cloexec) = (pending.id, pending.cloexec);
            if let Tried::Open(file) = pending.hand_over() {
                Answer::File { file, cloexec }.give(listener, id);
            }
            self.waiting.swap_remove(at);
        }
    }

    /// The longer the youngest has waited and the more there are, the longer the pause.
    fn spacing(&self) -> Duration {
        let youngest = self.waiting.iter().map(|pending| pending.since.elapsed()).min().unwrap_or_default();
        let crowd = Duration::from_micros(200).saturating_mul(self.waiting.len() as u32);
        (youngest / 4).max(crowd).clamp(SHORTEST_PAUSE, LONGEST_PAUSE.max(crowd.min(Duration::from_millis(900))))
    }
}

/// Whether an open of this FIFO waits for the other end.
pub fn waits(flags: OFlags) -> bool {
    !flags.contains(OFlags::NONBLOCK) && flags & OFlags::RWMODE != OFlags::RDWR
}
