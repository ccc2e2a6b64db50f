//! From the caller's pattern to a compiled matcher, or to a fault that says where and what would mend it.

use crate::index_need::Need;
use crate::lines;
use crate::literals::required;
use crate::needle::Needle;
use crate::smart_case;
use core::cell::OnceCell;
use core::ops::Range;
use regex_automata::Input;
use regex_automata::meta::{self, Regex};
use regex_syntax::ast;
use regex_syntax::hir::translate::TranslatorBuilder;
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look};

/// Whether upper and lower case are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// They differ.
    #[default]
    Sensitive,
    /// They are the same, by Unicode's simple folding.
    Ignore,
    /// They are the same if the pattern has a letter and no upper-case one.
    Smart,
}

/// How a pattern is to be understood.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// Regular expression, or plain text if `fixed`.
    pub text: String,
    /// The text is searched as it stands.
    pub fixed: bool,
    /// Whether case matters.
    pub case: Case,
    /// Neither side of a match may be in the middle of a word.
    pub word: bool,
    /// Matches may span lines and `.` matches a line end.
    pub multiline: bool,
}

/// Why a pattern can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternFault {
    /// One sentence without a full stop.
    pub message: String,
    /// UTF-8 bytes from the start of the pattern.
    pub position: Option<usize>,
    /// What would mend it.
    pub hint: Option<String>,
}

/// A compiled pattern.
#[derive(Debug)]
pub struct Matcher {
    compiled: Compiled,
    /// What each match holds one of.
    needle: Option<Needle>,
    /// Where the needle stands, there is a match.
    needle_is_all: bool,
    /// It has `\A` or `\z`: a search line by line must show it one line at a time.
    anchored_in_text: bool,
    /// Its matches may span lines.
    spans_lines: bool,
    /// `\r\n` ends a line.
    crlf: bool,
}

/// A pattern whose matches a needle finds alone is compiled only when one of them is to be shown: in WebAssembly that takes
/// milliseconds, of code that runs cold.
#[derive(Debug)]
enum Compiled {
    Now(Box<Regex>),
    Late(Hir, OnceCell<Option<Box<Regex>>>),
}

impl Compiled {
    fn regex(&self) -> Option<&Regex> {
        match self {
            Self::Now(regex) => Some(regex),
            Self::Late(hir, late) => late.get_or_init(|| build(hir).ok()).as_deref(),
        }
    }
}

/// Texts that are longer together are compiled at once, so that one beyond the limit is refused.
const LATE_BYTES: usize = 1 << 10;

/// A pattern that compiles to more than this many bytes is refused: `(\w{1000}){1000}` must not take the machine's memory.
const SIZE_LIMIT_BYTES: usize = 16 << 20;

/// Groups in groups deeper than this are refused, as ripgrep does: the parser must not run out of stack.
const NEST_LIMIT: u32 = 250;

/// So many lines that have the needle and do not match are looked at before it is given up, if there is one in so many bytes.
const PATIENCE: usize = 16;
const CROWDED_BYTES: usize = 128;

/// A pattern as it is compiled.
struct Read {
    hir: Hir,
    anchored_in_text: bool,
    spans_lines: bool,
    crlf: bool,
}

/// Compiles a pattern with ripgrep's meaning of a line: unless `multiline`, no match contains a line end.
pub fn compile(pattern: &Pattern) -> Result<Matcher, PatternFault> {
    let Read { hir, anchored_in_text, spans_lines, crlf } = read(pattern)?;
    let required = required(&hir);
    let needle_is_all = required.as_ref().is_some_and(|required| required.whole);
    let is_late = needle_is_all && pattern.text.len() <= LATE_BYTES;
    Ok(Matcher {
        compiled: if is_late { Compiled::Late(hir, OnceCell::new()) } else { Compiled::Now(build(&hir)?) },
        needle_is_all,
        needle: required.map(|required| Needle::new(required.sequences)),
        anchored_in_text,
        spans_lines,
        crlf,
    })
}

