//! A real folder in which acts are carried out as the broker does, and a plain scan of what a host program would find.
#![allow(dead_code)]

use super::guard;
use guard::{Access, Guard, Kind, Made, Ruling, Tree, Unreadable, git_config};
use std::cell::RefCell;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// One call of a hostile program. Paths are below the workspace.
#[derive(Clone, Debug)]
pub enum Act {
    Mkdir(String),
    /// Opens for writing with O_CREAT and O_TRUNC; the descriptor stays open.
    Write(String, Content),
    /// Writes to a descriptor that is still open.
    Held(usize, Content),
    Symlink(String, String),
    Rename(String, String),
    Exchange(String, String),
    Link(String, String),
    Remove(String),
}

#[derive(Clone, Copy, Debug)]
pub enum Content {
    Evil,
    HarmlessConfig,
    /// What git could write in place of the configuration that was there.
    ChangedConfig,
}

impl Content {
    fn text(self) -> &'static str {
        match self {
            Content::Evil => "[core]\n\tfsmonitor = evil\n",
            Content::HarmlessConfig => "[core]\n\trepositoryformatversion = 0\n",
            Content::ChangedConfig => "[alias]\n\thost = ours\n[user]\n\tname = Bob\n",
        }
    }
}

/// What is there before the first act. A name with a slash at its end is a folder.
const BEFORE: &[&str] = &[
    ".git/HEAD",
    ".git/config",
    ".git/objects/",
    ".git/refs/",
    ".git/hooks/pre-commit",
    ".git/hooks/x.sample",
    "sub/.git/config",
    "sub/.git/HEAD",
    ".envrc",
    "d/x",
    "e/",
    "node_modules/p/.envrc",
    "node_modules/p/x",
    ".github/workflows/ci.yml",
    "b/objects/",
    "b/refs/",
    "b/config",
    "secret/key",
    "package.json",
];

/// Those of them that must be there and unchanged at the end.
const GUARDED: &[&str] = &[
    ".git/config",
    ".git/hooks/pre-commit",
    "sub/.git/config",
    ".envrc",
    ".github/workflows/ci.yml",
    "b/config",
    "secret/key",
];

/// What is in a file before the first act.
fn content_before(name: &str) -> String {
    if name.ends_with("config") { "[alias]\n\thost = ours\n".to_owned() } else { format!("host {name}") }
}

pub struct World {
    root: PathBuf,
    guard: Guard,
    disk: Disk,
    held: Vec<File>,
    is_reported: bool,
}

/// The real tree, and the configurations that were installed, kept open.
#[derive(Default)]
struct Disk {
    own: RefCell<Vec<File>>,
}

impl Disk {
    fn release(&self, path: &Path) -> Option<()> {
        let gone = fs::symlink_metadata(path).ok()?;
        let is_other = |own: &File| own.metadata().is_ok_and(|own| (own.dev(), own.ino()) != (gone.dev(), gone.ino()));
        self.own.borrow_mut().retain(is_other);
        Some(())
    }
}

impl Tree for Disk {
    fn kind(&self, path: &Path) -> Option<Kind> {
        let kind = fs::symlink_metadata(path).ok()?.file_type();
        Some(match () {
            () if kind.is_dir() => Kind::Folder,
            () if kind.is_symlink() => Kind::Symlink,
            () if kind.is_socket() || kind.is_fifo() => Kind::Other,
            () => Kind::File,
        })
    }

    fn list(&self, folder: &Path) -> Result<Vec<(OsString, Kind)>, Unreadable> {
        let names = fs::read_dir(folder).map_err(|_| Unreadable)?;
        let read = names.map(|entry| {
            let entry = entry.map_err(|_| Unreadable)?;
            Ok((entry.file_name(), self.kind(&entry.path()).ok_or(Unreadable)?))
        });
        read.collect()
    }

