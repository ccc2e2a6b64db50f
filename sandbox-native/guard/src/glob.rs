//! Globs as lists of segments. Paths are bytes; a glob is text, so `?` and classes take one character where the bytes are
//! UTF-8 and one byte where they are not.

use std::fmt;

/// Longest glob that is read, in bytes: a path can't be longer.
const MAX_LENGTH: usize = 4096;
/// Most alternatives that the braces of one glob may stand for.
const MAX_ALTERNATIVES: usize = 1000;

/// Why a glob is not usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobFault {
    /// It does not start with a slash.
    Relative,
    /// It is longer than a path can be, or its braces stand for too many globs.
    TooLarge,
    /// A bracket or brace without its end, or a backslash with nothing after it.
    Unclosed,
    /// A segment is `.` or `..`, or a range runs backwards.
    Meaningless,
}

impl fmt::Display for GlobFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GlobFault::Relative => "it is not absolute",
            GlobFault::TooLarge => "it is too long, or its braces stand for more than 1000 globs",
            GlobFault::Unclosed => "a bracket, brace or escape in it has no end",
            GlobFault::Meaningless => "a segment is \".\" or \"..\", or a range runs backwards",
        })
    }
}

/// One part of a glob between slashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// `**`: any number of names, none too.
    AnyDepth,
    /// A name without anything special.
    Literal(Vec<u8>),
    /// A name to be matched.
    Pattern(Pattern),
}

/// What one name is matched against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern(Vec<Token>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Char(char),
    One,
    Many,
    Class { negated: bool, ranges: Vec<(char, char)> },
}

/// Reads a glob into one list of segments for each alternative of its braces.
pub(crate) fn read(glob: &str) -> Result<Vec<Vec<Segment>>, GlobFault> {
    if glob.len() > MAX_LENGTH {
        return Err(GlobFault::TooLarge);
    }
    expand(glob)?.iter().map(|one| segments(one)).collect()
}

fn segments(glob: &str) -> Result<Vec<Segment>, GlobFault> {
    let rest = glob.strip_prefix('/').ok_or(GlobFault::Relative)?;
    let mut read = Vec::new();
    for part in rest.split('/').filter(|part| !part.is_empty()) {
        match part {
            "." | ".." => return Err(GlobFault::Meaningless),
            // Two in a row mean the same as one, and would only make more states.
            "**" if read.last() == Some(&Segment::AnyDepth) => {}
            "**" => read.push(Segment::AnyDepth),
            _ => read.push(segment(part)?),
        }
    }
    // A glob matches what lies below a match, so at the end `**` asks for one name, as it does in gitignore(5).
    if let Some(last @ Segment::AnyDepth) = read.last_mut() {
        *last = Segment::Pattern(Pattern(vec![Token::Many]));
    }
    Ok(read)
}

fn segment(part: &str) -> Result<Segment, GlobFault> {
    let mut tokens = Vec::new();
    let mut rest = part.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => tokens.push(Token::Char(rest.next().ok_or(GlobFault::Unclosed)?)),
            '?' => tokens.push(Token::One),
            '*' if tokens.last() == Some(&Token::Many) => {}
            '*' => tokens.push(Token::Many),
            '[' => tokens.push(class(&mut rest)?),
            other => tokens.push(Token::Char(other)),
        }
    }
    let literal: Option<String> = tokens.iter().map(|t| if let Token::Char(c) = t { Some(*c) } else { None }).collect();
    Ok(literal.map_or(Segment::Pattern(Pattern(tokens)), |name| Segment::Literal(name.into_bytes())))
}

/// What follows `[`: a `]` that stands first, or after the `!`, is a member.
fn class(rest: &mut std::str::Chars<'_>) -> Result<Token, GlobFault> {
    let negated = rest.as_str().starts_with(['!', '^']);
    if negated {
        rest.next();
    }
    let mut ranges = Vec::new();
    loop {
        let mut from = rest.next().ok_or(GlobFault::Unclosed)?;
        if from == ']' && !ranges.is_empty() {
            return Ok(Token::Class { negated, ranges });
        }
        if from == '\\' {
            from = rest.next().ok_or(GlobFault::Unclosed)?;
        }
        let mut to = from;
        let ahead = rest.as_str();
        if ahead.starts_with('-') && !ahead.starts_with("-]") {
            rest.next();
            to = rest.next().ok_or(GlobFault::Unclosed)?;
            if to == '\\' {
                to = rest.next().ok_or(GlobFault::Unclosed)?;
            }
        }
        if to < from {
            return Err(GlobFault::Meaningless);
        }
        ranges.push((from, to));
    }
}

