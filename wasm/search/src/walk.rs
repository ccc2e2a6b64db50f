//! Which entries of a tree are visited: ripgrep's rules for ignore files, hidden entries, globs and file types.
//!
//! The order of strength is that of ripgrep's `ignore` crate: a glob of the caller beats ignore files; a file type and a
//! leading dot only decide over what no ignore file has asked for.

use crate::closed_names::ClosedNames;
use crate::entries::{DT_DIR, DT_REG, entries};
use crate::name_glob::NameGlob;
use crate::rules::{Rules, Source};
use ignore::Match;
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};

/// Globs and rules are matched against paths relative to the folder that they belong to; the `ignore` crate must not strip
/// anything more, and for this root it does not.
pub(crate) const RELATIVE: &str = ".";

/// What a walk visits.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Must match one of those without `!`, if there are any, and none of those with it, the last that fits deciding; stronger
    /// than ignore files.
    pub globs: Vec<String>,
    /// The same whatever the case of letters; they come after `globs`.
    pub iglobs: Vec<String>,
    /// Must match in addition to everything else.
    pub only: Option<String>,
    /// Globs and `only` take upper and lower case for the same.
    pub ignore_case: bool,
    /// Names of ripgrep's type list.
    pub file_types: Vec<String>,
    /// Names of ripgrep's type list whose files are left out.
    pub file_types_not: Vec<String>,
    /// Visit entries whose name starts with a dot.
    pub hidden: bool,
    /// Ignore files have no say.
    pub no_ignore: bool,
    /// Names that are never visited; `x.*` stands for all that start with `x.`.
    pub closed_names: Vec<String>,
    /// Names that end in a dot and one of these, in any case, are not closed.
    pub sample_endings: Vec<String>,
}

/// Why a scope can't be used.
#[derive(Debug, PartialEq, Eq)]
pub enum ScopeFault {
    /// `glob` or `only` is no valid pattern.
    Glob(String),
    /// There is no such type; and the names of those that there are.
    FileType(String, Vec<String>),
}

const SOURCES: usize = 5;

struct Folder {
    path: String,
    /// Contains `.git`.
    repository: bool,
    /// It or a folder above it contains `.git`.
    in_repository: bool,
    rules: Vec<Rules>,
    parent: Option<u32>,
}

/// What decides over the entries of one folder.
struct View<'a> {
    /// Ends with a slash.
    path: &'a str,
    /// Names that are hidden in it.
    hidden: Vec<&'a str>,
    /// See [`Walk::asked`].
    asked: Vec<(&'a Rules, usize)>,
}

/// The state of one walk.
pub struct Walk {
    glob: Override,
    only: Override,
    /// In its place, where names alone tell.
    only_names: Option<NameGlob>,
    types: Types,
    /// There are no globs and no types.
    is_plain: bool,
    hidden: bool,
    no_ignore: bool,
    folders: Vec<Folder>,
    /// Bytes of the path of the walk's start, with the slash after it.
    base_len: Option<usize>,
    closed: ClosedNames,
    /// Names that are hidden in one folder, whose path ends with a slash.
    hidden_paths: Vec<(String, String)>,
    raw: Vec<u8>,
    visited: Vec<(usize, usize, bool)>,
    order: Vec<u32>,
}

