//! Reads and searches the files of one folder, one after the other, without going back to the host for each.

use crate::long::Step;
use crate::report::Report;
use crate::searcher::{Head, Searcher};

/// The files of an open folder, as the host gives them: numbers in, numbers out. Less than 0 is a failure.
pub trait Files {
    /// Opens the file of a name that ends with a NUL byte, and no link.
    fn open(&mut self, folder: i32, name: &[u8]) -> i32;
    /// Reads from the file's start, or from `from` on, and gives the number of bytes. Fails for what is no regular file.
    fn read(&mut self, file: i32, to: &mut [u8], from: u64) -> i32;
    /// The file's bytes; 0 if it does not say.
    fn size(&mut self, file: i32) -> f64;
    /// When the file of a name that ends with a NUL byte was changed, in milliseconds since 1970; NaN if it is gone.
    fn changed(&mut self, folder: i32, name: &[u8]) -> f64;
    /// Closes the file.
    fn close(&mut self, file: i32);
}

/// What a file came to that holds no match, in place of the number of its matches.
pub mod end {
    /// It is binary.
    pub const BINARY: i32 = -1;
    /// It could not be read, or is no regular file any more.
    pub const UNREADABLE: i32 = -2;
    /// It is larger than [`LIMIT_BYTES`](super::LIMIT_BYTES) and must be searched as a whole, or a line of it is.
    pub const TOO_LARGE: i32 = -3;
    /// It is not over: there are lines to show of what was searched so far.
    pub const PART: i32 = -4;
}

/// No more of a file is in memory at once: a component has 4 GiB of it in all, and the buffer and its successor both count.
pub const LIMIT_BYTES: usize = 256 << 20;

/// The buffer: larger than all but a few files of a source tree. Longer ones are searched in pieces where that can be.
pub const FIRST_BYTES: usize = 1 << 20;

/// Of a file that may be done with its first match so much is read first.
const HEAD_BYTES: usize = 8 << 10;

/// One entry of a choice as `Walk::filter` makes it: the place of the name, its bytes, and what it is.
const NUMBERS: usize = 3;

/// What an entry is, as its third number: to be searched, or to be gone into.
pub const FILE: u32 = 0;
/// A folder.
pub const FOLDER: u32 = 1;

/// How much is done before the host may look at other things.
#[derive(Debug)]
pub struct Stretch {
    files: usize,
    bytes: usize,
    folders: usize,
}

impl Default for Stretch {
    fn default() -> Self {
        Self { files: 256, bytes: 1 << 20, folders: 16 }
    }
}

impl Stretch {
    /// True once that much was done.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.files == 0 || self.bytes == 0 || self.folders == 0
    }

    /// A folder was opened.
    pub fn folder(&mut self) {
        self.folders = self.folders.saturating_sub(1);
    }

    /// A file was looked at and not read.
    pub fn look(&mut self) {
        self.file(0);
    }

    fn file(&mut self, bytes: usize) {
        self.files = self.files.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// A file was begun that is longer than the buffer, or another step was made in it.
    fn step(&mut self) {
        self.bytes = self.bytes.saturating_sub(FIRST_BYTES);
    }
}

/// What is searched: a folder, its raw entries, and the choice among them that begins with the entry `from`.
#[derive(Clone, Copy, Debug)]
pub struct Folder<'a> {
    /// The host's number of it.
    pub handle: i32,
    /// Raw entries, with a NUL byte after each name.
    pub raw: &'a [u8],
    /// Three numbers for each entry.
    pub order: &'a [u32],
    /// Where in the choice to begin.
    pub from: usize,
}

/// The handle that stands for a folder of which the index knows the entries: each record has, in place of the inode, a [`note`] and
/// one more than the file's number in the index, or 0 (core/exec/search/index/listing.ts).
const LISTED: i32 = 1 << 30;

/// Bytes of a record before its name.
const RECORD_BYTES: usize = 19;

/// What the index says of a file.
pub mod note {
    /// It is to be looked at.
    pub const LOOK: u32 = 0;
    /// It is known to be binary.
    pub const BINARY: u32 = 1;
    /// It is there only because it stands out.
    pub const LEFT_OUT: u32 = 2;
    /// It is to be looked at, and has no NUL byte and no byte order mark.
    pub const PLAIN: u32 = 3;
}

