//! Whether an open for writing will be refused: the path is resolved in the caller's own view, and what decides there is
//! asked: is the mount read-only, does a Landlock rule allow it.

use crate::mounts::is_within;
use crate::private_tmp;
use crate::watch::read_c_string;
use plan::{DeniedOp, LandlockAccess, LinuxPlan, MountAccess, ObservedDenial, PlanOp, Property};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatVfsMountFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The registers of an open: `folder` is a descriptor of the caller, absent where the call has none.
pub struct OpenCall {
    pub syscall: &'static str,
    pub folder: Option<u64>,
    pub path: u64,
    pub flags: u64,
    pub pid: libc::pid_t,
}

/// What the plan says about places.
pub struct Files {
    mounts: Vec<(String, MountAccess)>,
    /// Places that Landlock lets be written; absent where the plan has no Landlock.
    writable: Option<Vec<String>>,
}

/// Where a call leads.
struct Place {
    path: PathBuf,
    /// What is there, or the folder that it would be made in.
    opened: OwnedFd,
    exists: bool,
}

impl Files {
    pub fn new(plan: &LinuxPlan) -> Files {
        let mut files = Files { mounts: Vec::new(), writable: None };
        for op in &plan.ops {
            match op {
                PlanOp::View { mounts, .. } => {
                    files.mounts = mounts.iter().map(|mount| (mount.path.clone(), mount.access)).collect();
                }
                PlanOp::Landlock { rules, .. } => {
                    let rw = rules.iter().filter(|rule| rule.access == LandlockAccess::Rw);
                    // The private folder's rule is the launcher's own.
                    let tmp = private_tmp::wanted(plan).map(|_| private_tmp::IN_VIEW.to_owned());
                    files.writable = Some(rw.map(|rule| rule.path.clone()).chain(tmp).collect());
                }
                _ => {}
            }
        }
        files
    }

