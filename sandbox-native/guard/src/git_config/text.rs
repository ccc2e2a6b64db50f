//! What a git configuration file says, read exactly as git's own parser does (config.c): each key with its value, in order.

/// One key of a file, by its full name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    /// In lower case.
    pub section: String,
    /// What stands in quotes behind the section.
    pub middle: Option<String>,
    /// In lower case.
    pub key: String,
    /// Absent for a key alone, which means true.
    pub value: Option<Vec<u8>>,
}

/// An entry and where it stands.
pub(super) struct Placed {
    pub entry: Entry,
    /// From 1.
    pub line: usize,
    /// Its header is of the old form `[section.middle]`, which folds the case of the middle.
    pub old_form: bool,
}

/// Where a text can't be read; the number of the line, from 1.
#[derive(Debug)]
pub(super) struct Unreadable(pub usize);

/// Reads a whole file. Time is linear in its length.
pub(super) fn read(text: &[u8]) -> Result<Vec<Placed>, Unreadable> {
    let mut source = Source { text, at: 0, line: 1 };
    source.file().ok_or(Unreadable(source.line))
}

struct Source<'t> {
    text: &'t [u8],
    at: usize,
    line: usize,
}

struct Header {
    section: String,
    middle: Option<String>,
    old_form: bool,
}

impl Source<'_> {
    /// The next byte; `\r\n` and the end of the file are line ends.
    fn next(&mut self) -> u8 {
        let Some(&byte) = self.text.get(self.at) else {
            self.at += 1;
            return b'\n';
        };
        self.at += 1;
        if byte == b'\r' && self.text.get(self.at) == Some(&b'\n') {
            self.at += 1;
            self.line += 1;
            return b'\n';
        }
        if byte == b'\n' {
            self.line += 1;
        }
        byte
    }

    fn is_over(&self) -> bool {
        self.at > self.text.len()
    }

    fn file(&mut self) -> Option<Vec<Placed>> {
        let mut found = Vec::new();
        let mut header: Option<Header> = None;
        let mut in_comment = false;
        loop {
            match self.next() {
                b'\n' if self.is_over() => return Some(found),
                b'\n' => in_comment = false,
                _ if in_comment => {}
                b'#' | b';' => in_comment = true,
                byte if is_space(byte) => {}
                b'[' => header = Some(self.header()?),
                byte if byte.is_ascii_alphabetic() => {
                    let line = self.line;
                    let Header { section, middle, old_form } = header.as_ref()?;
                    let (key, value) = self.key(byte)?;
                    let entry = Entry { section: section.clone(), middle: middle.clone(), key, value };
                    found.push(Placed { entry, line, old_form: *old_form });
                }
                _ => return None,
            }
        }
    }

    fn header(&mut self) -> Option<Header> {
        let mut name = String::new();
        loop {
            match self.next() {
                b']' => break,
                byte if is_space(byte) => {
                    let middle = self.middle(byte)?;
                    let old_form = name.contains('.');
                    let (section, middle) = match name.split_once('.') {
                        Some((section, first)) => (section.to_owned(), format!("{first}.{middle}")),
                        None => (name, middle),
                    };
                    return (!section.is_empty()).then_some(Header { section, middle: Some(middle), old_form });
                }
                byte if is_key(byte) || byte == b'.' => name.push(char::from(byte.to_ascii_lowercase())),
                _ => return None,
            }
        }
        let (section, middle) = match name.split_once('.') {
            Some((section, middle)) => (section.to_owned(), Some(middle.to_owned())),
            None => (name.clone(), None),
        };
        (!section.is_empty()).then_some(Header { section, old_form: middle.is_some(), middle })
    }

    /// `"middle"]`, after a space.
    fn middle(&mut self, space: u8) -> Option<String> {
        let mut byte = space;
        while is_space(byte) {
            if byte == b'\n' {
                return None;
            }
            byte = self.next();
        }
        if byte != b'"' {
            return None;
        }
        let mut middle = Vec::new();
        loop {
            match self.next() {
                b'\n' => return None,
                b'"' => break,
                b'\\' => match self.next() {
                    b'\n' => return None,
                    byte => middle.push(byte),
                },
                byte => middle.push(byte),
            }
        }
        if self.next() != b']' {
            return None;
        }
        String::from_utf8(middle).ok()
    }

    fn key(&mut self, first: u8) -> Option<(String, Option<Vec<u8>>)> {
        let mut key = String::from(char::from(first.to_ascii_lowercase()));
        let mut byte = self.next();
        while is_key(byte) {
            key.push(char::from(byte.to_ascii_lowercase()));
            byte = self.next();
        }
        while matches!(byte, b' ' | b'\t') {
            byte = self.next();
        }
        match byte {
            // The end of the file has to be met again.
            b'\n' if self.is_over() => {
                self.at -= 1;
                Some((key, None))
            }
            b'\n' => Some((key, None)),
            b'=' => Some((key, Some(self.value()?))),
            _ => None,
        }
    }

    fn value(&mut self) -> Option<Vec<u8>> {
        let mut value = Vec::new();
        // Up to here it stays if only spaces follow.
        let mut kept = 0;
        let (mut is_quoted, mut in_comment) = (false, false);
        loop {
            let byte = self.next();
            match byte {
                b'\n' if is_quoted => return None,
                b'\n' => {
                    if self.is_over() {
                        self.at -= 1;
                    }
                    value.truncate(kept);
                    return Some(value);
                }
                _ if in_comment => continue,
                b'#' | b';' if !is_quoted => {
                    in_comment = true;
                    continue;
                }
                b'"' => is_quoted = !is_quoted,
                b'\\' => match self.next() {
                    b'\n' if self.is_over() => return None,
                    b'\n' => {}
                    b't' => value.push(b'\t'),
                    b'b' => value.push(8),
                    b'n' => value.push(b'\n'),
                    byte @ (b'\\' | b'"') => value.push(byte),
                    _ => return None,
                },
                byte if is_space(byte) && !is_quoted => {
                    if !value.is_empty() {
                        value.push(byte);
                    }
                    continue;
                }
                byte => value.push(byte),
            }
            kept = value.len();
        }
    }
}

/// As git's isspace has it.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}
