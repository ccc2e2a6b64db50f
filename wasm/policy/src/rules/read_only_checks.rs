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

/// `sed` with a script of numeric addresses and `p`, `d`, `q`, `=` only: `w`, `e` and `s///e` write and run.
pub(super) fn sed(args: &[&Word]) -> bool {
    let options = args
        .iter()
        .take_while(|word| matches!(word.text.as_deref(), Some("-n" | "-E" | "-r" | "-nE" | "-nr" | "-s" | "-ns")));
    let Some((script, files)) = args[options.count()..].split_first() else { return false };
    let harmless = script.text.as_deref().is_some_and(|text| text.split([';', '\n']).all(is_numeric_command));
    harmless && files.iter().all(|word| is_operand(word))
}

fn is_numeric_command(text: &str) -> bool {
    let text = text.trim();
    let Some(address) = text.strip_suffix(['p', 'd', 'q', '=']) else { return text.is_empty() };
    address.trim_end_matches(['!', ' ']).bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'$' | b','))
}
