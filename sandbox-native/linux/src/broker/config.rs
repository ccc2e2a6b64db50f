//! A git configuration comes to its place as a copy: what git wrote is read, judged by its keys, and written to a file that
//! nobody else has open, which then gets the name.

use super::judge::{Judge, read_small};
use super::resolve::Spot;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, ResolveFlags};
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

/// Does what a rename of `from` onto `to` would, with a copy.
pub fn install(judge: &mut Judge, (from, to): (&Spot, &Spot), flags: RenameFlags) -> Result<(), Fault> {
    let reading = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let source = rustix::fs::openat2(&from.folder, &*from.name, reading, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    let text = match read_small(&source, LONGEST_BYTES) {
        Ok(text) => text,
        Err(Errno::FBIG) => return Err(Fault::Harmful),
        Err(errno) => return Err(errno.into()),
    };
    guard::git_config::harmless(&text).map_err(|_| Fault::Harmful)?;
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&source)?.st_mode & 0o666);
    let (name, copy) = make_beside(to)?;
    let installed = fill(&copy, &text, mode).and_then(|()| {
        rustix::fs::renameat_with(&to.folder, &name, &to.folder, &*to.name, flags)?;
        judge.own_config(copy)
    });
    if let Err(errno) = installed {
        // What is left of it, if it did not get its name.
        let _ = rustix::fs::unlinkat(&to.folder, &name, AtFlags::empty());
        return Err(errno.into());
    }
    rustix::fs::unlinkat(&from.folder, &*from.name, AtFlags::empty())?;
    Ok(())
}

/// Whether git is about to replace a configuration by the same text, as it does when it looked for something to take out:
/// then the lock's name goes, and the configuration stays as it is.
pub fn is_unchanged((from, lock): (&Spot, &Path), (to, config): (&Spot, &Path)) -> bool {
    if config.file_name() != Some(OsStr::new("config")) || lock != config.with_extension("lock") {
        return false;
    }
    let text = |spot: &Spot| {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat2(&spot.folder, &*spot.name, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
        file.and_then(|file| read_small(file, LONGEST_BYTES)).ok()
    };
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
