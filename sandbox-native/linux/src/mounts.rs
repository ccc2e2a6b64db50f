//! The view: a new root assembled only from the mounts of the plan. Nothing is ever created on the host: mount points
//! are made in file systems that this view made itself, and a path inside a host folder must exist already.

use crate::enforced::{Failure, Outcome, Step};
use crate::mount_kinds::{self, NewFs};
use crate::sys::{add_mount_attributes, attr};
use plan::{Mount, MountAccess};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The view while it is built.
pub struct View {
    /// The tmpfs below everything; empty files and mount points are made here.
    base: OwnedFd,
    /// The root of the view: `base`, or the bind of the host's `/` on it.
    root: OwnedFd,
    /// What stands where, in the order of the plan.
    placed: Vec<(String, MountAccess)>,
    /// File systems of ours that become read-only when all is in place.
    to_seal: Vec<OwnedFd>,
    /// What could not be done.
    faults: Vec<Failure>,
    /// The source of all hidden files, made when the first is wanted.
    empty_file: Option<OwnedFd>,
}

/// What the target of a mount must be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Folder,
    File,
}

/// Builds the view and makes it this process's root. Needs a mount namespace of its own. A mount that could not be made
/// leaves the rest in place and the step `partial`.
pub fn build(mounts: &[Mount]) -> Step {
    // Private first, or a mount made here would appear on the host where its parent is shared (mount_namespaces(7)).
    rustix::mount::mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(Failure::at("make mounts private"))?;
    let mut view = View::start()?;
    for (index, mount) in mounts.iter().enumerate() {
        let later = mounts.get(index + 1..).unwrap_or_default();
        if let Err(errno) = view.place(mount, later) {
            view.faults.push(Failure::at(format!("{} \"{}\"", access_word(mount.access), mount.path))(errno));
        }
    }
    view.enter()
}

fn access_word(access: MountAccess) -> String {
    format!("{access:?}").to_lowercase()
}

