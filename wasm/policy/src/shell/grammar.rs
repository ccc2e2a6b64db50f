//! Lists, pipelines and simple commands.

use super::ast::{AndOr, Assignment, Compound, Item, Node, Pipeline, Sequence, Simple, Word};
use super::cursor::{Parsed, Parser};
use super::word::{Read, WordMode};

/// Builtins whose arguments may be array assignments.
const DECLARING: [&str; 7] = ["alias", "declare", "eval", "export", "local", "readonly", "typeset"];

impl Parser<'_> {
    /// Commands up to one of `stops` (symbols or reserved words) or the end of the text; the stop is not taken.
    pub(super) fn list(&mut self, stops: &[&str]) -> Parsed<Sequence> {
        let mut items = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.eof() || self.at_stop(stops) {
                return Ok(items);
            }
            // Bash 5.2 prints a substitution to read it again, and forgets a separator behind a here-doc: `find .; echo -delete`
            // becomes one command.
            if self.here_doc_inside {
                let what = "a command behind a here-doc in a substitution is not supported";
                return Err(self.fault("shell.unsupported", what, self.pos));
            }
            let node = self.and_or()?;
            self.skip_blanks();
            let (next, after) = (self.peek(), self.at(1));
            let background = next == b'&' && after != b'&';
            items.push(Item { node, background });
            match next {
                b'\n' => self.newline()?,
                b';' if after != b';' && after != b'&' => self.advance(1),
                b'&' if background => self.advance(1),
                _ => return Ok(items),
            }
        }
    }

    /// A list that must contain a command.
    pub(super) fn body(&mut self, stops: &[&str]) -> Parsed<Sequence> {
        let items = self.list(stops)?;
        if items.is_empty() { Err(self.unexpected("a command")) } else { Ok(items) }
    }

    fn at_stop(&self, stops: &[&str]) -> bool {
        let word = self.reserved().map(|(word, _)| word);
        stops.iter().any(|stop| {
            word == Some(stop) || (!stop.as_bytes()[0].is_ascii_alphabetic() && *stop != "}" && self.looking_at(stop))
        })
    }

    fn and_or(&mut self) -> Parsed<Node> {
        let start = self.pos;
        let first = self.pipeline()?;
        let (mut ops, mut nodes) = (Vec::new(), vec![first]);
        loop {
            self.skip_blanks();
            let op = if self.looking_at("&&") {
                "&&"
            } else if self.looking_at("||") {
                "||"
            } else {
                break;
            };
            self.advance(2);
            self.skip_newlines()?;
            ops.push(op);
            nodes.push(self.pipeline()?);
        }
        if ops.is_empty() {
            return Ok(nodes.remove(0));
        }
        let end = nodes.last().map_or(start as u32, |node| node.span()[1]);
        let span = [self.span(start, start)[0], end];
        Ok(Node::AndOr(AndOr { r#type: "and_or", span, ops, nodes }))
    }

    fn pipeline(&mut self) -> Parsed<Node> {
        let start = self.pos;
        let (mut negated, mut timed) = (false, false);
        while let Some((word, end)) = self.reserved() {
            match word {
                "!" => negated = true,
                "time" => timed = true,
                _ => break,
            }
            self.advance(end - self.pos);
            self.skip_blanks();
            if word == "time" {
                self.time_options();
            }
        }
        let prefixed = negated || timed;
        let mut stages = Vec::new();
        let alone = self.eof() || self.peek() == b'\n' || self.peek() == b';' && !matches!(self.at(1), b';' | b'&');
        if !(prefixed && alone) {
            self.stages(&mut stages)?;
        }
        if !prefixed && stages.len() == 1 {
            return Ok(stages.remove(0));
        }
        let end = stages.last().map_or(self.span_from(start)[1], |node: &Node| node.span()[1]);
        let span = [self.span(start, start)[0], end];
        Ok(Node::Pipeline(Pipeline { r#type: "pipeline", span, negated, timed, stages }))
    }

    /// `time` takes `-p` and `--`; anything else is the command.
    fn time_options(&mut self) {
        for option in ["-p", "--"] {
            let after = self.at(option.len());
            if self.looking_at(option) && (after == 0 || super::cursor::is_meta(after)) {
                self.advance(option.len());
                self.skip_blanks();
            }
        }
    }

    fn stages(&mut self, stages: &mut Vec<Node>) -> Parsed<()> {
        loop {
            stages.push(self.command()?);
            self.skip_blanks();
            if self.peek() != b'|' || self.at(1) == b'|' {
                return Ok(());
            }
            self.advance(if self.at(1) == b'&' { 2 } else { 1 });
            self.skip_newlines()?;
        }
    }

    /// One command, simple or compound.
    pub(super) fn command(&mut self) -> Parsed<Node> {
        self.nested(|parser| match parser.compound()? {
            Some(compound) => Ok(Node::Compound(compound)),
            None => parser.simple(None),
        })
    }

    /// A simple command, or the definition of a function. `first` is a word that was read already.
    pub(super) fn simple(&mut self, first: Option<Word>) -> Parsed<Node> {
        let start = first.as_ref().map_or(self.span(self.pos, self.pos)[0], |word| word.span[0]);
        let mut command = Simple {
            r#type: "simple",
            span: [start, start],
            assignments: Vec::new(),
            words: first.into_iter().collect(),
            redirects: Vec::new(),
        };
        loop {
            command.span[1] = self.span(self.pos, self.pos)[0].max(start);
            self.skip_blanks();
            if let Some(prefix) = self.redirect_ahead() {
                let redirect = self.redirect(prefix)?;
                command.redirects.push(redirect);
            } else if self.peek() == b'(' && command.words.len() == 1 && command.assignments.is_empty() {
                return self.function_after_name(command);
            } else if self.word_ahead() {
                self.command_word(&mut command)?;
            } else {
                break;
            }
        }
        if command.words.is_empty() && command.assignments.is_empty() && command.redirects.is_empty() {
            return Err(self.unexpected("a command"));
        }
        Ok(Node::Simple(command))
    }

    fn command_word(&mut self, command: &mut Simple) -> Parsed<()> {
        let declaring = command.words.first().and_then(|word| word.text.as_deref());
        let declaring = declaring.is_some_and(|name| DECLARING.contains(&name));
        let mode = if command.words.is_empty() || declaring { WordMode::Assign } else { WordMode::Plain };
        let start = self.pos;
        let read = self.word(mode)?;
        // `2\⏎>x`: the shell takes the continuation away first, and then this is a descriptor (POSIX 2.2.1).
        if matches!(self.peek(), b'<' | b'>')
            && self.text.get(start..self.pos).is_some_and(|text| text.contains("\\\n"))
        {
            let what = "a line continuation in a word before a redirection is not supported";
            return Err(self.fault("shell.unsupported", what, start));
        }
        match read {
            Read::Word(word) => command.words.extend(self.braces(word, start)),
            Read::Assignment(assignment) if command.words.is_empty() => command.assignments.push(assignment),
            Read::Assignment(assignment) => command.words.push(as_argument(assignment)),
        }
        Ok(())
    }

    fn function_after_name(&mut self, command: Simple) -> Parsed<Node> {
        let name = command.words.into_iter().next().and_then(|word| word.text);
        let Some(name) = name.filter(|_| command.redirects.is_empty()) else {
            return Err(self.unexpected("a separator"));
        };
        // With extended globs bash takes `f!()` for a pattern.
        if name.ends_with(['?', '*', '+', '@', '!']) {
            return Err(self.fault(
                "shell.unsupported",
                "a sign of a pattern before \"()\" is not supported",
                self.pos,
            ));
        }
        self.advance(1);
        self.skip_blanks();
        self.expect(")")?;
        self.function_body(name, command.span[0]).map(Node::Compound)
    }

    /// The compound command after the name of a function.
    pub(super) fn function_body(&mut self, name: String, start: u32) -> Parsed<Compound> {
        self.skip_newlines()?;
        let Some(body) = self.nested(Self::compound)? else {
            return Err(self.unexpected("the body of a function"));
        };
        let span = [start, body.span[1]];
        let bodies = vec![vec![Item { node: Node::Compound(body), background: false }]];
        Ok(Compound { r#type: "function", span, name: Some(name), words: Vec::new(), bodies, redirects: Vec::new() })
    }
}

/// `declare name=value` as the argument that the builtin sees.
fn as_argument(assignment: Assignment) -> Word {
    use super::ast::{Piece, Why};
    let sign = if assignment.append { "+=" } else { "=" };
    let mut pieces = vec![Piece::Lit(format!("{}{sign}", assignment.name))];
    let (mut dynamic, mut subs) = (Vec::new(), Vec::new());
    if assignment.array || assignment.subscript.is_some() {
        pieces.push(Piece::unknown(Why::Array, true));
        dynamic.push(Why::Array);
    }
    for value in assignment.subscript.into_iter().chain(assignment.values) {
        if dynamic.first() != Some(&Why::Array) {
            for piece in value.pieces {
                match (pieces.last_mut(), piece) {
                    (Some(Piece::Lit(before)), Piece::Lit(text)) => before.push_str(&text),
                    (_, piece) => pieces.push(piece),
                }
            }
            dynamic.extend(value.dynamic);
        }
        subs.extend(value.subs);
    }
    super::word::finish(assignment.span, super::word::Builder::of(pieces, dynamic, subs))
}
