//! Which lines of a file are wanted, where these are not just those that match: all others, or only the first few.
//!
//! The rules are those of ripgrep's searcher and printers. A plain search does not come here.

use crate::lines;
use crate::pattern::Matcher;
use crate::scan::{Found, Want, scan, searched};
use core::ops::Range;
use memchr::memchr;

/// What is wanted beyond the lines that match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The lines that do not match are wanted.
    pub invert: bool,
    /// At most so many lines of each file; matches, where they may span lines. 0 means all.
    pub max_count: u32,
    /// Each match counts, not each line.
    pub each_match: bool,
    /// It is asked which files have no line to show, so that a NUL byte matters wherever it is.
    pub without: bool,
}

impl Choice {
    /// True if every line that matches is wanted and nothing else.
    #[must_use]
    pub fn is_plain(self) -> bool {
        self == Self::default()
    }
}

/// What is wanted of a text, and the bytes that ripgrep's first read of it gives, see [`Want`].
#[derive(Clone, Copy, Debug)]
pub struct Chosen {
    /// Which lines.
    pub choice: Choice,
    /// Bytes.
    pub first_read: Option<usize>,
}

/// Scans a text from its start and keeps what is wanted.
pub fn scan_chosen(matcher: &Matcher, text: &[u8], chosen: Chosen, found: &mut Found) {
    let Chosen { choice, first_read } = chosen;
    let budget = if matcher.spans_lines() || choice.invert { 0 } else { choice.max_count };
    scan(
        matcher,
        text,
        Want { keep_lines: true, budget, first_read, max_matches: choice.max_count, searched: 0 },
        found,
    );
    if choice.invert {
        invert(matcher, text, first_read, found);
        if choice.max_count > 0 {
            found.lines.truncate(choice.max_count as usize);
        }
        found.count = length(&found.lines);
    } else if matcher.spans_lines() {
        found.count = length(&found.matches);
    } else if choice.each_match {
        found.count = count_matches(matcher, text, found);
    }
    let wanted = if matcher.spans_lines() && !choice.invert { found.matches.len() } else { found.lines.len() };
    found.limited = choice.max_count > 0 && wanted >= choice.max_count as usize;
    // Who has enough does not read on to where the NUL byte is.
    found.binary = found.binary && (!found.limited || choice.invert);
    if choice.without && found.count == 0 && !matcher.spans_lines() {
        found.binary = memchr(0, text).is_some();
    }
}

/// The matches in a line: where they are, from `offset` on. An empty one that touches the one before it is none of its own.
pub fn each_match(matcher: &Matcher, text: &[u8], line: &Range<usize>, mut take: impl FnMut(Range<usize>)) {
    // The return before a line end belongs to the line end.
    let has_end = line.end < text.len();
    let end = line.end - usize::from(has_end && matcher.without_return(&text[line.clone()]).len() < line.len());
    // Patterns that see where texts end take the line for the text.
    let (seen, offset) =
        if matcher.sees_text_ends() { (&text[line.start..end], line.start) } else { (&text[..end], 0) };
    let (mut from, mut last_end) = (line.start - offset, None);
    while let Some(found) = matcher.find(seen, from) {
        let touches = found.is_empty() && last_end == Some(found.end);
        // An empty match behind a line that no line end follows is behind the text.
        if !touches && (has_end || !found.is_empty() || found.start + offset < line.end) {
            take(found.start + offset..found.end + offset);
        }
        last_end = Some(found.end);
        from = if found.is_empty() { found.end + 1 } else { found.end };
        if from > seen.len() {
            break;
        }
    }
}

fn count_matches(matcher: &Matcher, text: &[u8], found: &Found) -> u32 {
    let mut count = 0;
    for line in &found.lines {
        let before = count;
        each_match(matcher, text, line, |_| count += 1);
        count = count.max(before + 1);
    }
    count
}

/// Turns the choice of lines round.
fn invert(matcher: &Matcher, text: &[u8], first_read: Option<usize>, found: &mut Found) {
    let matching = core::mem::take(&mut found.lines);
    if matcher.spans_lines() {
        found.matches.clear();
        // A NUL byte in the first piece: nothing was searched, and nothing is.
        if !(found.binary && found.end == 0) {
            invert_matches(matcher, text, found);
        }
        return;
    }
    found.end = searched(text, first_read);
    found.binary = found.end < text.len();
    let mut excluded = matching.into_iter().peekable();
    let mut next = (found.end > 0).then(|| lines::around(text, 0));
    while let Some(line) = next.filter(|line| line.start < found.end) {
        next = lines::after(&text[..found.end], line.end);
        if excluded.peek().is_some_and(|other| other.start == line.start) {
            excluded.next();
        } else {
            found.lines.push(line);
        }
    }
}

