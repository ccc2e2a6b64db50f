//! From a path of the caller to the place that it names, held by descriptor. What the kernel resolves in one call is left
//! to it; where a link is on the way, this walks component by component, because "self" in /proc is who asks, and the
//! broker must ask as the caller.

use super::caller::{Caller, O_PATH};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// As the kernel has it (MAXSYMLINKS).
const MOST_LINKS: u32 = 40;

/// PROC_SUPER_MAGIC of statfs(2).
const PROC_MAGIC: i64 = 0x9fa0;

/// A folder that is held, and a name in it: the last component, with the slashes behind it. It can also be ".", ".." or "/".
pub struct Spot {
    pub folder: OwnedFd,
    pub name: Vec<u8>,
}

/// Where a path leads when links at its end are followed.
pub enum Target {
    /// A name that is no link, with what stands there.
    Named(Spot, Option<Stat>),
    /// What a link of /proc/PID/fd, cwd, root or exe leads to: it may have no name.
    Held(OwnedFd),
}

/// What a symlink says.
enum Link {
    Text(Vec<u8>),
    /// Followed by the kernel: a link of /proc/PID that leads to a thing and not to a name.
    Held(OwnedFd),
}

/// Resolves paths for one caller; counts the links of one path.
pub struct Resolver<'c> {
    caller: &'c Caller,
    links: u32,
}

/// The folder part and the last component of a path that is not empty.
pub fn split(path: &[u8]) -> (&[u8], &[u8]) {
    let Some(end) = path.iter().rposition(|byte| *byte != b'/') else { return (b"", b"/") };
    let start = path.get(..end).and_then(|head| head.iter().rposition(|byte| *byte == b'/')).map_or(0, |at| at + 1);
    path.split_at(start)
}

/// A last component without the slashes behind it.
pub fn bare(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|byte| *byte != b'/').map_or(1, |at| at + 1);
    name.get(..end).unwrap_or(name)
}

/// The path under which the kernel knows a descriptor of this process; "/x (deleted)" for what has no name any more.
pub fn real_path(fd: impl AsFd) -> Result<PathBuf, Errno> {
    let link = format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd());
    let path = rustix::fs::readlinkat(CWD, link, Vec::with_capacity(256))?;
    Ok(PathBuf::from(OsString::from_vec(path.into_bytes())))
}

impl Spot {
    /// The real path of the name. EACCES for a folder that has none in this view: nothing could be judged there.
    pub fn path(&self) -> Result<PathBuf, Errno> {
        let name = bare(&self.name);
        let path = match name {
            b"/" => PathBuf::from("/"),
            b"." => real_path(&self.folder)?,
            b".." => real_path(rustix::fs::openat(&self.folder, "..", O_PATH, Mode::empty())?)?,
            name => real_path(&self.folder)?.join(OsStr::from_bytes(name)),
        };
        if path.is_absolute() { Ok(path) } else { Err(Errno::ACCESS) }
    }

