//! Programs with a language or an option of their own by which they run another program. A rule that allows the program is
//! not about those. What is missing here is one more way through an allow rule, so each entry may be wider than it must.

use super::unknown_words::{beginning, is_listed};
use crate::shell::ast::Word;

/// The programs that are told apart below.
pub(super) const KNOWN: &str = "autossh c++ cc clang clang++ curl ed emacs emacsclient ex expect g++ gcc gdb gmake gvim install lldb logsave make man \
     mariadb mysql nvim psql red rsync rview rvim scp sed sftp socat split sqlite3 ssh tar tclsh vi view vim vimdiff wget wish zip";

/// Whether these arguments make the program run another one.
pub(super) fn runs_another(name: &str, args: &[&Word]) -> bool {
    if !is_listed(KNOWN, name) {
        return false;
    }
    let texts: Vec<String> = args.iter().map(|word| beginning(word)).collect();
    let any = |test: &dyn Fn(&str) -> bool| texts.iter().any(|text| test(text));
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
        "vi" | "vim" | "nvim" | "view" | "vimdiff" | "gvim" | "rview" | "rvim" => {
            any(&|text| text.starts_with('+')) || option("cSsuU", &["cmd"])
        }
        "emacs" | "emacsclient" => !any(&|text| matches!(text, "--version" | "--help")),
        "gdb" | "lldb" => any(&|text| {
            is_option(text, "", &["ex", "eval-command", "command", "init"])
                || text.starts_with("-ex")
                || is_single(text, &["x", "ix", "iex", "o", "s", "O", "S"])
        }),
        "make" | "gmake" => make(&texts),
        "rsync" => option("eM", &["rsh", "rsync-path", "remote-option"]),
        "scp" | "sftp" | "ssh" | "autossh" => ssh(name, &texts),
        "sed" => sed(&texts),
        "split" => option("", &["filter"]),
        "install" => option("", &["strip-program"]),
        "tar" => tar(&texts),
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
        "logsave" | "socat" | "tclsh" | "expect" | "wish" => true,
        _ => false,
    }
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
fn make(texts: &[String]) -> bool {
    texts.iter().any(|text| {
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
fn ssh(name: &str, texts: &[String]) -> bool {
    let letters = if name == "ssh" { "FI" } else { "FSD" };
    let mut words = texts.iter();
    let mut operands = 0;
    while let Some(text) = words.next() {
        let Some(group) = text.strip_prefix('-') else {
            operands += 1;
            // ssh takes options behind the host too, up to the command.
            if name == "ssh" && operands > 1 {
                return false;
            }
            continue;
        };
        let setting = match group.split_once('o') {
            Some((before, "")) if !before.contains(['i', 'l', 'p']) => words.next().cloned(),
            Some((before, setting)) if !before.contains(['i', 'l', 'p']) => Some(setting.to_string()),
            _ => None,
        };
        let setting = setting.unwrap_or_default().to_ascii_lowercase();
        let unknown = setting.split('=').next().is_some_and(|key| key.contains('\u{fffd}'));
        let runs = ["command", "include", "provider", "askpass", "match"].iter().any(|part| setting.contains(part));
        if runs || unknown || group.contains(|letter| letters.contains(letter)) {
            return true;
        }
        // These take the next word.
        if group.len() == 1 && "BbcDEeiJLlmpQRSWwX".contains(group) {
            words.next();
        }
    }
    false
}

/// `-I` and `-F` in any group of letters, with a dash or without, and long options, which may be cut short.
fn tar(texts: &[String]) -> bool {
    const LONG: [&str; 7] = [
        "to-command",
        "checkpoint-action",
        "use-compress-program",
        "rsh-command",
        "rmt-command",
        "info-script",
        "new-volume-script",
    ];
    texts.iter().enumerate().any(|(at, text)| {
        let letters = at == 0 && !text.starts_with('-') && text.contains(['I', 'F']);
        let group = text.strip_prefix('-').filter(|group| !group.starts_with('-')).unwrap_or_default();
        // What follows these letters in a group is their value.
        let named =
            group.find(['I', 'F']).is_some_and(|at| !group[..at].contains(|letter| "fCTXbLKNVgH".contains(letter)));
        letters || named || is_option(text, "", &LONG) && !text.starts_with("--checkpoint=")
    })
}

/// A script with `e`, or with `w`, `r` and their like, whose files are named inside it.
fn sed(texts: &[String]) -> bool {
    let (mut scripts, mut plain): (Vec<&str>, bool) = (Vec::new(), true);
    let mut words = texts.iter().map(String::as_str);
    while let Some(text) = words.next() {
        let group = text.strip_prefix('-').map(|group| group.trim_start_matches(['n', 'E', 'r', 's', 'u', 'z']));
        let given = match group.and_then(|group| group.strip_prefix('e')) {
            None if is_option(text, "", &["expression"]) => Some(text.split_once('=').map_or("", |(_, script)| script)),
            given => given,
        };
        if let Some(script) = given {
            plain = false;
            scripts.extend(if script.is_empty() { words.next() } else { Some(script) });
        } else if is_option(text, "f", &["file"]) {
            return true;
        } else if group.is_none() && std::mem::take(&mut plain) {
            scripts.push(text);
        }
    }
    scripts.into_iter().any(super::sed_script::runs_or_writes)
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
