//! Arithmetic: finding its end, and the substitutions inside it.

use super::ast::{ParseError, Piece, Why};
use super::cursor::{Parsed, Parser};
use super::word::Builder;

impl Parser<'_> {
    /// Whether the `((` at `open` is closed by `))`; if not, it is two opening parentheses.
    pub(super) fn is_arithmetic(&mut self, open: usize) -> Parsed<bool> {
        let close = self.closing_beside_comments(open + 1)?;
        Ok(close + 1 < self.end && self.src[close + 1] == b')')
    }

    /// The same as [`Parser::closing_paren`]; a quote in a comment is none to a shell that reads no further.
    fn closing_beside_comments(&mut self, open: usize) -> Parsed<usize> {
        match self.closing_paren(open) {
            Err(fault) if self.src[open..self.end].contains(&b'#') => {
                Err(ParseError { code: "shell.unsupported", ..fault })
            }
            close => close,
        }
    }

    /// Two opening parentheses that are no arithmetic: bash found that out by reading up to the `)` that closes the one at
    /// `open`, and then reads the text again, where it takes comments and lines for something else. Gives that place.
    pub(super) fn read_again(&mut self, open: usize) -> Parsed<usize> {
        let close = self.closing_beside_comments(open)?;
        self.steps += (close - open) as u64 / 8;
        // With a line end behind the `)` bash refuses it where a separator stands inside.
        let ends_line = close + 1 < self.end && matches!(self.src[close + 1], b'\n' | b'\\');
        if ends_line || self.text.get(open..close).is_some_and(|text| text.contains(['\n', '#'])) {
            return Err(self.fault("shell.unsupported", "several lines behind \"((\" are not supported", open));
        }
        Ok(close)
    }

    /// At `((`: reads to the `))` for the substitutions inside.
    pub(super) fn arithmetic(&mut self, word: &mut Builder) -> Parsed<()> {
        let close = self.closing_paren(self.pos + 1)?;
        self.advance(2);
        self.nested(|parser| parser.arithmetic_text(word, close))?;
        self.advance(2);
        Ok(())
    }

    /// Quotes mean nothing here: `$(( '$(x)' ))` runs x.
    fn arithmetic_text(&mut self, word: &mut Builder, close: usize) -> Parsed<()> {
        self.evaluates(self.pos, close);
        let end = std::mem::replace(&mut self.end, close);
        let mut inner = Builder::default();
        while !self.eof() {
            match self.peek() {
                b'$' => self.dollar(&mut inner, true)?,
                b'`' => self.backticks(&mut inner, true)?,
                b'\\' => self.advance(2),
                _ => self.advance(1),
            }
        }
        self.end = end;
        word.subs.append(&mut inner.subs);
        Ok(())
    }

    /// `$[…]`.
    pub(super) fn old_arithmetic(&mut self, word: &mut Builder, in_quotes: bool) -> Parsed<()> {
        let opened = self.pos;
        self.advance(2);
        let mut inner = Builder::default();
        let mut open = 1usize;
        self.nested(|parser| {
            while !parser.eof() {
                match parser.peek() {
                    b'[' => open += 1,
                    b']' => open -= 1,
                    _ => {}
                }
                if open == 0 {
                    parser.advance(1);
                    return Ok(());
                }
                // A quote hides a bracket, and yet not the substitutions beside it.
                if matches!(parser.peek(), b'\'' | b'"') {
                    return Err(parser.fault("shell.unsupported", "a quote in \"$[…]\" is not supported", parser.pos));
                }
                if !parser.quote_or_expansion(&mut inner, true)? {
                    parser.advance(1);
                }
            }
            Err(parser.unclosed("arithmetic expansion", opened))
        })?;
        self.evaluates(opened + 2, self.pos);
        word.subs.append(&mut inner.subs);
        word.dynamic(Piece::unknown(Why::Arithmetic, in_quotes));
        Ok(())
    }

    /// The place of the `)` that closes the `(` at `open`. One scan finds it for all parentheses inside, and remembers,
    /// so that a run of `((` costs one pass and not one for each.
    fn closing_paren(&mut self, open: usize) -> Parsed<usize> {
        if self.closing.is_empty() {
            self.closing = vec![0; self.src.len()];
        }
        if self.closing[open] == 0 {
            self.scan_parens(open)?;
        }
        let close = self.closing[open] as usize;
        if close < self.end { Ok(close) } else { Err(self.unclosed("parenthesis", open)) }
    }

    /// The place of the quote that ends the `$'…'` at `open`.
    fn ansi_end(&self, open: usize) -> Parsed<usize> {
        let mut at = open + 2;
        while at < self.end && self.src[at] != b'\'' {
            at += if self.src[at] == b'\\' { 2 } else { 1 };
        }
        if at < self.end { Ok(at) } else { Err(self.unclosed("single quote", open)) }
    }

    fn scan_parens(&mut self, open: usize) -> Parsed<()> {
        let (mut stack, mut at) = (vec![(b'(', open)], open + 1);
        while at < self.end {
            self.steps += 1;
            let (byte, next) = (self.src[at], if at + 1 < self.end { self.src[at + 1] } else { 0 });
            let context = stack.last().map_or(0, |entry| entry.0);
            match (context, byte) {
                (_, b'\\') => at += 1,
                (b'"', b'"') | (b'{', b'}') => drop(stack.pop()),
                (_, b'`') if context == b'`' => drop(stack.pop()),
                (_, b'`') => stack.push((b'`', at)),
                (_, b'$') if next == b'(' => {
                    at += 1;
                    stack.push((b'(', at));
                }
                (_, b'$') if next == b'{' => {
                    at += 1;
                    stack.push((b'{', at));
                }
                (b'"', _) => {}
                // `$'…'` goes on behind an escaped quote.
                (_, b'$') if next == b'\'' => at = self.ansi_end(at)?,
                (_, b'"') => stack.push((b'"', at)),
                (_, b'\'') => match self.src[at + 1..self.end].iter().position(|byte| *byte == b'\'') {
                    Some(length) => at += length + 1,
                    None => return Err(self.unclosed("single quote", at)),
                },
                (b'(' | b'`', b'(') => stack.push((b'(', at)),
                (b'(', b')') => {
                    if let Some((_, opened)) = stack.pop() {
                        self.closing[opened] = at as u32;
                    }
                    if stack.is_empty() {
                        return Ok(());
                    }
                }
                _ => {}
            }
            at += 1;
        }
        Err(self.unclosed("parenthesis", open))
    }
}
