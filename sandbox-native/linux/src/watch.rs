//! The watch: sees calls that may be refused, works out whether they will be, and reports it. It decides nothing: every
//! call goes on and the kernel refuses by mounts, Landlock and namespaces, so a caller that changes its memory in between
//! fools the report and not the protection. The one exception looks at registers only: socket(2) where the network is
//! blocked is answered with EPERM, always.

use crate::sys::{self, SeccompNotice};
use crate::watch_files::{Files, OpenCall};
use crate::watch_net::{self, Network};
use plan::{LinuxPlan, ObservedDenial, PlanOp};
use rustix::io::Errno;
use std::collections::HashSet;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Repeats are reported once, and no run reports more than this many different ones: the channel must not fill up.
const MOST_DENIALS: usize = 10_000;

/// The listener and what it takes to judge a call.
pub struct Watch {
    listener: OwnedFd,
    files: Files,
    network: Network,
    seen: HashSet<(Option<String>, Option<String>, Option<u16>)>,
}

impl Watch {
    /// Watches over a tree that was confined by `plan`.
    pub fn new(listener: OwnedFd, plan: &LinuxPlan) -> Watch {
        sys::enable_sync_wakeup(listener.as_fd());
        let network = plan.ops.iter().find_map(|op| match op {
            PlanOp::Seccomp { network, .. } => Some(*network),
            _ => None,
        });
        let network = network.unwrap_or(Network::Open);
        Watch { listener, files: Files::new(plan), network, seen: HashSet::new() }
    }

    pub fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Takes one call and answers it. An error means that nobody is left who could be trapped.
    pub fn serve(&mut self) -> Result<Option<ObservedDenial>, Errno> {
        let notice = match sys::receive_notice(self.listener()) {
            Ok(notice) => notice,
            // The caller was killed while it waited.
            Err(Errno::NOENT | Errno::INTR | Errno::AGAIN) => return Ok(None),
            Err(errno) => return Err(errno),
        };
        let denial = self.judge(&notice);
        // What was read belongs to the caller only if the call still waits: else the pid may be another's by now.
        let live = denial.is_some() && sys::notice_is_live(self.listener(), notice.id);
        if notice.syscall == libc::SYS_socket {
            sys::answer_errno(self.listener(), notice.id, Errno::PERM);
        } else {
            sys::continue_call(self.listener(), notice.id);
        }
        Ok(denial.filter(|_| live).filter(|denial| self.is_new(denial)))
    }

    fn is_new(&mut self, denial: &ObservedDenial) -> bool {
        let key = (denial.path.clone(), denial.host.clone(), denial.port);
        self.seen.len() < MOST_DENIALS && self.seen.insert(key)
    }

    fn judge(&self, notice: &SeccompNotice) -> Option<ObservedDenial> {
        let [a, b, c, _, e, f] = notice.args;
        let denial = match notice.syscall {
            libc::SYS_connect => watch_net::judge_address("connect", notice.pid, (b, c), self.network)?,
            libc::SYS_sendto => watch_net::judge_address("sendto", notice.pid, (e, f), self.network)?,
            libc::SYS_socket => watch_net::refused_socket(notice.pid, a)?,
            libc::SYS_openat => {
                let call = OpenCall { syscall: "openat", folder: Some(a), path: b, flags: c, pid: notice.pid };
                self.files.judge(&call)?
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open => {
                self.files.judge(&OpenCall { syscall: "open", folder: None, path: a, flags: b, pid: notice.pid })?
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_creat => {
                let flags = (libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC) as u64;
                self.files.judge(&OpenCall { syscall: "creat", folder: None, path: a, flags, pid: notice.pid })?
            }
            _ => return None,
        };
        let exe = std::fs::read_link(format!("/proc/{}/exe", notice.pid)).ok();
        Some(ObservedDenial { exe: exe.map(|path| path.to_string_lossy().into_owned()), ..denial })
    }
}

/// The bytes of a C string in another process, at most PATH_MAX of them.
pub fn read_c_string(pid: libc::pid_t, address: u64) -> Option<Vec<u8>> {
    const PAGE_BYTES: u64 = 4096;
    let mut bytes = vec![0_u8; libc::PATH_MAX as usize];
    // In two reads, split at a page: the page after the string may not be mapped.
    let first = usize::try_from(PAGE_BYTES - address % PAGE_BYTES).ok()?.min(bytes.len());
    let (head, tail) = bytes.split_at_mut(first);
    let mut count = sys::read_memory(pid, address, head).ok()?;
    if !head.contains(&0) && count == first {
        count += sys::read_memory(pid, address + first as u64, tail).unwrap_or(0);
    }
    bytes.truncate(count);
    let end = bytes.iter().position(|byte| *byte == 0)?;
    bytes.truncate(end);
    Some(bytes)
}
