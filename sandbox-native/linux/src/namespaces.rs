//! Namespaces: which flags the plan's kinds are, and the id map of a new user namespace.

use crate::enforced::{Failure, Outcome, Step};
use crate::sys;
use plan::NamespaceKind;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::os::fd::AsFd;

/// The clone(2) flags of these kinds.
pub fn flags(kinds: &[NamespaceKind]) -> libc::c_int {
    kinds.iter().fold(0, |flags, kind| {
        flags
            | match kind {
                NamespaceKind::User => libc::CLONE_NEWUSER,
                NamespaceKind::Mount => libc::CLONE_NEWNS,
                NamespaceKind::Pid => libc::CLONE_NEWPID,
                NamespaceKind::Ipc => libc::CLONE_NEWIPC,
                NamespaceKind::Uts => libc::CLONE_NEWUTS,
                NamespaceKind::Net => libc::CLONE_NEWNET,
            }
    })
}

/// The caller's ids, read before the user namespace exists: inside it and before the map they are the overflow ids.
#[derive(Clone, Copy)]
pub struct Ids {
    uid: u32,
    gid: u32,
}

impl Ids {
    pub fn current() -> Ids {
        Ids { uid: rustix::process::geteuid().as_raw(), gid: rustix::process::getegid().as_raw() }
    }

    /// Maps these ids, and no others, to themselves. setgroups must be off first: else dropping a group that a file
    /// denies would open the file (CVE-2014-8989), so the kernel refuses an unprivileged gid_map.
    pub fn map(self) -> Result<(), Failure> {
        let Ids { uid, gid } = self;
        write_proc("/proc/self/setgroups", "deny")?;
        write_proc("/proc/self/uid_map", &format!("{uid} {uid} 1"))?;
        write_proc("/proc/self/gid_map", &format!("{gid} {gid} 1"))
    }
}

fn write_proc(path: &str, text: &str) -> Result<(), Failure> {
    let write = || -> Result<(), Errno> {
        let file = rustix::fs::openat(CWD, path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
        rustix::io::write(&file, text.as_bytes())?;
        Ok(())
    };
    write().map_err(Failure::at(format!("write {path}")))
}

/// Brings up `lo` of the new net namespace, which starts down: without it not even 127.0.0.1 answers.
pub fn raise_loopback() -> Step {
    let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)
        .map_err(Failure::at("socket"))?;
    sys::bring_up_loopback(socket.as_fd()).map_err(Failure::at("bring up lo"))?;
    Ok(Outcome::whole())
}
