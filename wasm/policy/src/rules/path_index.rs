//! Path patterns with their bases put in, made once for each workspace and kept: a decision then compares text with text.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use super::Policy;
use super::bases::Bases;
use super::paths::{PathValue, is_inside, normalize};
use super::pattern::{Access, Base, Matcher, PathPattern};
use super::types::{PolicyQuestion, Verdict};
use super::wildcard::{ANYTHING, FOLDERS, Proof, Token, matches, tokens};

/// The folders that patterns begin from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Folders {
    cwd: String,
    home: String,
    roots: Vec<String>,
}

/// All path patterns of a policy, for one set of folders. A pattern is named by its number.
#[derive(Debug, Default)]
pub(crate) struct PathIndex {
    folders: Folders,
    /// The index of the set under it, which has the patterns before these.
    under: Option<Rc<PathIndex>>,
    patterns: Vec<Placed>,
    /// The number of the first of them.
    first: usize,
    restricting: Table,
    allowing: Table,
}

/// The rules that refuse, or those that allow, by the paths that they may be about.
#[derive(Debug, Default)]
struct Table {
    /// The number of each rule.
    all: Vec<usize>,
    /// Sorted: a path, and a rule about it and what is below.
    trees: Vec<(Rc<str>, usize)>,
    /// Sorted: a name at any depth, and a rule about it.
    names: Vec<(Rc<str>, usize)>,
    /// Sorted: text that a path must contain, and a rule that it must be compared with then.
    rest: Vec<(Rc<str>, usize)>,
    /// Sorted: the place that a rule on writing is tied to, and the rule. Made at the first question about a folder.
    fixed: OnceCell<Vec<(Rc<str>, usize)>>,
    /// Rules that a person wrote.
    own: Vec<usize>,
    /// Rules on every use of a tool.
    tools: Vec<usize>,
}

/// Folders that stay known.
const KEPT: usize = 8;

/// Which rules are looked for.
pub(crate) enum Search<'s> {
    /// Those that may be about one of these paths.
    About(&'s [String]),
    /// Those on writing something in one of these folders.
    Inside(&'s [String]),
    /// Those on every use of a tool.
    Tools,
    /// Those that a person wrote.
    Own,
    /// All that may be about a path.
    All,
}

/// The last indexes that were made.
#[derive(Debug, Default)]
pub(crate) struct Kept(RefCell<Vec<Rc<PathIndex>>>);

/// One pattern.
#[derive(Debug, Default)]
struct Placed {
    /// At the base that it names.
    own: Vec<Form>,
    /// At the workspaces around it, where a refusal holds as well.
    around: Vec<Form>,
}

/// A pattern in the form that is compared fastest.
#[derive(Debug)]
enum Form {
    /// This path and what is below it, or only what is below.
    Tree { path: Rc<str>, inside_only: bool },
    /// This name at any depth below the base, and what is below it.
    Name { base: Rc<str>, name: Rc<str>, inside_only: bool },
    /// Anything else: text that the path must contain, and the tokens.
    Pattern { part: Rc<str>, whole: Option<Vec<Token>>, below: Vec<Token> },
}

/// Gives each path pattern its number, from `count` on; the number of the next one is returned.
pub(crate) fn number<'r>(mut count: usize, matchers: impl Iterator<Item = &'r mut Matcher>) -> usize {
    for matcher in matchers {
        if let Matcher::Path { path, .. } = matcher {
            path.number = count;
            count += 1;
        }
    }
    count
}

impl PathIndex {
    /// The index for the folders of the question.
    pub(crate) fn of(policy: &Policy, question: &PolicyQuestion) -> Rc<PathIndex> {
        let mut kept = policy.index.0.borrow_mut();
        if let Some(index) = kept.iter().find(|index| index.is_for(question)) {
            return index.clone();
        }
        if kept.len() == KEPT {
            kept.remove(0);
        }
        let made = Rc::new(PathIndex::new(policy, question));
        kept.push(made.clone());
        made
    }

    fn new(policy: &Policy, question: &PolicyQuestion) -> PathIndex {
        let folders = Folders { cwd: question.cwd.clone(), home: question.home.clone(), roots: question.roots.clone() };
        let bases = Bases::of(question);
        let rules = policy.added.iter().map(|number| &policy.rules[*number]);
        let matchers = rules.flat_map(|rule| std::iter::once(&rule.matcher).chain(&rule.except));
        let patterns = matchers.filter_map(|matcher| match matcher {
            Matcher::Path { path, .. } => Some(Placed::of(path, &bases)),
            _ => None,
        });
        let mut made = PathIndex { patterns: patterns.collect(), ..PathIndex::default() };
        if let Some(under) = &policy.under {
            made.first = under.policy.patterns;
            made.under = Some(PathIndex::of(&under.policy, question));
        }
        made.folders = folders;
        made.restricting = made.table(policy, true);
        made.allowing = made.table(policy, false);
        made
    }

