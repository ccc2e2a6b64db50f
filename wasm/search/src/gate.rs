//! Keeps entries that no rule of an ignore file can match away from the real matcher.
//!
//! A rule can match an entry only if the rule's last segment matches the entry's name. Most names fit no last segment, and
//! telling so by two comparisons is much cheaper than asking the matcher, above all before the WebAssembly engine has
//! compiled it well: of the 40 ms that a cold walk over 4,000 files took, 30 were spent in there.

use crate::rule_line::has_plain_classes;

/// The last segments of an ignore file's rules, each as the text before its first and after its last wildcard.
#[derive(Debug, Default)]
pub struct Gate {
    segments: Vec<Segment>,
    /// One for each [`AT_ONCE`] segments; none where the segments are few.
    ends: Vec<Ends>,
}

/// With nothing before or after, it fits every name.
#[derive(Debug, Default)]
struct Segment {
    before: Box<[u8]>,
    after: Box<[u8]>,
    /// It has no wildcard: `before` is the whole name.
    literal: bool,
}

/// So many segments are quicker looked at one by one.
const FEW: usize = 8;

/// Segments that have a bit each in one number.
const AT_ONCE: usize = 64;

/// By a name's first byte, and by its last, the segments that may fit it.
#[derive(Debug)]
struct Ends {
    first: Box<[u64; 256]>,
    last: Box<[u64; 256]>,
}

impl Gate {
    /// Takes the text of an ignore file.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let segments: Vec<Segment> = text.lines().filter_map(Segment::of).collect();
        let ends = if segments.len() > FEW { segments.chunks(AT_ONCE).map(Ends::of).collect() } else { Vec::new() };
        Self { segments, ends }
    }

    /// False only if no rule can match an entry of this name.
    #[must_use]
    pub fn lets_through(&self, name: &[u8]) -> bool {
        self.last_of(name, |_| Some(())).is_some()
    }

    /// What is made of the last rule that may match an entry of this name and that something is made of. A rule is told by its place
    /// among the lines that are rules.
    pub fn last_of<T>(&self, name: &[u8], mut make: impl FnMut(usize) -> Option<T>) -> Option<T> {
        let mut made = |place: usize| if self.segments[place].fits(name) { make(place) } else { None };
        if self.ends.is_empty() {
            return (0..self.segments.len()).rev().find_map(made);
        }
        self.ends.iter().enumerate().rev().find_map(|(chunk, ends)| {
            let first = chunk * AT_ONCE;
            let mut bits = ends.may_fit(name, self.segments.len() - first);
            while let Some(bit) = bits.checked_ilog2() {
                if let Some(made) = made(first + bit as usize) {
                    return Some(made);
                }
                bits ^= 1 << bit;
            }
            None
        })
    }
}

impl Ends {
    fn of(segments: &[Segment]) -> Self {
        let mut ends = Self { first: Box::new([0; 256]), last: Box::new([0; 256]) };
        for (place, segment) in segments.iter().enumerate() {
            let tail = if segment.literal { &segment.before } else { &segment.after };
            mark(&mut ends.first, segment.before.first(), 1 << place);
            mark(&mut ends.last, tail.last(), 1 << place);
        }
        ends
    }

    /// `left` is how many segments there are from the first of these on.
    fn may_fit(&self, name: &[u8], left: usize) -> u64 {
        match (name.first(), name.last()) {
            (Some(first), Some(last)) => self.first[usize::from(*first)] & self.last[usize::from(*last)],
            _ => u64::MAX >> (AT_ONCE - left.min(AT_ONCE)),
        }
    }
}

/// Sets a bit for one byte, or for each where nothing is known.
fn mark(table: &mut [u64; 256], byte: Option<&u8>, bit: u64) {
    match byte {
        Some(byte) => table[usize::from(*byte)] |= bit,
        None => table.iter_mut().for_each(|bits| *bits |= bit),
    }
}

