//! Which files can't match a pattern: a signature of each file's grams, kept in memory.
//!
//! A signature is a Bloom filter with one hash over all three and all four bytes in a row of the file's text as a search sees it, ASCII
//! letters in lower case, none across a line end. 64 files of about the same number of grams share a block: row `r` of it has one
//! bit for each of them. So a gram is looked up for 64 files at once, and what a query needs is a few operations on words.

use crate::encoding::{Text, sniff};
use crate::index_need::{Gram, Need};
use crate::reach::{SNIFFED_BYTES, first_read, reach};
use crate::scan::LINE_SNIFFED_BYTES;
use memchr::memchr;

/// Files with more different grams are not told apart: dumps and packed data, which would cost more than reading them.
const MOST_KEYS: usize = 1 << 18;

/// Bits of the number that stands for a gram.
const KEY_BITS: u32 = 22;

/// Rows for each gram: with one hash, 1 - e^(-1/1.8) = 0.43 of the bits are set then.
const ROWS_A_KEY: f64 = 1.8;

/// Rows of the smallest block. Each class of blocks has 2^(1/4) times as many as the one before it.
const LEAST_ROWS: f64 = 64.0;
const CLASSES_A_DOUBLING: f64 = 4.0;

/// Places for what was noted: a power of two, as much as stays in the cache that is nearest.
const NOTED: usize = 4096;

/// So much of a file is looked at before its grams are noted: of each byte there are two keys at most.
const PIECE: usize = 4096;
const PIECE_KEYS: usize = 2 * PIECE + 1;

/// Columns of a block.
const FILES: u32 = u64::BITS;

/// 64 files whose signatures have the same number of rows.
struct Block {
    class: usize,
    rows: Vec<u64>,
    /// The columns in use.
    used: u64,
    /// Files whose first bytes have a NUL in them, for a search by line and for one over lines.
    binary_by_line: u64,
    binary_over_lines: u64,
    /// Files that have no NUL and no byte order mark.
    plain: u64,
}

/// What is known of a file that is chosen, in the lower bits of its number.
pub mod chosen {
    /// It is to be looked at.
    pub const LOOK: u32 = 0;
    /// It needs no look: a NUL byte ends its search before a match is found.
    pub const BINARY: u32 = 1;
    /// It is to be looked at, and has no NUL byte and no byte order mark.
    pub const PLAIN: u32 = 2;
    /// How many bits that takes.
    pub const BITS: u32 = 2;
}

/// The signatures of one tree's files.
#[derive(Default)]
pub struct Index {
    blocks: Vec<Option<Block>>,
    /// By class: blocks that may have a free column.
    open: Vec<Vec<u32>>,
    free: Vec<u32>,
    /// One bit for each key, all 0 between two files, and the keys of the file at hand, so many of the room for them.
    seen: Vec<u64>,
    keys: Vec<u32>,
    count: usize,
    /// Four bytes in a row that were noted in the file at hand, each at a place of its own: most come again and again.
    noted: Vec<u32>,
    chosen: Vec<u32>,
    bytes: usize,
}

impl Index {
    /// Takes a file. Returns its number, or nothing if it has too many different grams to be told from others.
    pub fn add(&mut self, file: &[u8]) -> Option<u32> {
        let decoded;
        let (text, first) = match sniff(file) {
            Text::Bytes(start) => (&file[start..], first_read(start)),
            Text::Decoded(text) => {
                decoded = text;
                (decoded.as_slice(), usize::MAX)
            }
        };
        let nul = memchr(0, text);
        let has_nul = |bytes: usize| nul.is_some_and(|at| at < bytes);
        let (by_line, over_lines) = (has_nul(LINE_SNIFFED_BYTES), has_nul(SNIFFED_BYTES));
        let plain = nul.is_none() && first == first_read(0);
        // A search over lines leaves such a file alone, so only what one by line sees of it counts.
        let fits = self.collect(if by_line { &text[..reach(text, first)] } else { text });
        let number = fits.then(|| self.place());
        if let Some(number) = number {
            self.mark(number);
            self.say(number, by_line, over_lines, plain);
        }
        for key in &self.keys[..self.count] {
            self.seen[(key >> 6) as usize] = 0;
        }
        self.count = 0;
        number
    }

