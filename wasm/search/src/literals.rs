//! The texts that every match of a pattern holds one of, so that a search may look for those and ask the regular expression only
//! where one stands. `regex-automata` does so too, but what makes it fast for more than one text does not exist for
//! WebAssembly, and it knows no texts inside a pattern that begins with a class in another way.

use crate::byte_set::ByteSet;
use regex_syntax::hir::{Class, Hir, HirKind};

/// A text in which some places allow more than one byte, as in a search that ignores case.
pub type Sequence = Vec<ByteSet>;

/// What every match holds one of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Required {
    /// None is shorter than [`LEAST_BYTES`].
    pub sequences: Vec<Sequence>,
    /// Each of them is a match, and there are no others.
    pub whole: bool,
}

/// A single byte is found too often to save anything.
const LEAST_BYTES: usize = 2;

/// More sequences than this are looked for no faster than the pattern.
const MOST_SEQUENCES: usize = 24;

/// Longer runs are cut: what comes later narrows nothing down.
const MOST_BYTES: usize = 48;

/// A class with more members, of one byte or of more, tells too little.
const MOST_SINGLE: usize = 16;
const MOST_WIDE: usize = 3;

/// The best texts of a pattern; nothing if some match need not hold any.
#[must_use]
pub fn required(hir: &Hir) -> Option<Required> {
    let known = look(hir);
    let whole = known.exact.is_some() && hir.properties().look_set().is_empty();
    let sequences = known.choice()?;
    (value(&sequences) > 0).then_some(Required { sequences, whole })
}

/// What is known of a part of a pattern.
#[derive(Default)]
struct Known {
    /// All texts that it matches.
    exact: Option<Vec<Sequence>>,
    /// Texts of which each match holds one.
    held: Option<Vec<Sequence>>,
}

impl Known {
    fn exact(sequences: Vec<Sequence>) -> Self {
        Self { exact: Some(sequences), held: None }
    }

    fn choice(self) -> Option<Vec<Sequence>> {
        self.exact.or(self.held)
    }
}