impl Walk {
    /// Starts a walk with no folders yet.
    pub fn start(scope: &Scope) -> Result<Self, ScopeFault> {
        let globs = |globs: &[String], iglobs: &[String]| {
            let mut builder = OverrideBuilder::new(RELATIVE);
            let fault = |error: ignore::Error| ScopeFault::Glob(error.to_string());
            builder.case_insensitive(scope.ignore_case).map_err(fault)?;
            for glob in globs {
                builder.add(glob).map_err(fault)?;
            }
            builder.case_insensitive(true).map_err(fault)?;
            for glob in iglobs {
                builder.add(glob).map_err(fault)?;
            }
            builder.build().map_err(fault)
        };
        let mut types = TypesBuilder::new();
        if !scope.file_types.is_empty() || !scope.file_types_not.is_empty() {
            types.add_defaults();
        }
        for name in &scope.file_types {
            types.select(name);
        }
        for name in &scope.file_types_not {
            types.negate(name);
        }
        let known = |types: &TypesBuilder| types.definitions().iter().map(|known| known.name().to_owned()).collect();
        let types = types.build().map_err(|error| ScopeFault::FileType(error.to_string(), known(&types)))?;
        let only_names = scope.only.as_deref().filter(|_| !scope.ignore_case).and_then(NameGlob::of);
        let only = scope.only.as_ref().filter(|only| only_names.is_none() && !fits_all(only));
        let (glob, only) = (globs(&scope.globs, &scope.iglobs)?, globs(only.map_or(&[], core::slice::from_ref), &[])?);
        Ok(Self {
            is_plain: glob.is_empty() && only.is_empty() && types.is_empty(),
            glob,
            only,
            only_names,
            types,
            no_ignore: scope.no_ignore,
            hidden: scope.hidden,
            folders: Vec::new(),
            base_len: None,
            closed: ClosedNames::new(&scope.closed_names, &scope.sample_endings),
            hidden_paths: Vec::new(),
            raw: Vec::new(),
            visited: Vec::new(),
            order: Vec::new(),
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
        folder.rules.push(Rules::new(source, text));
    }

    /// Room for the raw entries of a folder, at least `len` bytes. Its place may change.
    pub fn reserve(&mut self, len: usize) -> &mut [u8] {
        if self.raw.len() < len {
            self.raw.resize(len, 0);
        }
        &mut self.raw
    }

    /// What stands out among the first `len` bytes of raw entries.
    #[must_use]
    pub fn survey(&self, len: usize) -> u32 {
        entries(&self.raw[..len.min(self.raw.len())]).fold(0, |bits, entry| bits | entry.stands_out())
    }

    /// Chooses the entries to visit among the first `len` bytes of raw ones and puts them in the order of their names' bytes.
    /// Three numbers for each: where its name starts in the room, the name's length, and 1 for a folder, 0 for a file.
    pub fn filter(&mut self, folder: u32, len: usize) -> &[u32] {
        let raw = core::mem::take(&mut self.raw);
        let mut visited = core::mem::take(&mut self.visited);
        visited.clear();
        let view = self.view(folder);
        for entry in entries(&raw[..len.min(raw.len())]) {
            let is_dir = entry.kind == DT_DIR;
            if (is_dir || entry.kind == DT_REG)
                && !self.closed.holds(entry.name)
                && self.visits(&view, entry.name, is_dir)
            {
                visited.push((entry.at, entry.name.len(), is_dir));
            }
        }
        visited.sort_unstable_by_key(|(at, length, _)| &raw[*at..at + length]);
        self.order.clear();
        for (at, length, is_dir) in &visited {
            self.order.extend([*at, *length, usize::from(*is_dir)].map(|number| u32::try_from(number).unwrap_or(0)));
        }
        (self.raw, self.visited) = (raw, visited);
        &self.order
    }

    /// What the last call of `filter` gave.
    #[must_use]
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Hides what stands at a path: it is never visited.
    pub fn hide(&mut self, path: &[u8]) {
        let path = String::from_utf8_lossy(path);
        if let Some((folder, name)) = path.rsplit_once('/') {
            self.hidden_paths.push((format!("{folder}/"), name.to_owned()));
        }
    }

    /// Makes one file, whose name stands in the room, the whole choice.
    pub fn choose(&mut self, at: u32, len: u32) {
        self.order.clear();
        self.order.extend([at, len, 0]);
    }

    /// The room for raw entries with what is in it.
    #[must_use]
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// What decides over the entries of a folder.
    fn view(&self, folder: u32) -> View<'_> {
        let path = self.folders.get(folder as usize).map_or("", |folder| folder.path.as_str());
        let here = self.hidden_paths.iter().filter(|(folder, _)| folder == path);
        let asked = if self.no_ignore { Vec::new() } else { self.asked(folder) };
        View { path, hidden: here.map(|(_, name)| name.as_str()).collect(), asked }
    }

    /// Most entries are decided over by their names' bytes alone.
    fn visits(&self, view: &View<'_>, name: &[u8], is_dir: bool) -> bool {
        // Folders are gone into, whatever their names are.
        if !is_dir && self.only_names.as_ref().is_some_and(|only| !only.fits(name)) {
            return false;
        }
        let is_plain = self.is_plain && view.hidden.is_empty();
        if is_plain && !view.asked.iter().any(|(rules, _)| rules.may_match(name)) {
            return (self.hidden || !name.starts_with(b".")) && name != b".git";
        }
        self.visits_path(view, &String::from_utf8_lossy(name), is_dir)
    }

    #[inline(never)]
    fn visits_path(&self, view: &View<'_>, name: &str, is_dir: bool) -> bool {
        !view.hidden.contains(&name) && self.judge(view, &[view.path, name].concat(), is_dir, name)
    }

    fn judge(&self, view: &View<'_>, path: &str, is_dir: bool, name: &str) -> bool {
        let relative = &path[self.base_len.unwrap_or(0)..];
        if self.only.matched(relative, is_dir).is_ignore() {
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
        let rules = judge_by_rules(&view.asked, path, is_dir, name);
        let types = self.types.matched(relative, is_dir);
        if rules.is_ignore() || types.is_ignore() {
            return false;
        }
        self.hidden || !name.starts_with('.') || rules.is_whitelist() || types.is_whitelist()
    }

    /// The rules that have a say in a folder, those of the nearest folder first, and the length of the path of the folder that they
    /// belong to.
    fn asked(&self, folder: u32) -> Vec<(&Rules, usize)> {
        let mut asked = Vec::new();
        let in_repository = self.folders.get(folder as usize).is_some_and(|folder| folder.in_repository);
        let mut left_repository = !in_repository;
        let mut next = Some(folder);
        while let Some(holder) = next.and_then(|at| self.folders.get(at as usize)) {
            let is_heard = |rules: &&Rules| match rules.source() {
                Source::Rgignore | Source::Ignore => true,
                Source::Gitignore | Source::Exclude => !left_repository,
                Source::Global => in_repository,
            };
            asked.extend(holder.rules.iter().filter(is_heard).map(|rules| (rules, holder.path.len())));
            left_repository = left_repository || holder.repository;
            next = holder.parent;
        }
        asked
    }
}

/// For each source the nearest folder with an opinion decides; then the strongest source does.
fn judge_by_rules(asked: &[(&Rules, usize)], path: &str, is_dir: bool, name: &str) -> Match<()> {
    let mut opinions = [const { Match::None }; SOURCES];
    for (rules, from) in asked {
        let opinion = &mut opinions[rules.source() as usize];
        if opinion.is_none() && rules.may_match(name.as_bytes()) {
            *opinion = rules.judge(&path[*from..], is_dir);
        }
    }
    opinions.into_iter().find(|opinion| !opinion.is_none()).unwrap_or(Match::None)
}

/// True for globs that every path fits.
fn fits_all(glob: &str) -> bool {
    matches!(glob, "**" | "**/**")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entries::tests::pack;

    fn walk(scope: &Scope) -> Walk {
        Walk::start(scope).unwrap()
    }

    fn names(walk: &mut Walk, folder: u32, list: &[&str]) -> Vec<String> {
        let raw = list.iter().flat_map(|entry| pack(entry.as_bytes()[0], &entry.as_bytes()[1..])).collect::<Vec<_>>();
        walk.reserve(raw.len())[..raw.len()].copy_from_slice(&raw);
        let order = walk.filter(folder, raw.len()).to_vec();
        let name = |at: u32, len: u32| String::from_utf8_lossy(&raw[at as usize..(at + len) as usize]).into_owned();
        order.chunks(3).map(|entry| name(entry[0], entry[1])).collect()
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
    fn closed_names_are_left_out_whatever_a_glob_says() {
        let scope = Scope {
            globs: vec![".env*".into(), "id_rsa".into()],
            closed_names: vec![".env.*".into(), "id_rsa".into()],
            sample_endings: vec!["example".into()],
            ..Scope::default()
        };
        let mut walk = walk(&scope);
        let root = walk.enter(None, "/r", false, false);
        assert_eq!(names(&mut walk, root, &["f.env.local", "f.env.Example", "fid_rsa"]), [".env.Example"]);
    }

    #[test]
    fn links_and_devices_are_left_out() {
        let mut walk = walk(&Scope::default());
        let root = walk.enter(None, "/r", false, false);
        assert_eq!(names(&mut walk, root, &["la", "pb", "fc", "d..", "d."]), ["c"]);
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
        let glob = Scope { globs: vec!["*.log".into()], ..Scope::default() };
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
        let mut rust = walk(&Scope { file_types: vec!["rust".into()], ..Scope::default() });
        let root = rust.enter(None, "/r", false, false);
        assert_eq!(names(&mut rust, root, &["fa.rs", "fb.c", "dd"]), ["a.rs", "d"]);
        let unknown = Walk::start(&Scope { file_types: vec!["klingon".into()], ..Scope::default() });
        assert!(matches!(unknown, Err(ScopeFault::FileType(why, known))
            if why.contains("klingon") && known.iter().any(|name| name == "rust")));
    }

    #[test]
    fn global_rules_hold_in_every_repository_and_are_the_weakest() {
        let mut walk = walk(&Scope::default());
        let root = walk.enter(None, "/r", false, false);
        walk.add_rules(root, Source::Global, b"a\nb\n");
        assert_eq!(names(&mut walk, root, &["fa"]), ["a"]);
        let inner = walk.enter(Some(root), "inner", false, true);
        walk.add_rules(inner, Source::Exclude, b"!b\n");
        assert_eq!(names(&mut walk, inner, &["fa", "fb", "fc"]), ["b", "c"]);
    }

    #[test]
    fn the_last_of_several_globs_that_fits_decides() {
        let globs = vec!["*.ts".into(), "!*.test.ts".into()];
        let mut walk = walk(&Scope { globs, ..Scope::default() });
        let root = walk.enter(None, "/r", false, false);
        assert_eq!(names(&mut walk, root, &["fa.ts", "fa.test.ts", "fa.js"]), ["a.ts"]);
    }

    #[test]
    fn case_of_globs_and_ignore_files_can_be_left_out_of_account() {
        let scope = Scope { only: Some("*.TS".into()), ignore_case: true, no_ignore: true, ..Scope::default() };
        let mut walk = walk(&scope);
        let root = walk.enter(None, "/r", false, true);
        walk.add_rules(root, Source::Gitignore, b"a.ts\n");
        assert_eq!(names(&mut walk, root, &["fa.ts", "fb.js"]), ["a.ts"]);
    }

    #[test]
    fn types_can_be_left_out() {
        let mut walk = walk(&Scope { file_types_not: vec!["rust".into()], ..Scope::default() });
        let root = walk.enter(None, "/r", false, false);
        assert_eq!(names(&mut walk, root, &["fa.rs", "fb.c"]), ["b.c"]);
    }

    #[test]
    fn globs_that_fit_all_are_those_that_leave_nothing_out() {
        for glob in ["**", "**/**"] {
            let every = OverrideBuilder::new(RELATIVE).add(glob).unwrap().build().unwrap();
            for (path, is_dir) in [("a", false), ("a", true), (".b", false), ("s/a.c", false), ("s/t", true)] {
                assert!(fits_all(glob) && every.matched(path, is_dir).is_whitelist(), "{glob} {path}");
            }
        }
        assert!(!["**/", "*/*", "*.*", "/*", "!*", "?*"].into_iter().any(fits_all));
    }

    #[test]
    fn a_bad_glob_is_a_fault() {
        let bad = Walk::start(&Scope { globs: vec!["a{b".into()], ..Scope::default() });
        assert!(matches!(bad, Err(ScopeFault::Glob(_))));
    }
}