    fn is_own_config(&self, path: &Path) -> bool {
        let Ok(meta) = fs::symlink_metadata(path) else { return false };
        self.own
            .borrow()
            .iter()
            .filter_map(|file| file.metadata().ok())
            .any(|own| own.ino() == meta.ino() && own.dev() == meta.dev())
    }
}

impl World {
    /// A new workspace, with these rules, in which `/w` stands for the workspace.
    pub fn new(rules: &[&str]) -> World {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("cordon-guard-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(&root).expect("a scratch folder can be made");
        let root = fs::canonicalize(root).expect("the scratch folder is there");
        for name in BEFORE {
            let path = root.join(name);
            let folder = if name.ends_with('/') { Some(path.as_path()) } else { path.parent() };
            fs::create_dir_all(folder.expect("the name has a folder")).expect("a folder can be made");
            if !name.ends_with('/') {
                fs::write(&path, content_before(name)).expect("a file can be made");
            }
        }
        let rules: Vec<String> =
            rules.iter().map(|line| line.replace(" /w/", &format!(" {}/", root.display()))).collect();
        let guard = guard(&rules.iter().map(String::as_str).collect::<Vec<_>>());
        World { root, guard, disk: Disk::default(), held: Vec::new(), is_reported: false }
    }

    /// Carries out one act if the guard and the kernel let it; what the kernel refuses is no matter here.
    pub fn act(&mut self, act: &Act) {
        let _ = match act {
            Act::Mkdir(path) => self.made(path, Made::Folder, |path| fs::create_dir(path)),
            Act::Symlink(target, path) => self.made(path, Made::Symlink, |path| symlink(target, path)),
            Act::Write(path, content) => self.write(path, *content),
            Act::Held(number, content) => self.write_held(*number, *content),
            Act::Remove(path) => self.made(path, Made::Removed, |path| match fs::remove_file(path) {
                Ok(()) => Ok(()),
                Err(_) => fs::remove_dir(path),
            }),
            Act::Rename(from, to) => self.rename(from, to),
            Act::Exchange(one, other) => self.exchange(one, other),
            Act::Link(from, to) => self.link(from, to),
        };
    }

    /// The real path of a name whose last part is not followed; nothing outside the workspace.
    fn real(&self, path: &str) -> Option<PathBuf> {
        let path = self.root.join(path);
        let folder = fs::canonicalize(path.parent()?).ok()?;
        let real = folder.join(path.file_name()?);
        real.starts_with(&self.root).then_some(real)
    }

    fn passes(&mut self, ruling: Ruling<'_>) -> Option<()> {
        self.is_reported |= matches!(ruling, Ruling::Report(_));
        matches!(ruling, Ruling::Allow | Ruling::Report(_)).then_some(())
    }

    fn made(&mut self, path: &str, made: Made, call: impl Fn(&Path) -> std::io::Result<()>) -> Option<()> {
        let path = self.real(path)?;
        let guard = std::mem::replace(&mut self.guard, guard(&[]));
        let passed = self.passes(guard.change(&path, made, &self.disk));
        self.guard = guard;
        passed?;
        call(&path).ok()
    }

    fn write(&mut self, path: &str, content: Content) -> Option<()> {
        let mut path = self.real(path)?;
        if self.disk.kind(&path) == Some(Kind::Symlink) {
            path = fs::canonicalize(&path).ok().filter(|real| real.starts_with(&self.root))?;
        }
        let guard = std::mem::replace(&mut self.guard, guard(&[]));
        let ruling = guard.open(&path, Access::Write, &self.disk);
        let passed = if ruling == Ruling::Release { self.disk.release(&path) } else { self.passes(ruling) };
        self.guard = guard;
        passed?;
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&path).ok()?;
        file.write_all(content.text().as_bytes()).ok()?;
        self.held.push(file);
        Some(())
    }

