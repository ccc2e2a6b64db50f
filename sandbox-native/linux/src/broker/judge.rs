//! The guard's rulings about real paths, turned into what the broker does.

use crate::enforced::Failure;
use guard::{Access, Carried, Guard, Kind, Made, Ruling, Tree, Unreadable};
use plan::GuardRule;
use rustix::fs::{CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Configurations that the broker makes in one run; each is kept open.
const MOST_CONFIGS: usize = 256;

/// A call may go on.
pub enum Passage {
    /// The kernel decides.
    Free,
    /// The kernel decides, and these are told with their reasons if it lets the call through.
    Told(Vec<(PathBuf, String)>),
    /// A rename becomes a checked copy, or is refused by the rule at the path.
    Config(Refusal),
    /// A rename becomes a checked copy where that can be; else the kernel decides.
    MayBeConfig,
}

/// A call ends here.
pub enum Refusal {
    By {
        path: PathBuf,
        rule: Box<GuardRule>,
    },
    /// Too much to judge at once.
    CrossDevice,
}

/// A guard and what it looks at.
pub struct Judge {
    guard: Guard,
    has_rules: bool,
    view: View,
}

/// The file system as the broker sees it, which is as the command does.
#[derive(Default)]
struct View {
    configs: Vec<(u64, u64, OwnedFd)>,
    /// Configurations of the start, as they were before this run changed them.
    first: HashMap<PathBuf, Vec<u8>>,
}

type Judged = Result<Passage, Refusal>;

impl Judge {
    pub fn new(plan: &plan::Guard) -> Result<Judge, Failure> {
        let guard = Guard::new(plan).map_err(|fault| Failure::plain(fault.to_string()))?;
        let has_rules = plan.git_layout || !plan.rules.is_empty();
        Ok(Judge { guard, has_rules, view: View::default() })
    }

    pub fn open(&mut self, path: &Path, access: Access) -> Judged {
        if !self.has_rules {
            return Ok(Passage::Free);
        }
        let ruling = self.guard.open(path, access, &self.view);
        if ruling == Ruling::Release {
            self.view.release(path);
            return Ok(Passage::Free);
        }
        ruled(ruling, path)
    }

    pub fn change(&mut self, path: &Path, made: Made) -> Judged {
        if !self.has_rules {
            return Ok(Passage::Free);
        }
        let ruling = self.guard.change(path, made, &self.view);
        if ruling == Ruling::Release {
            self.view.release(path);
            return Ok(Passage::Free);
        }
        ruled(ruling, path)
    }

    pub fn rename(&self, from: (&Path, Kind), to: &Path) -> Judged {
        self.carried(|guard, view| guard.carry(from.0, to, from.1, view))
    }

    pub fn exchange(&self, one: (&Path, Kind), other: (&Path, Kind)) -> Judged {
        self.carried(|guard, view| guard.exchange(one, other, view))
    }

    pub fn link(&mut self, from: (&Path, Kind), to: &Path) -> Judged {
        if self.has_rules && self.guard.link(from.0, to, from.1, &self.view).ruling == Ruling::Release {
            self.view.release(from.0);
        }
        self.carried(|guard, view| guard.link(from.0, to, from.1, view))
    }

    fn carried<'g>(&'g self, judge: impl FnOnce(&'g Guard, &View) -> Carried<'g>) -> Judged {
        if !self.has_rules {
            return Ok(Passage::Free);
        }
        let Carried { ruling, at, reports } = judge(&self.guard, &self.view);
        match ruled(ruling, &at)? {
            passage @ (Passage::Config(_) | Passage::MayBeConfig) => Ok(passage),
            Passage::Free if reports.is_empty() => Ok(Passage::Free),
            _ => Ok(Passage::Told(reports.into_iter().map(|(path, rule)| (path, rule.reason.clone())).collect())),
        }
    }

    /// True for one that the broker made where none was at the start.
    pub fn is_own_config(&self, path: &Path) -> bool {
        self.view.is_own_config(path)
    }

    /// What stood at a configuration of the start before this run changed it; `now` is what stands there.
    pub fn first_config(&mut self, path: &Path, now: &[u8]) -> Result<&[u8], Errno> {
        let first = &mut self.view.first;
        if first.len() >= MOST_CONFIGS && !first.contains_key(path) {
            return Err(Errno::NOSPC);
        }
        Ok(first.entry(path.to_owned()).or_insert_with(|| now.to_owned()))
    }

    /// Remembers a configuration that the broker made. Kept open, so that no other file gets its number.
    pub fn own_config(&mut self, file: OwnedFd) -> Result<(), Errno> {
        let stat = rustix::fs::fstat(&file)?;
        if self.view.configs.len() >= MOST_CONFIGS {
            return Err(Errno::NOSPC);
        }
        self.view.configs.push((stat.st_dev, stat.st_ino, file));
        Ok(())
    }
}

fn ruled(ruling: Ruling<'_>, path: &Path) -> Judged {
    let by = |rule: &GuardRule| Refusal::By { path: path.to_owned(), rule: Box::new(rule.clone()) };
    match ruling {
        Ruling::Allow | Ruling::Release => Ok(Passage::Free),
        Ruling::TryConfig => Ok(Passage::MayBeConfig),
        Ruling::Report(rule) => Ok(Passage::Told(vec![(path.to_owned(), rule.reason.clone())])),
        Ruling::CopyConfig(rule) => Ok(Passage::Config(by(rule))),
        Ruling::Deny(rule) => Err(by(rule)),
        Ruling::CrossDevice => Err(Refusal::CrossDevice),
    }
}

impl View {
    /// What stands there is a file like others now.
    fn release(&mut self, path: &Path) {
        if let Ok(found) = std::fs::symlink_metadata(path) {
            self.configs.retain(|(device, inode, _)| (*device, *inode) != (found.dev(), found.ino()));
        }
    }
}

/// The guard's word for a kind of file.
pub fn kind_of(stat: &Stat) -> Kind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Symlink,
        _ => Kind::Other,
    }
}

