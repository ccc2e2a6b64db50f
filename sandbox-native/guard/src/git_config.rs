//! A strict reader of git's configuration files. It answers one question: does this file, as it would come to be, hold only keys
//! from which git, or another program that reads it, runs nothing and reads nothing else? What it does not understand it
//! refuses, and also what programs are known to read differently. What stood there before may stay, whatever it is.

mod text;

use std::collections::{HashMap, HashSet};
use std::fmt;
use text::{Entry, Placed};

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
    /// Off.
    False,
}

/// Keys without a middle part.
const PLAIN: &[(&str, &str, Value)] = &[
    ("core", "repositoryformatversion", Value::Any),
    ("core", "filemode", Value::Any),
    ("core", "bare", Value::Any),
    ("core", "logallrefupdates", Value::Any),
    ("core", "ignorecase", Value::Any),
    ("core", "precomposeunicode", Value::Any),
    ("core", "symlinks", Value::Any),
    ("core", "sparsecheckout", Value::Any),
    ("core", "sparsecheckoutcone", Value::Any),
    ("core", "autocrlf", Value::Any),
    ("core", "eol", Value::Any),
    ("core", "quotepath", Value::Any),
    ("core", "longpaths", Value::Any),
    ("user", "name", Value::Any),
    ("user", "email", Value::Any),
    ("init", "defaultbranch", Value::Any),
    ("pull", "rebase", Value::Any),
    ("pull", "ff", Value::Any),
    ("gc", "auto", Value::Any),
    ("extensions", "compatobjectformat", Value::Any),
    ("extensions", "noop", Value::Any),
    ("extensions", "objectformat", Value::Any),
    ("extensions", "partialclone", Value::Any),
    ("extensions", "preciousobjects", Value::Any),
    ("extensions", "refstorage", Value::Any),
    ("extensions", "relativeworktrees", Value::Any),
    // Switched on, git obeys a second file.
    ("extensions", "worktreeconfig", Value::False),
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
    ("branch", "rebase", Value::Any),
    ("branch", "description", Value::Any),
    ("submodule", "url", Value::Place),
    ("submodule", "active", Value::Any),
];

/// Takes a whole configuration file that takes nobody's place. Time is linear in its length.
pub fn harmless(text: &[u8]) -> Result<(), Reason> {
    harmless_change(text, b"", b"")
}

/// Whether a file is what `git init` writes before anything else of a repository is there.
pub fn begins_repository(text: &[u8]) -> bool {
    let versioned = |placed: &Placed| full(&placed.entry) == "core.repositoryformatversion";
    harmless(text).is_ok() && text::read(text).is_ok_and(|entries| entries.iter().any(versioned))
}

/// Takes a configuration file in place of another. `old` is what stands there now, `first` what stood there before the first
/// change of this run. What is new or other must be harmless; everything else stays as it is, in its order. A remote that
/// stood in `first` leads where it led, and a branch of it follows such a remote, or they go: what a person pushes
/// must not land elsewhere.
pub fn harmless_change(text: &[u8], old: &[u8], first: &[u8]) -> Result<(), Reason> {
    let known: HashSet<&[u8]> = old.split_inclusive(|&byte| byte == b'\n').collect();
    for (number, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let at = |fault| Reason { line: number + 1, fault };
        // A writer may have been stopped in the middle of a value.
        let bare = line.strip_suffix(b"\n").ok_or_else(|| at(Fault::Unfinished))?;
        if !known.contains(line) && !is_plain(bare) {
            return Err(at(Fault::Syntax));
        }
    }
    let new = read(text)?;
    let (old, first) = (read(old)?, read(first)?);
    let (now, then) = (Values::of(&new), Values::of(&first));
    let stays: HashSet<&Entry> = old.iter().map(|placed| &placed.entry).collect();
    for placed in &new {
        let at = |fault| Reason { line: placed.line, fault };
        if !stays.contains(&placed.entry) {
            let judged = if placed.old_form { Err(Fault::Syntax) } else { judge(&placed.entry) };
            judged.map_err(at)?;
        }
        stays_put(&placed.entry, &now, &then).map_err(at)?;
    }
    keeps_the_rest(&new, &old)
}

fn read(text: &[u8]) -> Result<Vec<Placed>, Reason> {
    text::read(text).map_err(|text::Unreadable(line)| Reason { line, fault: Fault::Syntax })
}

