//! One query, one buffer, one file at a time: the state behind the component's `grep` interface.

use crate::choose::{Choice, Chosen, scan_chosen};
use crate::encoding::{Text, mark_bytes, sniff};
use crate::long::{Beginning, Long, Step};
use crate::pattern::{Matcher, Pattern, PatternFault, compile};
use crate::reach;
use crate::render::{Rendered, Shape, Source, render};
use crate::scan::{Found, Want, scan};
use crate::visit::{FIRST_BYTES, Files};
use memchr::{memchr, memrchr};

/// What is wanted of each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Matching lines, for [`Searcher::render`].
    Content,
    /// Only whether there is a match.
    FilesWithMatches,
    /// Their number.
    Count,
}

/// A search as the caller asked for it.
#[derive(Clone, Debug)]
pub struct Query {
    /// What to look for.
    pub pattern: Pattern,
    /// What is wanted.
    pub mode: Mode,
    /// Which lines are wanted.
    pub choice: Choice,
    /// How it is shown.
    pub shape: Shape,
}

pub(crate) struct Compiled {
    pub matcher: Matcher,
    pub mode: Mode,
    pub choice: Choice,
    pub shape: Shape,
}

impl Compiled {
    /// What a file comes to: nothing if it is binary and no match comes before that shows.
    pub fn outcome(&self, count: u32, is_binary: bool) -> Option<u32> {
        let Self { mode, choice, .. } = self;
        // A count that leaves out what comes after a NUL byte would say less than there is.
        // Where lines that do not match are wanted, ripgrep's search by line leaves only the piece that has the first of them, so that it
        // meets a NUL byte anywhere, and does not list the file; its multi-line search ends there.
        let ends_at_first = !choice.invert || self.matcher.spans_lines();
        let is_listed = *mode == Mode::FilesWithMatches && ends_at_first;
        let counts = count > 0 && (is_listed || *mode == Mode::Content);
        let count = if choice.without { u32::from(count == 0) } else { count };
        (!is_binary || counts).then_some(count)
    }
}

/// What the first bytes of a file tell of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Head {
    /// A line in them matches, and there is no NUL byte in them.
    pub matches: bool,
    /// So many, whole lines, were searched in vain.
    pub searched: usize,
}

/// Where the text of the last search is.
enum Last {
    InBuffer { start: usize, len: usize },
    Decoded(Vec<u8>),
}

/// A compiled query and the buffer that the host reads files into.
pub struct Searcher {
    buffer: Vec<u8>,
    compiled: Option<Compiled>,
    found: Found,
    last: Last,
    /// The file that is searched in pieces, until the next one is begun.
    long: Option<Long>,
    /// Files up to so many bytes are searched as a whole.
    first_bytes: usize,
}

impl Default for Searcher {
    fn default() -> Self {
        Self {
            buffer: Vec::new(),
            compiled: None,
            found: Found::default(),
            last: Last::InBuffer { start: 0, len: 0 },
            long: None,
            first_bytes: FIRST_BYTES,
        }
    }
}

impl Searcher {
    /// Takes a query for all following searches.
    pub fn compile(&mut self, query: &Query) -> Result<(), PatternFault> {
        self.compiled = None;
        self.long = None;
        let matcher = compile(&query.pattern)?;
        self.compiled = Some(Compiled { matcher, mode: query.mode, choice: query.choice, shape: query.shape });
        Ok(())
    }

    /// Searches in pieces of that size, for tests: what they find must not depend on it.
    #[must_use]
    pub fn with_pieces(bytes: usize) -> Self {
        Self { first_bytes: bytes, ..Self::default() }
    }

    /// The buffer, at least `len` bytes long. Its place may change.
    pub fn reserve(&mut self, len: usize) -> &mut [u8] {
        if self.buffer.len() < len {
            // What is in it is of no use any more: copying it to a larger place would be waste.
            self.buffer = Vec::new();
            self.buffer.resize(len, 0);
        }
        &mut self.buffer
    }

    /// The first `len` bytes of the buffer, or as many as there are.
    #[must_use]
    pub fn filled(&self, len: usize) -> &[u8] {
        &self.buffer[..len.min(self.buffer.len())]
    }

