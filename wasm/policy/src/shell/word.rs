//! Words: quotes, backslashes, globs, braces, tildes and assignments.

use super::ast::{Assignment, Piece, Span, Substitution, Why, Word};
use super::cursor::{Parsed, Parser, is_meta, is_name};

/// Where a word stands decides what it may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WordMode {
    /// An argument.
    Plain,
    /// A place where `name=value` is an assignment.
    Assign,
    /// The right side of `=~`: parentheses and bars belong to it.
    Regex,
}

/// What stood at the place of a word.
pub(super) enum Read {
    Word(Word),
    Assignment(Assignment),
}

/// A word in the making.
#[derive(Default)]
pub(super) struct Builder {
    pub(super) pieces: Vec<Piece>,
    pub(super) dynamic: Vec<Why>,
    pub(super) subs: Vec<Substitution>,
    quoted: bool,
    brace: Option<Mark>,
    bracket: Option<Mark>,
    /// After `name=` or a colon behind it, `~` is expanded.
    tilde_place: bool,
    after_equals: bool,
    /// Behind a second `=`, where bash expands `~` in some words and not in others.
    tilde_unsure: bool,
}

/// A place among the pieces: what follows it can be replaced by one dynamic piece.
#[derive(Clone, Copy)]
struct Mark {
    pieces: usize,
    literal: usize,
    source: usize,
    separated: bool,
}

impl Builder {
    /// A word that is made already.
    pub(super) fn of(pieces: Vec<Piece>, dynamic: Vec<Why>, subs: Vec<Substitution>) -> Self {
        Builder { pieces, dynamic, subs, quoted: true, ..Builder::default() }
    }

    pub(super) fn text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Lit(literal)) => literal.push_str(text),
            _ => self.pieces.push(Piece::Lit(text.to_string())),
        }
    }

    /// Quoted text: also counts when it is empty.
    pub(super) fn quoted_text(&mut self, text: &str) {
        self.quoted = true;
        self.text(text);
    }

    pub(super) fn dynamic(&mut self, piece: Piece) {
        let why = match piece {
            Piece::Home(why) | Piece::Cwd(why) | Piece::Number(why) | Piece::Dyn { why, .. } => why,
            Piece::Glob(_) => Why::Glob,
            Piece::Lit(_) => return,
        };
        self.pieces.push(piece);
        self.dynamic.push(why);
    }

    fn separate(&mut self) {
        self.brace = self.brace.map(|mark| Mark { separated: true, ..mark });
    }

    fn mark(&self, source: usize) -> Mark {
        let literal = match self.pieces.last() {
            Some(Piece::Lit(text)) => text.len(),
            _ => 0,
        };
        Mark { pieces: self.pieces.len(), literal, source, separated: false }
    }

    /// Replaces everything after `mark` by `piece`.
    fn collapse(&mut self, mark: Mark, piece: Piece) {
        self.pieces.truncate(mark.pieces);
        if let Some(Piece::Lit(text)) = self.pieces.last_mut() {
            text.truncate(mark.literal);
        }
        self.dynamic(piece);
    }

    /// The name before `=` or `[`, if all so far is an unquoted name. A trailing `+` belongs to `+=`.
    fn assigned_name(&self) -> Option<(&str, bool)> {
        match self.pieces.as_slice() {
            [Piece::Lit(text)] if !self.quoted => {
                let (name, append) = text.strip_suffix('+').map_or((text.as_str(), false), |name| (name, true));
                is_name(name).then_some((name, append))
            }
            _ => None,
        }
    }
}

/// Makes a word of its parts; `text` is known if no part is dynamic.
pub(super) fn finish(span: Span, word: Builder) -> Word {
    let Builder { pieces, dynamic, subs, quoted, .. } = word;
    let plain = !quoted && subs.is_empty();
    let text = match pieces.as_slice() {
        [] => Some(String::new()),
        [Piece::Lit(text)] => Some(text.clone()),
        _ => None,
    };
    Word { span, text, dynamic, subs, pieces, plain }
}

