//! seccomp(2) and its notification ioctls; the numbers are those of `linux/seccomp.h`.

use super::{checked, own_fd};
use crate::bpf::Instruction;
use rustix::io::Errno;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

const NOTIF_RECV: libc::c_ulong = 0xc050_2100;
const NOTIF_SEND: libc::c_ulong = 0xc018_2101;
const NOTIF_ID_VALID: libc::c_ulong = 0x4008_2102;
const NOTIF_ADDFD: libc::c_ulong = 0x4018_2103;
const NOTIF_SET_FLAGS: libc::c_ulong = 0x4008_2104;
const FD_SYNC_WAKE_UP: libc::c_ulong = 1;

/// A trapped call: who, which, and its six registers.
#[derive(Clone, Copy, Debug)]
pub struct SeccompNotice {
    pub id: u64,
    /// In this process's pid namespace.
    pub pid: libc::pid_t,
    pub syscall: i64,
    pub args: [u64; 6],
}

#[repr(C)]
struct Program {
    length: u16,
    filter: *const Instruction,
}

fn load(program: &[Instruction], flags: libc::c_ulong) -> Result<libc::c_long, Errno> {
    let length = u16::try_from(program.len()).map_err(|_| Errno::INVAL)?;
    let program = Program { length, filter: program.as_ptr() };
    // SAFETY: the struct has the layout of sock_fprog, and the kernel copies the instructions before it returns.
    checked(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) })
}

/// Installs a filter on this thread for good. Needs no_new_privs.
pub fn load_filter(program: &[Instruction]) -> Result<(), Errno> {
    load(program, 0).map(drop)
}

/// Installs a filter and gives its listener. EBUSY when an outer filter already has one. Once a call was received only a
/// fatal signal ends its wait (from kernel 5.19): else a signal would make the kernel start it again when it was done.
pub fn load_filter_listened(program: &[Instruction]) -> Result<OwnedFd, Errno> {
    const LISTEN: libc::c_ulong = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    let fd = match load(program, LISTEN | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) {
        Err(Errno::INVAL) => load(program, LISTEN)?,
        loaded => loaded?,
    };
    Ok(own_fd(i32::try_from(fd).map_err(|_| Errno::BADF)?))
}

/// Lets a trapped call and its answer change places on one CPU, from kernel 6.6: 10 µs a call and not 15. Older kernels
/// refuse, and nothing is lost but time.
pub fn enable_sync_wakeup(listener: BorrowedFd<'_>) {
    // SAFETY: this ioctl takes its flags by value.
    unsafe { libc::ioctl(listener.as_raw_fd(), NOTIF_SET_FLAGS, FD_SYNC_WAKE_UP) };
}

/// Takes the next notice. ENOENT when the caller died meanwhile.
pub fn receive_notice(listener: BorrowedFd<'_>) -> Result<SeccompNotice, Errno> {
    // SAFETY: plain data; the kernel demands that it is all zero.
    let mut notice: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: RECV writes one seccomp_notif, which is what it points to.
    checked(unsafe { libc::ioctl(listener.as_raw_fd(), NOTIF_RECV, &raw mut notice) }.into())?;
    Ok(SeccompNotice {
        id: notice.id,
        pid: notice.pid.cast_signed(),
        syscall: notice.data.nr.into(),
        args: notice.data.args,
    })
}

/// True while the call still waits, so that its pid can't have been given to another process.
pub fn notice_is_live(listener: BorrowedFd<'_>, id: u64) -> bool {
    // SAFETY: ID_VALID reads one u64, which outlives the call.
    unsafe { libc::ioctl(listener.as_raw_fd(), NOTIF_ID_VALID, &raw const id) == 0 }
}

fn answer(listener: BorrowedFd<'_>, response: &libc::seccomp_notif_resp) {
    // SAFETY: SEND reads one seccomp_notif_resp. It fails when the caller is gone, and then nobody waits for it.
    unsafe { libc::ioctl(listener.as_raw_fd(), NOTIF_SEND, std::ptr::from_ref(response)) };
}

/// Lets the kernel go on with the call and decide about it.
pub fn continue_call(listener: BorrowedFd<'_>, id: u64) {
    let flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
    answer(listener, &libc::seccomp_notif_resp { id, val: 0, error: 0, flags });
}

/// Ends the call with a value.
pub fn answer_value(listener: BorrowedFd<'_>, id: u64, val: i64) {
    answer(listener, &libc::seccomp_notif_resp { id, val, error: 0, flags: 0 });
}

/// Ends the call with an error, also with one that only the kernel's own signal handling sees, such as ERESTARTSYS.
pub fn answer_errno(listener: BorrowedFd<'_>, id: u64, errno: i32) {
    answer(listener, &libc::seccomp_notif_resp { id, val: 0, error: -errno, flags: 0 });
}

/// Ends the call with a copy of a descriptor. An error means that it is not answered yet.
pub fn answer_fd(listener: BorrowedFd<'_>, id: u64, fd: BorrowedFd<'_>, cloexec: bool) -> Result<(), Errno> {
    let add = |flags: libc::c_ulong| {
        let request = libc::seccomp_notif_addfd {
            id,
            flags: flags as u32,
            srcfd: fd.as_raw_fd().cast_unsigned(),
            newfd: 0,
            newfd_flags: if cloexec { libc::O_CLOEXEC.cast_unsigned() } else { 0 },
        };
        // SAFETY: ADDFD reads one seccomp_notif_addfd, which outlives the call.
        checked(unsafe { libc::ioctl(listener.as_raw_fd(), NOTIF_ADDFD, &raw const request) }.into())
    };
    match add(libc::SECCOMP_ADDFD_FLAG_SEND) {
        // Before kernel 5.14 in two steps.
        Err(Errno::INVAL) => add(0).map(|number| answer_value(listener, id, number)),
        added => added.map(drop),
    }
}
