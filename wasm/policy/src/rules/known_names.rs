//! Names that a script itself gives a meaning: functions whose bodies are judged where they stand, and variables whose
//! values stand in the script: `x=a; cat $x`, `for f in a b; do cat "$f"; done`.

use super::unknown_words::is_listed;
use super::walk::Flat;
use crate::shell::ast::{Compound, Node, Piece, Redirect, Script, Simple, Span, Why, Word};

/// Builtins that may give a variable another value, or a function another body.
const CHANGING: [&str; 19] = [
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
    "trap",
    "typeset",
    "unset",
];

/// Variables that the shell itself changes.
const CHANGED: &str = "_ COPROC DIRSTACK EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD HOME IFS LINENO MAPFILE OLDPWD \
    OPTARG OPTIND PIPESTATUS PPID PWD RANDOM REPLY SECONDS SHELLOPTS SHLVL SRANDOM UID";

/// Values of the variables of one command that are judged one by one.
const MAX_CASES: usize = 64;

/// A variable that has one of these values in this part of the script.
#[derive(Debug)]
struct Known {
    name: String,
    values: Vec<Vec<Piece>>,
    within: Span,
}

/// What a script says of names.
#[derive(Debug, Default)]
pub(crate) struct KnownNames {
    /// Functions that are surely defined, each with the place behind its definition.
    functions: Vec<(String, u32)>,
    variables: Vec<Known>,
    /// Some function may stand for a program.
    any_function: bool,
}

impl KnownNames {
    /// Looks a script through. Most have neither, and cost little.
    pub(super) fn of(script: &Script, flat: &Flat) -> KnownNames {
        let mut made = KnownNames { any_function: !flat.functions.is_empty(), ..KnownNames::default() };
        if made.any_function && !flat.parts.iter().any(|part| runs(part.simple, "unset")) {
            made.functions =
                script.items.iter().filter_map(|item| (!item.background).then(|| defined(&item.node))?).collect();
        }
        let assigns = flat.parts.iter().any(|part| !part.simple.assignments.is_empty());
        if (assigns || !flat.setters.is_empty()) && !flat.parts.iter().any(|part| changes_any(part.simple)) {
            for setter in flat.setters.iter().filter(|setter| setter.r#type == "for") {
                made.variables.extend(walked(setter).filter(|known| times_set(&known.name, script, flat) == 1));
            }
            for item in script.items.iter().filter(|item| !item.background) {
                match &item.node {
                    Node::Simple(simple) => made.assigned(simple, u32::MAX, (script, flat)),
                    Node::AndOr(list) if list.ops.iter().all(|op| *op == "&&") => {
                        let mut until = u32::MAX;
                        for node in &list.nodes {
                            if let Node::Simple(simple) = node {
                                made.assigned(simple, until, (script, flat));
                            }
                            // Only the first one surely runs.
                            until = list.span[1];
                        }
                    }
                    _ => {}
                }
            }
        }
        made
    }

    /// Notes what a command that only assigns gives to its variables.
    fn assigned(&mut self, simple: &Simple, until: u32, (script, flat): (&Script, &Flat)) {
        for assignment in simple.assignments.iter().filter(|_| simple.words.is_empty()) {
            let plain = !assignment.array && !assignment.append && assignment.subscript.is_none();
            let [value] = assignment.values.as_slice() else { continue };
            if !plain || times_set(&assignment.name, script, flat) != 1 || is_changed(&assignment.name) {
                continue;
            }
            let mut pieces = Vec::new();
            for piece in &value.pieces {
                match self.value_of(piece, value.span[0]) {
                    Some([known]) => pieces.extend_from_slice(known),
                    _ => pieces.push(piece.clone()),
                }
            }
            // Something empty could be given a value later, by `${!y:=…}`.
            let told = |piece: &Piece| match piece {
                Piece::Lit(text) => !text.is_empty() || pieces.len() > 1,
                piece => matches!(piece, Piece::Home(_)),
            };
            if !pieces.is_empty() && pieces.iter().all(told) {
                let within = [simple.span[1], until];
                self.variables.push(Known { name: assignment.name.clone(), values: vec![merged(pieces)], within });
            }
        }
    }

    /// Whether a call of this name at this place is one of a function whose body is judged already.
    pub(super) fn is_function(&self, name: &str, at: u32) -> bool {
        self.functions.iter().any(|(known, end)| known == name && *end <= at)
    }

    /// The values that a piece of a word at this place has.
    fn value_of(&self, piece: &Piece, at: u32) -> Option<&[Vec<Piece>]> {
        let Piece::Dyn { name, .. } = piece else { return None };
        let holds = |known: &&Known| known.name == *name && known.within[0] <= at && at < known.within[1];
        let found = if name.is_empty() { None } else { self.variables.iter().find(holds) };
        found.map(|known| known.values.as_slice())
    }

