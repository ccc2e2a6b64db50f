//! Random commands: grammatical ones, whose every command can be foretold, and mutations of them, which can be anything.

use super::vocabulary::{BASH_PARTS, DYNAMIC, NAMES, PARTS, TOKENS};

/// A small generator of numbers, seeded, so that a failure can be repeated.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    pub fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }
}

/// What the text is made for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Bash,
    Posix,
}

const HERE_DOCS_INSIDE: bool = true;

pub struct Generator<'r> {
    pub random: &'r mut Random,
    pub dialect: Dialect,
    /// How many substitutions are open. In one, bash 5.2 prints a here-doc's command again and loses the semicolon after
    /// it, so that two commands become one: there are no here-docs then.
    pub open: usize,
    /// Here-docs that were announced on the line and wait for its end.
    pub waiting: Vec<String>,
}

impl Generator<'_> {
    pub fn word(&mut self, depth: usize) -> String {
        let parts = 1 + self.random.below(3);
        (0..parts).map(|_| self.part(depth)).collect()
    }

    fn part(&mut self, depth: usize) -> String {
        let bash = self.dialect == Dialect::Bash;
        match self.random.below(16) {
            0 if depth > 0 => self.substitution(depth - 1),
            1 | 2 => self.random.one(&DYNAMIC).to_string(),
            3 | 4 if bash => self.random.one(&BASH_PARTS).to_string(),
            _ => self.random.one(&PARTS).to_string(),
        }
    }

    fn substitution(&mut self, depth: usize) -> String {
        self.open += 1;
        let waiting = std::mem::take(&mut self.waiting);
        let mut inner = self.list(depth);
        if !self.waiting.is_empty() {
            inner.push_str(&self.line_end());
        }
        self.waiting = waiting;
        self.open -= 1;
        let close = if inner.contains('#') { "\n)" } else { ")" };
        // `$((` is read as arithmetic first; only bash reads it once more.
        let apart = self.dialect == Dialect::Posix && inner.starts_with('(');
        let inner = if apart { format!(" {inner}") } else { inner };
        match self.random.below(if self.dialect == Dialect::Bash { 7 } else { 6 }) {
            0 | 1 => format!("$({inner}{close}"),
            2 => format!("\"$({inner}{close}\""),
            3 => format!("${{u:-$({inner}{close}}}"),
            4 => format!("\"${{u:-$({inner}{close}}}\""),
            5 => format!(
                "`{}`",
                self.random.one(&[
                    "c0",
                    "c1 a",
                    "c0 \\`c2 b\\`",
                    "c0;c1",
                    "c0 'a b' \"c\"",
                    "c0 \\\\\\$u",
                    "c0 $u",
                    "f1 || c0",
                    "c0 '\\\\'"
                ])
            ),
            _ => format!("<({inner}{close}"),
        }
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut made = Vec::new();
        while self.random.chance(6) {
            let name = self.random.one(&["v", "w", "x_1"]);
            made.push(format!("{name}={}", self.word(depth)));
        }
        made.push(self.random.one(&NAMES).to_string());
        for _ in 0..self.random.below(4) {
            made.push(self.word(depth));
        }
        if self.random.chance(4) {
            let at = self.random.below(made.len() + 1);
            let redirect = self.redirect();
            made.insert(at, redirect);
        }
        let blank = if self.open == 0 { [" ", "  ", "\t", " \\\n"] } else { [" ", "  ", "\t", " "] };
        let blank = self.random.one(&blank);
        made.join(blank)
    }

    fn redirect(&mut self) -> String {
        let common = [
            "2>/dev/null",
            "</dev/null",
            ">out",
            ">>out",
            "2>&1",
            ">&2",
            ">|out",
            "<>out",
            "3>&1",
            "2>&-",
            "> 'o ut'",
            "0<in",
        ];
        let bash = ["<<<x", "<<< 'a b'", "&>out", "&>>out", "{fd}>out", "<<<\"$u\""];
        match self.random.below(8) {
            0 | 1 if self.open == 0 || HERE_DOCS_INSIDE => self.here_doc(),
            2 | 3 if self.dialect == Dialect::Bash => self.random.one(&bash).to_string(),
            _ => self.random.one(&common).to_string(),
        }
    }

    fn here_doc(&mut self) -> String {
        let (written, plain) =
            [("E", "E"), ("'E'", "E"), ("\"E F\"", "E F"), ("\\E", "E"), ("E''", "E")][self.random.below(5)];
        let strip = self.random.chance(3);
        let lines = [
            "x",
            "$(c0 h)",
            "`c1 h`",
            "$u",
            "\\$(c0)",
            "'",
            "\"",
            "a\\",
            "Ex",
            " E",
            "${u:-$(c2 h)}",
            "\\\\",
            "",
            "#",
            "(",
            "\"$(c0 q)\"",
            "$((1+1))",
        ];
        let mut body = String::new();
        for _ in 0..self.random.below(4) {
            let tabs = if strip && self.random.chance(2) { "\t" } else { "" };
            let line = self.random.one(&lines);
            // A backslash at the end would join the delimiter.
            body.push_str(&format!("{tabs}{line}{}\n", if line.ends_with('\\') { "b" } else { "" }));
        }
        self.waiting.push(format!("{body}{}{plain}\n", if strip { "\t" } else { "" }));
        format!("{}{written}", if strip { "<<-" } else { "<<" })
    }

    /// The end of a line, with the here-docs that were announced on it.
    fn line_end(&mut self) -> String {
        let docs: String = self.waiting.drain(..).collect();
        format!("\n{docs}")
    }

    fn command(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.chance(3) {
            return self.simple(depth);
        }
        match self.random.below(if self.dialect == Dialect::Bash { 20 } else { 11 }) {
            0 => format!("({})", self.closed(depth - 1)),
            1 => format!("{{ {} }}", self.closed(depth - 1)),
            2 => format!("if {} then {} fi", self.closed(depth - 1), self.closed(depth - 1)),
            3 => format!(
                "if {} then {} else {} fi",
                self.closed(depth - 1),
                self.closed(depth - 1),
                self.closed(depth - 1)
            ),
            4 => format!("for i in 1 '2 3'; do {} done", self.closed(depth - 1)),
            5 => format!("while f1 w; do {} done", self.closed(depth - 1)),
            6 => format!("case a in (b|'a') {} ;; *) {} ;; esac", self.closed(depth - 1), self.closed(depth - 1)),
            7 => format!("case {} in [xy]) {} ;; esac", self.word(depth - 1), self.closed(depth - 1)),
            8 => format!("g() {{ {} }}; g", self.closed(depth - 1)),
            9 => format!("! {}", self.simple(depth)),
            10 => format!("until c0 w; do {} done", self.closed(depth - 1)),
            11 => format!("time {}", self.simple(depth)),
            12 => format!("function g2 {{ {} }}; g2", self.closed(depth - 1)),
            13 => {
                let right = self.random.one(&["'b c'", "\"$u\"", "[ab]", "a*", "x", "@(a|b)"]);
                format!("[[ a == {right} ]] && {}", self.simple(depth))
            }
            14 => {
                format!("(( {} )); {}", self.random.one(&["1", "1 < 2", "(1)", "v += 1", "1 << 2"]), self.simple(depth))
            }
            15 => format!("for ((k=0; k<2; k++)); do {} done", self.closed(depth - 1)),
            16 => format!("v=({} {}); {}", self.word(depth - 1), self.word(0), self.simple(depth)),
            17 => format!("v+=({}) ; declare w={}; {}", self.word(0), self.word(0), self.simple(depth)),
            18 => format!("case a in a) {} ;& b) {} ;;& c) : ;; esac", self.closed(depth - 1), self.closed(depth - 1)),
            _ => format!("for i in a; {{ {} }}", self.closed(depth - 1)),
        }
    }

    /// A list with what closes it before a reserved word.
    fn closed(&mut self, depth: usize) -> String {
        let list = self.list(depth);
        let ends_with_line = list.contains('#') || !self.waiting.is_empty();
        let end = if ends_with_line || self.random.chance(3) { self.line_end() } else { ";".to_string() };
        format!("{list}{end}")
    }

    pub fn list(&mut self, depth: usize) -> String {
        let mut made = self.command(depth);
        if self.random.chance(12) {
            made.push_str(self.random.one(&[" # c x", " # '", " # \"", " # $(", " #`", " # \\"]));
        }
        for _ in 0..self.random.below(3) {
            let by = self
                .random
                .one(&["; ", "\n", " && ", " || ", " | ", "\n\n", ";", "&&", "||", "|", " &\n", " && \n", " |\n"]);
            // A comment ends with its line, and so does a line with here-docs.
            let lone = made.contains('#') || !self.waiting.is_empty();
            let by = if lone { self.line_end() } else { by.to_string() };
            made = format!("{made}{by}{}", self.command(depth));
        }
        made
    }

    /// A whole script.
    pub fn script(&mut self, depth: usize) -> String {
        let list = self.list(depth);
        let end = if self.waiting.is_empty() { String::new() } else { self.line_end() };
        format!("{list}{end}")
    }
}

/// Changes the text in a place or two: what comes out may be no command at all.
pub fn mutate(random: &mut Random, source: &str) -> String {
    let mut letters: Vec<char> = source.chars().collect();
    for _ in 0..1 + random.below(3) {
        let at = random.below(letters.len() + 1);
        match random.below(4) {
            0 if at < letters.len() => drop(letters.remove(at)),
            1 if at + 1 < letters.len() => letters.swap(at, at + 1),
            _ => {
                let token = random.one(&TOKENS);
                letters.splice(at..at, token.chars());
            }
        }
    }
    letters.into_iter().collect()
}