/// What no match over lines touches. Unlike the matches themselves, the next one is looked for behind the lines of the last, and a
/// NUL byte ends the search at the line that has it.
fn invert_matches(matcher: &Matcher, text: &[u8], found: &mut Found) {
    let mut from = 0;
    found.end = text.len();
    found.binary = false;
    while from < text.len() {
        let at = matcher.find(&text[from..], 0).map(|at| at.start + from..at.end + from);
        let (until, after) = match &at {
            None => (text.len(), text.len()),
            Some(at) => {
                let first = lines::around(text, at.start);
                let end = if at.is_empty() { lines::end_from(text, at.end) } else { lines::end_from(text, at.end - 1) };
                (first.start.max(from), end + 1)
            }
        };
        let mut next = (from < until).then(|| from..lines::end_from(text, from));
        while let Some(line) = next.filter(|line| line.start < until) {
            next = lines::after(text, line.end);
            if memchr(0, &text[line.clone()]).is_some() {
                found.end = line.start;
                found.binary = true;
                return;
            }
            found.lines.push(line);
        }
        from = after;
    }
}

/// Keeps the lines of the first `limit` matches, and all matches that start in these lines.
pub(crate) fn keep_first_matches(text: &[u8], limit: usize, found: &mut Found) {
    let Some(last) = found.matches.get(limit - 1).cloned() else { return };
    let end = lines::end_from(text, if last.is_empty() { last.end } else { last.end - 1 });
    found.lines.retain(|line| line.start <= end);
    found.matches.retain(|at| at.start <= end);
}

fn length<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{Pattern, compile};

    fn chosen(pattern: &str, multiline: bool, choice: Choice, text: &str) -> (Vec<String>, u32) {
        let matcher = compile(&Pattern { text: pattern.into(), multiline, ..Pattern::default() }).unwrap();
        let mut found = Found::default();
        scan_chosen(&matcher, text.as_bytes(), Chosen { choice, first_read: Some(3) }, &mut found);
        (found.lines.iter().map(|line| text[line.clone()].to_owned()).collect(), found.count)
    }

    #[test]
    fn what_does_not_match_is_wanted_when_the_choice_is_turned_round() {
        let invert = Choice { invert: true, ..Choice::default() };
        assert_eq!(chosen("a", false, invert, "a\nb\n\nca\nd"), (vec!["b".into(), String::new(), "d".into()], 3));
        assert_eq!(chosen("a", false, invert, "a\na\n"), (vec![], 0));
        assert_eq!(chosen("a\nb", true, invert, "x\na\nb\ny\n"), (vec!["x".into(), "y".into()], 2));
        assert_eq!(chosen("a", false, invert, "b\n\0\n").1, 0);
    }

    #[test]
    fn a_limit_takes_the_first_lines_or_matches() {
        let two = Choice { max_count: 2, ..Choice::default() };
        assert_eq!(chosen("a", false, two, "a1\na2\na3\n"), (vec!["a1".into(), "a2".into()], 2));
        assert_eq!(chosen("a\n|b", true, two, "a\nb b\na\n").0, ["a", "b b"]);
        let inverted = Choice { invert: true, max_count: 1, ..Choice::default() };
        assert_eq!(chosen("a", false, inverted, "a\nb\nc\n"), (vec!["b".into()], 1));
    }

    #[test]
    fn each_match_of_a_line_can_be_counted() {
        let each = Choice { each_match: true, ..Choice::default() };
        assert_eq!(chosen("a", false, each, "aa\nb\na").1, 3);
        assert_eq!(chosen("x*", false, each, "ab\r\n").1, 3);
        assert_eq!(chosen("x*", false, each, "ab").1, 2);
    }

    #[test]
    fn a_nul_byte_anywhere_keeps_a_file_from_being_one_without_matches() {
        let matcher = compile(&Pattern { text: "a".into(), ..Pattern::default() }).unwrap();
        let text = [b"b\n".repeat(10_000), vec![0]].concat();
        let mut found = Found::default();
        let choice = Choice { without: true, ..Choice::default() };
        scan_chosen(&matcher, &text, Chosen { choice, first_read: Some(3) }, &mut found);
        assert!(found.binary);
    }
}
