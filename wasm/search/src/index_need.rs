//! What a file must have if a pattern matches in it: grams of three and four bytes, found as in Google Code Search (Russ Cox, "Regular Expression Matching
//! with a Trigram Index", 2012): never too much, so that no file is left out that matches; often too little.
//!
//! Everything is in bytes with ASCII letters in lower case, as in the index. Other letters that are the same in a search that ignores
//! case are spelled out by the parser: the Kelvin sign stands beside `k` in its class.

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};
use std::collections::BTreeSet;

/// Three or four bytes in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gram {
    /// As a number, the first byte highest.
    Three(u32),
    /// As a number, the first byte highest.
    Four(u32),
}

/// Grams that a file must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing can be told: any file may match.
    Anything,
    /// This one.
    One(Gram),
    /// All of these.
    All(Vec<Need>),
    /// One of these. None of none: no file matches.
    Any(Vec<Need>),
}

/// More strings than this are not kept apart.
const MOST_STRINGS: usize = 16;

/// Longer strings are not kept whole.
const LONGEST_STRING: usize = 200;

/// A class of more characters is not spelled out.
const MOST_CHARACTERS: u32 = 12;

/// Copies of what is repeated that are spelled out.
const MOST_COPIES: u32 = 8;

/// Bytes at the edges of a string that may be part of a gram with what stands beside it.
const EDGE: usize = 3;

/// A larger need would take longer to ask for than it saves.
const MOST_PARTS: usize = 4096;

type Strings = BTreeSet<Vec<u8>>;

/// What is known of the strings that a part of a pattern matches.
#[derive(Clone, Debug)]
enum Known {
    /// They are these.
    Exactly(Strings),
    /// Each starts with one of `starts`, which have at most three bytes, ends with one of `ends`, and has what is needed.
    Roughly { starts: Strings, ends: Strings, need: Need },
}

impl Need {
    /// What a file must have for the pattern to match anywhere in it.
    #[must_use]
    pub fn of(pattern: &Hir) -> Self {
        let need = known(pattern).into_need();
        if need.parts() > MOST_PARTS { Self::Anything } else { need }
    }

    /// The files of a block that have what is needed; `row` gives those that have a gram.
    #[must_use]
    pub fn files(&self, row: &impl Fn(Gram) -> u64) -> u64 {
        match self {
            Self::Anything => u64::MAX,
            Self::One(gram) => row(*gram),
            Self::All(parts) => {
                let mut files = u64::MAX;
                for part in parts {
                    files &= part.files(row);
                    if files == 0 {
                        break;
                    }
                }
                files
            }
            Self::Any(parts) => parts.iter().fold(0, |files, part| files | part.files(row)),
        }
    }

    fn parts(&self) -> usize {
        match self {
            Self::Anything | Self::One(_) => 1,
            Self::All(parts) | Self::Any(parts) => 1 + parts.iter().map(Self::parts).sum::<usize>(),
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Anything, need) | (need, Self::Anything) => need,
            (Self::All(mut parts), Self::All(more)) => {
                for part in more {
                    // What stands beside each other shares grams at the seam.
                    if !parts.contains(&part) {
                        parts.push(part);
                    }
                }
                Self::All(parts)
            }
            (Self::All(mut parts), need) | (need, Self::All(mut parts)) => {
                parts.push(need);
                Self::All(parts)
            }
            (one, other) => Self::All(vec![one, other]),
        }
    }

    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Anything, _) | (_, Self::Anything) => Self::Anything,
            (Self::Any(mut parts), Self::Any(more)) => {
                parts.extend(more);
                Self::Any(parts)
            }
            (Self::Any(mut parts), need) | (need, Self::Any(mut parts)) => {
                parts.push(need);
                Self::Any(parts)
            }
            (one, other) => Self::Any(vec![one, other]),
        }
    }

    /// The grams of one of these strings.
    fn of_strings(strings: &Strings) -> Self {
        strings.iter().map(|string| Self::of_string(string)).reduce(Self::or).unwrap_or(Self::Any(Vec::new()))
    }

    fn of_string(string: &[u8]) -> Self {
        let number = |window: &[u8]| window.iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
        // The index has none across a line end.
        let inside = |window: &&[u8]| !window.contains(&b'\n');
        let fours = string.windows(4).filter(inside).map(|window| Gram::Four(number(window)));
        let mut grams: Vec<Gram> =
            fours.chain(string.windows(3).filter(inside).map(|window| Gram::Three(number(window)))).collect();
        // Whatever is missing first ends the search for the others: what is longer, and what is not ASCII.
        grams.sort_unstable_by_key(|gram| {
            core::cmp::Reverse(match gram {
                Gram::Four(number) => (1, *number & 0x8080_8080),
                Gram::Three(number) => (0, *number & 0x80_8080),
            })
        });
        grams.dedup();
        if grams.is_empty() { Self::Anything } else { Self::All(grams.into_iter().map(Self::One).collect()) }
    }
}

