//! Lines as ranges of bytes. A line's range ends before its `\n`.

use core::ops::Range;
use memchr::{memchr, memchr_iter, memrchr};

/// The line that contains the byte at `at`; a line end belongs to the line that it ends.
#[must_use]
pub fn around(text: &[u8], at: usize) -> Range<usize> {
    let start = memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
    start..end_from(text, at)
}

/// Where the line that `from` is in ends: at its `\n`, or at the end of the text.
#[must_use]
pub fn end_from(text: &[u8], from: usize) -> usize {
    memchr(b'\n', &text[from..]).map_or(text.len(), |length| from + length)
}

/// The line that starts at `start`, or nothing if the text ends there.
#[must_use]
pub fn at(text: &[u8], start: usize) -> Option<Range<usize>> {
    (start < text.len()).then(|| start..end_from(text, start))
}

/// The line after one that ends at `end`, or nothing if the text ends there.
#[must_use]
pub fn after(text: &[u8], end: usize) -> Option<Range<usize>> {
    at(text, end + 1)
}

/// The line before one that starts at `start`.
#[must_use]
pub fn before(text: &[u8], start: usize) -> Option<Range<usize>> {
    (start > 0).then(|| memrchr(b'\n', &text[..start - 1]).map_or(0, |end| end + 1)..start - 1)
}

/// Number of line ends in a piece of text.
#[must_use]
pub fn count(text: &[u8]) -> usize {
    memchr_iter(b'\n', text).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_from_any_byte_of_them() {
        let text = b"ab\n\ncd";
        assert_eq!(around(text, 0), 0..2);
        assert_eq!(around(text, 2), 0..2);
        assert_eq!(around(text, 3), 3..3);
        assert_eq!(around(text, 5), 4..6);
        assert_eq!(after(text, 2), Some(3..3));
        assert_eq!(after(text, 6), None);
        assert_eq!(before(text, 4), Some(3..3));
        assert_eq!(before(text, 0), None);
    }

    #[test]
    fn no_line_follows_the_last_line_end() {
        assert_eq!(after(b"ab\n", 2), None);
    }
}
