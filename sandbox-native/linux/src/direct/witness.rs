//! Whether the world is still what planning saw.

use super::record::Witness;
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags};
use rustix::io::Errno;

impl Witness {
    /// The first thing that is not as it was; `None` when the plan still holds.
    pub fn changed(&self) -> Option<&str> {
        let kinds = [
            (&self.missing, None),
            (&self.folders, Some(FileType::Directory)),
            (&self.files, Some(FileType::RegularFile)),
        ];
        for (paths, kind) in kinds {
            if let Some(path) = paths.iter().find(|path| kind_of(path) != Ok(kind)) {
                return Some(path);
            }
        }
        let is_other = |path: &String| {
            let plain = [FileType::Directory, FileType::RegularFile, FileType::Symlink];
            matches!(kind_of(path), Ok(Some(kind)) if !plain.contains(&kind))
        };
        if let Some(path) = self.others.iter().find(|path| !is_other(path)) {
            return Some(path);
        }
        if let Some((path, _)) = self.links.iter().find(|(path, text)| link_text(path).as_ref() != Some(text)) {
            return Some(path);
        }
        let fails = |path: &str, errno: i32| kind_of(path) == Err(Errno::from_raw_os_error(errno));
        if let Some((path, _)) = self.errors.iter().find(|(path, errno)| !fails(path, *errno)) {
            return Some(path);
        }
        if let Some((path, _)) = self.unchanged.iter().find(|(path, was)| identity(path).as_ref() != Some(was)) {
            return Some(path);
        }
        self.machine_changed()
    }

    fn machine_changed(&self) -> Option<&str> {
        if let Some((path, _)) = self.namespaces.iter().find(|(path, text)| link_text(path) != *text) {
            return Some(path);
        }
        let text = |path: &str| std::fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        if let Some((path, _)) = self.texts.iter().find(|(path, was)| text(path) != *was) {
            return Some(path);
        }
        let now = text("/proc/self/status").unwrap_or_default();
        self.status.iter().find(|line| !now.lines().any(|found| found == *line)).map(String::as_str)
    }
}

/// What stands at a path, a link by itself; `None` when nothing does.
fn kind_of(path: &str) -> Result<Option<FileType>, Errno> {
    match rustix::fs::lstat(path) {
        Ok(found) => Ok(Some(FileType::from_raw_mode(found.st_mode))),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

fn link_text(path: &str) -> Option<String> {
    rustix::fs::readlink(path, Vec::new()).ok()?.into_string().ok()
}

fn identity(path: &str) -> Option<String> {
    let wanted = StatxFlags::INO | StatxFlags::CTIME;
    let found = rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, wanted).ok()?;
    let ctime_ns = i128::from(found.stx_ctime.tv_sec) * 1_000_000_000 + i128::from(found.stx_ctime.tv_nsec);
    let dev = rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor);
    Some(format!("{dev}:{}:{ctime_ns}", found.stx_ino))
}
