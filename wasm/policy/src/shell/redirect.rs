//! Redirections.

use super::ast::Redirect;
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
                let name = std::str::from_utf8(&rest[1..close]).ok()?;
                let name = name.split('[').next().unwrap_or_default();
                if !super::cursor::is_name(name) {
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
