//! Commands of the read-only table whose arguments need more than a list of options.

use super::pattern::is_identifier;
use super::read_only::is_operand;
use crate::shell::ast::{Piece, Word};

/// `test` and `[`: `-v` and `-R` take the name of a variable, and bash evaluates a subscript after it. So both need a
/// plain name, and no words whose value is unknown may become such a pair.
pub(super) fn test(args: &[&Word]) -> bool {
    let mut before: Option<&Word> = None;
    for word in args {
        let one = word.pieces.iter().all(|piece| {
            matches!(piece, Piece::Lit(_) | Piece::Home(_) | Piece::Number(_) | Piece::Dyn { quoted: true, .. })
        });
        let inert = word.text.as_deref().is_some_and(|text| !text.contains('['));
        let asked = match before.map(|word| word.text.as_deref()) {
            Some(Some("-v" | "-R")) => word.text.as_deref().is_some_and(is_identifier),
            Some(None) => inert || !before.is_some_and(may_be_v) || is_number(word),
            _ => true,
        };
        if !one || !asked {
            return false;
        }
        before = Some(word);
    }
    true
}

/// The beginning is unknown, so the word could turn out to be `-v`.
fn may_be_v(word: &Word) -> bool {
    match word.pieces.first() {
        Some(Piece::Lit(text)) => "-v".starts_with(text.as_str()) || "-R".starts_with(text.as_str()),
        Some(Piece::Home(_) | Piece::Number(_)) => false,
        _ => true,
    }
}

fn is_number(word: &Word) -> bool {
    matches!(word.pieces.as_slice(), [Piece::Number(_)])
}

/// `date`: an operand without a plus sign sets the clock, and so do `-s` and `--set`.
pub(super) fn date(args: &[&Word]) -> bool {
    let mut value_follows = false;
    for word in args {
        if std::mem::take(&mut value_follows) {
            if !word.pieces.iter().all(|piece| matches!(piece, Piece::Lit(_) | Piece::Dyn { quoted: true, .. })) {
                return false;
            }
            continue;
        }
        let Some(Piece::Lit(text)) = word.pieces.first() else { return false };
        let one = word.text.is_some() || is_operand(word);
        let valued = ["-d", "-r", "--date=", "--reference="].iter().any(|option| text.starts_with(option));
        let plain = text.starts_with('+') && one
            || text.starts_with("-I")
            || text.starts_with("--iso-8601")
            || text.starts_with("--rfc-3339=")
            || matches!(text.as_str(), "-u" | "-R" | "--utc" | "--universal" | "--rfc-email");
        if !(plain || valued) || (word.text.is_none() && !text.starts_with('+')) {
            return false;
        }
        value_follows = matches!(text.as_str(), "-d" | "-r");
    }
    true
}

/// `sed` with `p`, `d`, `q`, `=` and `s/…/…/` without code in them: `w`, `e` and `s///e` write and run.
pub(super) fn sed(args: &[&Word]) -> bool {
    let options = args.iter().take_while(|word| {
        matches!(word.text.as_deref(), Some("-n" | "-E" | "-r" | "-nE" | "-nr" | "-s" | "-ns" | "-e" | "-ne"))
    });
    let Some((script, files)) = args[options.count()..].split_first() else { return false };
    let harmless = script.text.as_deref().is_some_and(|text| text.split([';', '\n']).all(only_shows));
    harmless && files.iter().all(|word| is_operand(word))
}

/// One command of sed. A backslash is refused: what is behind it would need a parser of its own.
fn only_shows(text: &str) -> bool {
    let Some(rest) = address(text.trim()) else { return false };
    let rest = match rest.trim_start().strip_prefix(',') {
        Some(rest) => match address(rest.trim_start()) {
            Some(rest) => rest,
            None => return false,
        },
        None => rest,
    };
    let command = rest.trim_start_matches([' ', '!']);
    if let Some(text) = command.strip_prefix("s/") {
        let parts: Vec<&str> = text.split('/').collect();
        return parts.len() == 3
            && !text.contains('\\')
            && parts[2].bytes().all(|flag| flag.is_ascii_digit() || b"gpiI".contains(&flag));
    }
    matches!(command, "" | "p" | "d" | "q" | "=") && (text.trim().is_empty() || !command.is_empty())
}

/// What follows a number, `$` or `/text/`; the text itself where there is none of them.
fn address(text: &str) -> Option<&str> {
    match text.strip_prefix('/') {
        Some(rest) => {
            let (pattern, rest) = rest.split_once('/')?;
            (!pattern.contains(['\\', '['])).then_some(rest)
        }
        None => Some(text.strip_prefix('$').unwrap_or_else(|| text.trim_start_matches(|at: char| at.is_ascii_digit()))),
    }
}

/// `awk` with a program that can't write, run or read anything else (POSIX awk: `>`, `|`, `system`, `getline`; gawk: `@`).
/// An assignment to ARGV would make it read further files.
pub(super) fn awk(args: &[&Word]) -> bool {
    let Some(mut args) = args.first().map(|_| args) else { return false };
    if let Some(text) = args[0].text.as_deref().filter(|text| text.starts_with("-F")) {
        args = &args[if text == "-F" { 2 } else { 1 }.min(args.len())..];
    }
    let Some((program, files)) = args.split_first() else { return false };
    let safe = |text: &str| {
        !text.starts_with('-')
            && !text.contains(['>', '|', '@', '\\'])
            && !["system", "getline", "ARG", "close", "fflush"].iter().any(|word| text.contains(word))
    };
    program.text.as_deref().is_some_and(safe) && files.iter().all(|word| is_operand(word))
}
