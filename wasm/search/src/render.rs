//! Matching lines with their context, as ripgrep prints them without headings.

use crate::choose::each_match;
use crate::lines;
use crate::pattern::Matcher;
use crate::scan::Found;
use core::ops::Range;
use memchr::memchr;

/// How lines are shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shape {
    /// Lines of context before each matching line.
    pub before: u32,
    /// Lines of context after each matching line.
    pub after: u32,
    /// Put the line's number after the name.
    pub line_numbers: bool,
    /// Longer lines are cut; 0 means never.
    pub max_line_bytes: usize,
    /// Say where in each line the matches are.
    pub spans: bool,
    /// Show the matches alone, each on a line of its own.
    pub only_matching: bool,
    /// The lines are those that do not match.
    pub inverted: bool,
}

/// Text without a line end at its end, and its number of lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// `\n` between lines; what was not UTF-8 is U+FFFD.
    pub text: String,
    /// Lines in `text`, separators included.
    pub lines: u32,
    /// For each match in each line: the place of the line in `text`, the line's number in the file from 1, and where in the
    /// line, in bytes from 0, the match starts and ends.
    pub spans: Vec<u32>,
    /// Lines that match, or matches where they may span lines, of which these are the lines or the first of them.
    pub matches: u32,
}

/// What separates groups of lines that do not touch each other.
const GROUP_SEPARATOR: &str = "--";

/// How far the lines of a text have been shown, where its parts are shown one after the other.
#[derive(Debug)]
pub struct Shown {
    /// Byte up to which line ends were counted, and the number of the line that starts there.
    counted: usize,
    number: usize,
    /// Where the first line that was not shown yet starts.
    next: usize,
    /// That line does not follow the last one that was shown.
    is_apart: bool,
    /// Any line was shown.
    any: bool,
    /// Lines of context still to be shown after the last match.
    owed: u32,
}

impl Default for Shown {
    fn default() -> Self {
        Self { counted: 0, number: 1, next: 0, is_apart: false, any: false, owed: 0 }
    }
}

impl Shown {
    /// True if the part that follows begins with context.
    #[must_use]
    pub fn is_owed(&self) -> bool {
        self.owed > 0
    }

    /// The text loses its first bytes, which end with a line.
    pub fn drop_front(&mut self, text: &[u8], bytes: usize) {
        self.number += lines::count(text.get(self.counted..bytes).unwrap_or_default());
        self.counted = self.counted.saturating_sub(bytes);
        self.is_apart |= self.next < bytes;
        self.next = self.next.saturating_sub(bytes);
    }
}

/// Shows the lines that were found, each after `name`; stops after `max_lines` lines unless that is 0.
#[must_use]
pub fn render(source: &Source<'_>, found: &Found, name: &str, max_lines: u32) -> Rendered {
    render_part(source, found, &mut Shown::default(), (name, max_lines))
}

/// Shows the lines that were found in a part of a text, of which other parts may have been shown before.
#[must_use]
pub fn render_part(source: &Source<'_>, found: &Found, shown: &mut Shown, (name, max_lines): (&str, u32)) -> Rendered {
    let has_nul = source.matcher.spans_lines() && memchr(0, source.text).is_some();
    let out = Rendered { matches: found.count, ..Rendered::default() };
    let mut page = Page { source, found, shown, has_nul, name, max_lines, out, first_match: 0 };
    let first = found.lines.first().map_or(usize::MAX, |line| line.start);
    if page.context_after(first) {
        for (place, line) in found.lines.iter().enumerate() {
            let until = found.lines.get(place + 1).map_or(usize::MAX, |following| following.start);
            if !page.group(line, until) {
                break;
            }
        }
    }
    page.out
}

/// What is shown, and how.
#[derive(Debug)]
pub struct Source<'a> {
    /// The text that was searched.
    pub text: &'a [u8],
    /// Finds the match in a line that is too long to be shown whole.
    pub matcher: &'a Matcher,
    /// How lines are shown.
    pub shape: Shape,
}

