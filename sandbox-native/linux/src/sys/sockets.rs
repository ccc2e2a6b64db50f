//! Calls with addresses as bytes, of whatever family.

use super::checked;
use rustix::io::Errno;
use std::os::fd::{AsRawFd, BorrowedFd};

fn length(address: &[u8]) -> Result<libc::socklen_t, Errno> {
    libc::socklen_t::try_from(address.len()).map_err(|_| Errno::INVAL)
}

/// connect(2).
pub fn connect(socket: BorrowedFd<'_>, address: &[u8]) -> Result<(), Errno> {
    let length = length(address)?;
    // SAFETY: the kernel reads `length` bytes, which is what the slice has, and takes any alignment.
    checked(unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr().cast(), length) }.into()).map(drop)
}

/// bind(2).
pub fn bind(socket: BorrowedFd<'_>, address: &[u8]) -> Result<(), Errno> {
    let length = length(address)?;
    // SAFETY: as for connect.
    checked(unsafe { libc::bind(socket.as_raw_fd(), address.as_ptr().cast(), length) }.into()).map(drop)
}

/// getsockname(2).
pub fn own_address(socket: BorrowedFd<'_>) -> Result<Vec<u8>, Errno> {
    let mut address = vec![0_u8; 128];
    let mut length = length(&address)?;
    // SAFETY: the kernel writes at most `length` bytes, which is what the vector has.
    checked(unsafe { libc::getsockname(socket.as_raw_fd(), address.as_mut_ptr().cast(), &raw mut length) }.into())?;
    address.truncate(length as usize);
    Ok(address)
}

/// True for a TCP socket that has sent its first packet and has no answer yet.
pub fn awaits_answer(socket: BorrowedFd<'_>) -> bool {
    const SYN_SENT: u8 = 2;
    // The first byte of struct tcp_info is the state; the kernel writes no more than it is given room for.
    let mut state = 0_u8;
    let mut length: libc::socklen_t = 1;
    // SAFETY: the kernel writes at most `length` bytes, which is one.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut state).cast(),
            &raw mut length,
        )
    };
    result == 0 && state == SYN_SENT
}
