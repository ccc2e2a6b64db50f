//! Here-docs: announced on one line, read after the end of that line.

use super::ast::HereDoc;
use super::cursor::{Parsed, Parser};
use super::word::{Builder, finish};

/// A here-doc whose body has not come yet.
pub(super) struct PendingDoc {
    pub(super) index: usize,
    pub(super) delimiter: String,
    pub(super) quoted: bool,
    pub(super) strip_tabs: bool,
    pub(super) opened: usize,
}

impl Parser<'_> {
    /// Queues a here-doc and gives the index of its body.
    pub(super) fn expect_here_doc(&mut self, doc: PendingDoc) -> usize {
        self.here_doc_inside = self.substitutions > 0;
        let index = self.docs.len();
        self.docs.push(HereDoc { quoted: doc.quoted, ..HereDoc::default() });
        self.pending.push(PendingDoc { index, ..doc });
        index
    }

    /// Reads the bodies of all queued here-docs; the position is at the start of a line.
    pub(super) fn read_here_docs(&mut self) -> Parsed<()> {
        for doc in std::mem::take(&mut self.pending) {
            let start = self.pos;
            let (end, text) = self.body_lines(&doc)?;
            let after = self.pos;
            let mut body = HereDoc { span: self.span(start, end), quoted: doc.quoted, ..HereDoc::default() };
            if doc.quoted {
                body.text = Some(text);
            } else {
                self.expand_body(&mut body, start, end, doc.strip_tabs)?;
            }
            self.docs[doc.index] = body;
            self.pos = after;
        }
        Ok(())
    }

    /// Moves past the delimiter. Gives where the body ends and its text without the stripped tabs.
    fn body_lines(&mut self, doc: &PendingDoc) -> Parsed<(usize, String)> {
        let mut text = String::new();
        let mut continued = false;
        while !self.eof() {
            let start = self.pos;
            let length = self.src[start..self.end].iter().position(|byte| *byte == b'\n');
            let line_end = start + length.unwrap_or(self.end - start);
            self.advance(line_end + 1 - start);
            let line = self.text.get(start..line_end).unwrap_or_default();
            let line = if doc.strip_tabs { line.trim_start_matches('\t') } else { line };
            if !continued && line == doc.delimiter {
                return Ok((start, text));
            }
            // A backslash at the end of a line joins the next one, which then can't be the delimiter.
            let slashes = line.bytes().rev().take_while(|byte| *byte == b'\\').count();
            continued = !doc.quoted && slashes % 2 == 1;
            text.push_str(line);
            text.push('\n');
        }
        Err(self.unclosed("here-doc", doc.opened))
    }

    fn expand_body(&mut self, body: &mut HereDoc, start: usize, end: usize, stripped: bool) -> Parsed<()> {
        let outer_end = std::mem::replace(&mut self.end, end);
        self.pos = start;
        let mut inner = Builder::default();
        self.nested(|parser| parser.quoted_run(&mut inner, None))?;
        self.end = outer_end;
        let word = finish(body.span, inner);
        body.text = word.text.filter(|_| !stripped);
        body.subs = word.subs;
        Ok(())
    }
}