/// A carriage return is read in three ways by three programs; the other control characters have no use here. A backslash at
/// the end continues the line, in a comment too for some readers and not for git: git writes neither.
fn is_plain(line: &[u8]) -> bool {
    std::str::from_utf8(line)
        .is_ok_and(|text| !text.chars().any(|c| c.is_control() && c != '\t') && !text.ends_with('\\'))
}

/// Whether a key that is new may stand there.
fn judge(entry: &Entry) -> Result<(), Fault> {
    let wanted = wanted(entry).ok_or_else(|| Fault::Key(full(entry)))?;
    let value = entry.value.as_deref().unwrap_or_default();
    // Line ends, tabs and backspaces in a value have no honest use.
    let value = std::str::from_utf8(value).ok().filter(|text| !text.chars().any(char::is_control));
    let value = value.ok_or(Fault::Syntax)?;
    let is_place = |text: &str| !text.contains("::") && !text.starts_with('-');
    let is_fit = match wanted {
        Value::Any => true,
        Value::Place => is_place(value),
        Value::False => {
            entry.value.is_some() && ["", "0", "false", "no", "off"].contains(&value.to_ascii_lowercase().as_str())
        }
    };
    // A remote without a URL is its own URL.
    if is_fit && entry.middle.as_deref().is_none_or(is_place) { Ok(()) } else { Err(Fault::Value(full(entry))) }
}

/// What is wanted of a listed key's value.
fn wanted(entry: &Entry) -> Option<Value> {
    let list = if entry.middle.is_some() { NAMED } else { PLAIN };
    let listed = list.iter().find(|(section, key, _)| *section == entry.section && *key == entry.key);
    listed.map(|(_, _, wanted)| *wanted)
}

fn full(Entry { section, middle, key, .. }: &Entry) -> String {
    match middle {
        Some(middle) => format!("{section}.{middle}.{key}"),
        None => format!("{section}.{key}"),
    }
}

/// What is on no list stands there as it did, none more and none less.
fn keeps_the_rest(new: &[Placed], old: &[Placed]) -> Result<(), Reason> {
    let rest = |entries: &[Placed]| -> Vec<Entry> {
        entries.iter().map(|placed| &placed.entry).filter(|entry| wanted(entry).is_none()).cloned().collect()
    };
    let (kept, before) = (rest(new), rest(old));
    if kept == before {
        return Ok(());
    }
    let lost = before.iter().find(|entry| !kept.contains(entry)).or(before.first()).or(kept.first());
    Err(Reason { line: 1, fault: Fault::Key(lost.map(full).unwrap_or_default()) })
}

/// Section, middle part and key.
type Name<'e> = (&'e str, &'e str, &'e str);

/// The values of each key that has a middle part, in their order.
struct Values<'e>(HashMap<Name<'e>, Vec<Option<&'e [u8]>>>);

impl<'e> Values<'e> {
    fn of(entries: &'e [Placed]) -> Self {
        let mut values: HashMap<_, Vec<_>> = HashMap::new();
        for Entry { section, middle, key, value } in entries.iter().map(|placed| &placed.entry) {
            if let Some(middle) = middle {
                values.entry((section.as_str(), middle.as_str(), key.as_str())).or_default().push(value.as_deref());
            }
        }
        Values(values)
    }

    fn get(&self, section: &'e str, middle: &'e str, key: &'e str) -> &[Option<&'e [u8]>] {
        self.0.get(&(section, middle, key)).map_or(&[], Vec::as_slice)
    }
}

/// Remotes, submodules and branches of the start lead where they led.
fn stays_put<'e>(entry: &'e Entry, new: &Values<'e>, first: &Values<'e>) -> Result<(), Fault> {
    let Some(middle) = entry.middle.as_deref() else { return Ok(()) };
    let section = entry.section.as_str();
    let of_start = |key: &'e str| first.get(section, middle, key);
    let is_kept = |key: &'e str| new.get(section, middle, key) == of_start(key);
    let fits = match (section, entry.key.as_str()) {
        ("remote", key) if !of_start("url").is_empty() => is_kept("url") && (key == "fetch" || is_kept(key)),
        ("submodule", _) if !of_start("url").is_empty() => is_kept("url"),
        ("branch", "remote") if !of_start("remote").is_empty() && !is_kept("remote") => {
            let name = entry.value.as_deref().and_then(|value| std::str::from_utf8(value).ok()).unwrap_or_default();
            name == "." || !first.get("remote", name, "url").is_empty()
        }
        _ => true,
    };
    if fits { Ok(()) } else { Err(Fault::Value(full(entry))) }
}

#[cfg(test)]
#[path = "git_config_tests.rs"]
mod tests;