    /// Searches the first `len` bytes of the buffer. Nothing if they are binary and no match comes before that shows; 0 if there
    /// is no query.
    pub fn search(&mut self, len: usize, budget: u32) -> Option<u32> {
        self.search_on(len, budget, 0)
    }

    /// The same where `search_head` said how many bytes it has searched.
    pub fn search_on(&mut self, len: usize, budget: u32, searched: usize) -> Option<u32> {
        let Some(compiled) = &self.compiled else { return Some(0) };
        let file = &self.buffer[..len.min(self.buffer.len())];
        let first_read;
        (self.last, first_read) = match sniff(file) {
            Text::Bytes(start) => (Last::InBuffer { start, len: file.len() }, reach::first_read(start)),
            Text::Decoded(text) => (Last::Decoded(text), usize::MAX),
        };
        let (keep_lines, budget) = match compiled.mode {
            Mode::Content => (true, budget),
            Mode::FilesWithMatches => (false, 1),
            Mode::Count => (false, 0),
        };
        let first_read = Some(first_read);
        let text = text_of(&self.last, &self.buffer);
        if compiled.choice.is_plain() {
            let want = Want { keep_lines, budget, first_read, max_matches: 0, searched };
            scan(&compiled.matcher, text, want, &mut self.found);
        } else {
            scan_chosen(&compiled.matcher, text, Chosen { choice: compiled.choice, first_read }, &mut self.found);
        }
        compiled.outcome(self.found.count, self.found.binary)
    }

    /// True if all that is wanted of a file is whether some line of it matches.
    #[must_use]
    pub fn lists_by_line(&self) -> bool {
        self.compiled.as_ref().is_some_and(|compiled| {
            compiled.mode == Mode::FilesWithMatches && compiled.choice.is_plain() && !compiled.matcher.spans_lines()
        })
    }

    /// Searches the lines that the first `len` bytes of a longer file hold to their ends, for whether one of them matches.
    #[must_use]
    pub fn search_head(&mut self, len: usize) -> Head {
        let Some(compiled) = &self.compiled else { return Head::default() };
        let head = &self.buffer[..len.min(self.buffer.len())];
        // With a mark it is another text.
        if mark_bytes(head) != Some(0) {
            return Head::default();
        }
        let lines = memrchr(b'\n', head).map_or(0, |at| at + 1);
        let want = Want { keep_lines: false, budget: 1, first_read: None, max_matches: 0, searched: 0 };
        scan(&compiled.matcher, &head[..lines], want, &mut self.found);
        if self.found.count == 0 {
            return Head { matches: false, searched: lines };
        }
        // Where the search ends at a NUL byte, this match may be none: that is for who sees the whole file.
        Head { matches: memchr(0, head).is_none(), searched: 0 }
    }

    /// Files up to so many bytes are searched as a whole.
    #[must_use]
    pub fn first_bytes(&self) -> usize {
        self.first_bytes
    }

    /// True if files that the buffer does not hold can be searched in pieces: no match spans lines.
    #[must_use]
    pub fn takes_pieces(&self) -> bool {
        self.compiled.as_ref().is_some_and(|compiled| !compiled.matcher.spans_lines())
    }

    /// Begins with a file of which the buffer holds the beginning. False if it must be searched as a whole.
    pub fn begin(&mut self, file: i32, filled: usize, size: Option<u64>) -> bool {
        let Some(mark) = mark_bytes(self.filled(filled)) else { return false };
        let mut buffer = core::mem::take(&mut self.buffer);
        buffer.truncate(self.first_bytes);
        self.long = Some(Long::new(buffer, Beginning { file, filled, size, mark }));
        true
    }

    /// Goes on with such a file.
    pub fn step(&mut self, files: &mut impl Files) -> Option<Step> {
        let (Some(compiled), Some(long)) = (&self.compiled, self.long.as_mut().filter(|long| !long.is_over())) else {
            return None;
        };
        let step = long.step(compiled, files);
        if long.is_over() {
            files.close(long.file);
        }
        Some(step)
    }

    /// Bytes of memory that such a file takes.
    #[must_use]
    pub fn long_bytes(&self) -> usize {
        self.long.as_ref().map_or(0, Long::bytes)
    }

