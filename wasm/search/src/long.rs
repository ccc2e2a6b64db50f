//! Files that the buffer does not hold: searched in pieces that end with a line, as ripgrep rolls its buffer through them.
//!
//! Memory stays that of a piece, and the host has its turn after each. A line that is longer than the buffer makes it grow, up to
//! [`LIMIT_BYTES`]. What is searched at all, and where a NUL byte ends it, is decided by [`Reach`], so that the answer is that of the
//! whole file.

use crate::choose::{Choice, Chosen, scan_chosen};
use crate::lines;
use crate::reach::{BUFFER_BYTES, Reach, first_read};
use crate::render::{Rendered, Shown, Source, render_part};
use crate::scan::{Found, Want, scan};
use crate::searcher::{Compiled, Mode};
use crate::visit::{Files, LIMIT_BYTES, end};
use core::ops::Range;

/// A file of which the buffer holds the beginning.
#[derive(Clone, Copy, Debug)]
pub struct Beginning {
    /// The host's number of it.
    pub file: i32,
    /// Bytes of it in the buffer.
    pub filled: usize,
    /// Bytes that it had when it was asked; nothing if it does not say. What is written behind them is not searched: a file that grows
    /// as fast as it is read has an end all the same.
    pub size: Option<u64>,
    /// Bytes of its byte order mark.
    pub mark: usize,
}

/// What came of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing to tell yet.
    More,
    /// There are lines to show before the next step.
    Part,
    /// The file was searched: as [`Searcher::search`](crate::searcher::Searcher::search) says it.
    Over(Option<u32>),
    /// It could not be: one of [`end`].
    Failed(i32),
}

/// The search of one such file.
#[derive(Debug)]
pub struct Long {
    /// The host's number of the file.
    pub file: i32,
    buffer: Vec<u8>,
    /// A step reads no more than so many bytes.
    step_bytes: usize,
    filled: usize,
    /// Of the text, the place of the buffer's first byte; of the file, that of the next one to read, and of its end.
    base: u64,
    next: u64,
    size: Option<u64>,
    is_read: bool,
    reach: Reach,
    /// What the last step searched. In front of it stand lines that may be its context.
    piece: Range<usize>,
    found: Found,
    /// What the whole file counts so far, and its wanted lines.
    count: u32,
    taken: u32,
    shown: Shown,
    is_over: bool,
}

impl Long {
    /// Takes the buffer over. Bytes before the mark's end are no text.
    #[must_use]
    pub fn new(mut buffer: Vec<u8>, beginning: Beginning) -> Self {
        let Beginning { file, filled, size, mark } = beginning;
        let step_bytes = buffer.len();
        let mut reach = Reach::new(first_read(mark), BUFFER_BYTES.min(step_bytes));
        buffer.copy_within(mark..filled, 0);
        reach.take(&buffer[..filled - mark]);
        Self {
            file,
            buffer,
            step_bytes,
            filled: filled - mark,
            base: 0,
            next: filled as u64,
            size,
            is_read: false,
            reach,
            piece: 0..0,
            found: Found::default(),
            count: 0,
            taken: 0,
            shown: Shown::default(),
            is_over: false,
        }
    }

