//! Programs that wait for a person at a terminal, which a tool call does not have (D8).

use super::walk::Place;
use super::wrappers::{View, program};

/// A program, the arguments with which it does not wait, and what to write instead.
struct Waits {
    names: &'static [&'static str],
    unless: &'static [&'static str],
    instead: &'static str,
    /// It waits only if it has no operand; options alone don't count.
    without_operand: bool,
    /// Fed by a pipe, or with its output in one, it does not wait.
    pipe: Pipe,
}

#[derive(PartialEq, Eq)]
enum Pipe {
    /// Fed through its input.
    In,
    /// Its output goes to a pipe.
    Out,
    /// It needs a terminal all the same.
    Never,
}

static WAITS: [Waits; 14] = [
    Waits {
        names: &["vi", "vim", "nvim", "view", "vimdiff"],
        unless: &["-es", "-Es", "--headless", "--version", "--help"],
        instead: "use edit_file, or \"sed -i\"",
        without_operand: false,
        pipe: Pipe::Never,
    },
    Waits {
        names: &["nano", "pico", "emacs", "ed", "joe", "micro", "hx", "mcedit"],
        unless: &["--batch", "-batch", "--version", "--help"],
        instead: "use edit_file",
        without_operand: false,
        pipe: Pipe::In,
    },
    Waits {
        names: &["less", "more", "most", "pg"],
        unless: &["--version", "--help"],
        instead: "use \"cat\", \"head\" or read_file",
        without_operand: false,
        pipe: Pipe::Out,
    },
    Waits {
        names: &["man"],
        unless: &["-P", "-k", "-f", "-w", "--version"],
        instead: "write \"man … | cat\"",
        without_operand: false,
        pipe: Pipe::Out,
    },
    Waits {
        names: &["top"],
        unless: &["-b", "-bn1", "-b1", "-l", "-v"],
        instead: "write \"top -b -n 1\" or \"ps aux\"",
        without_operand: false,
        pipe: Pipe::Never,
    },
    Waits {
        names: &["htop", "btop", "atop", "iotop", "nvtop", "glances"],
        unless: &["--version", "--help"],
        instead: "write \"ps aux\"",
        without_operand: false,
        pipe: Pipe::Never,
    },
    Waits {
        names: &["tmux", "screen", "mc", "ranger", "nnn", "lazygit", "tig", "nmtui", "visudo", "vipw"],
        unless: &[
            "-d",
            "-V",
            "-dmS",
            "-ls",
            "ls",
            "new-session",
            "send-keys",
            "capture-pane",
            "kill-session",
            "kill-server",
            "has-session",
            "list-sessions",
            "--version",
        ],
        instead: "start the program itself, in the background if it must last",
        without_operand: false,
        pipe: Pipe::Never,
    },
    Waits {
        names: &[
            "python", "python3", "python2", "ipython", "node", "nodejs", "ruby", "perl", "lua", "php", "bun", "deno",
            "julia", "R", "ghci", "irb", "pry", "scala",
        ],
        unless: &["--version", "-V", "-v", "--help", "-h", "-c", "-m", "-e", "-p", "-E", "-r", "--eval", "--print"],
        instead: "give it a file, or a script with \"-c\" or \"-e\"",
        without_operand: true,
        pipe: Pipe::In,
    },
    Waits {
        names: &["bash", "sh", "zsh", "dash", "fish", "ksh"],
        unless: &["-c", "-lc", "-ec", "-xc", "-ic", "-exc", "-euc", "--version"],
        instead: "write the command itself, or \"bash -c …\"",
        without_operand: true,
        pipe: Pipe::In,
    },
    Waits {
        names: &["gdb", "lldb"],
        unless: &["-batch", "--batch", "-b", "--version"],
        instead: "write \"gdb -batch -ex …\"",
        without_operand: false,
        pipe: Pipe::In,
    },
    Waits {
        names: &["mysql", "psql", "mongosh", "redis-cli"],
        unless: &[
            "-e",
            "-c",
            "-f",
            "-l",
            "--execute",
            "--command",
            "--file",
            "--eval",
            "--list",
            "--version",
            "--help",
            "ping",
        ],
        instead: "give the query with \"-c\", \"-e\" or through a pipe",
        without_operand: false,
        pipe: Pipe::In,
    },
    Waits {
        names: &["ftp", "sftp", "telnet"],
        unless: &["-b", "--version"],
        instead: "use \"curl\" or \"scp\"",
        without_operand: false,
        pipe: Pipe::In,
    },
    Waits {
        names: &["passwd", "su"],
        unless: &["-c", "--command", "-S", "--stdin"],
        instead: "ask the person to do it",
        without_operand: false,
        pipe: Pipe::In,
    },
    Waits {
        names: &["crontab"],
        unless: &["-l", "-r", "-"],
        instead: "write \"crontab FILE\"",
        without_operand: true,
        pipe: Pipe::In,
    },
];

