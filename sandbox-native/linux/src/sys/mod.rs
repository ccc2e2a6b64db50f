//! Every call that needs `unsafe`, one thin wrapper each. Nothing here decides anything.

#[cfg(not(test))]
mod entry;
mod files;
mod process;
mod seccomp;
mod sockets;

pub use files::{check_executable, exit_now, restrict_self, truncate};
pub use process::{
    CloneOutcome, be_interruptible, bring_up_loopback, clone_process, close_all_except, close_others,
    close_standard_streams, execve, fill_standard_streams, forget_environment, is_stopped, kill_all_but_init,
    make_signalfd, mask_all_signals, own_fd, read_memory, read_signal, reset_signals, stop_this_process,
    unmask_all_signals,
};
pub use seccomp::{
    SeccompNotice, answer_errno, answer_fd, answer_value, continue_call, enable_sync_wakeup, load_filter,
    load_filter_listened, notice_is_live, receive_notice,
};
pub use sockets::{awaits_answer, bind, connect, own_address};

use rustix::io::Errno;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Turns the result of a raw call into the errno it left behind.
pub(super) fn checked(result: libc::c_long) -> Result<libc::c_long, Errno> {
    if result < 0 { Err(last_errno()) } else { Ok(result) }
}

fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// Mount attributes of mount_setattr(2).
pub mod attr {
    pub const RDONLY: u64 = 0x1;
    pub const NOSUID: u64 = 0x2;
    pub const NODEV: u64 = 0x4;
}

/// `mount_setattr(fd, "", AT_EMPTY_PATH [| AT_RECURSIVE])` that only adds attributes. ENOSYS before kernel 5.12.
pub fn add_mount_attributes(mount: BorrowedFd<'_>, attributes: u64, recursive: bool) -> Result<(), Errno> {
    let attr = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the kernel reads `attr` (its size is given) and the empty C string before the call returns.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attr,
            size_of::<libc::mount_attr>(),
        )
    };
    checked(result).map(drop)
}

/// Landlock's ABI version; 0 when the kernel has none or it is switched off.
pub fn landlock_abi() -> u32 {
    const CREATE_RULESET_VERSION: u32 = 1;
    // SAFETY: with a null attribute of size 0 and the version flag the call reads no memory and makes no descriptor.
    let result = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, CREATE_RULESET_VERSION)
    };
    u32::try_from(result).unwrap_or(0)
}