    /// Forgets a file. Its number may be given out again.
    pub fn remove(&mut self, number: u32) {
        let (at, column) = (number / FILES, 1 << (number % FILES));
        let Some(slot) = self.blocks.get_mut(at as usize) else { return };
        let Some(block) = slot.as_mut().filter(|block| block.used & column != 0) else { return };
        block.used &= !column;
        let class = block.class;
        if block.used == 0 {
            self.bytes -= block.rows.len() * size_of::<u64>();
            *slot = None;
            self.free.push(at);
            self.open[class].retain(|open| *open != at);
            return;
        }
        for row in &mut block.rows {
            *row &= !column;
        }
        block.binary_by_line &= !column;
        block.binary_over_lines &= !column;
        block.plain &= !column;
        if !self.open[class].contains(&at) {
            self.open[class].push(at);
        }
    }

    /// The files that a search must look at, and those of which it is known without a look that a NUL byte ends their search before a match is
    /// found: each one's number, and in the lower bits what [`chosen`] says.
    pub fn choose(&mut self, need: &Need, spans_lines: bool) -> &[u32] {
        self.chosen.clear();
        for (at, block) in (0..).zip(&self.blocks) {
            let Some(block) = block else { continue };
            let binary = block.used & if spans_lines { block.binary_over_lines } else { block.binary_by_line };
            let mut may = need.files(&|gram| block.rows[row(key(gram), block.rows.len())]) & block.used;
            if spans_lines {
                may &= !binary;
            }
            let mut left = may | binary;
            while left != 0 {
                let column = left.trailing_zeros();
                left &= left - 1;
                let is = |files: u64| files >> column & 1 == 1;
                let known = match (is(may), is(block.plain)) {
                    (false, _) => chosen::BINARY,
                    (true, true) => chosen::PLAIN,
                    (true, false) => chosen::LOOK,
                };
                self.chosen.push((at * FILES + column) << chosen::BITS | known);
            }
        }
        &self.chosen
    }

    /// What the last call of `choose` gave.
    #[must_use]
    pub fn chosen(&self) -> &[u32] {
        &self.chosen
    }

    /// Bytes that the signatures take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Collects the keys of a text's grams. False if there are too many. Written without branches on what the bytes are: which gram is new is what
    /// a processor can't guess.
    fn collect(&mut self, text: &[u8]) -> bool {
        self.seen.resize(1 << (KEY_BITS - 6), 0);
        self.keys.resize(MOST_KEYS + PIECE_KEYS, 0);
        self.noted.clear();
        self.noted.resize(NOTED, 0);
        // Four NUL bytes have the first place: there must be something else, which has another.
        self.noted[0] = 1;
        let (mut fours, mut threes) = ([0u32; PIECE], [0u32; PIECE]);
        // As if a line ended before: then four bytes that are no gram have a line end in them, and are never taken for one.
        let (mut last, mut since_line_end) = (u32::from_ne_bytes([b'\n'; 4]), 0u32);
        for piece in text.chunks(PIECE) {
            let (mut four, mut three) = (0, 0);
            for byte in piece {
                let lower = byte.to_ascii_lowercase();
                since_line_end = if lower == b'\n' { 0 } else { since_line_end.saturating_add(1) };
                last = last << 8 | u32::from(lower);
                let place = last.wrapping_mul(0x9E37_79B1) as usize >> (u32::BITS - NOTED.trailing_zeros());
                let is_known = core::mem::replace(&mut self.noted[place], last) == last;
                fours[four % PIECE] = last;
                four += usize::from((since_line_end >= 4) & !is_known);
                threes[three % PIECE] = last;
                three += usize::from(since_line_end == 3);
            }
            for gram in &fours[..four] {
                self.note(key(Gram::Four(*gram)));
                self.note(key(Gram::Three(gram & 0xFF_FFFF)));
            }
            for gram in &threes[..three] {
                self.note(key(Gram::Three(gram & 0xFF_FFFF)));
            }
            if self.count > MOST_KEYS {
                return false;
            }
        }
        true
    }

    fn note(&mut self, key: u32) {
        let (word, bit) = (&mut self.seen[(key >> 6) as usize], 1 << (key & 63));
        self.keys[self.count] = key;
        self.count += usize::from(*word & bit == 0);
        *word |= bit;
    }

    /// A free column in a block that suits the keys at hand.
    fn place(&mut self) -> u32 {
        let class = class_of(self.count);
        if self.open.len() <= class {
            self.open.resize_with(class + 1, Vec::new);
        }
        let at = self.open[class].last().copied().unwrap_or_else(|| self.make_block(class));
        let Some(block) = &mut self.blocks[at as usize] else { unreachable!("an open block is there") };
        let column = (!block.used).trailing_zeros();
        block.used |= 1 << column;
        if block.used == u64::MAX {
            self.open[class].pop();
        }
        at * FILES + column
    }