fn build(hir: &Hir) -> Result<Box<Regex>, PatternFault> {
    let limits = meta::Config::new().utf8_empty(false).nfa_size_limit(Some(SIZE_LIMIT_BYTES));
    let regex = meta::Builder::new().configure(limits).build_from_hir(hir).map_err(|error| PatternFault {
        message: match error.size_limit() {
            Some(limit) => format!("it compiles to more than the size limit of {} MiB", limit >> 20),
            None => error.to_string(),
        },
        position: None,
        hint: Some("repeat less: write * or + for a large count, or search for a part of it".into()),
    })?;
    Ok(Box::new(regex))
}

/// What a file must have for the pattern to match in it, and whether its matches may span lines.
pub fn need(pattern: &Pattern) -> Result<(Need, bool), PatternFault> {
    let Read { hir, spans_lines, .. } = read(pattern)?;
    Ok((Need::of(&hir), spans_lines))
}

fn read(pattern: &Pattern) -> Result<Read, PatternFault> {
    let escaped;
    let text = if pattern.fixed {
        escaped = regex_syntax::escape(&pattern.text);
        &escaped
    } else {
        &pattern.text
    };
    // A pattern that speaks of \r itself looks for line ends of one kind, so they must stay visible to it.
    let names_return = text.contains("\\r") || text.contains('\r');
    let parsed = parse(text, pattern, !names_return)?;
    if matches_nul(&parsed) {
        return Err(PatternFault {
            message: "it matches a NUL byte, and files that hold one are binary and not searched".into(),
            position: None,
            hint: None,
        });
    }
    let mut hir =
        if pattern.multiline { parsed } else { one_line(parsed, names_return).map_err(|at| across_lines(at, text))? };
    let anchored_in_text = hir.properties().look_set().contains_anchor_haystack();
    let spans_lines = pattern.multiline && touches_line_end(&hir);
    if pattern.word {
        hir = Hir::concat(vec![Hir::look(Look::WordStartHalfUnicode), hir, Hir::look(Look::WordEndHalfUnicode)]);
    }
    Ok(Read { hir, anchored_in_text, spans_lines, crlf: !names_return })
}

fn parse(text: &str, pattern: &Pattern, crlf: bool) -> Result<Hir, PatternFault> {
    let parsed = ast::parse::ParserBuilder::new()
        .nest_limit(NEST_LIMIT)
        .build()
        .parse(text)
        .map_err(|error| describe(&error.kind().to_string(), error.span().start.offset, text))?;
    let ignore_case = match pattern.case {
        Case::Sensitive => false,
        Case::Ignore => true,
        Case::Smart => smart_case::ignores_case(&parsed),
    };
    TranslatorBuilder::new()
        .multi_line(true)
        .crlf(crlf)
        .utf8(false)
        .case_insensitive(ignore_case)
        .dot_matches_new_line(pattern.multiline)
        .build()
        .translate(text, &parsed)
        .map_err(|error| describe(&error.kind().to_string(), error.span().start.offset, text))
}

impl Matcher {
    /// A place in the first matching line at or after `from`, which must be the start of a line.
    #[must_use]
    pub fn candidate(&self, text: &[u8], from: usize) -> Option<usize> {
        let matching = |range: Range<usize>| {
            let input = Input::new(text).range(range).earliest(true);
            self.compiled.regex()?.search_half(&input).map(|end| end.offset())
        };
        let Some(needle) = &self.needle else { return matching(from..text.len()) };
        let mut next = from;
        let mut in_vain = 0;
        while let Some(at) = needle.find(text, next) {
            if self.needle_is_all {
                return Some(at);
            }
            let line = lines::around(text, at);
            if matching(line.clone()).is_some() {
                return Some(at);
            }
            next = line.end + 1;
            in_vain += 1;
            // A needle in line after line is no help: each time the search for the pattern is begun anew.
            if in_vain > PATIENCE && next - from < in_vain * CROWDED_BYTES {
                return matching(next.min(text.len())..text.len());
            }
        }
        None
    }

