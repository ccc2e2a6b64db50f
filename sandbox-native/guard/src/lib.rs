//! Decides about paths for the broker. Pure: what it has to know of the file system it asks a [`Tree`], and it changes
//! nothing. Paths are absolute, real up to their last name, and bytes.
//!
//! For a path and an access the first rule that matches decides; where none does, the kernel decides alone. Rules go by
//! names and not by inodes, so nothing may come under a guarded name by another way than a judged one: what is renamed or
//! linked is judged at both names, a folder with everything in it, and a link is judged for the names that it gives to
//! what lies at its target.

mod carry;
pub mod git_config;
mod glob;
mod layout;
mod trie;

pub use carry::Carried;
pub use glob::GlobFault;

use plan::{GuardAccess, GuardEffect, GuardRule, GuardWhen};
use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use trie::{Place, Trie};

/// What stands at a name; a link is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    File,
    Folder,
    Symlink,
    /// FIFO, socket or device.
    Other,
}

/// What an open asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Access {
    Read,
    /// Writing, creating and truncating.
    Write,
    ReadWrite,
}

/// What an act does to a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// A file is created, written or truncated.
    File,
    /// A folder is made.
    Folder,
    /// A symlink is made. Its target does not matter: it may be filled or replaced later.
    Symlink,
    /// A FIFO, socket or device is made.
    Node,
    /// The name is removed.
    Removed,
    /// Mode, owner, times or attributes are changed.
    Metadata,
}

/// What is to be done with a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ruling<'g> {
    /// The kernel decides.
    Allow,
    /// The kernel decides, and a change that it lets through is reported as trusted.
    Report(&'g GuardRule),
    /// EACCES, reported.
    Deny(&'g GuardRule),
    /// A rename of `config.lock` to `config`: what is in the file goes there as a new file, made by the broker from bytes that
    /// [`git_config::harmless_change`] took; if it did not, this is a denial by the rule.
    CopyConfig(&'g GuardRule),
    /// The same where no repository is yet: what [`git_config::harmless`] takes goes there by copy, and the rest as any file.
    TryConfig,
    /// The kernel decides, and the configuration that this run made is from now on a file like others.
    Release,
    /// EXDEV: too much to judge in one call, so that the program copies.
    CrossDevice,
}

/// A folder can't be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// What the guard may ask about the file system. Nothing follows links.
pub trait Tree {
    /// What stands at a name, if anything.
    fn kind(&self, path: &Path) -> Option<Kind>;
    /// What a folder holds, without `.` and `..`; fewer than all names is an error.
    fn list(&self, folder: &Path) -> Result<Vec<(OsString, Kind)>, Unreadable>;
    /// True for a configuration file that the broker made in this run by [`Ruling::CopyConfig`] where none was at the start,
    /// under any name. Told by device and inode, which the broker keeps open so that no other file can get the same number.
    fn is_own_config(&self, path: &Path) -> bool;
}

/// Why a guard can't be made from a plan: a rule that would not protect what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuardFault {
    /// The glob of a rule can't be read.
    Glob(String, GlobFault),
    /// A path is not absolute and plain.
    Path(String),
    /// A rule has both a path and a glob, or neither.
    Shape(String),
}

impl fmt::Display for GuardFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GuardFault::Glob(glob, fault) => write!(f, "Glob \"{glob}\" can't be used: {fault}"),
            GuardFault::Path(path) => write!(f, "Path \"{path}\" of a guard rule is not absolute and plain"),
            GuardFault::Shape(reason) => write!(f, "The guard rule \"{reason}\" wants exactly one of path and glob"),
        }
    }
}

/// The rules of one plan, ready to judge.
#[derive(Debug)]
pub struct Guard {
    rules: Vec<GuardRule>,
    trie: Trie,
    layout: Option<Layout>,
}

/// The built-in rule on planted repositories. It stands where the first `git_config` rule stands, so that an `allow`
/// before that opens it, and the `allow` of an exempt folder after that does not.
#[derive(Debug)]
struct Layout {
    position: usize,
    rule: GuardRule,
}

