//! Rules with exceptions. Landlock adds rules up and takes nothing away again, so a rule on a folder that holds something
//! closed is laid on what stands beside the way to it. What is made in such a folder later has no rule.

use crate::enforced::Failure;
use crate::mounts::{O_PATH, file_type, is_within};
use plan::LandlockRule;
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// More children than this are no folder on the way to a secret.
const MOST_PLACES: usize = 50_000;

/// One place that a rule is laid on.
pub struct Place {
    pub fd: OwnedFd,
    pub is_folder: bool,
    /// Only its names and those below may be listed: something in it is closed.
    pub names_only: bool,
}

/// The places of a rule. `judged` is whether a broker judges each read: only then may folders be listed that have a closed
/// folder in them, because a right to list holds for all that is below.
pub fn places(rule: &LandlockRule, judged: bool) -> Result<Vec<Place>, Errno> {
    let fd = hold_place(&rule.path)?;
    let mut found = Vec::new();
    let excepted: Vec<&str> = rule.except.iter().map(String::as_str).collect();
    expand(&mut found, fd, (&rule.path, &excepted), judged)?;
    Ok(found)
}

/// A descriptor that names the path, with no link on the way. The broker of an outer sandbox answers openat2(2) for such
/// descriptors with ENOSYS, since it can't hand one over; then the name that was come to has the say.
fn hold_place(path: &str) -> Result<OwnedFd, Errno> {
    match rustix::fs::openat2(CWD, path, O_PATH, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOSYS) => {
            let fd = rustix::fs::openat(CWD, path, O_PATH, Mode::empty())?;
            let name = rustix::fs::readlink(format!("/proc/self/fd/{}", fd.as_raw_fd()), Vec::new())?;
            if name.as_bytes() == path.as_bytes() { Ok(fd) } else { Err(Errno::LOOP) }
        }
        held => held,
    }
}

fn expand(found: &mut Vec<Place>, fd: OwnedFd, (path, except): (&str, &[&str]), judged: bool) -> Result<(), Errno> {
    if except.contains(&path) {
        return Ok(());
    }
    if found.len() >= MOST_PLACES {
        return Err(Errno::TOOBIG);
    }
    let inside: Vec<&str> = except.iter().copied().filter(|other| is_within(other, path)).collect();
    let is_folder = file_type(fd.as_fd())? == FileType::Directory;
    if inside.is_empty() || !is_folder {
        found.push(Place { fd, is_folder, names_only: false });
        return Ok(());
    }
    let listing = rustix::fs::openat(&fd, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    for entry in rustix::fs::Dir::new(listing?)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        // A rule on a link would be a rule on nothing; where it leads has its own name.
        let child = match rustix::fs::openat(&fd, name, O_PATH | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(child) if file_type(child.as_fd())? != FileType::Symlink => child,
            Ok(_) | Err(Errno::NOENT | Errno::ACCESS) => continue,
            Err(errno) => return Err(errno),
        };
        // A name that is no text is none of the plan's.
        let name = name.to_string_lossy();
        let path = if path == "/" { format!("/{name}") } else { format!("{path}/{name}") };
        expand(found, child, (&path, &inside), judged)?;
    }
    let closed_folder = |path: &&str| {
        hold_place(path).is_ok_and(|opened| file_type(opened.as_fd()).is_ok_and(|kind| kind == FileType::Directory))
    };
    if judged || !inside.iter().any(closed_folder) {
        found.push(Place { fd, is_folder, names_only: true });
    }
    Ok(())
}

/// A rule for writing can't have exceptions: making and removing names is a right on the folder.
pub fn check(rule: &LandlockRule) -> Result<(), Failure> {
    if rule.access == plan::LandlockAccess::Rw && !rule.except.is_empty() {
        return Err(Failure::plain(format!("landlock rule for \"{}\": exceptions are for reading only", rule.path)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::LandlockAccess;

    #[test]
    fn what_stands_beside_the_way_is_opened_and_the_exception_is_not() {
        let top = std::env::temp_dir().join(format!("except-{}", std::process::id()));
        std::fs::create_dir_all(top.join("a/secret")).expect("make");
        std::fs::create_dir_all(top.join("b/c")).expect("make");
        std::fs::write(top.join("a/file"), "").expect("write");
        std::os::unix::fs::symlink("a/secret", top.join("link")).expect("link");
        let top_text = top.to_str().expect("text").to_owned();
        let rule = |except: &[&str]| LandlockRule {
            path: top_text.clone(),
            access: LandlockAccess::Read,
            except: except.iter().map(|name| format!("{top_text}/{name}")).collect(),
        };
        let listed = |except: &[&str], judged| {
            let places = places(&rule(except), judged).expect("places");
            let names = places.iter().map(|place| {
                let path = std::fs::read_link(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&place.fd)));
                let path = path.expect("a path").display().to_string();
                format!("{}{}", path.replacen(&top_text, "", 1), if place.names_only { "?" } else { "" })
            });
            let mut names: Vec<String> = names.collect();
            names.sort();
            names
        };
        assert_eq!(listed(&[], false), [""]);
        assert_eq!(listed(&["a/secret"], false), ["/a/file", "/b"]);
        assert_eq!(listed(&["a/secret"], true), ["/a/file", "/a?", "/b", "?"]);
        assert_eq!(listed(&["a/file"], false), ["/a/secret", "/a?", "/b", "?"]);
        std::fs::remove_dir_all(&top).expect("remove");
    }
}
