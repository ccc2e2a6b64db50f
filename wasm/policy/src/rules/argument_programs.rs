//! Programs with a language or an option of their own by which they run another program. A rule that allows the program is
//! not about those. What is missing here is one more way through an allow rule, so each entry may be wider than it must.

use crate::shell::ast::Word;

/// Whether these arguments make the program run another one.
pub(super) fn runs_another(name: &str, args: &[&Word]) -> bool {
    let any = |test: &dyn Fn(&str) -> bool| args.iter().any(|word| word.text.as_deref().is_some_and(test));
    let option = |letters: &'static str, long: &'static [&'static str]| any(&|text| is_option(text, letters, long));
    match name {
        "cc" | "c++" | "clang" | "clang++" | "g++" | "gcc" => any(&|text| {
            ["-wrapper", "-fplugin", "-specs", "--specs", "-load", "-B", "@"]
                .iter()
                .any(|start| text.starts_with(start))
        }),
        "curl" => option("K", &["config"]),
        "wget" => option("e", &["execute", "config", "use-askpass"]),
        // Their scripts have a command that starts a shell.
        "ed" | "ex" | "red" => true,
        "vi" | "vim" | "nvim" | "view" | "vimdiff" | "gvim" => {
            any(&|text| text.starts_with('+')) || option("cSsuU", &["cmd"])
        }
        "emacs" | "emacsclient" => !any(&|text| matches!(text, "--version" | "--help")),
        "gdb" | "lldb" => any(&|text| {
            is_option(text, "", &["ex", "eval-command", "command", "init"])
                || text.starts_with("-ex")
                || is_single(text, &["x", "ix", "iex", "o", "s", "O", "S"])
        }),
        "make" | "gmake" => make(args),
        "rsync" => option("eM", &["rsh", "rsync-path", "remote-option"]),
        "scp" | "sftp" | "ssh" | "autossh" => ssh(name, args),
        "sed" => sed(args),
        "split" => option("", &["filter"]),
        "sqlite3" => any(&sqlite) || option("", &["cmd", "init"]) || any(&|text| matches!(text, "-cmd" | "-init")),
        "mysql" | "mariadb" => any(&|text| text.contains("\\!") || text.contains("system ")) || option("", &["pager"]),
        "psql" => any(&|text| {
            text.contains("\\!")
                || text.contains("\\o")
                || text.contains("\\g")
                || text.to_ascii_lowercase().contains("program")
        }),
        "zip" => any(&|text| text.starts_with('-') && text.contains("TT")) || option("", &["unzip-command"]),
        "man" => option("PH", &["pager", "html", "browser"]),
        "declare" | "export" | "getopts" | "let" | "local" | "mapfile" | "printf" | "read" | "readarray"
        | "readonly" | "test" | "typeset" | "unset" | "wait" | "[" => evaluates(name, args),
        "logsave" | "socat" | "tclsh" | "expect" | "wish" => true,
        _ => false,
    }
}

/// A builtin that is given the name of a variable with a subscript, which bash expands: `printf -v 'a[$(rm f)]' x`.
fn evaluates(name: &str, args: &[&Word]) -> bool {
    let code = |text: &str| {
        let target = text.split('=').next().unwrap_or_default();
        let index = target.split_once('[').map(|(_, index)| index);
        let in_name = index.is_some_and(|index| index.contains(['$', '`', '[']));
        in_name || matches!(name, "let" | "declare" | "typeset" | "local") && text.contains(['$', '`'])
    };
    let mut after_v = false;
    args.iter().filter_map(|word| word.text.as_deref()).any(|text| {
        let (glued, asked) = (text.strip_prefix("-v"), std::mem::take(&mut after_v));
        after_v = text == "-v" || text == "-R";
        match name {
            "printf" | "test" | "[" => {
                code(glued.filter(|_| name == "printf").unwrap_or(if asked { text } else { "" }))
            }
            _ => code(text),
        }
    })
}

/// A group of letters with one of these in it, or a long option, which may be cut short.
fn is_option(text: &str, letters: &str, long: &[&str]) -> bool {
    match text.strip_prefix("--") {
        Some(name) => {
            let name = name.split('=').next().unwrap_or_default();
            name.len() > 1 && long.iter().any(|known| known.starts_with(name))
        }
        None => text.strip_prefix('-').is_some_and(|group| group.contains(|letter| letters.contains(letter))),
    }
}

/// A word behind one dash.
fn is_single(text: &str, words: &[&str]) -> bool {
    text.strip_prefix('-').is_some_and(|word| words.contains(&word))
}

/// Variables go into the command lines of a makefile as they are, and `$(shell …)` in one is run when it is read.
fn make(args: &[&Word]) -> bool {
    args.iter().filter_map(|word| word.text.as_deref()).any(|text| {
        let assigned = text.split_once('=').filter(|(name, _)| !name.starts_with('-'));
        let hostile = assigned.is_some_and(|(name, value)| {
            let name = name.trim_end_matches([':', '+', '?', '!']);
            matches!(name, "SHELL" | ".SHELLFLAGS" | "MAKEFLAGS" | "MAKEFILES" | "MAKE")
                || value.contains(['$', ';', '&', '|', '`', '<', '>', '\n'])
        });
        hostile || is_option(text, "E", &["eval"])
    })
}

/// Options that name a program or a file of settings. Options behind the host belong to the other machine.
fn ssh(name: &str, args: &[&Word]) -> bool {
    let letters = if name == "ssh" { "FI" } else { "FSD" };
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.text.as_deref() else { continue };
        let Some(group) = text.strip_prefix('-') else {
            if name == "ssh" {
                return false;
            }
            continue;
        };
        let setting = match group.split_once('o') {
            Some((before, "")) if !before.contains(['i', 'l', 'p']) => words.next().and_then(|word| word.text.clone()),
            Some((before, setting)) if !before.contains(['i', 'l', 'p']) => Some(setting.to_string()),
            _ => None,
        };
        let setting = setting.unwrap_or_default().to_ascii_lowercase();
        let runs = ["command", "include", "provider", "askpass", "match"].iter().any(|part| setting.contains(part));
        if runs || group.contains(|letter| letters.contains(letter)) {
            return true;
        }
        // These take the next word.
        if group.len() == 1 && "BbcDEeiJLlmpQRSWwX".contains(group) {
            words.next();
        }
    }
    false
}