    fn make_block(&mut self, class: usize) -> u32 {
        let rows = vec![0; rows_of(class)];
        self.bytes += rows.len() * size_of::<u64>();
        let block = Some(Block { class, rows, used: 0, binary_by_line: 0, binary_over_lines: 0, plain: 0 });
        let at = self.free.pop().unwrap_or_else(|| {
            self.blocks.push(None);
            u32::try_from(self.blocks.len() - 1).unwrap_or(u32::MAX)
        });
        self.blocks[at as usize] = block;
        self.open[class].push(at);
        at
    }

    fn mark(&mut self, number: u32) {
        let Some(Some(block)) = self.blocks.get_mut((number / FILES) as usize) else { return };
        let column = number % FILES;
        let rows = block.rows.len();
        for key in &self.keys[..self.count] {
            block.rows[row(*key, rows)] |= 1 << column;
        }
    }

    fn say(&mut self, number: u32, by_line: bool, over_lines: bool, plain: bool) {
        let Some(Some(block)) = self.blocks.get_mut((number / FILES) as usize) else { return };
        let column = number % FILES;
        block.binary_by_line |= u64::from(by_line) << column;
        block.binary_over_lines |= u64::from(over_lines) << column;
        block.plain |= u64::from(plain) << column;
    }
}

/// The number that stands for a gram: the upper bits of a product (Fibonacci hashing). Different grams may have the same.
fn key(gram: Gram) -> u32 {
    match gram {
        Gram::Three(number) => number.wrapping_mul(0x9E37_79B1) >> (u32::BITS - KEY_BITS),
        Gram::Four(number) => (number ^ number >> 15).wrapping_mul(0x85EB_CA6B) >> (u32::BITS - KEY_BITS),
    }
}

fn row(key: u32, rows: usize) -> usize {
    ((u64::from(key) * rows as u64) >> KEY_BITS) as usize
}

fn class_of(keys: usize) -> usize {
    let rows = keys as f64 * ROWS_A_KEY / LEAST_ROWS;
    (rows.max(1.0).log2() * CLASSES_A_DOUBLING).ceil() as usize
}