    /// False if there is surely no match in the text, whatever else is to be found out.
    #[must_use]
    pub fn may_match(&self, text: &[u8]) -> bool {
        self.needle.as_ref().is_none_or(|needle| needle.find(text, 0).is_some())
    }

    /// The first match at or after `from`.
    #[must_use]
    pub fn find(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
        if let (true, Some(needle)) = (self.needle_is_all, &self.needle)
            && let Some(bytes) = needle.bytes_of_one()
        {
            return needle.find(text, from).map(|at| at..at + bytes);
        }
        self.compiled.regex()?.find(Input::new(text).range(from..)).map(|found| found.range())
    }

    /// True if matches may span lines. A multi-line search for a pattern that can't match a line end is a search by line.
    #[must_use]
    pub fn spans_lines(&self) -> bool {
        self.spans_lines
    }

    /// The part of a line that is shown to a pattern that sees where texts end.
    #[must_use]
    pub fn without_return<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        if self.crlf { line.strip_suffix(b"\r").unwrap_or(line) } else { line }
    }

    /// True if the pattern can tell where the text starts or ends, so that lines must be shown to it one by one.
    #[must_use]
    pub fn sees_text_ends(&self) -> bool {
        self.anchored_in_text
    }
}

/// Takes line ends out of everything that could match one, as ripgrep does, and drops the groups, which nobody asks for.
/// Fails with the line end that can't be taken out.
fn one_line(hir: Hir, keep_return: bool) -> Result<Hir, char> {
    let inner = |hir| one_line(hir, keep_return);
    Ok(match hir.into_kind() {
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => return Err('\n'),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(class) => Hir::class(without_line_ends(class, keep_return)?),
        HirKind::Repetition(mut repetition) => {
            repetition.sub = Box::new(inner(*repetition.sub)?);
            Hir::repetition(repetition)
        }
        HirKind::Capture(capture) => inner(*capture.sub)?,
        HirKind::Concat(parts) => Hir::concat(parts.into_iter().map(inner).collect::<Result<_, _>>()?),
        HirKind::Alternation(parts) => Hir::alternation(parts.into_iter().map(inner).collect::<Result<_, _>>()?),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Empty => Hir::empty(),
    })
}

fn without_line_ends(class: Class, keep_return: bool) -> Result<Class, char> {
    let ends: &[char] = if keep_return { &['\n'] } else { &['\n', '\r'] };
    let was_empty = class.is_empty();
    let class = match class {
        Class::Unicode(mut set) => {
            set.difference(&ClassUnicode::new(ends.iter().map(|end| ClassUnicodeRange::new(*end, *end))));
            Class::Unicode(set)
        }
        Class::Bytes(mut set) => {
            set.difference(&ClassBytes::new(ends.iter().map(|end| ClassBytesRange::new(*end as u8, *end as u8))));
            Class::Bytes(set)
        }
    };
    if class.is_empty() && !was_empty { Err('\n') } else { Ok(class) }
}

/// True if a match may contain a line end, or its end or start may depend on one (grep-regex's `non_matching_bytes`).
fn touches_line_end(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty => false,
        HirKind::Look(look) => {
            matches!(look, Look::Start | Look::End | Look::StartLF | Look::EndLF | Look::StartCRLF | Look::EndCRLF)
        }
        HirKind::Literal(literal) => literal.0.contains(&b'\n'),
        HirKind::Class(Class::Unicode(set)) => {
            set.ranges().iter().any(|range| (range.start()..=range.end()).contains(&'\n'))
        }
        HirKind::Class(Class::Bytes(set)) => {
            set.ranges().iter().any(|range| (range.start()..=range.end()).contains(&b'\n'))
        }
        HirKind::Repetition(repetition) => touches_line_end(&repetition.sub),
        HirKind::Capture(capture) => touches_line_end(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(touches_line_end),
    }
}

