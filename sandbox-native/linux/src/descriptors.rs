//! Descriptors and signals as the caller left them: all but stdin, stdout, stderr and the channel are closed, and signal
//! actions go back to their defaults, before anything else happens.

use crate::sys;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, FdFlags};
use std::os::fd::{OwnedFd, RawFd};

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
