//! What one command line would do beyond reading: the paths it writes and removes, the hosts it reaches, the rights it takes,
//! and whether it may do something that is not listed. What is not understood is said to be so, never left out.

use super::acts_files;
use super::acts_git;
use super::acts_net;
use super::command::system_name;
use super::hosts::Target;
use super::paths::{PathValue, Places};
use super::pattern::Access;
use super::programs;
use super::read_only;
use super::types::Effect;
use super::wildcard::{Token, UNKNOWN, tokens};
use super::wrappers::{View, program};
use crate::shell::ast::Word;

/// One thing that a command does.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// `whole`: a folder with everything in it.
    Path { access: Access, path: PathValue, whole: bool },
    /// A connection; the text is shown.
    Net(Target, String),
    /// It takes the rights of another user.
    Privilege(&'static str),
    /// It sets a variable for a program.
    Env(String),
}

/// Everything that a command line is known to do.
#[derive(Debug, Default)]
pub(crate) struct Acts {
    pub(crate) list: Vec<Act>,
    /// Why it may do anything else as well.
    pub(crate) unknown: Option<&'static str>,
    /// It changes files that are not listed, and runs nothing.
    pub(crate) files: bool,
    /// It changes nothing but the listed files, and its kind is one that a mode which may write the workspace allows.
    pub(crate) everyday: bool,
}

impl Acts {
    pub(super) fn unknown(why: &'static str) -> Acts {
        Acts { unknown: Some(why), ..Acts::default() }
    }

    /// Adds what another command line does.
    pub(super) fn join(&mut self, other: Acts) {
        self.list.extend(other.list);
        self.unknown = self.unknown.or(other.unknown);
        self.files |= other.files;
        self.everyday &= other.everyday;
    }

    /// Nothing but what is listed is done.
    pub(super) fn complete(&self) -> bool {
        self.unknown.is_none() && !self.files
    }

    pub(super) fn push_path(&mut self, access: Access, path: PathValue) {
        self.list.push(Act::Path { access, path, whole: false });
    }
}

/// What this command line does; the commands inside it are judged on their own.
pub(crate) fn of(view: &View, places: &Places) -> Acts {
    let Some(name) = program(view) else { return Acts::unknown("its name is not known before it runs") };
    let args = &view.argv[1..];
    let own = view.argv[0].text.as_deref().is_some_and(|text| system_name(text).contains('/'));
    let known = acts_files::of(name, args, places)
        .or_else(|| acts_net::of(name, args, places))
        .or_else(|| (name == "git").then(|| acts_git::of(args, places)))
        .or_else(|| programs::takes_rights(name, args).map(privileged));
    let mut acts = match known {
        Some(acts) => acts,
        None if read_only::is_read_only(view) || programs::is_inert(name, args) => Acts::default(),
        None => Acts::unknown(programs::why_unknown(name)),
    };
    if own {
        // `./cp` is some program of that name.
        acts.unknown = Some("it is a program of its own, not one of the system");
    }
    if view.open {
        acts.list.iter_mut().for_each(open_up);
    }
    acts
}

/// What a command line that runs another one does by itself.
pub(crate) fn of_wrapper(view: &View, places: &Places) -> Acts {
    let Some(name) = program(view) else { return Acts::default() };
    let args = &view.argv[1..];
    match name {
        "find" => acts_files::of(name, args, places).unwrap_or_default(),
        _ => programs::takes_rights(name, args).map(privileged).unwrap_or_default(),
    }
}

fn privileged(what: &'static str) -> Acts {
    Acts { list: vec![Act::Privilege(what)], ..Acts::default() }
}

/// Further operands are added when it runs.
fn open_up(act: &mut Act) {
    match act {
        Act::Path { path, .. } => *path = anywhere(),
        Act::Net(target, _) => *target = Target::Unknown,
        Act::Privilege(_) | Act::Env(_) => {}
    }
}

/// A path of which nothing is known.
pub(super) fn anywhere() -> PathValue {
    PathValue::Partly(vec![UNKNOWN])
}

/// Something below the current folder, or below `folder`.
pub(super) fn below(folder: Option<&Word>, places: &Places) -> PathValue {
    let base = match folder {
        Some(word) => places.resolve(word),
        None => places.resolve_text("."),
    };
    match base {
        PathValue::Known(paths) if paths.len() == 1 => {
            let text: Vec<Token> = tokens(&format!("{}/", paths[0].trim_end_matches('/')));
            PathValue::Partly(text.into_iter().chain([UNKNOWN]).collect())
        }
        _ => anywhere(),
    }
}

