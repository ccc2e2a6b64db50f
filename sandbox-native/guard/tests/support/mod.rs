//! A tree in memory, and rules in one line each.
#![allow(dead_code)]

pub mod world;

use guard::{Guard, Kind, Tree, Unreadable};
use plan::{GuardAccess, GuardEffect, GuardRule, GuardWhen, Property};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[derive(Default)]
pub struct Memory {
    names: BTreeMap<PathBuf, Kind>,
    own: BTreeSet<PathBuf>,
}

impl Memory {
    /// Files, or folders where the name ends with a slash, or links where it ends with `@`; `!` marks a configuration
    /// that the broker made.
    pub fn of(names: &[&str]) -> Memory {
        let mut memory = Memory::default();
        for name in names {
            let (path, kind) = match name.as_bytes().last() {
                Some(b'/') => (name.trim_end_matches('/'), Kind::Folder),
                Some(b'@') => (name.trim_end_matches('@'), Kind::Symlink),
                _ => (name.trim_end_matches('!'), Kind::File),
            };
            let path = PathBuf::from(path);
            for folder in path.ancestors().skip(1) {
                memory.names.entry(folder.to_owned()).or_insert(Kind::Folder);
            }
            if name.ends_with('!') {
                memory.own.insert(path.clone());
            }
            memory.names.insert(path, kind);
        }
        memory
    }
}

impl Tree for Memory {
    fn kind(&self, path: &Path) -> Option<Kind> {
        self.names.get(path).copied()
    }

    fn list(&self, folder: &Path) -> Result<Vec<(OsString, Kind)>, Unreadable> {
        let inside = self.names.iter().filter(|(path, _)| path.parent() == Some(folder));
        Ok(inside.filter_map(|(path, kind)| Some((path.file_name()?.to_owned(), *kind))).collect())
    }

    fn is_own_config(&self, path: &Path) -> bool {
        self.own.contains(path)
    }
}

/// `EFFECT[ ACCESS][ if exists|symlink] NAME`, where a name with a wildcard is a glob.
pub fn rule(line: &str) -> GuardRule {
    let words: Vec<&str> = line.split(' ').collect();
    let (name, rest) = words.split_last().expect("a rule is not empty");
    let is_glob = name.contains(['*', '?', '[', '{']);
    let has = |word: &str| rest.contains(&word);
    GuardRule {
        path: (!is_glob).then(|| name.to_string()),
        glob: is_glob.then(|| name.to_string()),
        access: match () {
            () if has("read") => GuardAccess::Read,
            () if has("write") => GuardAccess::Write,
            () => GuardAccess::Both,
        },
        when: match () {
            () if has("exists") => Some(GuardWhen::Exists),
            () if has("symlink") => Some(GuardWhen::Symlink),
            () => None,
        },
        effect: match rest.first() {
            Some(&"allow") => GuardEffect::Allow,
            Some(&"report") => GuardEffect::Report,
            Some(&"git_config") => GuardEffect::GitConfig,
            _ => GuardEffect::Deny,
        },
        rule: Property::FsProtected,
        reason: line.to_owned(),
        grant: None,
    }
}

pub fn guard(lines: &[&str]) -> Guard {
    try_guard(lines).expect("the rules are right")
}

pub fn try_guard(lines: &[&str]) -> Result<Guard, guard::GuardFault> {
    Guard::new(&plan::Guard {
        rules: lines.iter().map(|line| rule(line)).collect(),
        git_layout: true,
        metadata: false,
        reads: false,
        unix: Vec::new(),
    })
}

/// What the default plan of a workspace at /w looks like, as far as it matters here.
pub const TRUST: &[&str] = &[
    "git_config write /w/**/.git/config",
    "deny write /w/**/.git/config.worktree",
    "allow write /w/**/.git/hooks/*.sample",
    "deny write /w/**/.git/hooks/*",
    "deny write /w/**/.git/info/attributes",
    "allow write /w/**/{node_modules,target,site-packages}/**",
    "deny write /w/**/.github/workflows/**",
    "deny write /w/**/.envrc",
    "deny write /w/**/.husky",
    "report write exists /w/**/package.json",
    "deny /w/secret",
];
