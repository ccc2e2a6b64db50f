//! `deny` and `ask` rules on reading, for each argument of a command that may be a path.

use super::effects::{Doubt, Effects};
use super::judge::{Found, Judge};
use super::paths::PathValue;
use super::pattern::Access;
use super::read_only;
use super::unknown_words::splits;
use super::wildcard::{Token, UNKNOWN, UNKNOWN_VISIBLE, tokens};
use super::wrappers::{View, program};
use crate::shell::ast::{Piece, Span, Word};

/// Subcommands of git that show what stands in files.
const SHOWING: [&str; 8] = ["blame", "cat-file", "diff", "diff-tree", "grep", "log", "show", "stash"];

impl Judge<'_> {
    /// Each argument that may be a path, and what a search finds below it.
    pub(super) fn arguments(&mut self, found: &Found) {
        if self.asked.policy.guards_reading {
            self.words_from_files(found);
        }
        let inner = &found.views[found.views.len() - 1];
        let Some(name) = program(inner).filter(|name| read_only::reads_arguments(name)) else { return };
        if !self.asked.policy.guards_reading {
            return;
        }
        let reader = read_only::is_read_only(inner);
        let shows =
            name != "git" || inner.argv.iter().any(|word| SHOWING.contains(&word.text.as_deref().unwrap_or_default()));
        if !shows {
            return;
        }
        let below = searches(name, inner);
        let has_pattern =
            matches!(name, "grep" | "rg" | "egrep" | "fgrep" | "jq" | "sed" | "awk") && !has_flag(inner, "ef");
        let mut operands = 0;
        for word in inner.argv[1..].iter().filter(|word| !read_only::is_stream(word)) {
            let option = word.text.as_deref().filter(|text| text.starts_with('-'));
            operands += usize::from(option.is_none());
            if option.is_none() && has_pattern && operands == 1 && !splits(word) {
                continue;
            }
            let path = match option {
                Some(text) => self
                    .places
                    .resolve_text(text.split_once('=').map_or(text.get(2..).unwrap_or_default(), |(_, value)| value)),
                None => self.places.resolve(word),
            };
            let doubt = match reader {
                true if self.places.cwds.is_empty() => Doubt::Counts,
                true => doubt(word),
                false => Doubt::Ignored,
            };
            self.read(|| shown(word), word.span, &path, doubt);
            // `git show HEAD:file`, `dd if=file`, `curl -d @file`.
            let part = word.text.as_deref().and_then(|text| text.rsplit_once([':', '=', '@']));
            if let Some((_, part)) = part {
                self.read(|| shown(word), word.span, &self.places.resolve_text(part), Doubt::Ignored);
            }
            if let (Some(unknown), None) = (below, option) {
                self.below(word, &path, unknown);
            }
        }
        if inner.open {
            self.read(|| shown(inner.argv[0]), inner.argv[0].span, &anything(), Doubt::CountsForOwnRules);
        }
        if let (Some(unknown), true) = (below, operands <= usize::from(has_pattern)) {
            let cwd = self.places.resolve_text(".");
            self.below(inner.argv[0], &cwd, unknown);
        }
    }

    /// `xargs -a FILE` shows what stands there to the program that it runs.
    fn words_from_files(&mut self, found: &Found) {
        for view in found.views.iter().filter(|view| program(view) == Some("xargs")) {
            for (at, word) in view.argv.iter().enumerate().skip(1) {
                let Some(text) = word.text.as_deref() else { continue };
                let path = match text.strip_prefix("--arg-file=").or_else(|| text.strip_prefix("-a")) {
                    None if text != "--arg-file" => continue,
                    Some(file) if !file.is_empty() => self.places.resolve_text(file),
                    _ => view.argv.get(at + 1).map_or_else(anything, |file| self.places.resolve(file)),
                };
                self.read(|| shown(word), word.span, &path, Doubt::Counts);
            }
        }
    }

    fn below(&mut self, word: &Word, folder: &PathValue, unknown: Token) {
        let PathValue::Known(paths) = folder else { return };
        for path in paths {
            let inside = tokens(&format!("{}/", path.trim_end_matches('/'))).into_iter().chain([unknown]).collect();
            self.read(|| shown(word), word.span, &PathValue::Partly(inside), Doubt::CountsForOwnRules);
        }
    }

    pub(super) fn read(&mut self, part: impl Fn() -> String, span: Span, path: &PathValue, doubt: Doubt) {
        let effect = Effects { places: &self.places, asked: self.asked };
        if let Some((judged, rule)) = effect.restricted(Access::Read, path, doubt) {
            self.push(part(), span, judged, (Some(rule), None));
        }
    }
}

fn shown(word: &Word) -> String {
    super::command::shown(&[word])
}

fn anything() -> PathValue {
    PathValue::Partly(vec![UNKNOWN])
}

/// A glob finds what is there, and the sandbox hides the secrets; any other unknown text could name one on purpose.
fn doubt(word: &Word) -> Doubt {
    let unknown = word.pieces.iter().any(|piece| matches!(piece, Piece::Dyn { .. } | Piece::Cwd(_)));
    if unknown { Doubt::Counts } else { Doubt::CountsForOwnRules }
}

/// What a command that searches folders finds in them, as a token; none if it does not search.
fn searches(name: &str, view: &View) -> Option<Token> {
    let long =
        |start: &str| view.argv.iter().any(|word| word.text.as_deref().is_some_and(|text| text.starts_with(start)));
    match name {
        // --recursive, --dereference-recursive; they may be cut short.
        "grep" | "egrep" | "fgrep" | "diff" => {
            (has_flag(view, "rR") || long("--rec") || long("--de")).then_some(UNKNOWN)
        }
        "rg" if has_flag(view, "u.") || long("--hidden") || long("--unrestricted") => Some(UNKNOWN),
        "rg" => Some(UNKNOWN_VISIBLE),
        _ => None,
    }
}

fn has_flag(view: &View, letters: &str) -> bool {
    view.argv.iter().any(|word| {
        word.text.as_deref().is_some_and(|text| {
            text.starts_with('-') && !text.starts_with("--") && text.contains(|letter| letters.contains(letter))
        })
    })
}
