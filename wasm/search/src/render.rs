//! Matching lines with their context, as ripgrep prints them without headings.

use crate::lines;
use crate::pattern::Matcher;
use core::ops::Range;

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
}

/// Text without a line end at its end, and its number of lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// `\n` between lines; what was not UTF-8 is U+FFFD.
    pub text: String,
    /// Lines in `text`, separators included.
    pub lines: u32,
}

/// What separates groups of lines that do not touch each other.
const GROUP_SEPARATOR: &str = "--";

/// Shows `matching` lines of `text`, each after `name`; stops after `max_lines` lines unless that is 0.
#[must_use]
pub fn render(source: &Source<'_>, matching: &[Range<usize>], name: &str, max_lines: u32) -> Rendered {
    let mut page = Page { source, name, max_lines, out: Rendered::default(), counted: 0, number: 1, next: 0 };
    for (place, line) in matching.iter().enumerate() {
        let until = matching.get(place + 1).map_or(usize::MAX, |following| following.start);
        if !page.group(line, until) {
            break;
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
    name: &'a str,
    max_lines: u32,
    out: Rendered,
    /// Byte up to which line ends were counted, and the number of the line that starts there.
    counted: usize,
    number: usize,
    /// Where the first line that was not shown yet starts.
    next: usize,
}

impl Page<'_> {
    /// Shows one matching line with its context; the context after it ends where the next match starts.
    fn group(&mut self, line: &Range<usize>, until: usize) -> bool {
        let Source { text, shape, .. } = *self.source;
        let mut start = line.start;
        for _ in 0..shape.before {
            match lines::before(text, start) {
                Some(earlier) if earlier.start >= self.next => start = earlier.start,
                _ => break,
            }
        }
        let has_context = shape.before > 0 || shape.after > 0;
        if has_context && self.out.lines > 0 && start > self.next && !self.put_line(|out| out.push_str(GROUP_SEPARATOR))
        {
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
        let mut last = line.clone();
        for _ in 0..shape.after {
            match lines::after(text, last.end) {
                Some(context) if context.start < until => last = context,
                _ => break,
            }
            if !self.show(&last, '-') {
                return false;
            }
        }
        true
    }

    fn show(&mut self, line: &Range<usize>, mark: char) -> bool {
        let Source { text, matcher, shape } = self.source;
        self.number += lines::count(&text[self.counted..line.start]);
        self.counted = line.start;
        self.next = line.end + 1;
        let (name, number) = (self.name, self.number);
        let body = &text[line.clone()];
        let body = body.strip_suffix(b"\r").unwrap_or(body);
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
        true
    }
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
    use crate::pattern::{Pattern, compile};
    use crate::scan::{Found, Want, scan};

    fn shown(pattern: &str, text: &str, shape: Shape, max_lines: u32) -> String {
        let matcher = compile(&Pattern { text: pattern.into(), ..Pattern::default() }).unwrap();
        let mut found = Found::default();
        scan(&matcher, text.as_bytes(), Want { multiline: false, keep_lines: true, budget: 0 }, &mut found);
        let source = Source { text: text.as_bytes(), matcher: &matcher, shape };
        let rendered = render(&source, &found.lines, "f", max_lines);
        assert_eq!(
            rendered.lines as usize,
            if rendered.text.is_empty() { 0 } else { rendered.text.split('\n').count() }
        );
        rendered.text
    }

    #[test]
    fn groups_that_touch_are_merged_and_others_separated() {
        let text = "1\n2x\n3\n4x\n5\n6\n7\n8\n9x\n";
        let shape = Shape { before: 1, after: 1, line_numbers: true, max_line_bytes: 0 };
        assert_eq!(shown("x", text, shape, 0), "f-1-1\nf:2:2x\nf-3-3\nf:4:4x\nf-5-5\n--\nf-8-8\nf:9:9x");
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
}
