//! What a file is before it is searched: UTF-16, or bytes.

/// A file as it is searched.
#[derive(Debug, PartialEq, Eq)]
pub enum Text {
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
        _ => Text::Bytes(mark_bytes(file).unwrap_or(0)),
    }
}

/// Bytes of the byte order mark at the front of a file that is searched as it is; nothing if it is UTF-16.
#[must_use]
pub fn mark_bytes(beginning: &[u8]) -> Option<usize> {
    match beginning {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => None,
        [0xEF, 0xBB, 0xBF, ..] => Some(3),
        _ => Some(0),
    }
}

#[inline(never)]
fn decode(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let points = char::decode_utf16(pairs.iter().map(|pair| unit(*pair)));
    let mut text: String = points.map(|point| point.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    if !rest.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf_16_with_a_mark_is_text_and_half_a_unit_at_its_end_is_shown_as_such() {
        assert_eq!(sniff(b"\xFF\xFEh\0i\0"), Text::Decoded(b"hi".to_vec()));
        assert_eq!(sniff(b"\xFE\xFF\0h\0i"), Text::Decoded(b"hi".to_vec()));
        assert_eq!(sniff(b"\xFF\xFEh\0i"), Text::Decoded("h\u{FFFD}".into()));
    }

    #[test]
    fn a_utf_8_mark_is_not_part_of_the_text() {
        assert_eq!(sniff(b"\xEF\xBB\xBFx"), Text::Bytes(3));
    }
}