impl Tree for View {
    fn kind(&self, path: &Path) -> Option<Kind> {
        rustix::fs::lstat(path).ok().as_ref().map(kind_of)
    }

    fn list(&self, folder: &Path) -> Result<Vec<(OsString, Kind)>, Unreadable> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(CWD, folder, flags, Mode::empty()).map_err(|_| Unreadable)?;
        drop(opened);
        let entries = std::fs::read_dir(folder).map_err(|_| Unreadable)?;
        let entries = entries.map(|entry| {
            let entry = entry.map_err(|_| Unreadable)?;
            let kind = entry.file_type().map_err(|_| Unreadable)?;
            let kind = match (kind.is_file(), kind.is_dir(), kind.is_symlink()) {
                (true, _, _) => Kind::File,
                (_, true, _) => Kind::Folder,
                (_, _, true) => Kind::Symlink,
                _ => Kind::Other,
            };
            Ok((entry.file_name(), kind))
        });
        entries.collect()
    }

    fn is_own_config(&self, path: &Path) -> bool {
        if self.configs.is_empty() {
            return false;
        }
        let found = std::fs::symlink_metadata(path);
        found.is_ok_and(|found| {
            self.configs.iter().any(|(device, inode, _)| (*device, *inode) == (found.dev(), found.ino()))
        })
    }
}

/// A file of the broker's own for a configuration, and what it takes to fill it.
pub fn read_small(file: impl AsFd, most: usize) -> Result<Vec<u8>, Errno> {
    let mut text = vec![0_u8; most + 1];
    let mut length = 0;
    while let Some(rest) = text.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match rustix::io::read(&file, rest) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    if length > most {
        return Err(Errno::FBIG);
    }
    text.truncate(length);
    Ok(text)
}
