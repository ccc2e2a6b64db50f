//! Builtins that change only the shell itself. Where one takes the name of a variable, bash evaluates a subscript after
//! it (`unset 'a[$(rm f)]'` runs rm), so names must be plain.

use super::command::is_powerful;
use super::pattern::is_identifier;
use super::wrappers::View;
use crate::shell::ast::{Piece, Why, Word};

/// Take no names.
const PLAIN: [&str; 10] = ["break", "continue", "exit", "jobs", "popd", "pushd", "return", "set", "shift", "wait"];
/// Take names without values.
const NAMING: [&str; 3] = ["getopts", "read", "unset"];
/// Take names with values.
const DECLARING: [&str; 4] = ["declare", "export", "local", "readonly"];

/// A builtin that changes the shell only, and no variable with power over other programs.
pub(super) fn is_shell_only(view: &View) -> bool {
    let Some(name) = view.argv[0].text.as_deref().filter(|_| !view.open) else { return false };
    let args = &view.argv[1..];
    if name == "set" && !sets_safely(args) || name == "wait" && !args.iter().all(|word| waits_for(word)) {
        return false;
    }
    if PLAIN.contains(&name) {
        let counts = matches!(name, "exit" | "return" | "shift");
        args.iter().all(|word| is_inert(word) || (counts && args.len() == 1) || is_number(word))
    } else if NAMING.contains(&name) {
        args.iter().all(|word| word.text.as_deref().is_some_and(|text| is_inert(word) && !is_powerful(text)))
    } else {
        DECLARING.contains(&name) && args.iter().all(|word| declares(word))
    }
}

/// `-k` lets arguments change the environment of programs, and `-a` exports what is assigned.
fn sets_safely(args: &[&Word]) -> bool {
    const NAMES: [&str; 6] = ["errexit", "noglob", "nounset", "pipefail", "verbose", "xtrace"];
    let mut args = args.iter().map(|word| word.text.as_deref().unwrap_or("-?"));
    while let Some(text) = args.next() {
        let Some(letters) = text.strip_prefix(['-', '+']) else { return true };
        if letters == "-" {
            return true;
        }
        let named = letters.ends_with('o') && args.next().is_some_and(|name| !NAMES.contains(&name));
        if named || !letters.chars().all(|letter| "efouvx".contains(letter)) {
            return false;
        }
    }
    true
}

/// `wait -p` takes the name of a variable, and unsets it first.
pub(super) fn waits_for(word: &Word) -> bool {
    !word.text.as_deref().is_some_and(|text| text.starts_with('-') && !matches!(text, "-n" | "-f"))
}

/// Known text in which nothing could be evaluated.
pub(super) fn is_inert(word: &Word) -> bool {
    word.text.as_deref().is_some_and(|text| !text.contains(['[', '$', '`']))
}

fn is_number(word: &Word) -> bool {
    match word.pieces.as_slice() {
        [Piece::Dyn { name, .. }] => name == "!",
        pieces => matches!(pieces, [Piece::Number(_)]),
    }
}

/// `-x`, `NAME` or `NAME=value`; `-i` and `-n` make bash evaluate the value.
pub(super) fn declares(word: &Word) -> bool {
    let Some(Piece::Lit(text)) = word.pieces.first() else { return false };
    if text.starts_with('-') {
        return word.text.is_some() && !text.contains(['i', 'n']);
    }
    let name = text.split_once('=').map_or(text.as_str(), |(name, _)| name.strip_suffix('+').unwrap_or(name));
    let arrays = word.pieces.iter().any(|piece| matches!(piece, Piece::Dyn { why: Why::Array, .. }));
    let whole = word.text.is_some() || text.contains('=');
    is_identifier(name) && !is_powerful(name) && whole && !arrays && !text.contains(['$', '`'])
}
