//! `$'…'` and its escapes.

use super::ast::{Piece, Why};
use super::cursor::{Parsed, Parser};
use super::word::Builder;

impl Parser<'_> {
    /// `$'…'`.
    pub(super) fn ansi_quotes(&mut self, word: &mut Builder) -> Parsed<()> {
        let opened = self.pos;
        self.advance(2);
        let mut decoded = Some(String::new());
        while self.peek() != b'\'' {
            if self.eof() {
                return Err(self.unclosed("single quote", opened));
            }
            let run = self.pos;
            if self.peek() != b'\\' {
                while !self.eof() && !matches!(self.peek(), b'\\' | b'\'') {
                    self.advance(1);
                }
                if let Some(text) = &mut decoded {
                    text.push_str(self.text.get(run..self.pos).unwrap_or_default());
                }
                continue;
            }
            self.advance(1);
            let escape = self.ansi_escape();
            if let (Some(text), Some(decoded)) = (&mut decoded, &escape) {
                text.push_str(decoded);
            }
            if escape.is_none() {
                decoded = None;
            }
        }
        self.advance(1);
        match decoded {
            Some(text) => {
                self.facts.quoted_code |= text.contains("$(") || text.contains('`') || text.contains("${");
                word.quoted_text(&text);
            }
            None => word.dynamic(Piece::unknown(Why::Bytes, true)),
        }
        Ok(())
    }

    /// The escape after a backslash; none if it makes a byte that is not a character (or NUL, which ends the string).
    fn ansi_escape(&mut self) -> Option<String> {
        let byte = self.peek();
        let (digits, radix) = match byte {
            b'x' => (2, 16),
            b'u' => (4, 16),
            b'U' => (8, 16),
            b'0'..=b'7' => (3, 8),
            _ => {
                let start = self.pos;
                self.advance(1);
                while !self.eof() && self.src[self.pos] & 0xC0 == 0x80 {
                    self.advance(1);
                }
                return simple_escape(byte, self.text.get(start..self.pos).unwrap_or_default());
            }
        };
        if radix == 16 {
            self.advance(1);
        }
        let start = self.pos;
        while self.pos - start < digits && (self.peek() as char).is_digit(radix) {
            self.advance(1);
        }
        let text = self.text.get(start..self.pos).unwrap_or_default();
        let value = u32::from_str_radix(text, radix).ok()?;
        // A byte above 127 is part of a character at best; which one depends on its neighbours and the locale.
        let limit = if matches!(byte, b'u' | b'U') { u32::MAX } else { 127 };
        char::from_u32(value).filter(|_| value > 0 && value <= limit).map(String::from)
    }
}

fn simple_escape(byte: u8, source: &str) -> Option<String> {
    let decoded = match byte {
        b'n' => "\n",
        b't' => "\t",
        b'r' => "\r",
        b'a' => "\x07",
        b'b' => "\x08",
        b'e' | b'E' => "\x1b",
        b'f' => "\x0c",
        b'v' => "\x0b",
        b'\\' | b'\'' | b'"' | b'?' => source,
        // `\cX` makes a control character: rare enough to be left unknown.
        b'c' => return None,
        _ => return Some(format!("\\{source}")),
    };
    Some(decoded.to_string())
}