    fn write_held(&mut self, number: usize, content: Content) -> Option<()> {
        let count = self.held.len().max(1);
        let mut file = self.held.get(number % count)?;
        file.set_len(0).ok()?;
        file.write_all(content.text().as_bytes()).ok()
    }

    fn rename(&mut self, from: &str, to: &str) -> Option<()> {
        let (from, to) = (self.real(from)?, self.real(to)?);
        let kind = self.disk.kind(&from)?;
        let guard = std::mem::replace(&mut self.guard, guard(&[]));
        let ruling = guard.carry(&from, &to, kind, &self.disk).ruling;
        let done = match ruling {
            Ruling::CopyConfig(_) => self.install(&from, &to),
            Ruling::TryConfig => {
                let begins = fs::read(&from).is_ok_and(|text| git_config::begins_repository(&text));
                let installed = if begins { self.install(&from, &to) } else { None };
                installed.or_else(|| fs::rename(&from, &to).ok())
            }
            other => self.passes(other).and_then(|()| fs::rename(&from, &to).ok()),
        };
        self.guard = guard;
        done
    }

    /// As the broker does it: a configuration of the start never counts as one of this run.
    fn install(&self, from: &Path, to: &Path) -> Option<()> {
        let text = fs::read(from).ok()?;
        let is_own = self.disk.kind(to).is_none() || self.disk.is_own_config(to);
        if is_own {
            git_config::harmless(&text).ok()?;
        } else {
            let old = fs::read(to).ok()?;
            git_config::harmless_change(&text, &old, &old).ok()?;
        }
        let new = self.root.join(".install");
        let mut file = OpenOptions::new().write(true).create_new(true).open(&new).ok()?;
        file.write_all(&text).ok()?;
        fs::rename(&new, to).ok()?;
        if is_own {
            self.disk.own.borrow_mut().push(file);
        }
        fs::remove_file(from).ok()
    }

    fn exchange(&mut self, one: &str, other: &str) -> Option<()> {
        let (one, other) = (self.real(one)?, self.real(other)?);
        let kinds = (self.disk.kind(&one)?, self.disk.kind(&other)?);
        if one.starts_with(&other) || other.starts_with(&one) {
            return None;
        }
        let guard = std::mem::replace(&mut self.guard, guard(&[]));
        let ruling = guard.exchange((&one, kinds.0), (&other, kinds.1), &self.disk).ruling;
        let passed = self.passes(ruling);
        self.guard = guard;
        passed?;
        let between = self.root.join(".between");
        fs::rename(&one, &between).ok()?;
        fs::rename(&other, &one).ok()?;
        fs::rename(&between, &other).ok()
    }

    fn link(&mut self, from: &str, to: &str) -> Option<()> {
        let (from, to) = (self.real(from)?, self.real(to)?);
        let kind = self.disk.kind(&from)?;
        let guard = std::mem::replace(&mut self.guard, guard(&[]));
        let ruling = guard.link(&from, &to, kind, &self.disk).ruling;
        let passed = if ruling == Ruling::Release { self.disk.release(&from) } else { self.passes(ruling) };
        self.guard = guard;
        passed?;
        fs::hard_link(&from, &to).ok()
    }

