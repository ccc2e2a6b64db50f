//! The text of a command as rules see it.

use super::wildcard::{QUOTED_SPACE, Token, UNKNOWN};
use crate::shell::ast::{Assignment, Piece, Word};

/// Tokens of a command that are compared; what follows counts as unknown.
const MAX_TOKENS: usize = 16_384;

/// Variables that change only what a program prints, or that only the program itself reads.
const HARMLESS: [&str; 24] = [
    "CI",
    "CLICOLOR",
    "COLUMNS",
    "DEBUG",
    "DO_NOT_TRACK",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_NUMERIC",
    "LC_TIME",
    "LINES",
    "LOG_LEVEL",
    "NODE_ENV",
    "NO_COLOR",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
    "VERBOSE",
];

/// Variables that make the shell or nearly every program run or read something else; prefixes end in `*`.
const POWERFUL: [&str; 44] = [
    "BASH*",
    "BROWSER",
    "CDPATH",
    "DYLD_*",
    "EDITOR",
    "ENV",
    "EXECIGNORE",
    "FPATH",
    "GCONV_PATH",
    "GETCONF_DIR",
    "GIT_*",
    "GLOBIGNORE",
    "GREP_*",
    "HOME",
    "HOSTALIASES",
    "IFS",
    "LD_*",
    "LESS*",
    "LOCPATH",
    "MAKEFLAGS",
    "MALLOC_*",
    "MANPAGER",
    "NLSPATH",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NPM_CONFIG_*",
    "PAGER",
    "PATH",
    "PERL*",
    "POSIXLY_CORRECT",
    "PROMPT_COMMAND",
    "PS0",
    "PS4",
    "PWD",
    "PYTHON*",
    "RIPGREP_*",
    "RUBY*",
    "SHELL",
    "SHELLOPTS",
    "TMPDIR",
    "TZDIR",
    "VISUAL",
    "XDG_*",
    "npm_config_*",
];

/// Text for matching, with the words joined by single spaces. `open`: further words are added when it runs.
pub(crate) fn text(words: &[&Word], open: bool) -> Vec<Token> {
    let mut made = Vec::with_capacity(64);
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            made.push(Token::from(' '));
        }
        push_word(&mut made, word);
        if made.len() > MAX_TOKENS {
            made.truncate(MAX_TOKENS);
            made.push(UNKNOWN);
            return made;
        }
    }
    if open {
        made.extend([Token::from(' '), UNKNOWN]);
    }
    made
}

fn push_word(made: &mut Vec<Token>, word: &Word) {
    if word.pieces.is_empty() && word.text.is_none() {
        made.push(UNKNOWN);
    }
    for piece in &word.pieces {
        match piece {
            Piece::Lit(text) => made.extend(
                text.chars().map(
                    |letter| {
                        if letter.is_ascii_whitespace() { QUOTED_SPACE } else { Token::from(letter) }
                    },
                ),
            ),
            // The home folder is compared as it is written in rules.
            Piece::Home(_) => made.push(Token::from('~')),
            _ => made.push(UNKNOWN),
        }
    }
}

/// The file name at the end of a path.
pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The command's name without a system folder before it. Other folders stay: `./rm` is not rm.
pub(crate) fn system_name(path: &str) -> &str {
    ["/bin/", "/usr/bin/"]
        .iter()
        .find_map(|folder| path.strip_prefix(folder))
        .filter(|name| !name.contains('/'))
        .unwrap_or(path)
}

/// Whether an assignment before a command leaves it what it was.
pub(crate) fn is_harmless(assignment: &Assignment) -> bool {
    !assignment.array && assignment.subscript.is_none() && is_harmless_name(&assignment.name)
}

/// Whether this variable changes only what a program prints.
pub(crate) fn is_harmless_name(name: &str) -> bool {
    HARMLESS.contains(&name)
}

/// Whether setting this variable can make the shell, or any program, do something else.
pub(crate) fn is_powerful(name: &str) -> bool {
    POWERFUL.iter().any(|known| match known.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => *known == name,
    })
}

/// Shows words in a trace, cut to a length that can be read.
pub(crate) fn shown(words: &[&Word]) -> String {
    let mut made = String::new();
    for token in text(words, false).into_iter().take(200) {
        match (token, char::from_u32(token)) {
            (QUOTED_SPACE, _) => made.push(' '),
            (_, Some(letter)) => made.push(letter),
            _ => made.push('…'),
        }
    }
    made
}
