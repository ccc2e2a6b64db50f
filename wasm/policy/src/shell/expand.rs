//! Quotes and the expansions that begin with `$`, a backtick or `<(`.

use super::ast::{Piece, Substitution, Why};
use super::cursor::{Parsed, Parser};
use super::word::Builder;

impl Parser<'_> {
    /// Takes a quote, an escape or an expansion, if one begins here.
    pub(super) fn quote_or_expansion(&mut self, word: &mut Builder, in_quotes: bool) -> Parsed<bool> {
        match self.peek() {
            b'\'' if !in_quotes => self.single_quotes(word)?,
            b'"' if !in_quotes => self.double_quotes(word)?,
            b'\\' => self.backslash(word, in_quotes),
            b'$' => self.dollar(word, in_quotes)?,
            b'`' => self.backticks(word, in_quotes)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn literal(&mut self, word: &mut Builder, start: usize, end: usize) {
        let text = self.text.get(start..end).unwrap_or_default();
        self.facts.quoted_code |= text.contains("$(") || text.contains('`') || text.contains("${");
        word.quoted_text(text);
    }

    fn single_quotes(&mut self, word: &mut Builder) -> Parsed<()> {
        let opened = self.pos;
        self.skip_single_quotes()?;
        self.literal(word, opened + 1, self.pos - 1);
        Ok(())
    }

    fn skip_single_quotes(&mut self) -> Parsed<()> {
        let opened = self.pos;
        match self.src[opened + 1..self.end].iter().position(|byte| *byte == b'\'') {
            Some(length) => {
                self.advance(length + 2);
                Ok(())
            }
            None => Err(self.unclosed("single quote", opened)),
        }
    }

    fn double_quotes(&mut self, word: &mut Builder) -> Parsed<()> {
        let opened = self.pos;
        self.advance(1);
        word.quoted_text("");
        self.nested(|parser| parser.quoted_run(word, Some(b'"')))?;
        if self.eof() {
            return Err(self.unclosed("double quote", opened));
        }
        self.advance(1);
        Ok(())
    }

    /// Text with expansions, up to `close` or the end: double quotes, here-docs.
    pub(super) fn quoted_run(&mut self, word: &mut Builder, close: Option<u8>) -> Parsed<()> {
        while !self.eof() && Some(self.peek()) != close {
            if self.peek() == b'\\' && self.at(1) == b'"' && close.is_none() {
                self.advance(2);
                word.quoted_text("\\\"");
            } else if !self.quote_or_expansion(word, true)? {
                let start = self.pos;
                while !self.eof() && Some(self.peek()) != close && !matches!(self.peek(), b'\\' | b'$' | b'`') {
                    self.advance(1);
                }
                word.quoted_text(self.text.get(start..self.pos).unwrap_or_default());
            }
        }
        Ok(())
    }

    fn backslash(&mut self, word: &mut Builder, in_quotes: bool) {
        let next = self.at(1);
        if next == b'\n' {
            return self.advance(2);
        }
        if self.pos + 1 >= self.end || (in_quotes && !matches!(next, b'$' | b'`' | b'"' | b'\\')) {
            self.advance(1);
            return word.quoted_text("\\");
        }
        self.facts.quoted_code |= matches!(next, b'$' | b'`');
        let mut end = self.pos + 2;
        while end < self.end && self.src[end] & 0xC0 == 0x80 {
            end += 1;
        }
        let start = self.pos + 1;
        self.advance(end - self.pos);
        word.quoted_text(self.text.get(start..end).unwrap_or_default());
    }

    pub(super) fn dollar(&mut self, word: &mut Builder, in_quotes: bool) -> Parsed<()> {
        // The shell takes the continuation away first, so `$\⏎(rm x)` runs rm (POSIX 2.2.1).
        if self.at(1) == b'\\' && self.at(2) == b'\n' {
            return Err(self.fault("shell.unsupported", "a line continuation after \"$\" is not supported", self.pos));
        }
        match self.at(1) {
            b'(' if self.at(2) == b'(' && self.is_arithmetic(self.pos + 1)? => {
                self.advance(1);
                self.arithmetic(word)?;
                word.dynamic(Piece::unknown(Why::Arithmetic, in_quotes));
            }
            b'(' => {
                self.substitution(word, "$(")?;
                word.dynamic(Piece::unknown(Why::Command, in_quotes));
            }
            b'{' => self.braced_parameter(word, in_quotes)?,
            b'[' => self.old_arithmetic(word, in_quotes)?,
            b'\'' if !in_quotes => self.ansi_quotes(word)?,
            b'"' if !in_quotes => {
                self.advance(1);
                self.double_quotes(word)?;
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let start = self.pos + 1;
                self.advance(1);
                while self.peek().is_ascii_alphanumeric() || self.peek() == b'_' {
                    self.advance(1);
                }
                let name = self.text.get(start..self.pos).unwrap_or_default();
                word.dynamic(parameter(name, in_quotes));
            }
            b'#' | b'?' | b'$' => {
                self.advance(2);
                word.dynamic(Piece::Number(Why::Parameter));
            }
            // A number, or nothing before anything ran in the background.
            b'!' => {
                self.advance(2);
                word.dynamic(Piece::Dyn { why: Why::Parameter, quoted: in_quotes, name: "!".to_string() });
            }
            b'0'..=b'9' | b'@' | b'*' | b'-' => {
                let many = self.at(1) == b'@';
                self.advance(2);
                word.dynamic(parameter("", in_quotes && !many));
            }
            _ => {
                self.advance(1);
                if in_quotes { word.quoted_text("$") } else { word.text("$") }
            }
        }
        Ok(())
    }

    /// `$(`, `<(` or `>(` up to its `)`.
    fn substitution(&mut self, word: &mut Builder, kind: &'static str) -> Parsed<()> {
        let opened = self.pos;
        // Bash finds the end of `$((` and `<((` by their parentheses alone, whatever comments or patterns stand between.
        let close = if self.at(2) == b'(' { Some(self.read_again(opened + 1)?) } else { None };
        let outer = std::mem::take(&mut self.pending);
        self.advance(2);
        let here_doc_outside = std::mem::replace(&mut self.here_doc_inside, false);
        self.substitutions += 1;
        let body = self.nested(|parser| parser.list(&[")"]))?;
        self.substitutions -= 1;
        self.here_doc_inside = here_doc_outside;
        if self.eof() {
            return Err(self.unclosed("substitution", opened));
        }
        self.expect(")")?;
        if close.is_some_and(|close| close + 1 != self.pos) {
            let what = "a parenthesis between \"((\" and its end is not supported";
            return Err(self.fault("shell.unsupported", what, opened));
        }
        if !self.pending.is_empty() {
            return Err(self.unclosed("here-doc in the substitution", opened));
        }
        self.pending = outer;
        word.subs.push(Substitution { span: self.span_from(opened), kind, body });
        Ok(())
    }

    pub(super) fn process_substitution(&mut self, word: &mut Builder) -> Parsed<()> {
        let kind = if self.peek() == b'<' { "<(" } else { ">(" };
        self.substitution(word, kind)?;
        word.dynamic(Piece::unknown(Why::Process, true));
        Ok(())
    }

    /// `${…}`. What stands in it is read for its substitutions only.
    fn braced_parameter(&mut self, word: &mut Builder, in_quotes: bool) -> Parsed<()> {
        let opened = self.pos;
        self.advance(2);
        if matches!(self.peek(), b' ' | b'\t' | b'\n' | b'|') {
            return Err(self.fault("shell.unsupported", "\"${ command; }\" is not supported", opened));
        }
        let name_start = self.pos;
        while matches!(self.peek(), b'!' | b'#') && self.at(1) != b'}' {
            self.advance(1);
        }
        let first = self.pos;
        while self.peek().is_ascii_alphanumeric() || matches!(self.peek(), b'_' | b'@' | b'*' | b'?' | b'-' | b'$') {
            let special = !(self.peek().is_ascii_alphanumeric() || self.peek() == b'_');
            // Behind a name only `*` and `@` may belong to it: `${!x*}` lists names.
            if special && self.pos > first && !(matches!(self.peek(), b'*' | b'@') && self.at(1) == b'}') {
                break;
            }
            self.advance(1);
            if special {
                break;
            }
        }
        let name = self.text.get(name_start..self.pos).unwrap_or_default();
        // Bash reads on to some closing brace, and says when it runs that this is no substitution.
        let sensible = matches!(
            self.peek(),
            b'}' | b':' | b'-' | b'=' | b'?' | b'+' | b'#' | b'%' | b'/' | b'^' | b',' | b'@' | b'[' | b'~' | b'*'
        );
        let transformed = name.ends_with('@') && self.peek().is_ascii_alphabetic();
        if name.is_empty() || !(sensible || transformed || self.looking_at("\\\n")) {
            return Err(self.fault("shell.unsupported", "this parameter expansion is not supported", opened));
        }
        let piece = match self.peek() {
            // `${#x}`, `${#x[@]}`: a length.
            _ if name.strip_prefix('#').is_some_and(super::cursor::is_name) => Piece::Number(Why::Parameter),
            b'}' => parameter(name, in_quotes && !name.ends_with('@')),
            _ => parameter("", in_quotes && !name.ends_with('@') && !self.looking_at("[@]")),
        };
        self.facts.prompt_expansion |= self.looking_at("@P") || name.ends_with('@') && self.looking_at("P");
        let evaluated = self.parameter_operator(name);
        // A single quote quotes inside double quotes only where a pattern stands (POSIX 2.6.2, bash "Shell Parameter Expansion").
        let quoting = !in_quotes || matches!(self.peek(), b'#' | b'%' | b'/' | b'^' | b',' | b'@' | b'[');
        let mut inner = Builder::default();
        self.nested(|parser| parser.parameter_rest(&mut inner, in_quotes, quoting, opened))?;
        if let Some(from) = evaluated {
            self.evaluates(from, self.pos - 1);
        }
        word.subs.append(&mut inner.subs);
        // `"${x:-$@}"` is as many words as there are.
        let many = inner.pieces.iter().any(|piece| matches!(piece, Piece::Dyn { quoted: false, .. }));
        word.dynamic(match piece {
            Piece::Dyn { why, name, .. } if many => Piece::Dyn { why, quoted: false, name },
            piece => piece,
        });
        Ok(())
    }

    fn parameter_rest(&mut self, inner: &mut Builder, in_quotes: bool, quoting: bool, opened: usize) -> Parsed<()> {
        while !self.eof() {
            match self.peek() {
                b'}' => {
                    self.advance(1);
                    return Ok(());
                }
                // Whatever follows a backslash closes and opens nothing, in quotes too: `"${x%%\'*}"`.
                b'\\' => {
                    self.facts.quoted_code |= matches!(self.at(1), b'$' | b'`');
                    self.advance(2);
                }
                b'\'' if quoting => self.single_quotes(inner)?,
                b'\'' => self.literal_quotes(inner)?,
                b'"' => self.double_quotes(inner)?,
                b'<' | b'>' if self.at(1) == b'(' && !in_quotes => self.process_substitution(inner)?,
                // Bash finds the ends of both when it looks for the brace, and takes them for something else when it expands.
                b'<' | b'>' if self.at(1) == b'(' => {
                    let what = "a process substitution in a quoted expansion is not supported";
                    return Err(self.fault("shell.unsupported", what, self.pos));
                }
                b'$' if self.at(1) == b'\'' && in_quotes => {
                    let what = "\"$'\" in a quoted expansion is not supported";
                    return Err(self.fault("shell.unsupported", what, self.pos));
                }
                b'@' if self.at(1) == b'P' && self.at(2) == b'}' => {
                    self.facts.prompt_expansion = true;
                    self.advance(2);
                }
                _ => {
                    if !self.quote_or_expansion(inner, in_quotes)? {
                        self.advance(1);
                    }
                }
            }
        }
        Err(self.unclosed("parameter expansion", opened))
    }

    /// In `"${x:-'…'}"` bash pairs the single quotes when it reads, and takes them for plain text when it expands, so
    /// substitutions between them run.
    fn literal_quotes(&mut self, inner: &mut Builder) -> Parsed<()> {
        let opened = self.pos;
        self.skip_single_quotes()?;
        let close = self.pos - 1;
        let end = std::mem::replace(&mut self.end, close);
        self.pos = opened + 1;
        let read = self.nested(|parser| parser.quoted_run(inner, None));
        self.end = end;
        self.pos = close + 1;
        read
    }

    /// Backticks: the text between them is unescaped once and parsed as a source of its own.
    pub(super) fn backticks(&mut self, word: &mut Builder, in_quotes: bool) -> Parsed<()> {
        let opened = self.pos;
        self.advance(1);
        let (mut bytes, mut offsets) = (Vec::new(), Vec::new());
        loop {
            if self.eof() {
                return Err(self.unclosed("backtick", opened));
            }
            match (self.peek(), self.at(1)) {
                (b'`', _) => break,
                (b'\\', next) if matches!(next, b'`' | b'\\' | b'$') || (in_quotes && next == b'"') => self.advance(1),
                _ => {}
            }
            bytes.push(self.peek());
            offsets.push(self.span(self.pos, self.pos)[0]);
            self.advance(1);
        }
        offsets.push(self.span(self.pos, self.pos)[0]);
        self.advance(1);
        let body = self.nested(|parser| parser.inner_source(&bytes, offsets))?;
        word.subs.push(Substitution { span: self.span_from(opened), kind: "`", body });
        word.dynamic(Piece::unknown(Why::Command, in_quotes));
        Ok(())
    }

    fn inner_source(&mut self, bytes: &[u8], offsets: Vec<u32>) -> Parsed<super::ast::Sequence> {
        // Only whole ASCII escapes were taken out, so this is still UTF-8.
        let text = String::from_utf8_lossy(bytes);
        let mut inner = Parser::new(&text)?;
        inner.depth = self.depth;
        inner.offsets = Some(offsets);
        inner.docs = std::mem::take(&mut self.docs);
        inner.facts = self.facts;
        inner.evaluated = std::mem::take(&mut self.evaluated);
        let script = inner.script();
        self.steps += inner.steps;
        self.facts = inner.facts;
        let script = script?;
        self.docs = script.here_docs;
        self.evaluated = script.evaluated;
        Ok(script.items)
    }
}

/// The piece that `$name` makes.
fn parameter(name: &str, quoted: bool) -> Piece {
    match name {
        "HOME" => Piece::Home(Why::Parameter),
        "PWD" => Piece::Cwd(Why::Parameter),
        _ if super::cursor::is_name(name) => Piece::Dyn { why: Why::Parameter, quoted, name: name.to_string() },
        _ => Piece::unknown(Why::Parameter, quoted),
    }
}