impl Segment {
    /// The last segment of one line; nothing if the line is empty or a comment.
    fn of(line: &str) -> Option<Self> {
        let rule = line.trim_end();
        if rule.is_empty() || rule.starts_with('#') {
            return None;
        }
        let rule = rule.strip_prefix('!').unwrap_or(rule);
        // A slash that a class matches or a backslash makes "the last segment" more than a matter of slashes.
        if rule.contains(['\\', '{']) || !has_plain_classes(rule.as_bytes()) {
            return Some(Self::default());
        }
        let rule = rule.trim_end_matches('/');
        let name = rule.rsplit('/').next().unwrap_or(rule);
        // To the matcher, `!` and `/` alone stand for everything.
        if name.is_empty() {
            return Some(Self::default());
        }
        let wildcard = |byte: char| matches!(byte, '*' | '?' | '[' | ']');
        Some(match (name.find(wildcard), name.rfind(wildcard)) {
            (Some(first), Some(last)) => Self {
                before: name.as_bytes()[..first].into(),
                after: name.as_bytes()[last + 1..].into(),
                literal: false,
            },
            _ => Self { before: name.as_bytes().into(), after: Box::default(), literal: true },
        })
    }

    fn fits(&self, name: &[u8]) -> bool {
        if self.literal { *name == *self.before } else { name.starts_with(&self.before) && name.ends_with(&self.after) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ignore::gitignore::GitignoreBuilder;

    #[test]
    fn names_that_no_rule_ends_with_are_kept_away() {
        let gate = Gate::new("*.o\n/build/\n# c\n\nsub/x?z\n");
        for (name, through) in [("a.o", true), ("build", true), ("xyz", true), ("a.c", false), ("builds", false)] {
            assert_eq!(gate.lets_through(name.as_bytes()), through, "{name}");
        }
    }

    /// So many rules that they are looked at by the ends of names, more than one number has bits for.
    fn among_many(rule: &str) -> String {
        let others = |from: usize| (from..from + 50).map(|at| format!("none{at}\n")).collect::<String>();
        format!("{}{rule}\n{}{rule}\n", others(0), others(50))
    }

    #[test]
    fn many_rules_let_the_same_names_through_as_few() {
        let rules = ["*.o", "/build/", "sub/x?z", "a*b", ".*"];
        for name in ["a.o", "build", "xyz", "ab", "aab", ".a", "a.c", "builds", "none7", "b", "", "o"] {
            let one_by_one = rules.iter().any(|rule| Gate::new(rule).lets_through(name.as_bytes()));
            let all = rules.iter().map(|rule| among_many(rule)).collect::<String>();
            assert_eq!(Gate::new(&all).lets_through(name.as_bytes()), one_by_one || name == "none7", "{name}");
        }
    }

    #[test]
    fn whatever_a_rule_matches_is_let_through() {
        let rules = [
            "*.o", "!*.o", "/a", "a/", "a/b", "**/a", "a/**", "a/**/b", "*", "**", ".*", "a*b", "a?", "[ab]", "\\#a",
            "\\!a", "a\\ ", "a  ", "{a,b}", "a/*", "*/a", "ab", "a[/]b", "[ab]b", "a[ab", "a]b", "x.[no]", "[x/]/",
            "[ab]/", "\\a", "!/a/", "#a", "a b", "a//", "//a",
        ];
        let paths = [
            "a", "b", "ab", "a/b", "b/a", "a/a/b", ".a", "#a", "!a", "a ", "x.o", "a/x.o", "aab", "a b", "a/.a",
            "{a,b}",
        ];
        for rule in rules {
            let mut builder = GitignoreBuilder::new(".");
            let _ = builder.add_line(None, rule);
            let matcher = builder.build().unwrap();
            for path in paths {
                for is_dir in [false, true] {
                    let name = path.rsplit('/').next().unwrap();
                    let matched = !matcher.matched(path, is_dir).is_none();
                    assert!(!matched || Gate::new(rule).lets_through(name.as_bytes()), "{rule} {path}");
                    assert!(!matched || Gate::new(&among_many(rule)).lets_through(name.as_bytes()), "{rule} {path}");
                }
            }
        }
    }
}
