//! Commands that run other commands.

use super::command::{base_name, system_name};
use super::hidden_programs::{LOOSE, runs_another};
use super::read_only::is_operand;
use super::unknown_words;
use crate::shell::ast::Word;

/// A command line, or the command line inside a wrapper.
#[derive(Debug, Clone)]
pub(crate) struct View<'a> {
    pub(crate) argv: Vec<&'a Word>,
    /// Each wrapper around it only passes it on, so a rule that allows this allows the whole.
    pub(crate) transparent: bool,
    /// Further words are added when it runs.
    pub(crate) open: bool,
    /// They come from its input, so they could be options too.
    pub(crate) fed: bool,
    /// No wrapper around it gives it other rights or another environment, so the read-only table still holds.
    pub(crate) tame: bool,
}

/// What a wrapper runs.
pub(crate) enum Inner<'a> {
    /// A command line.
    Argv(View<'a>),
    /// The text of a script.
    Script(String),
    /// A command line that begins at one of several places: for refusing only.
    Somewhere(Vec<View<'a>>),
    /// Something that cannot be known, with the reason.
    Opaque(&'static str),
}

/// Options that take the next word, by wrapper. `transparent` ones are left out of sight when an allow rule is looked up.
struct Wrapper {
    name: &'static str,
    transparent: bool,
    /// Options without a value: letters.
    flags: &'static str,
    /// Options with a value in the same or the next word: letters.
    valued: &'static str,
    /// Long options that take the next word.
    long: &'static [&'static str],
    /// Operands before the command.
    operands: usize,
    /// `NAME=value` words may stand before the command.
    assigns: bool,
}

const fn wrapper(name: &'static str, flags: &'static str, valued: &'static str, operands: usize) -> Wrapper {
    Wrapper { name, transparent: false, flags, valued, long: &[], operands, assigns: false }
}

const fn transparent(name: &'static str, flags: &'static str, valued: &'static str, operands: usize) -> Wrapper {
    Wrapper { transparent: true, ..wrapper(name, flags, valued, operands) }
}

static WRAPPERS: [Wrapper; 20] = [
    Wrapper { long: &["--unset", "--chdir"], assigns: true, ..wrapper("env", "i0v", "uCa", 0) },
    Wrapper { long: &["--kill-after", "--signal"], ..transparent("timeout", "vpf", "ks", 1) },
    Wrapper { long: &["--adjustment"], ..transparent("nice", "0123456789", "n", 0) },
    transparent("nohup", "", "", 0),
    Wrapper { long: &["--input", "--output", "--error"], ..transparent("stdbuf", "", "ioe", 0) },
    transparent("command", "p", "", 0),
    transparent("builtin", "", "", 0),
    wrapper("exec", "cl", "a", 0),
    transparent("time", "pvaq", "", 0),
    transparent("noglob", "", "", 0),
    wrapper("busybox", "", "", 0),
    wrapper("toybox", "", "", 0),
    Wrapper {
        assigns: true,
        long: &["--user", "--group", "--host", "--prompt", "--chdir", "--chroot"],
        ..wrapper("sudo", "EHnSbkAPNB", "ughpCrtTUDR", 0)
    },
    wrapper("doas", "nL", "uC", 0),
    wrapper("setsid", "cfw", "", 0),
    Wrapper { long: &["--class", "--classdata"], ..wrapper("ionice", "t", "cn", 0) },
    Wrapper { long: &["--wait", "--timeout", "--conflict-exit-code"], ..wrapper("flock", "nxseuoFv", "wE", 1) },
    Wrapper { long: &["--userspec", "--groups"], ..wrapper("chroot", "", "", 1) },
    Wrapper { long: &["--interval"], ..wrapper("watch", "dtbegcwxC", "nq", 0) },
    Wrapper {
        long: &["--max-args", "--max-procs", "--delimiter", "--replace", "--arg-file", "--max-lines", "--max-chars"],
        ..wrapper("xargs", "0rtpxo", "InLPsdaE", 0)
    },
];

/// Long options of the wrappers that take no value in the next word.
const LONG_FLAGS: [&str; 30] = [
    "background",
    "beep",
    "chgexit",
    "close",
    "color",
    "ctty",
    "differences",
    "errexit",
    "exclusive",
    "exit",
    "fork",
    "foreground",
    "help",
    "ignore-environment",
    "interactive",
    "login",
    "no-fork",
    "no-run-if-empty",
    "no-title",
    "non-interactive",
    "nonblock",
    "null",
    "open-tty",
    "preserve-env",
    "preserve-status",
    "set-home",
    "shared",
    "stdin",
    "verbose",
    "version",
];

const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "rbash"];

/// The name of the program a command line starts, without its folder.
pub(crate) fn program<'a>(view: &View<'a>) -> Option<&'a str> {
    view.argv.first().and_then(|word| word.text.as_deref()).map(base_name)
}

/// Whether the command line starts a shell of the system, or a builtin, that only runs the script it is given.
pub(crate) fn is_real_shell(view: &View) -> bool {
    let name = view.argv.first().and_then(|word| word.text.as_deref()).map(system_name);
    name.is_some_and(|name| SHELLS.contains(&name) || matches!(name, "eval" | "trap"))
}