impl Known {
    /// Nothing is known.
    fn nothing() -> Self {
        let empty = Strings::from([Vec::new()]);
        Self::Roughly { starts: empty.clone(), ends: empty, need: Need::Anything }
    }

    fn empty() -> Self {
        Self::Exactly(Strings::from([Vec::new()]))
    }

    fn into_need(self) -> Need {
        match self {
            Self::Exactly(strings) => Need::of_strings(&strings),
            Self::Roughly { need, .. } => need,
        }
    }

    fn starts(&self) -> Strings {
        match self {
            Self::Exactly(strings) => limited(strings.iter().map(|string| string[..string.len().min(EDGE)].to_vec())),
            Self::Roughly { starts, .. } => starts.clone(),
        }
    }

    fn ends(&self) -> Strings {
        match self {
            Self::Exactly(strings) => {
                limited(strings.iter().map(|string| string[string.len().saturating_sub(EDGE)..].to_vec()))
            }
            Self::Roughly { ends, .. } => ends.clone(),
        }
    }

    fn then(self, next: Self) -> Self {
        if let (Self::Exactly(strings), Self::Exactly(more)) = (&self, &next) {
            let longest = |strings: &Strings| strings.iter().map(Vec::len).max().unwrap_or(0);
            if strings.len() * more.len() <= MOST_STRINGS && longest(strings) + longest(more) <= LONGEST_STRING {
                return Self::Exactly(joined(strings, more));
            }
        }
        let starts = match &self {
            Self::Exactly(strings) => limited(joined(strings, &next.starts()).into_iter().map(|mut string| {
                string.truncate(EDGE);
                string
            })),
            Self::Roughly { starts, .. } => starts.clone(),
        };
        let ends = match &next {
            Self::Exactly(strings) => limited(
                joined(&self.ends(), strings)
                    .into_iter()
                    .map(|string| string[string.len().saturating_sub(EDGE)..].to_vec()),
            ),
            Self::Roughly { ends, .. } => ends.clone(),
        };
        let between = Need::of_strings(&joined(&self.ends(), &next.starts()));
        Self::Roughly { starts, ends, need: self.into_need().and(between).and(next.into_need()) }
    }

    fn or(self, other: Self) -> Self {
        if let (Self::Exactly(strings), Self::Exactly(more)) = (&self, &other) {
            let all: Strings = strings.union(more).cloned().collect();
            if all.len() <= MOST_STRINGS {
                return Self::Exactly(all);
            }
        }
        Self::Roughly {
            starts: limited(self.starts().into_iter().chain(other.starts())),
            ends: limited(self.ends().into_iter().chain(other.ends())),
            need: self.into_need().or(other.into_need()),
        }
    }
}

/// All of one, each followed by each of the other.
fn joined(ones: &Strings, others: &Strings) -> Strings {
    ones.iter().flat_map(|one| others.iter().map(|other| [one.as_slice(), other].concat())).collect()
}

/// The strings, or the empty one for all of them if they are too many.
fn limited(strings: impl Iterator<Item = Vec<u8>>) -> Strings {
    let strings: Strings = strings.collect();
    if strings.len() > MOST_STRINGS { Strings::from([Vec::new()]) } else { strings }
}

fn known(pattern: &Hir) -> Known {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => Known::empty(),
        HirKind::Literal(literal) => literal
            .0
            .chunks(LONGEST_STRING)
            .map(|piece| Known::Exactly(Strings::from([piece.to_ascii_lowercase()])))
            .reduce(Known::then)
            .unwrap_or_else(Known::empty),
        HirKind::Class(class) => known_class(class),
        HirKind::Repetition(repetition) => known_repetition(repetition),
        HirKind::Capture(capture) => known(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(known).reduce(Known::then).unwrap_or_else(Known::empty),
        HirKind::Alternation(parts) => {
            parts.iter().map(known).reduce(Known::or).unwrap_or(Known::Exactly(Strings::new()))
        }
    }
}

fn known_class(class: &Class) -> Known {
    match class {
        Class::Unicode(set) => {
            let count = |from: char, to: char| (to as u32).saturating_sub(from as u32).saturating_add(1);
            let total = set.ranges().iter().map(|range| count(range.start(), range.end())).fold(0, u32::saturating_add);
            if total > MOST_CHARACTERS {
                return Known::nothing();
            }
            let characters = set.ranges().iter().flat_map(|range| range.start()..=range.end());
            Known::Exactly(characters.map(|one| one.to_string().to_ascii_lowercase().into_bytes()).collect())
        }
        Class::Bytes(set) => {
            let total: u32 = set.ranges().iter().map(|range| u32::from(range.end() - range.start()) + 1).sum();
            if total > MOST_CHARACTERS {
                return Known::nothing();
            }
            let bytes = set.ranges().iter().flat_map(|range| range.start()..=range.end());
            Known::Exactly(bytes.map(|byte| vec![byte.to_ascii_lowercase()]).collect())
        }
    }
}

