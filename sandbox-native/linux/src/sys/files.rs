//! Calls on files that the libraries have no wrapper for.

use super::checked;
use rustix::io::Errno;
use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd};

/// AT_EXECVE_CHECK of execveat(2), since Linux 6.14.
const AT_EXECVE_CHECK: libc::c_int = 0x10000;

/// truncate(2).
pub fn truncate(path: &CStr, length: i64) -> Result<(), Errno> {
    // SAFETY: takes a C string and a number.
    checked(unsafe { libc::truncate(path.as_ptr(), length) }.into()).map(drop)
}

/// landlock_restrict_self(2): one more domain for this thread.
pub fn restrict_self(ruleset: BorrowedFd<'_>) -> Result<(), Errno> {
    // SAFETY: takes numbers only.
    checked(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) }).map(drop)
}

/// Ends this process without anything that would run at an exit: it is a copy of one that goes on.
pub fn exit_now() -> ! {
    // SAFETY: takes a number and does not return.
    unsafe { libc::_exit(0) }
}

/// Whether this process could execute what a descriptor names; nothing is executed. EINVAL before kernel 6.14.
pub fn check_executable(file: BorrowedFd<'_>) -> Result<(), Errno> {
    let none: [*const libc::c_char; 1] = [std::ptr::null()];
    // SAFETY: the path is an empty C string and both arrays end in null. With this flag the call never replaces the program.
    let result = unsafe {
        libc::syscall(
            libc::SYS_execveat,
            file.as_raw_fd(),
            c"".as_ptr(),
            none.as_ptr(),
            none.as_ptr(),
            libc::AT_EMPTY_PATH | AT_EXECVE_CHECK,
        )
    };
    checked(result).map(drop)
}