fn rows_of(class: usize) -> usize {
    (LEAST_ROWS * (class as f64 / CLASSES_A_DOUBLING).exp2()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::Choice;
    use crate::pattern::{Case, Pattern, need};
    use crate::render::Shape;
    use crate::searcher::{Mode, Query, Searcher};

    /// A number from a small generator: the same in each run.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % end
        }

        fn pick<'a>(&mut self, from: &[&'a [u8]]) -> &'a [u8] {
            from[self.below(from.len())]
        }
    }

    fn chosen(index: &mut Index, text: &str) -> Vec<u32> {
        let (need, spans_lines) = need(&Pattern { text: text.into(), ..Pattern::default() }).unwrap();
        index.choose(&need, spans_lines).to_vec()
    }

    fn plain(number: u32) -> u32 {
        number << chosen::BITS | chosen::PLAIN
    }

    #[test]
    fn a_file_without_what_is_needed_is_left_out() {
        let mut index = Index::default();
        let numbers: Vec<_> = [&b"one needle"[..], b"hay", b"NEEDLE\n", b"nee\ndle"]
            .iter()
            .map(|file| index.add(file).unwrap())
            .collect();
        assert_eq!(chosen(&mut index, "needle"), [plain(numbers[0]), plain(numbers[2])]);
        assert_eq!(chosen(&mut index, "absent"), [0; 0]);
    }

    #[test]
    fn a_number_that_was_given_back_is_forgotten_and_given_out_again() {
        let mut index = Index::default();
        let (first, second) = (index.add(b"needle").unwrap(), index.add(b"needle").unwrap());
        index.remove(first);
        assert_eq!(chosen(&mut index, "needle"), [plain(second)]);
        assert_eq!(index.add(b"other"), Some(first));
        assert_eq!(chosen(&mut index, "needle"), [plain(second)]);
        index.remove(first);
        index.remove(second);
        assert_eq!((index.bytes(), chosen(&mut index, "needle")), (0, vec![]));
        index.remove(second);
        index.remove(1 << 20);
        assert!(index.add(b"needle").is_some());
    }

    #[test]
    fn a_file_of_too_many_grams_has_no_number_and_leaves_nothing_behind() {
        let mut dice = Dice(1);
        let noise: Vec<u8> = (0..1 << 20).map(|_| u8::try_from(dice.below(255) + 1).unwrap()).collect();
        let mut index = Index::default();
        assert_eq!(index.add(&noise), None);
        assert!(index.seen.iter().all(|word| *word == 0));
    }

    #[test]
    fn binary_files_need_no_look_unless_a_match_may_come_before_the_nul() {
        let mut index = Index::default();
        let late = [b"needle\n".repeat(2000), b"\0".to_vec()].concat();
        let numbers = [&b"hay\0needle"[..], b"h\n\0", &late].map(|file| index.add(file).unwrap() << chosen::BITS);
        let binary = numbers.map(|number| number | chosen::BINARY);
        assert_eq!(chosen(&mut index, "needle"), [binary[0], binary[1], numbers[2] | chosen::LOOK]);
        assert_eq!(chosen(&mut index, "absent"), binary[..2]);
    }

    const TEXTS: &[&[u8]] = &[
        b"foo",
        b"Bar",
        b"k",
        b"s",
        "\u{212A}".as_bytes(),
        "\u{17F}".as_bytes(),
        "\u{C9}\u{E9}".as_bytes(),
        b"\n",
        b"\r\n",
        b" ",
        b"_",
        b"ab",
        b"\0",
        b"\xFF",
        b"aaaa",
        "\u{65E5}\u{672C}".as_bytes(),
        b"z",
    ];
    const ATOMS: &[&[u8]] = &[
        b"foo",
        b"bar",
        b"k",
        b"S",
        "\u{E9}".as_bytes(),
        b"\\s",
        b"\\w+",
        b".*",
        b"(foo|ba?r)",
        b"a{2,3}",
        b"[ks]",
        b"^",
        b"$",
        b"\\b",
        b"b+",
        b"(?i:FOO)",
        b"(?-u:\\xFF)",
        "\u{65E5}".as_bytes(),
        b"x?",
        b"(ab|k)+",
        b"[^a]",
        b"|",
        b"z\\z",
        b"\\n",
    ];

    /// What the search itself says of each file, and what the index said without a look.
    #[test]
    fn no_file_that_matches_is_left_out_and_no_binary_one_is_taken_for_text() {
        let mut dice = Dice(20_261_122);
        let mut searches = 0;
        for _ in 0..150 {
            let files: Vec<Vec<u8>> = (0..20)
                .map(|_| {
                    let filling =
                        if dice.below(16) == 0 { b"lots of hay\n".repeat(dice.below(8000)) } else { Vec::new() };
                    let mut file: Vec<u8> = (0..dice.below(14)).flat_map(|_| dice.pick(TEXTS).to_vec()).collect();
                    if dice.below(12) == 0 {
                        let text = String::from_utf8_lossy(&file).into_owned();
                        return [0xFF, 0xFE]
                            .into_iter()
                            .chain(text.encode_utf16().flat_map(u16::to_le_bytes))
                            .collect();
                    }
                    file.splice(file.len() / 2..file.len() / 2, filling);
                    file
                })
                .collect();
            let mut index = Index::default();
            let numbers: Vec<u32> = files.iter().map(|file| index.add(file).unwrap()).collect();
            for _ in 0..10 {
                let text: Vec<u8> = (0..=dice.below(4)).flat_map(|_| dice.pick(ATOMS).to_vec()).collect();
                let pattern = Pattern {
                    text: String::from_utf8(text).unwrap(),
                    fixed: dice.below(6) == 0,
                    case: [Case::Sensitive, Case::Ignore, Case::Smart][dice.below(3)],
                    word: dice.below(4) == 0,
                    multiline: dice.below(3) == 0,
                };
                searches += usize::from(compare(&mut index, &numbers, &files, &pattern));
            }
        }
        assert!(searches > 400, "{searches} searches in which the index had a say");
    }

    /// True if the index had a say.
    fn compare(index: &mut Index, numbers: &[u32], files: &[Vec<u8>], pattern: &Pattern) -> bool {
        let mut searcher = Searcher::default();
        let query =
            Query { pattern: pattern.clone(), mode: Mode::Count, choice: Choice::default(), shape: Shape::default() };
        if searcher.compile(&query).is_err() {
            return false;
        }
        let (need, spans_lines) = need(pattern).unwrap();
        let chosen = index.choose(&need, spans_lines).to_vec();
        for (number, file) in numbers.iter().zip(files) {
            searcher.reserve(file.len())[..file.len()].copy_from_slice(file);
            let found = searcher.search(file.len(), 0);
            let known = |known: u32| chosen.contains(&(number << chosen::BITS | known));
            if known(chosen::PLAIN) {
                assert!(!file.contains(&0) && found.is_some(), "{:?}", file.escape_ascii().to_string());
            }
            if known(chosen::LOOK) || known(chosen::PLAIN) {
                continue;
            }
            let told = if known(chosen::BINARY) { None } else { Some(0) };
            assert_eq!(found, told, "{pattern:?} in {:?}", file.escape_ascii().to_string());
        }
        need != Need::Anything
    }
}
