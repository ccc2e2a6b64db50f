//! The position in the source and the few moves that every part of the grammar uses.

use super::ast::{Evaluated, Facts, HereDoc, ParseError, Script, Span};
use super::here_doc::PendingDoc;

/// Levels of nesting before a source is refused. The deepest level needs about 3 KB of stack.
pub const MAX_DEPTH: u32 = 200;
/// Bytes of a source before it is refused.
pub const MAX_LENGTH: usize = 1 << 20;

pub(super) type Parsed<T> = Result<T, ParseError>;

/// The words that bash reserves at the place of a command.
const RESERVED: [&str; 24] = [
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while", "{", "}", "((", "))",
];

pub(super) struct Parser<'a> {
    pub(super) src: &'a [u8],
    pub(super) text: &'a str,
    pub(super) pos: usize,
    /// Where the text being read ends: the source's end, or that of an arithmetic or a here-doc body.
    pub(super) end: usize,
    pub(super) depth: u32,
    pub(super) steps: u64,
    /// How many substitutions are open: bash reads what stands in one, prints it, and reads that again.
    pub(super) substitutions: u32,
    /// A here-doc was announced in the innermost of them.
    pub(super) here_doc_inside: bool,
    pub(super) pending: Vec<PendingDoc>,
    pub(super) docs: Vec<HereDoc>,
    pub(super) facts: Facts,
    pub(super) evaluated: Evaluated,
    /// The last text that was looked through for the names that it evaluates.
    pub(super) looked_through: (usize, usize),
    /// Offsets in the original source, for text that was unescaped from backticks first.
    pub(super) offsets: Option<Vec<u32>>,
    /// Closing parenthesis of each opening one, filled by `closing_paren`; 0 = not known yet.
    pub(super) closing: Vec<u32>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(source: &'a str) -> Parsed<Self> {
        let parser = Parser {
            src: source.as_bytes(),
            text: source,
            pos: 0,
            end: source.len(),
            depth: 0,
            steps: 0,
            substitutions: 0,
            here_doc_inside: false,
            pending: Vec::new(),
            docs: Vec::new(),
            facts: Facts::default(),
            evaluated: Evaluated::default(),
            looked_through: (0, 0),
            offsets: None,
            closing: Vec::new(),
        };
        if source.len() > MAX_LENGTH {
            let message = format!("The command is {} bytes long, the limit is {MAX_LENGTH}", source.len());
            return Err(ParseError { code: "shell.too_long", message, span: [0, 0] });
        }
        if let Some(at) = source.bytes().position(|byte| byte == 0) {
            return Err(parser.fault("shell.nul", "A NUL byte cannot be part of a command", at));
        }
        Ok(parser)
    }

    pub(super) fn script(&mut self) -> Parsed<Script> {
        let items = self.list(&[])?;
        if self.pos < self.end {
            return Err(self.unexpected("the end of the command"));
        }
        if !self.pending.is_empty() {
            return Err(self.unclosed("here-doc", self.end));
        }
        let (here_docs, evaluated) = (std::mem::take(&mut self.docs), std::mem::take(&mut self.evaluated));
        Ok(Script { items, here_docs, facts: self.facts, evaluated })
    }

    pub(super) fn eof(&self) -> bool {
        self.pos >= self.end
    }

    /// The byte `ahead` of the position, 0 past the end.
    pub(super) fn at(&self, ahead: usize) -> u8 {
        let index = self.pos + ahead;
        if index < self.end { self.src[index] } else { 0 }
    }

    pub(super) fn peek(&self) -> u8 {
        self.at(0)
    }

    pub(super) fn advance(&mut self, bytes: usize) {
        self.steps += bytes as u64;
        self.pos = (self.pos + bytes).min(self.end);
    }

    pub(super) fn looking_at(&self, token: &str) -> bool {
        self.src[self.pos..self.end].starts_with(token.as_bytes())
    }

    pub(super) fn eat(&mut self, token: &str) -> bool {
        let found = self.looking_at(token);
        if found {
            self.advance(token.len());
        }
        found
    }

    /// The place from `start` to `end` in the original source.
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        match &self.offsets {
            Some(map) => [map[start.min(map.len() - 1)], map[end.min(map.len() - 1)]],
            None => [start as u32, end as u32],
        }
    }

    pub(super) fn span_from(&self, start: usize) -> Span {
        self.span(start, self.pos)
    }

    pub(super) fn fault(&self, code: &'static str, message: &str, at: usize) -> ParseError {
        ParseError { code, message: message.to_string(), span: self.span(at, (at + 1).min(self.src.len())) }
    }

    pub(super) fn unclosed(&self, what: &str, opened_at: usize) -> ParseError {
        self.fault("shell.unclosed", &format!("The {what} is not closed"), opened_at)
    }

    pub(super) fn unexpected(&self, wanted: &str) -> ParseError {
        let found = match self.text.get(self.pos..self.end).and_then(|rest| rest.chars().next()) {
            Some('\n') => "a line end".to_string(),
            Some(found) => format!("\"{found}\""),
            None => "the end of the command".to_string(),
        };
        self.fault("shell.unexpected", &format!("Found {found} where {wanted} should be"), self.pos)
    }

    /// Runs `read` one level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let message = format!("The command nests deeper than {MAX_DEPTH} levels");
            return Err(self.fault("shell.too_deep", &message, self.pos));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Skips spaces, tabs, line continuations and a comment.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                b' ' | b'\t' => self.advance(1),
                b'\\' if self.at(1) == b'\n' => self.advance(2),
                b'#' => {
                    while !self.eof() && self.peek() != b'\n' {
                        self.advance(1);
                    }
                }
                _ => return,
            }
        }
    }

    /// Skips blanks and line ends, reading the here-docs that begin after each.
    pub(super) fn skip_newlines(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            if self.eof() || self.peek() != b'\n' {
                return Ok(());
            }
            self.newline()?;
        }
    }

    pub(super) fn newline(&mut self) -> Parsed<()> {
        self.advance(1);
        if self.pending.is_empty() { Ok(()) } else { self.read_here_docs() }
    }

    /// The reserved word at the position with the offset of its end. A line continuation inside it does not hide it.
    pub(super) fn reserved(&self) -> Option<(&'static str, usize)> {
        let (mut letters, mut count, mut index) = ([0u8; 9], 0, self.pos);
        while index < self.end {
            let byte = self.src[index];
            if byte == b'\\' && index + 1 < self.end && self.src[index + 1] == b'\n' {
                index += 2;
                continue;
            }
            if is_meta(byte) {
                break;
            }
            if count == letters.len() {
                return None;
            }
            letters[count] = byte;
            count += 1;
            index += 1;
        }
        let found = RESERVED.iter().find(|word| word.as_bytes() == &letters[..count])?;
        Some((found, index))
    }

    /// Takes a reserved word, or says that it is missing.
    pub(super) fn expect_reserved(&mut self, word: &'static str) -> Parsed<()> {
        match self.reserved() {
            Some((found, end)) if found == word => {
                self.advance(end - self.pos);
                Ok(())
            }
            _ => Err(self.unexpected(&format!("\"{word}\""))),
        }
    }

    pub(super) fn expect(&mut self, token: &'static str) -> Parsed<()> {
        if self.eat(token) { Ok(()) } else { Err(self.unexpected(&format!("\"{token}\""))) }
    }
}

/// A byte that ends an unquoted word.
pub(super) fn is_meta(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>')
}

pub(super) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    matches!(bytes.next(), Some(b'a'..=b'z' | b'A'..=b'Z' | b'_'))
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
