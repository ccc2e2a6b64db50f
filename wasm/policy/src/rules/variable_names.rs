//! Builtins that set or look at the variables which their arguments name. Bash evaluates a subscript behind a name, so
//! `read 'a[$(rm f)]'` runs rm, and some names decide what later commands are: `read PATH <f; ls`. A rule that allows
//! such a builtin allows plain names only.

use super::shell_only::{declares, is_inert, waits_for};
use super::{command::is_powerful, pattern::is_identifier, read_only_checks};
use crate::shell::ast::{Piece, Word};

/// Whether this builtin may evaluate code in a name, or set a variable with power over other commands.
pub(super) fn may_run_code(name: &str, args: &[&Word]) -> bool {
    match name {
        "printf" => printf_sets(args),
        "test" | "[" => !read_only_checks::test(args),
        "getopts" | "mapfile" | "read" | "readarray" | "unset" => !args.iter().all(|word| names_plainly(word)),
        "wait" => !args.iter().all(|word| waits_for(word)),
        "declare" | "export" | "local" | "readonly" | "typeset" => !args.iter().all(|word| declares(word)),
        // Its operands are arithmetic, which evaluates the values of variables too.
        "let" => true,
        _ => false,
    }
}

fn names_plainly(word: &Word) -> bool {
    is_inert(word) && !word.text.as_deref().is_some_and(is_powerful)
}

/// `printf -v NAME`, also where the first word could turn out to be `-v`, or to be several words.
fn printf_sets(args: &[&Word]) -> bool {
    let Some(first) = args.first() else { return false };
    let attached = match first.pieces.first() {
        Some(Piece::Lit(text)) if text.starts_with("-v") && first.text.is_some() => &text[2..],
        Some(Piece::Lit(text)) if !"-v".starts_with(text.as_str()) && !text.starts_with("-v") => return false,
        Some(Piece::Home(_) | Piece::Number(_)) | None => return false,
        Some(Piece::Dyn { quoted: true, .. }) if args.len() == 1 => return false,
        _ => return true,
    };
    let name = if attached.is_empty() { args.get(1).and_then(|word| word.text.as_deref()) } else { Some(attached) };
    !name.is_some_and(|name| is_identifier(name) && !is_powerful(name))
}