    /// What a host program would find that it should not, in words.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for name in GUARDED {
            let (now, before) = (fs::read_to_string(self.root.join(name)).ok(), content_before(name));
            let is_same = now.as_ref() == Some(&before);
            // A configuration may gain what is harmless.
            let is_fine = name.ends_with("config")
                && now.is_some_and(|now| {
                    git_config::harmless_change(now.as_bytes(), before.as_bytes(), before.as_bytes()).is_ok()
                });
            if !is_same && !is_fine {
                faults.push(format!("changed: {name}"));
            }
        }
        let package = fs::read_to_string(self.root.join("package.json")).unwrap_or_default();
        if package != "host package.json" && !self.is_reported {
            faults.push("package.json changed without a report".to_owned());
        }
        self.scan(&Seen { path: self.root.clone(), names: Vec::new(), linked: 0 }, &mut faults);
        faults
    }

    /// Follows links, as a host program does.
    fn scan(&self, folder: &Seen, faults: &mut Vec<String>) {
        if folder.names.len() > 6 {
            return;
        }
        // Below a link it is a folder that is met at its real place too.
        if folder.linked == 0 {
            self.check_layout(&folder.path, faults);
        }
        for (name, kind) in self.disk.list(&folder.path).unwrap_or_default() {
            let mut names = folder.names.clone();
            names.push(name.to_string_lossy().into_owned());
            let is_link = kind == Kind::Symlink;
            let linked = if is_link { names.len() } else { folder.linked };
            let seen = Seen { path: folder.path.join(&name), names, linked };
            self.check(&seen, faults);
            if self.disk.kind(&seen.path) == Some(Kind::Folder) || (is_link && seen.path.is_dir()) {
                self.scan(&seen, faults);
            }
        }
    }

    fn check(&self, seen: &Seen, faults: &mut Vec<String>) {
        let name = seen.names.join("/");
        let content = fs::read_to_string(&seen.path).unwrap_or_default();
        if content == "host secret/key" && name != "secret/key" && seen.linked == 0 {
            faults.push(format!("the secret lies at {name}"));
        }
        let is_own = fs::canonicalize(&seen.path).is_ok_and(|real| self.disk.is_own_config(&real));
        if is_own && git_config::harmless(content.as_bytes()).is_err() {
            faults.push(format!("a checked configuration was written: {name}"));
        }
        if is_own || BEFORE.contains(&name.as_str()) || !is_guarded(seen) {
            return;
        }
        if name == ".github/workflows" || name == ".git/hooks" {
            return;
        }
        faults.push(format!("planted: {name}"));
    }

    fn check_layout(&self, folder: &Path, faults: &mut Vec<String>) {
        let kind = |name: &str| self.disk.kind(&folder.join(name));
        let shown = folder.strip_prefix(&self.root).unwrap_or(folder).display().to_string();
        let mut planted = |name: &str| faults.push(format!("repository {shown:?} has {name}"));
        if kind("commondir").is_some() && kind("config.worktree").is_some() {
            planted("config.worktree beside commondir");
        }
        if kind("objects").is_none() || kind("refs").is_none() {
            return;
        }
        let is_hosts = shown == ".git" || shown == "b";
        if kind("config").is_some() && !is_hosts && !self.disk.is_own_config(&folder.join("config")) {
            planted("config");
        }
        for name in ["config.worktree", "info/attributes"] {
            if kind(name).is_some() {
                planted(name);
            }
        }
        for (name, _) in self.disk.list(&folder.join("hooks")).unwrap_or_default() {
            let name = name.to_string_lossy();
            let is_hosts = shown == ".git" && name == "pre-commit";
            if !name.ends_with(".sample") && !is_hosts {
                planted("a hook");
            }
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// A name as a host program sees it.
struct Seen {
    path: PathBuf,
    names: Vec<String>,
    /// How many of the names lead to the last link in it, 0 without one.
    linked: usize,
}

/// True for a name that host programs trust. What lies wholly below a link is seen at its real place.
fn is_guarded(seen: &Seen) -> bool {
    let names: Vec<&str> = seen.names.iter().map(String::as_str).collect();
    (0..names.len()).filter(|&at| seen.linked == 0 || at < seen.linked).any(|at| {
        let is_exempt = names[..at].contains(&"node_modules");
        match &names[at..] {
            [".git", "config", ..] | [".git", "config.worktree", ..] | [".git", "info", "attributes", ..] => true,
            [".git", "hooks", hook, ..] => !hook.ends_with(".sample"),
            [".envrc", ..] | [".husky", ..] | [".github", "workflows", _, ..] => !is_exempt,
            _ => false,
        }
    })
}
