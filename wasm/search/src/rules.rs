//! The rules of one ignore file.

use crate::gate::Gate;
use crate::rule_line::RuleLine;
use crate::walk::RELATIVE;
use core::cell::OnceCell;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

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
    /// The file that git's `core.excludesFile` names, which stands for all repositories.
    Global,
}

/// Rules that are compiled when the first name comes that one of them may match. Most of a tree's ignore files name what a build
/// would make, and a search meets nothing of it: of the 340 in Linux two are ever asked.
#[derive(Debug)]
pub struct Rules {
    source: Source,
    gate: Gate,
    text: Box<str>,
    /// Nothing if one of them is no plain line.
    lines: OnceCell<Option<Box<[RuleLine]>>>,
    /// For those that are no plain lines: a set of regular expressions, which half of the search module would be for. Nothing if they
    /// can't be compiled.
    matcher: OnceCell<Option<Gitignore>>,
}

impl Rules {
    /// Takes the text of an ignore file.
    #[must_use]
    pub fn new(source: Source, text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text));
        Self { source, gate: Gate::new(&text), text: text.into(), lines: OnceCell::new(), matcher: OnceCell::new() }
    }

    /// Where they come from.
    #[must_use]
    pub fn source(&self) -> Source {
        self.source
    }

    /// False only if none of them can match an entry of this name.
    #[must_use]
    pub fn may_match(&self, name: &[u8]) -> bool {
        self.gate.lets_through(name)
    }

    /// What they say of an entry, by its path from the folder that they belong to.
    #[must_use]
    pub fn judge(&self, path: &str, is_dir: bool) -> Match<()> {
        if let Some(lines) = self.lines.get_or_init(|| RuleLine::all(&self.text)) {
            let path = path.as_bytes();
            let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            let says = |place: usize| Some(lines[place].judge(path, is_dir)).filter(|said| !said.is_none());
            return self.gate.last_of(name, says).unwrap_or(Match::None);
        }
        match self.matcher.get_or_init(|| compile(&self.text)) {
            Some(matcher) => matcher.matched(path, is_dir).map(|_| ()),
            None => Match::None,
        }
    }
}

fn compile(text: &str) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(RELATIVE);
    for line in text.lines() {
        // A line that is no pattern is skipped, as git and ripgrep do; the others hold.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_compiled_when_they_are_asked() {
        let rules = Rules::new(Source::Gitignore, b"*.o\n!keep.o\n");
        assert!(!rules.may_match(b"a.c"));
        assert!(rules.may_match(b"a.o"));
        assert!(rules.lines.get().is_none());
        assert!(rules.judge("a.o", false).is_ignore());
        assert!(rules.judge("keep.o", false).is_whitelist());
        assert!(rules.matcher.get().is_none());
    }

    #[test]
    fn one_line_that_is_not_plain_sends_all_to_the_matcher() {
        let rules = Rules::new(Source::Gitignore, b"*.o\n*.{a,b}\n!keep.o\n");
        assert!(rules.judge("x.b", false).is_ignore() && rules.judge("keep.o", false).is_whitelist());
        assert!(rules.matcher.get().is_some());
    }
}
