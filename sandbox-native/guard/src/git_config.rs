//! A strict reader of git's configuration files, as git-config(1) and git's own parser have them. It answers one question:
//! does this file hold only keys from which git, or another program that reads it, runs nothing and reads nothing else?
//! What it does not understand it refuses, and also what programs are known to read differently.

use std::fmt;

/// Why a configuration is not harmless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// From 1.
    pub line: usize,
    /// What stands there.
    pub fault: Fault,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is not understood.
    Syntax,
    /// A key that is not on the list, in lower case but for the middle part.
    Key(String),
    /// A value that git would take for an option or for the name of a program.
    Value(String),
    /// The last line of the file has no end.
    Unfinished,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fault {
            Fault::Syntax => write!(f, "line {} of it is not understood", self.line),
            Fault::Key(key) => write!(f, "line {} of it sets \"{key}\"", self.line),
            Fault::Value(key) => write!(f, "line {} of it gives \"{key}\" a value that can run a program", self.line),
            Fault::Unfinished => write!(f, "line {} of it has no end", self.line),
        }
    }
}

/// What a value may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    /// Git takes it as a word, number or name and nothing else.
    Any,
    /// A place to fetch from: no helper program (`ext::…`), no option.
    Place,
}

/// Keys without a middle part.
const PLAIN: &[(&str, &str)] = &[
    ("core", "repositoryformatversion"),
    ("core", "filemode"),
    ("core", "bare"),
    ("core", "logallrefupdates"),
    ("core", "ignorecase"),
    ("core", "precomposeunicode"),
    ("core", "symlinks"),
    ("core", "sparsecheckout"),
    ("core", "sparsecheckoutcone"),
    ("user", "name"),
    ("user", "email"),
    ("init", "defaultbranch"),
    ("extensions", "compatobjectformat"),
    ("extensions", "noop"),
    ("extensions", "objectformat"),
    ("extensions", "partialclone"),
    ("extensions", "preciousobjects"),
    ("extensions", "refstorage"),
    ("extensions", "relativeworktrees"),
    ("extensions", "worktreeconfig"),
];

/// Keys with a middle part, which is a name of the user's choice.
const NAMED: &[(&str, &str, Value)] = &[
    ("remote", "url", Value::Place),
    ("remote", "fetch", Value::Any),
    ("remote", "mirror", Value::Any),
    ("remote", "tagopt", Value::Any),
    ("remote", "promisor", Value::Any),
    ("remote", "partialclonefilter", Value::Any),
    ("branch", "remote", Value::Place),
    ("branch", "merge", Value::Any),
    ("submodule", "url", Value::Place),
    ("submodule", "active", Value::Any),
];

/// Takes a whole configuration file. Time is linear in its length.
pub fn harmless(text: &[u8]) -> Result<(), Reason> {
    let mut section = None;
    for (number, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let at = |fault| Reason { line: number + 1, fault };
        // A writer may have been stopped in the middle of a value.
        let line = line.strip_suffix(b"\n").ok_or_else(|| at(Fault::Unfinished))?;
        take_line(line, &mut section).map_err(at)?;
    }
    Ok(())
}

/// The part of a file that a key stands in.
struct Section {
    name: String,
    middle: Option<String>,
}

fn take_line(line: &[u8], section: &mut Option<Section>) -> Result<(), Fault> {
    let text = std::str::from_utf8(line).map_err(|_| Fault::Syntax)?;
    // A carriage return is read in three ways by three programs; the other control characters have no use here. A
    // backslash at the end continues the line, in a comment too for some readers and not for git: git writes neither.
    if text.chars().any(|c| c.is_control() && c != '\t') || text.ends_with('\\') {
        return Err(Fault::Syntax);
    }
    let mut rest = text.trim_start_matches([' ', '\t']);
    if let Some(header) = rest.strip_prefix('[') {
        let (new, after) = take_header(header)?;
        *section = Some(new);
        rest = after.trim_start_matches([' ', '\t']);
    }
    if rest.is_empty() || rest.starts_with(['#', ';']) {
        return Ok(());
    }
    take_key(rest, section.as_ref().ok_or(Fault::Syntax)?)
}

/// `name]` or `name "middle"]`, and what follows. The old form `name.middle]` is refused: it folds the case of the middle.
fn take_header(header: &str) -> Result<(Section, &str), Fault> {
    let end = header.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').ok_or(Fault::Syntax)?;
    let (name, rest) = header.split_at(end);
    if name.is_empty() {
        return Err(Fault::Syntax);
    }
    let name = name.to_ascii_lowercase();
    if let Some(after) = rest.strip_prefix(']') {
        return Ok((Section { name, middle: None }, after));
    }
    let quoted = rest.trim_start_matches([' ', '\t']).strip_prefix('"').ok_or(Fault::Syntax)?;
    let mut middle = String::new();
    let mut chars = quoted.chars();
    loop {
        match chars.next().ok_or(Fault::Syntax)? {
            '"' => break,
            '\\' => middle.push(chars.next().ok_or(Fault::Syntax)?),
            c => middle.push(c),
        }
    }
    let after = chars.as_str().strip_prefix(']').ok_or(Fault::Syntax)?;
    Ok((Section { name, middle: Some(middle) }, after))
}

fn take_key(text: &str, section: &Section) -> Result<(), Fault> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(text.len());
    let (key, rest) = text.split_at(end);
    if !key.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err(Fault::Syntax);
    }
    let key = key.to_ascii_lowercase();
    let rest = rest.trim_start_matches([' ', '\t']);
    let value = match rest.strip_prefix('=') {
        Some(value) => take_value(value)?,
        // A key alone means true.
        None if rest.is_empty() => String::new(),
        None => return Err(Fault::Syntax),
    };
    judge(section, &key, &value)
}

/// A value as git reads it: quotes go, escapes are four, a comment ends it.
fn take_value(text: &str) -> Result<String, Fault> {
    let mut value = String::new();
    let mut is_quoted = false;
    let mut chars = text.trim_matches([' ', '\t']).chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            '\\' => value.push(match chars.next().ok_or(Fault::Syntax)? {
                c @ ('\\' | '"') => c,
                // Line ends and backspaces in a value have no honest use.
                _ => return Err(Fault::Syntax),
            }),
            c => value.push(c),
        }
    }
    if is_quoted { Err(Fault::Syntax) } else { Ok(value) }
}

fn judge(section: &Section, key: &str, value: &str) -> Result<(), Fault> {
    let name = section.name.as_str();
    let Some(middle) = &section.middle else {
        let listed = PLAIN.contains(&(name, key));
        return if listed { Ok(()) } else { Err(Fault::Key(format!("{name}.{key}"))) };
    };
    let full = || format!("{name}.{middle}.{key}");
    let listed = NAMED.iter().find(|(known, last, _)| *known == name && *last == key);
    let (_, _, wanted) = listed.ok_or_else(|| Fault::Key(full()))?;
    // A remote without a URL is its own URL.
    let is_place = |text: &str| !text.contains("::") && !text.starts_with('-');
    if is_place(middle) && (*wanted == Value::Any || is_place(value)) { Ok(()) } else { Err(Fault::Value(full())) }
}

#[cfg(test)]
#[path = "git_config_tests.rs"]
mod tests;
