//! Repositories under other names than `.git`. A folder with `objects` and `refs` in it is one for git, whatever they are
//! (it asks with access(2) only), and so is one with a `commondir`; what git would run or obey there is guarded, and
//! making the last part of such a folder is refused while something of that kind lies in it.

use crate::{Kind, Layout, Made, Ruling, Tree, config_ruling};
use plan::{GuardAccess, GuardEffect, GuardRule, Property};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The rule in whose name this part refuses.
pub(crate) fn rule() -> GuardRule {
    GuardRule {
        path: None,
        glob: None,
        access: GuardAccess::Write,
        when: None,
        effect: GuardEffect::Deny,
        rule: Property::FsProtected,
        reason: "git obeys it once a repository lies around it".to_owned(),
        grant: None,
    }
}

impl Layout {
    /// Judges one name by the folders that it lies in.
    pub(crate) fn judge(&self, path: &Path, made: Made, tree: &dyn Tree) -> Ruling<'_> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ruling::Allow };
        let near = Near { folder, tree };
        let gone = matches!(made, Made::Removed | Made::Metadata);
        let refused = match name.as_bytes() {
            b"config" if near.is_full() => return config_ruling(&self.rule, path, made, tree),
            b"config.worktree" => near.is_full() || near.has("commondir"),
            b"commondir" => near.is_full() || (!gone && (near.has("commondir") || near.has("config.worktree"))),
            // Taken apart, its settings would lie open, and whoever put it together again would run them.
            b"objects" | b"refs" if made == Made::Removed => near.is_full() && near.is_loaded(),
            b"objects" => made != Made::Metadata && near.completes("refs"),
            b"refs" => made != Made::Metadata && near.completes("objects"),
            // Once it is a link, what lies at its target has no name here that could be judged.
            b"hooks" | b"info" if made == Made::Symlink => near.is_full(),
            name => in_part(folder, name, tree),
        };
        // A name in hooks may be one of these as well.
        let in_hooks = folder.file_name() == Some(OsStr::new("hooks")) && in_part(folder, name.as_bytes(), tree);
        if refused || in_hooks { Ruling::Deny(&self.rule) } else { Ruling::Allow }
    }

    /// True where `path` is the configuration of a repository.
    pub(crate) fn is_config(&self, path: &Path, tree: &dyn Tree) -> bool {
        path.file_name() == Some(OsStr::new("config"))
            && path.parent().is_some_and(|folder| Near { folder, tree }.is_full())
    }
}

/// True for a hook, and for the attributes that name filters, of the repository around `folder`.
fn in_part(folder: &Path, name: &[u8], tree: &dyn Tree) -> bool {
    let guarded = match folder.file_name().map(OsStr::as_bytes) {
        Some(b"hooks") => !is_sample(name),
        Some(b"info") => name == b"attributes",
        _ => false,
    };
    guarded && folder.parent().is_some_and(|folder| Near { folder, tree }.is_full())
}

/// Git runs no hook whose name ends like this.
fn is_sample(name: &[u8]) -> bool {
    name.ends_with(b".sample")
}

/// A folder that may be a repository.
struct Near<'t> {
    folder: &'t Path,
    tree: &'t dyn Tree,
}

impl Near<'_> {
    fn kind(&self, name: &str) -> Option<Kind> {
        self.tree.kind(&self.folder.join(name))
    }

    fn has(&self, name: &str) -> bool {
        self.kind(name).is_some()
    }

    fn is_full(&self) -> bool {
        self.has("objects") && self.has("refs")
    }

    /// True where making the other one of the two would put a repository around something that git runs or obeys.
    fn completes(&self, other: &str) -> bool {
        self.has(other) && self.is_loaded()
    }

    fn is_loaded(&self) -> bool {
        let config = self.has("config") && !self.tree.is_own_config(&self.folder.join("config"));
        let hooks = match self.kind("hooks") {
            Some(Kind::Folder) => self.has_hook(),
            Some(Kind::Symlink) => true,
            _ => false,
        };
        let attributes = self.kind("info") == Some(Kind::Symlink) || self.has("info/attributes");
        config || hooks || attributes || self.has("config.worktree")
    }

    fn has_hook(&self) -> bool {
        match self.tree.list(&self.folder.join("hooks")) {
            Ok(names) => names.iter().any(|(name, _)| !is_sample(name.as_bytes())),
            Err(_) => true,
        }
    }
}