    /// The denial that this call will end in, if it will. Anything that can't be worked out is none.
    pub fn judge(&self, call: &OpenCall) -> Option<ObservedDenial> {
        let flags = OFlags::from_bits_retain(u32::try_from(call.flags & 0xffff_ffff).ok()?);
        let named = named_path(call)?;
        // "self" is the reader there, which is this process. Nothing of a process's own is worth a report.
        if named.starts_with("/proc/self") || named.starts_with("/proc/thread-self") {
            return None;
        }
        let root =
            rustix::fs::openat(CWD, format!("/proc/{}/root", call.pid), OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
        let root = root.ok()?;
        let (path, errno, rule) = match resolve(&root, &named, flags) {
            Ok(place) => {
                let (errno, rule) = self.refusal(&place, flags)?;
                (place.path, errno, rule)
            }
            // Not in the view, but on the host: hidden by the view, and to the caller it does not exist.
            Err(Errno::NOENT) if !self.mounts.is_empty() && flags.contains(OFlags::CREATE) => {
                let parent = named.parent()?;
                if !parent.exists() || open_in(&root, parent).is_ok() {
                    return None;
                }
                (named.clone(), "ENOENT", Property::FsWriteConfined)
            }
            // A hidden folder has no rights at all: an ordinary user can't even look whether the name is there.
            Err(Errno::ACCESS) if is_for_writing(flags) && self.is_hidden(&named) => {
                (named.clone(), "EACCES", Property::FsReadHidden)
            }
            Err(_) => return None,
        };
        Some(ObservedDenial {
            op: DeniedOp::Write,
            path: Some(path.to_string_lossy().into_owned()),
            host: None,
            port: None,
            syscall: call.syscall.into(),
            pid: call.pid,
            exe: None,
            errno: Some(errno.into()),
            note: None,
            rule,
            reason: None,
            grant: None,
        })
    }

    fn refusal(&self, place: &Place, flags: OFlags) -> Option<(&'static str, Property)> {
        if place.exists && !changes_existing(place, flags) {
            return None;
        }
        let path = place.path.to_str()?;
        let of_process = |rest: &str| rest.starts_with(|first: char| first.is_ascii_digit());
        if path.strip_prefix("/proc/").is_some_and(of_process) {
            return None;
        }
        let holding = self.mounts.iter().filter(|(mount, _)| is_within(path, mount));
        let nearest = holding.max_by_key(|(mount, _)| mount.len()).map(|(_, access)| *access);
        let rule = match nearest {
            Some(MountAccess::Protected) => Property::FsProtected,
            Some(MountAccess::HiddenDir | MountAccess::HiddenFile) => Property::FsReadHidden,
            _ => Property::FsWriteConfined,
        };
        let readonly = rustix::fs::fstatvfs(&place.opened).ok()?.f_flag.contains(StatVfsMountFlags::RDONLY);
        if readonly && !self.mounts.is_empty() {
            return Some(("EROFS", rule));
        }
        let allowed = |writable: &Vec<String>| writable.iter().any(|folder| self.lets_write(path, folder));
        match &self.writable {
            Some(writable) if !allowed(writable) => Some(("EACCES", rule)),
            _ => None,
        }
    }

    fn is_hidden(&self, named: &Path) -> bool {
        let hidden = self.mounts.iter().filter(|(_, access)| *access == MountAccess::HiddenDir);
        named.to_str().is_some_and(|path| hidden.into_iter().any(|(mount, _)| is_within(path, mount)))
    }

    fn lets_write(&self, path: &str, folder: &str) -> bool {
        // Without a view the private folder is /tmp/cordon-…, not all of /tmp.
        if folder == "/tmp" && self.mounts.is_empty() {
            return path.starts_with("/tmp/cordon-");
        }
        is_within(path, folder)
    }
}

/// Devices, pipes, sockets and folders are not written by opening; neither is a file that is only opened for reading, or
/// that must not exist.
fn changes_existing(place: &Place, flags: OFlags) -> bool {
    let regular = rustix::fs::fstat(&place.opened)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
    regular && is_for_writing(flags) && !flags.contains(OFlags::CREATE | OFlags::EXCL)
}

fn is_for_writing(flags: OFlags) -> bool {
    flags.intersects(OFlags::WRONLY | OFlags::RDWR | OFlags::TRUNC)
}

/// The path as the caller wrote it, made absolute.
fn named_path(call: &OpenCall) -> Option<PathBuf> {
    let bytes = read_c_string(call.pid, call.path)?;
    let path = Path::new(OsStr::from_bytes(&bytes));
    if path.is_absolute() {
        return Some(path.to_owned());
    }
    // The kernel reads a descriptor's number from 32 bits.
    let folder = call.folder.map_or(libc::AT_FDCWD, |folder| (folder & 0xffff_ffff) as u32 as i32);
    let link = if folder == libc::AT_FDCWD {
        format!("/proc/{}/cwd", call.pid)
    } else {
        format!("/proc/{}/fd/{folder}", call.pid)
    };
    Some(std::fs::read_link(link).ok()?.join(path))
}

fn open_in(root: &OwnedFd, path: &Path) -> Result<OwnedFd, Errno> {
    // Magic links (/dev/stdout, /proc/self/fd) lead to what is open already: nothing to refuse.
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(root, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)
}

fn real_path(fd: &OwnedFd) -> Result<PathBuf, Errno> {
    let link = rustix::fs::readlinkat(CWD, format!("/proc/self/fd/{}", fd.as_raw_fd()), Vec::new())?;
    Ok(PathBuf::from(std::ffi::OsString::from_vec(link.into_bytes())))
}

fn resolve(root: &OwnedFd, named: &Path, flags: OFlags) -> Result<Place, Errno> {
    match open_in(root, named) {
        Ok(opened) => Ok(Place { path: real_path(&opened)?, opened, exists: true }),
        Err(Errno::NOENT) if flags.contains(OFlags::CREATE) => {
            let (parent, name) = named.parent().zip(named.file_name()).ok_or(Errno::NOENT)?;
            let opened = open_in(root, parent)?;
            // A link whose target is not there, /dev/stdout among them ("/proc/self" again): where it leads is not known.
            if rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                return Err(Errno::LOOP);
            }
            Ok(Place { path: real_path(&opened)?.join(name), opened, exists: false })
        }
        Err(errno) => Err(errno),
    }
}
