//! Which entries of a tree are visited: ripgrep's rules for ignore files, hidden entries, globs and file types.
//!
//! The order of strength is that of ripgrep's `ignore` crate: a glob of the caller beats ignore files; a file type and a
//! leading dot only decide over what no ignore file has asked for.

use crate::gate::Gate;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};

/// Globs and rules are matched against paths relative to the folder that they belong to; the `ignore` crate must not strip
/// anything more, and for this root it does not.
const RELATIVE: &str = ".";

/// What a walk visits.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Must match, or with a leading `!` must not; stronger than ignore files.
    pub glob: Option<String>,
    /// Must match in addition to everything else.
    pub only: Option<String>,
    /// A name of ripgrep's type list.
    pub file_type: Option<String>,
    /// Visit entries whose name starts with a dot.
    pub hidden: bool,
}

/// Why a scope can't be used.
#[derive(Debug, PartialEq, Eq)]
pub enum ScopeFault {
    /// `glob` or `only` is no valid pattern.
    Glob(String),
    /// There is no such type.
    FileType(String),
}

/// Where a list of rules comes from, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// `.rgignore`
    Rgignore,
    /// `.ignore`
    Ignore,
    /// `.gitignore`
    Gitignore,
    /// `.git/info/exclude`
    Exclude,
}

const SOURCES: usize = 4;

struct Rules {
    source: Source,
    gate: Gate,
    matcher: Gitignore,
}

struct Folder {
    path: String,
    /// Contains `.git`.
    repository: bool,
    /// It or a folder above it contains `.git`.
    in_repository: bool,
    rules: Vec<Rules>,
    parent: Option<u32>,
}

/// The state of one walk.
pub struct Walk {
    glob: Override,
    only: Override,
    types: Types,
    hidden: bool,
    folders: Vec<Folder>,
    /// Bytes of the path of the walk's start, with the slash after it.
    base_len: Option<usize>,
    path: String,
}

impl Walk {
    /// Starts a walk with no folders yet.
    pub fn start(scope: &Scope) -> Result<Self, ScopeFault> {
        let mut types = TypesBuilder::new();
        if let Some(name) = &scope.file_type {
            types.add_defaults().select(name);
        }
        Ok(Self {
            glob: globs(scope.glob.as_deref())?,
            only: globs(scope.only.as_deref())?,
            types: types.build().map_err(|error| ScopeFault::FileType(error.to_string()))?,
            hidden: scope.hidden,
            folders: Vec::new(),
            base_len: None,
            path: String::new(),
        })
    }

    /// Adds a folder; the first that is not `above` is where the walk starts. Returns its number.
    pub fn enter(&mut self, parent: Option<u32>, name: &str, above: bool, repository: bool) -> u32 {
        let (mut path, in_repository) = match parent.and_then(|parent| self.folders.get(parent as usize)) {
            Some(parent) => (parent.path.clone(), parent.in_repository),
            None => (String::new(), false),
        };
        path.push_str(name);
        if !path.ends_with('/') {
            path.push('/');
        }
        if !above && self.base_len.is_none() {
            self.base_len = Some(path.len());
        }
        let in_repository = in_repository || repository;
        self.folders.push(Folder { path, repository, in_repository, rules: Vec::new(), parent });
        u32::try_from(self.folders.len() - 1).unwrap_or(u32::MAX)
    }

