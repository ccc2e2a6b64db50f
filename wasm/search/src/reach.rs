//! How far into a file with NUL bytes ripgrep's line search gets.
//!
//! It reads a file in pieces that end with a line, and gives up at the piece that has a NUL in it: what it found before that
//! counts. Where the pieces end follows from the size of its buffer and from its first read, which is of three bytes, to look
//! for a byte order mark.

use memchr::{memchr, memrchr};

/// ripgrep's buffer to begin with; it grows to three times its size when a line does not fit.
pub const BUFFER_BYTES: usize = 64 << 10;

/// What its first read of a file gives whose byte order mark has so many bytes: without one, those in which it looked for it.
#[must_use]
pub const fn first_read(mark: usize) -> usize {
    if mark == 0 { 3 } else { usize::MAX }
}

/// A NUL in so many bytes makes a multi-line search leave a file alone.
pub const SNIFFED_BYTES: usize = BUFFER_BYTES;

/// Bytes of the text that are searched: all of them if there is no NUL.
#[must_use]
#[inline(never)]
pub fn reach(text: &[u8], first_read: usize) -> usize {
    let Some(nul) = memchr(0, text) else { return text.len() };
    let mut reach = Reach::new(first_read, BUFFER_BYTES);
    reach.take(&text[..=nul]);
    // What was searched is a part of the text.
    reach.done() as usize
}

/// The same for a text that comes in pieces, of which no more than the last is in memory. Places are bytes from the text's start.
#[derive(Debug)]
pub struct Reach {
    capacity: u64,
    /// All before it is searched whatever comes; behind a line end.
    done: u64,
    /// Bytes that were taken, and where the read ends that they belong to.
    taken: u64,
    read_end: u64,
    /// Behind the last line end of that read.
    line_end: Option<u64>,
    nul: Option<u64>,
}

impl Reach {
    /// Before the first byte. What the buffer begins with is [`BUFFER_BYTES`] but for tests.
    #[must_use]
    pub fn new(first_read: usize, buffer_bytes: usize) -> Self {
        let capacity = buffer_bytes as u64;
        Self { capacity, done: 0, taken: 0, read_end: capacity.min(first_read as u64), line_end: None, nul: None }
    }

    /// Takes the bytes that follow, up to a NUL.
    pub fn take(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() && self.nul.is_none() {
            // No more than there is of `rest`.
            let piece = rest.split_off(..rest.len().min((self.read_end - self.taken) as usize)).unwrap_or_default();
            self.nul = memchr(0, piece).map(|at| self.taken + at as u64);
            if let Some(at) = memrchr(b'\n', piece) {
                self.line_end = Some(self.taken + at as u64 + 1);
            }
            self.taken += piece.len() as u64;
            if self.taken == self.read_end && self.nul.is_none() {
                self.next_read();
            }
        }
    }

    fn next_read(&mut self) {
        self.done = self.line_end.take().unwrap_or(self.done);
        if self.taken - self.done == self.capacity {
            self.capacity *= 3;
        }
        self.read_end = self.done + self.capacity;
    }

    /// All before this place is searched, whatever comes after what was taken.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Where a NUL was met.
    #[must_use]
    pub fn nul(&self) -> Option<u64> {
        self.nul
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_before_a_nul_in_the_first_piece_is_searched_but_what_the_first_read_ended() {
        assert_eq!(reach(b"abc\nd\0", 3), 0);
        assert_eq!(reach(b"a\nc\nd\0", 3), 2);
        assert_eq!(reach(b"a\nc\nd", 3), 5);
    }

    #[test]
    fn a_text_in_pieces_is_searched_as_far_as_the_whole_of_it() {
        let lines = (0..40).map(|number| [b"x".repeat(number * number * 7), b"\n".to_vec()].concat());
        let text = [lines.flatten().collect(), vec![0, b'\n']].concat();
        for first_read in [3, usize::MAX] {
            for pieces in [1, 7, 4096, BUFFER_BYTES, BUFFER_BYTES + 1] {
                let mut reached = Reach::new(first_read, BUFFER_BYTES);
                text.chunks(pieces).for_each(|piece| reached.take(piece));
                assert_eq!(reached.done(), reach(&text, first_read) as u64);
                assert_eq!(reached.nul(), Some(text.len() as u64 - 2));
            }
        }
    }

    #[test]
    fn whole_lines_of_the_pieces_before_it_are_searched() {
        let mut text = b"0123456\n".repeat(10_000);
        text.push(0);
        assert_eq!(reach(&text, 3), BUFFER_BYTES);
        let long = [vec![b'a'; BUFFER_BYTES * 2], b"\nb\0".to_vec()].concat();
        assert_eq!(reach(&long, 3), 0);
    }
}
