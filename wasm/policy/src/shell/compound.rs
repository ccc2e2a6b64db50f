//! Commands that contain commands.

use super::ast::{Compound, Item, Node, Sequence, Why, Word};
use super::cursor::{Parsed, Parser};
use super::word::{Builder, finish};

impl Parser<'_> {
    /// A compound command, if one begins here. Called one level down already, so that nesting is counted once.
    pub(super) fn compound(&mut self) -> Parsed<Option<Compound>> {
        let start = self.pos;
        let mut made = if self.peek() == b'(' {
            self.parenthesis()?
        } else {
            let Some((word, end)) = self.reserved() else { return Ok(None) };
            if word == "time" {
                return Ok(None);
            }
            self.advance(end - self.pos);
            match word {
                "{" => self.bracketed("group", "}")?,
                "if" => self.if_clause()?,
                "while" => self.loop_clause("while")?,
                "until" => self.loop_clause("until")?,
                "for" => self.for_clause()?,
                "select" => self.named_loop("select")?,
                "case" => self.case_clause()?,
                "[[" => self.condition()?,
                "function" => return self.function_clause(start).map(Some),
                "coproc" => return self.coproc(start).map(Some),
                _ => {
                    self.pos = start;
                    return Err(self.unexpected(&format!("a command, not \"{word}\",")));
                }
            }
        };
        made.span = self.span_from(start);
        made.redirects = self.redirects()?;
        Ok(Some(made))
    }

    fn parenthesis(&mut self) -> Parsed<Compound> {
        if self.at(1) == b'(' && self.is_arithmetic(self.pos)? {
            let word = self.arithmetic_word()?;
            return Ok(blank("arith", vec![word], Vec::new()));
        }
        if self.at(1) == b'(' {
            self.read_again(self.pos + 1)?;
        }
        self.advance(1);
        self.bracketed("subshell", ")")
    }

    /// At `((`: the whole expression as one dynamic word.
    fn arithmetic_word(&mut self) -> Parsed<Word> {
        let start = self.pos;
        let mut inner = Builder::default();
        self.arithmetic(&mut inner)?;
        Ok(without_text(finish(self.span_from(start), Builder::of(Vec::new(), vec![Why::Arithmetic], inner.subs))))
    }

    fn bracketed(&mut self, kind: &'static str, close: &'static str) -> Parsed<Compound> {
        let opened = self.pos - 1;
        let body = self.body(&[close])?;
        if self.eof() {
            return Err(self.unclosed(kind, opened));
        }
        if close == "}" {
            self.expect_reserved(close)?
        } else {
            self.expect(close)?
        }
        Ok(blank(kind, Vec::new(), vec![body]))
    }

    fn if_clause(&mut self) -> Parsed<Compound> {
        let mut bodies = vec![self.body(&["then"])?];
        loop {
            self.expect_reserved("then")?;
            bodies.push(self.body(&["elif", "else", "fi"])?);
            match self.reserved() {
                Some(("elif", end)) => {
                    self.advance(end - self.pos);
                    bodies.push(self.body(&["then"])?);
                }
                Some(("else", end)) => {
                    self.advance(end - self.pos);
                    bodies.push(self.body(&["fi"])?);
                    break;
                }
                _ => break,
            }
        }
        self.expect_reserved("fi")?;
        Ok(blank("if", Vec::new(), bodies))
    }

    fn loop_clause(&mut self, kind: &'static str) -> Parsed<Compound> {
        let condition = self.body(&["do"])?;
        let body = self.do_group()?;
        Ok(blank(kind, Vec::new(), vec![condition, body]))
    }

    fn do_group(&mut self) -> Parsed<Sequence> {
        self.expect_reserved("do")?;
        let body = self.body(&["done"])?;
        self.expect_reserved("done")?;
        Ok(body)
    }

    fn for_clause(&mut self) -> Parsed<Compound> {
        self.skip_blanks();
        if !self.looking_at("((") {
            return self.named_loop("for");
        }
        let word = self.arithmetic_word()?;
        self.skip_blanks();
        if self.peek() == b';' && self.at(1) != b';' {
            self.advance(1);
        }
        self.skip_newlines()?;
        let body = self.loop_body()?;
        Ok(blank("for_arith", vec![word], vec![body]))
    }

    /// `do … done`, or the undocumented `{ … }`.
    fn loop_body(&mut self) -> Parsed<Sequence> {
        match self.reserved() {
            Some(("{", end)) => {
                self.advance(end - self.pos);
                let body = self.body(&["}"])?;
                self.expect_reserved("}")?;
                Ok(body)
            }
            _ => self.do_group(),
        }
    }

    fn named_loop(&mut self, kind: &'static str) -> Parsed<Compound> {
        self.skip_blanks();
        let name = self.plain_word()?;
        let Some(name) = name.text.filter(|_| name.plain) else {
            return Err(self.unexpected("the name of a variable"));
        };
        self.skip_blanks();
        let mut words = Vec::new();
        let lone = self.peek() == b';' && self.at(1) != b';';
        if lone {
            self.advance(1);
        }
        self.skip_newlines()?;
        if let (false, Some(("in", end))) = (lone, self.reserved()) {
            self.advance(end - self.pos);
            self.skip_blanks();
            while self.word_ahead() {
                let start = self.pos;
                let word = self.plain_word()?;
                words.extend(self.braces(word, start));
                self.skip_blanks();
            }
            match self.peek() {
                b';' if self.at(1) != b';' => self.advance(1),
                b'\n' => self.newline()?,
                _ => return Err(self.unexpected("\";\" or a line end")),
            }
            self.skip_newlines()?;
        }
        let body = self.loop_body()?;
        Ok(Compound { name: Some(name), ..blank(kind, words, vec![body]) })
    }

    fn case_clause(&mut self) -> Parsed<Compound> {
        self.skip_blanks();
        let mut words = vec![self.plain_word()?];
        self.skip_newlines()?;
        self.expect_reserved("in")?;
        let mut bodies = Vec::new();
        loop {
            self.skip_newlines()?;
            if let Some(("esac", end)) = self.reserved() {
                self.advance(end - self.pos);
                return Ok(blank("case", words, bodies));
            }
            self.case_patterns(&mut words)?;
            bodies.push(self.list(&[";;", ";&", "esac"])?);
            if !(self.eat(";;&") || self.eat(";;") || self.eat(";&")) {
                self.expect_reserved("esac")?;
                return Ok(blank("case", words, bodies));
            }
        }
    }

    fn case_patterns(&mut self, words: &mut Vec<Word>) -> Parsed<()> {
        if self.eat("(") {
            self.skip_blanks();
        }
        loop {
            words.push(self.plain_word()?);
            self.skip_blanks();
            if self.eat(")") {
                return Ok(());
            }
            self.expect("|")?;
            self.skip_blanks();
        }
    }

    fn function_clause(&mut self, start: usize) -> Parsed<Compound> {
        self.skip_blanks();
        let name = self.plain_word()?;
        let Some(name) = name.text else {
            return Err(self.unexpected("the name of a function"));
        };
        self.skip_blanks();
        // `function f (echo)` has a subshell as its body; only `()` belongs to the name.
        let mut ahead = 1;
        while matches!(self.at(ahead), b' ' | b'\t') {
            ahead += 1;
        }
        if self.peek() == b'(' && self.at(ahead) == b')' {
            self.advance(ahead + 1);
        }
        let start = self.span(start, start)[0];
        self.function_body(name, start)
    }

    /// `coproc command` or `coproc NAME compound`.
    fn coproc(&mut self, start: usize) -> Parsed<Compound> {
        self.skip_blanks();
        let (mut name, inner) = (None, self.pos);
        let node = match self.nested(Self::compound)? {
            Some(compound) => Node::Compound(compound),
            None if self.redirect_ahead().is_some() || !self.word_ahead() || self.assignment_ahead() => {
                self.simple(None)?
            }
            None => {
                let mut word = self.plain_word()?;
                self.skip_blanks();
                let is_name = word.text.as_deref().is_some_and(super::cursor::is_name);
                match if is_name { self.nested(Self::compound)? } else { None } {
                    Some(compound) => {
                        name = word.text;
                        Node::Compound(compound)
                    }
                    None => {
                        word.span = self.span(inner, word.span[1] as usize).map(|at| at.max(word.span[0]));
                        self.simple(Some(word))?
                    }
                }
            }
        };
        // Bash prints what stands in a substitution as `coproc COPROC cmd`, and reads that again as the command COPROC.
        if self.substitutions > 0 && matches!(node, Node::Simple(_)) {
            let what = "a coprocess of a simple command in a substitution is not supported";
            return Err(self.fault("shell.unsupported", what, start));
        }
        let span = [self.span(start, start)[0], node.span()[1]];
        let body = vec![Item { node, background: true }];
        Ok(Compound { name, span, ..blank("coproc", Vec::new(), vec![body]) })
    }
}

impl Parser<'_> {
    /// `name=`, `name+=` or `name[`.
    fn assignment_ahead(&self) -> bool {
        let rest = &self.src[self.pos..self.end];
        let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let sign = rest.get(name).copied().unwrap_or_default();
        name > 0
            && !rest[0].is_ascii_digit()
            && (matches!(sign, b'=' | b'[') || sign == b'+' && rest.get(name + 1) == Some(&b'='))
    }
}

fn without_text(mut word: Word) -> Word {
    word.text = None;
    word
}

fn blank(kind: &'static str, words: Vec<Word>, bodies: Vec<Sequence>) -> Compound {
    Compound { r#type: kind, span: [0, 0], name: None, words, bodies, redirects: Vec::new() }
}
