//! Tools with many subcommands, of which a few only show what is there. Not here, though they look as if they did: cargo and
//! rustc, which a `rust-toolchain.toml` of the workspace can replace; yarn and pnpm, which start what their settings name;
//! docker and kubectl, which ask a server, through ssh or a plug-in if their settings say so; `npm view` and `npm outdated`,
//! which ask the registry; ldd, which may run the program it is asked about; make and tsc, which are the project's own code.

use super::read_only::is_operand;
use crate::shell::ast::Word;

fn texts<'a>(args: &[&'a Word]) -> Option<Vec<&'a str>> {
    args.iter().map(|word| word.text.as_deref()).collect()
}

/// `npm ls`, `npm explain`, `npm root`, `npm config get`, and `npm run` alone, which lists the scripts.
pub(super) fn npm(args: &[&Word]) -> bool {
    let Some(words) = texts(args) else { return false };
    let option = |text: &&&str| {
        matches!(
            **text,
            "-a" | "--all" | "-l" | "--long" | "-p" | "--parseable" | "--json" | "-g" | "--global" | "--dev" | "--prod"
        ) || text.starts_with("--depth=")
            || text.starts_with("--omit=")
    };
    match words.split_first() {
        Some((&("run" | "run-script"), [])) => true,
        Some((&("ls" | "list" | "ll" | "la" | "explain" | "why" | "root" | "prefix"), rest)) => {
            rest.iter().all(|text| !text.starts_with('-') || option(&text))
        }
        Some((&"pkg", ["get", rest @ ..])) => rest.iter().all(|text| !text.starts_with('-')),
        Some((&"config", [verb @ ("get" | "list" | "ls"), rest @ ..])) => {
            rest.iter().all(|text| !text.starts_with('-') || matches!(*text, "-l" | "--json")) && !verb.is_empty()
        }
        _ => false,
    }
}

/// `pip list`, `pip show`, `pip freeze`, `pip check`: without `--outdated` they ask no index.
pub(super) fn pip(args: &[&Word]) -> bool {
    let Some(words) = texts(args) else { return false };
    let known = |text: &&str| {
        !text.starts_with('-')
            || text.starts_with("--format=")
            || matches!(*text, "-l" | "--local" | "--user" | "-f" | "--files" | "--not-required" | "-v" | "--all")
    };
    match words.split_first() {
        Some((&"list", rest)) => rest.iter().all(|text| known(text) && *text != "-f"),
        Some((&("show" | "check" | "inspect"), rest)) => rest.iter().all(known),
        Some((&"freeze", rest)) => rest.iter().all(|text| matches!(*text, "-l" | "--local" | "--user" | "--all")),
        _ => false,
    }
}

/// `go env`, `go list`, `go version`, without the options that build, write or name a program.
pub(super) fn go(args: &[&Word]) -> bool {
    let Some(words) = texts(args) else { return false };
    let listing = |text: &&str| {
        !text.starts_with('-')
            || matches!(*text, "-m" | "-json" | "-deps" | "-test" | "-e" | "-find" | "-versions=false")
    };
    match words.split_first() {
        Some((&"env", rest)) => {
            rest.iter().all(|text| !text.starts_with('-') || *text == "-json" || *text == "-changed")
        }
        // `-m -u` and `@latest` ask a server.
        Some((&"list", rest)) => rest.iter().all(listing) && !rest.iter().any(|text| text.contains('@')),
        Some((&"version", rest)) => rest.is_empty(),
        _ => false,
    }
}

/// `tar -t` of a plain file: a name with a colon would be a host.
pub(super) fn tar(args: &[&Word]) -> bool {
    let Some(words) = texts(args) else { return false };
    let Some((first, rest)) = words.split_first() else { return false };
    let letters = first.strip_prefix('-').unwrap_or(first);
    letters.contains('t')
        && letters.bytes().all(|letter| b"tvfzjJa".contains(&letter))
        && rest.iter().all(|text| !text.starts_with('-') && !text.contains(':'))
}

/// `unzip -l`, `-v`, `-Z` and `-t`.
pub(super) fn unzip(args: &[&Word]) -> bool {
    matches!(args.first().and_then(|word| word.text.as_deref()), Some("-l" | "-v" | "-t" | "-Z" | "-Z1" | "-lv"))
        && args[1..].iter().all(|word| is_operand(word))
}

/// `ip addr`, `ip -br link show`, `ip route`.
pub(super) fn ip(args: &[&Word]) -> bool {
    let Some(words) = texts(args) else { return false };
    let rest: Vec<&str> = words
        .into_iter()
        .filter(|text| !matches!(*text, "-br" | "-brief" | "-4" | "-6" | "-j" | "-c" | "-s"))
        .collect();
    match rest.as_slice() {
        [what] | [what, "show" | "list" | "ls"] => {
            matches!(*what, "a" | "addr" | "address" | "l" | "link" | "r" | "route" | "n" | "neigh" | "rule")
        }
        _ => false,
    }
}

/// `dpkg -l`, `-L`, `-s`, `-S`.
pub(super) fn dpkg(args: &[&Word]) -> bool {
    matches!(
        args.first().and_then(|word| word.text.as_deref()),
        Some("-l" | "-L" | "-s" | "-S" | "--list" | "--listfiles" | "--status")
    ) && args[1..].iter().all(|word| is_operand(word))
}

/// Shows the settings of the shell: no arguments, or only letters that print.
pub(super) fn shows_settings(args: &[&Word]) -> bool {
    args.iter().all(|word| matches!(word.text.as_deref(), Some("-a" | "-p" | "-S" | "-n" | "-v" | "-l")))
}
