//! Finds the matching lines of one file, as ripgrep's searcher does.

use crate::lines;
use crate::pattern::Matcher;
use core::ops::Range;
use memchr::memchr;

/// What one file holds. Kept between files so that its memory is used again.
#[derive(Debug, Default)]
pub struct Found {
    /// Matching lines in order, without their line ends; a match over several lines gives each of them.
    pub lines: Vec<Range<usize>>,
    /// Matching lines, or matches in a multi-line search.
    pub count: u32,
    /// Bytes before which the search ended because a NUL byte came up after a match, or the length of the text.
    pub end: usize,
}

/// What is wanted of a scan.
#[derive(Clone, Copy, Debug)]
pub struct Want {
    /// Matches may span lines.
    pub multiline: bool,
    /// Keep the ranges of the lines, not only their number.
    pub keep_lines: bool,
    /// Stop at this many; 0 means never.
    pub budget: u32,
}

/// Scans a text from its start.
pub fn scan(matcher: &Matcher, text: &[u8], want: Want, found: &mut Found) {
    found.lines.clear();
    found.count = 0;
    found.end = text.len();
    if want.multiline {
        scan_matches(matcher, text, want, found);
    } else if matcher.sees_text_ends() {
        scan_each_line(matcher, text, want, found);
    } else {
        scan_candidates(matcher, text, want, found);
    }
}

impl Found {
    /// Takes a matching line. False when the scan is over.
    fn take(&mut self, text: &[u8], line: Range<usize>, want: Want) -> bool {
        if self.count == 0 {
            // Only files that match pay for the look at all of their bytes. ripgrep too gives up at a NUL, wherever it is.
            self.end = memchr(0, text).unwrap_or(text.len());
        }
        if line.end > self.end {
            return false;
        }
        self.count += 1;
        if want.keep_lines {
            self.lines.push(line);
        }
        want.budget == 0 || self.count < want.budget
    }
}

/// The matcher runs over the whole text and can't match a line end, so lines are looked for only where something is found.
fn scan_candidates(matcher: &Matcher, text: &[u8], want: Want, found: &mut Found) {
    let mut from = 0;
    while from < text.len() {
        let Some(at) = matcher.candidate(text, from) else { return };
        // An empty match after the last line end is in no line.
        if at == text.len() && text.ends_with(b"\n") {
            return;
        }
        let line = lines::around(text, at);
        from = line.end + 1;
        if !found.take(text, line, want) {
            return;
        }
    }
}

/// For patterns with `\A` or `\z`, which mean the start and end of a line here, as in ripgrep.
fn scan_each_line(matcher: &Matcher, text: &[u8], want: Want, found: &mut Found) {
    let mut next = (!text.is_empty()).then(|| lines::around(text, 0));
    while let Some(line) = next {
        next = lines::after(text, line.end);
        if matcher.candidate(&text[line.clone()], 0).is_some() && !found.take(text, line, want) {
            return;
        }
    }
}

fn scan_matches(matcher: &Matcher, text: &[u8], want: Want, found: &mut Found) {
    let mut from = 0;
    while from <= text.len() {
        let Some(found_at) = matcher.find(text, from) else { return };
        if found_at.start >= text.len() && (text.is_empty() || text.ends_with(b"\n")) {
            return;
        }
        from = if found_at.is_empty() { found_at.end + 1 } else { found_at.end };
        let first = lines::around(text, found_at.start);
        let more = found.take(text, first.clone(), Want { keep_lines: false, ..want });
        if found.end < first.end {
            return;
        }
        if want.keep_lines {
            keep_covered(text, &found_at, first, found);
        }
        if !more {
            return;
        }
    }
}

