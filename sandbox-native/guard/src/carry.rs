//! Renames and links: what is carried is judged at the name that it leaves and at the one that it gets.

use crate::trie::Place;
use crate::{Guard, Kind, Made, Ruling, Spot, Tree, Unreadable, stricter};
use plan::{GuardAccess, GuardEffect, GuardRule};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Most names that are judged for one call.
const MAX_ENTRIES: usize = 10_000;

/// How a rename or link is judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried<'g> {
    /// What is to be done with the call.
    pub ruling: Ruling<'g>,
    /// The name that decided: either of the two, or one inside the folder that is carried.
    pub at: PathBuf,
    /// Where the call goes through: every name that is to be reported as trusted.
    pub reports: Vec<(PathBuf, &'g GuardRule)>,
}

impl Guard {
    /// Judges a rename of what stands at `from`, which is of this kind.
    pub fn carry(&self, from: &Path, to: &Path, kind: Kind, tree: &dyn Tree) -> Carried<'_> {
        let mut walk = Walk::new(self, tree, from, to);
        if from == to {
            return walk.end();
        }
        let is_lock = is_lock_of(from, to) && kind == Kind::File;
        if let Some(rule) = self.config_at(to, tree).filter(|_| is_lock) {
            walk.leaves(&walk.top());
            walk.note(to, Ruling::CopyConfig(rule));
            return walk.end();
        }
        walk.carried(kind);
        if is_lock && walk.found.ruling == Ruling::Allow && self.may_become_config(to, tree) {
            walk.found.ruling = Ruling::TryConfig;
        }
        walk.end()
    }

    /// What a checked configuration is checked for would not hold under two names.
    fn second_name(&self, from: &Path, to: &Path, tree: &dyn Tree) -> Ruling<'_> {
        match (self.own_config(from, tree), self.config_at(to, tree)) {
            (Ruling::Release, Some(rule)) => Ruling::Deny(rule),
            (ruling, _) => ruling,
        }
    }

    /// True for a file that is a repository's configuration once the rest of the repository is there: `git init --bare` writes
    /// it first. One that stands there already and was not checked is not made better by checking the next.
    fn may_become_config(&self, to: &Path, tree: &dyn Tree) -> bool {
        self.layout.is_some()
            && to.file_name() == Some(OsStr::new("config"))
            && (tree.kind(to).is_none() || tree.is_own_config(to))
    }

    /// Judges a hard link; folders have none, so a folder is left to the kernel.
    pub fn link(&self, from: &Path, to: &Path, kind: Kind, tree: &dyn Tree) -> Carried<'_> {
        let mut walk = Walk::new(self, tree, from, to);
        if kind != Kind::Folder && tree.kind(to).is_none() {
            walk.carried(kind);
            walk.note(from, self.second_name(from, to, tree));
        }
        walk.end()
    }

    /// Judges RENAME_EXCHANGE: each is carried to the name of the other.
    pub fn exchange(&self, one: (&Path, Kind), other: (&Path, Kind), tree: &dyn Tree) -> Carried<'_> {
        let mut there = Walk::new(self, tree, one.0, other.0);
        there.carried(one.1);
        let mut back = Walk::new(self, tree, other.0, one.0);
        back.carried(other.1);
        let (mut there, back) = (there.end(), back.end());
        let harder = stricter(there.ruling, back.ruling);
        if harder != there.ruling {
            (there.ruling, there.at) = (back.ruling, back.at);
        }
        there.reports.extend(back.reports);
        there
    }

    /// The rule that makes `path` a configuration of git, if any does.
    pub(crate) fn config_at(&self, path: &Path, tree: &dyn Tree) -> Option<&GuardRule> {
        let place = self.trie.place(path);
        let decides = self.deciding(Spot { path, place: &place, now: tree }, Made::File);
        match decides {
            Some(number) if self.rules[number].effect == GuardEffect::GitConfig => Some(&self.rules[number]),
            Some(number) if self.rules[number].effect == GuardEffect::Deny => None,
            _ => {
                let allowed = decides.filter(|&number| self.rules[number].effect == GuardEffect::Allow);
                let layout = self.layout.as_ref().filter(|layout| allowed.unwrap_or(usize::MAX) >= layout.position)?;
                layout.is_config(path, tree).then_some(&layout.rule)
            }
        }
    }

    /// A rule about a path inside `folder`, there or not: with the folder gone, its name would be free.
    fn ruled_inside(&self, folder: &Place) -> Option<&GuardRule> {
        let below = self.trie.below(folder);
        let closes = |rule: &&GuardRule| matches!(rule.effect, GuardEffect::Deny | GuardEffect::GitConfig);
        let named = below.into_iter().map(|number| &self.rules[number]).filter(|rule| rule.path.is_some());
        named.filter(closes).find(|rule| {
            let path = Path::new(rule.path.as_deref().unwrap_or_default());
            // An `allow` before it may open the same path.
            self.trie.place(path).matched.iter().map(|&number| &self.rules[number]).find(|first| {
                first.when.is_none() && (first.access == rule.access || first.access == GuardAccess::Both)
            }) == Some(rule)
        })
    }
}

