//! The thread whose call is trapped: its memory, its folders and descriptors, and what /proc says of it. What is read is
//! its own only while the call waits: the pid could be another's afterwards.

use crate::sys;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use std::cell::OnceCell;
use std::os::fd::OwnedFd;

/// A trapped thread.
pub struct Caller {
    pub tid: libc::pid_t,
    status: OnceCell<Status>,
}

/// The lines of /proc/TID/status that matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    pub tgid: libc::pid_t,
    pub umask: u32,
    /// Signals that wait for this thread or its process and are not blocked.
    pub pending: u64,
}

/// Flags of descriptors that only name a place.
pub const O_PATH: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

impl Caller {
    pub fn new(tid: libc::pid_t) -> Caller {
        Caller { tid, status: OnceCell::new() }
    }

    /// A path of the caller: read once, and this copy is all that counts.
    pub fn path(&self, address: u64) -> Result<Vec<u8>, Errno> {
        let bytes = self.c_string(address, libc::PATH_MAX as usize).map_err(|errno| match errno {
            Errno::TOOBIG => Errno::NAMETOOLONG,
            errno => errno,
        })?;
        if bytes.is_empty() { Err(Errno::NOENT) } else { Ok(bytes) }
    }

    /// The bytes before the NUL at an address. E2BIG when there is none within `most`, NUL included.
    pub fn c_string(&self, address: u64, most: usize) -> Result<Vec<u8>, Errno> {
        // Most paths are short, and clearing 4 KB for each would cost more than a second read for the others.
        const FIRST_BYTES: usize = 256;
        const PAGE_BYTES: usize = 4096;
        let mut bytes = Vec::with_capacity(FIRST_BYTES);
        while bytes.len() < most {
            let place = address.wrapping_add(bytes.len() as u64);
            // Up to the end of a page: the next one may not be mapped, and the string may not need it.
            let to_page_end = PAGE_BYTES - (place % PAGE_BYTES as u64) as usize;
            let wanted = if bytes.is_empty() { FIRST_BYTES } else { PAGE_BYTES };
            let wanted = wanted.min(to_page_end).min(most - bytes.len());
            let known = bytes.len();
            bytes.resize(known + wanted, 0);
            let fresh = bytes.get_mut(known..).unwrap_or_default();
            let count = self.read(place, fresh)?;
            if let Some(end) = fresh.get(..count).and_then(|fresh| fresh.iter().position(|byte| *byte == 0)) {
                bytes.truncate(known + end);
                return Ok(bytes);
            }
            if count < wanted {
                return Err(Errno::FAULT);
            }
        }
        Err(Errno::TOOBIG)
    }

    /// Fills a buffer from the caller's memory as far as it can be read. A process that closed its memory gets EPERM.
    pub fn read(&self, address: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
        sys::read_memory(self.tid, address, buffer)
    }

    /// Exactly so many bytes, or EFAULT.
    pub fn bytes<const COUNT: usize>(&self, address: u64) -> Result<[u8; COUNT], Errno> {
        let mut bytes = [0; COUNT];
        if self.read(address, &mut bytes)? == COUNT { Ok(bytes) } else { Err(Errno::FAULT) }
    }

    /// Where its relative paths start: the working folder, or what a descriptor of it names.
    pub fn folder(&self, number: i32) -> Result<OwnedFd, Errno> {
        if number == libc::AT_FDCWD {
            return self.open("cwd");
        }
        self.descriptor(number)
    }

    /// What a descriptor of it names, held here too.
    pub fn descriptor(&self, number: i32) -> Result<OwnedFd, Errno> {
        if number < 0 {
            return Err(Errno::BADF);
        }
        self.open(&format!("fd/{number}")).map_err(|errno| if errno == Errno::NOENT { Errno::BADF } else { errno })
    }

    fn open(&self, link: &str) -> Result<OwnedFd, Errno> {
        rustix::fs::openat(CWD, format!("/proc/{}/{link}", self.tid), O_PATH, Mode::empty())
    }