/// Whether `path` lies below `folder`, or is it.
pub fn is_within(path: &str, folder: &str) -> bool {
    folder == "/" || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl View {
    fn start() -> Result<View, Failure> {
        let base = mount_kinds::new_fs(NewFs::Folder { mode: "0755" }).map_err(Failure::at("new root"))?;
        // Attached over "/": any folder would do, this one always exists. Lookups from the old root still see the old
        // root, because an absolute path starts at the process's root and not at what is mounted over it.
        attach(base.as_fd(), CWD, "/").map_err(Failure::at("attach new root"))?;
        let root = rustix::io::fcntl_dupfd_cloexec(&base, 3).map_err(Failure::at("dup"))?;
        Ok(View { base, root, placed: Vec::new(), to_seal: Vec::new(), faults: Vec::new(), empty_file: None })
    }

    fn place(&mut self, mount: &Mount, later: &[Mount]) -> Result<(), Errno> {
        let path = mount.path.as_str();
        match mount.access {
            MountAccess::Ro | MountAccess::Rw => self.bind(path, mount.access)?,
            MountAccess::Protected => {
                self.pin_ancestors(path)?;
                self.bind(path, mount.access)?;
            }
            MountAccess::PinnedLink => {
                self.pin_ancestors(path)?;
                let link = self.open_link(path)?;
                attach(clone_tree(link.as_fd(), 0)?.as_fd(), &link, "")?;
            }
            MountAccess::HiddenDir => {
                // Something shown inside a hidden folder must be reachable; else not even its name can be tried.
                let passes = later.iter().any(|m| is_within(&m.path, path));
                let made = mount_kinds::new_fs(NewFs::Folder { mode: if passes { "0111" } else { "0000" } })?;
                self.put(made.as_fd(), path, Shape::Folder)?;
                self.to_seal.push(made);
            }
            MountAccess::HiddenFile => {
                let tree = clone_tree(self.empty_file()?, attr::RDONLY | attr::NOSUID | attr::NODEV)?;
                self.put(tree.as_fd(), path, Shape::File)?;
            }
            MountAccess::Tmpfs => {
                let mode = if matches!(path, "/tmp" | "/var/tmp" | "/dev/shm") { "1777" } else { "0755" };
                let made = mount_kinds::new_fs(NewFs::Folder { mode })?;
                self.put(made.as_fd(), path, Shape::Folder)?;
            }
            MountAccess::Proc => self.put(mount_kinds::new_fs(NewFs::Proc)?.as_fd(), path, Shape::Folder)?,
            MountAccess::Dev => {
                let made = mount_kinds::new_fs(NewFs::Folder { mode: "0755" })?;
                self.put(made.as_fd(), path, Shape::Folder)?;
                mount_kinds::fill_dev(made.as_fd(), &mut self.faults)?;
                self.to_seal.push(made);
            }
            MountAccess::Symlink => {
                let (parent, name) = self.parent_in_ours(path)?;
                rustix::fs::symlinkat(mount.target.as_deref().unwrap_or("/"), &parent, name)?;
            }
        }
        self.placed.push((mount.path.clone(), mount.access));
        Ok(())
    }

    /// Binds the host's path at the same place.
    fn bind(&mut self, path: &str, access: MountAccess) -> Result<(), Errno> {
        // No links are followed: the planner resolved the path, and one that is a link now was swapped in since.
        let source = rustix::fs::openat2(CWD, path, O_PATH, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
        let readonly = if access == MountAccess::Rw { 0 } else { attr::RDONLY };
        let tree = clone_tree(source.as_fd(), readonly | attr::NOSUID | attr::NODEV)?;
        if path == "/" {
            attach(tree.as_fd(), &self.base, "")?;
            self.root = tree;
            return Ok(());
        }
        let folder = file_type(source.as_fd())? == FileType::Directory;
        self.put(tree.as_fd(), path, if folder { Shape::Folder } else { Shape::File })
    }

    /// Binds each folder between the writable mount and `path` onto itself. A mount point can't be renamed (EBUSY), so
    /// nobody can move an ancestor away and put a folder of their own in the place of `path`.
    fn pin_ancestors(&mut self, path: &str) -> Result<(), Errno> {
        let Some((top, _)) = self.nearest(path) else { return Ok(()) };
        let top_len = top.trim_end_matches('/').len();
        for (slash, _) in path.match_indices('/').filter(|(at, _)| *at > top_len) {
            let Some(ancestor) = path.get(..slash) else { continue };
            if self.placed.iter().any(|(placed, _)| placed == ancestor) {
                continue;
            }
            let folder = self.open_inside(ancestor)?;
            let tree = clone_tree(folder.as_fd(), 0)?;
            attach(tree.as_fd(), &folder, "")?;
            self.placed.push((ancestor.into(), MountAccess::Rw));
        }
        Ok(())
    }

    /// The mount that `path` falls into: the longest of those that hold it, the last of equals.
    fn nearest(&self, path: &str) -> Option<(&str, MountAccess)> {
        let holding = self.placed.iter().filter(|(placed, _)| is_within(path, placed));
        holding.max_by_key(|(placed, _)| placed.len()).map(|(placed, access)| (placed.as_str(), *access))
    }

    fn put(&self, tree: BorrowedFd<'_>, path: &str, shape: Shape) -> Result<(), Errno> {
        let target = match self.open_inside(path) {
            Ok(found) => found,
            Err(Errno::NOENT) => self.make_target(path, shape)?,
            Err(errno) => return Err(errno),
        };
        attach(tree, &target, "")
    }

    /// Opens a path of the view. Links are not followed: one inside a writable folder could lead anywhere.
    fn open_inside(&self, path: &str) -> Result<OwnedFd, Errno> {
        let relative = match path.trim_start_matches('/') {
            "" => ".",
            relative => relative,
        };
        rustix::fs::openat2(&self.root, relative, O_PATH, Mode::empty(), INSIDE)
    }

    /// The same for a link itself. RESOLVE_NO_SYMLINKS lets O_NOFOLLOW name a link in the last place.
    fn open_link(&self, path: &str) -> Result<OwnedFd, Errno> {
        let relative = path.trim_start_matches('/');
        let link = rustix::fs::openat2(&self.root, relative, O_PATH | OFlags::NOFOLLOW, Mode::empty(), INSIDE)?;
        if file_type(link.as_fd())? == FileType::Symlink { Ok(link) } else { Err(Errno::NOLINK) }
    }

    fn make_target(&self, path: &str, shape: Shape) -> Result<OwnedFd, Errno> {
        let (parent, name) = self.parent_in_ours(path)?;
        match shape {
            Shape::Folder => rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o755))?,
            Shape::File => {
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::WRONLY;
                rustix::fs::openat2(&parent, name, flags, Mode::from_raw_mode(0o444), INSIDE)?;
            }
        }
        self.open_inside(path)
    }

    /// The folder that holds `path`, with the name in it; made as needed, but only in file systems of ours.
    fn parent_in_ours<'p>(&self, path: &'p str) -> Result<(OwnedFd, &'p str), Errno> {
        use MountAccess::{HiddenFile, PinnedLink, Proc, Protected, Ro, Rw};
        if let Some((_, Ro | Rw | Protected | PinnedLink | HiddenFile | Proc)) = self.nearest(path) {
            return Err(Errno::NOENT);
        }
        let (parent, name) = path.rsplit_once('/').ok_or(Errno::INVAL)?;
        let folder = match self.open_inside(parent) {
            Err(Errno::NOENT) => self.make_target(parent, Shape::Folder)?,
            found => found?,
        };
        Ok((folder, name))
    }

    fn empty_file(&mut self) -> Result<BorrowedFd<'_>, Errno> {
        const NAME: &str = ".hidden";
        if self.empty_file.is_none() {
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::RDONLY;
            rustix::fs::openat(&self.base, NAME, flags, Mode::empty())?;
            self.empty_file = Some(rustix::fs::openat(&self.base, NAME, O_PATH, Mode::empty())?);
        }
        self.empty_file.as_ref().map(AsFd::as_fd).ok_or(Errno::NOENT)
    }

    /// Seals what is ours, makes the view the root and lets go of the host's.
    fn enter(self) -> Step {
        if self.empty_file.is_some() {
            rustix::fs::unlinkat(&self.base, ".hidden", rustix::fs::AtFlags::empty())
                .map_err(Failure::at("unlink the hidden file's name"))?;
        }
        for sealed in self.to_seal.iter().chain([&self.base]) {
            add_mount_attributes(sealed.as_fd(), attr::RDONLY, false).map_err(Failure::at("seal a new file system"))?;
        }
        rustix::process::fchdir(&self.root).map_err(Failure::at("enter the view"))?;
        // With "." for both, the old root ends up mounted over the new one, and one umount lets go of it: see NOTES in
        // pivot_root(2).
        rustix::process::pivot_root(".", ".").map_err(Failure::at("pivot_root"))?;
        rustix::mount::unmount(".", UnmountFlags::DETACH).map_err(Failure::at("detach the host's root"))?;
        rustix::process::chdir("/").map_err(Failure::at("chdir"))?;
        Ok(Outcome::from_faults(&self.faults))
    }
}

/// Flags for a descriptor that only names a place. Without O_NOFOLLOW: with it, openat2(2) gives a descriptor of the link
/// itself where RESOLVE_NO_SYMLINKS should refuse it.
pub const O_PATH: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
const INSIDE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);

/// The kind of file behind a descriptor.
pub fn file_type(fd: BorrowedFd<'_>) -> Result<FileType, Errno> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode))
}

/// A detached copy of the mounts at and below a place, with attributes added to all of them.
pub fn clone_tree(place: BorrowedFd<'_>, attributes: u64) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    let tree = rustix::mount::open_tree(place, "", flags)?;
    if attributes != 0 {
        add_mount_attributes(tree.as_fd(), attributes, true)?;
    }
    Ok(tree)
}

/// Mounts a detached tree at `path` below `folder`; the empty path is the folder itself.
pub fn attach(tree: BorrowedFd<'_>, folder: impl AsFd, path: &str) -> Result<(), Errno> {
    let empty = if path.is_empty() { MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH } else { MoveMountFlags::empty() };
    rustix::mount::move_mount(tree, "", folder, path, empty | MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}