fn is_lock_of(from: &Path, to: &Path) -> bool {
    let (from, to) = (from.as_os_str().as_bytes(), to.as_os_str().as_bytes());
    from.strip_prefix(to) == Some(b".lock")
}

struct Walk<'g, 'c> {
    guard: &'g Guard,
    from: &'c Path,
    to: &'c Path,
    old: &'c dyn Tree,
    new: Moved<'c>,
    left: usize,
    found: Carried<'g>,
}

/// One name in the folder that is carried: where it is, where it would be.
struct Pair {
    from: PathBuf,
    old: Place,
    to: PathBuf,
    new: Place,
}

impl<'g, 'c> Walk<'g, 'c> {
    fn new(guard: &'g Guard, tree: &'c dyn Tree, from: &'c Path, to: &'c Path) -> Self {
        let found = Carried { ruling: Ruling::Allow, at: to.to_owned(), reports: Vec::new() };
        Walk { guard, from, to, old: tree, new: Moved { tree, from, to }, left: MAX_ENTRIES, found }
    }

    fn end(self) -> Carried<'g> {
        self.found
    }

    /// Takes one ruling into the whole; the first of the strictest stays.
    fn note(&mut self, at: &Path, ruling: Ruling<'g>) {
        if let Ruling::Report(rule) = ruling {
            self.found.reports.push((at.to_owned(), rule));
        }
        let harder = stricter(self.found.ruling, ruling);
        if harder != self.found.ruling {
            self.found.ruling = harder;
            self.found.at = at.to_owned();
        }
    }

    fn is_denied(&self) -> bool {
        matches!(self.found.ruling, Ruling::Deny(_) | Ruling::CrossDevice)
    }

    fn top(&self) -> Pair {
        let (old, new) = (self.guard.trie.place(self.from), self.guard.trie.place(self.to));
        Pair { from: self.from.to_owned(), old, to: self.to.to_owned(), new }
    }

    fn carried(&mut self, kind: Kind) {
        let top = self.top();
        if kind == Kind::Folder
            && let Some(rule) = self.guard.ruled_inside(&top.old)
        {
            self.note(self.from, Ruling::Deny(rule));
        }
        self.judge(&top, kind);
        let mut open = if kind == Kind::Folder { vec![top] } else { Vec::new() };
        while let Some(folder) = open.pop() {
            if self.is_denied() {
                return;
            }
            if self.is_free(&folder) {
                continue;
            }
            match self.old.list(&folder.from) {
                Ok(names) => self.entries(&folder, names, &mut open),
                Err(Unreadable) => self.note(&folder.from, Ruling::CrossDevice),
            }
        }
    }

    fn entries(&mut self, folder: &Pair, names: Vec<(OsString, Kind)>, open: &mut Vec<Pair>) {
        for (name, kind) in names {
            if self.left == 0 {
                return self.note(self.from, Ruling::CrossDevice);
            }
            self.left -= 1;
            let pair = self.inside(folder, &name);
            self.judge(&pair, kind);
            if kind == Kind::Folder {
                open.push(pair);
            }
        }
    }

    fn inside(&self, folder: &Pair, name: &OsStr) -> Pair {
        let trie = &self.guard.trie;
        Pair {
            from: folder.from.join(name),
            old: trie.step(&folder.old, name),
            to: folder.to.join(name),
            new: trie.step(&folder.new, name),
        }
    }

    fn judge(&mut self, pair: &Pair, kind: Kind) {
        let made = match kind {
            Kind::File => Made::File,
            Kind::Folder => Made::Folder,
            Kind::Symlink => Made::Symlink,
            Kind::Other => Made::Node,
        };
        self.leaves(pair);
        self.note(&pair.to, self.arrival(pair, made));
    }

    /// The old name is read, because its content gets a new one, and removed.
    fn leaves(&mut self, pair: &Pair) {
        let old = Spot { path: &pair.from, place: &pair.old, now: self.old };
        self.note(&pair.from, self.guard.read(old));
        self.note(&pair.from, self.guard.write(old, Made::Removed, self.old));
    }

    /// How the new name is judged. A configuration that this run made may move to where it is guarded as one, or to a
    /// name that nothing guards: it can't be written under any.
    fn arrival(&self, pair: &Pair, made: Made) -> Ruling<'g> {
        let spot = Spot { path: &pair.to, place: &pair.new, now: self.old };
        let ruling = self.guard.write(spot, made, &self.new);
        let is_config = || self.guard.config_at(&pair.to, &self.new).is_some();
        if matches!(ruling, Ruling::Deny(_)) && made == Made::File && self.old.is_own_config(&pair.from) && is_config()
        {
            let replaces = self.old.kind(&pair.to).is_some() && !self.old.is_own_config(&pair.to);
            return if replaces { ruling } else { Ruling::Allow };
        }
        ruling
    }

    /// True where no name below can be judged otherwise than the folder was.
    fn is_free(&self, folder: &Pair) -> bool {
        let guard = self.guard;
        [&folder.old, &folder.new].into_iter().all(|place| {
            let opened = |not: GuardAccess| {
                let opens =
                    |rule: &GuardRule| rule.effect == GuardEffect::Allow && rule.when.is_none() && rule.access != not;
                place.matched.iter().copied().find(|&number| opens(&guard.rules[number])).unwrap_or(usize::MAX)
            };
            let (reads, writes) = (opened(GuardAccess::Write), opened(GuardAccess::Read));
            let below = guard.trie.below(place);
            let counts = |number: usize| {
                let rule = &guard.rules[number];
                rule.effect != GuardEffect::Allow
                    && ((rule.access != GuardAccess::Write && number < reads)
                        || (rule.access != GuardAccess::Read && number < writes))
            };
            !place.matched.iter().copied().chain(below).any(counts)
                && guard.layout.as_ref().is_none_or(|layout| writes < layout.position)
        })
    }
}

/// The tree as it would be after the rename, as far as the folder that is carried goes.
struct Moved<'c> {
    tree: &'c dyn Tree,
    from: &'c Path,
    to: &'c Path,
}

impl Moved<'_> {
    fn before(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(self.to) {
            // Joining nothing would add a slash.
            Ok(rest) if rest.as_os_str().is_empty() => self.from.to_owned(),
            Ok(rest) => self.from.join(rest),
            Err(_) => path.to_owned(),
        }
    }
}

impl Tree for Moved<'_> {
    fn kind(&self, path: &Path) -> Option<Kind> {
        self.tree.kind(&self.before(path))
    }

    fn list(&self, folder: &Path) -> Result<Vec<(OsString, Kind)>, Unreadable> {
        self.tree.list(&self.before(folder))
    }

    fn is_own_config(&self, path: &Path) -> bool {
        self.tree.is_own_config(&self.before(path))
    }
}
