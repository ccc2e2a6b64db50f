//! Rules by the paths that they may be about. Paths stand here as they do in the rules, below their bases, so that nothing is made
//! anew for the folders of a question, and the rules of a build have their index from the build.

use std::rc::Rc;

use super::Policy;
use super::bases::{BASES, below, folders};
use super::paths::{PathValue, is_inside, normalize};
use super::pattern::{Access, Matcher, PathPattern, Rule};
use super::types::{PolicyQuestion, Verdict};
use super::wildcard::{Proof, Token, matches, tokens};

/// The path patterns of the rules that are in no other set.
#[derive(Debug, Default)]
pub(crate) struct PathIndex {
    restricting: Table,
    allowing: Table,
}

/// The rules that refuse, or those that allow, by the paths that they may be about.
#[derive(Debug, Default)]
struct Table {
    /// The number of each rule.
    all: Vec<usize>,
    /// By base, sorted: a path below it, and a rule about it and what is below.
    trees: [Vec<(Rc<str>, usize)>; BASES.len()],
    /// Sorted: a name at any depth, and a rule about it.
    names: Vec<(Rc<str>, usize)>,
    /// Sorted: text that a path must contain, and a rule that it must be compared with then.
    rest: Vec<(Rc<str>, usize)>,
    /// By base, sorted: the place below it that a rule on writing is tied to, and the rule.
    fixed: [Vec<(Rc<str>, usize)>; BASES.len()],
    /// Rules that a person wrote.
    own: Vec<usize>,
    /// Rules on every use of a tool.
    tools: Vec<usize>,
}

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

/// The numbers of the rules that refuse, or of those that allow, and may be about what is searched for: in the order in
/// which they hold, so that what denies comes before what asks.
pub(crate) fn find(policy: &Policy, question: &PolicyQuestion, restricting: bool, search: &Search) -> Vec<usize> {
    let mut found = Vec::new();
    if let Some(under) = &policy.under {
        found = find(&under.policy, question, restricting, search);
        found.iter_mut().for_each(|number| *number = under.numbers[*number]);
    }
    let table = if restricting { &policy.index.restricting } else { &policy.index.allowing };
    table.find(question, search, &mut found);
    found.sort_unstable();
    found.dedup();
    found
}

impl PathIndex {
    /// The index of the rules of these numbers.
    pub(crate) fn of(rules: &[Rc<Rule>], numbers: &[usize]) -> PathIndex {
        let table = |restricting: bool| {
            let wanted = |number: &&usize| (rules[**number].verdict != Verdict::Allow) == restricting;
            Table::of(rules, numbers.iter().filter(wanted))
        };
        PathIndex { restricting: table(true), allowing: table(false) }
    }
}

