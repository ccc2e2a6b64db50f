//! Path patterns with their bases put in, made once for each workspace and kept: a decision then compares text with text.

use std::cell::RefCell;
use std::rc::Rc;

use super::Policy;
use super::paths::{PathValue, is_inside, normalize};
use super::pattern::{Base, Matcher, PathPattern};
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
    patterns: Vec<Placed>,
    /// By verdict: deny, ask, allow.
    tables: [Table; 3],
}

/// The rules of one verdict that may be about a path that is known.
#[derive(Debug, Default)]
struct Table {
    /// Sorted: a path, and the number of a rule about it and what is below.
    trees: Vec<(String, usize)>,
    /// Rules that every path must be compared with.
    rest: Vec<usize>,
}

/// The last index that was made.
#[derive(Debug, Default)]
pub(crate) struct Kept(RefCell<Option<Rc<PathIndex>>>);

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
    Tree { path: String, inside_only: bool },
    /// This name at any depth below the base, and what is below it.
    Name { base: String, name: String, inside_only: bool },
    /// Anything else: text that the path must contain, and the tokens.
    Pattern { part: String, whole: Option<Vec<Token>>, below: Vec<Token> },
}

/// Gives each path pattern its number; the count is returned.
pub(crate) fn number<'r>(matchers: impl Iterator<Item = &'r mut Matcher>) -> usize {
    let mut count = 0;
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
        if let Some(index) = kept.as_ref().filter(|index| index.is_for(question)) {
            return index.clone();
        }
        let folders = Folders { cwd: question.cwd.clone(), home: question.home.clone(), roots: question.roots.clone() };
        let matchers = policy.rules.iter().flat_map(|rule| std::iter::once(&rule.matcher).chain(&rule.except));
        let patterns = matchers.filter_map(|matcher| match matcher {
            Matcher::Path { path, .. } => Some(Placed::of(path, &folders)),
            _ => None,
        });
        let mut made = PathIndex { patterns: patterns.collect(), folders, tables: Default::default() };
        for verdict in [Verdict::Deny, Verdict::Ask, Verdict::Allow] {
            made.tables[super::list_of(verdict)] = made.table(policy, verdict);
        }
        let made = Rc::new(made);
        *kept = Some(made.clone());
        made
    }

    fn table(&self, policy: &Policy, verdict: Verdict) -> Table {
        let mut table = Table::default();
        for number in policy.numbers_on_paths(verdict) {
            let placed = match &policy.rules[*number].matcher {
                Matcher::Path { path, .. } => self.patterns.get(path.number),
                _ => None,
            };
            let trees = || {
                placed.into_iter().flat_map(Placed::forms).filter_map(|form| match form {
                    Form::Tree { path, .. } => Some(path),
                    _ => None,
                })
            };
            if placed.is_some_and(|placed| trees().count() == placed.forms().count()) {
                table.trees.extend(trees().map(|path| (path.clone(), *number)));
            } else {
                table.rest.push(*number);
            }
        }
        table.trees.sort();
        table
    }

    /// The numbers of the rules that may be about this path, in order.
    pub(crate) fn candidates(&self, verdict: Verdict, path: &str) -> Vec<usize> {
        let table = &self.tables[super::list_of(verdict)];
        let mut found = table.rest.clone();
        let slashes = path.match_indices('/').map(|(at, _)| at);
        for end in slashes.chain([path.len()]) {
            let folder = &path[..end];
            let start = table.trees.partition_point(|(tree, _)| tree.as_str() < folder);
            found.extend(table.trees[start..].iter().take_while(|(tree, _)| tree == folder).map(|(_, number)| *number));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn is_for(&self, question: &PolicyQuestion) -> bool {
        self.folders.cwd == question.cwd && self.folders.home == question.home && self.folders.roots == question.roots
    }

    /// Whether the pattern covers the path.
    pub(crate) fn covers(&self, pattern: &PathPattern, path: &PathValue, proof: Proof) -> bool {
        let Some(placed) = self.patterns.get(pattern.number) else { return false };
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

    /// The place that each form of the pattern is tied to; none for a name at any depth.
    pub(crate) fn fixed_parts(&self, pattern: &PathPattern) -> Vec<String> {
        if pattern.any_depth {
            return Vec::new();
        }
        let cut = |form: &Form| match form {
            Form::Tree { path, .. } | Form::Name { base: path, .. } => path.clone(),
            Form::Pattern { below, .. } => {
                let text: String = below.iter().map_while(|token| char::from_u32(*token)).collect();
                normalize(&text[..text.rfind('/').unwrap_or(0)])
            }
        };
        self.patterns.get(pattern.number).map(|placed| placed.forms().map(cut).collect()).unwrap_or_default()
    }
}

impl Placed {
    fn of(pattern: &PathPattern, folders: &Folders) -> Placed {
        let own = match pattern.base {
            Base::Absolute => vec![""],
            Base::Home => vec![folders.home.as_str()],
            Base::Workspace => folders.roots.iter().take(1).map(String::as_str).collect(),
            Base::Cwd => vec![folders.cwd.as_str()],
        };
        // A refusal written for the working folder also holds for the workspace around it.
        let around: Vec<&str> = match pattern.base {
            Base::Cwd => folders.roots.iter().map(String::as_str).filter(|root| *root != folders.cwd).collect(),
            _ => Vec::new(),
        };
        let forms = |bases: &[&str]| bases.iter().map(|base| Form::of(pattern, base.trim_end_matches('/'))).collect();
        Placed { own: forms(&own), around: forms(&around) }
    }

    fn forms(&self) -> impl Iterator<Item = &Form> {
        self.own.iter().chain(&self.around)
    }
}

impl Form {
    fn of(pattern: &PathPattern, base: &str) -> Form {
        let inside_only = pattern.inside_only;
        let plain: Option<String> = pattern.below.iter().map(|token| char::from_u32(*token)).collect();
        match plain {
            Some(below) if below.is_empty() => Form::Tree { path: base.to_string(), inside_only },
            Some(name) if pattern.any_depth => Form::Name { base: base.to_string(), name, inside_only },
            Some(below) => Form::Tree { path: format!("{base}/{below}"), inside_only },
            None => {
                let mut whole = tokens(&format!("{base}/"));
                if pattern.any_depth {
                    whole.extend(FOLDERS);
                }
                whole.extend(&pattern.below);
                let runs = pattern.below.split(|token| char::from_u32(*token).is_none());
                let longest = runs.max_by_key(|run| run.len()).unwrap_or_default();
                let part = longest.iter().filter_map(|token| char::from_u32(*token)).collect();
                let below = [whole.as_slice(), &[Token::from('/'), ANYTHING]].concat();
                Form::Pattern { part, whole: (!inside_only).then_some(whole), below }
            }
        }
    }

    fn covers(&self, path: &str) -> bool {
        match self {
            Form::Tree { path: tree, inside_only } => {
                is_inside(path, tree) && !(*inside_only && path.len() == tree.len())
            }
            Form::Name { base, name, inside_only } => {
                let Some(below) = path.strip_prefix(base.as_str()).and_then(|below| below.strip_prefix('/')) else {
                    return false;
                };
                let mut parts = below.split('/').peekable();
                while let Some(part) = parts.next() {
                    if part == name {
                        return !inside_only || parts.peek().is_some();
                    }
                }
                false
            }
            Form::Pattern { part, whole, below } => {
                // A slash at either end of the part may have matched nothing.
                let text = if path.contains(part.trim_matches('/')) { tokens(path) } else { return false };
                whole.as_ref().is_some_and(|whole| matches(whole, &text, Proof::Certain))
                    || matches(below, &text, Proof::Certain)
            }
        }
    }

    /// Whether some value of the unknown parts is covered. `known` is the text before the first of them.
    fn may_cover(&self, text: &[Token], known: &str) -> bool {
        let base = match self {
            Form::Tree { path, .. } => path.as_str(),
            Form::Name { base, .. } => base.as_str(),
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
