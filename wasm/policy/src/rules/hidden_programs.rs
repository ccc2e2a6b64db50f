//! Arguments by which a builtin or a program runs something that does not look like a command line. What that is stays
//! unknown, so a rule on it can't be checked.

use super::unknown_words::beginning;
use super::{argument_programs, git_programs, variable_names};
use crate::shell::ast::Word;

/// Programs that run a command line which begins somewhere among their arguments.
pub(super) const LOOSE: [&str; 47] = [
    "ash",
    "bundle",
    "bunx",
    "bwrap",
    "capsh",
    "catchsegv",
    "chpst",
    "chrt",
    "dbus-run-session",
    "direnv",
    "dtach",
    "entr",
    "fakeroot",
    "faketime",
    "firejail",
    "linux32",
    "linux64",
    "ltrace",
    "mise",
    "npx",
    "nsenter",
    "numactl",
    "parallel",
    "pipenv",
    "pkexec",
    "pnpx",
    "poetry",
    "prlimit",
    "proxychains",
    "proxychains4",
    "rlwrap",
    "runuser",
    "script",
    "setarch",
    "setpriv",
    "setuidgid",
    "start-stop-daemon",
    "strace",
    "su",
    "systemd-run",
    "taskset",
    "torsocks",
    "unbuffer",
    "unshare",
    "uv",
    "uvx",
    "xvfb-run",
];

/// Programs, and the beginnings of words after which they run what the word names.
const NAMING: [(&str, &[&str]); 14] = [
    ("bind", &["-x"]),
    ("compgen", &["-C", "-F", "-W"]),
    ("complete", &["-C", "-F"]),
    ("enable", &["-f"]),
    ("fc", &["-"]),
    ("fd", &["--exec=", "--exec-batch="]),
    ("fdfind", &["--exec=", "--exec-batch="]),
    ("hash", &["-p"]),
    ("mapfile", &["-C"]),
    // nopt takes abbreviations.
    ("npm", &["--scr", "--node-o", "--git=", "--editor", "--viewer", "--shell"]),
    ("pnpm", &["--scr", "--node-o", "--shell-e"]),
    ("readarray", &["-C"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("sort", &["--comp"]),
];

/// Shells and script hosts with a grammar of their own: whatever they are given could be anything.
const FOREIGN: [&str; 17] = [
    "cmd",
    "command.com",
    "csh",
    "cscript",
    "elvish",
    "fish",
    "mshta",
    "msiexec",
    "nu",
    "osascript",
    "powershell",
    "powershell_ise",
    "pwsh",
    "rundll32",
    "tcsh",
    "wscript",
    "xonsh",
];

/// Windows finds its programs in any case of the letters, from its Linux subsystem too.
fn is_foreign(name: &str) -> bool {
    let plain = match name.len().checked_sub(4).and_then(|at| name.split_at_checked(at)) {
        Some((plain, ending)) if ending.eq_ignore_ascii_case(".exe") => plain,
        _ => name,
    };
    FOREIGN.iter().any(|known| known.eq_ignore_ascii_case(plain))
}

/// Whether some argument makes this program run another one.
pub(super) fn names_another(name: &str) -> bool {
    NAMING.iter().any(|(known, _)| *known == name)
}

/// `-xrm` and `-Hx`, unless the letter belongs to the value of another.
fn is_glued(text: &str) -> bool {
    let letters = text.strip_prefix('-').filter(|letters| letters.len() > 1 && !letters.starts_with('-'));
    let own = letters.and_then(|letters| letters.split(['e', 'd', 't', 'E', 'S', 'c', 'j', 'o']).next());
    own.is_some_and(|letters| letters.contains(['x', 'X']))
}

/// Whether the program is one of these, with such an argument.
pub(super) fn runs_another(name: &str, args: &[&Word]) -> bool {
    let text = |word: &Word| beginning(word);
    match name {
        // A file of its own could be anything too, and is no text of this command.
        "." | "source" => args.first().is_some_and(|word| word.text.is_none() || text(word).starts_with("/dev/")),
        "git" => git_programs::runs_another(args),
        _ if is_foreign(name) => true,
        "awk" | "gawk" | "mawk" | "nawk" => args.iter().any(|word| {
            let text = text(word);
            // A program in a file, or a library.
            let file = ["-f", "-E", "-i", "-l", "--file", "--exec", "--include", "--load"];
            file.iter().any(|option| text.starts_with(option))
                || text.contains("system")
                || text.replace("||", "").contains('|')
                || text.contains("getline")
        }),
        _ if argument_programs::runs_another(name, args) || variable_names::may_run_code(name, args) => true,
        "fd" | "fdfind" if args.iter().any(|word| is_glued(&text(word))) => true,
        _ => NAMING.iter().any(|(known, starts)| {
            *known == name && args.iter().any(|word| starts.iter().any(|start| text(word).starts_with(start)))
        }),
    }
}