fn known_repetition(repetition: &Repetition) -> Known {
    if repetition.min == 0 {
        return if repetition.max == Some(1) { known(&repetition.sub).or(Known::empty()) } else { Known::nothing() };
    }
    let one = known(&repetition.sub);
    let copies = repetition.min.min(MOST_COPIES);
    let several = (1..copies).fold(one.clone(), |all, _| all.then(one.clone()));
    if repetition.max == Some(copies) {
        return several;
    }
    // More may follow, but the end is that of one of them.
    match several.then(Known::nothing()) {
        Known::Roughly { starts, need, .. } => Known::Roughly { starts, ends: one.ends(), need },
        exactly @ Known::Exactly(_) => exactly,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{Case, Pattern, need};

    /// Trigrams only, in the order of the pattern: the others follow from them.
    fn shown(need: &Need) -> String {
        let list = |parts: &[Need], sign: &str| {
            let shown: Vec<_> = parts.iter().map(shown).filter(|part| !part.is_empty()).collect();
            shown.join(sign)
        };
        match need {
            Need::Anything => "*".into(),
            Need::One(Gram::Three(number)) => number.to_be_bytes()[1..].escape_ascii().to_string(),
            Need::One(Gram::Four(_)) => String::new(),
            Need::All(parts) => list(parts, " "),
            Need::Any(parts) => format!("({})", list(parts, "|")),
        }
    }

    fn needed(text: &str, case: Case) -> String {
        shown(&need(&Pattern { text: text.into(), case, ..Pattern::default() }).unwrap().0)
    }

    #[test]
    fn a_literal_needs_its_grams_in_lower_case() {
        assert_eq!(needed("AbcD", Case::Sensitive), "abc bcd");
        assert_eq!(needed("ab", Case::Sensitive), "*");
        let (need, _) = need(&Pattern { text: "aBcd".into(), ..Pattern::default() }).unwrap();
        assert!(matches!(need, Need::All(parts) if parts[0] == Need::One(Gram::Four(0x6162_6364)) && parts.len() == 3));
    }

    #[test]
    fn what_stands_beside_what_is_not_known_is_needed() {
        assert_eq!(needed(r"\w+_init\(", Case::Sensitive), "_in ini nit it(");
        assert_eq!(needed("abc.*def", Case::Sensitive), "abc def");
        assert_eq!(needed(r"^\bfoo\s+bar\b$", Case::Sensitive), "foo bar");
    }

    #[test]
    fn of_alternatives_one_is_needed_and_what_may_be_left_out_is_not() {
        assert_eq!(needed("x(foo|bar)y", Case::Sensitive), "(xba bar ary|xfo foo ooy)");
        assert_eq!(needed("foo|ba", Case::Sensitive), "*");
        assert_eq!(needed("foo(bar)?", Case::Sensitive), "(foo|foo oob oba bar)");
        assert_eq!(needed("(foo)*", Case::Sensitive), "*");
        assert_eq!(needed("(?:abcd)+", Case::Sensitive), "abc bcd");
        assert_eq!(needed("ab{3}c", Case::Sensitive), "abb bbb bbc");
        assert_eq!(needed("a[bc]d", Case::Sensitive), "(abd|acd)");
    }

    #[test]
    fn other_letters_that_are_the_same_without_case_are_spelled_out() {
        assert_eq!(needed("(?i)ABC", Case::Sensitive), "abc");
        assert_eq!(needed("akb", Case::Ignore), r"(akb|\xe2\x84\xaa \x84\xaab a\xe2\x84)");
    }

    #[test]
    fn nothing_can_be_told_of_words_and_of_line_ends() {
        assert_eq!(needed(r"\w+\s+\w+", Case::Sensitive), "*");
        let over = Pattern { text: "ab\ncd".into(), multiline: true, ..Pattern::default() };
        assert_eq!(shown(&need(&over).unwrap().0), "*");
    }

    #[test]
    fn a_list_of_many_words_needs_one_of_them_and_too_many_are_not_told_apart() {
        let words = |count: usize| (0..count).map(|at| format!("w{at:05}")).collect::<Vec<_>>().join("|");
        assert!(needed(&words(40), Case::Sensitive).contains('|'));
        assert_eq!(needed(&words(3000), Case::Sensitive), "*");
    }
}
