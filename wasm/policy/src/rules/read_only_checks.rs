//! Commands of the read-only table whose arguments need more than a list of options.

use super::pattern::is_identifier;
use super::read_only::is_operand;
use super::sed_script;
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

/// `sed` whose scripts only change what it prints; `-i` writes, and `-f` reads a script that is not seen.
pub(super) fn sed(args: &[&Word]) -> bool {
    let (mut scripts, mut files) = (Vec::new(), Vec::new());
    let mut args = args.iter();
    while let Some(word) = args.next() {
        let Some(text) = word.text.as_deref().filter(|text| text.len() > 1 && text.starts_with('-')) else {
            files.push(word);
            continue;
        };
        if matches!(text, "--quiet" | "--silent" | "--regexp-extended" | "--null-data" | "--separate" | "--unbuffered")
        {
            continue;
        }
        let letters = text[1..].trim_start_matches(|letter| "nErsuz".contains(letter));
        match letters.strip_prefix('e').or_else(|| text.strip_prefix("--expression=")) {
            Some("") => scripts.push(args.next().and_then(|word| word.text.as_deref())),
            Some(script) => scripts.push(Some(script)),
            None if letters.is_empty() => {}
            None => return false,
        }
    }
    if scripts.is_empty() {
        let Some((script, rest)) = files.split_first() else { return false };
        scripts.push(script.text.as_deref());
        files = rest.to_vec();
    }
    let harmless = |script: &Option<&str>| script.is_some_and(sed_script::only_prints);
    scripts.iter().all(harmless) && files.iter().all(|word| is_operand(word))
}

/// `awk` with a program that can't write, run or read anything else (POSIX awk: `>`, `|`, `system`, `getline`; gawk: `@`).
/// An assignment to ARGV would make it read further files.
pub(super) fn awk(mut args: &[&Word]) -> bool {
    while let Some(text) = args.first().and_then(|word| word.text.as_deref()) {
        let width = match text {
            "-F" => 2,
            "-v" if args.get(1).is_some_and(|word| sets_one(word)) => 2,
            _ if text.starts_with("-F") => 1,
            _ => break,
        };
        args = &args[width.min(args.len())..];
    }
    let Some((program, files)) = args.split_first() else { return false };
    let safe = |text: &str| {
        !text.starts_with('-')
            && !text.contains(['@', '\r'])
            && !text.contains("\\\n")
            && !["system", "getline", "ARG", "close", "fflush"].iter().any(|word| text.contains(word))
            && prints_only(text)
    };
    program.text.as_deref().is_some_and(safe) && files.iter().all(|word| is_operand(word))
}

/// `NAME=value`, one word whatever the value is.
fn sets_one(word: &Word) -> bool {
    let Some(Piece::Lit(text)) = word.pieces.first() else { return false };
    let one = word.pieces.iter().all(|piece| matches!(piece, Piece::Lit(_) | Piece::Dyn { quoted: true, .. }));
    one && text.split_once('=').is_some_and(|(name, _)| is_identifier(name) && !name.starts_with("ARG"))
}

/// No `>` of the program sends what is printed to a file, and no `|` to a program. A `>` outside of all braces, or inside
/// parentheses, compares: POSIX's grammar has redirections only behind the expressions of `print` and `printf`. What
/// could hide a bracket from this count (strings, regular expressions, comments) must not be there then.
fn prints_only(text: &str) -> bool {
    let text = text.replace(">=", "  ").replace("||", "  ");
    if text.contains('|') {
        return false;
    }
    if !text.contains('>') {
        return true;
    }
    let strings: Vec<&str> = text.split('"').collect();
    if strings.len().is_multiple_of(2) || text.contains(['/', '#', '\\', '\n']) {
        return false;
    }
    let (mut braces, mut parentheses) = (0, 0);
    for letter in strings.iter().step_by(2).flat_map(|part| part.chars()) {
        match letter {
            '{' => braces += 1,
            '}' => braces -= 1,
            '(' => parentheses += 1,
            ')' => parentheses -= 1,
            '>' if braces != 0 && parentheses <= 0 => return false,
            _ => {}
        }
    }
    true
}
