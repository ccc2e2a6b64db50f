//! Processes, signals, descriptors, memory of other processes.

use super::{checked, last_errno};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Which side of a clone this is.
pub enum CloneOutcome {
    /// The child, with a copy of everything.
    Child,
    /// The parent, with the child's pid in its own namespace and a descriptor for it.
    Parent { pid: libc::pid_t, pidfd: OwnedFd },
}

/// fork(2) with namespace flags and a pidfd. The caller must have one thread only.
pub fn clone_process(namespaces: libc::c_int) -> Result<CloneOutcome, Errno> {
    let flags = namespaces | libc::CLONE_PIDFD | libc::SIGCHLD;
    let mut pidfd: libc::c_int = -1;
    // clone and not clone3: our own filter answers clone3 with ENOSYS, and cordon must start inside cordon.
    // SAFETY: without CLONE_VM and with a null stack the child runs on a copy of this stack, as after fork; the process
    // has one thread, so no lock is held by a thread that the child lacks. `pidfd` outlives the call.
    #[cfg(target_arch = "x86_64")]
    let pid = unsafe {
        libc::syscall(libc::SYS_clone, flags, std::ptr::null::<u8>(), &raw mut pidfd, std::ptr::null::<u8>(), 0_usize)
    };
    // SAFETY: as above; this architecture has `tls` before `child_tid`, and both are null.
    #[cfg(not(target_arch = "x86_64"))]
    let pid = unsafe {
        libc::syscall(libc::SYS_clone, flags, std::ptr::null::<u8>(), &raw mut pidfd, 0_usize, std::ptr::null::<u8>())
    };
    match checked(pid)? {
        0 => Ok(CloneOutcome::Child),
        pid => {
            let pid = libc::pid_t::try_from(pid).map_err(|_| Errno::OVERFLOW)?;
            Ok(CloneOutcome::Parent { pid, pidfd: own_fd(pidfd) })
        }
    }
}

/// Takes ownership of a descriptor number. The caller must be its only owner.
pub fn own_fd(fd: RawFd) -> OwnedFd {
    // SAFETY: the number comes from a call that just made it, or from the command line that hands it over.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Closes every descriptor from 3 up except `kept`.
pub fn close_all_except(kept: RawFd) -> Result<(), Errno> {
    let kept = u32::try_from(kept).map_err(|_| Errno::BADF)?;
    for (first, last) in [(3, kept.saturating_sub(1)), (kept.max(2) + 1, u32::MAX)] {
        if first <= last {
            // SAFETY: no Rust object owns any of these yet: this is called before the program opens anything.
            if checked(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) }).is_err() {
                return close_one_by_one(kept);
            }
        }
    }
    Ok(())
}

/// The same without close_range(2), which kernels before 5.9 and old container engines refuse.
fn close_one_by_one(kept: u32) -> Result<(), Errno> {
    let listed =
        std::fs::read_dir("/proc/self/fd").map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let open: Vec<u32> = listed.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in open.into_iter().filter(|number| *number > 2 && *number != kept) {
        // SAFETY: as above. The one that listed them is closed already, and then this says EBADF.
        unsafe { libc::close(number.cast_signed()) };
    }
    Ok(())
}

/// Closes every descriptor but these, in a child that ends without coming back to who owns them.
pub fn close_others(kept: &mut [RawFd]) {
    kept.sort_unstable();
    let mut first = 0;
    for number in kept.iter().map(|fd| fd.cast_unsigned()).chain([u32::MAX]) {
        if first < number {
            // SAFETY: takes numbers only; the child uses none of these any more. It can't fail but for wrong numbers.
            unsafe { libc::syscall(libc::SYS_close_range, first, number - 1, 0) };
        }
        first = number.saturating_add(1);
    }
}

/// Lets SIGUSR1 interrupt the calls of this process, and do nothing else.
pub fn be_interruptible() {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: plain data, for which all zero is a value: no flags, so no call is started again.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = nothing as *const () as usize;
    // SAFETY: the handler touches nothing, and the kernel copies the struct.
    unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()) };
    unmask_all_signals();
}

/// Puts /dev/null where stdin, stdout or stderr is closed, as Rust's own `main` would: else the next descriptor that is
/// made would be taken for one of them.
pub fn fill_standard_streams() -> Result<(), Errno> {
    for fd in 0..=2 {
        // SAFETY: both calls take numbers and a C string. An open gives the lowest free number, which is this one.
        checked(unsafe {
            match libc::fcntl(fd, libc::F_GETFD) {
                -1 => libc::open(c"/dev/null".as_ptr(), libc::O_RDWR).into(),
                open => open.into(),
            }
        })?;
    }
    Ok(())
}

/// Closes stdin, stdout and stderr, so that whoever is at their other ends need not wait for this process.
pub fn close_standard_streams() {
    // SAFETY: nothing writes to them after this: both callers only wait for a process and exit. Closing can't fail in a way
    // that matters.
    unsafe { libc::syscall(libc::SYS_close_range, 0_u32, 2_u32, 0) };
}

/// Kills every other process of this pid namespace. Only for its init: elsewhere it would be all of the user's, and it does
/// nothing.
pub fn kill_all_but_init() {
    if rustix::process::getpid().is_init() {
        // SAFETY: takes numbers only. It fails when there is no other process. A fork under way fails or is seen: the
        // kernel holds the list of processes for the whole call (kill_something_info) and forks under the same lock.
        unsafe { libc::kill(-1, libc::SIGKILL) };
    }
}

