//! The fixed table of commands that change nothing when they are given these options only (D8, C18).

use super::command::system_name;
use super::read_only_options::{GIT, OPTIONS, Safe, VERSIONED};
use super::wrappers::View;
use crate::shell::ast::{Piece, Why, Word};

/// Commands of the table that do not read the files named by their arguments.
const NOT_READING: [&str; 17] = [
    "echo", "printf", "true", "false", ":", "test", "[", "pwd", "type", "which", "expr", "seq", "sleep", "basename",
    "dirname", "date", "command",
];

/// Whether the command line is in the table, with safe options only.
pub(crate) fn is_read_only(view: &View) -> bool {
    let Some(name) = view.argv.first().and_then(|word| word.text.as_deref()).map(system_name) else { return false };
    let args = &view.argv[1..];
    if view.open && !matches!(entry(name), Some((_, Safe::Always))) {
        return false;
    }
    if name == "git" {
        return git(args);
    }
    if name == "command" {
        return args.first().is_some_and(|word| matches!(word.text.as_deref(), Some("-v" | "-V")));
    }
    if let (true, [word]) = (VERSIONED.contains(&name), args)
        && matches!(word.text.as_deref(), Some("--version" | "-V" | "-v" | "-version" | "version"))
    {
        // `php version` is a file of that name.
        return word.text.as_deref() != Some("version") || matches!(name, "docker" | "go");
    }
    if matches!(name, "bash" | "dash" | "sh") {
        return only_parses(args);
    }
    match entry(name) {
        Some((_, safe)) => fits(safe, args),
        None => matches!(name, "env" | "hostname") && args.is_empty(),
    }
}

/// `bash -n FILE` reads the script and runs nothing of it.
fn only_parses(args: &[&Word]) -> bool {
    let Some((option, files)) = args.split_first() else { return false };
    option.text.as_deref() == Some("-n") && !files.is_empty() && files.iter().all(|word| is_operand(word))
}

/// Whether `find` with these arguments changes nothing by itself; what `-exec` runs is judged apart.
pub(super) fn finds_only(args: &[&Word]) -> bool {
    let Some((_, Safe::Without { long, .. })) = entry("find") else {
        return false;
    };
    args.iter().all(|word| {
        word.text.as_deref() == Some("-exec")
            || word.text.as_deref().map_or_else(|| is_operand(word), |text| !long.contains(&text))
    })
}

/// Whether the arguments of this command are paths that it reads.
pub(crate) fn reads_arguments(name: &str) -> bool {
    !NOT_READING.contains(&name)
}

fn entry(name: &str) -> Option<&'static (&'static str, Safe)> {
    OPTIONS.binary_search_by(|(known, _)| (*known).cmp(name)).ok().map(|at| &OPTIONS[at])
}

fn fits(safe: &Safe, args: &[&Word]) -> bool {
    match safe {
        Safe::Always => true,
        Safe::NoArguments => args.is_empty(),
        Safe::Only { short, long } => args.iter().all(|word| option_allowed(word, short, long)),
        Safe::Checked(check) => check(args),
        Safe::Without { short, long } => args.iter().all(|word| !may_be(word, short, long)),
        Safe::Operands { at_most, short } => {
            let operands = args.iter().filter(|word| is_operand(word)).count();
            let one = |word: &&&Word| !word.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_)));
            operands <= *at_most
                && args.iter().filter(|word| is_operand(word)).all(|word| one(&word))
                && args.iter().all(|word| option_allowed(word, short, &[]))
        }
    }
}

/// The word is certainly no option: it begins with known text that is no dash, and stays one word.
pub(super) fn is_operand(word: &Word) -> bool {
    if let Some(text) = &word.text {
        return !text.starts_with('-') || text == "-";
    }
    // `/dev/fd/63`.
    if is_stream(word) {
        return true;
    }
    let splits = |piece: &Piece| matches!(piece, Piece::Dyn { quoted: false, .. });
    // Nothing but the quotes of `"$x"` is left of them.
    let mut pieces = word.pieces.iter().skip_while(|piece| matches!(piece, Piece::Lit(text) if text.is_empty()));
    let starts = match pieces.next() {
        Some(Piece::Lit(text)) => !text.starts_with('-'),
        Some(Piece::Home(_) | Piece::Cwd(_) | Piece::Number(_)) => true,
        _ => false,
    };
    starts && !word.pieces.iter().any(splits)
}

