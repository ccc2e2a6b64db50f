//! A git configuration comes to its place as a copy: what git wrote is read, judged by its keys, and written to a file that
//! nobody else has open, which then gets the name.

use super::judge::{Judge, read_small};
use super::resolve::{Spot, is_kind};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, ResolveFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::Path;

const LONGEST_BYTES: usize = 64 << 10;

/// Why there is no copy.
pub enum Fault {
    /// It holds a key that makes git outside obey or run something, or can't be read as a configuration.
    Harmful,
    Failed(Errno),
}

impl From<Errno> for Fault {
    fn from(errno: Errno) -> Fault {
        Fault::Failed(errno)
    }
}

/// A rename of a lock onto a configuration: where each is, and the real path that it gets.
pub struct Install<'i> {
    pub from: &'i Spot,
    pub to: &'i Spot,
    pub path: &'i Path,
    pub flags: RenameFlags,
}

/// Does what the rename would, with a copy. One that takes the place of a configuration of the start is never this run's own:
/// it may not be removed.
pub fn install(judge: &mut Judge, rename: &Install<'_>) -> Result<(), Fault> {
    let Install { from, to, path, flags } = rename;
    let (source, text) = read(from)?;
    let is_own = judge.is_own_config(path) || to.stat()?.is_none();
    if is_own {
        guard::git_config::harmless(&text).map_err(|_| Fault::Harmful)?;
    } else {
        let (_, old) = read(to)?;
        let first = judge.first_config(path, &old)?;
        guard::git_config::harmless_change(&text, &old, first).map_err(|_| Fault::Harmful)?;
    }
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&source)?.st_mode & 0o666);
    let (name, copy) = make_beside(to)?;
    let installed = fill(&copy, &text, mode).and_then(|()| {
        rustix::fs::renameat_with(&to.folder, &name, &to.folder, &*to.name, *flags)?;
        if is_own { judge.own_config(copy) } else { Ok(()) }
    });
    if let Err(errno) = installed {
        // What is left of it, if it did not get its name.
        let _ = rustix::fs::unlinkat(&to.folder, &name, AtFlags::empty());
        return Err(errno.into());
    }
    rustix::fs::unlinkat(&from.folder, &*from.name, AtFlags::empty())?;
    Ok(())
}

/// The same where no repository is yet, for what begins one; false where it was left to the kernel.
pub fn try_install(judge: &mut Judge, rename: &Install<'_>) -> bool {
    let begins = read(rename.from).is_ok_and(|(_, text)| guard::git_config::begins_repository(&text));
    begins && install(judge, rename).is_ok()
}

/// A small regular file, and what is in it.
fn read(spot: &Spot) -> Result<(OwnedFd, Vec<u8>), Fault> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat2(&spot.folder, &*spot.name, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
    let file = file.map_err(|errno| if errno == Errno::LOOP { Fault::Harmful } else { Fault::Failed(errno) })?;
    if !is_kind(&rustix::fs::fstat(&file)?, FileType::RegularFile) {
        return Err(Fault::Harmful);
    }
    match read_small(&file, LONGEST_BYTES) {
        Ok(text) => Ok((file, text)),
        Err(Errno::FBIG) => Err(Fault::Harmful),
        Err(errno) => Err(errno.into()),
    }
}

/// Whether git is about to replace a configuration by the same text, as it does when it looked for something to take out:
/// then the lock's name goes, and the configuration stays as it is.
pub fn is_unchanged((from, lock): (&Spot, &Path), (to, config): (&Spot, &Path)) -> bool {
    if config.file_name() != Some(OsStr::new("config")) || lock != config.with_extension("lock") {
        return false;
    }
    let text = |spot: &Spot| read(spot).ok().map(|(_, text)| text);
    text(from).is_some_and(|new| text(to) == Some(new))
}

/// Whether a file may be made beside a name.
pub fn may_make(to: &Spot) -> Result<(), Errno> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    match rustix::fs::openat(&to.folder, ".", flags, Mode::RUSR) {
        // A file system without nameless files.
        Err(Errno::OPNOTSUPP) => Ok(()),
        made => made.map(drop),
    }
}

fn fill(copy: &OwnedFd, text: &[u8], mode: Mode) -> Result<(), Errno> {
    let mut rest = text;
    while !rest.is_empty() {
        match rustix::io::write(copy, rest) {
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    rustix::fs::fchmod(copy, mode)
}

/// A new file in the same folder, under a name that nobody has.
fn make_beside(to: &Spot) -> Result<(String, OwnedFd), Errno> {
    let mut random = [0_u8; 8];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    let name = format!("config.{:016x}", u64::from_ne_bytes(random));
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let copy = rustix::fs::openat(&to.folder, &name, flags, Mode::RUSR | Mode::WUSR)?;
    Ok((name, copy))
}