/// Stops this process as this signal would, whatever its mask; comes back when it is continued.
pub fn stop_this_process(signal: libc::c_int) {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigemptyset initialises the set before the others read it; raise takes a number. The process has one thread, so
    // a signal that is not masked stops it before the call returns.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, set.as_ptr(), std::ptr::null_mut());
        libc::raise(signal);
        libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
    }
}

/// Whether the process of a descriptor is stopped, as /proc says. One that is gone is not.
pub fn is_stopped(process: BorrowedFd<'_>) -> bool {
    let field = |text: &str| text.lines().find_map(|line| line.strip_prefix("Pid:")?.trim().parse::<u32>().ok());
    let shown = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", process.as_raw_fd()));
    let Some(pid) = shown.ok().as_deref().and_then(field) else { return false };
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
}

/// Overwrites the variables that this program was started with: they may hold secrets, and /proc/PID/environ shows them.
pub fn forget_environment() {
    unsafe extern "C" {
        static mut environ: *mut *mut libc::c_char;
    }
    // SAFETY: the list that the C library was started with ends in null, its strings end in zero and lie on the stack's
    // writable top; this process has one thread, and nobody keeps a pointer to them.
    unsafe {
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            std::ptr::write_bytes(*entry, 0, libc::strlen(*entry));
            *entry = std::ptr::null_mut();
            entry = entry.add(1);
        }
    }
}

/// Sets every signal to its default action and empties the mask: Bun leaves SIGPIPE and SIGXFSZ ignored, and both
/// dispositions and mask survive execve.
pub fn reset_signals() {
    // The kernel's own struct sigaction, all zero: SIG_DFL, no flags, no mask. Not libc's call, which keeps signals 32 and
    // 33 for itself.
    let default = [0_u64; 4];
    for signal in 1..=64 {
        // SAFETY: SIG_DFL runs no code of ours, and the kernel reads one struct of 32 bytes; it refuses SIGKILL and SIGSTOP,
        // which have no other action anyway.
        unsafe {
            libc::syscall(libc::SYS_rt_sigaction, signal, &raw const default, std::ptr::null::<u8>(), 8_usize);
        }
    }
    unmask_all_signals();
}

/// Blocks every signal, so that a signalfd sees them.
pub fn mask_all_signals() {
    set_mask(true);
}

/// Empties the mask.
pub fn unmask_all_signals() {
    set_mask(false);
}

fn set_mask(full: bool) {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: one of the two calls initialises the set before sigprocmask reads it.
    unsafe {
        if full {
            libc::sigfillset(set.as_mut_ptr())
        } else {
            libc::sigemptyset(set.as_mut_ptr())
        };
        libc::sigprocmask(libc::SIG_SETMASK, set.as_ptr(), std::ptr::null_mut());
    }
}

/// A descriptor that yields the given signals; they must be blocked.
pub fn make_signalfd(signals: &[libc::c_int]) -> Result<OwnedFd, Errno> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigemptyset initialises the set before the others use it.
    let fd = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), *signal);
        }
        libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    };
    if fd < 0 { Err(last_errno()) } else { Ok(own_fd(fd)) }
}

/// The next signal of a signalfd as (number, `si_code`), or none.
pub fn read_signal(fd: BorrowedFd<'_>) -> Option<(libc::c_int, libc::c_int)> {
    let mut info = MaybeUninit::<libc::signalfd_siginfo>::zeroed();
    let size = size_of::<libc::signalfd_siginfo>();
    // SAFETY: the buffer has the size given; the struct is plain data, valid for every bit pattern.
    let read = unsafe { libc::read(fd.as_raw_fd(), info.as_mut_ptr().cast(), size) };
    if usize::try_from(read) != Ok(size) {
        return None;
    }
    // SAFETY: zeroed at first, then filled by the kernel.
    let info = unsafe { info.assume_init() };
    Some((libc::c_int::try_from(info.ssi_signo).ok()?, info.ssi_code))
}

/// execve(2); returns only when it failed.
pub fn execve(path: &CStr, argv: &[CString], envp: &[CString]) -> Errno {
    let pointers = |strings: &[CString]| {
        strings.iter().map(|s| s.as_ptr()).chain([std::ptr::null()]).collect::<Vec<*const libc::c_char>>()
    };
    let (argv, envp) = (pointers(argv), pointers(envp));
    // SAFETY: both arrays end in null and point to strings that live until the call fails or replaces this program.
    unsafe { libc::execve(path.as_ptr(), argv.as_ptr(), envp.as_ptr()) };
    last_errno()
}

/// Copies up to `buffer.len()` bytes from another process; gives how many came.
pub fn read_memory(pid: libc::pid_t, address: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: buffer.len() };
    // SAFETY: `local` covers exactly the buffer; `remote` is an address in the other process, which the kernel checks.
    let read = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(read).map_err(|_| last_errno())
}

/// Sets IFF_UP on `lo` of this network namespace.
pub fn bring_up_loopback(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    // SAFETY: ifreq is plain data; all zero is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(c"lo".to_bytes()) {
        *place = byte.cast_signed();
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: SIOCSIFFLAGS reads one ifreq, which outlives the call.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    checked(result.into()).map(drop)
}