    /// The words of a command with the values of its variables, once for each value; none if nothing is known of them.
    pub(super) fn cases(&self, simple: &Simple) -> Option<Vec<Vec<Word>>> {
        let mut used: Vec<(&str, &[Vec<Piece>])> = Vec::new();
        let mut told = false;
        for word in simple.words.iter().filter(|word| word.text.is_none()) {
            told |= self.tells(word).is_some();
            for piece in &word.pieces {
                if let (Piece::Dyn { name, .. }, Some(values)) = (piece, self.value_of(piece, word.span[0]))
                    && !used.iter().any(|(known, _)| known == name)
                {
                    used.push((name, values));
                }
            }
        }
        let count = used.iter().map(|(_, values)| values.len()).product::<usize>();
        if used.is_empty() && !told || count > MAX_CASES {
            return None;
        }
        let case = |mut number: usize| {
            let mut chosen = Vec::new();
            for (name, values) in &used {
                chosen.push((*name, values[number % values.len()].as_slice()));
                number /= values.len();
            }
            let mut made = Vec::new();
            simple.words.iter().for_each(|word| self.with_values(word, &chosen, &mut made));
            made
        };
        Some((0..count).map(case).collect())
    }

    /// The words that one becomes with these values.
    fn with_values(&self, word: &Word, chosen: &[(&str, &[Piece])], made: &mut Vec<Word>) {
        if word.text.is_some() {
            return made.push(made_of(word.pieces.clone(), word));
        }
        // The next piece belongs to the last word, or begins another.
        let (mut words, mut next): (Vec<Vec<Piece>>, bool) = (Vec::new(), true);
        let mut push = |piece: Piece, next: &mut bool| match words.last_mut() {
            Some(word) if !*next => word.push(piece),
            _ => {
                words.push(vec![piece]);
                *next = false;
            }
        };
        let told = self.tells(word);
        for piece in &word.pieces {
            let value = match piece {
                Piece::Dyn { name, .. } => chosen.iter().find(|(known, _)| known == name).map(|(_, value)| *value),
                _ => None,
            };
            let quoted = matches!(piece, Piece::Dyn { quoted: true, .. });
            match (piece, value, &told) {
                (_, Some(value), _) if quoted || value.iter().all(stays) => {
                    value.iter().for_each(|piece| push(piece.clone(), &mut next));
                }
                (_, Some([Piece::Lit(text)]), _) if !has_any(text, b"\r\x0b\x0c*?[\\") => {
                    next |= text.starts_with(|first: char| first.is_ascii_whitespace());
                    for part in text.split_ascii_whitespace() {
                        push(Piece::Lit(part.to_string()), &mut next);
                        next = true;
                    }
                    next &= text.ends_with(|last: char| last.is_ascii_whitespace());
                }
                (Piece::Dyn { why: Why::Command, .. }, _, Some(told)) => push(told.clone(), &mut next),
                _ => push(piece.clone(), &mut next),
            }
        }
        made.extend(words.into_iter().map(|pieces| made_of(merged(pieces), word)));
    }

    /// What is certain of the output of the one command inside a word: `$(nproc)` is a number, `"$(pwd)"` the folder.
    fn tells(&self, word: &Word) -> Option<Piece> {
        let [sub] = word.subs.as_slice() else { return None };
        let [item] = sub.body.as_slice() else { return None };
        let Node::Simple(simple) = &item.node else { return None };
        let mut commands = word.pieces.iter().filter(|piece| matches!(piece, Piece::Dyn { why: Why::Command, .. }));
        let (Some(Piece::Dyn { quoted, .. }), None) = (commands.next(), commands.next()) else { return None };
        let words: Option<Vec<&str>> = simple.words.iter().map(|word| word.text.as_deref()).collect();
        if self.any_function || !simple.redirects.is_empty() || !simple.assignments.is_empty() {
            return None;
        }
        match words?.as_slice() {
            ["date", format]
                if format
                    .strip_prefix("+%")
                    .is_some_and(|format| format.bytes().all(|byte| b"%YmdFHMSs_.-".contains(&byte))) =>
            {
                Some(Piece::Number(Why::Command))
            }
            ["git", "merge-base", ..] | ["nproc"] | ["id", "-u" | "-g"] => Some(Piece::Number(Why::Command)),
            ["pwd"] if *quoted => Some(Piece::Cwd(Why::Command)),
            _ => None,
        }
    }
}

fn has_any(text: &str, bytes: &[u8]) -> bool {
    text.bytes().any(|byte| bytes.contains(&byte))
}

/// Without quotes it is neither split nor taken for a pattern.
fn stays(piece: &Piece) -> bool {
    match piece {
        Piece::Lit(text) => !has_any(text, b" \t\n*?[\\"),
        piece => matches!(piece, Piece::Home(_)),
    }
}

fn merged(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut merged: Vec<Piece> = Vec::new();
    for piece in pieces {
        match (merged.last_mut(), piece) {
            (Some(Piece::Lit(before)), Piece::Lit(text)) => before.push_str(&text),
            (_, piece) => merged.push(piece),
        }
    }
    merged
}