/// True if a part of the pattern can match nothing but a NUL byte.
fn matches_nul(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => false,
        HirKind::Literal(literal) => literal.0.contains(&0),
        HirKind::Class(Class::Unicode(set)) => {
            matches!(set.ranges(), [one] if one.start() == '\0' && one.end() == '\0')
        }
        HirKind::Class(Class::Bytes(set)) => matches!(set.ranges(), [one] if one.start() == 0 && one.end() == 0),
        HirKind::Repetition(repetition) => matches_nul(&repetition.sub),
        HirKind::Capture(capture) => matches_nul(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(matches_nul),
    }
}

fn across_lines(end: char, text: &str) -> PatternFault {
    PatternFault {
        message: format!("a search line by line can't match {end:?}"),
        position: text.find("\\n").or_else(|| text.find('\n')),
        hint: Some("set multiline to true".into()),
    }
}

fn describe(kind: &str, position: usize, text: &str) -> PatternFault {
    PatternFault { message: kind.to_owned(), position: Some(position), hint: mend(text, kind, position) }
}

/// The usual mends, by what stands at the place where the parser stopped.
fn mend(text: &str, kind: &str, position: usize) -> Option<String> {
    let rest = text.get(position..).unwrap_or("");
    let hint = if rest.starts_with("(?=") || rest.starts_with("(?!") || rest.starts_with("(?<") {
        "look-around is not supported; match more and narrow the result down"
    } else if kind.contains("backreference") {
        "backreferences are not supported; spell the alternatives out"
    } else if rest.starts_with('{') || kind.contains("repetition quantifier") || kind.contains("counted repetition") {
        "escape the brace as \\{ to search for it"
    } else if rest.starts_with('(') || rest.starts_with(')') {
        "escape the parenthesis as \\( or \\) to search for it"
    } else if rest.starts_with('[') {
        "escape the bracket as \\[ to search for it"
    } else if rest.starts_with(['*', '+', '?']) {
        "escape the operator with a backslash to search for it"
    } else if rest.starts_with('\\') {
        "write \\\\ to search for a backslash"
    } else {
        return None;
    };
    Some(hint.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> PatternFault {
        compile(&Pattern { text: text.into(), ..Pattern::default() }).expect_err(text)
    }

    #[test]
    fn a_bad_pattern_names_the_place_and_the_mend() {
        let brace = fault("interface{");
        assert_eq!(brace.position, Some(9));
        assert_eq!(brace.hint.as_deref(), Some("escape the brace as \\{ to search for it"));
        let group = fault("call(");
        assert_eq!(group.position, Some(4));
        assert!(group.hint.unwrap().contains("\\("));
        assert!(fault("a(?=b)").hint.unwrap().contains("look-around"));
    }

    #[test]
    fn a_line_end_in_a_line_search_is_refused_with_the_way_out() {
        assert_eq!(fault("a\\nb").hint.as_deref(), Some("set multiline to true"));
        let spans = Pattern { text: "a\\nb".into(), multiline: true, ..Pattern::default() };
        assert!(compile(&spans).is_ok());
    }

    #[test]
    fn fixed_text_is_not_parsed() {
        let text = Pattern { text: "f(x){".into(), fixed: true, ..Pattern::default() };
        assert!(compile(&text).is_ok());
    }

    fn matches(pattern: &Pattern, text: &str) -> bool {
        compile(pattern).unwrap().find(text.as_bytes(), 0).is_some()
    }

    #[test]
    fn smart_case_minds_upper_case_letters_only() {
        let smart = |text: &str| Pattern { text: text.into(), case: Case::Smart, ..Pattern::default() };
        assert!(matches(&smart("abc"), "ABC"));
        assert!(!matches(&smart("aBc"), "ABC"));
        assert!(matches(&smart("\\Sbc"), "ABC"));
        assert!(matches(&smart("é"), "É"));
    }

    #[test]
    fn a_word_search_takes_whole_words_of_any_script() {
        let word = |text: &str| Pattern { text: text.into(), word: true, ..Pattern::default() };
        assert!(matches(&word("a|foo"), "x foo y"));
        assert!(!matches(&word("foo"), "foob"));
        assert!(!matches(&word("foo"), "éfoo"));
        assert!(matches(&word("-2"), "x -2 y"));
    }

    #[test]
    fn a_multi_line_search_spans_lines_only_where_the_pattern_can() {
        let spans = |text: &str| {
            compile(&Pattern { text: text.into(), multiline: true, ..Pattern::default() }).unwrap().spans_lines()
        };
        assert!(spans("a.b"));
        assert!(spans("^a"));
        assert!(!spans("a\\w+b"));
    }

    #[test]
    fn a_pattern_for_nul_is_refused_and_one_that_may_match_it_is_not() {
        assert!(fault("a\\x00").message.contains("NUL"));
        assert!(compile(&Pattern { text: "[^a]".into(), ..Pattern::default() }).is_ok());
    }

    #[test]
    fn a_pattern_that_would_explode_is_refused() {
        assert!(fault("((\\w{100}){100}){100}").message.contains("size limit"));
    }

    /// Numbers that look random, the same each time.
    fn noise() -> impl FnMut(usize) -> usize {
        let mut state = 88_172_645_463_325_252_u64;
        move |below| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 33).unwrap() % below
        }
    }

    #[test]
    fn what_is_found_by_a_needle_is_what_the_pattern_alone_finds() {
        const PATTERNS: [&str; 18] = [
            "ab",
            "(?i)ab",
            "(?i)sk",
            "ab|ba",
            "ab|bab|aab",
            r"\w+ab",
            r"^ab",
            r"ab$",
            r"\bab\b",
            r"(ab)+\s",
            "aa.b|bb",
            r"(?i)k+ab\r?$",
            r"[ab]{2}",
            r"ab\s*s?b",
            r"(?:ab|ba)k",
            r"^\w+\s+ab\s*",
            "é",
            r"(?i)ſa",
        ];
        let mut next = noise();
        for text in PATTERNS {
            for word in [false, true] {
                let with = compile(&Pattern { text: text.into(), word, ..Pattern::default() }).unwrap();
                assert!(with.needle.is_some() || text == "[ab]{2}" || text == "é" || word, "{text}");
                let without = Matcher {
                    needle: None,
                    ..compile(&Pattern { text: text.into(), word, ..Pattern::default() }).unwrap()
                };
                for _ in 0..400 {
                    let parts = ["a", "b", "A", "k", "s", "ab", "\u{17f}", "\u{212a}", "é", " ", "\n", "\r\n", "bab"];
                    let text: String = (0..next(60)).map(|_| parts[next(parts.len())]).collect();
                    let lines = |matcher: &Matcher| {
                        let (mut from, mut found) = (0, Vec::new());
                        while let Some(at) = matcher.candidate(text.as_bytes(), from).filter(|_| from < text.len()) {
                            let line = lines::around(text.as_bytes(), at);
                            from = line.end + 1;
                            found.push(line.start);
                        }
                        found
                    };
                    assert_eq!(lines(&with), lines(&without), "{:?} {text:?}", with.compiled.regex());
                    let finds = |matcher: &Matcher| {
                        let places = (0..=text.len()).filter(|at| text.is_char_boundary(*at));
                        places.map(|from| matcher.find(text.as_bytes(), from)).collect::<Vec<_>>()
                    };
                    assert_eq!(finds(&with), finds(&without), "{:?} {text:?}", with.compiled.regex());
                }
            }
        }
    }
}