    /// Leaves such a file, wherever its search is.
    pub fn leave(&mut self, files: &mut impl Files) {
        let Some(long) = self.long.take() else { return };
        if !long.is_over() {
            files.close(long.file);
        }
        self.buffer = long.into_buffer();
    }

    /// True if a file without a match is what is wanted, so that one without a byte is too.
    #[must_use]
    pub fn wants_none(&self) -> bool {
        self.compiled.as_ref().is_some_and(|compiled| compiled.choice.without)
    }

    /// True if the host may want to see the lines of a file that matches, before the next one is searched.
    #[must_use]
    pub fn keeps_lines(&self) -> bool {
        self.compiled.as_ref().is_some_and(|compiled| compiled.mode == Mode::Content)
    }

    /// Shows what the last search found.
    #[must_use]
    pub fn render(&mut self, name: &str, max_lines: u32) -> Rendered {
        let Some(compiled) = &self.compiled else { return Rendered::default() };
        if let Some(long) = &mut self.long {
            return long.render(compiled, name, max_lines);
        }
        let text = &text_of(&self.last, &self.buffer)[..self.found.end];
        let source = Source { text, matcher: &compiled.matcher, shape: compiled.shape };
        render(&source, &self.found, name, max_lines)
    }
}

fn text_of<'a>(last: &'a Last, buffer: &'a [u8]) -> &'a [u8] {
    match last {
        Last::InBuffer { start, len } => &buffer[*start..*len],
        Last::Decoded(text) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searcher(mode: Mode) -> Searcher {
        let mut searcher = Searcher::default();
        let pattern = Pattern { text: "needle".into(), ..Pattern::default() };
        searcher.compile(&Query { pattern, mode, choice: Choice::default(), shape: Shape::default() }).unwrap();
        searcher
    }

    fn search(searcher: &mut Searcher, file: &[u8]) -> Option<u32> {
        searcher.reserve(file.len())[..file.len()].copy_from_slice(file);
        searcher.search(file.len(), 0)
    }

    #[test]
    fn the_buffer_is_used_again_and_only_its_filled_part_is_searched() {
        let mut searcher = searcher(Mode::Count);
        assert_eq!(search(&mut searcher, b"needle\nneedle\nneedle"), Some(3));
        assert_eq!(search(&mut searcher, b"needle"), Some(1));
        assert_eq!(search(&mut searcher, b""), Some(0));
    }

    #[test]
    fn a_file_listing_stops_at_the_first_match() {
        assert_eq!(search(&mut searcher(Mode::FilesWithMatches), b"needle\nneedle"), Some(1));
    }

    #[test]
    fn a_binary_file_is_told_from_one_without_a_match() {
        assert_eq!(search(&mut searcher(Mode::Count), b"\0needle"), None);
        assert_eq!(search(&mut searcher(Mode::Count), b"hay"), Some(0));
    }

    #[test]
    fn a_list_of_files_with_lines_that_do_not_match_heeds_a_late_nul_byte_in_a_search_by_line_only() {
        let text = [b"hay\n".repeat(30_000), b"\0".to_vec()].concat();
        for (pattern, multiline, listed) in [("needle", false, None), ("needle\n", true, Some(30_000))] {
            let pattern = Pattern { text: pattern.into(), multiline, ..Pattern::default() };
            let choice = Choice { invert: true, ..Choice::default() };
            let mut searcher = Searcher::default();
            let mode = Mode::FilesWithMatches;
            searcher.compile(&Query { pattern, mode, choice, shape: Shape::default() }).unwrap();
            assert_eq!(search(&mut searcher, &text), listed);
        }
    }

    #[test]
    fn utf_16_is_searched_and_shown_as_text() {
        let mut searcher = searcher(Mode::Content);
        let file: Vec<u8> =
            [0xFF, 0xFE].into_iter().chain("a needle".encode_utf16().flat_map(u16::to_le_bytes)).collect();
        assert_eq!(search(&mut searcher, &file), Some(1));
        assert_eq!(searcher.render("f", 0).text, "f:a needle");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced_in_the_output() {
        let mut searcher = searcher(Mode::Content);
        assert_eq!(search(&mut searcher, b"\xFFneedle"), Some(1));
        assert_eq!(searcher.render("f", 0).text, "f:\u{FFFD}needle");
    }
}
