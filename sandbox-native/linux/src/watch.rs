//! placeholder
use crate::sys;
use plan::{LinuxPlan, ObservedDenial};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

pub struct Watch {
    listener: OwnedFd,
}
impl Watch {
    pub fn new(listener: OwnedFd, _plan: &LinuxPlan) -> Watch {
        sys::enable_sync_wakeup(listener.as_fd());
        Watch { listener }
    }
    pub fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
    pub fn serve(&mut self) -> Option<Vec<ObservedDenial>> {
        let n = match sys::receive_notice(self.listener.as_fd()) {
            Ok(n) => n,
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::INTR) => return Some(vec![]),
            Err(_) => return None,
        };
        if n.syscall == libc::SYS_socket {
            sys::answer_errno(self.listener.as_fd(), n.id, rustix::io::Errno::PERM)
        } else {
            sys::continue_call(self.listener.as_fd(), n.id)
        }
        Some(vec![])
    }
}
