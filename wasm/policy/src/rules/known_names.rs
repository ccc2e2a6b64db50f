//! Names that a script itself gives a meaning: functions whose bodies are judged where they stand, and variables that run
//! over the words of a loop.

use super::walk::Flat;
use crate::shell::ast::{Compound, Node, Piece, Script, Word};

/// Builtins that may give a variable another value, or a function another body.
const CHANGING: [&str; 17] = [
    ".",
    "alias",
    "builtin",
    "command",
    "declare",
    "eval",
    "export",
    "getopts",
    "let",
    "local",
    "mapfile",
    "printf",
    "read",
    "readarray",
    "readonly",
    "source",
    "typeset",
];

/// What a script says of names.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownNames {
    /// Functions that are surely defined, each with the place behind its definition.
    functions: Vec<(String, u32)>,
    /// Variables of `for`, each with the words that it runs over.
    loops: Vec<(String, Vec<Word>)>,
    /// The text of the script.
    source: String,
}

impl KnownNames {
    /// Looks a script through. Most have neither, and cost nothing.
    pub(super) fn of(source: &str, script: &Script, flat: &Flat) -> KnownNames {
        let mut made = KnownNames::default();
        let changes = |name: &str| {
            flat.parts
                .iter()
                .any(|part| part.simple.words.first().is_some_and(|word| word.text.as_deref() == Some(name)))
        };
        if !flat.functions.is_empty() && !changes("unset") {
            made.functions =
                script.items.iter().filter_map(|item| (!item.background).then(|| defined(&item.node))?).collect();
        }
        let loops = || flat.setters.iter().filter(|setter| setter.r#type == "for");
        if loops().next().is_some() && !CHANGING.iter().any(|name| changes(name)) {
            made.loops = loops()
                .filter(|setter| !is_set_elsewhere(setter, script, flat))
                .filter_map(|setter| walked(setter))
                .collect();
            made.source = source.to_string();
        }
        made
    }

    /// Whether a call of this name at this place is one of a function whose body is judged already.
    pub(super) fn is_function(&self, name: &str, at: u32) -> bool {
        self.functions.iter().any(|(known, end)| known == name && *end <= at)
    }

    /// The words that a quoted variable of a loop stands for.
    pub(super) fn loop_words(&self, word: &Word) -> Option<&[Word]> {
        if self.loops.is_empty() || word.text.is_some() {
            return None;
        }
        let [start, end] = word.span.map(|at| at as usize);
        let text = self.source.get(start..end)?.strip_prefix("\"$")?.strip_suffix('"')?;
        let name = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
        self.loops.iter().find(|(known, _)| known == name).map(|(_, words)| words.as_slice())
    }
}

/// A definition at the top of the script, which is surely carried out before what follows.
fn defined(node: &Node) -> Option<(String, u32)> {
    match node {
        Node::Compound(compound) if compound.r#type == "function" => Some((compound.name.clone()?, compound.span[1])),
        _ => None,
    }
}

/// The words of a loop, if each is known text or a pattern of names.
fn walked(setter: &Compound) -> Option<(String, Vec<Word>)> {
    let plain = |word: &Word| !word.pieces.iter().any(|piece| matches!(piece, Piece::Dyn { .. } | Piece::Cwd(_)));
    (!setter.words.is_empty() && setter.words.iter().all(plain))
        .then(|| Some((setter.name.clone()?, setter.words.clone())))?
}

/// Whether anything else sets the variable.
fn is_set_elsewhere(setter: &Compound, script: &Script, flat: &Flat) -> bool {
    let Some(name) = &setter.name else { return true };
    let assigned =
        flat.parts.iter().any(|part| part.simple.assignments.iter().any(|assignment| assignment.name == *name));
    let again = flat.setters.iter().filter(|other| other.name.as_ref() == Some(name)).count() > 1;
    assigned || again || script.evaluated.sets.contains(name) || script.evaluated.given.contains(name)
}