/// One name that is judged: where it is, and its place among the rules.
#[derive(Clone, Copy)]
struct Spot<'s> {
    path: &'s Path,
    place: &'s Place,
    /// The tree as it is, also where the act is judged on the tree as it would be.
    now: &'s dyn Tree,
}

impl Guard {
    /// Reads the rules of a plan.
    pub fn new(guard: &plan::Guard) -> Result<Guard, GuardFault> {
        let mut trie = Trie::new();
        for (number, rule) in guard.rules.iter().enumerate() {
            if rule.when.is_some() {
                trie.mark_conditional(number);
            }
            match (&rule.path, &rule.glob) {
                (Some(path), None) => trie.add(&fixed_segments(path)?, number),
                (None, Some(text)) => {
                    let read = glob::read(text).map_err(|fault| GuardFault::Glob(text.clone(), fault))?;
                    read.iter().for_each(|one| trie.add(one, number));
                }
                _ => return Err(GuardFault::Shape(rule.reason.clone())),
            }
        }
        trie.finish();
        let position = guard.rules.iter().position(|rule| rule.effect == GuardEffect::GitConfig);
        let position = position.unwrap_or(guard.rules.len());
        let layout = guard.git_layout.then(|| Layout { position, rule: layout::rule() });
        Ok(Guard { rules: guard.rules.clone(), trie, layout })
    }

    /// Judges an open. Writing is judged as a change to a file.
    pub fn open(&self, path: &Path, access: Access, tree: &dyn Tree) -> Ruling<'_> {
        let place = self.trie.place(path);
        let spot = Spot { path, place: &place, now: tree };
        let read = || self.read(spot);
        let write = || stricter(self.write(spot, Made::File, tree), self.own_config(path, tree));
        match access {
            Access::Read => read(),
            Access::Write => write(),
            Access::ReadWrite => stricter(read(), write()),
        }
    }

    /// Judges a change to one name. What the kernel refuses anyway, as with a folder that exists, is left to it.
    pub fn change(&self, path: &Path, made: Made, tree: &dyn Tree) -> Ruling<'_> {
        let place = self.trie.place(path);
        let ruling = self.write(Spot { path, place: &place, now: tree }, made, tree);
        if made == Made::File {
            return stricter(ruling, self.own_config(path, tree));
        }
        if matches!(ruling, Ruling::Allow) {
            return ruling;
        }
        // What may be made anew may also go: `git worktree remove`, and git's own try to remove a folder that is not empty.
        let lets_go = |rule: &GuardRule| made == Made::Removed && rule.when == Some(GuardWhen::Exists);
        if matches!(ruling, Ruling::Deny(rule) if lets_go(rule)) {
            return Ruling::Allow;
        }
        let exists = tree.kind(path).is_some();
        let creates = matches!(made, Made::Folder | Made::Symlink | Made::Node);
        if exists == creates { Ruling::Allow } else { ruling }
    }

    fn read(&self, spot: Spot<'_>) -> Ruling<'_> {
        let wanted = |rule: &GuardRule| rule.access != GuardAccess::Write && applies(rule, spot, None);
        match spot.place.matched.iter().map(|&number| &self.rules[number]).find(|rule| wanted(rule)) {
            Some(rule) if rule.effect == GuardEffect::Deny => Ruling::Deny(rule),
            Some(rule) if rule.effect == GuardEffect::Report => Ruling::Report(rule),
            _ => Ruling::Allow,
        }
    }

    /// The number of the rule that decides about a change.
    fn deciding(&self, spot: Spot<'_>, made: Made) -> Option<usize> {
        let wanted = |rule: &GuardRule| rule.access != GuardAccess::Read && applies(rule, spot, Some(made));
        spot.place.matched.iter().copied().find(|&number| wanted(&self.rules[number]))
    }

    fn write(&self, spot: Spot<'_>, made: Made, tree: &dyn Tree) -> Ruling<'_> {
        let decides = self.deciding(spot, made);
        let rule = decides.map(|number| &self.rules[number]);
        let allowed = match (rule, decides) {
            (Some(rule), Some(number)) if rule.effect == GuardEffect::Allow => number,
            _ => usize::MAX,
        };
        let first = match rule {
            Some(rule) if rule.effect == GuardEffect::Deny => return Ruling::Deny(rule),
            Some(rule) if rule.effect == GuardEffect::GitConfig => return config_ruling(rule, spot.path, made, tree),
            Some(rule) if rule.effect == GuardEffect::Report => Ruling::Report(rule),
            _ => Ruling::Allow,
        };
        let layout = self.layout.as_ref().filter(|layout| allowed >= layout.position);
        let built_in = layout.map_or(Ruling::Allow, |layout| layout.judge(spot.path, made, tree));
        let link = if made == Made::Symlink { self.link_named(spot.place, allowed) } else { Ruling::Allow };
        stricter(stricter(first, built_in), link)
    }

    /// A configuration that this run made can't be written where git would read it. Elsewhere nobody trusts it, and having
    /// one name only it comes to such a place by a rename, which is judged.
    fn own_config(&self, path: &Path, tree: &dyn Tree) -> Ruling<'_> {
        match self.config_rule() {
            Some(rule) if tree.is_own_config(path) => {
                if self.config_at(path, tree).is_some() {
                    Ruling::Deny(rule)
                } else {
                    Ruling::Release
                }
            }
            _ => Ruling::Allow,
        }
    }

    /// The rule in whose name configurations are guarded that a rename took to another name.
    fn config_rule(&self) -> Option<&GuardRule> {
        let listed = self.rules.iter().find(|rule| rule.effect == GuardEffect::GitConfig);
        listed.or(self.layout.as_ref().map(|layout| &layout.rule))
    }

    /// A link whose own name is a part of what a rule names; rules after the `allow` that decided do not count.
    fn link_named(&self, place: &Place, allowed: usize) -> Ruling<'_> {
        let rules = self.trie.named_below(place).into_iter().take_while(|&number| number < allowed);
        let counts = |rule: &&GuardRule| {
            rule.access != GuardAccess::Read && rule.when.is_none() && rule.effect != GuardEffect::Allow
        };
        match rules.map(|number| &self.rules[number]).find(counts) {
            Some(rule) if rule.effect == GuardEffect::Report => Ruling::Report(rule),
            Some(rule) => Ruling::Deny(rule),
            None => Ruling::Allow,
        }
    }
}

