//! How far into a file with NUL bytes ripgrep's line search gets.
//!
//! It reads a file in pieces that end with a line, and gives up at the piece that has a NUL in it: what it found before that
//! counts. Where the pieces end follows from the size of its buffer and from its first read, which is of three bytes, to look
//! for a byte order mark.

use memchr::{memchr, memrchr};

/// ripgrep's buffer to begin with; it grows to three times its size when a line does not fit.
const BUFFER_BYTES: usize = 64 << 10;

/// A NUL in so many bytes makes a multi-line search leave a file alone.
pub const SNIFFED_BYTES: usize = BUFFER_BYTES;

/// Bytes of the text that are searched: all of them if there is no NUL.
#[must_use]
#[inline(never)]
pub fn reach(text: &[u8], first_read: usize) -> usize {
    let Some(nul) = memchr(0, text) else { return text.len() };
    let mut capacity = BUFFER_BYTES;
    // What the buffer holds is `done..end`; all before `done` was searched.
    let (mut done, mut end) = (0, 0);
    loop {
        if end - done == capacity {
            capacity *= 3;
        }
        let room = if end == 0 { first_read.min(capacity) } else { capacity - (end - done) };
        let read = end..(end + room).min(text.len());
        if nul < read.end {
            return done;
        }
        end = read.end;
        if let Some(line_end) = memrchr(b'\n', &text[read.clone()]) {
            done = read.start + line_end + 1;
        }
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
    fn whole_lines_of_the_pieces_before_it_are_searched() {
        let mut text = b"0123456\n".repeat(10_000);
        text.push(0);
        assert_eq!(reach(&text, 3), BUFFER_BYTES);
        let long = [vec![b'a'; BUFFER_BYTES * 2], b"\nb\0".to_vec()].concat();
        assert_eq!(reach(&long, 3), 0);
    }
}