    fn table(&self, policy: &Policy, restricting: bool) -> Table {
        let mut table = Table::default();
        let wanted = |number: &&usize| (policy.rules[**number].verdict != Verdict::Allow) == restricting;
        for number in policy.added.iter().filter(wanted).copied() {
            let rule = &policy.rules[number];
            if !matches!(rule.matcher, Matcher::Path { .. } | Matcher::Tool(..)) {
                continue;
            }
            table.all.push(number);
            if rule.source.layer != "built-in" {
                table.own.push(number);
            }
            let Matcher::Path { path, .. } = &rule.matcher else {
                table.tools.push(number);
                table.rest.push((Rc::from(""), number));
                continue;
            };
            let Some(placed) = self.placed(path) else { continue };
            placed.forms().for_each(|form| table.add(form, number));
        }
        table.trees.sort();
        table.rest.sort();
        table.names.sort();
        table
    }

    /// For a table: `Table::fixed`.
    fn fixed_places(&self, policy: &Policy, table: &Table) -> Vec<(Rc<str>, usize)> {
        let mut places = Vec::new();
        for number in &table.all {
            let Matcher::Path { access, path, .. } = &policy.rules[*number].matcher else { continue };
            if *access == Access::Read || path.any_depth {
                continue;
            }
            let forms = self.placed(path).into_iter().flat_map(Placed::forms);
            places.extend(forms.map(|form| (form.fixed_part(), *number)));
        }
        places.sort();
        places
    }

    fn placed(&self, pattern: &PathPattern) -> Option<&Placed> {
        match &self.under {
            Some(under) if pattern.number < self.first => under.placed(pattern),
            _ => self.patterns.get(pattern.number.checked_sub(self.first)?),
        }
    }

    /// The numbers of the rules that refuse, or of those that allow, and may be about what is searched for: in the order in
    /// which they hold, so that what denies comes before what asks.
    pub(crate) fn find(&self, policy: &Policy, restricting: bool, search: &Search) -> Vec<usize> {
        let mut found = Vec::new();
        if let (Some(index), Some(under)) = (&self.under, &policy.under) {
            found = index.find(&under.policy, restricting, search);
            found.iter_mut().for_each(|number| *number = under.numbers[*number]);
        }
        let table = if restricting { &self.restricting } else { &self.allowing };
        table.find(search, || self.fixed_places(policy, table), &mut found);
        found.sort_unstable();
        found.dedup();
        found
    }

    fn is_for(&self, question: &PolicyQuestion) -> bool {
        self.folders.cwd == question.cwd && self.folders.home == question.home && self.folders.roots == question.roots
    }

    /// Whether the pattern covers the path.
    pub(crate) fn covers(&self, pattern: &PathPattern, path: &PathValue, proof: Proof) -> bool {
        let Some(placed) = self.placed(pattern) else { return false };
        match path {
            PathValue::Known(paths) if proof == Proof::Strict => {
                paths.iter().all(|path| placed.own.iter().any(|form| form.covers(path)))
            }
            PathValue::Known(paths) => paths.iter().any(|path| placed.forms().any(|form| form.covers(path))),
            // An unknown part may contain `..`, so nothing is certain.
            PathValue::Partly(text) => {
                proof == Proof::Possible && {
                    let known: String = text.iter().map_while(|token| char::from_u32(*token)).collect();
                    placed.forms().any(|form| form.may_cover(text, &known))
                }
            }
        }
    }
}

impl Table {
    fn find(&self, search: &Search, fixed: impl FnOnce() -> Vec<(Rc<str>, usize)>, found: &mut Vec<usize>) {
        match search {
            Search::About(paths) => paths.iter().for_each(|path| self.add_candidates(path, found)),
            Search::Inside(folders) => {
                let fixed = self.fixed.get_or_init(fixed);
                found.extend(folders.iter().flat_map(|folder| inside(fixed, folder.trim_end_matches('/'))));
            }
            Search::Tools => found.extend(&self.tools),
            Search::Own => found.extend(&self.own),
            Search::All => found.extend(&self.all),
        }
    }

    fn add(&mut self, form: &Form, number: usize) {
        match form {
            Form::Tree { path, .. } => self.trees.push((path.clone(), number)),
            Form::Name { name, .. } => self.names.push((name.clone(), number)),
            Form::Pattern { part, .. } => self.rest.push((part.clone(), number)),
        }
    }

    fn add_candidates(&self, path: &str, found: &mut Vec<usize>) {
        let mut last = ("", true);
        for (part, number) in &self.rest {
            if *last.0 != **part {
                last = (part, holds(path, part));
            }
            if last.1 {
                found.push(*number);
            }
        }
        let mut start = 0;
        let slashes = path.bytes().enumerate().filter(|(_, byte)| *byte == b'/').map(|(at, _)| at);
        for end in slashes.chain([path.len()]) {
            found.extend(named(&self.trees, &path[..end]));
            found.extend(named(&self.names, &path[start..end]));
            start = end + 1;
        }
    }
}

/// `str::contains`, which prepares itself for long texts, for two that are short.
fn holds(text: &str, part: &str) -> bool {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    let Some(first) = part.first() else { return true };
    (0..(text.len() + 1).saturating_sub(part.len())).any(|at| text[at] == *first && text[at..].starts_with(part))
}