struct Page<'a> {
    source: &'a Source<'a>,
    found: &'a Found,
    shown: &'a mut Shown,
    /// A search over lines met a NUL byte somewhere: ripgrep gives up where it would show one.
    has_nul: bool,
    name: &'a str,
    max_lines: u32,
    out: Rendered,
    /// The first match that may touch the next line.
    first_match: usize,
}

impl Page<'_> {
    /// Shows one matching line with its context; the context after it ends where the next match starts.
    fn group(&mut self, line: &Range<usize>, until: usize) -> bool {
        let Source { text, shape, .. } = *self.source;
        let mut start = line.start;
        for _ in 0..shape.before {
            match lines::before(text, start) {
                Some(earlier) if earlier.start >= self.shown.next => start = earlier.start,
                _ => break,
            }
        }
        let has_context = shape.before > 0 || shape.after > 0;
        let is_apart = self.shown.any && (self.shown.is_apart || start > self.shown.next);
        if has_context && is_apart && !self.put_line(|out| out.push_str(GROUP_SEPARATOR)) {
            return false;
        }
        while start < line.start {
            let context = start..lines::end_from(text, start);
            start = context.end + 1;
            if !self.show(&context, '-') {
                return false;
            }
        }
        if !self.show(line, ':') {
            return false;
        }
        self.shown.owed = shape.after;
        self.context_after(until)
    }

    /// Shows the lines after a match that are still to be shown, as far as the text has them and no match begins.
    fn context_after(&mut self, until: usize) -> bool {
        while self.shown.owed > 0 {
            let Some(line) = lines::at(self.source.text, self.shown.next) else { return true };
            if line.start >= until {
                self.shown.owed = 0;
                return true;
            }
            self.shown.owed -= 1;
            // No more lines were wanted, but one that would be is still told from the others.
            let is_wanted = self.found.limited && until == usize::MAX && self.is_wanted(&line);
            if !self.show(&line, if is_wanted { ':' } else { '-' }) {
                return false;
            }
        }
        true
    }

    fn is_wanted(&self, line: &Range<usize>) -> bool {
        let Source { text, matcher, shape } = self.source;
        matcher.candidate(matcher.without_return(&text[line.clone()]), 0).is_some() != shape.inverted
    }

    fn show(&mut self, line: &Range<usize>, mark: char) -> bool {
        let Source { text, shape, .. } = self.source;
        if self.has_nul && memchr(0, &text[line.clone()]).is_some() {
            return false;
        }
        self.shown.number += lines::count(&text[self.shown.counted..line.start]);
        self.shown.counted = line.start;
        self.shown.next = line.end + 1;
        self.shown.is_apart = false;
        let body = &text[line.clone()];
        // At the end of the text there is no line end that it could be a part of.
        let body = if line.end < text.len() { body.strip_suffix(b"\r").unwrap_or(body) } else { body };
        if shape.only_matching && mark == ':' {
            return self.show_matches(line, body.len());
        }
        let placed = self.put_body(body, mark);
        if placed && shape.spans && mark == ':' && !shape.inverted {
            for part in self.parts(line, body.len()) {
                push_span(&mut self.out, self.shown.number, part, line.start);
            }
        }
        placed
    }

    /// Shows the matches in a line, or their parts, without what is around them.
    fn show_matches(&mut self, line: &Range<usize>, shown: usize) -> bool {
        let Source { text, matcher, shape } = self.source;
        let spans_lines = matcher.spans_lines();
        let mut parts = self.parts(line, shown);
        if spans_lines {
            parts.retain(|part| !part.is_empty());
        } else if parts.is_empty() {
            // An empty match at the end of a text without a line end is none, but the line is one that matches.
            parts.push(line.start..line.start + shown);
        }
        for part in parts {
            if !self.put_body(&text[part.clone()], ':') {
                return false;
            }
            if shape.spans {
                push_span(&mut self.out, self.shown.number, part, line.start);
            }
        }
        true
    }

    fn put_body(&mut self, body: &[u8], mark: char) -> bool {
        let Source { matcher, shape, .. } = self.source;
        let (name, number) = (self.name, self.shown.number);
        self.put_line(|out| {
            out.push_str(name);
            out.push(mark);
            if shape.line_numbers {
                out.push_str(&number.to_string());
                out.push(mark);
            }
            if shape.max_line_bytes == 0 || body.len() <= shape.max_line_bytes {
                out.push_str(&String::from_utf8_lossy(body));
            } else {
                push_cut(out, body, matcher, shape.max_line_bytes);
            }
        })
    }

    /// Where the matches in the line are that is shown now. A match over several lines has a part in each.
    fn parts(&mut self, line: &Range<usize>, shown: usize) -> Vec<Range<usize>> {
        let Source { text, matcher, .. } = self.source;
        let end = line.start + shown;
        let mut parts = Vec::new();
        if !matcher.spans_lines() {
            each_match(matcher, text, line, |found| parts.push(found));
            return parts;
        }
        let earliest = self.first_match;
        for (passed, found) in self.found.matches[earliest..].iter().enumerate() {
            if found.start > end {
                break;
            }
            if found.end > line.start || (found.is_empty() && found.end == line.start) {
                parts.push(found.start.max(line.start)..found.end.min(end).max(found.start.max(line.start)));
            } else {
                self.first_match = earliest + passed;
            }
        }
        parts
    }

    /// False once the page is full.
    fn put_line(&mut self, write: impl FnOnce(&mut String)) -> bool {
        if self.max_lines > 0 && self.out.lines == self.max_lines {
            return false;
        }
        if self.out.lines > 0 {
            self.out.text.push('\n');
        }
        write(&mut self.out.text);
        self.out.lines += 1;
        self.shown.any = true;
        true
    }
}

