//! One trapped call and its answer.

use super::caller::Caller;
use crate::link::{Link, Message};
use crate::sys::{self, SeccompNotice};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A trapped call.
pub struct Call<'l> {
    pub id: u64,
    pub number: libc::c_long,
    pub name: &'static str,
    pub caller: Caller,
    args: [u64; 6],
    link: &'l Link,
}

/// How a call ends.
pub enum Answer {
    Value(i64),
    Fail(Errno),
    /// With a descriptor that the caller gets a copy of.
    File {
        file: OwnedFd,
        cloexec: bool,
    },
    /// The kernel carries it out; only for calls that were judged by registers, or that are only reported.
    Continue,
    /// It was answered, or will be.
    Given,
}

impl<'l> Call<'l> {
    pub fn new(notice: &SeccompNotice, link: &'l Link) -> Call<'l> {
        Call {
            id: notice.id,
            number: notice.syscall,
            name: name_of(notice.syscall),
            caller: Caller::new(notice.pid),
            args: notice.args,
            link,
        }
    }

    /// A register.
    pub fn arg(&self, index: usize) -> u64 {
        self.args.get(index).copied().unwrap_or(0)
    }

    /// A register that holds an int: the kernel looks at its low half.
    pub fn int(&self, index: usize) -> i32 {
        self.arg(index) as u32 as i32
    }

    /// The path that a register points at.
    pub fn path(&self, index: usize) -> Result<Vec<u8>, Errno> {
        self.caller.path(self.arg(index))
    }

    /// Tells the supervisor. One that is gone hears of nothing, and this process will soon be gone too.
    pub fn send(&self, message: &Message) {
        let _ = self.link.send(message);
    }
}

impl Answer {
    /// Gives the answer. A caller that is gone does not wait for it.
    pub fn give(self, listener: BorrowedFd<'_>, id: u64) {
        match self {
            Answer::Value(value) => sys::answer_value(listener, id, value),
            Answer::Fail(errno) => sys::answer_errno(listener, id, errno.raw_os_error()),
            Answer::Continue => sys::continue_call(listener, id),
            Answer::Given => {}
            Answer::File { file, cloexec } => {
                // EMFILE for one: the caller's own limit.
                if let Err(errno) = sys::answer_fd(listener, id, file.as_fd(), cloexec) {
                    sys::answer_errno(listener, id, errno.raw_os_error());
                }
            }
        }
    }
}

/// Nothing but success.
pub fn done(result: Result<(), Errno>) -> Result<Answer, Errno> {
    result.map(|()| Answer::Value(0))
}

/// Name, for reports.
fn name_of(number: libc::c_long) -> &'static str {
    let known = crate::seccomp_table::NAMES.iter().find(|(call, _)| *call == number);
    known.map_or("syscall", |(_, name)| name)
}