/// Keeps each line that the match touches and that no earlier match did, up to where the search ended.
fn keep_covered(text: &[u8], covers: &Range<usize>, first: Range<usize>, found: &mut Found) {
    // The line end of the last line belongs to that line: a match that ends with it does not touch the next one.
    let last = if covers.is_empty() { covers.end } else { covers.end - 1 };
    let unseen = found.lines.last().map_or(0, |line| line.end + 1);
    let mut next = Some(first);
    while let Some(line) = next.filter(|line| line.start <= last && line.end <= found.end) {
        next = lines::after(text, line.end);
        if line.start >= unseen {
            found.lines.push(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{Pattern, compile};

    fn found(pattern: &str, multiline: bool, text: &str) -> (Vec<String>, u32) {
        let matcher = compile(&Pattern { text: pattern.into(), multiline, ..Pattern::default() }).unwrap();
        let mut found = Found::default();
        scan(&matcher, text.as_bytes(), Want { multiline, keep_lines: true, budget: 0 }, &mut found);
        (found.lines.iter().map(|line| text[line.clone()].to_owned()).collect(), found.count)
    }

    fn lines(pattern: &str, text: &str) -> Vec<String> {
        found(pattern, false, text).0
    }

    #[test]
    fn a_line_search_reports_each_matching_line_once() {
        assert_eq!(lines("a", "aa\nb\nca\n"), ["aa", "ca"]);
        assert_eq!(lines("foo.*bar", "foo bar\nfoo\nbar\nxfoobarx"), ["foo bar", "xfoobarx"]);
    }

    #[test]
    fn a_class_never_crosses_a_line_end_in_a_line_search() {
        assert_eq!(lines(r"a\s+b", "a\nb\na  b\n"), ["a  b"]);
        assert_eq!(lines("a[^x]b", "a\nb\na.b\n"), ["a.b"]);
    }

    #[test]
    fn empty_matches_are_in_lines_only() {
        assert_eq!(lines("^$", "a\n\nb\n"), [""]);
        assert_eq!(lines("$", "a\nb"), ["a", "b"]);
        assert_eq!(lines("", "a\nb\n"), ["a", "b"]);
        assert_eq!(lines("x*", ""), [""; 0]);
    }

    #[test]
    fn anchors_of_the_text_mean_the_line() {
        assert_eq!(lines(r"\Aa", "a\nba\na2"), ["a", "a2"]);
    }

    #[test]
    fn a_line_end_of_two_bytes_is_a_line_end() {
        assert_eq!(lines("a$", "a\r\nb\r\nca\r\n"), ["a\r", "ca\r"]);
        assert_eq!(lines(r"\r$", "a\r\nb\n"), ["a\r"]);
    }

    #[test]
    fn a_match_over_lines_gives_each_of_them_once() {
        assert_eq!(found(r"b\nc", true, "a\nb\nc\nd\n"), (vec!["b".into(), "c".into()], 1));
        assert_eq!(found(r"(?s)a.*?b", true, "a\nb a\nb\n"), (vec!["a".into(), "b a".into(), "b".into()], 2));
        assert_eq!(found("$", true, "a\nb\n"), (vec!["a".into(), "b".into()], 2));
    }

    #[test]
    fn a_search_ends_at_its_budget() {
        let matcher = compile(&Pattern { text: "a".into(), ..Pattern::default() }).unwrap();
        let mut found = Found::default();
        scan(&matcher, b"a\na\na\n", Want { multiline: false, keep_lines: true, budget: 2 }, &mut found);
        assert_eq!(found.count, 2);
    }

    #[test]
    fn a_nul_after_the_sniffed_bytes_ends_the_search_there() {
        let matcher = compile(&Pattern { text: "a".into(), ..Pattern::default() }).unwrap();
        let mut found = Found::default();
        scan(&matcher, b"a\n\0\na\n", Want { multiline: false, keep_lines: true, budget: 0 }, &mut found);
        assert_eq!(found.count, 1);
    }

    #[test]
    fn a_match_over_a_nul_is_shown_up_to_it() {
        let pattern = Pattern { text: "a.*a".into(), multiline: true, ..Pattern::default() };
        let mut found = Found::default();
        scan(
            &compile(&pattern).unwrap(),
            b"a\n\0\na\n",
            Want { multiline: true, keep_lines: true, budget: 0 },
            &mut found,
        );
        assert_eq!((found.lines.len(), found.lines[0].clone(), found.end), (1, 0..1, 2));
    }
}