/// The globs that the braces of this one stand for, braces inside braces too.
fn expand(glob: &str) -> Result<Vec<String>, GlobFault> {
    let mut open = vec![glob.to_owned()];
    let mut done = Vec::new();
    while let Some(next) = open.pop() {
        match first_brace(&next)? {
            None => done.push(next),
            Some(brace) => {
                let (before, after) = (&next[..brace.start], &next[brace.end..]);
                open.extend(brace.alternatives.iter().map(|one| format!("{before}{one}{after}")));
            }
        }
        if done.len() + open.len() > MAX_ALTERNATIVES {
            return Err(GlobFault::TooLarge);
        }
    }
    Ok(done)
}

struct Brace<'g> {
    start: usize,
    end: usize,
    alternatives: Vec<&'g str>,
}

fn first_brace(glob: &str) -> Result<Option<Brace<'_>>, GlobFault> {
    let mut depth = 0usize;
    let (mut start, mut cut) = (0, 0);
    let mut alternatives = Vec::new();
    let mut at = 0;
    while let Some(c) = glob[at..].chars().next() {
        match c {
            '\\' => at += glob[at + 1..].chars().next().map_or(0, char::len_utf8),
            '[' => at = class_end(glob, at)?,
            '{' => {
                depth += 1;
                if depth == 1 {
                    (start, cut) = (at, at + 1);
                }
            }
            ',' if depth == 1 => {
                alternatives.push(&glob[cut..at]);
                cut = at + 1;
            }
            '}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    alternatives.push(&glob[cut..at]);
                    return Ok(Some(Brace { start, end: at + 1, alternatives }));
                }
            }
            _ => {}
        }
        at += c.len_utf8();
    }
    if depth > 0 { Err(GlobFault::Unclosed) } else { Ok(None) }
}

/// Where the class that starts at `at` has its closing bracket.
fn class_end(glob: &str, at: usize) -> Result<usize, GlobFault> {
    let mut rest = glob[at + 1..].chars();
    class(&mut rest)?;
    Ok(glob.len() - rest.as_str().len() - 1)
}

impl Pattern {
    /// Matches a whole name. At worst the length of the name times that of the pattern: a star never looks back past
    /// the one before it.
    pub(crate) fn matches(&self, name: &[u8]) -> bool {
        let (mut at, mut token) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let step = match self.0.get(token) {
                Some(Token::Many) => {
                    retry = Some((at, token + 1));
                    token += 1;
                    continue;
                }
                Some(wanted) => wanted.take(&name[at..]),
                None if at == name.len() => return true,
                None => None,
            };
            match (step, retry) {
                (Some(length), _) => (at, token) = (at + length, token + 1),
                (None, Some((from, after))) if from < name.len() => {
                    at = from + character(&name[from..]).1;
                    token = after;
                    retry = Some((at, after));
                }
                _ => return false,
            }
        }
    }
}

impl Token {
    /// How many bytes at the start of `rest` this token takes.
    fn take(&self, rest: &[u8]) -> Option<usize> {
        if rest.is_empty() {
            return None;
        }
        let (found, length) = character(rest);
        let taken = match self {
            Token::Char(wanted) => found == Some(*wanted),
            Token::Class { negated, ranges } => {
                let member = found.is_some_and(|c| ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)));
                member != *negated
            }
            Token::One | Token::Many => true,
        };
        taken.then_some(length)
    }
}

/// The character at the start of `bytes` (never empty) and its length; none and one where it is not UTF-8.
fn character(bytes: &[u8]) -> (Option<char>, usize) {
    let head = &bytes[..bytes.len().min(4)];
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(fault) => std::str::from_utf8(&head[..fault.valid_up_to()]).unwrap_or_default(),
    };
    valid.chars().next().map_or((None, 1), |c| (Some(c), c.len_utf8()))
}

#[cfg(test)]
#[path = "glob_tests.rs"]
mod tests;
