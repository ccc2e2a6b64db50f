//! From the caller's pattern to a compiled matcher, or to a fault that says where and what would mend it.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};

/// How a pattern is to be understood.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// Regular expression, or plain text if `fixed`.
    pub text: String,
    /// The text is searched as it stands.
    pub fixed: bool,
    /// Upper and lower case are the same, by Unicode's simple folding.
    pub ignore_case: bool,
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

/// A pattern that compiles to more than this many bytes is refused: `(\w{1000}){1000}` must not take the machine's memory.
const SIZE_LIMIT_BYTES: usize = 16 << 20;

/// Compiles a pattern with ripgrep's meaning of a line: unless `multiline`, no match contains a line end.
pub fn compile(pattern: &Pattern) -> Result<RegexMatcher, PatternFault> {
    if !pattern.fixed {
        check_syntax(pattern)?;
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .unicode(true)
        .case_insensitive(pattern.ignore_case)
        .dot_matches_new_line(pattern.multiline)
        .fixed_strings(pattern.fixed)
        .size_limit(SIZE_LIMIT_BYTES)
        .dfa_size_limit(SIZE_LIMIT_BYTES);
    // A pattern that speaks of \r itself looks for line ends of one kind, so they must stay visible to it.
    let names_return = pattern.text.contains("\\r") || pattern.text.contains('\r');
    if !names_return {
        builder.crlf(true);
    }
    if pattern.multiline {
        builder.line_terminator(None);
    } else if names_return {
        builder.line_terminator(Some(b'\n'));
    }
    builder.build(&pattern.text).map_err(|error| describe(&error, pattern))
}

fn check_syntax(pattern: &Pattern) -> Result<(), PatternFault> {
    let parsed = regex_syntax::ParserBuilder::new()
        .multi_line(true)
        .utf8(false)
        .case_insensitive(pattern.ignore_case)
        .build()
        .parse(&pattern.text);
    let (kind, position) = match parsed {
        Ok(_) => return Ok(()),
        Err(regex_syntax::Error::Parse(error)) => (error.kind().to_string(), error.span().start.offset),
        Err(regex_syntax::Error::Translate(error)) => (error.kind().to_string(), error.span().start.offset),
        Err(other) => return Err(PatternFault { message: other.to_string(), position: None, hint: None }),
    };
    let hint = mend(&pattern.text, &kind, position);
    Err(PatternFault { message: kind, position: Some(position), hint })
}

fn describe(error: &grep_regex::Error, pattern: &Pattern) -> PatternFault {
    match error.kind() {
        grep_regex::ErrorKind::NotAllowed(literal) => PatternFault {
            message: format!("a search line by line can't match {literal:?}"),
            position: pattern.text.find("\\n").or_else(|| pattern.text.find('\n')),
            hint: Some("set multiline to true".into()),
        },
        _ => PatternFault { message: error.to_string(), position: None, hint: None },
    }
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

    #[test]
    fn a_pattern_that_would_explode_is_refused() {
        assert!(fault("((\\w{100}){100}){100}").message.contains("size limit"));
    }
}
