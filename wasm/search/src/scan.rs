//! Finds the matching lines of one file, as ripgrep's searcher does.

use crate::choose::keep_first_matches;
use crate::lines;
use crate::pattern::Matcher;
use crate::reach::{SNIFFED_BYTES, reach};
use core::ops::Range;
use memchr::memchr;

/// A line search looks at so many bytes for a NUL before it searches: this is what tells a binary file in practice.
pub const LINE_SNIFFED_BYTES: usize = 1024;

/// What one file holds. Kept between files so that its memory is used again.
#[derive(Debug, Default)]
pub struct Found {
    /// Matching lines in order, without their line ends; a match over several lines gives each of them.
    pub lines: Vec<Range<usize>>,
    /// Matches of a multi-line search in order; a search by line finds them again when lines are shown.
    pub matches: Vec<Range<usize>>,
    /// Matching lines; matches if they may span lines.
    pub count: u32,
    /// Bytes that were searched: all, or those before a NUL byte.
    pub end: usize,
    /// A NUL byte was met.
    pub binary: bool,
    /// There are as many lines as were wanted at most: what matches after them is context.
    pub limited: bool,
}

/// What is wanted of a scan.
#[derive(Clone, Copy, Debug)]
pub struct Want {
    /// Keep the ranges of the lines, not only their number.
    pub keep_lines: bool,
    /// Stop at this many; 0 means never.
    pub budget: u32,
    /// Bytes that ripgrep's first read of such a text gives, see [`reach`]; nothing where the text ends before the first NUL byte
    /// that counts.
    pub first_read: Option<usize>,
    /// Where matches may span lines, keep the lines of so many; 0 means all.
    pub max_matches: u32,
    /// Bytes at the front, whole lines without a NUL byte, that were searched and have no match. Only for a search by line.
    pub searched: usize,
}

/// Scans a text from its start.
pub fn scan(matcher: &Matcher, text: &[u8], want: Want, found: &mut Found) {
    found.lines.clear();
    found.matches.clear();
    found.count = 0;
    found.end = text.len();
    found.binary = false;
    found.limited = false;
    if matcher.spans_lines() {
        if memchr(0, &text[..text.len().min(SNIFFED_BYTES)]).is_some() {
            found.end = 0;
            found.binary = true;
            return;
        }
        if matcher.may_match(text) {
            scan_matches(matcher, text, want, found);
        }
        return;
    }
    if want.first_read.is_some() && memchr(0, &text[..text.len().min(LINE_SNIFFED_BYTES)]).is_some() {
        found.end = searched(text, want.first_read);
        found.binary = true;
    }
    let text = &text[..found.end];
    if matcher.sees_text_ends() {
        scan_each_line(matcher, text, want, found);
    } else {
        scan_candidates(matcher, text, want, found);
    }
}

/// Bytes of a text that are searched.
pub(crate) fn searched(text: &[u8], first_read: Option<usize>) -> usize {
    first_read.map_or(text.len(), |first_read| reach(text, first_read))
}

