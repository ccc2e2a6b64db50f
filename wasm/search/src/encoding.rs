//! What a file is before it is searched: binary, UTF-16, or bytes.

use memchr::memchr;

/// ripgrep's buffer looks further, but a NUL this early is what tells a binary file in practice.
const SNIFFED_BYTES: usize = 8192;

/// A file as it is searched.
#[derive(Debug, PartialEq, Eq)]
pub enum Text {
    /// A NUL byte in the first 8 KiB.
    Binary,
    /// Bytes to be searched from this offset: 3 after a UTF-8 byte order mark.
    Bytes(usize),
    /// It was UTF-16 with a byte order mark; this is the same text in UTF-8.
    Decoded(Vec<u8>),
}

/// Looks at the first bytes of a file.
#[must_use]
pub fn sniff(file: &[u8]) -> Text {
    match file {
        [0xFF, 0xFE, rest @ ..] => Text::Decoded(decode(rest, u16::from_le_bytes)),
        [0xFE, 0xFF, rest @ ..] => Text::Decoded(decode(rest, u16::from_be_bytes)),
        _ if memchr(0, &file[..file.len().min(SNIFFED_BYTES)]).is_some() => Text::Binary,
        [0xEF, 0xBB, 0xBF, ..] => Text::Bytes(3),
        _ => Text::Bytes(0),
    }
}

fn decode(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let text: String = char::decode_utf16(units).map(|point| point.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nul_in_the_first_8_kib_makes_a_file_binary_and_one_after_them_does_not() {
        assert_eq!(sniff(b"MZ\0\x03"), Text::Binary);
        let mut late = vec![b'a'; SNIFFED_BYTES];
        late.push(0);
        assert_eq!(sniff(&late), Text::Bytes(0));
    }

    #[test]
    fn utf_16_with_a_mark_is_text() {
        assert_eq!(sniff(b"\xFF\xFEh\0i\0"), Text::Decoded(b"hi".to_vec()));
        assert_eq!(sniff(b"\xFE\xFF\0h\0i"), Text::Decoded(b"hi".to_vec()));
    }

    #[test]
    fn a_utf_8_mark_is_not_part_of_the_text() {
        assert_eq!(sniff(b"\xEF\xBB\xBFx"), Text::Bytes(3));
    }
}
