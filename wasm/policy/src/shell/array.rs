//! `(…)` after `name=`: the elements of an array.

use super::ast::{Assignment, Piece, Why, Word};
use super::cursor::{Parsed, Parser};
use super::word::{Builder, Read};

impl Parser<'_> {
    /// `(…)` after `name=`.
    pub(super) fn array(&mut self, target: Option<Assignment>, start: usize) -> Parsed<Read> {
        let Some(mut target) = target else { return Err(self.unexpected("a word")) };
        let opened = self.pos;
        self.advance(1);
        target.array = true;
        loop {
            self.skip_newlines()?;
            if self.eof() {
                return Err(self.unclosed("array", opened));
            }
            if self.eat(")") {
                break;
            }
            if self.peek() == b'[' {
                self.array_key(&mut target)?;
                continue;
            }
            let value = self.plain_word()?;
            target.values.push(value);
        }
        // Bash 5.2 loses the backslashes when it prints a substitution to read it again.
        if self.substitutions > 0 && self.text.get(opened..self.pos).is_some_and(|text| text.contains('\\')) {
            let what = "a backslash in an array in a substitution is not supported";
            return Err(self.fault("shell.unsupported", what, opened));
        }
        // Bash takes what follows without a blank for a part of the value: `v=(a)echo rm` runs rm.
        if !self.eof() && !super::cursor::is_meta(self.peek()) {
            return Err(self.fault(
                "shell.unsupported",
                "text behind the parenthesis of an array is not supported",
                opened,
            ));
        }
        target.span = self.span_from(start);
        Ok(Read::Assignment(target))
    }

    /// `[key]=value` in an array; a `[` that has no `=` after its `]` is a glob.
    fn array_key(&mut self, target: &mut Assignment) -> Parsed<()> {
        let start = self.pos;
        let mut inner = Builder::default();
        self.subscript(&mut inner)?;
        self.evaluates(start, self.pos);
        let _ = self.eat("=") || self.eat("+=");
        let mut word = if self.word_ahead() { self.plain_word()? } else { Word::default() };
        word.span = self.span_from(start);
        word.subs.append(&mut inner.subs);
        word.text = None;
        word.dynamic.push(Why::Array);
        word.pieces = vec![Piece::unknown(Why::Array, true)];
        target.values.push(word);
        Ok(())
    }
}