fn look(hir: &Hir) -> Known {
    match hir.kind() {
        // A place takes no bytes: what stands on both of its sides stands together.
        HirKind::Empty | HirKind::Look(_) => Known::exact(vec![Vec::new()]),
        HirKind::Literal(literal) => Known::exact(vec![literal.0.iter().map(|byte| ByteSet::of(*byte)).collect()]),
        HirKind::Class(class) => Known { exact: members(class), held: None },
        HirKind::Capture(capture) => look(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min == 1 && repetition.max == Some(1) => look(&repetition.sub),
        HirKind::Repetition(repetition) if repetition.min >= 1 => {
            Known { exact: None, held: look(&repetition.sub).choice() }
        }
        HirKind::Repetition(_) => Known::default(),
        HirKind::Concat(parts) => together(parts),
        HirKind::Alternation(parts) => either(parts),
    }
}

/// The members of a small class: those of one byte as one set, each other as its bytes.
fn members(class: &Class) -> Option<Vec<Sequence>> {
    let mut single = ByteSet::default();
    let mut wide = Vec::new();
    match class {
        Class::Bytes(set) => {
            set.ranges().iter().flat_map(|range| range.start()..=range.end()).for_each(|byte| single.add(byte));
        }
        Class::Unicode(set) => {
            for char in set.ranges().iter().flat_map(|range| range.start()..=range.end()) {
                if char.is_ascii() {
                    single.add(char as u8);
                } else {
                    wide.push(char.encode_utf8(&mut [0; 4]).bytes().map(ByteSet::of).collect());
                }
                if wide.len() > MOST_WIDE {
                    return None;
                }
            }
        }
    }
    if single.len() > MOST_SINGLE {
        return None;
    }
    if !single.is_empty() {
        wide.push(vec![single]);
    }
    Some(wide)
}

/// Parts that follow each other: the best run of parts whose texts are all known, or what a part between them holds.
fn together(parts: &[Hir]) -> Known {
    let mut run = vec![Vec::new()];
    let mut best: Option<Vec<Sequence>> = None;
    let mut is_one_run = true;
    for part in parts {
        let known = look(part);
        let longer = known.exact.as_ref().and_then(|exact| product(&run, exact));
        if let Some(longer) = longer {
            run = longer;
            continue;
        }
        is_one_run = false;
        better(&mut best, core::mem::take(&mut run));
        match known.exact {
            // Too much together with what stood before it, not in itself.
            Some(exact) => run = exact,
            None => {
                run = vec![Vec::new()];
                if let Some(held) = known.held {
                    better(&mut best, held);
                }
            }
        }
    }
    if is_one_run {
        return Known::exact(run);
    }
    better(&mut best, run);
    Known { exact: None, held: best }
}

fn either(parts: &[Hir]) -> Known {
    let all: Vec<Known> = parts.iter().map(look).collect();
    let is_exact = all.iter().all(|known| known.exact.is_some());
    let mut sequences = Vec::new();
    for known in all {
        let Some(choice) = known.choice() else { return Known::default() };
        sequences.extend(choice);
    }
    if sequences.len() > MOST_SEQUENCES {
        return Known::default();
    }
    if is_exact { Known::exact(sequences) } else { Known { exact: None, held: Some(sequences) } }
}

/// Each of the first followed by each of the second; nothing if that is too much.
fn product(first: &[Sequence], second: &[Sequence]) -> Option<Vec<Sequence>> {
    if first.len() * second.len() > MOST_SEQUENCES {
        return None;
    }
    let mut all = Vec::with_capacity(first.len() * second.len());
    for one in first {
        for other in second {
            if one.len() + other.len() > MOST_BYTES {
                return None;
            }
            all.push([one.as_slice(), other].concat());
        }
    }
    Some(all)
}

fn better(best: &mut Option<Vec<Sequence>>, found: Vec<Sequence>) {
    if best.as_deref().map_or(0, value) < value(&found) {
        *best = Some(found);
    }
}

/// How much looking for the sequences saves; 0 is nothing.
fn value(sequences: &[Sequence]) -> usize {
    let shortest = sequences.iter().map(Vec::len).min().unwrap_or(0);
    if shortest < LEAST_BYTES { 0 } else { shortest.min(12) * 8 / (sequences.len() + 3) + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_syntax::ParserBuilder;

    fn texts(pattern: &str) -> Option<(Vec<String>, bool)> {
        let hir = ParserBuilder::new().utf8(false).build().parse(pattern).unwrap();
        let required = required(&hir)?;
        let show = |sequence: &Sequence| sequence.iter().map(|set| char::from(set.least())).collect();
        Some((required.sequences.iter().map(show).collect(), required.whole))
    }

    fn one(text: &str, whole: bool) -> Option<(Vec<String>, bool)> {
        Some((vec![text.to_owned()], whole))
    }

    #[test]
    fn plain_text_is_all_that_is_looked_for() {
        assert_eq!(texts("abc"), one("abc", true));
        assert_eq!(texts("(?i)abc"), one("ABC", true));
        assert_eq!(texts("abc|def"), Some((vec!["abc".into(), "def".into()], true)));
    }

    #[test]
    fn texts_inside_a_pattern_are_found_and_are_no_match_by_themselves() {
        assert_eq!(texts(r"\w+_probe\s*\("), one("_probe", false));
        assert_eq!(texts(r"\bab\b"), one("ab", false));
        assert_eq!(texts(r"(ab)+c?"), one("ab", false));
        assert_eq!(texts(r"x+(abc|defg)*yy"), one("yy", false));
    }

    #[test]
    fn a_pattern_that_needs_no_text_has_none() {
        for pattern in [r"\w+", "a?", "a", r"abc|\d", "(abc)?", "a|bc", "[a-z]{2}"] {
            assert_eq!(texts(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn letters_with_another_case_of_more_bytes_stand_for_each_of_them() {
        let (sequences, whole) = texts("(?i)sky").unwrap();
        assert!(whole);
        assert_eq!(sequences.len(), 4);
    }
}