/// A script with `e`, or with `w`, `r` and their like, whose files are named inside it.
fn sed(args: &[&Word]) -> bool {
    let mut scripts = Vec::new();
    let (mut at, mut plain) = (0, true);
    while let Some(text) = args.get(at).map(|word| word.text.as_deref()) {
        at += 1;
        let Some(text) = text else { continue };
        if is_option(text, "", &["expression"]) || is_single(text, &["e", "ne", "Ee", "re", "nEe", "nre"]) {
            plain = false;
            match text.split_once('=') {
                Some((_, script)) => scripts.push(script),
                None => {
                    scripts.extend(args.get(at).and_then(|word| word.text.as_deref()));
                    at += 1;
                }
            }
        } else if is_option(text, "f", &["file"]) {
            return true;
        } else if !text.starts_with('-') && std::mem::take(&mut plain) {
            scripts.push(text);
        }
    }
    scripts.iter().any(|script| super::sed_script::runs_or_writes(script))
}

/// Commands of the shell of sqlite3 that run or load something, and functions that do.
fn sqlite(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let dotted = lower.split(['\n', ';']).map(str::trim_start).filter(|line| line.starts_with('.'));
    let shows = [
        ".tables",
        ".schema",
        ".headers",
        ".header",
        ".mode",
        ".dump",
        ".indexes",
        ".indices",
        ".databases",
        ".timer",
        ".width",
    ];
    let harmless = |line: &str| shows.contains(&line.split_whitespace().next().unwrap_or_default());
    dotted.clone().any(|line| !harmless(line))
        || ["load_extension", "writefile", "edit("].iter().any(|call| lower.contains(call))
}