/// What stands under this text in a sorted list.
fn named<'l>(list: &'l [(Rc<str>, usize)], text: &'l str) -> impl Iterator<Item = usize> + 'l {
    let start = list.partition_point(|(known, _)| **known < *text);
    list[start..].iter().take_while(move |(known, _)| **known == *text).map(|(_, number)| *number)
}

/// What stands under this folder and under what is in it. Between the two may stand names that only begin alike.
fn inside<'l>(list: &'l [(Rc<str>, usize)], folder: &'l str) -> impl Iterator<Item = usize> + 'l {
    let start = list.partition_point(|(known, _)| **known < *folder);
    let alike = list[start..].iter().take_while(move |(known, _)| known.starts_with(folder));
    alike.filter(move |(known, _)| is_inside(known, folder)).map(|(_, number)| *number)
}

impl Placed {
    fn of(pattern: &PathPattern, bases: &Bases) -> Placed {
        let own = match pattern.base {
            Base::Absolute => Some(&bases.root),
            Base::Home => Some(&bases.home),
            Base::Workspace => bases.workspace.as_ref(),
            Base::Cwd => Some(&bases.cwd),
        };
        let around = if pattern.base == Base::Cwd { bases.around.as_slice() } else { &[] };
        Placed {
            own: own.map(|base| Form::of(pattern, base)).into_iter().collect(),
            around: around.iter().map(|base| Form::of(pattern, base)).collect(),
        }
    }

    fn forms(&self) -> impl Iterator<Item = &Form> {
        self.own.iter().chain(&self.around)
    }
}

impl Form {
    fn of(pattern: &PathPattern, base: &Rc<str>) -> Form {
        let inside_only = pattern.inside_only;
        match &pattern.plain {
            Some(below) if below.is_empty() => Form::Tree { path: base.clone(), inside_only },
            Some(name) if pattern.any_depth => Form::Name { base: base.clone(), name: name.clone(), inside_only },
            Some(below) => Form::Tree { path: Rc::from([base, "/", below].concat()), inside_only },
            None => {
                let mut whole = tokens(&format!("{base}/"));
                if pattern.any_depth {
                    whole.extend(FOLDERS);
                }
                whole.extend(&pattern.below);
                let below = [whole.as_slice(), &[Token::from('/'), ANYTHING]].concat();
                Form::Pattern { part: pattern.part.clone(), whole: (!inside_only).then_some(whole), below }
            }
        }
    }

    /// The place that it is tied to.
    fn fixed_part(&self) -> Rc<str> {
        match self {
            Form::Tree { path, .. } | Form::Name { base: path, .. } => path.clone(),
            Form::Pattern { below, .. } => {
                let text: String = below.iter().map_while(|token| char::from_u32(*token)).collect();
                Rc::from(normalize(&text[..text.rfind('/').unwrap_or(0)]))
            }
        }
    }

    fn covers(&self, path: &str) -> bool {
        match self {
            Form::Tree { path: tree, inside_only } => {
                is_inside(path, tree) && !(*inside_only && path.len() == tree.len())
            }
            Form::Name { base, name, inside_only } => {
                let Some(below) = path.strip_prefix(&**base).and_then(|below| below.strip_prefix('/')) else {
                    return false;
                };
                let mut parts = below.split('/').peekable();
                while let Some(part) = parts.next() {
                    if *part == **name {
                        return !inside_only || parts.peek().is_some();
                    }
                }
                false
            }
            Form::Pattern { part, whole, below } => {
                let text = if holds(path, part) { tokens(path) } else { return false };
                whole.as_ref().is_some_and(|whole| matches(whole, &text, Proof::Certain))
                    || matches(below, &text, Proof::Certain)
            }
        }
    }

    /// Whether some value of the unknown parts is covered. `known` is the text before the first of them.
    fn may_cover(&self, text: &[Token], known: &str) -> bool {
        let base = match self {
            Form::Tree { path, .. } => path,
            Form::Name { base, .. } => base,
            Form::Pattern { below, .. } => return self.possible(text, Some(below)),
        };
        let common = base.bytes().zip(known.bytes()).take_while(|(left, right)| left == right).count();
        (common == base.len() || common == known.len()) && self.possible(text, None)
    }

    fn possible(&self, text: &[Token], below: Option<&Vec<Token>>) -> bool {
        let slash = [Token::from('/'), ANYTHING];
        let (whole, inside_only) = match self {
            Form::Tree { path, inside_only } => (tokens(path), *inside_only),
            Form::Name { base, name, inside_only } => {
                ([tokens(&format!("{base}/")).as_slice(), &FOLDERS, &tokens(name)].concat(), *inside_only)
            }
            Form::Pattern { whole, .. } => (whole.clone().unwrap_or_default(), whole.is_none()),
        };
        let deeper = || matches(below.unwrap_or(&[whole.as_slice(), &slash].concat()), text, Proof::Possible);
        (!inside_only && matches(&whole, text, Proof::Possible)) || deeper()
    }
}
