//! `[[ … ]]`.

use super::ast::{Compound, Word};
use super::cursor::{Parsed, Parser};
use super::word::{Read, WordMode};

/// Operators of `[[` that evaluate their operands as arithmetic.
const NUMERIC: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
const OTHER: [&str; 7] = ["=", "==", "!=", "=~", "-nt", "-ot", "-ef"];

impl Parser<'_> {
    /// After `[[`: the expression and its `]]`.
    pub(super) fn condition(&mut self) -> Parsed<Compound> {
        let mut words = Vec::new();
        self.any_of(&mut words)?;
        self.expect_reserved("]]")?;
        Ok(Compound { r#type: "cond", span: [0, 0], name: None, words, bodies: Vec::new(), redirects: Vec::new() })
    }

    /// Terms joined by `&&` and `||`; their precedence does not matter here.
    fn any_of(&mut self, words: &mut Vec<Word>) -> Parsed<()> {
        loop {
            self.term(words)?;
            self.skip_newlines()?;
            if !(self.eat("&&") || self.eat("||")) {
                return Ok(());
            }
        }
    }

    fn term(&mut self, words: &mut Vec<Word>) -> Parsed<()> {
        self.skip_newlines()?;
        while let Some(("!", end)) = self.reserved() {
            self.advance(end - self.pos);
            self.skip_newlines()?;
        }
        if self.eat("(") {
            self.nested(|parser| parser.any_of(words))?;
            return self.expect(")");
        }
        self.not_closing()?;
        let start = self.pos;
        let first = self.plain_word()?;
        let first_end = self.pos;
        let unary = first.plain && first.text.as_deref().is_some_and(is_unary);
        let by_name = unary && first.text.as_deref() == Some("-v");
        words.push(first);
        self.skip_blanks();
        if unary && (self.word_ahead() && self.binary_ahead().is_none()) {
            self.not_closing()?;
            let operand = self.plain_word()?;
            // `-v` evaluates the subscript of the name it is given.
            if by_name && !operand.text.as_deref().is_some_and(super::cursor::is_name) {
                self.facts.arithmetic = true;
                self.evaluated.open = true;
            }
            words.push(operand);
            return Ok(());
        }
        if unary && self.binary_ahead().is_none() {
            return Err(self.unexpected("an operand"));
        }
        let Some(operator) = self.binary_ahead() else { return Ok(()) };
        self.advance(operator.len());
        self.skip_blanks();
        self.not_closing()?;
        let mode = if operator == "=~" { WordMode::Regex } else { WordMode::Plain };
        let second = self.pos;
        if let Read::Word(word) = self.word(mode)? {
            words.push(word);
        }
        if NUMERIC.contains(&operator) {
            self.evaluates(start, first_end);
            self.evaluates(second, self.pos);
        }
        Ok(())
    }

    fn not_closing(&self) -> Parsed<()> {
        match self.reserved() {
            Some(("]]", _)) => Err(self.unexpected("an operand")),
            _ => Ok(()),
        }
    }

    fn binary_ahead(&self) -> Option<&'static str> {
        if self.peek() == b'<' && self.at(1) != b'(' {
            return Some("<");
        }
        if self.peek() == b'>' && self.at(1) != b'(' {
            return Some(">");
        }
        let length = (0..4).find(|ahead| self.at(*ahead) == 0 || super::cursor::is_meta(self.at(*ahead)))?;
        let word = self.text.get(self.pos..self.pos + length)?;
        NUMERIC.iter().chain(&OTHER).copied().find(|operator| *operator == word)
    }
}

fn is_unary(word: &str) -> bool {
    matches!(word.as_bytes(), [b'-', letter] if b"abcdefghknoprstuvwxzGLNORS".contains(letter))
}