impl Table {
    fn of<'n>(rules: &[Rc<Rule>], numbers: impl Iterator<Item = &'n usize>) -> Table {
        let mut table = Table::default();
        for number in numbers.copied() {
            let rule = &rules[number];
            if !matches!(rule.matcher, Matcher::Path { .. } | Matcher::Tool(..)) {
                continue;
            }
            table.all.push(number);
            if rule.source.layer != "built-in" {
                table.own.push(number);
            }
            match &rule.matcher {
                Matcher::Path { access, path, .. } => table.add(*access, path, number),
                _ => {
                    table.tools.push(number);
                    table.rest.push((Rc::from(""), number));
                }
            }
        }
        table.trees.iter_mut().chain(&mut table.fixed).for_each(|list| list.sort());
        table.rest.sort();
        table.names.sort();
        table
    }

    fn add(&mut self, access: Access, path: &PathPattern, number: usize) {
        let base = path.base as usize;
        match &path.plain {
            Some(name) if path.any_depth && !name.is_empty() => self.names.push((name.clone(), number)),
            Some(below) => self.trees[base].push((below.clone(), number)),
            None => self.rest.push((path.part.clone(), number)),
        }
        if access != Access::Read && !path.any_depth {
            self.fixed[base].push((path.fixed_part(), number));
        }
    }

    fn find(&self, question: &PolicyQuestion, search: &Search, found: &mut Vec<usize>) {
        match search {
            Search::About(paths) => paths.iter().for_each(|path| self.add_candidates(question, path, found)),
            Search::Inside(paths) => paths.iter().for_each(|path| self.add_inside(question, path, found)),
            Search::Tools => found.extend(&self.tools),
            Search::Own => found.extend(&self.own),
            Search::All => found.extend(&self.all),
        }
    }

    fn add_candidates(&self, question: &PolicyQuestion, path: &str, found: &mut Vec<usize>) {
        let mut last = ("", true);
        for (part, number) in &self.rest {
            if *last.0 != **part {
                last = (part, holds(path, part));
            }
            if last.1 {
                found.push(*number);
            }
        }
        if !self.names.is_empty() {
            path.split('/').for_each(|name| found.extend(named(&self.names, name)));
        }
        for (base, trees) in BASES.iter().zip(&self.trees).filter(|(_, trees)| !trees.is_empty()) {
            for below in folders(question, *base).filter_map(|folder| below(path, folder)) {
                let slashes = below.bytes().enumerate().filter(|(_, byte)| *byte == b'/').map(|(at, _)| at);
                for end in [0].into_iter().chain(slashes).chain([below.len()]) {
                    found.extend(named(trees, &below[..end]));
                }
            }
        }
    }

    fn add_inside(&self, question: &PolicyQuestion, path: &str, found: &mut Vec<usize>) {
        let path = path.trim_end_matches('/');
        for (base, fixed) in BASES.iter().zip(&self.fixed).filter(|(_, fixed)| !fixed.is_empty()) {
            for folder in folders(question, *base) {
                // A rule on writing holds as well by the name that the folder has after all.
                let normal = normalize(folder);
                for folder in [folder, normal.trim_end_matches('/')] {
                    if is_inside(folder, path) {
                        found.extend(fixed.iter().map(|(_, number)| *number));
                    } else if let Some(below) = below(path, folder) {
                        found.extend(inside(fixed, below));
                    }
                }
            }
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

impl PathPattern {
    /// Whether it covers the path. At the workspaces around its base only a refusal holds as well.
    pub(crate) fn covers(&self, question: &PolicyQuestion, path: &PathValue, proof: Proof) -> bool {
        let mut folders = folders(question, self.base);
        match path {
            PathValue::Known(paths) if proof == Proof::Strict => {
                folders.next().is_some_and(|own| paths.iter().all(|path| self.covers_below(own, path)))
            }
            PathValue::Known(paths) => folders.any(|folder| paths.iter().any(|path| self.covers_below(folder, path))),
            // An unknown part may contain `..`, so nothing is certain.
            PathValue::Partly(text) => {
                proof == Proof::Possible && {
                    let known: String = text.iter().map_while(|token| char::from_u32(*token)).collect();
                    folders.any(|folder| self.may_cover(folder, text, &known))
                }
            }
        }
    }

    fn covers_below(&self, folder: &str, path: &str) -> bool {
        let Some(below) = below(path, folder) else { return false };
        match &self.plain {
            Some(text) if text.is_empty() => !self.inside_only || path.len() > folder.len(),
            Some(name) if self.any_depth => {
                let mut parts = below.split('/').peekable();
                while let Some(part) = parts.next() {
                    if *part == **name {
                        return !self.inside_only || parts.peek().is_some();
                    }
                }
                false
            }
            Some(text) => match below.strip_prefix(&**text) {
                Some("") => !self.inside_only,
                rest => rest.is_some_and(|rest| rest.starts_with('/')),
            },
            None => {
                if path.len() == folder.len() || !holds(below, &self.part) {
                    return false;
                }
                let text = tokens(below);
                (!self.inside_only && matches(self.whole(), &text, Proof::Certain))
                    || matches(&self.inside, &text, Proof::Certain)
            }
        }
    }

    /// Whether some value of the unknown parts is covered. `known` is the text before the first of them.
    fn may_cover(&self, folder: &str, text: &[Token], known: &str) -> bool {
        let below = self.plain.as_deref().filter(|text| !self.any_depth && !text.is_empty());
        let mut place = folder.bytes().chain(below.iter().flat_map(|below| [b'/'].into_iter().chain(below.bytes())));
        // One of the two must be the beginning of the other.
        if known.bytes().any(|byte| place.next().is_some_and(|wanted| wanted != byte)) {
            return false;
        }
        let mut whole = tokens(folder);
        if !self.whole().is_empty() {
            whole.push(Token::from('/'));
        }
        let deeper = [whole.as_slice(), &self.inside].concat();
        whole.extend(self.whole());
        (!self.inside_only && matches(&whole, text, Proof::Possible)) || matches(&deeper, text, Proof::Possible)
    }

    /// The place below its base that it is tied to.
    fn fixed_part(&self) -> Rc<str> {
        if let Some(text) = &self.plain {
            return text.clone();
        }
        let text: String = self.inside.iter().map_while(|token| char::from_u32(*token)).collect();
        Rc::from(normalize(&text[..text.rfind('/').unwrap_or(0)]).trim_start_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::super::types::{RuleLists, RuleSource};
    use super::super::wildcard::{ANYTHING, UNKNOWN, UNKNOWN_NAME};
    use super::*;

    /// With commas between.
    const PATTERNS: &str = "//etc/ssl,//,//**,~,~/.ssh,~/.ssh/,~/**,~/*.key,/,/src,/src/,/**/*.rs,./,\
        ./src,./src/*,src/a,src/,.env,.env.*,*.key,**/secrets/**,a/**/b,~/a b,path:";
    const FOLDERS: [&str; 6] =
        ["/", "/home/ada", "/home/ada/project/", "/home/ada/project/src", "/home/adam", "/srv/data"];
    const NAMES: &str =
        ",/,/src,/src/a,/src/a/x/b,/.env,/x/.env/y,/.env.local,/.ssh,/.ssh/id,/a.key,/x/a.key,/secrets/x,/etc/ssl/key";

    fn policy(pattern: &str) -> Policy {
        let rule = |text: String| RuleSource { rule: text, layer: "user".into(), ..RuleSource::default() };
        let lists = RuleLists { deny: vec![rule(format!("Edit({pattern})"))], ..RuleLists::default() };
        Policy::compile(lists).unwrap_or_else(|faults| panic!("{pattern}: {faults:?}"))
    }

    fn question(home: &str, cwd: &str, roots: &[&str]) -> PolicyQuestion {
        let roots = roots.iter().map(|root| root.to_string()).collect();
        PolicyQuestion { home: home.into(), cwd: cwd.into(), roots, ..PolicyQuestion::default() }
    }

    /// What the pattern means, by the letter: with the folder in it, as one pattern over the whole path.
    fn by_the_letter(pattern: &PathPattern, folder: &str, path: &[Token], proof: Proof) -> bool {
        let mut whole = tokens(folder);
        if !pattern.whole().is_empty() {
            whole.push(Token::from('/'));
            whole.extend(pattern.whole());
        }
        let inside = [whole.as_slice(), &tokens("/"), &[ANYTHING]].concat();
        (!pattern.inside_only && matches(&whole, path, proof)) || matches(&inside, path, proof)
    }

    /// Questions from all these folders, with no workspace, one and two.
    fn questions() -> impl Iterator<Item = PolicyQuestion> {
        let places = FOLDERS[1..4].iter().flat_map(|home| FOLDERS.map(|cwd| (home, cwd)));
        places.enumerate().flat_map(|(at, (home, cwd))| {
            let root = FOLDERS[at % 5];
            [&[][..], &[cwd], &[root], &[root, "/srv/data"]].map(|roots| question(home, cwd, roots))
        })
    }

    fn paths() -> impl Iterator<Item = String> {
        FOLDERS.iter().flat_map(|folder| NAMES.split(',').map(move |name| normalize(&[folder, name].concat())))
    }

    /// What stands for a path that is known, known to its first name, and known from there on.
    fn texts(path: &str) -> [Vec<Token>; 3] {
        let (start, end) = path[1..].split_once('/').unwrap_or((&path[1..], ""));
        let known = tokens(&format!("/{start}"));
        [tokens(path), [known.as_slice(), &[UNKNOWN]].concat(), [&[UNKNOWN_NAME], tokens(end).as_slice()].concat()]
    }

    #[test]
    fn a_rule_is_found_by_each_path_that_it_covers_and_covers_what_it_says_a7() {
        let mut covered = 0;
        let paths: Vec<String> = paths().collect();
        for (pattern, asked) in PATTERNS.split(',').flat_map(|pattern| questions().map(move |asked| (pattern, asked))) {
            let policy = policy(pattern);
            let Matcher::Path { path: compiled, .. } = &policy.rules[0].matcher else { panic!("{pattern}") };
            let bases: Vec<&str> = folders(&asked, compiled.base).collect();
            let own = &bases[..bases.len().min(1)];
            for path in &paths {
                let says = |value: PathValue, proof| compiled.covers(&asked, &value, proof);
                let known = PathValue::Known(vec![path.clone()]);
                let about = format!("{pattern} on {path} from {asked:?}");
                let meant = |bases: &[&str]| {
                    bases.iter().any(|base| by_the_letter(compiled, base, &tokens(path), Proof::Certain))
                };
                assert_eq!(says(known.clone(), Proof::Certain), meant(&bases), "{about}");
                assert_eq!(says(known, Proof::Strict), meant(own), "{about}");
                for text in texts(path) {
                    let possible = bases.iter().any(|base| by_the_letter(compiled, base, &text, Proof::Possible));
                    assert_eq!(says(PathValue::Partly(text), Proof::Possible), possible, "{about}");
                }
                let found = find(&policy, &asked, true, &Search::About(std::slice::from_ref(path)));
                assert!(!meant(&bases) || found == [0], "{about}");
                covered += usize::from(meant(&bases));
            }
        }
        assert!(covered > 10_000, "{covered}");
    }

    #[test]
    fn a_rule_on_writing_one_path_is_found_by_the_folders_around_it_and_by_no_others_a7() {
        let mut inside = 0;
        for (pattern, asked) in PATTERNS.split(',').flat_map(|pattern| questions().map(move |asked| (pattern, asked))) {
            let policy = policy(pattern);
            let Matcher::Path { path: compiled, .. } = &policy.rules[0].matcher else { panic!("{pattern}") };
            let Some(plain) = compiled.plain.as_ref().filter(|_| !compiled.any_depth) else { continue };
            for folder in paths() {
                let places = folders(&asked, compiled.base).map(|base| normalize(&format!("{base}/{plain}")));
                let meant = places.into_iter().any(|place| is_inside(&place, &folder));
                let found = find(&policy, &asked, true, &Search::Inside(std::slice::from_ref(&folder))) == [0];
                assert_eq!(found, meant, "{pattern} in {folder} from {asked:?}");
                inside += usize::from(found);
            }
        }
        assert!(inside > 1000, "{inside}");
    }

    #[test]
    fn a_rule_on_writing_is_found_by_the_folders_around_its_place_and_by_no_others_a7() {
        let asked = question("/home/ada", "/home/ada/project", &["/home/ada/project"]);
        let found = |pattern: &str, folder: &str| {
            find(&policy(pattern), &asked, true, &Search::Inside(&[folder.into()])) == [0]
        };
        for (pattern, place) in
            [("~/.ssh", "/home/ada/.ssh"), ("/src/*.rs", "/home/ada/project/src"), ("//etc/ssl", "/etc/ssl")]
        {
            for folder in
                "/,/home,/home/ada,/hom,/home/ada/.ssh,/home/ada/.sshd,/home/ada/project/src,/etc,/etc/ssl/x".split(',')
            {
                assert_eq!(found(pattern, folder), is_inside(place, folder), "{pattern} in {folder}");
            }
        }
        assert!(!found(".env", "/home/ada/project"));
    }

    #[test]
    fn folders_of_a_question_that_are_not_normal_are_where_they_lead_a7() {
        let asked = question("/home/./ada", "/home/x/../ada", &["/home//ada"]);
        for pattern in ["~/.ssh", "/*.key", "./src/a"] {
            for (folder, meant) in [("/home/ada", true), ("/home", true), ("/home/x/y", false), ("/srv", false)] {
                let found = find(&policy(pattern), &asked, true, &Search::Inside(&[folder.into()])) == [0];
                assert_eq!(found, meant, "{pattern} in {folder}");
            }
        }
    }
}