    /// Gives a folder the rules of one ignore file.
    pub fn add_rules(&mut self, folder: u32, source: Source, text: &[u8]) {
        let Some(folder) = self.folders.get_mut(folder as usize) else { return };
        let text = String::from_utf8_lossy(text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text));
        let mut builder = GitignoreBuilder::new(RELATIVE);
        for line in text.lines() {
            // A line that is no pattern is skipped, as git and ripgrep do; the others hold.
            let _ = builder.add_line(None, line);
        }
        if let Ok(matcher) = builder.build() {
            folder.rules.push(Rules { source, gate: Gate::new(&text), matcher });
        }
    }

    /// Places in the packed list of the entries to visit, by the order of their names' bytes.
    #[must_use]
    pub fn filter(&mut self, folder: u32, packed: &[u8]) -> Vec<u32> {
        let mut visited: Vec<(u32, &[u8])> = Vec::new();
        let entries = packed.split(|byte| *byte == 0).filter_map(|entry| entry.split_first());
        for (place, (kind, name)) in (0..).zip(entries) {
            if self.visits(folder, &String::from_utf8_lossy(name), *kind == b'd') {
                visited.push((place, name));
            }
        }
        visited.sort_unstable_by_key(|(_, name)| *name);
        visited.into_iter().map(|(place, _)| place).collect()
    }

    fn visits(&mut self, folder: u32, name: &str, is_dir: bool) -> bool {
        let Some(holder) = self.folders.get(folder as usize) else { return false };
        let mut path = core::mem::take(&mut self.path);
        path.clear();
        path.push_str(&holder.path);
        path.push_str(name);
        let visits = self.judge(folder, &path, is_dir, name);
        self.path = path;
        visits
    }

    fn judge(&self, folder: u32, path: &str, is_dir: bool, name: &str) -> bool {
        let relative = &path[self.base_len.unwrap_or(0)..];
        if !is_dir && self.only.matched(relative, false).is_ignore() {
            return false;
        }
        match self.glob.matched(relative, is_dir) {
            Match::Ignore(_) => return false,
            Match::Whitelist(_) => return true,
            Match::None => {}
        }
        // Unlike ripgrep --hidden: what git keeps for itself is never what an agent means by "all files".
        if name == ".git" {
            return false;
        }
        let rules = self.judge_by_rules(folder, path, is_dir, name);
        let types = self.types.matched(relative, is_dir);
        if rules.is_ignore() || types.is_ignore() {
            return false;
        }
        self.hidden || !name.starts_with('.') || rules.is_whitelist() || types.is_whitelist()
    }

    /// For each source the nearest folder with an opinion decides; then the strongest source does.
    fn judge_by_rules(&self, folder: u32, path: &str, is_dir: bool, name: &str) -> Match<()> {
        let mut opinions = [const { Match::None }; SOURCES];
        let mut left_repository = !self.folders[folder as usize].in_repository;
        let mut next = Some(folder);
        while let Some(holder) = next.and_then(|at| self.folders.get(at as usize)) {
            for Rules { source, gate, matcher } in &holder.rules {
                let git = matches!(source, Source::Gitignore | Source::Exclude);
                let opinion = &mut opinions[*source as usize];
                if opinion.is_none() && !(git && left_repository) && gate.lets_through(name.as_bytes()) {
                    *opinion = matcher.matched(&path[holder.path.len()..], is_dir).map(|_| ());
                }
            }
            left_repository = left_repository || holder.repository;
            next = holder.parent;
        }
        opinions.into_iter().find(|opinion| !opinion.is_none()).unwrap_or(Match::None)
    }
}

