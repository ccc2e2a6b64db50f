//! Whether arithmetic evaluates a value that could be code: `x=$(cat f); echo $((x))` runs what stands in f as
//! `a[$(rm g)]`. Only values that are certainly numbers are taken for harmless.

use super::walk::Flat;
use crate::shell::ast::{Piece, Script, Simple, Why, Word};

/// Variables that bash itself keeps as numbers.
const NUMBERS: [&str; 12] = [
    "BASHPID",
    "BASH_SUBSHELL",
    "EPOCHSECONDS",
    "EUID",
    "LINENO",
    "OPTIND",
    "PPID",
    "RANDOM",
    "SECONDS",
    "SHLVL",
    "SRANDOM",
    "UID",
];

/// Builtins that set the variables named by their arguments.
const SETTING: [&str; 13] = [
    "declare",
    "export",
    "getopts",
    "let",
    "local",
    "mapfile",
    "printf",
    "read",
    "readarray",
    "readonly",
    "typeset",
    "unset",
    "wait",
];

/// Builtins after which any variable may hold anything.
const ANYTHING: [&str; 7] = [".", "alias", "builtin", "command", "eval", "source", "trap"];

/// The variables of a script by what they are given.
#[derive(Default)]
struct Values<'a> {
    numbers: Vec<&'a str>,
    /// Also something that is no number, or not known.
    others: Vec<&'a str>,
    /// Some loop runs over `{1..3}`, which could also be `{x,y}`.
    braces: Vec<&'a str>,
    anything: bool,
}

/// The first thing that arithmetic evaluates and that is not certainly a number.
pub(super) fn evaluates_data(script: &Script, flat: &Flat) -> Option<String> {
    let evaluated = &script.evaluated;
    if evaluated.open {
        return Some("an expansion".to_string());
    }
    if evaluated.reads.is_empty() {
        return None;
    }
    let mut values = Values { anything: !evaluated.given.is_empty(), ..Values::default() };
    for part in &flat.parts {
        values.simple(part.simple);
    }
    for setter in &flat.setters {
        let name = setter.name.as_deref().unwrap_or("COPROC");
        values.given(name, &setter.words, setter.r#type == "for");
    }
    values.numbers.extend(evaluated.sets.iter().map(String::as_str));
    values.numbers.extend(NUMBERS);
    evaluated.reads.iter().find(|name| !values.is_number(name)).cloned()
}

impl<'a> Values<'a> {
    fn simple(&mut self, simple: &'a Simple) {
        for assignment in &simple.assignments {
            self.given(&assignment.name, &assignment.values, true);
        }
        let Some(name) = simple.words.first().and_then(|word| word.text.as_deref()) else {
            self.anything |= !simple.words.is_empty();
            return;
        };
        // `command -v x` sets nothing, and is common.
        let looks_up = simple.words.get(1).is_some_and(|word| word.text.as_deref() == Some("-v"));
        self.anything |= ANYTHING.contains(&name) && !(name == "command" && looks_up);
        if SETTING.contains(&name) && (name != "printf" || looks_up) {
            simple.words[1..].iter().for_each(|word| self.argument(word));
        }
    }

    /// `x`, `x=1`, `-a` or `a[1]` after a builtin that sets it.
    fn argument(&mut self, word: &'a Word) {
        let Some(Piece::Lit(text)) = word.pieces.first() else {
            self.anything |= !word.pieces.is_empty();
            return;
        };
        let end = text.find(['=', '[', '+']).unwrap_or(text.len());
        let value = text.get(end + 1..).unwrap_or_default();
        if word.text.is_some() && text[end..].starts_with('=') && is_number(value) {
            self.numbers.push(&text[..end]);
        } else {
            self.anything |= end == text.len() && word.text.is_none();
            self.others.push(&text[..end]);
        }
    }

    fn given(&mut self, name: &'a str, words: &[Word], known: bool) {
        let brace = |word: &Word| matches!(word.pieces.as_slice(), [Piece::Dyn { why: Why::Brace, .. }]);
        let set = if !known || words.is_empty() {
            &mut self.others
        } else if words.iter().all(word_is_number) {
            &mut self.numbers
        } else if words.iter().all(brace) {
            &mut self.braces
        } else {
            &mut self.others
        };
        set.push(name);
    }

    fn is_number(&self, name: &str) -> bool {
        let closed = self.others.is_empty() && self.braces.contains(&name);
        !self.anything && !self.others.contains(&name) && (self.numbers.contains(&name) || closed)
    }
}

fn word_is_number(word: &Word) -> bool {
    match word.pieces.as_slice() {
        [Piece::Lit(text)] => is_number(text),
        [Piece::Dyn { name, .. }] if name == "!" => true,
        [Piece::Number(_) | Piece::Dyn { why: Why::Arithmetic, .. }] => true,
        _ => false,
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
