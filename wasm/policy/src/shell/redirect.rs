//! Redirections.

use super::ast::{Piece, Redirect, Word};
use super::cursor::{Parsed, Parser};
use super::here_doc::PendingDoc;

/// Longest first: the first that fits is the operator.
const OPERATORS: [&str; 12] = ["<<<", "<<-", "&>>", "<<", "<&", "<>", "&>", ">>", ">&", ">|", "<", ">"];

impl Parser<'_> {
    /// The length of the descriptor before a redirection that begins here.
    pub(super) fn redirect_ahead(&self) -> Option<usize> {
        let rest = &self.src[self.pos..self.end];
        let prefix = match rest.first()? {
            b'0'..=b'9' => rest.iter().position(|byte| !byte.is_ascii_digit())?,
            b'{' => {
                let close = rest.iter().take(256).position(|byte| *byte == b'}')?;
                if !is_variable(std::str::from_utf8(&rest[1..close]).ok()?) {
                    return None;
                }
                close + 1
            }
            b'&' if rest.get(1) == Some(&b'>') => return Some(0),
            _ => 0,
        };
        let is_operator = matches!(rest.get(prefix), Some(b'<' | b'>')) && rest.get(prefix + 1) != Some(&b'(');
        is_operator.then_some(prefix)
    }

    pub(super) fn redirect(&mut self, prefix: usize) -> Parsed<Redirect> {
        let start = self.pos;
        let fd = (prefix > 0).then(|| self.text.get(start..start + prefix).unwrap_or_default().to_string());
        self.advance(prefix);
        let Some(op) = OPERATORS.iter().copied().find(|op| self.looking_at(op)) else {
            return Err(self.unexpected("a redirection"));
        };
        self.advance(op.len());
        self.skip_blanks();
        if !self.word_ahead() {
            return Err(self.unexpected("the target of a redirection"));
        }
        let target_start = self.pos;
        let target = self.plain_word()?;
        // `<2>x`: the digits before a sign are its descriptor, and then the first one has no target.
        let descriptor = |text: &str| {
            let named = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
            named.is_some_and(is_variable) || text.bytes().all(|byte| byte.is_ascii_digit())
        };
        if target.plain && target.text.as_deref().is_some_and(descriptor) && matches!(self.peek(), b'<' | b'>') {
            return Err(self.unexpected("the target of a redirection"));
        }
        if op == ">&" || op == "<&" {
            self.closes_and_goes_on(target_start)?;
            self.expanded_twice(&target, target_start)?;
        }
        let mut redirect = Redirect { span: self.span_from(start), op, fd, target, here_doc: None };
        if op == "<<" || op == "<<-" {
            let source = self.text.get(target_start..self.pos).unwrap_or_default();
            let delimiter = match (&redirect.target.text, redirect.target.plain) {
                (_, true) if !source.contains(['$', '\\']) => source.to_string(),
                (Some(text), false) => text.clone(),
                _ => {
                    return Err(self.fault(
                        "shell.unsupported",
                        "This here-doc delimiter is not supported",
                        target_start,
                    ));
                }
            };
            let quoted = !redirect.target.plain;
            redirect.here_doc = Some(self.expect_here_doc(PendingDoc {
                index: 0,
                delimiter,
                quoted,
                strip_tabs: op == "<<-",
                opened: start,
            }));
        }
        Ok(redirect)
    }

    /// bash takes the `-` behind `>&` for a whole word, so that `>&-rm x` closes a descriptor and runs rm.
    fn closes_and_goes_on(&self, start: usize) -> Parsed<()> {
        let source = self.text.get(start..self.pos).unwrap_or_default();
        if source.trim_start_matches("\\\n").starts_with('-') && source != "-" {
            return Err(self.fault(
                "shell.unsupported",
                "a word behind \">&-\" without a blank is not supported",
                start,
            ));
        }
        Ok(())
    }

    /// Where `>&word` turns out to be no number, bash takes the value of the word for a word, so `>& '$(rm f)'` runs rm.
    fn expanded_twice(&mut self, target: &Word, start: usize) -> Parsed<()> {
        let evaluated = |piece: &Piece| matches!(piece, Piece::Lit(text) if text.contains(['$', '`', '\\', '"', '\'']));
        if target.pieces.iter().any(evaluated) {
            let what = "this target behind \">&\" is not supported";
            return Err(self.fault("shell.unsupported", what, start));
        }
        if target.text.is_none() {
            self.facts.arithmetic = true;
            self.evaluated.open = true;
        }
        Ok(())
    }

    /// The redirections after a compound command.
    pub(super) fn redirects(&mut self) -> Parsed<Vec<Redirect>> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect_ahead() {
                Some(prefix) => redirects.push(self.redirect(prefix)?),
                None => return Ok(redirects),
            }
        }
    }
}

/// `name` or `name[index]`, with an index in which nothing can be evaluated or quoted.
fn is_variable(text: &str) -> bool {
    let (name, index) = text.split_once('[').map_or((text, "0]"), |(name, rest)| (name, rest));
    let plain =
        |index: &str| !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    super::cursor::is_name(name) && index.strip_suffix(']').is_some_and(plain)
}
