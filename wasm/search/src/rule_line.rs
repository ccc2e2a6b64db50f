//! Lines of ignore files that need no regular expression: text, `*`, `?` and plain classes of characters, at one place or at any depth.

use crate::byte_set::ByteSet;
use ignore::Match;

/// One line, ready to be asked.
#[derive(Debug)]
pub struct RuleLine {
    pieces: Box<[Piece]>,
    /// It may begin at any folder below that of its file.
    anywhere: bool,
    /// It names no more than one part of a path.
    one_part: bool,
    /// It is about what is inside of what the pieces name.
    inside: bool,
    takes_back: bool,
    only_folders: bool,
}

/// Nothing of a pattern but its slashes matches a slash.
#[derive(Debug)]
enum Piece {
    Byte(u8),
    One,
    Run,
    Of(Box<ByteSet>),
}

impl RuleLine {
    /// The lines of an ignore file that are rules, in order; nothing if one of them is of another kind. Reads a line as
    /// `GitignoreBuilder::add_line` does.
    #[must_use]
    pub fn all(text: &str) -> Option<Box<[Self]>> {
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim_end().is_empty());
        lines.map(Self::of).collect()
    }

    fn of(line: &str) -> Option<Self> {
        let line = if line.ends_with("\\ ") { line } else { line.trim_end() };
        let (takes_back, line) = without(line, line.strip_prefix('!'));
        let (anchored, line) = without(line, line.strip_prefix('/'));
        let folders = line.strip_suffix('/').map(|rest| rest.strip_suffix('\\').unwrap_or(rest));
        let (only_folders, line) = without(line, folders);
        let (deep, below) = without(line, line.strip_prefix("**/"));
        let (inside, below) = without(below, below.strip_suffix("/**"));
        if below.is_empty() || below.contains("**") {
            return None;
        }
        let pieces = pieces(below.as_bytes())?;
        let anywhere = deep || (!anchored && !line.contains('/'));
        let one_part = !inside && !below.contains('/');
        Some(Self { pieces, anywhere, one_part, inside, takes_back, only_folders })
    }

    /// What it says of an entry, by its path from the folder that the line belongs to.
    #[must_use]
    pub fn judge(&self, path: &[u8], is_dir: bool) -> Match<()> {
        if self.only_folders && !is_dir || !self.names(path) {
            Match::None
        } else if self.takes_back {
            Match::Whitelist(())
        } else {
            Match::Ignore(())
        }
    }

    fn names(&self, path: &[u8]) -> bool {
        if !self.anywhere {
            return self.names_below(path);
        }
        if self.one_part {
            let start = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
            return self.names_below(&path[start..]);
        }
        [0].into_iter().chain(slashes(path).map(|slash| slash + 1)).any(|start| self.names_below(&path[start..]))
    }

    fn names_below(&self, path: &[u8]) -> bool {
        if self.inside {
            slashes(path).any(|slash| fits(&self.pieces, &path[..slash]))
        } else {
            fits(&self.pieces, path)
        }
    }
}

/// Whether there is a rest of the line, and that, or else the line.
fn without<'l>(line: &'l str, rest: Option<&'l str>) -> (bool, &'l str) {
    (rest.is_some(), rest.unwrap_or(line))
}

fn slashes(path: &[u8]) -> impl Iterator<Item = usize> + '_ {
    path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at)
}

/// Nothing for braces, for classes that are turned round or hold a slash, and for whatever may be a mistake.
fn pieces(pattern: &[u8]) -> Option<Box<[Piece]>> {
    let mut made = Vec::with_capacity(pattern.len());
    let mut rest = pattern;
    while let [byte, after @ ..] = rest {
        rest = after;
        made.push(match byte {
            b'{' | b'}' => return None,
            b'*' => Piece::Run,
            b'?' => Piece::One,
            b'\\' => {
                let (escaped, after) = rest.split_first()?;
                rest = after;
                Piece::Byte(*escaped)
            }
            b'[' => {
                let (class, after) = class(rest)?;
                rest = after;
                Piece::Of(Box::new(class))
            }
            byte => Piece::Byte(*byte),
        });
    }
    Some(made.into())
}

/// Whether each class is one that matches no slash, beyond doubt.
pub(crate) fn has_plain_classes(mut pattern: &[u8]) -> bool {
    while let Some(open) = pattern.iter().position(|byte| *byte == b'[') {
        match class(&pattern[open + 1..]) {
            Some((_, after)) => pattern = after,
            None => return false,
        }
    }
    true
}

/// The class whose first byte this is, and what comes after it.
fn class(pattern: &[u8]) -> Option<(ByteSet, &[u8])> {
    let end = pattern.iter().position(|byte| *byte == b']')?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'~' | b'+' | b'#');
    let (mut set, mut items) = (ByteSet::default(), &pattern[..end]);
    while let [first, rest @ ..] = items {
        let (last, rest) = match rest {
            [b'-', last, rest @ ..] => (last, rest),
            _ => (first, rest),
        };
        if !is_plain(*first) || !is_plain(*last) || first > last || (*first..=*last).contains(&b'/') {
            return None;
        }
        (*first..=*last).for_each(|byte| set.add(byte));
        items = rest;
    }
    (!set.is_empty()).then_some((set, &pattern[end + 1..]))
}

