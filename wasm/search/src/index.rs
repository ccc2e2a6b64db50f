//! Which files can't match a pattern: a signature of each file's grams, kept in memory.
//!
//! A signature is a Bloom filter with one hash over all three and all four bytes in a row of the file's text as a search sees it, ASCII
//! letters in lower case, none across a line end. 64 files of about the same number of grams share a block: row `r` of it has one
//! bit for each of them. So a gram is looked up for 64 files at once, and what a query needs is a few operations on words.

use crate::encoding::{Text, sniff};
use crate::index_need::{Gram, Need};
use crate::reach::{SNIFFED_BYTES, reach};
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
}

/// The signatures of one tree's files.
#[derive(Default)]
pub struct Index {
    blocks: Vec<Option<Block>>,
    /// By class: blocks that may have a free column.
    open: Vec<Vec<u32>>,
    free: Vec<u32>,
    /// One bit for each key, all 0 between two files, and the keys of the file at hand.
    seen: Vec<u64>,
    keys: Vec<u32>,
    chosen: Vec<u32>,
    bytes: usize,
}

impl Index {
    /// Takes a file. Returns its number, or nothing if it has too many different grams to be told from others.
    pub fn add(&mut self, file: &[u8]) -> Option<u32> {
        let decoded;
        // What ripgrep's first read of a file without a mark gives, see `reach`.
        let (text, first_read) = match sniff(file) {
            Text::Bytes(start) => (&file[start..], if start == 0 { 3 } else { usize::MAX }),
            Text::Decoded(text) => {
                decoded = text;
                (decoded.as_slice(), usize::MAX)
            }
        };
        let has_nul = |bytes: usize| memchr(0, &text[..text.len().min(bytes)]).is_some();
        let (by_line, over_lines) = (has_nul(LINE_SNIFFED_BYTES), has_nul(SNIFFED_BYTES));
        // A search over lines leaves such a file alone, so only what one by line sees of it counts.
        let fits = self.collect(if by_line { &text[..reach(text, first_read)] } else { text });
        let number = fits.then(|| self.place());
        if let Some(number) = number {
            self.mark(number, by_line, over_lines);
        }
        for key in self.keys.drain(..) {
            self.seen[(key >> 6) as usize] = 0;
        }
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
        if !self.open[class].contains(&at) {
            self.open[class].push(at);
        }
    }

    /// The files that a search must look at, as twice the number; and those of which it is known without a look that a NUL byte
    /// ends their search before a match is found, as twice the number plus 1.
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
                self.chosen.push((at * FILES + column) << 1 | u32::from(may >> column & 1 == 0));
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

    /// Collects the keys of a text's grams. False if there are too many.
    fn collect(&mut self, text: &[u8]) -> bool {
        if self.seen.is_empty() {
            self.seen.resize(1 << (KEY_BITS - 6), 0);
        }
        let (mut last, mut since_line_end) = (0u32, 0u32);
        for byte in text {
            let lower = byte.to_ascii_lowercase();
            since_line_end = if lower == b'\n' { 0 } else { since_line_end + 1 };
            last = last << 8 | u32::from(lower);
            if since_line_end >= 3 {
                self.note(key(Gram::Three(last & 0xFF_FFFF)));
                if since_line_end >= 4 {
                    self.note(key(Gram::Four(last)));
                }
                if self.keys.len() > MOST_KEYS {
                    return false;
                }
            }
        }
        true
    }

    fn note(&mut self, key: u32) {
        let (word, bit) = (&mut self.seen[(key >> 6) as usize], 1 << (key & 63));
        if *word & bit == 0 {
            *word |= bit;
            self.keys.push(key);
        }
    }

    /// A free column in a block that suits the keys at hand.
    fn place(&mut self) -> u32 {
        let class = class_of(self.keys.len());
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
        let block = Some(Block { class, rows, used: 0, binary_by_line: 0, binary_over_lines: 0 });
        let at = self.free.pop().unwrap_or_else(|| {
            self.blocks.push(None);
            u32::try_from(self.blocks.len() - 1).unwrap_or(u32::MAX)
        });
        self.blocks[at as usize] = block;
        self.open[class].push(at);
        at
    }

    fn mark(&mut self, number: u32, by_line: bool, over_lines: bool) {
        let Some(Some(block)) = self.blocks.get_mut((number / FILES) as usize) else { return };
        let column = number % FILES;
        let rows = block.rows.len();
        for key in &self.keys {
            block.rows[row(*key, rows)] |= 1 << column;
        }
        block.binary_by_line |= u64::from(by_line) << column;
        block.binary_over_lines |= u64::from(over_lines) << column;
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

    #[test]
    fn a_file_without_what_is_needed_is_left_out() {
        let mut index = Index::default();
        let numbers: Vec<_> = [&b"one needle"[..], b"hay", b"NEEDLE\n", b"nee\ndle"]
            .iter()
            .map(|file| index.add(file).unwrap())
            .collect();
        assert_eq!(chosen(&mut index, "needle"), [numbers[0] << 1, numbers[2] << 1]);
        assert_eq!(chosen(&mut index, "absent"), [0; 0]);
    }

    #[test]
    fn a_number_that_was_given_back_is_forgotten_and_given_out_again() {
        let mut index = Index::default();
        let (first, second) = (index.add(b"needle").unwrap(), index.add(b"needle").unwrap());
        index.remove(first);
        assert_eq!(chosen(&mut index, "needle"), [second << 1]);
        assert_eq!(index.add(b"other"), Some(first));
        assert_eq!(chosen(&mut index, "needle"), [second << 1]);
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
        let numbers = [&b"hay\0needle"[..], b"h\n\0", &late].map(|file| index.add(file).unwrap());
        assert_eq!(chosen(&mut index, "needle"), [numbers[0] << 1 | 1, numbers[1] << 1 | 1, numbers[2] << 1]);
        assert_eq!(chosen(&mut index, "absent"), [numbers[0] << 1 | 1, numbers[1] << 1 | 1]);
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
            if chosen.contains(&(number << 1)) {
                continue;
            }
            let told = if chosen.contains(&(number << 1 | 1)) { None } else { Some(0) };
            assert_eq!(found, told, "{pattern:?} in {:?}", file.escape_ascii().to_string());
        }
        need != Need::Anything
    }
}
