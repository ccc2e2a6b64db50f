//! What no mode and no rule allows: removing the system, the home or the workspace as a whole, and fork bombs (D8).

use super::command::base_name;
use super::paths::{PathValue, Places, is_inside};
use super::walk::Flat;
use super::wrappers::{View, program};
use crate::shell::ast::{Compound, Node, Piece, Sequence, Word};

/// Whether the command is one of those that may be refused.
pub(crate) fn concerns(view: &View) -> bool {
    program(view).is_some_and(|name| {
        matches!(name, "rm" | "rmdir" | "chmod" | "chown" | "chgrp" | "find" | "dd" | "mv" | "shred" | "unlink")
            || name.starts_with("mkfs")
    })
}

/// A sentence if this command line must never run.
pub(crate) fn refusal(view: &View, places: &Places) -> Option<String> {
    let name = program(view)?;
    let args = &view.argv[1..];
    match name {
        "rm" | "rmdir" if name == "rmdir" || has_letter(args, "rR", "--recursive") => {
            let target = args.iter().find(|word| is_critical(word, places))?;
            Some(format!("\"{name}\" of {} is never run: it would remove {}", quoted(target), what(target)))
        }
        "chmod" | "chown" | "chgrp" if has_letter(args, "R", "--recursive") => {
            let target = args.iter().find(|word| matches!(word.text.as_deref(), Some("/" | "/*")))?;
            Some(format!("\"{name} -R\" of {} is never run: it would change every file of the system", quoted(target)))
        }
        "find" if args.iter().any(|word| word.text.as_deref() == Some("-delete")) => {
            let bare = args.iter().filter(|word| !is_option(word)).count() == 1 && args.len() == 2;
            let target = args.first().filter(|word| bare && is_critical(word, places))?;
            Some(format!("\"find -delete\" of {} is never run: it would remove {}", quoted(target), what(target)))
        }
        "dd" => {
            let device = args
                .iter()
                .find(|word| word.text.as_deref().and_then(|text| text.strip_prefix("of=")).is_some_and(is_disk))?;
            Some(format!("\"dd\" to {} is never run: it would overwrite a disk", quoted(device)))
        }
        _ if name == "mkfs" || name.starts_with("mkfs.") => {
            Some("\"mkfs\" is never run: it would format a disk".to_string())
        }
        _ => None,
    }
}

/// Whether the path is a whole disk or a part of one.
pub(crate) fn is_disk(path: &str) -> bool {
    let Some(name) = path.strip_prefix("/dev/") else { return false };
    ["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "dm-", "mapper/", "md"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

fn has_letter(args: &[&Word], letters: &str, long: &str) -> bool {
    args.iter().filter_map(|word| word.text.as_deref()).any(|text| match text.strip_prefix("--") {
        Some(name) => name.len() > 2 && long[2..].starts_with(name),
        None => text.starts_with('-') && text.chars().any(|letter| letters.contains(letter)),
    })
}

fn is_option(word: &Word) -> bool {
    word.text.as_deref().is_some_and(|text| text.starts_with('-'))
}

fn quoted(word: &Word) -> String {
    format!("\"{}\"", super::command::shown(&[word]))
}

fn what(word: &Word) -> &'static str {
    if word.text.is_none() && word.pieces.iter().any(|piece| matches!(piece, Piece::Dyn { .. })) {
        "everything if the variable is empty"
    } else {
        "the system, the home folder or the whole workspace"
    }
}

fn is_critical(word: &Word, places: &Places) -> bool {
    if is_option(word) {
        return false;
    }
    let (folder, all_inside) = without_star(word);
    if all_inside && folder.pieces.iter().all(|piece| matches!(piece, Piece::Dyn { .. })) && !folder.pieces.is_empty() {
        return true;
    }
    if places.home_changed && folder.pieces.iter().any(|piece| matches!(piece, Piece::Home(_))) {
        return true;
    }
    let PathValue::Known(paths) = places.resolve(&folder) else { return false };
    let question = places.question;
    paths.iter().any(|path| {
        let keeps = question.roots.iter().take(1).chain([&question.home]);
        path.matches('/').count() == 1 && !is_scratch(path, &question.roots)
            || keeps.into_iter().any(|keep| is_inside(keep, path))
    })
}

/// A folder at the top that is a workspace of its own, below the first one, may be removed.
fn is_scratch(path: &str, roots: &[String]) -> bool {
    roots.iter().skip(1).any(|root| root == path)
}

/// The word without the slash and star at its end, and whether anything stood there: `/*`, `"$DIR"/*`, `~/`.
fn without_star(word: &Word) -> (Word, bool) {
    // An empty literal is all that is left of a quote, as in `"$DIR"/*`.
    let shows = |piece: &&Piece| !matches!(piece, Piece::Lit(text) if text.is_empty());
    let mut pieces: Vec<Piece> = word.pieces.iter().filter(shows).cloned().collect();
    let whole = pieces.len();
    let mut stripped = false;
    while let Some(last) = pieces.last_mut() {
        match last {
            Piece::Glob(pattern) if pattern == "*" => {
                pieces.pop();
                stripped = true;
            }
            Piece::Lit(text) if stripped && (text.ends_with('/') || text.ends_with("/.") || text == ".") => {
                let kept = text.trim_end_matches('.').trim_end_matches('/').len();
                // Only the root itself is written with a slash alone.
                let root = kept == 0 && text.starts_with('/') && whole <= 2;
                text.truncate(if root { 1 } else { kept });
                if text.is_empty() {
                    pieces.pop();
                }
                break;
            }
            Piece::Lit(text) if text.len() > 1 && text.ends_with('/') || text == "/" && whole > 1 => {
                stripped = true;
                let kept = text.trim_end_matches('/').len();
                text.truncate(if kept == 0 && whole == 1 { 1 } else { kept });
                if text.is_empty() {
                    pieces.pop();
                }
                break;
            }
            _ => break,
        }
    }
    let folder = super::judge::word_of(pieces);
    (folder, stripped)
}

/// The name of a function that starts itself more than once, or in the background.
pub(crate) fn fork_bomb<'a>(flat: &Flat<'a>) -> Option<&'a str> {
    flat.functions.iter().find_map(|function| {
        let name = function.name.as_deref()?;
        let mut calls = Calls { name, plain: 0, multiplying: 0 };
        function.bodies.iter().for_each(|body| calls.sequence(body, false));
        (calls.multiplying > 0 && calls.plain + calls.multiplying > 1 || calls.multiplying > 1).then_some(name)
    })
}

/// Counts the calls of a function in its own body.
struct Calls<'a> {
    name: &'a str,
    plain: usize,
    multiplying: usize,
}

impl Calls<'_> {
    fn sequence(&mut self, items: &Sequence, multiplying: bool) {
        for item in items {
            self.node(&item.node, multiplying || item.background);
        }
    }

    fn node(&mut self, node: &Node, multiplying: bool) {
        match node {
            Node::Simple(simple) => {
                let name = simple.words.first().and_then(|word| word.text.as_deref()).map(base_name);
                if name == Some(self.name) {
                    *(if multiplying { &mut self.multiplying } else { &mut self.plain }) += 1;
                }
            }
            Node::Pipeline(pipeline) => pipeline.stages.iter().for_each(|stage| self.node(stage, true)),
            Node::AndOr(list) => list.nodes.iter().for_each(|node| self.node(node, multiplying)),
            Node::Compound(compound) => self.compound(compound, multiplying),
        }
    }

    fn compound(&mut self, compound: &Compound, multiplying: bool) {
        compound.bodies.iter().for_each(|body| self.sequence(body, multiplying));
    }
}
