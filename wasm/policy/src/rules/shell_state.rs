//! What a script changes about the shell that its other commands run in: the folder, the exported variables, and
//! variables with power over programs.

use super::command::is_powerful;
use super::judge::Judge;
use super::paths::{PathValue, Places};
use super::walk::Flat;
use crate::shell::ast::{Script, Simple, Word};

/// Builtins that run text, which may change the folder and export variables.
const EVALUATING: [&str; 5] = [".", "alias", "eval", "source", "trap"];
/// Builtins that mark variables for export.
const EXPORTING: [&str; 5] = ["declare", "export", "local", "readonly", "typeset"];

impl Judge<'_> {
    /// Follows all of it through the script, in whatever order its parts run.
    pub(super) fn follow_shell(&mut self, script: &Script, flat: &Flat) {
        for part in &flat.parts {
            self.places.home_changed |= part.simple.assignments.iter().any(|assignment| assignment.name == "HOME");
            self.exports |= exports(part.simple);
            self.follow_folder(part.simple);
            self.places.finds_hidden |= part.simple.words.iter().any(finds_hidden);
        }
        if let Some(name) = powerful(script, flat) {
            self.places.home_changed |= name == "HOME";
            let note = format!("Setting {name} changes what later commands do");
            self.not_understood(format!("{name}=…"), [0, 0], note);
        }
    }

    /// Collects every folder that may be the current one.
    fn follow_folder(&mut self, simple: &Simple) {
        let words = without_builtin(&simple.words);
        let name = words.first().and_then(|word| word.text.as_deref()).unwrap_or_default();
        if EVALUATING.contains(&name) {
            let moves = |word: &Word| {
                word.text.as_deref().is_none_or(|text| ["cd", "pushd", "popd"].iter().any(|name| text.contains(name)))
            };
            // What a file that is read in does can't be seen, so it is for whoever allows it.
            if !matches!(name, "." | "source") && words.iter().any(moves) {
                self.places.cwds.clear();
            }
            return;
        }
        if !matches!(name, "cd" | "pushd" | "popd" | "chdir") || self.places.cwds.is_empty() {
            return;
        }
        let target =
            words[1..].iter().find(|word| !matches!(word.text.as_deref(), Some("--" | "-P" | "-L" | "-e" | "-")));
        let last = Places { cwds: self.places.cwds.last().cloned().into_iter().collect(), ..self.places.clone() };
        let path = match target {
            Some(word) => last.resolve(word),
            None if name == "cd" => PathValue::Known(vec![self.asked.question.home.clone()]),
            None => return,
        };
        match path {
            PathValue::Known(paths) if self.places.cwds.len() < 8 => self.places.cwds.extend(paths),
            _ => self.places.cwds.clear(),
        }
    }
}

/// Without `command` and `builtin`, which run a builtin in the same shell.
fn without_builtin(words: &[Word]) -> &[Word] {
    let mut rest = words;
    while rest.first().is_some_and(|word| matches!(word.text.as_deref(), Some("command" | "builtin"))) {
        let options =
            rest[1..].iter().take_while(|word| word.text.as_deref().is_some_and(|text| text.starts_with('-'))).count();
        rest = &rest[1 + options..];
    }
    rest
}

/// `shopt -s dotglob` and `bash -O dotglob` let `*` find hidden files.
fn finds_hidden(word: &Word) -> bool {
    word.text.as_deref().is_some_and(|text| text == "-O" || text.contains("shopt") || text.contains("GLOBIGNORE"))
}

fn exports(simple: &Simple) -> bool {
    let words = without_builtin(&simple.words);
    let Some(name) = words.first().and_then(|word| word.text.as_deref()) else { return false };
    let texts = || words[1..].iter().filter_map(|word| word.text.as_deref());
    let marks = |text: &str, letter: char| text.starts_with('-') && text.contains(letter);
    let harmless = |text: &str| super::command::is_harmless_name(text.split('=').next().unwrap_or_default());
    match name {
        "export" => texts().count() + 1 != words.len() || !texts().all(harmless),
        "set" => texts().any(|text| marks(text, 'a') || marks(text, 'k') || matches!(text, "allexport" | "keyword")),
        _ if EXPORTING.contains(&name) => texts().any(|text| marks(text, 'x')),
        _ => EVALUATING.contains(&name),
    }
}

/// A variable with power that something else than an assignment sets: a loop, arithmetic, `${x:=…}`.
fn powerful(script: &Script, flat: &Flat) -> Option<String> {
    let looped = flat.setters.iter().filter_map(|setter| setter.name.clone());
    let evaluated = script.evaluated.sets.iter().chain(&script.evaluated.given).cloned();
    looped.chain(evaluated).find(|name| is_powerful(name))
}
