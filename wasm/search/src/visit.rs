//! Reads and searches the files of one folder, one after the other, without going back to the host for each.

use crate::long::Step;
use crate::searcher::Searcher;

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

/// What the host is told, as numbers in linear memory: six at its head, and for each file that there is something to tell of its place in the
/// choice and its number of matches or an [`end`]. At the head: where to go on or how the tour stands, how many files are
/// told of; of a tour also place and length of the folder's path, and two numbers more.
#[derive(Debug, Default)]
pub struct Report {
    numbers: Vec<i32>,
    path: Vec<u8>,
}

/// Numbers at the head of a report.
const HEAD: usize = 6;

impl Report {
    /// The numbers; those of the head are always there.
    #[must_use]
    pub fn numbers(&self) -> &[i32] {
        &self.numbers
    }

    /// Forgets what was told.
    pub fn begin(&mut self) {
        self.numbers.clear();
        self.numbers.resize(HEAD, 0);
    }

    /// Says where to go on, or how a tour stands.
    pub fn close(&mut self, state: usize) {
        self.numbers[0] = number(state);
    }

    /// Says what stands out in a folder that the host is to enter, and the number of its parent.
    pub fn ask(&mut self, seen: u32, parent: Option<u32>) {
        self.numbers.push(number(seen as usize));
        self.numbers.push(parent.map_or(-1, |parent| number(parent as usize)));
    }

    /// Says of which folder all this is.
    pub fn name(&mut self, path: &[u8]) {
        self.path.clear();
        self.path.extend_from_slice(path);
        // An address in linear memory of 32 bits; the host takes it for one without a sign.
        self.numbers[2] = self.path.as_ptr() as usize as i32;
        self.numbers[3] = number(self.path.len());
    }

    /// Says how many folders were opened, and how many wait.
    pub fn count(&mut self, opened: u32, waiting: usize) {
        self.numbers[4] = number(opened as usize);
        self.numbers[5] = number(waiting);
    }

    /// Tells of a file.
    pub fn tell(&mut self, place: usize, end: i32) {
        self.numbers.extend([number(place), end]);
        self.numbers[1] += 1;
    }

    /// Hands out what was told.
    pub fn each_told(&self, mut take: impl FnMut(usize, i32)) {
        for [place, end] in self.numbers[HEAD..].as_chunks().0 {
            take(*place as usize, *end);
        }
    }

    /// Keeps those of the files told of of which `keeps` says so.
    pub fn keep(&mut self, mut keeps: impl FnMut(usize, i32) -> bool) {
        let mut kept = HEAD;
        for at in (HEAD..self.numbers.len()).step_by(2) {
            let (place, end) = (self.numbers[at], self.numbers[at + 1]);
            if keeps(place as usize, end) {
                self.numbers.copy_within(at..at + 2, kept);
                kept += 2;
            }
        }
        self.numbers.truncate(kept);
        self.numbers[1] = number((kept - HEAD) / 2);
    }

    /// True if any file was told of.
    #[must_use]
    pub fn has_told(&self) -> bool {
        self.numbers[1] > 0
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
                None => search(searcher, files, (folder.handle, folder.name_to_end(place)), stretch),
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

/// Searches a file, or the first piece of it. Nothing if there is more to come.
fn search(
    searcher: &mut Searcher,
    files: &mut impl Files,
    (folder, name): (i32, &[u8]),
    stretch: &mut Stretch,
) -> Option<i32> {
    searcher.leave(files);
    let file = files.open(folder, name);
    if file < 0 {
        return Some(end::UNREADABLE);
    }
    match load_open(searcher, files, file, searcher.takes_pieces()) {
        Ok(Loaded::Begun) => {
            stretch.file(0);
            ended(searcher.step(files)?, stretch)
        }
        Ok(Loaded::Whole(filled)) => {
            files.close(file);
            stretch.file(filled);
            let count = if filled == 0 && !searcher.wants_none() { Some(0) } else { searcher.search(filled, 0) };
            Some(counted(count))
        }
        Err(end) => {
            files.close(file);
            Some(end)
        }
    }
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
    let loaded = load_open(searcher, files, file, false);
    files.close(file);
    loaded.map(|loaded| match loaded {
        Loaded::Whole(filled) => filled,
        Loaded::Begun => 0,
    })
}

/// What became of a file that was opened.
enum Loaded {
    /// The buffer holds all its bytes.
    Whole(usize),
    /// The searcher has it, and closes it.
    Begun,
}

fn load_open(searcher: &mut Searcher, files: &mut impl Files, file: i32, in_pieces: bool) -> Result<Loaded, i32> {
    let first = searcher.first_bytes();
    let mut buffer = &mut searcher.reserve(first)[..first];
    let mut filled = 0;
    loop {
        let read = files.read(file, &mut buffer[filled..], filled as u64);
        // The end shows by a read of nothing: some file systems give less than was asked for before it.
        let Ok(read) = usize::try_from(read) else { return Err(end::UNREADABLE) };
        if read == 0 {
            return Ok(Loaded::Whole(filled));
        }
        filled += read;
        if filled < buffer.len() {
            continue;
        }
        let size = files.size(file);
        if size == filled as f64 {
            return Ok(Loaded::Whole(filled));
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
        filled = 0;
    }
}

fn number(place: usize) -> i32 {
    i32::try_from(place).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::Choice;
    use crate::pattern::Pattern;
    use crate::render::Shape;
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
        let mut told = |name: &[u8]| search(&mut searcher, &mut given, (3, name), &mut Stretch::default());
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

    #[test]
    fn what_the_index_knows_of_a_file_is_heeded_in_its_folders_only() {
        let record = |name: &str, note: u32, number: u32| {
            let mut raw = [note.to_le_bytes(), number.to_le_bytes()].concat();
            raw.resize(RECORD_BYTES, 0);
            [raw, format!("{name}\0").into_bytes()].concat()
        };
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