    /// What stands at the name itself.
    pub fn stat(&self) -> Result<Option<Stat>, Errno> {
        match rustix::fs::statat(&self.folder, bare(&self.name), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    fn has_slash(&self) -> bool {
        self.name.ends_with(b"/")
    }
}

/// Whether this is a kind of file.
pub fn is_kind(stat: &Stat, kind: FileType) -> bool {
    FileType::from_raw_mode(stat.st_mode) == kind
}

impl<'c> Resolver<'c> {
    pub fn new(caller: &'c Caller) -> Resolver<'c> {
        Resolver { caller, links: 0 }
    }

    /// The folder and last name of a path; a link at the end is not followed.
    pub fn spot(&mut self, base: i32, path: &[u8]) -> Result<Spot, Errno> {
        let (folder, name) = split(path);
        let start = match path.first() {
            Some(b'/') => None,
            _ => Some(self.caller.folder(base)?),
        };
        Ok(Spot { folder: self.folder(start, folder)?, name: name.to_vec() })
    }

    /// Where a path leads. `follow` is whether a link at its end counts; one with a slash behind it always does.
    pub fn target(&mut self, base: i32, path: &[u8], follow: bool) -> Result<Target, Errno> {
        let mut spot = self.spot(base, path)?;
        loop {
            let stat = spot.stat()?;
            let is_link = stat.as_ref().is_some_and(|stat| is_kind(stat, FileType::Symlink));
            if !is_link || !(follow || spot.has_slash()) {
                return Ok(Target::Named(spot, stat));
            }
            let text = match self.read_link(&spot.folder, bare(&spot.name))? {
                Link::Held(held) => return Ok(Target::Held(held)),
                Link::Text(text) if spot.has_slash() => [text.as_slice(), b"/"].concat(),
                Link::Text(text) => text,
            };
            let (folder, name) = split(&text);
            let name = name.to_vec();
            let start = if text.first() == Some(&b'/') { None } else { Some(spot.folder) };
            spot = Spot { folder: self.folder(start, folder)?, name };
        }
    }

    /// Opens a folder from a start, or from the root without one.
    fn folder(&mut self, start: Option<OwnedFd>, path: &[u8]) -> Result<OwnedFd, Errno> {
        let opened = match (start, path) {
            (Some(start), b"") => {
                // The path names something in it: it has to be one.
                if !is_kind(&rustix::fs::fstat(&start)?, FileType::Directory) {
                    return Err(Errno::NOTDIR);
                }
                start
            }
            (None, b"") => rustix::fs::openat(CWD, "/", O_PATH, Mode::empty())?,
            (start, path) => {
                let from = start.as_ref().map_or(CWD, AsFd::as_fd);
                let flags = O_PATH | OFlags::DIRECTORY;
                match rustix::fs::openat2(from, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
                    Err(Errno::LOOP) => self.walk(start, path)?,
                    opened => opened?,
                }
            }
        };
        refuse_own(&opened)?;
        Ok(opened)
    }

    /// The same by components. Each link is counted, and each name comes from a path or link of at most PATH_MAX bytes, so it
    /// ends.
    fn walk(&mut self, start: Option<OwnedFd>, path: &[u8]) -> Result<OwnedFd, Errno> {
        let root = || rustix::fs::openat(CWD, "/", O_PATH, Mode::empty());
        let mut at = match start {
            Some(start) if !path.starts_with(b"/") => start,
            _ => root()?,
        };
        let mut rest: Vec<Vec<u8>> = Vec::new();
        push_components(&mut rest, path);
        while let Some(name) = rest.pop() {
            let node = rustix::fs::openat(&at, name.as_slice(), O_PATH | OFlags::NOFOLLOW, Mode::empty())?;
            match FileType::from_raw_mode(rustix::fs::fstat(&node)?.st_mode) {
                FileType::Directory => at = node,
                FileType::Symlink => match self.read_link(&at, &name)? {
                    Link::Text(text) => {
                        if text.starts_with(b"/") {
                            at = root()?;
                        }
                        push_components(&mut rest, &text);
                    }
                    Link::Held(held) => at = held,
                },
                _ => return Err(Errno::NOTDIR),
            }
        }
        if is_kind(&rustix::fs::fstat(&at)?, FileType::Directory) { Ok(at) } else { Err(Errno::NOTDIR) }
    }

    fn read_link(&mut self, folder: &OwnedFd, name: &[u8]) -> Result<Link, Errno> {
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(Errno::LOOP);
        }
        if is_proc(folder)? {
            let place = real_path(folder)?;
            refuse_own(folder)?;
            if place == OsStr::new("/proc") {
                match name {
                    b"self" => return Ok(Link::Text(self.caller.status()?.tgid.to_string().into_bytes())),
                    b"thread-self" => {
                        let tgid = self.caller.status()?.tgid;
                        return Ok(Link::Text(format!("{tgid}/task/{}", self.caller.tid).into_bytes()));
                    }
                    _ => {}
                }
            } else if process_of(&place).is_some() {
                let held = rustix::fs::openat(folder, name, O_PATH, Mode::empty())?;
                refuse_own(&held)?;
                return Ok(Link::Held(held));
            }
        }
        let text = rustix::fs::readlinkat(folder, name, Vec::with_capacity(256))?.into_bytes();
        // An empty link can be made by none of today's kernels.
        if text.is_empty() { Err(Errno::NOENT) } else { Ok(Link::Text(text)) }
    }
}

fn push_components(rest: &mut Vec<Vec<u8>>, path: &[u8]) {
    let names = path.split(|byte| *byte == b'/').filter(|name| !matches!(*name, b"" | b"."));
    rest.extend(names.rev().map(<[u8]>::to_vec));
}

fn is_proc(folder: impl AsFd) -> Result<bool, Errno> {
    Ok(rustix::fs::fstatfs(folder)?.f_type == PROC_MAGIC)
}

/// The process or thread that a path of /proc belongs to.
fn process_of(path: &std::path::Path) -> Option<libc::pid_t> {
    let first = path.strip_prefix("/proc").ok()?.iter().next()?;
    first.to_str()?.parse().ok()
}

/// To itself this process may do everything, so nothing of its own in /proc may be reached for a caller; and no other proc
/// than the one at /proc, where names can't be told from each other.
pub fn refuse_own(place: impl AsFd) -> Result<(), Errno> {
    if !is_proc(&place)? {
        return Ok(());
    }
    let path = real_path(place)?;
    if !path.starts_with("/proc") {
        return Err(Errno::ACCESS);
    }
    match process_of(&path) {
        Some(pid) if pid == rustix::process::getpid().as_raw_nonzero().get() => Err(Errno::ACCESS),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_split_before_its_last_name() {
        let cases: [(&str, &str, &str); 8] = [
            ("a", "", "a"),
            ("a/b", "a/", "b"),
            ("/a", "/", "a"),
            ("a/b//", "a/", "b//"),
            ("/", "", "/"),
            ("///", "", "/"),
            (".", "", "."),
            ("../..", "../", ".."),
        ];
        for (path, folder, name) in cases {
            assert_eq!(split(path.as_bytes()), (folder.as_bytes(), name.as_bytes()), "{path}");
        }
        assert_eq!((bare(b"a//"), bare(b"/"), bare(b"..")), (&b"a"[..], &b"/"[..], &b".."[..]));
    }

    #[test]
    fn what_belongs_to_a_process_is_told_from_the_rest_of_proc() {
        let of = |path: &str| process_of(std::path::Path::new(path));
        assert_eq!((of("/proc/12/fd"), of("/proc/12"), of("/proc/sys/kernel")), (Some(12), Some(12), None));
        assert_eq!((of("/proc"), of("/procs/12")), (None, None));
    }
}