impl Folder<'_> {
    /// What the index says of an entry, a [`note`].
    #[must_use]
    pub fn note(&self, place: usize) -> u32 {
        self.known(place, 0).unwrap_or(note::LOOK)
    }

    /// The number of an entry in the index.
    #[must_use]
    pub fn number(&self, place: usize) -> Option<i32> {
        i32::try_from(self.known(place, 4)?.checked_sub(1)?).ok()
    }

    fn known(&self, place: usize, offset: usize) -> Option<u32> {
        if self.handle != LISTED {
            return None;
        }
        let [at, ..] = *self.entries().get(place)?;
        let record = (at as usize).checked_sub(RECORD_BYTES)?;
        Some(u32::from_le_bytes(*self.raw.get(record + offset..)?.first_chunk()?))
    }

    /// The entries of the choice.
    #[must_use]
    pub fn entries(&self) -> &[[u32; NUMBERS]] {
        self.order.as_chunks().0
    }

    /// The name of an entry.
    #[must_use]
    pub fn name(&self, place: usize) -> &[u8] {
        let len = self.entries().get(place).map_or(0, |[_, len, _]| *len as usize);
        self.name_to_end(place).get(..len).unwrap_or(&[])
    }

    /// The name of an entry with its NUL byte and whatever follows.
    #[must_use]
    pub fn name_to_end(&self, place: usize) -> &[u8] {
        let at = self.entries().get(place).map_or(usize::MAX, |[at, ..]| *at as usize);
        self.raw.get(at..).unwrap_or(b"\0")
    }

    /// True if the choice ends before an entry.
    #[must_use]
    pub fn is_done(&self, next: usize) -> bool {
        next * NUMBERS >= self.order.len()
    }
}

/// Searches files until a stretch is over, or one matched whose lines are to be shown. Gives the entry to go on with, which is the
/// same one while a long file is not over.
pub fn visit(
    searcher: &mut Searcher,
    files: &mut impl Files,
    folder: Folder<'_>,
    (report, stretch): (&mut Report, &mut Stretch),
) -> usize {
    let entries = folder.entries();
    let mut place = folder.from;
    while place < entries.len() && !stretch.is_over() {
        let note = folder.note(place);
        if entries[place][2] == FILE && note != note::LEFT_OUT {
            let end = match searcher.step(files) {
                Some(step) => ended(step, stretch),
                None if note == note::BINARY => Some(end::BINARY),
                None => {
                    let by_head = note == note::PLAIN && searcher.lists_by_line();
                    search(searcher, files, (folder.handle, folder.name_to_end(place), by_head), stretch)
                }
            };
            let Some(end) = end else { continue };
            if end != 0 {
                report.tell(place, end);
            }
            if end == end::PART {
                break;
            }
            if end > 0 && searcher.keeps_lines() {
                place += 1;
                break;
            }
        }
        place += 1;
    }
    place
}

/// Searches a file, or the first piece of it. Nothing if there is more to come. `by_head`: a line that matches is all that is wanted, and the
/// file is known to have nothing that a search ends at.
fn search(
    searcher: &mut Searcher,
    files: &mut impl Files,
    (folder, name, by_head): (i32, &[u8], bool),
    stretch: &mut Stretch,
) -> Option<i32> {
    searcher.leave(files);
    let file = files.open(folder, name);
    if file < 0 {
        return Some(end::UNREADABLE);
    }
    let (filled, head) = if by_head { search_head(searcher, files, file) } else { (0, Head::default()) };
    if head.matches {
        files.close(file);
        stretch.file(filled);
        return Some(1);
    }
    match load_open(searcher, files, file, (filled, searcher.takes_pieces())) {
        Ok(Loaded::Begun) => {
            stretch.file(0);
            ended(searcher.step(files)?, stretch)
        }
        Ok(Loaded::Whole { filled, from }) => {
            files.close(file);
            stretch.file(filled);
            let is_none = filled == 0 && !searcher.wants_none();
            // What was read once more may be another text.
            let searched = if from == 0 { 0 } else { head.searched };
            Some(counted(if is_none { Some(0) } else { searcher.search_on(filled, 0, searched) }))
        }
        Err(end) => {
            files.close(file);
            Some(end)
        }
    }
}

/// Reads and searches the first bytes of a file, so that the others need not be read if a line in them matches. Gives how many were read.
fn search_head(searcher: &mut Searcher, files: &mut impl Files, file: i32) -> (usize, Head) {
    let room = HEAD_BYTES.min(searcher.first_bytes() / 2);
    let buffer = searcher.reserve(searcher.first_bytes());
    let filled = usize::try_from(files.read(file, &mut buffer[..room], 0)).unwrap_or(0);
    // What ends here is searched as a whole.
    (filled, if filled < room { Head::default() } else { searcher.search_head(filled) })
}