fn globs(glob: Option<&str>) -> Result<Override, ScopeFault> {
    let mut builder = OverrideBuilder::new(RELATIVE);
    if let Some(glob) = glob {
        builder.add(glob).map_err(|error| ScopeFault::Glob(error.to_string()))?;
    }
    builder.build().map_err(|error| ScopeFault::Glob(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(scope: &Scope) -> Walk {
        Walk::start(scope).unwrap()
    }

    fn names(walk: &mut Walk, folder: u32, entries: &[&str]) -> Vec<String> {
        let packed = entries.iter().flat_map(|entry| [entry.as_bytes(), b"\0"].concat()).collect::<Vec<_>>();
        walk.filter(folder, &packed).into_iter().map(|place| entries[place as usize][1..].to_owned()).collect()
    }

    #[test]
    fn entries_come_in_the_order_of_their_names_without_hidden_ones() {
        let mut walk = walk(&Scope::default());
        let root = walk.enter(None, "/r", false, false);
        assert_eq!(names(&mut walk, root, &["fb", "da", "f.x", "d.git", "fB"]), ["B", "a", "b"]);
    }

    #[test]
    fn hidden_entries_are_visited_when_asked_for_and_git_folders_are_not() {
        let mut walk = walk(&Scope { hidden: true, ..Scope::default() });
        let root = walk.enter(None, "/r", false, true);
        assert_eq!(names(&mut walk, root, &["f.x", "d.git"]), [".x"]);
    }

    #[test]
    fn the_nearest_gitignore_decides_and_may_take_back() {
        let mut walk = walk(&Scope::default());
        let root = walk.enter(None, "/r", false, true);
        walk.add_rules(root, Source::Gitignore, b"*.log\n/build/\n# c\n");
        let sub = walk.enter(Some(root), "sub", false, false);
        walk.add_rules(sub, Source::Gitignore, b"!keep.log\n");
        assert_eq!(names(&mut walk, root, &["fa.log", "dbuild", "fa.c"]), ["a.c"]);
        assert_eq!(names(&mut walk, sub, &["fa.log", "dbuild", "fkeep.log"]), ["build", "keep.log"]);
    }

    #[test]
    fn git_rules_hold_in_their_repository_only() {
        let mut walk = walk(&Scope::default());
        let root = walk.enter(None, "/r", false, false);
        walk.add_rules(root, Source::Gitignore, b"a\n");
        assert_eq!(names(&mut walk, root, &["fa"]), ["a"]);
        let inner = walk.enter(Some(root), "inner", false, true);
        assert_eq!(names(&mut walk, inner, &["fa"]), ["a"]);
        walk.add_rules(inner, Source::Exclude, b"a\n");
        assert_eq!(names(&mut walk, inner, &["fa"]), [""; 0]);
    }

    #[test]
    fn rules_of_folders_above_the_start_hold() {
        let mut walk = walk(&Scope::default());
        let above = walk.enter(None, "/r", true, true);
        walk.add_rules(above, Source::Gitignore, b"/sub/x\n");
        let start = walk.enter(Some(above), "sub", false, false);
        assert_eq!(names(&mut walk, start, &["fx", "fy"]), ["y"]);
    }

    #[test]
    fn an_ignore_file_beats_gitignore() {
        let mut walk = walk(&Scope::default());
        let root = walk.enter(None, "/r", false, true);
        walk.add_rules(root, Source::Gitignore, b"a\n");
        walk.add_rules(root, Source::Ignore, b"!a\nb\n");
        assert_eq!(names(&mut walk, root, &["fa", "fb"]), ["a"]);
    }

    #[test]
    fn a_glob_beats_rules_and_only_does_not() {
        let glob = Scope { glob: Some("*.log".into()), ..Scope::default() };
        let only = Scope { only: Some("*.log".into()), ..Scope::default() };
        for (scope, expected) in [(glob, vec!["a.log", "d"]), (only, vec!["d"])] {
            let mut walk = walk(&scope);
            let root = walk.enter(None, "/r", false, true);
            walk.add_rules(root, Source::Gitignore, b"*.log\n");
            assert_eq!(names(&mut walk, root, &["fa.log", "fb.c", "dd"]), expected);
        }
    }

    #[test]
    fn a_glob_with_a_slash_is_relative_to_the_start() {
        let mut walk = walk(&Scope { only: Some("src/**/*.{ts,rs}".into()), ..Scope::default() });
        let root = walk.enter(None, "/r", false, false);
        let src = walk.enter(Some(root), "src", false, false);
        assert_eq!(names(&mut walk, root, &["fa.ts", "dsrc"]), ["src"]);
        assert_eq!(names(&mut walk, src, &["fa.ts", "fb.rs", "fc.js"]), ["a.ts", "b.rs"]);
    }

    #[test]
    fn a_type_selects_files_and_an_unknown_one_is_a_fault() {
        let mut rust = walk(&Scope { file_type: Some("rust".into()), ..Scope::default() });
        let root = rust.enter(None, "/r", false, false);
        assert_eq!(names(&mut rust, root, &["fa.rs", "fb.c", "dd"]), ["a.rs", "d"]);
        let unknown = Walk::start(&Scope { file_type: Some("klingon".into()), ..Scope::default() });
        assert!(matches!(unknown, Err(ScopeFault::FileType(why)) if why.contains("klingon")));
    }

    #[test]
    fn a_bad_glob_is_a_fault() {
        let bad = Walk::start(&Scope { glob: Some("a{b".into()), ..Scope::default() });
        assert!(matches!(bad, Err(ScopeFault::Glob(_))));
    }
}
