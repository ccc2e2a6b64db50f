//! Arguments by which git runs another program, or obeys settings that do. A rule that allows git is not about those.

use super::unknown_words::beginning;
use crate::shell::ast::Word;

/// Settings that name no program, no file and no place from which either is taken; prefixes end in a dot.
const HARMLESS_KEYS: [&str; 36] = [
    "advice.",
    "apply.whitespace",
    "blame.",
    "branch.autosetuprebase",
    "branch.sort",
    "color.",
    "column.",
    "commit.gpgsign",
    "commit.verbose",
    "core.abbrev",
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.longpaths",
    "core.quotepath",
    "core.safecrlf",
    "core.symlinks",
    "core.whitespace",
    "diff.algorithm",
    "diff.context",
    "diff.renames",
    "fetch.prune",
    "gc.auto",
    "http.postbuffer",
    "i18n.",
    "init.defaultbranch",
    "log.",
    "merge.conflictstyle",
    "merge.ff",
    "pull.",
    "push.",
    "rebase.autosquash",
    "rebase.autostash",
    "tag.gpgsign",
    "user.",
];

/// Settings that name a program, harmless with one of the programs below.
const SHOWING_KEYS: [&str; 4] = ["core.editor", "core.pager", "pager.", "sequence.editor"];
const SHOWING_PROGRAMS: [&str; 6] = ["", ":", "cat", "false", "less", "true"];

/// Options before the subcommand that take settings, programs or repositories from elsewhere.
const ELSEWHERE: [&str; 7] =
    ["--attr-source", "--config-env", "--exec-path", "--git-dir", "--namespace", "--super-prefix", "--work-tree"];

/// Options of subcommands that run a program or write a file; they may be cut short.
const UNSAFE: [&str; 13] = [
    "--exec",
    "--extcmd",
    "--open-files-in-pager",
    "--output",
    "--output-directory",
    "--receive-pack",
    "--sendmail-cmd",
    "--smtp-server",
    "--template",
    "--tool",
    "--unsafe-paths",
    "--upload-pack",
    "--separate-git-dir",
];

/// Subcommands that exist to run other programs.
const RUNNING: [&str; 18] = [
    "cvsserver",
    "daemon",
    "difftool",
    "fast-import",
    "filter-branch",
    "for-each-repo",
    "gui",
    "hook",
    "http-backend",
    "imap-send",
    "instaweb",
    "mergetool",
    "p4",
    "request-pull",
    "send-email",
    "shell",
    "svn",
    "web--browse",
];

/// Whether git, given these arguments, runs another program or obeys settings that name one.
pub(super) fn runs_another(args: &[&Word]) -> bool {
    let mut at = 0;
    while let Some(text) = args.get(at).and_then(|word| word.text.as_deref()).filter(|text| text.starts_with('-')) {
        if ELSEWHERE.iter().any(|option| text.starts_with(option)) {
            // `git --exec-path` alone only tells the folder.
            return args.len() > 1;
        }
        match text {
            "-c" if !args.get(at + 1).is_some_and(|setting| is_harmless_setting(setting)) => return true,
            "-c" | "-C" => at += 2,
            _ => at += 1,
        }
    }
    let Some(name) = args.get(at) else { return false };
    let Some(name) = name.text.as_deref() else { return true };
    RUNNING.contains(&name) || subcommand(name, &args[at + 1..])
}

fn subcommand(name: &str, args: &[&Word]) -> bool {
    let begun: Vec<String> = args.iter().map(|word| beginning(word)).collect();
    let texts = || begun.iter().map(String::as_str);
    let first = texts().find(|text| !text.starts_with('-'));
    let own = match name {
        "bisect" => first == Some("run"),
        "submodule" => first == Some("foreach"),
        "maintenance" => matches!(first, Some("register" | "start")),
        "config" => writes_settings(args),
        "rebase" => texts().any(|text| short_option(text, 'x')),
        "grep" => texts().any(|text| short_option(text, 'O')),
        "archive" | "format-patch" => texts().any(|text| short_option(text, 'o')),
        "clone" => {
            let set = |pair: &[&Word]| {
                matches!(pair[0].text.as_deref(), Some("-c" | "--config")) && !is_harmless_setting(pair[1])
            };
            texts().any(|text| short_option(text, 'u') || text.starts_with("--config=")) || args.windows(2).any(set)
        }
        _ => false,
    };
    own || texts().any(|text| is_unsafe(text) || names_a_command(text))
}

/// A letter alone or with its value in the same word.
fn short_option(text: &str, letter: char) -> bool {
    text.strip_prefix('-').is_some_and(|rest| rest.starts_with(letter))
}

fn is_unsafe(text: &str) -> bool {
    let name = text.split('=').next().unwrap_or_default();
    name.len() > 3 && name.starts_with("--") && UNSAFE.iter().any(|option| option.starts_with(name))
}

/// `ext::command` and `fd::number`: transports that are programs or descriptors.
fn names_a_command(text: &str) -> bool {
    text.starts_with("ext::") || text.starts_with("fd::")
}

/// `key=value`, or a key alone, which is true.
fn is_harmless_setting(word: &Word) -> bool {
    let text = beginning(word);
    let (key, value) = text.split_once('=').unwrap_or((&text, "true"));
    is_harmless_key(key, value)
}

fn is_harmless_key(key: &str, value: &str) -> bool {
    // The names before and after the dots of a key are compared without regard to case.
    let key = key.to_ascii_lowercase();
    let named = |known: &str| if known.ends_with('.') { key.starts_with(known) } else { key == known };
    HARMLESS_KEYS.iter().any(|known| named(known))
        || SHOWING_PROGRAMS.contains(&value) && SHOWING_KEYS.iter().any(|known| named(known))
}

/// `git config` with a key that is written, unless it is harmless.
fn writes_settings(args: &[&Word]) -> bool {
    let mut operands = Vec::new();
    for word in args {
        let Some(text) = word.text.as_deref() else {
            operands.push(None);
            continue;
        };
        let reads = ["--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l"].contains(&text);
        if reads || (operands.is_empty() && matches!(text, "get" | "list")) {
            return false;
        }
        if matches!(text, "-f" | "--file" | "--blob") || text.starts_with("--file=") || text.starts_with("--blob=") {
            return true;
        }
        let verb = operands.is_empty() && matches!(text, "set" | "unset");
        if !text.starts_with('-') && !verb {
            operands.push(Some(text));
        }
    }
    match operands.as_slice() {
        [Some(key), rest @ ..] if !rest.is_empty() => !is_harmless_key(key, rest[0].unwrap_or("?")),
        [None, ..] => true,
        _ => false,
    }
}