/// Whether the pieces are all of the text. Only the last run before a place may have to be longer: what stands before it was found as early as
/// it can be, and a slash ends what it may take.
fn fits(pieces: &[Piece], text: &[u8]) -> bool {
    let (mut piece, mut at) = (0, 0);
    let mut run = None;
    while at < text.len() || piece < pieces.len() {
        let byte = text.get(at).copied();
        let goes_on = match (pieces.get(piece), byte) {
            (Some(Piece::Run), _) => {
                piece += 1;
                run = Some((piece, at));
                continue;
            }
            (Some(Piece::Byte(wanted)), Some(byte)) => *wanted == byte,
            (Some(Piece::One), Some(byte)) => byte != b'/',
            (Some(Piece::Of(set)), Some(byte)) => set.has(byte),
            _ => false,
        };
        if goes_on {
            (piece, at) = (piece + 1, at + 1);
            continue;
        }
        match run {
            Some((after, taken)) if text.get(taken).is_some_and(|byte| *byte != b'/') => {
                (piece, at) = (after, taken + 1);
                run = Some((after, taken + 1));
            }
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Rules, Source};
    use crate::walk::RELATIVE;
    use ignore::gitignore::GitignoreBuilder;

    const PIECES: [&str; 22] = [
        "a", ".", "*", "?", "/", "**/", "/**", "!", "#", "\\", "[ab]", "[a-c]", "[!a]", "[^a]", "[a", "]", "[-a]",
        "[+-9]", "{a,b}", " ", "é", "[é]",
    ];
    const PATHS: [&str; 29] = [
        "a", "b", "ab", "aab", ".a", "a.o", "b.o", "c.o", "é", "aé", "a/b", "b/a", "a/a/b", "a/b/a", "a/.a", "a/b.o",
        "#a", "!a", "a ", "*", "a*b", "a,b", "[a", "]", "a]", "-", "a-", "~", "ba",
    ];

    fn same(text: &str, known: &mut usize) {
        let mut builder = GitignoreBuilder::new(RELATIVE);
        for line in text.lines() {
            let _ = builder.add_line(None, line);
        }
        let theirs = builder.build().unwrap();
        *known += usize::from(RuleLine::all(text).is_some());
        let rules = Rules::new(Source::Gitignore, text.as_bytes());
        for (path, is_dir) in PATHS.iter().flat_map(|path| [(path, false), (path, true)]) {
            let name = path.rsplit('/').next().unwrap();
            let ours = if rules.may_match(name.as_bytes()) { rules.judge(path, is_dir) } else { Match::None };
            let theirs = theirs.matched(path, is_dir);
            assert_eq!(
                (ours.is_ignore(), ours.is_whitelist()),
                (theirs.is_ignore(), theirs.is_whitelist()),
                "{text:?} on {path}"
            );
        }
    }

    #[test]
    fn lines_say_what_the_matcher_says_d6() {
        let mut known = 0;
        let two = PIECES.iter().flat_map(|one| PIECES.map(|two| [one, two].concat()));
        let three = two.flat_map(|two| PIECES.map(|three| [two.as_str(), three].concat()));
        for line in three.chain(PIECES.map(str::to_owned)) {
            same(&line, &mut known);
        }
        assert!(known > 2000, "{known}");
    }

    #[test]
    fn longer_lines_say_what_the_matcher_says_d6() {
        let (mut known, mut number) = (0, 1_u32);
        let mut next = |count: usize| {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (number >> 16) as usize % count
        };
        for _ in 0..4000 {
            let line = |length: usize, next: &mut dyn FnMut(usize) -> usize| -> String {
                (0..length).map(|_| PIECES[next(PIECES.len())]).collect()
            };
            let lines: Vec<String> = (0..1 + next(3)).map(|_| line(4 + next(4), &mut next)).collect();
            same(&lines.join("\n"), &mut known);
        }
        assert!(known > 100, "{known}");
    }

    #[test]
    fn of_several_lines_the_last_that_fits_decides_d6() {
        let mut known = 0;
        let lines = ["*.o", "!a.o", "a/", "!a", "/b", "*[ab]", "!*.[o-p]", "a/*", "b/**"];
        for (one, two) in lines.iter().flat_map(|one| lines.map(|two| (one, two))) {
            for three in lines {
                same(&[one, two, three].join("\n"), &mut known);
            }
        }
        assert_eq!(known, 729);
    }

    #[test]
    fn a_run_takes_as_much_as_it_must_and_no_slash() {
        let fits = |line: &str, path: &str| !RuleLine::of(line).unwrap().judge(path.as_bytes(), false).is_none();
        assert!(fits("*a*/b", "xaya/b") && fits("/x*b*d", "xabcbd") && fits("a*", "a") && fits("x/*.[ch]", "x/a.b.h"));
        assert!(!fits("*a*/b", "xa/y/b") && !fits("x/*.[ch]", "x/y/a.h") && !fits("/x*d", "xabcbde"));
    }
}