/// Whether it is a shell that takes its commands from its input.
pub(crate) fn reads_commands(view: &View) -> bool {
    let operand = |word: &&Word| !word.text.as_deref().is_some_and(|text| text.starts_with('-'));
    let from_input = |word: &&Word| matches!(word.text.as_deref(), Some("-s" | "/dev/stdin" | "-"));
    let args = &view.argv[1..];
    program(view).is_some_and(|name| SHELLS.contains(&name))
        && (args.iter().any(from_input) || !args.iter().any(operand))
}

/// What the command line runs besides itself.
pub(crate) fn inner<'a>(view: &View<'a>) -> Vec<Inner<'a>> {
    let Some(name) = program(view) else { return Vec::new() };
    if let Some(known) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
        return unwrap(known, view);
    }
    if runs_another(name, &view.argv[1..]) {
        return vec![Inner::Opaque("one of its arguments names something else to run")];
    }
    if name.starts_with('-') {
        // `time -f %e command`: bash runs "-f", other shells run time(1).
        let mut anywhere = loose(view);
        anywhere.push(Inner::Opaque("its name is an option"));
        return anywhere;
    }
    match name {
        "eval" => vec![joined(&view.argv[1..])],
        "trap" => trap(&view.argv[1..]),
        "alias" => view.argv[1..].iter().filter_map(|word| alias(word)).collect(),
        "find" | "fd" | "fdfind" => find(view),
        _ if SHELLS.contains(&name) => {
            let made = shell(&view.argv[1..]);
            if made.is_empty() { from_input(view) } else { made }
        }
        _ if LOOSE.contains(&name) => loose(view),
        _ => Vec::new(),
    }
}

fn unwrap<'a>(wrapper: &Wrapper, view: &View<'a>) -> Vec<Inner<'a>> {
    let argv = &view.argv;
    if wrapper.name == "command" && argv.get(1).is_some_and(|word| matches!(word.text.as_deref(), Some("-v" | "-V"))) {
        return Vec::new();
    }
    let mut at = 1;
    let mut operands = wrapper.operands;
    while let Some(word) = argv.get(at) {
        let Some(text) = word.text.as_deref() else {
            // An unknown operand of the wrapper is just that; an unknown option could be anything.
            if operands > 0 && is_operand(word) {
                (operands, at) = (operands - 1, at + 1);
                continue;
            }
            break;
        };
        if text == "--" {
            at += 1 + operands;
            break;
        }
        if text.len() > 1 && text.starts_with('-') {
            match option_width(wrapper, text) {
                Some(width) if argv[at..].iter().take(width).all(|word| unknown_words::is_one(word)) => at += width,
                _ => {
                    let mut anywhere = loose(view);
                    anywhere.push(Inner::Opaque("it has an option that is not known"));
                    return anywhere;
                }
            }
        } else if (wrapper.assigns && assigned(word)) || (text == "-" && wrapper.name == "env") {
            at += 1;
        } else if operands > 0 {
            (operands, at) = (operands - 1, at + 1);
        } else {
            break;
        }
    }
    let Some(rest) = argv.get(at..).filter(|rest| !rest.is_empty()) else { return from_input(view) };
    if wrapper.name == "watch" && !argv[1..at].iter().any(|word| word.text.as_deref() == Some("-x")) {
        return vec![joined(rest)];
    }
    let fed = view.fed || wrapper.name == "xargs";
    let bare_xargs = wrapper.name == "xargs" && at == 1;
    // `./timeout` is some program of that name: nothing is allowed through it.
    let real = argv[0].text.as_deref().map(system_name) == Some(wrapper.name);
    let transparent = real && view.transparent && (wrapper.transparent || bare_xargs);
    let tame = wrapper.transparent || wrapper.name == "xargs" || wrapper.name == "env" && at == 1;
    let open = view.open || fed;
    vec![Inner::Argv(View { argv: rest.to_vec(), transparent, open, fed, tame: real && view.tame && tame })]
}

/// What a command line without a command runs: where xargs adds the words, anything.
fn from_input<'a>(view: &View) -> Vec<Inner<'a>> {
    if view.fed { vec![Inner::Opaque("what it runs comes from its input")] } else { Vec::new() }
}

/// How many words an option takes; none if it is not known.
fn option_width(wrapper: &Wrapper, text: &str) -> Option<usize> {
    if let Some(long) = text.strip_prefix("--") {
        if let Some((name, _)) = long.split_once('=') {
            let known = LONG_FLAGS.contains(&name) || wrapper.long.iter().any(|option| option[2..] == *name);
            return known.then_some(1);
        }
        return if wrapper.long.contains(&text) { Some(2) } else { LONG_FLAGS.contains(&long).then_some(1) };
    }
    let letters = &text[1..];
    for (index, letter) in letters.char_indices() {
        if wrapper.valued.contains(letter) {
            return Some(if index + letter.len_utf8() == letters.len() { 2 } else { 1 });
        }
        if !wrapper.flags.contains(letter) {
            return None;
        }
    }
    Some(1)
}

