//! File systems that the view makes itself: empty folders, proc, and a small /dev.

use crate::enforced::Failure;
use crate::mounts::{O_PATH, attach, clone_tree};
use crate::sys::attr;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A kind of new file system.
pub enum NewFs {
    /// A tmpfs whose root has this octal mode.
    Folder { mode: &'static str },
    /// proc of this process's pid namespace, read-only: as root, a writable /proc/sys is a way out (core_pattern runs a
    /// program on the host), and ids don't help because root maps to root.
    Proc,
    /// A devpts of its own, so that the host's terminals can't be opened by name.
    Pts,
}

/// Makes a detached mount.
pub fn new_fs(kind: NewFs) -> Result<OwnedFd, Errno> {
    let (name, options, attributes): (&str, &[(&str, &str)], MountAttrFlags) = match kind {
        NewFs::Folder { mode } => ("tmpfs", &[("mode", mode)], MountAttrFlags::MOUNT_ATTR_NODEV),
        NewFs::Proc => {
            let flags = MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOEXEC;
            ("proc", &[], flags | MountAttrFlags::MOUNT_ATTR_RDONLY)
        }
        NewFs::Pts => ("devpts", &[("ptmxmode", "0666"), ("mode", "0620")], MountAttrFlags::MOUNT_ATTR_NOEXEC),
    };
    let context = rustix::mount::fsopen(name, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        rustix::mount::fsconfig_set_string(context.as_fd(), *key, *value)?;
    }
    rustix::mount::fsconfig_create(context.as_fd())?;
    rustix::mount::fsmount(
        context.as_fd(),
        FsMountFlags::FSMOUNT_CLOEXEC,
        attributes | MountAttrFlags::MOUNT_ATTR_NOSUID,
    )
}

const NODES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
const LINKS: [(&str, &str); 5] = [
    ("ptmx", "pts/ptmx"),
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];

/// Fills an attached, empty folder with the devices that everyday programs use. A node that the host lacks is a fault in
/// words and not an error.
pub fn fill_dev(dev: BorrowedFd<'_>, faults: &mut Vec<Failure>) -> Result<(), Errno> {
    for name in NODES {
        if let Err(errno) = bind_node(dev, name) {
            faults.push(Failure::at(format!("dev \"/dev/{name}\""))(errno));
        }
    }
    for (name, target) in LINKS {
        rustix::fs::symlinkat(target, dev, name)?;
    }
    for (name, kind) in [("pts", NewFs::Pts), ("shm", NewFs::Folder { mode: "1777" })] {
        rustix::fs::mkdirat(dev, name, Mode::from_raw_mode(0o755))?;
        attach(new_fs(kind)?.as_fd(), dev, name)?;
    }
    Ok(())
}

fn bind_node(dev: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
    let source = rustix::fs::openat(CWD, format!("/dev/{name}"), O_PATH, Mode::empty())?;
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::WRONLY;
    rustix::fs::openat(dev, name, flags, Mode::from_raw_mode(0o666))?;
    // Without NODEV: this one is wanted as a device. Opening it is all that it gives.
    attach(clone_tree(source.as_fd(), attr::NOSUID)?.as_fd(), dev, name)
}