/// What a step tells of its file.
fn ended(step: Step, stretch: &mut Stretch) -> Option<i32> {
    stretch.step();
    match step {
        Step::More => None,
        Step::Part => Some(end::PART),
        Step::Over(count) => Some(counted(count)),
        Step::Failed(end) => Some(end),
    }
}

fn counted(count: Option<u32>) -> i32 {
    count.map_or(end::BINARY, |count| i32::try_from(count).unwrap_or(i32::MAX))
}

/// Reads a whole file into the searcher's buffer and gives its bytes, or an [`end`].
pub fn load(searcher: &mut Searcher, files: &mut impl Files, folder: i32, name: &[u8]) -> Result<usize, i32> {
    let file = files.open(folder, name);
    if file < 0 {
        return Err(end::UNREADABLE);
    }
    let loaded = load_open(searcher, files, file, (0, false));
    files.close(file);
    loaded.map(|loaded| match loaded {
        Loaded::Whole { filled, .. } => filled,
        Loaded::Begun => 0,
    })
}

/// What became of a file that was opened.
enum Loaded {
    /// The buffer holds all its bytes, of which those from a place on were read here.
    Whole { filled: usize, from: usize },
    /// The searcher has it, and closes it.
    Begun,
}

/// Reads the file behind those bytes of it that the buffer holds, or all of it if it needs a longer buffer.
fn load_open(
    searcher: &mut Searcher,
    files: &mut impl Files,
    file: i32,
    (mut from, in_pieces): (usize, bool),
) -> Result<Loaded, i32> {
    let first = searcher.first_bytes();
    let mut buffer = &mut searcher.reserve(first)[..first];
    let mut filled = from;
    loop {
        let read = files.read(file, &mut buffer[filled..], filled as u64);
        // The end shows by a read of nothing: some file systems give less than was asked for before it.
        let Ok(read) = usize::try_from(read) else { return Err(end::UNREADABLE) };
        if read == 0 {
            return Ok(Loaded::Whole { filled, from });
        }
        filled += read;
        if filled < buffer.len() {
            continue;
        }
        let size = files.size(file);
        if size == filled as f64 {
            return Ok(Loaded::Whole { filled, from });
        }
        // Files that the kernel makes up say that they have no bytes; others lost some since.
        let known = (size > filled as f64).then_some(size as u64);
        if in_pieces && searcher.begin(file, filled, known) {
            return Ok(Loaded::Begun);
        }
        if size > LIMIT_BYTES as f64 || filled > LIMIT_BYTES {
            return Err(end::TOO_LARGE);
        }
        // One more than there is: then it shows that there was no more. A longer buffer is another one, so all is read again.
        let bytes = if known.is_some() { size as usize + 1 } else { filled * 2 };
        buffer = &mut searcher.reserve(bytes)[..bytes];
        (filled, from) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::Choice;
    use crate::pattern::Pattern;
    use crate::render::Shape;
    use crate::report::{HEAD, number};
    use crate::searcher::{Mode, Query};

    /// Files by their names; a read gives as much as `piece` at once.
    struct Given {
        files: Vec<(&'static str, Vec<u8>)>,
        piece: usize,
        open: usize,
    }

    impl Files for Given {
        fn open(&mut self, _: i32, name: &[u8]) -> i32 {
            let name = name.split(|byte| *byte == 0).next().unwrap();
            self.open += 1;
            self.files.iter().position(|(given, _)| given.as_bytes() == name).map_or(-1, number)
        }
        fn read(&mut self, file: i32, to: &mut [u8], from: u64) -> i32 {
            let from = usize::try_from(from).unwrap();
            let (name, text) = &self.files[usize::try_from(file).unwrap()];
            if *name == "fifo" {
                return -1;
            }
            let bytes = to.len().min(self.piece).min(text.len() - from);
            to[..bytes].copy_from_slice(&text[from..from + bytes]);
            number(bytes)
        }
        fn size(&mut self, file: i32) -> f64 {
            let (name, text) = &self.files[usize::try_from(file).unwrap()];
            if *name == "huge" { 1e12 } else { text.len() as f64 }
        }
        fn changed(&mut self, _: i32, _: &[u8]) -> f64 {
            0.0
        }
        fn close(&mut self, _: i32) {
            self.open -= 1;
        }
    }

    fn visited(names: &[&str], files: &mut Given, mode: Mode, from: usize) -> Vec<i32> {
        let mut searcher = Searcher::default();
        let pattern = Pattern { text: "needle".into(), ..Pattern::default() };
        searcher.compile(&Query { pattern, mode, choice: Choice::default(), shape: Shape::default() }).unwrap();
        let raw = names.join("\0") + "\0";
        let mut order = Vec::new();
        for name in names {
            let at = raw.find(&format!("{name}\0")).unwrap();
            order.extend([at, name.len(), usize::from(*name == "folder")].map(|number| u32::try_from(number).unwrap()));
        }
        let mut report = Report::default();
        let folder = Folder { handle: 3, raw: raw.as_bytes(), order: &order, from };
        report.begin();
        let next = visit(&mut searcher, files, folder, (&mut report, &mut Stretch::default()));
        [&[number(next)], &report.numbers()[1..2], &report.numbers()[HEAD..]].concat()
    }

    #[test]
    fn files_that_match_are_told_of_and_those_that_could_not_be_searched() {
        let long = [b"x\n".repeat(FIRST_BYTES), b"\nneedle".to_vec()].concat();
        let files = vec![
            ("a", b"needle\nneedle".to_vec()),
            ("b", b"nothing".to_vec()),
            ("binary", b"\0needle".to_vec()),
            ("fifo", Vec::new()),
            ("long", long),
            ("c", b"needle".to_vec()),
        ];
        let mut given = Given { files, piece: usize::MAX, open: 0 };
        let names = ["a", "b", "folder", "binary", "fifo", "long", "c"];
        // The host has its turn after a piece of the long file, which is the same entry then.
        assert_eq!(visited(&names, &mut given, Mode::Count, 0), [5, 3, 0, 2, 3, end::BINARY, 4, end::UNREADABLE]);
        assert_eq!(visited(&names, &mut given, Mode::Count, 6), [7, 1, 6, 1]);
        given.piece = 5;
        assert_eq!(visited(&names, &mut given, Mode::Count, 0)[1], 3);
        assert_eq!(visited(&["a", "gone"], &mut given, Mode::Count, 1), [2, 1, 1, end::UNREADABLE]);
        assert_eq!(given.open, 3, "all but the one that is not there and those that were left were closed");
    }

    #[test]
    fn a_file_that_must_be_searched_as_a_whole_has_a_limit() {
        let long = [b"x".repeat(FIRST_BYTES * 2), b"\nneedle".to_vec()].concat();
        let files = vec![("huge", vec![b'x'; FIRST_BYTES]), ("long", long)];
        let mut given = Given { files, piece: usize::MAX, open: 0 };
        let mut searcher = Searcher::default();
        let pattern = Pattern { text: r"x\nneedle".into(), multiline: true, ..Pattern::default() };
        searcher
            .compile(&Query { pattern, mode: Mode::Count, choice: Choice::default(), shape: Shape::default() })
            .unwrap();
        let mut told = |name: &[u8]| search(&mut searcher, &mut given, (3, name, false), &mut Stretch::default());
        assert_eq!((told(b"huge\0"), told(b"long\0")), (Some(end::TOO_LARGE), Some(1)));
        assert_eq!(given.open, 0);
    }

    #[test]
    fn the_host_gets_its_turn_at_each_file_whose_lines_it_may_show() {
        let files = vec![("a", b"needle".to_vec()), ("b", b"needle".to_vec())];
        let mut given = Given { files, piece: usize::MAX, open: 0 };
        assert_eq!(visited(&["a", "b"], &mut given, Mode::Content, 0), [1, 1, 0, 1]);
        assert_eq!(visited(&["a", "b"], &mut given, Mode::FilesWithMatches, 0), [2, 2, 0, 1, 1, 1]);
    }

    fn record(name: &str, note: u32, number: u32) -> Vec<u8> {
        let mut raw = [note.to_le_bytes(), number.to_le_bytes()].concat();
        raw.resize(RECORD_BYTES, 0);
        [raw, format!("{name}\0").into_bytes()].concat()
    }

    /// A file that is another text at each read of it, as long as there is another.
    struct Changing {
        texts: Vec<Vec<u8>>,
        reads: usize,
        bytes: usize,
        open: i32,
    }

    impl Files for Changing {
        fn open(&mut self, _: i32, _: &[u8]) -> i32 {
            self.open += 1;
            0
        }
        fn read(&mut self, _: i32, to: &mut [u8], from: u64) -> i32 {
            let text = &self.texts[self.reads.min(self.texts.len() - 1)];
            let rest = text.get(usize::try_from(from).unwrap()..).unwrap_or(&[]);
            let bytes = to.len().min(rest.len());
            to[..bytes].copy_from_slice(&rest[..bytes]);
            (self.reads, self.bytes) = (self.reads + 1, self.bytes + bytes);
            number(bytes)
        }
        fn size(&mut self, _: i32) -> f64 {
            self.texts[self.reads.min(self.texts.len() - 1)].len() as f64
        }
        fn changed(&mut self, _: i32, _: &[u8]) -> f64 {
            0.0
        }
        fn close(&mut self, _: i32) {
            self.open -= 1;
        }
    }

    fn query(text: &str, mode: Mode, choice: Choice) -> Query {
        let pattern = Pattern { text: text.into(), ..Pattern::default() };
        Query { pattern, mode, choice, shape: Shape::default() }
    }

    fn searcher(query: &Query) -> Searcher {
        let mut searcher = Searcher::default();
        searcher.compile(query).unwrap();
        searcher
    }

    fn listing(text: &str) -> Query {
        query(text, Mode::FilesWithMatches, Choice::default())
    }

    /// What is told of one file of which the index says that, and how many bytes of it were read.
    fn told_of(texts: &[Vec<u8>], note: u32, searcher: &mut Searcher) -> (Option<i32>, usize) {
        let raw = record("f", note, 0);
        let folder = Folder { handle: LISTED, raw: &raw, order: &[19, 1, FILE], from: 0 };
        let mut given = Changing { texts: texts.to_vec(), reads: 0, bytes: 0, open: 0 };
        let mut report = Report::default();
        report.begin();
        // A long file has several turns.
        while visit(searcher, &mut given, folder, (&mut report, &mut Stretch::default())) == 0 {}
        assert_eq!(given.open, 0);
        (report.numbers().get(HEAD + 1).copied(), given.bytes)
    }

    fn filled(line: &str, bytes: usize) -> Vec<u8> {
        line.bytes().cycle().take(bytes).collect()
    }

    #[test]
    fn a_list_reads_no_more_than_the_first_bytes_of_a_plain_file_if_a_line_in_them_matches() {
        let text = [b"hay\nneedle\n".to_vec(), filled("hay\n", HEAD_BYTES * 2), b"\0".to_vec()].concat();
        let told = |note, query: &Query| told_of(core::slice::from_ref(&text), note, &mut searcher(query));
        assert_eq!(told(note::PLAIN, &listing("needle")), (Some(1), HEAD_BYTES));
        assert_eq!(told(note::LOOK, &listing("needle")), (Some(end::BINARY), text.len()));
        // All else hangs on all of a file.
        let choices = [
            Choice { invert: true, ..Choice::default() },
            Choice { without: true, ..Choice::default() },
            Choice { max_count: 1, ..Choice::default() },
        ];
        let all = [Mode::Count, Mode::Content].map(|mode| query("needle", mode, Choice::default()));
        let listed = choices.map(|choice| query("needle", Mode::FilesWithMatches, choice));
        let mut spans = listing("needle\n");
        spans.pattern.multiline = true;
        for query in [&all[..], &listed, &[spans]].concat() {
            let (told, bytes) = told(note::PLAIN, &query);
            assert_eq!(
                (told, bytes),
                told_of(core::slice::from_ref(&text), note::LOOK, &mut searcher(&query)),
                "{query:?}"
            );
            assert_eq!(bytes, text.len(), "{query:?}");
        }
    }

    #[test]
    fn what_the_first_bytes_of_a_plain_file_tell_is_what_the_whole_file_tells() {
        const PATTERNS: [&str; 17] = [
            "needle",
            "(?i)NEEDLE",
            "^needle",
            "needle$",
            r"\Aneedle",
            r"needle\z",
            r"\Aneedle\z",
            r"(?-m)^needle",
            r"(?-m)needle$",
            "^$",
            "$",
            r"\r$",
            r"\bneedle\b",
            r"\B",
            r"\w+needle",
            r"[^a-z]needle",
            "h.*e",
        ];
        // So small that there are few lines in it; some texts are longer than the buffer, and so are searched in pieces.
        let buffer = 128;
        let head = buffer / 2;
        let ends =
            ["needle", "needle\n", "\nneedle", "\nneedle\n", "\r\nneedle\r\n", "\n\n", "\n\r\nneedle", "-needle-\n"];
        let mut texts = Vec::new();
        for line in ["hay\n", "hay\r\n", "hay"] {
            for bytes in head - 9..=head + 2 {
                for end in ends {
                    texts.push([filled(line, bytes), end.into()].concat());
                    texts.push([filled(line, bytes), end.into(), b"\nhay".to_vec()].concat());
                }
            }
        }
        // What the index did not say, since nobody told it.
        for text in [
            &b"needle\n\0"[..],
            b"\0\nneedle\n",
            b"\n\nneedle\0",
            b"\xEF\xBB\xBFneedle\n",
            b"\xFF\xFEn\0\n\0",
            b"\xFE\xFF\0n",
        ] {
            for line in ["hay\n", "needle\n", "h\0"] {
                texts.push([text, &filled(line, head * 2)].concat());
                texts.push([&filled("hay\n", head - 20), text, &filled(line, head)].concat());
            }
        }
        for pattern in PATTERNS {
            for word in [false, true] {
                let mut query = listing(pattern);
                query.pattern.word = word;
                let mut searcher = Searcher::with_pieces(buffer);
                searcher.compile(&query).unwrap();
                let mut matched = 0;
                for text in &texts {
                    let (looked, _) = told_of(core::slice::from_ref(text), note::LOOK, &mut searcher);
                    let (plain, _) = told_of(core::slice::from_ref(text), note::PLAIN, &mut searcher);
                    matched += u32::from(plain == Some(1));
                    assert_eq!(plain, looked, "{pattern} {word} {}", text.escape_ascii());
                }
                assert!(matched > 0 || word, "{pattern}");
            }
        }
    }

    #[test]
    fn a_plain_file_that_changes_between_two_reads_is_what_was_read() {
        let hay = filled("hay\n", HEAD_BYTES * 2);
        let cases = [
            // It grew, shrank, and was written over.
            ([filled("hay\n", HEAD_BYTES), [hay.clone(), b"needle".to_vec()].concat()], Some(1)),
            ([filled("hay", HEAD_BYTES), [filled("hay", HEAD_BYTES), b"needle".to_vec()].concat()], Some(1)),
            ([[hay.clone(), b"needle".to_vec()].concat(), hay.clone()], None),
            ([[hay.clone(), b"needle".to_vec()].concat(), b"needle".to_vec()], None),
            ([hay.clone(), filled("\0needle\n", HEAD_BYTES * 2)], Some(end::BINARY)),
            ([hay.clone(), b"".to_vec()], None),
            // Shorter than the first read may give: the end shows by a read of nothing.
            ([b"hay\n".to_vec(), b"hay\nneedle".to_vec()], Some(1)),
            // Longer than the buffer, and searched in pieces from the start.
            ([hay.clone(), [filled("hay\n", FIRST_BYTES), b"needle".to_vec()].concat()], Some(1)),
            ([hay, [filled("hay\n", FIRST_BYTES), b"hay".to_vec()].concat()], None),
        ];
        for (at, (texts, told)) in cases.iter().enumerate() {
            assert_eq!(told_of(texts, note::PLAIN, &mut searcher(&listing("needle"))).0, *told, "{at}");
        }
    }

    #[test]
    fn what_the_index_knows_of_a_file_is_heeded_in_its_folders_only() {
        let raw = [record("a", note::LOOK, 8), record("b", note::BINARY, 0), record("c", note::LEFT_OUT, 3)].concat();
        let order = [19, 1, 0, 40, 1, 0, 61, 1, 0];
        let mut given =
            Given { files: ["a", "b", "c"].map(|name| (name, b"needle".to_vec())).into(), piece: 99, open: 0 };
        let mut searcher = Searcher::default();
        let pattern = Pattern { text: "needle".into(), ..Pattern::default() };
        let query = Query { pattern, mode: Mode::Count, choice: Choice::default(), shape: Shape::default() };
        searcher.compile(&query).unwrap();
        for (handle, told) in [(LISTED, vec![0, 1, 1, end::BINARY]), (3, vec![0, 1, 1, 1, 2, 1])] {
            let folder = Folder { handle, raw: &raw, order: &order, from: 0 };
            let mut report = Report::default();
            report.begin();
            visit(&mut searcher, &mut given, folder, (&mut report, &mut Stretch::default()));
            assert_eq!(report.numbers()[HEAD..], told);
            let numbers = [0, 1, 2].map(|place| folder.number(place));
            assert_eq!(numbers, if handle == LISTED { [Some(7), None, Some(2)] } else { [None; 3] });
        }
    }
}