    /// True once nothing is left to search.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Bytes of memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.buffer.len()
    }

    /// The buffer, for the next file.
    #[must_use]
    pub fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// Reads and searches the next piece.
    pub(crate) fn step(&mut self, query: &Compiled, files: &mut impl Files) -> Step {
        let step = self.go_on(query, files);
        self.is_over = matches!(step, Step::Over(_) | Step::Failed(_));
        step
    }

    fn go_on(&mut self, query: &Compiled, files: &mut impl Files) -> Step {
        self.found.lines.clear();
        self.found.count = 0;
        if self.is_enough(query) {
            return self.outcome(query);
        }
        if !self.drop_front(query) {
            return Step::Failed(end::TOO_LARGE);
        }
        if !self.fill(files) {
            return Step::Failed(end::UNREADABLE);
        }
        let is_last = self.is_read || self.reach.nul().is_some();
        // With a NUL ahead, the text ends where ripgrep's last piece before it does.
        let to = if self.is_read && self.reach.nul().is_none() { self.filled } else { self.place(self.reach.done()) };
        self.piece = self.piece.end..to.max(self.piece.end);
        if !self.found.limited {
            self.search(query);
        }
        if is_last || self.is_enough(query) {
            return self.outcome(query);
        }
        let has_lines = !self.found.lines.is_empty() || self.shown.is_owed();
        if query.mode == Mode::Content && has_lines && !self.piece.is_empty() { Step::Part } else { Step::More }
    }

    /// True if what is not searched yet can't change the outcome.
    fn is_enough(&self, query: &Compiled) -> bool {
        let Compiled { choice, mode, .. } = query;
        // Whether what is wanted are lines that do not match, a NUL byte anywhere leaves the file out of counts and lists.
        let is_listed = *mode == Mode::FilesWithMatches && !choice.invert && self.count > 0;
        let is_limited = self.found.limited && (*mode == Mode::Content || !choice.invert);
        is_listed || (is_limited && self.found.lines.is_empty() && !self.shown.is_owed())
    }

    fn outcome(&self, query: &Compiled) -> Step {
        // Who has enough does not read on to where the NUL byte is.
        let is_binary = self.reach.nul().is_some() && (!self.found.limited || query.choice.invert);
        Step::Over(query.outcome(self.count, is_binary))
    }

    /// Lets go of what was searched but for the lines that may be context. False if there is no room for more.
    fn drop_front(&mut self, query: &Compiled) -> bool {
        let text = &self.buffer[..self.piece.end];
        let mut start = self.piece.end;
        if query.mode == Mode::Content {
            for _ in 0..query.shape.before {
                let Some(line) = lines::before(text, start) else { break };
                start = line.start;
            }
            self.shown.drop_front(text, start);
        }
        self.buffer.copy_within(start..self.filled, 0);
        self.base += start as u64;
        self.filled -= start;
        self.piece = self.piece.start.saturating_sub(start)..self.piece.end - start;
        // Context that fills the buffer would leave room for small steps only.
        let is_crowded = self.filled == self.buffer.len() || self.piece.end > self.buffer.len() / 2;
        if !is_crowded {
            return true;
        }
        if self.buffer.len() >= LIMIT_BYTES {
            return self.filled < self.buffer.len();
        }
        self.buffer.resize((self.buffer.len() * 2).min(LIMIT_BYTES), 0);
        true
    }

    /// Reads what follows. False if that fails.
    fn fill(&mut self, files: &mut impl Files) -> bool {
        let room = (self.buffer.len() - self.filled).min(self.step_bytes);
        let left = self.size.map_or(u64::MAX, |size| size.saturating_sub(self.next));
        let until = self.filled + usize::try_from(left).unwrap_or(usize::MAX).min(room);
        self.is_read = left == 0;
        while self.filled < until {
            let read = files.read(self.file, &mut self.buffer[self.filled..until], self.next);
            let Ok(read) = usize::try_from(read) else { return false };
            if read == 0 {
                self.is_read = true;
                break;
            }
            self.reach.take(&self.buffer[self.filled..self.filled + read]);
            self.filled += read;
            self.next += read as u64;
        }
        true
    }

    fn search(&mut self, query: &Compiled) {
        let Compiled { matcher, choice, mode, .. } = query;
        let text = &self.buffer[self.piece.clone()];
        if choice.is_plain() {
            let budget = u32::from(*mode == Mode::FilesWithMatches);
            let want =
                Want { keep_lines: *mode == Mode::Content, budget, first_read: None, max_matches: 0, searched: 0 };
            scan(matcher, text, want, &mut self.found);
        } else {
            let max_count = choice.max_count.saturating_sub(self.taken);
            let choice = Choice { max_count, ..*choice };
            scan_chosen(matcher, text, Chosen { choice, first_read: None }, &mut self.found);
        }
        self.count = self.count.saturating_add(self.found.count);
        self.taken = self.taken.saturating_add(u32::try_from(self.found.lines.len()).unwrap_or(u32::MAX));
        for line in &mut self.found.lines {
            *line = line.start + self.piece.start..line.end + self.piece.start;
        }
    }

    /// Shows what the last step found.
    pub(crate) fn render(&mut self, query: &Compiled, name: &str, max_lines: u32) -> Rendered {
        let source = Source { text: &self.buffer[..self.piece.end], matcher: &query.matcher, shape: query.shape };
        render_part(&source, &self.found, &mut self.shown, (name, max_lines))
    }

    /// A place of the text in the buffer. It is in there.
    fn place(&self, place: u64) -> usize {
        place.saturating_sub(self.base) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Pattern;
    use crate::render::Shape;
    use crate::report::Report;
    use crate::searcher::{Query, Searcher};
    use crate::visit::{FIRST_BYTES, Folder, Stretch, visit};

    /// One file. A read gives less than was asked for now and then.
    struct One {
        text: Vec<u8>,
        reads: usize,
        open: i32,
    }

    impl Files for One {
        fn open(&mut self, _: i32, _: &[u8]) -> i32 {
            self.open += 1;
            5
        }
        fn read(&mut self, _: i32, to: &mut [u8], from: u64) -> i32 {
            let rest = &self.text[usize::try_from(from).unwrap().min(self.text.len())..];
            self.reads += 1;
            let most = if self.reads.is_multiple_of(3) { to.len().div_ceil(2) } else { to.len() };
            let bytes = rest.len().min(most);
            to[..bytes].copy_from_slice(&rest[..bytes]);
            i32::try_from(bytes).unwrap()
        }
        fn changed(&mut self, _: i32, _: &[u8]) -> f64 {
            0.0
        }
        fn size(&mut self, _: i32) -> f64 {
            self.text.len() as f64
        }
        fn close(&mut self, _: i32) {
            self.open -= 1;
        }
    }

    #[derive(Debug, PartialEq)]
    struct Told {
        end: i32,
        text: Vec<String>,
        spans: Vec<u32>,
        parts: usize,
    }

    /// The search as a host drives it.
    fn told(query: &Query, text: &[u8], pieces: usize) -> Told {
        let mut searcher = Searcher::with_pieces(pieces);
        searcher.compile(query).unwrap();
        let mut files = One { text: text.to_vec(), reads: 0, open: 0 };
        let mut told = Told { end: 0, text: Vec::new(), spans: Vec::new(), parts: 0 };
        let mut from = 0;
        while from == 0 {
            let mut report = Report::default();
            report.begin();
            let folder = Folder { handle: 3, raw: b"f\0", order: &[0, 1, 0], from };
            from = visit(&mut searcher, &mut files, folder, (&mut report, &mut Stretch::default()));
            told.end = report.numbers().get(7).copied().unwrap_or(0);
            if query.mode == Mode::Content && (told.end > 0 || told.end == end::PART) {
                let shown = searcher.render("f", 0);
                let lines = told.text.len();
                for numbers in shown.spans.chunks(4) {
                    told.spans.push(numbers[0] + u32::try_from(lines).unwrap());
                    told.spans.extend(&numbers[1..]);
                }
                told.text.extend(shown.text.split('\n').filter(|_| shown.lines > 0).map(str::to_owned));
                told.parts += usize::from(told.end == end::PART);
            }
        }
        assert_eq!(files.open, 0, "the file was closed");
        told
    }

    fn noise(seed: u64) -> impl FnMut(usize) -> usize {
        let mut state = 88_172_645_463_325_252_u64 ^ seed;
        move |below| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 33).unwrap() % below
        }
    }

    fn made_text(next: &mut impl FnMut(usize) -> usize, lines: usize) -> Vec<u8> {
        let words = ["let", "x", "é", "foo", " ", "a", "needle", "\t", "", "\u{212a}"];
        let end = [b"\n".as_slice(), b"\r\n"][next(2)];
        let mut text = if next(6) == 0 { b"\xEF\xBB\xBF".to_vec() } else { Vec::new() };
        for _ in 0..next(lines) {
            let length = if next(12) == 0 { next(90) } else { next(6) };
            (0..length).for_each(|_| text.extend(words[next(words.len())].as_bytes()));
            text.extend(if next(20) == 0 { b"\n" } else { end });
        }
        if next(2) == 0 {
            text.extend(b"a foo");
        }
        text
    }

    fn made_query(next: &mut impl FnMut(usize) -> usize) -> Query {
        const PATTERNS: [&str; 12] =
            ["foo", "^", "$", "^$", r"\ba", r"x\s", "needle|let", r"\Afoo", r"a\z", "[^a]*", r"\bé|k\b", r"foo$"];
        let mode = [Mode::Content, Mode::Content, Mode::Count, Mode::FilesWithMatches][next(4)];
        let invert = next(4) == 0;
        let context = |next: &mut dyn FnMut(usize) -> usize| u32::try_from(next(8).saturating_sub(4)).unwrap();
        let max_count = u32::try_from([0, 0, 1, 2, 40][next(5)]).unwrap();
        Query {
            pattern: Pattern { text: PATTERNS[next(PATTERNS.len())].into(), word: next(5) == 0, ..Pattern::default() },
            mode,
            choice: Choice {
                invert,
                max_count,
                each_match: mode == Mode::Count && !invert && next(2) == 0,
                without: mode == Mode::FilesWithMatches && next(2) == 0,
            },
            shape: Shape {
                before: context(next),
                after: context(next),
                line_numbers: true,
                max_line_bytes: [0, 20][next(2)],
                spans: true,
                only_matching: next(6) == 0 && !invert,
                inverted: invert,
            },
        }
    }

    /// The search of the whole text, and that in pieces.
    fn both(query: &Query, text: &[u8], pieces: usize) -> (Told, Told) {
        let whole = told(query, text, FIRST_BYTES);
        let mut cut = told(query, text, pieces);
        cut.parts = 0;
        // How many lines matched is not asked for where files are named.
        if query.mode == Mode::FilesWithMatches && whole.end > 0 && cut.end > 0 {
            cut.end = whole.end;
        }
        // The whole text is not looked through for a NUL byte before anything was found.
        if cut.end == end::BINARY && whole.end == 0 && text.contains(&0) {
            cut.end = 0;
        }
        (whole, cut)
    }

    #[test]
    fn what_is_found_in_pieces_of_any_size_is_what_the_whole_text_has() {
        let mut next = noise(0);
        for case in 0..500 {
            let text = made_text(&mut next, 60);
            let query = made_query(&mut next);
            let pieces = 16 << next(9);
            let (whole, cut) = both(&query, &text, pieces);
            assert_eq!(cut, whole, "case {case}, pieces of {pieces}, {query:?}, {:?}", String::from_utf8_lossy(&text));
        }
    }

    #[test]
    fn a_nul_byte_ends_the_search_in_pieces_where_it_ends_that_of_the_whole() {
        let mut next = noise(1);
        for case in 0..60 {
            let mut text = Vec::new();
            while text.len() < 100_000 + next(200_000) {
                text.extend(made_text(&mut next, 60));
                text.push(b'\n');
                if next(400) == 0 {
                    text.extend(b"long ".repeat(next(30_000)));
                }
            }
            let at = next(text.len());
            text[at] = 0;
            let query = made_query(&mut next);
            let (whole, cut) = both(&query, &text, 64 << 10);
            assert_eq!(cut, whole, "case {case}, NUL at {at} of {}, {query:?}", text.len());
        }
    }

    #[test]
    fn memory_is_that_of_a_piece_and_lines_are_shown_as_they_come() {
        let query = Query {
            pattern: Pattern { text: "needle".into(), ..Pattern::default() },
            mode: Mode::Content,
            choice: Choice::default(),
            shape: Shape { before: 2, after: 2, line_numbers: true, ..Shape::default() },
        };
        let text = b"hay\n".repeat(1000).into_iter().chain(*b"needle\n").collect::<Vec<u8>>().repeat(50);
        let told = told(&query, &text, 4096);
        assert_eq!((told.end, told.text.len()), (50, 50 * 6 - 1 - 2));
        assert!(told.parts > 40, "{}", told.parts);
        assert_eq!(told.text[8], "f:2002:needle");
        let mut searcher = Searcher::with_pieces(4096);
        searcher.compile(&query).unwrap();
        let mut files = One { text, reads: 0, open: 1 };
        searcher.reserve(4096);
        assert!(searcher.begin(5, 0, None));
        while !matches!(searcher.step(&mut files), Some(Step::Over(_)) | None) {
            assert!(searcher.long_bytes() <= 3 * 4096);
        }
    }

    #[test]
    fn a_file_that_grows_or_shrinks_while_it_is_read_has_an_end() {
        let query = Query {
            pattern: Pattern { text: "a".into(), ..Pattern::default() },
            mode: Mode::Count,
            choice: Choice::default(),
            shape: Shape::default(),
        };
        for (size, count) in [(Some(40), 20), (Some(1 << 40), 500), (None, 500)] {
            let mut searcher = Searcher::with_pieces(16);
            searcher.compile(&query).unwrap();
            searcher.reserve(16)[..16].copy_from_slice(b"a\na\na\na\na\na\na\na\n");
            assert!(searcher.begin(5, 16, size));
            let mut files = One { text: b"a\n".repeat(500), reads: 0, open: 1 };
            let mut steps = 0;
            let end = loop {
                steps += 1;
                match searcher.step(&mut files) {
                    Some(Step::More) => {}
                    other => break other,
                }
            };
            assert_eq!(end, Some(Step::Over(Some(count))), "{steps} steps");
            assert_eq!(files.open, 0);
        }
    }

    #[test]
    fn a_search_that_is_left_closes_its_file() {
        let mut searcher = Searcher::with_pieces(16);
        let pattern = Pattern { text: "a".into(), ..Pattern::default() };
        let query = Query { pattern, mode: Mode::Count, choice: Choice::default(), shape: Shape::default() };
        searcher.compile(&query).unwrap();
        let mut files = One { text: b"a\n".repeat(500), reads: 0, open: 1 };
        searcher.reserve(16);
        assert!(searcher.begin(5, 0, None));
        assert_eq!(searcher.step(&mut files), Some(Step::More));
        searcher.leave(&mut files);
        assert_eq!((files.open, searcher.step(&mut files)), (0, None));
    }
}