impl Parser<'_> {
    /// A word begins here.
    pub(super) fn word_ahead(&self) -> bool {
        let byte = self.peek();
        if matches!(byte, b'<' | b'>') {
            return self.at(1) == b'(';
        }
        !self.eof() && !is_meta(byte)
    }

    /// A word, or an assignment where the mode permits one.
    pub(super) fn word(&mut self, mode: WordMode) -> Parsed<Read> {
        let start = self.pos;
        let mut word = Builder { tilde_place: true, ..Builder::default() };
        let mut target: Option<Assignment> = None;
        while !self.eof() {
            let byte = self.peek();
            let may_assign = mode == WordMode::Assign && target.is_none() && matches!(byte, b'=' | b'[');
            if let Some(found) = if may_assign { self.assignment_head(&mut word, start)? } else { None } {
                target = Some(found);
                if self.peek() == b'(' {
                    return self.array(target, start);
                }
                continue;
            }
            if !self.word_part(&mut word, mode)? {
                break;
            }
        }
        if self.pos == start {
            return Err(self.unexpected("a word"));
        }
        let word = finish(self.span_from(start), word);
        Ok(match target {
            Some(mut target) => {
                target.span = word.span;
                target.values.push(word);
                Read::Assignment(target)
            }
            None => Read::Word(word),
        })
    }

    /// The words that this one becomes, where its braces are all that is not certain about it.
    pub(super) fn braces(&self, word: Word, start: usize) -> Vec<Word> {
        let only_braces = !word.dynamic.is_empty() && word.dynamic.iter().all(|why| *why == Why::Brace);
        let source = self.text.get(start..self.pos).unwrap_or_default();
        match if only_braces { super::brace::expand(source) } else { None } {
            Some(texts) if !texts.is_empty() => {
                let made =
                    |text: String| finish(word.span, Builder::of(vec![Piece::Lit(text)], Vec::new(), Vec::new()));
                texts.into_iter().map(made).collect()
            }
            _ => vec![word],
        }
    }

    /// A word at a place where an assignment is nothing special.
    pub(super) fn plain_word(&mut self) -> Parsed<Word> {
        match self.word(WordMode::Plain)? {
            Read::Word(word) => Ok(word),
            Read::Assignment(_) => Err(self.unexpected("a word")),
        }
    }

    /// At `=` or `[` after a name: takes `[subscript]` and `=`, and empties the builder for the value.
    fn assignment_head(&mut self, word: &mut Builder, start: usize) -> Parsed<Option<Assignment>> {
        let Some((name, append)) = word.assigned_name().map(|(name, append)| (name.to_string(), append)) else {
            return Ok(None);
        };
        if self.peek() == b'=' {
            self.advance(1);
            *word = Builder { tilde_place: true, after_equals: true, ..Builder::default() };
            return Ok(Some(Assignment {
                span: [0, 0],
                name,
                append,
                subscript: None,
                values: Vec::new(),
                array: false,
            }));
        }
        if append {
            return Ok(None);
        }
        let opened = self.pos;
        let mut inner = Builder::default();
        self.subscript(&mut inner)?;
        let source = self.text.get(opened..self.pos).unwrap_or_default().to_string();
        let append = self.looking_at("+=");
        if !append && self.peek() != b'=' {
            word.text(&source);
            word.subs.append(&mut inner.subs);
            word.dynamic(Piece::unknown(Why::Glob, false));
            return Ok(None);
        }
        self.evaluates(opened, self.pos);
        self.advance(if append { 2 } else { 1 });
        let subscript =
            Word { span: self.span(opened, self.pos), text: Some(source), subs: inner.subs, ..Word::default() };
        *word = Builder { tilde_place: true, after_equals: true, ..Builder::default() };
        let span = self.span_from(start);
        Ok(Some(Assignment { span, name, append, subscript: Some(subscript), values: Vec::new(), array: false }))
    }

    /// From `[` to its `]`, with quotes and expansions inside.
    pub(super) fn subscript(&mut self, inner: &mut Builder) -> Parsed<()> {
        let opened = self.pos;
        let mut open = 0usize;
        while !self.eof() {
            match self.peek() {
                b'[' => open += 1,
                b']' => open -= 1,
                b'\n' => break,
                _ => {}
            }
            if matches!(self.peek(), b'[' | b']') {
                self.advance(1);
                if open == 0 {
                    return Ok(());
                }
            } else if !self.quote_or_expansion(inner, false)? {
                self.advance(1);
            }
        }
        Err(self.unclosed("subscript", opened))
    }

    /// Reads one run of a word; false at its end.
    fn word_part(&mut self, word: &mut Builder, mode: WordMode) -> Parsed<bool> {
        let byte = self.peek();
        let (tilde_place, start) = (std::mem::take(&mut word.tilde_place), self.pos);
        if matches!(byte, b'?' | b'*' | b'+' | b'@' | b'!') && self.at(1) == b'(' && self.at(2) != b')' {
            self.advance(1);
            self.parenthesised(word)?;
            let pattern = self.text.get(start..self.pos).unwrap_or_default().to_string();
            word.dynamic(Piece::Glob(pattern));
            return Ok(true);
        }
        if mode == WordMode::Regex && byte == b'(' {
            self.parenthesised(word)?;
            word.dynamic(Piece::unknown(Why::Glob, false));
            return Ok(true);
        }
        if matches!(byte, b'<' | b'>') && self.at(1) == b'(' {
            self.process_substitution(word)?;
            return Ok(true);
        }
        if is_meta(byte) && !(mode == WordMode::Regex && byte == b'|') {
            return Ok(false);
        }
        if self.quote_or_expansion(word, false)? {
            return Ok(true);
        }
        if byte == b'~' && tilde_place {
            self.tilde(word);
            return Ok(true);
        }
        self.unquoted(word, byte);
        Ok(true)
    }

    /// Plain characters, and the signs of globs and braces among them.
    fn unquoted(&mut self, word: &mut Builder, byte: u8) {
        let start = self.pos;
        match byte {
            b'*' | b'?' => {
                self.advance(1);
                return word.dynamic(Piece::Glob((byte as char).to_string()));
            }
            b'{' if word.brace.is_none() => word.brace = Some(word.mark(start)),
            b'[' if word.bracket.is_none() => word.bracket = Some(word.mark(start)),
            b',' => word.separate(),
            b'.' if self.at(1) == b'.' => word.separate(),
            b'=' if !word.after_equals && word.assigned_name().is_some() => {
                (word.after_equals, word.tilde_place) = (true, true);
            }
            b'=' if word.after_equals => (word.tilde_unsure, word.tilde_place) = (true, true),
            b':' if word.after_equals => word.tilde_place = true,
            _ => {}
        }
        let mut end = start + 1;
        while end < self.end && is_ordinary(self.src[end]) && is_ordinary(byte) {
            end += 1;
        }
        while end < self.end && self.src[end] & 0xC0 == 0x80 {
            end += 1;
        }
        self.advance(end - start);
        word.text(self.text.get(start..end).unwrap_or_default());
        match (byte, word.brace, word.bracket) {
            (b'}', Some(mark), _) if mark.separated => {
                word.collapse(mark, Piece::unknown(Why::Brace, false));
                // A bracket that opened inside may close outside: then all from the brace on is one pattern.
                word.bracket = word.bracket.map(|inner| if inner.source > mark.source { mark } else { inner });
            }
            (b']', _, Some(mark)) if start > mark.source + 1 => {
                let pattern = self.text.get(mark.source..self.pos).unwrap_or_default().to_string();
                word.collapse(mark, Piece::Glob(pattern));
                word.brace = word.brace.map(|inner| Mark {
                    separated: inner.separated,
                    ..if inner.source > mark.source { mark } else { inner }
                });
                word.bracket = None;
            }
            _ => {}
        }
    }

    /// `~`, `~+` or `~user` before a slash or the word's end.
    fn tilde(&mut self, word: &mut Builder) {
        let start = self.pos;
        self.advance(1);
        // The shell takes a line continuation away before it looks for a user's name (POSIX 2.2.1).
        while !self.eof()
            && (self.peek().is_ascii_alphanumeric()
                || matches!(self.peek(), b'_' | b'-' | b'+' | b'.')
                || self.looking_at("\\\n"))
        {
            self.advance(if self.peek() == b'\\' { 2 } else { 1 });
        }
        let user = self.text.get(start + 1..self.pos).unwrap_or_default().replace("\\\n", "");
        let next = self.peek();
        // Bash 5.2 expands `~=~` to `/home/ada=~`, and leaves `~=x` as it is.
        if next == b'=' {
            return word.dynamic(Piece::unknown(Why::Tilde, true));
        }
        if !(self.eof() || next == b'/' || next == b':' || is_meta(next)) {
            return word.text(&format!("~{user}"));
        }
        match user.as_str() {
            _ if word.tilde_unsure => word.dynamic(Piece::unknown(Why::Tilde, true)),
            "" => word.dynamic(Piece::Home(Why::Tilde)),
            "+" => word.dynamic(Piece::Cwd(Why::Tilde)),
            _ => word.dynamic(Piece::unknown(Why::Tilde, true)),
        }
    }

    /// From `(` to its `)`: the inside of an extended glob or of a regular expression.
    fn parenthesised(&mut self, word: &mut Builder) -> Parsed<()> {
        let opened = self.pos;
        let mut inner = Builder::default();
        let mut open = 0usize;
        while !self.eof() {
            match self.peek() {
                b'(' => open += 1,
                b')' => open -= 1,
                _ => {}
            }
            if matches!(self.peek(), b'(' | b')') {
                self.advance(1);
                if open == 0 {
                    word.subs.append(&mut inner.subs);
                    word.quoted = true;
                    return Ok(());
                }
            } else if !self.quote_or_expansion(&mut inner, false)? {
                self.advance(1);
            }
        }
        Err(self.unclosed("parenthesis", opened))
    }
}

/// Bytes that mean nothing to the shell wherever they stand in a word.
fn is_ordinary(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/' | b'%')
}
