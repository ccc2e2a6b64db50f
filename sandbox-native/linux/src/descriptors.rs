//! Descriptors and signals as the caller left them: all but stdin, stdout, stderr and the channel are closed, and signal
//! actions go back to their defaults, before anything else happens.

use crate::sys;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::{Errno, FdFlags};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};

/// Closes what was inherited and takes the channel, which the command will not inherit.
pub fn clean(channel: RawFd) -> Result<OwnedFd, Errno> {
    sys::close_all_except(channel)?;
    sys::fill_standard_streams()?;
    sys::reset_signals();
    // Looked at by number first: owning a number that is not open would be a lie.
    let flags = rustix::fs::openat(rustix::fs::CWD, format!("/proc/self/fd/{channel}"), OFlags::PATH, Mode::empty());
    if let Err(Errno::NOENT) = flags {
        return Err(Errno::BADF);
    }
    drop(flags);
    let channel = sys::own_fd(channel);
    rustix::io::fcntl_setfd(&channel, FdFlags::CLOEXEC)?;
    Ok(channel)
}

/// The file system of pipes that pipe(2) made (linux/magic.h).
const PIPEFS_MAGIC: rustix::fs::FsWord = 0x5049_5045;

/// Whether stdin, stdout and stderr are pipes, sockets or devices, which have no name to open anew and nothing below them.
pub fn streams_lead_nowhere() -> bool {
    let leads_nowhere = |stream: BorrowedFd<'_>| {
        let kind = rustix::fs::fstat(stream).map(|found| FileType::from_raw_mode(found.st_mode));
        match kind {
            Ok(FileType::CharacterDevice | FileType::Socket) => true,
            // One with a name on the host could be opened at its other end.
            Ok(FileType::Fifo) => rustix::fs::fstatfs(stream).is_ok_and(|found| found.f_type == PIPEFS_MAGIC),
            _ => false,
        }
    };
    let (stdin, stdout, stderr) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()].into_iter().all(leads_nowhere)
}