/// The words of a command line by their part in it.
#[derive(Debug, Default)]
pub(super) struct Line<'a> {
    pub(super) operands: Vec<&'a Word>,
    /// Options by letter or long name, with their value.
    pub(super) options: Vec<(String, Option<Value<'a>>)>,
    /// An option that is not known, or a word that may turn out to be one.
    pub(super) odd: bool,
}

/// The value of an option: the next word, or the rest of its own.
#[derive(Debug, Clone)]
pub(super) enum Value<'a> {
    Word(&'a Word),
    Text(String),
}

impl Value<'_> {
    pub(super) fn path(&self, places: &Places) -> PathValue {
        match self {
            Value::Word(word) => places.resolve(word),
            Value::Text(text) => places.resolve_text(text),
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Value::Word(word) => word.text.as_deref(),
            Value::Text(text) => Some(text),
        }
    }
}

/// The options of a program: letters without and with a value, long names without and with one.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) flags: &'static str,
    pub(super) valued: &'static str,
    pub(super) long: &'static [&'static str],
    pub(super) long_valued: &'static [&'static str],
}

impl Options {
    /// Takes a command line apart as getopt_long(3) would.
    pub(super) fn line<'a>(&self, args: &[&'a Word]) -> Line<'a> {
        let mut line = Line::default();
        let (mut at, mut only_operands) = (0, false);
        while let Some(word) = args.get(at) {
            at += 1;
            let option = word.text.as_deref().filter(|text| !only_operands && text.len() > 1 && text.starts_with('-'));
            match option {
                None => {
                    line.odd |= !only_operands && !read_only::is_operand(word);
                    line.operands.push(word);
                }
                Some("--") => only_operands = true,
                Some(text) => at += self.option(text, args.get(at).copied(), &mut line),
            }
        }
        line
    }

    /// Notes one word of options; 1 if it takes the next word.
    fn option<'a>(&self, text: &str, next: Option<&'a Word>, line: &mut Line<'a>) -> usize {
        if let Some(long) = text.strip_prefix("--") {
            return self.long_option(long, next, line);
        }
        for (index, letter) in text.char_indices().skip(1) {
            if self.valued.contains(letter) {
                let rest = &text[index + letter.len_utf8()..];
                let value = if rest.is_empty() { next.map(Value::Word) } else { Some(Value::Text(rest.to_string())) };
                line.odd |= value.is_none();
                line.options.push((letter.to_string(), value));
                return usize::from(rest.is_empty());
            }
            line.odd |= !self.flags.contains(letter);
            line.options.push((letter.to_string(), None));
        }
        0
    }

    fn long_option<'a>(&self, long: &str, next: Option<&'a Word>, line: &mut Line<'a>) -> usize {
        let (given, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(Value::Text(value.to_string()))),
            None => (long, None),
        };
        let fits = |names: &[&'static str]| {
            let exact = names.iter().find(|name| **name == given);
            exact.or_else(|| names.iter().find(|name| name.starts_with(given))).copied()
        };
        let plain = fits(self.long);
        match (fits(self.long_valued), plain) {
            (Some(name), None) => {
                let takes = value.is_none();
                let value = value.or(next.map(Value::Word));
                line.options.push((name.to_string(), value));
                usize::from(takes)
            }
            (None, Some(name)) => {
                line.options.push((name.to_string(), value));
                0
            }
            (valued, plain) => {
                // Cut short so that it could be either, or not known at all.
                line.odd = true;
                line.options.extend(valued.or(plain).map(|name| (name.to_string(), value)));
                0
            }
        }
    }
}

impl<'a> Line<'a> {
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(&name.as_str()))
    }

    pub(super) fn value(&self, names: &[&str]) -> Option<&Value<'a>> {
        self.options.iter().find(|(name, _)| names.contains(&name.as_str())).and_then(|(_, value)| value.as_ref())
    }
}

impl Act {
    /// The act as traces show it.
    pub(crate) fn shown(&self) -> Vec<Effect> {
        match self {
            Act::Path { access, path, .. } => {
                let kind = match access {
                    Access::Read => "read",
                    Access::Write => "write",
                    Access::Delete => "delete",
                };
                path.shown()
                    .into_iter()
                    .map(|path| Effect { kind: kind.to_string(), path, ..Effect::default() })
                    .collect()
            }
            Act::Net(_, host) => {
                vec![Effect { kind: "net".to_string(), host: host.clone(), ..Effect::default() }]
            }
            Act::Privilege(what) => {
                vec![Effect { kind: "privilege".to_string(), what: what.to_string(), ..Effect::default() }]
            }
            Act::Env(name) => {
                vec![Effect { kind: "env".to_string(), name: name.clone(), ..Effect::default() }]
            }
        }
    }
}
