//! Enough of sed's language to tell a script that only changes text from one that runs programs or writes files.

/// Whether the script has a command or a flag that runs (`e`) or writes (`w`, `W`); also if it is not understood.
pub(super) fn runs_or_writes(script: &str) -> bool {
    let mut reader = Reader { rest: script.as_bytes(), reads: false };
    reader.commands().unwrap_or(true)
}

/// Whether the script only changes what is printed; `r` and `R` read files that are named inside it.
pub(super) fn only_prints(script: &str) -> bool {
    let mut reader = Reader { rest: script.as_bytes(), reads: false };
    reader.commands() == Some(false) && !reader.reads
}

struct Reader<'s> {
    rest: &'s [u8],
    /// It has read a file's name.
    reads: bool,
}

impl Reader<'_> {
    /// None: not understood.
    fn commands(&mut self) -> Option<bool> {
        loop {
            self.skip(b" \t\n;{}");
            if self.rest.is_empty() {
                return Some(false);
            }
            self.addresses()?;
            self.skip(b" \t!");
            let Some((command, rest)) = self.rest.split_first() else { return Some(false) };
            self.rest = rest;
            match command {
                b'e' | b'w' | b'W' => return Some(true),
                b's' => {
                    if self.substitution()? {
                        return Some(true);
                    }
                }
                b'y' => {
                    self.delimited(2)?;
                }
                b'{' | b'}' | b'=' | b'd' | b'D' | b'g' | b'G' | b'h' | b'H' | b'n' | b'N' | b'p' | b'P' | b'x'
                | b'F' | b'z' => {}
                b'q' | b'Q' | b'l' | b'L' => self.skip(b" \t0123456789"),
                // Text and file names go on to the end of the line.
                b'a' | b'i' | b'c' | b'r' | b'R' | b'#' | b'v' => {
                    self.reads |= matches!(command, b'r' | b'R');
                    self.line();
                }
                b'b' | b't' | b'T' | b':' => self.label(),
                _ => return None,
            }
        }
    }

    fn skip(&mut self, bytes: &[u8]) {
        while self.rest.first().is_some_and(|byte| bytes.contains(byte)) {
            self.rest = &self.rest[1..];
        }
    }

    /// Two at most, with a comma between.
    fn addresses(&mut self) -> Option<()> {
        loop {
            match self.rest.first() {
                Some(b'/') => {
                    self.delimited(1)?;
                    self.skip(b"IM");
                }
                Some(b'\\') => {
                    self.rest = &self.rest[1..];
                    self.delimited(1)?;
                    self.skip(b"IM");
                }
                Some(b'0'..=b'9' | b'$') => self.skip(b"0123456789$~"),
                _ => return Some(()),
            }
            self.skip(b" \t");
            if self.rest.first() == Some(&b',') {
                self.rest = &self.rest[1..];
                self.skip(b" \t+~");
            }
        }
    }

    /// `/a/b/`: as many parts, all with the delimiter that comes first. A class may hold the delimiter, so one with a
    /// bracket is read both ways only where it makes no difference; GNU sed ends the part at the delimiter all the same.
    fn delimited(&mut self, parts: usize) -> Option<()> {
        let (delimiter, rest) = self.rest.split_first()?;
        self.rest = rest;
        for _ in 0..parts {
            loop {
                let (byte, rest) = self.rest.split_first()?;
                self.rest = rest;
                match byte {
                    b'\\' => self.rest = self.rest.get(1..)?,
                    // Whether a class hides the delimiter depends on the delimiter and the sed.
                    b'[' if self.rest.iter().take_while(|byte| **byte != b']').any(|byte| byte == delimiter) => {
                        return None;
                    }
                    _ if byte == delimiter => break,
                    _ => {}
                }
            }
        }
        Some(())
    }

    fn substitution(&mut self) -> Option<bool> {
        self.delimited(2)?;
        loop {
            match self.rest.first() {
                Some(b'e' | b'w') => return Some(true),
                Some(b'g' | b'p' | b'i' | b'I' | b'm' | b'M' | b'0'..=b'9') => self.rest = &self.rest[1..],
                _ => return Some(false),
            }
        }
    }

    /// A semicolon ends a label in GNU sed, and a line end in every other.
    fn label(&mut self) {
        self.skip(b" \t");
        while self.rest.first().is_some_and(|byte| !b" \t\n;}".contains(byte)) {
            self.rest = &self.rest[1..];
        }
    }

    fn line(&mut self) {
        let mut escaped = false;
        while let Some((byte, rest)) = self.rest.split_first() {
            if *byte == b'\n' && !escaped {
                return;
            }
            escaped = *byte == b'\\' && !escaped;
            self.rest = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{only_prints, runs_or_writes};

    #[test]
    fn c14_scripts_that_run_or_write_are_told_from_those_that_change_text() {
        for script in [
            "1e mark",
            "e",
            "s/a/b/e",
            "s|a|b|w out",
            "w out",
            "$!w out",
            "/x/{\nw out\n}",
            "1,3 e",
            "y/a/b/;e",
            "\\,a,e",
            "s/\\//x/;e",
            ":a;1e x",
            "ba;e",
            "p;1~2w x",
        ] {
            assert!(runs_or_writes(script), "{script}");
        }
        for script in [
            "p",
            ":a;N;$!ba;s/\\n/ /g",
            "1,20p",
            "s/a/b/g",
            "s|/usr|/opt|",
            "/we/d",
            "s/e/w/",
            "$d",
            "1!G;h;$!d",
            "/a/,/b/p",
            "y/ew/we/",
            "a\\ we",
            "s/[a-z]*e//2gp",
            "1~2d",
        ] {
            assert!(!runs_or_writes(script), "{script}");
            assert!(only_prints(script), "{script}");
        }
        for script in ["r .env", "$R f", "/x/r f"] {
            assert!(!runs_or_writes(script) && !only_prints(script), "{script}");
        }
    }
}