/// `NAME=value`, whether the value is known or not.
fn assigned(word: &Word) -> bool {
    let name = unknown_words::lead(word).split_once('=').map(|(name, _)| name);
    name.is_some_and(super::pattern::is_identifier) && unknown_words::is_one(word)
}

/// Words that the shell joins and parses again.
fn joined<'a>(words: &[&Word]) -> Inner<'a> {
    let mut script = String::new();
    for word in words {
        let Some(text) = &word.text else { return Inner::Opaque("it evaluates text that is not known before it runs") };
        script.push_str(text);
        script.push(' ');
    }
    Inner::Script(script)
}

fn trap<'a>(words: &[&'a Word]) -> Vec<Inner<'a>> {
    let words = if words.first().is_some_and(|word| word.text.as_deref() == Some("--")) { &words[1..] } else { words };
    match words.first().map(|word| word.text.as_deref()) {
        Some(Some("-p" | "-l" | "-" | "")) | None => Vec::new(),
        _ => vec![joined(&words[..1])],
    }
}

fn alias<'a>(word: &'a Word) -> Option<Inner<'a>> {
    match word.text.as_deref() {
        Some(text) => text.split_once('=').map(|(_, value)| Inner::Script(value.to_string())),
        None => Some(Inner::Opaque("it defines an alias that is not known before it runs")),
    }
}

/// `sh -c text`, with the letter c anywhere in a group of options.
fn shell<'a>(words: &[&'a Word]) -> Vec<Inner<'a>> {
    let mut takes_text = false;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let Some(text) = word.text.as_deref() else {
            return vec![Inner::Opaque("its script is not known before it runs")];
        };
        if takes_text && !(text.len() > 1 && text.starts_with(['-', '+'])) {
            return vec![Inner::Script(text.to_string())];
        }
        if !(text.len() > 1 && text.starts_with(['-', '+'])) {
            return Vec::new();
        }
        let letters = if text.starts_with("--") { "" } else { &text[1..] };
        takes_text |= letters.contains('c');
        let valued = letters.ends_with(['o', 'O']) || matches!(text, "--rcfile" | "--init-file");
        at += if valued { 2 } else { 1 };
    }
    Vec::new()
}

/// `find -exec command ;`, `fd -x command`.
fn find<'a>(view: &View<'a>) -> Vec<Inner<'a>> {
    let mut made = Vec::new();
    let mut at = 1;
    while let Some(word) = view.argv.get(at) {
        at += 1;
        let runs = matches!(
            word.text.as_deref(),
            Some("-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch")
        );
        if !runs {
            continue;
        }
        let ends = |word: &&&Word| matches!(word.text.as_deref(), Some(";" | "+"));
        let length = view.argv[at..].iter().take_while(|word| !ends(word)).count();
        let argv = view.argv[at..at + length].to_vec();
        if !argv.is_empty() {
            made.push(Inner::Argv(View { argv, transparent: false, open: true, fed: view.fed, tame: false }));
        }
        at += length;
    }
    made
}

/// A word of which nothing is known.
static ANY: Word =
    Word { span: [0, 0], text: None, dynamic: Vec::new(), subs: Vec::new(), pieces: Vec::new(), plain: false };

/// Each later word may begin the command; an argument after `-c` may be a script.
fn loose<'a>(view: &View<'a>) -> Vec<Inner<'a>> {
    let mut views = Vec::new();
    let mut made = Vec::new();
    for (index, word) in view.argv.iter().enumerate().skip(1).take(32) {
        let text = word.text.as_deref();
        if text.is_none_or(|text| !text.starts_with('-')) {
            views.push(View { argv: view.argv[index..].to_vec(), transparent: false, tame: false, ..*view });
        }
        let glued = text.and_then(|text| text.strip_prefix("-S").or_else(|| text.strip_prefix("--split-string=")));
        made.extend(glued.filter(|script| !script.is_empty()).map(|script| Inner::Script(script.to_string())));
        if text.is_some_and(|text| text == "-c" || text == "--command" || text == "-S") {
            made.extend(view.argv.get(index + 1).map(|script| joined(&[script])));
        }
    }
    if view.fed || view.argv.iter().any(|word| unknown_words::splits(word)) {
        views.push(View { argv: vec![&ANY], transparent: false, tame: false, open: true, fed: view.fed });
    }
    made.push(Inner::Somewhere(views));
    made
}

/// The command line of git without the options that stand before the subcommand.
pub(crate) fn without_git_options<'a>(view: &View<'a>) -> Option<View<'a>> {
    if program(view) != Some("git") {
        return None;
    }
    let rest = super::acts_git::line(&view.argv[1..]).rest;
    if rest.is_empty() || rest.len() + 1 == view.argv.len() {
        return None;
    }
    let argv = view.argv.iter().take(1).chain(rest).copied().collect();
    Some(View { argv, transparent: false, tame: false, ..*view })
}
