//! What is known of a program by its name alone.

use crate::shell::ast::Word;

/// Programs that run nothing else and change no file but those that are their work: with them no rule can be evaded.
const INERT: [&str; 69] = [
    "bc",
    "bg",
    "break",
    "cd",
    "chdir",
    "cmake-format",
    "continue",
    "cowsay",
    "csplit",
    "declare",
    "dirs",
    "disown",
    "dos2unix",
    "eqn",
    "exit",
    "export",
    "false",
    "fg",
    "fmt",
    "gettext",
    "history",
    "hostid",
    "htpasswd",
    "iconv",
    "jobs",
    "kill",
    "killall",
    "last",
    "let",
    "link",
    "local",
    "lsblk",
    "lsof",
    "lspci",
    "lsusb",
    "netstat",
    "nm",
    "objdump",
    "pgrep",
    "pidof",
    "pinky",
    "pkill",
    "popd",
    "pr",
    "ptx",
    "pushd",
    "pstree",
    "readonly",
    "return",
    "set",
    "shasum",
    "shift",
    "shuf",
    "size",
    "split",
    "ss",
    "strings",
    "strip",
    "stty",
    "sync",
    "test",
    "timedatectl",
    "times",
    "tput",
    "typeset",
    "ulimit",
    "umask",
    "unset",
    "vmstat",
];

/// Builtins and programs that are inert with some words only.
const INERT_WITHOUT: [(&str, &[&str]); 9] = [
    ("bind", &["-x"]),
    ("complete", &["-C", "-F"]),
    ("compgen", &["-C", "-F", "-W"]),
    ("hash", &["-p"]),
    ("mapfile", &["-C"]),
    ("read", &[]),
    ("readarray", &["-C"]),
    ("shopt", &[]),
    ("split", &["--filter"]),
];

/// Programs that give rights of another user, or take them.
const RIGHTS: [&str; 14] = [
    "capsh", "doas", "gosu", "insmod", "mount", "newgrp", "pkexec", "runuser", "setcap", "setpriv", "su", "su-exec",
    "sudo", "umount",
];

/// Interpreters: what they do stands in their arguments, their input or a file.
const INTERPRETERS: [&str; 43] = [
    "ash",
    "awk",
    "bash",
    "bun",
    "cmd",
    "cmd.exe",
    "dash",
    "deno",
    "elixir",
    "erl",
    "expect",
    "fish",
    "gawk",
    "gdb",
    "groovy",
    "guile",
    "irb",
    "java",
    "julia",
    "jshell",
    "ksh",
    "lua",
    "luajit",
    "m4",
    "mawk",
    "nawk",
    "node",
    "nodejs",
    "ocaml",
    "osascript",
    "perl",
    "php",
    "powershell",
    "powershell.exe",
    "pwsh",
    "python",
    "python2",
    "python3",
    "Rscript",
    "ruby",
    "sh",
    "tclsh",
    "zsh",
];

/// Programs that run what files of the project say.
const RUNNERS: [&str; 45] = [
    "ant",
    "bazel",
    "bundle",
    "bunx",
    "cargo",
    "cmake",
    "composer",
    "corepack",
    "docker",
    "docker-compose",
    "dotnet",
    "eslint",
    "go",
    "gradle",
    "gradlew",
    "jest",
    "just",
    "make",
    "meson",
    "mix",
    "mocha",
    "mvn",
    "ninja",
    "nox",
    "npm",
    "npx",
    "pip",
    "pip3",
    "pipenv",
    "pnpm",
    "pnpx",
    "podman",
    "poetry",
    "pre-commit",
    "pytest",
    "rake",
    "sbt",
    "swift",
    "task",
    "tox",
    "tsx",
    "uv",
    "uvx",
    "vitest",
    "yarn",
];

/// Whether it runs nothing else and changes no file that a rule could be about.
pub(super) fn is_inert(name: &str, args: &[&Word]) -> bool {
    if let Some((_, unsafe_words)) = INERT_WITHOUT.iter().find(|(known, _)| *known == name) {
        let starts = |text: &str| unsafe_words.iter().any(|word| text.starts_with(word));
        return args.iter().all(|word| word.text.as_deref().is_some_and(|text| !starts(text)));
    }
    INERT.contains(&name)
}

/// Which rights it takes or gives.
pub(super) fn takes_rights(name: &str, _args: &[&Word]) -> Option<&'static str> {
    RIGHTS.contains(&name).then_some("it runs with the rights of another user")
}

/// Why what a program does is not known.
pub(super) fn why_unknown(name: &str) -> &'static str {
    if name == "ld.so" || name.starts_with("ld-linux") || name.starts_with("ld-musl") {
        "it is the loader, which runs the program that it is given"
    } else if is_interpreter(name) {
        "it is an interpreter, and what its program does is not known"
    } else if RUNNERS.contains(&name) {
        "it runs what files of the project say"
    } else {
        "what it does and runs is not known"
    }
}

/// Whether it is an interpreter, with a version behind its name or without one.
fn is_interpreter(name: &str) -> bool {
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    INTERPRETERS.contains(&name) || INTERPRETERS.contains(&plain)
}

/// Text of PowerShell or of cmd, which is not parsed.
pub(super) fn is_foreign_shell(name: &str) -> bool {
    let plain = name.strip_suffix(".exe").unwrap_or(name);
    ["powershell", "pwsh", "cmd"].iter().any(|shell| plain.eq_ignore_ascii_case(shell))
}
