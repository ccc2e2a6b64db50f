//! `deny Bash(rm -rf *)` is about what these options do. A program takes them in any order, apart or together, by their long
//! names and behind its operands, so a rule that refuses matches them there too. A rule that allows is read word for word.

use super::command::base_name;
use super::read_only::is_operand;
use super::wildcard::Proof;
use super::wrappers::View;
use crate::shell::ast::Word;

/// Programs whose letters r and R are one option.
const RECURSIVE: [&str; 6] = ["chgrp", "chmod", "chown", "cp", "grep", "rm"];
/// Letters that stand together in one word; a longer one is a name behind one dash (`find -delete`).
const MOST_LETTERS: usize = 4;

/// A program, its subcommand, and options that must all be there.
#[derive(Debug)]
pub(crate) struct FlagPattern {
    head: Vec<String>,
    flags: Vec<Flag>,
}

#[derive(Debug)]
enum Flag {
    Letter(char),
    /// With its dashes.
    Word(String),
}

/// The options of a rule on commands; none if it has none, or has anything behind them.
pub(crate) fn of(spec: &str) -> Option<FlagPattern> {
    let spec = spec.strip_suffix(":*").or_else(|| spec.strip_suffix(" *")).or_else(|| spec.strip_suffix('*'))?;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./ ".contains(letter);
    if !spec.chars().all(plain) {
        return None;
    }
    let words: Vec<&str> = spec.split_whitespace().collect();
    let first = words.iter().position(|word| word.starts_with('-'))?;
    let (head, options) = words.split_at(first);
    if head.is_empty() || options.iter().any(|word| !word.starts_with('-') || word.trim_matches('-').is_empty()) {
        return None;
    }
    let mut flags = Vec::new();
    for option in options {
        let letters = option.trim_start_matches('-');
        if option.starts_with("--") || letters.len() > MOST_LETTERS {
            flags.push(Flag::Word(option.to_string()));
        } else {
            flags.extend(letters.chars().map(Flag::Letter));
        }
    }
    Some(FlagPattern { head: head.iter().map(|word| word.to_string()).collect(), flags })
}

impl FlagPattern {
    /// Whether the command line has all the options, or could have them.
    pub(crate) fn matches(&self, view: &View, proof: Proof) -> bool {
        let Some(program) = view.argv[0].text.as_deref().map(base_name) else { return false };
        if program != base_name(&self.head[0]) {
            return false;
        }
        let args = &view.argv[1..];
        let end = args.iter().position(|word| word.text.as_deref() == Some("--")).unwrap_or(args.len());
        let options =
            || args[..end].iter().filter_map(|word| word.text.as_deref()).filter(|text| text.starts_with('-'));
        let mut operands = args.iter().filter(|word| !word.text.as_deref().is_some_and(|text| text.starts_with('-')));
        let subcommand = self.head[1..].iter().all(|name| operands.next().is_some_and(|word| is(word, name)));
        let unknown = || view.open || args[..end].iter().any(|word| word.text.is_none() && !is_operand(word));
        subcommand
            && self.flags.iter().all(|flag| {
                options().any(|option| flag.is_in(option, program)) || proof == Proof::Possible && unknown()
            })
    }
}

fn is(word: &Word, name: &str) -> bool {
    word.text.as_deref() == Some(name)
}

impl Flag {
    fn is_in(&self, option: &str, program: &str) -> bool {
        let Some(long) = option.strip_prefix("--") else {
            return match self {
                Flag::Letter(letter) => option.contains(|found| same(found, *letter, program)),
                Flag::Word(word) => {
                    option == word
                        || letter_of(word).is_some_and(|known| {
                            option.len() <= 1 + MOST_LETTERS && option.contains(|found| same(found, known, program))
                        })
                }
            };
        };
        let name = long.split('=').next().unwrap_or_default();
        // getopt_long(3) takes beginnings of names; `--force` is no beginning of `--force-with-lease`, but an option of its own.
        let begins = |known: &str| name == known || name != "force" && known.starts_with(name);
        match self {
            Flag::Letter('f') => begins("force"),
            Flag::Letter('r' | 'R') => begins("recursive"),
            Flag::Letter(_) => false,
            Flag::Word(word) => word.strip_prefix("--").is_some_and(begins),
        }
    }
}

fn letter_of(word: &str) -> Option<char> {
    match word {
        "--force" => Some('f'),
        "--recursive" => Some('r'),
        _ => None,
    }
}

fn same(found: char, wanted: char, program: &str) -> bool {
    found == wanted
        || RECURSIVE.contains(&program) && found.eq_ignore_ascii_case(&'r') && wanted.eq_ignore_ascii_case(&'r')
}