fn push_span(out: &mut Rendered, number: usize, found: Range<usize>, line_start: usize) {
    let numbers = [out.lines as usize - 1, number, found.start - line_start, found.end - line_start];
    out.spans.extend(numbers.map(|number| u32::try_from(number).unwrap_or(u32::MAX)));
}

/// Shows the part of a long line that has the match in it, and says how much is missing on each side.
fn push_cut(out: &mut String, body: &[u8], matcher: &Matcher, limit: usize) {
    let found = matcher.find(body, 0).unwrap_or(0..0);
    let start = if found.end <= limit { 0 } else { boundary(body, found.start.saturating_sub(limit / 4)) };
    let end = boundary(body, (start + limit).min(body.len()));
    if start > 0 {
        out.push_str(&format!("[{start} bytes cut …] "));
    }
    out.push_str(&String::from_utf8_lossy(&body[start..end]));
    if end < body.len() {
        out.push_str(&format!(" [… {} bytes cut]", body.len() - end));
    }
}

/// The nearest place at or before `at` that is not inside a UTF-8 sequence.
fn boundary(body: &[u8], at: usize) -> usize {
    let mut at = at;
    // A sequence has at most three continuation bytes; more than that is no UTF-8, and any place is as good.
    for _ in 0..3 {
        if at == 0 || at >= body.len() || body[at] & 0xC0 != 0x80 {
            break;
        }
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::{Choice, Chosen, scan_chosen};
    use crate::pattern::{Pattern, compile};
    use crate::scan::{Found, Want, scan};

    fn shown(pattern: &str, text: &str, shape: Shape, max_lines: u32) -> String {
        let matcher = compile(&Pattern { text: pattern.into(), ..Pattern::default() }).unwrap();
        let mut found = Found::default();
        scan(
            &matcher,
            text.as_bytes(),
            Want { keep_lines: true, budget: 0, first_read: Some(3), max_matches: 0, searched: 0 },
            &mut found,
        );
        let source = Source { text: text.as_bytes(), matcher: &matcher, shape };
        let rendered = render(&source, &found, "f", max_lines);
        assert_eq!(
            rendered.lines as usize,
            if rendered.text.is_empty() { 0 } else { rendered.text.split('\n').count() }
        );
        rendered.text
    }

    #[test]
    fn groups_that_touch_are_merged_and_others_separated() {
        let text = "1\n2x\n3\n4x\n5\n6\n7\n8\n9x\n";
        let shape = Shape { before: 1, after: 1, line_numbers: true, ..Shape::default() };
        assert_eq!(shown("x", text, shape, 0), "f-1-1\nf:2:2x\nf-3-3\nf:4:4x\nf-5-5\n--\nf-8-8\nf:9:9x");
    }

    #[test]
    fn lines_after_the_last_that_was_wanted_are_marked_if_they_match() {
        let shown = |pattern: &str| {
            let matcher = compile(&Pattern { text: pattern.into(), ..Pattern::default() }).unwrap();
            let text = b"1\nx\n2\nx\n";
            let choice = Choice { max_count: 1, ..Choice::default() };
            let mut found = Found::default();
            scan_chosen(&matcher, text, Chosen { choice, first_read: Some(3) }, &mut found);
            let source = Source { text, matcher: &matcher, shape: Shape { after: 2, ..Shape::default() } };
            render(&source, &found, "f", 0).text
        };
        assert_eq!(shown(r"\d"), "f:1\nf-x\nf:2");
        assert_eq!(shown("^$|1"), "f:1\nf-x\nf-2");
    }

    #[test]
    fn no_separator_without_context() {
        assert_eq!(shown("x", "x\na\nx", Shape { line_numbers: true, ..Shape::default() }, 0), "f:1:x\nf:3:x");
        assert_eq!(shown("x", "x\r\na\n", Shape::default(), 0), "f:x");
    }

    #[test]
    fn a_page_ends_at_its_limit() {
        let shape = Shape { after: 2, ..Shape::default() };
        assert_eq!(shown("x", "x\na\nb\nc\nx\n", shape, 2), "f:x\nf-a");
    }

    #[test]
    fn a_long_line_is_cut_around_the_match_and_says_so() {
        let text = format!("{}needle{}", "é".repeat(300), "b".repeat(500));
        let cut = shown("needle", &text, Shape { max_line_bytes: 100, ..Shape::default() }, 0);
        assert!(cut.contains("needle"), "{cut}");
        assert!(cut.starts_with("f:[574 bytes cut …] é"), "{cut}");
        assert!(cut.ends_with(" bytes cut]"), "{cut}");
        assert!(!cut.contains('\u{FFFD}'), "{cut}");
    }

    fn spans(pattern: &str, multiline: bool, text: &str) -> Vec<Vec<u32>> {
        let pattern = Pattern { text: pattern.into(), multiline, ..Pattern::default() };
        let matcher = compile(&pattern).unwrap();
        let mut found = Found::default();
        scan(
            &matcher,
            text.as_bytes(),
            Want { keep_lines: true, budget: 0, first_read: Some(3), max_matches: 0, searched: 0 },
            &mut found,
        );
        let shape = Shape { spans: true, before: 1, ..Shape::default() };
        let source = Source { text: text.as_bytes(), matcher: &matcher, shape };
        render(&source, &found, "f", 0).spans.chunks(4).map(<[u32]>::to_vec).collect()
    }

    #[test]
    fn spans_say_which_line_and_which_bytes_of_it() {
        assert_eq!(spans("b+", false, "a\nabbab\r\n"), [[1, 2, 1, 3], [1, 2, 4, 5]]);
        assert_eq!(spans("$", false, "ab\r\n"), [[0, 1, 2, 2]]);
        assert_eq!(spans(r"b\z", false, "bab\nb"), [[0, 1, 2, 3], [1, 2, 0, 1]]);
    }

    #[test]
    fn a_match_over_lines_has_a_part_in_each() {
        assert_eq!(
            spans(r"b\nc|d", true, "ab\ncdd\nd"),
            [[0, 1, 1, 2], [1, 2, 0, 1], [1, 2, 1, 2], [1, 2, 2, 3], [2, 3, 0, 1]]
        );
    }
}