/// A configuration is never written in place. Its mode may change, and one that this run made may go again.
fn config_ruling<'g>(rule: &'g GuardRule, path: &Path, made: Made, tree: &dyn Tree) -> Ruling<'g> {
    match made {
        Made::Metadata => Ruling::Allow,
        Made::Removed if tree.is_own_config(path) => Ruling::Allow,
        _ => Ruling::Deny(rule),
    }
}

fn applies(rule: &GuardRule, spot: Spot<'_>, made: Option<Made>) -> bool {
    match rule.when {
        None => true,
        Some(GuardWhen::Symlink) => made == Some(Made::Symlink),
        Some(GuardWhen::Exists) => spot.now.kind(spot.path).is_some(),
    }
}

/// The stricter of two; of two that are alike the first.
fn stricter<'g>(one: Ruling<'g>, other: Ruling<'g>) -> Ruling<'g> {
    let rank = |ruling: &Ruling<'_>| match ruling {
        Ruling::Allow => 0,
        Ruling::Report(_) => 1,
        Ruling::Release | Ruling::TryConfig => 2,
        Ruling::CopyConfig(_) => 3,
        Ruling::CrossDevice => 4,
        Ruling::Deny(_) => 5,
    };
    if rank(&other) > rank(&one) { other } else { one }
}

fn fixed_segments(path: &str) -> Result<Vec<glob::Segment>, GuardFault> {
    let fault = || GuardFault::Path(path.to_owned());
    let rest = path.strip_prefix('/').ok_or_else(fault)?;
    if rest.is_empty() {
        return Ok(Vec::new());
    }
    let parts = rest.split('/').map(|part| match part {
        "" | "." | ".." => Err(fault()),
        name => Ok(glob::Segment::Literal(name.into())),
    });
    parts.collect()
}