impl Found {
    /// Takes a matching line. False when the scan is over.
    fn take(&mut self, text: &[u8], line: Range<usize>, want: Want) -> bool {
        if self.count == 0 && !self.binary {
            // Only files that match pay for the look at all of their bytes.
            self.end = searched(text, want.first_read);
            self.binary = self.end < text.len();
        }
        // What ends before a NUL byte ends with a line end, which the last line has behind it.
        if line.end + usize::from(self.binary) > self.end {
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
    let mut from = want.searched;
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
#[inline(never)]
fn scan_each_line(matcher: &Matcher, text: &[u8], want: Want, found: &mut Found) {
    let mut next = lines::at(text, want.searched);
    while let Some(line) = next {
        next = lines::after(text, line.end);
        let shown = matcher.without_return(&text[line.clone()]);
        if matcher.candidate(shown, 0).is_some() && !found.take(text, line, want) {
            return;
        }
    }
}

/// For matches that may span lines. A NUL byte matters only in lines that would be shown: ripgrep looks nowhere else.
#[inline(never)]
fn scan_matches(matcher: &Matcher, text: &[u8], want: Want, found: &mut Found) {
    let has_nul = memchr(0, text).is_some();
    let (mut from, mut last_end) = (0, None);
    let mut last = 0..0;
    while from < text.len() {
        let Some(at) = matcher.find(text, from) else { break };
        if at.start >= text.len() && text.ends_with(b"\n") {
            break;
        }
        from = if at.is_empty() { at.end + 1 } else { at.end };
        // An empty match that touches the one before it is none of its own; its line matches all the same.
        if at.is_empty() && last_end == Some(at.end) {
            if want.keep_lines || has_nul {
                let line = lines::around(text, at.start);
                keep_covered(text, &at, line, found);
            }
            continue;
        }
        last_end = Some(at.end);
        let first = lines::around(text, at.start);
        let is_own = at.start < text.len() || found.count == 0 || !touches(text, &last, &first);
        last = at.clone();
        found.count += u32::from(is_own);
        if want.keep_lines || has_nul {
            keep_covered(text, &at, first, found);
            if is_own {
                found.matches.push(at);
            }
        }
        if !has_nul && want.budget > 0 && found.count >= want.budget {
            break;
        }
    }
    if want.max_matches > 0 {
        keep_first_matches(text, want.max_matches as usize, found);
    }
    if has_nul {
        end_at_nul(text, found);
    }
}

/// True if a match ends in a line that follows another, or before it. An empty match at the end of a text without a line end is
/// not counted there: ripgrep's printers look for the matches of such lines again, and only before their end.
fn touches(text: &[u8], earlier: &Range<usize>, line: &Range<usize>) -> bool {
    lines::end_from(text, if earlier.is_empty() { earlier.end } else { earlier.end - 1 }) + 1 >= line.start
}

/// Keeps each line that the match touches and that no earlier match did.
fn keep_covered(text: &[u8], covers: &Range<usize>, first: Range<usize>, found: &mut Found) {
    // The line end of the last line belongs to that line: a match that ends with it does not touch the next one.
    let last = if covers.is_empty() { covers.end } else { covers.end - 1 };
    let unseen = found.lines.last().map_or(0, |line| line.end + 1);
    let mut next = Some(first);
    while let Some(line) = next.filter(|line| line.start <= last) {
        next = lines::after(text, line.end);
        if line.start >= unseen {
            found.lines.push(line);
        }
    }
}

/// Drops the matching lines from the first group of adjacent ones that has a NUL byte in it.
fn end_at_nul(text: &[u8], found: &mut Found) {
    let mut group = 0;
    for at in 0..found.lines.len() {
        let line = found.lines[at].clone();
        if at > 0 && found.lines[at - 1].end + 1 != line.start {
            group = at;
        }
        if memchr(0, &text[line]).is_some() {
            found.end = found.lines[group].start;
            found.binary = true;
            found.lines.truncate(group);
            found.matches.retain(|at| at.start < found.end);
            found.count = u32::try_from(found.matches.len()).unwrap_or(u32::MAX);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{Pattern, compile};

    fn found(pattern: &str, multiline: bool, text: &str) -> (Vec<String>, u32) {
        let found = scanned(&Pattern { text: pattern.into(), multiline, ..Pattern::default() }, text.as_bytes());
        (found.lines.iter().map(|line| text[line.clone()].to_owned()).collect(), found.count)
    }

    fn scanned(pattern: &Pattern, text: &[u8]) -> Found {
        let mut found = Found::default();
        scan(
            &compile(pattern).unwrap(),
            text,
            Want { keep_lines: true, budget: 0, first_read: Some(3), max_matches: 0, searched: 0 },
            &mut found,
        );
        found
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
    fn anchors_of_the_text_do_not_see_the_return_before_a_line_end() {
        assert_eq!(lines(r"a\z", "a\r\nb\r\n"), ["a\r"]);
    }

    #[test]
    fn a_search_ends_at_its_budget() {
        let matcher = compile(&Pattern { text: "a".into(), ..Pattern::default() }).unwrap();
        let mut found = Found::default();
        scan(
            &matcher,
            b"a\na\na\n",
            Want { keep_lines: true, budget: 2, first_read: Some(3), max_matches: 0, searched: 0 },
            &mut found,
        );
        assert_eq!(found.count, 2);
    }

    #[test]
    fn a_line_search_ends_with_the_piece_before_a_nul() {
        let pattern = Pattern { text: "a".into(), ..Pattern::default() };
        let early = scanned(&pattern, b"a\n\0\na\n");
        assert_eq!((early.count, early.binary), (0, true));
        let late = scanned(&pattern, &[b"a\n".repeat(60_000), b"\0\na\n".to_vec()].concat());
        assert_eq!((late.count, late.binary), (32_769, true));
    }

    #[test]
    fn an_empty_line_at_the_start_is_not_searched_if_nothing_is() {
        let pattern = Pattern { text: "^".into(), ..Pattern::default() };
        let text = [b"\n".as_slice(), &b"a\n".repeat(2_000), b"\0"].concat();
        let mut found = Found::default();
        for (first_read, count) in [(usize::MAX, 0), (3, 2)] {
            let want = Want { keep_lines: true, budget: 0, first_read: Some(first_read), max_matches: 0, searched: 0 };
            scan(&compile(&pattern).unwrap(), &text, want, &mut found);
            assert_eq!((found.count, found.binary), (count, true));
        }
    }

    #[test]
    fn a_multi_line_search_sees_a_nul_only_where_it_looks() {
        let pattern = Pattern { text: "a.b".into(), multiline: true, ..Pattern::default() };
        let far = b"-\n".repeat(40_000);
        let seen = |text: &[u8]| {
            let found = scanned(&pattern, &[far.as_slice(), text].concat());
            (found.count, found.binary)
        };
        assert_eq!(seen(b"a\nb\n\0\na\nb"), (2, false));
        assert_eq!(seen(b"a\nb\n-\na\nb\0\n"), (1, true));
        assert!(scanned(&pattern, b"a\nb\n\0").binary);
    }

    #[test]
    fn an_empty_match_beside_another_is_not_counted() {
        assert_eq!(found(r"a|$", true, "a\n").1, 1);
        assert_eq!(found(r"^", true, "a\nb\n").1, 2);
    }
}