/// A word of these pieces at the place of another one; what its substitutions run is judged there.
fn made_of(pieces: Vec<Piece>, at: &Word) -> Word {
    Word { span: at.span, ..super::judge::word_of(pieces) }
}

/// Whether the command is this builtin or program.
fn runs(simple: &Simple, name: &str) -> bool {
    simple.words.first().is_some_and(|word| word.text.as_deref() == Some(name))
}

/// Whether the command may give any variable another value. `printf` and `wait` do so with one option only.
fn changes_any(simple: &Simple) -> bool {
    let Some(name) = simple.words.first().and_then(|word| word.text.as_deref()) else { return false };
    let option = if name == "wait" { "-p" } else { "-v" };
    let second =
        simple.words.get(1).is_some_and(|word| word.text.as_deref().is_none_or(|text| text.starts_with(option)));
    CHANGING.contains(&name) && name != "printf" || matches!(name, "printf" | "wait") && second
}

/// Whether the shell gives the variable another value by itself.
fn is_changed(name: &str) -> bool {
    ["BASH", "COMP", "READLINE"].iter().any(|start| name.starts_with(start)) || is_listed(CHANGED, name)
}

/// How often the script sets the variable.
fn times_set(name: &str, script: &Script, flat: &Flat) -> usize {
    let assignments = flat.parts.iter().flat_map(|part| &part.simple.assignments);
    let setters = flat.setters.iter().filter(|setter| setter.name.as_deref() == Some(name));
    let opened = |redirect: &&&Redirect| redirect.fd.as_deref().is_some_and(|fd| fd.trim_matches(['{', '}']) == name);
    let evaluated = script.evaluated.sets.iter().chain(&script.evaluated.given).filter(|set| *set == name);
    assignments.filter(|assignment| assignment.name == name).count()
        + setters.count()
        + flat.redirects.iter().filter(opened).count()
        + evaluated.count()
}

/// A definition at the top of the script, which is surely carried out before what follows.
fn defined(node: &Node) -> Option<(String, u32)> {
    match node {
        Node::Compound(compound) if compound.r#type == "function" => Some((compound.name.clone()?, compound.span[1])),
        _ => None,
    }
}

/// The words of a loop, if each is known text or a pattern of names.
fn walked(setter: &Compound) -> Option<Known> {
    let plain = |word: &Word| !word.pieces.iter().any(|piece| matches!(piece, Piece::Dyn { .. } | Piece::Cwd(_)));
    let name = setter.name.clone().filter(|name| !is_changed(name))?;
    let body = setter.bodies.first()?;
    let within = [body.first()?.node.span()[0], body.last()?.node.span()[1]];
    let known = !setter.words.is_empty() && setter.words.iter().all(plain);
    known.then(|| Known { name, values: setter.words.iter().map(|word| word.pieces.clone()).collect(), within })
}

#[cfg(test)]
mod tests {
    use super::KnownNames;
    use crate::rules::walk::flatten;

    /// The last command of a script with what is known of its words, once for each value.
    fn cases(source: &str) -> Vec<String> {
        let script = crate::shell::parse(source).expect("it is a script");
        let flat = flatten(&script);
        let last = flat.parts.last().expect("it has a command").simple;
        let shown = |words: Vec<_>| super::super::command::shown(&words.iter().collect::<Vec<_>>());
        KnownNames::of(&script, &flat).cases(last).unwrap_or_default().into_iter().map(shown).collect()
    }

    #[test]
    fn c14_a_variable_that_the_script_sets_once_has_that_value_where_it_surely_holds() {
        assert_eq!(cases("x=a; ls $x \"$x/b\""), ["ls a a/b"]);
        assert_eq!(cases("x='a  b'; ls $x \"$x\""), ["ls a b a  b"]);
        assert_eq!(cases("x=a && ls c$x"), ["ls ca"]);
        assert_eq!(cases("d=a; f=$d/b; ls ${f}"), ["ls a/b"]);
        assert_eq!(cases("for f in a b; do ls \"$f\"; done"), ["ls a", "ls b"]);
        assert_eq!(cases("make -j$(nproc)"), ["make -j…"]);
    }

    #[test]
    fn c14_a_variable_that_may_have_another_value_is_not_known() {
        for source in [
            "ls $x",
            "x=a; x=b; ls $x",
            "true || x=a; ls $x",
            "if true; then x=a; fi; ls $x",
            "x=a & ls $x",
            "x=a; read x; ls $x",
            "x=a; eval y; ls $x",
            "x=a; ((x=1)); ls $x",
            "x=a; exec {x}>f; ls $x",
            "x=; ls $x",
            "x=a ls $x",
            "RANDOM=a; ls $RANDOM",
            "for f in a; do :; done; ls $f",
            "for f in $x; do ls $f; done",
        ] {
            assert_eq!(cases(source), Vec::<String>::new(), "{source}");
        }
    }
}