/// A sentence if the command line would wait for a person.
pub(crate) fn refusal(view: &View, place: Place) -> Option<String> {
    let name = program(view)?;
    let args: Vec<&str> = view.argv[1..].iter().map(|word| word.text.as_deref().unwrap_or("…")).collect();
    let refuse =
        |instead: &str| Some(format!("\"{name}\" waits for a person at a terminal, and there is none; {instead}"));
    match name {
        "ssh" if !place.fed && ssh_waits(&args) => return refuse("give the remote command: \"ssh HOST COMMAND\""),
        "read" if !place.fed && !args.iter().any(|arg| arg.starts_with("-u")) => {
            return refuse("feed it: \"read NAME < FILE\", or set the variable");
        }
        "git" if git_edits(&args) && !view.open => {
            return refuse("give the message with \"-m\" or \"-F\", or \"--no-edit\"");
        }
        "git" if git_waits(&args) && !place.fed => return refuse("use the form without \"-i\" and \"-p\""),
        _ => {}
    }
    let known = WAITS.iter().find(|waits| waits.names.contains(&name))?;
    let piped = match known.pipe {
        Pipe::In => place.fed,
        Pipe::Out => place.drained,
        Pipe::Never => false,
    };
    let forced = known.without_operand && args.first() == Some(&"-i") && args.len() == 1;
    let spared = args.iter().any(|arg| {
        known.unless.contains(arg)
            || known.unless.iter().any(|option| option.starts_with("--") && arg.starts_with(&format!("{option}=")))
    });
    let has_operand = known.without_operand && args.iter().any(|arg| !arg.starts_with('-'));
    if view.open || (!forced && (piped || spared || has_operand)) {
        return None;
    }
    refuse(known.instead)
}

/// `ssh` with a host and nothing after it.
fn ssh_waits(args: &[&str]) -> bool {
    let (mut at, mut operands) = (0, 0);
    while let Some(arg) = args.get(at) {
        match arg.strip_prefix('-') {
            Some("N" | "V" | "G" | "f" | "fN" | "Nf" | "O" | "W") => return false,
            Some(option) if operands == 0 => {
                at += usize::from(option.len() == 1 && "BbcDEeFIiJLlmopQRSw".contains(option))
            }
            _ => operands += 1,
        }
        at += 1;
    }
    operands == 1
}

/// `git commit` without a message opens an editor.
fn git_edits(args: &[&str]) -> bool {
    let given = |arg: &&str| match arg.strip_prefix("--") {
        Some(long) => ["message", "file", "no-edit", "dry-run", "reuse-message", "fixup", "help"]
            .iter()
            .any(|name| long.starts_with(name)),
        None => arg.strip_prefix('-').is_some_and(|letters| letters.contains(['m', 'F', 'C'])) || *arg == "…",
    };
    args.first() == Some(&"commit") && !args.iter().skip(1).any(given)
}

fn git_waits(args: &[&str]) -> bool {
    let options = || args.iter().skip(1);
    match args.first() {
        Some(&"rebase") => options().any(|arg| matches!(*arg, "-i" | "--interactive")),
        Some(&"stash") if matches!(args.get(1), Some(&("show" | "list"))) => false,
        Some(&("add" | "checkout" | "reset" | "restore" | "stash" | "commit")) => {
            options().any(|arg| matches!(*arg, "-i" | "-p" | "--patch" | "--interactive"))
        }
        _ => false,
    }
}