/// `<(…)`: the name of a pipe.
pub(super) fn is_stream(word: &Word) -> bool {
    matches!(word.pieces.as_slice(), [Piece::Dyn { why: Why::Process, .. }])
}

fn option_allowed(word: &Word, short: &str, long: &[&str]) -> bool {
    if is_operand(word) {
        return true;
    }
    let Some(text) = word.text.as_deref() else { return false };
    match text.strip_prefix("--") {
        Some("") => true,
        Some(name) => {
            let name = name.split('=').next().unwrap_or_default();
            long.contains(&name)
        }
        None => text[1..].chars().all(|letter| short.contains(letter) || letter.is_ascii_digit()),
    }
}

/// The word is, or could become, one of the options. Long names may be cut short, as getopt_long permits.
fn may_be(word: &Word, short: &str, long: &[&str]) -> bool {
    if is_operand(word) {
        return false;
    }
    let Some(text) = word.text.as_deref() else { return true };
    match text.strip_prefix("--") {
        Some("") => false,
        Some(name) => {
            let name = name.split('=').next().unwrap_or_default();
            long.iter().any(|unsafe_name| unsafe_name.starts_with(name))
        }
        // find and others have words behind one dash, which are listed in `long` with that dash.
        None => long.contains(&text) || text[1..].chars().any(|letter| short.contains(letter)),
    }
}

/// `git` with a subcommand that only reads. Options before the subcommand can run programs (`-c core.pager=…`).
fn git(args: &[&Word]) -> bool {
    let line = super::acts_git::line(args);
    line.plain && is_git_reading(line.rest)
}

/// Whether a subcommand of git only reads, with these arguments.
pub(super) fn is_git_reading(args: &[&Word]) -> bool {
    let Some(name) = args.first().and_then(|word| word.text.as_deref()) else { return false };
    if matches!(name, "--version" | "--help" | "--exec-path" | "version") {
        return args.len() == 1;
    }
    let Some((_, safe, listing)) = GIT.iter().find(|(known, _, _)| *known == name) else { return false };
    let args = &args[1..];
    if args.iter().any(|word| runs_gpg(word)) {
        return false;
    }
    // `git branch x` creates: with only listing options, an operand must not be there.
    let operands = args.iter().filter(|word| !word.text.as_deref().is_some_and(|text| text.starts_with('-'))).count();
    let first = args.first().and_then(|word| word.text.as_deref());
    match (*listing, name) {
        ("", _) => fits(safe, args),
        (_, "branch" | "tag") => {
            fits(safe, args)
                && (operands == 0
                    || matches!(first, Some("--list" | "--contains" | "--merged" | "--no-merged"))
                    || (name == "tag" && first == Some("-l")))
        }
        // `git config NAME` shows, with a second word it sets.
        (_, "config") if args.len() == 1 => {
            first.is_some_and(|name| !name.starts_with('-') && name.contains('.'))
                || matches!(first, Some("--list" | "-l"))
        }
        (words, _) => match first {
            None => words.split(' ').any(|word| word == "."),
            Some(first) if name == "reflog" && first.starts_with('-') => fits(safe, args),
            Some(first) => words.split(' ').any(|word| word == first) && fits(safe, &args[1..]),
        },
    }
}

/// A format with `%G?` or `%(signature)` runs gpg for each commit or tag.
fn runs_gpg(word: &Word) -> bool {
    word.pieces.iter().any(|piece| match piece {
        Piece::Lit(text) => text.contains("%G") || text.contains("%(signature"),
        _ => false,
    })
}