    /// What a relative path of it starts with, as text.
    pub fn folder_name(&self, number: i32) -> Option<Vec<u8>> {
        let link = if number == libc::AT_FDCWD { "cwd".to_owned() } else { format!("fd/{number}") };
        let link = rustix::fs::readlinkat(CWD, format!("/proc/{}/{link}", self.tid), Vec::new()).ok()?;
        Some(link.into_bytes()).filter(|name| name.starts_with(b"/"))
    }

    /// The program that it runs.
    pub fn exe(&self) -> Option<String> {
        let link = std::fs::read_link(format!("/proc/{}/exe", self.tid)).ok()?;
        Some(link.to_string_lossy().into_owned())
    }

    pub fn status(&self) -> Result<Status, Errno> {
        if let Some(known) = self.status.get() {
            return Ok(*known);
        }
        let status = self.fresh_status()?;
        Ok(*self.status.get_or_init(|| status))
    }

    /// The status as it is now.
    pub fn fresh_status(&self) -> Result<Status, Errno> {
        parse_status(&self.proc_text("status")?).ok_or(Errno::PERM)
    }

    /// The device number of its controlling terminal, 0 without one.
    pub fn terminal(&self) -> Result<u32, Errno> {
        let stat = self.proc_text("stat")?;
        // The name stands in parentheses and may hold any; after the last one come state, ppid, pgrp, session, tty.
        let field = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_ascii_whitespace().nth(4));
        let number: i32 = field.and_then(|text| text.parse().ok()).ok_or(Errno::NXIO)?;
        Ok(number.cast_unsigned())
    }

    /// RLIMIT_FSIZE in bytes, none without a limit.
    pub fn file_size_limit(&self) -> Result<Option<u64>, Errno> {
        let limits = self.proc_text("limits")?;
        let line = limits.lines().find_map(|line| line.strip_prefix("Max file size")).ok_or(Errno::PERM)?;
        // The number, or "unlimited".
        Ok(line.split_ascii_whitespace().next().and_then(|soft| soft.parse().ok()))
    }

    /// What the kernel does to who writes beyond that limit.
    pub fn exceeded_file_size(&self) {
        if let Some(pid) = Pid::from_raw(self.tid) {
            let _ = rustix::process::kill_process(pid, Signal::XFSZ);
        }
    }

    fn proc_text(&self, name: &str) -> Result<String, Errno> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(CWD, format!("/proc/{}/{name}", self.tid), flags, Mode::empty())?;
        let mut text = [0_u8; 4096];
        let count = rustix::io::read(&file, &mut text)?;
        Ok(String::from_utf8_lossy(text.get(..count).unwrap_or_default()).into_owned())
    }
}

fn parse_status(text: &str) -> Option<Status> {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim);
    let signals = |name| field(name).and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
    Some(Status {
        tgid: field("Tgid")?.parse().ok()?,
        umask: u32::from_str_radix(field("Umask")?, 8).ok()?,
        pending: (signals("SigPnd") | signals("ShdPnd")) & !signals("SigBlk"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_is_read_by_its_names_and_not_by_a_program_that_has_one_as_its_own() {
        let text = "Name:\tUmask: 7777\nUmask:\t0027\nState:\tS\nTgid:\t42\nPid:\t43\n\
                    SigPnd:\t0000000000000001\nShdPnd:\t0000000000004000\nSigBlk:\t0000000000000001\n";
        assert_eq!(parse_status(text), Some(Status { tgid: 42, umask: 0o27, pending: 0x4000 }));
        assert_eq!(parse_status("Name:\tx\n"), None);
    }

    #[test]
    fn memory_is_read_up_to_the_nul_and_no_further_than_allowed() {
        let me = Caller::new(std::process::id().cast_signed());
        let text = [b"a".repeat(5000), vec![0]].concat();
        let at = text.as_ptr() as u64;
        assert_eq!(me.c_string(at, 6000).map(|bytes| bytes.len()), Ok(5000));
        assert_eq!(me.path(at), Err(Errno::NAMETOOLONG));
        assert_eq!(me.path(at + 5000), Err(Errno::NOENT));
        assert_eq!(me.path(16), Err(Errno::FAULT));
        assert_eq!(me.bytes::<2>(at), Ok(*b"aa"));
    }
}
