//! Runs scripts by the real shells where no program can be found but stubs that record their words.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// For each command that was not found: the case, the number of its words, the words, each ended by NUL. Bash writes line by
/// line, so a line end in a word would let two commands of a pipe write into each other.
const RECORDER: &str = r#"command_not_found_handle() { printf '%s\0' "$CASE" "$#" "${@//$'\n'/$'\x01\x02'}" >> "$CORDON_SEEN"; case $1 in f*) return 1;; esac; return 0; }
shopt -s extglob; set +o posix"#;
/// The same as a program, for a shell that has no such hook.
const STUB: &str = "#!/bin/dash\nprintf '%s\\0' \"$CASE\" \"$(($# + 1))\" \"${0##*/}\" \"$@\" >> \"$CORDON_SEEN\"\ncase ${0##*/} in f*) exit 1;; esac\nexit 0\n";
const STUBS: [&str; 12] = ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "f1", "f2"];

pub fn is_stub(name: &str) -> bool {
    STUBS.contains(&name)
}

/// Printed to standard error before each case, so that what follows is known to be its own.
const MARK: &str = "cordon-case:";

/// Printed after each case.
const END: &str = "cordon-end:";

/// What a shell made of a case.
#[derive(Default)]
pub struct Seen {
    /// The commands, in the order in which they started.
    pub commands: Vec<Vec<String>>,
    /// The shell said that this is no command.
    pub refused: bool,
    /// What it printed.
    pub said: String,
    /// It came to its end: a mutation may wait or run for ever.
    pub ended: bool,
}

pub fn bash() -> Option<&'static str> {
    ["/bin/bash", "/usr/bin/bash"].into_iter().find(|path| Path::new(path).exists())
}

pub fn dash() -> Option<&'static str> {
    ["/bin/dash", "/usr/bin/dash"].into_iter().find(|path| Path::new(path).exists())
}

/// A folder of its own, with the stubs in it.
pub struct Scratch {
    folder: PathBuf,
    /// Cases that ran before: what they left running may still write, and must not be taken for another one's.
    ran: Cell<usize>,
}

impl Scratch {
    pub fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("cordon-{name}-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("bin")).expect("a scratch folder can be made");
        for stub in STUBS {
            let path = folder.join("bin").join(stub);
            std::fs::write(&path, STUB).expect("a stub can be written");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))
                .expect("a stub can be made executable");
        }
        Scratch { folder, ran: Cell::new(0) }
    }

    /// Runs each source in a subshell of one shell; starting a shell costs more than running a case.
    pub fn run(&self, shell: &str, sources: &[String]) -> Vec<Seen> {
        let before = self.ran.replace(self.ran.get() + sources.len());
        let work = self.folder.join("work");
        let _ = std::fs::remove_dir_all(&work);
        std::fs::create_dir_all(&work).expect("a folder can be made");
        std::fs::write(work.join("in"), "").expect("a file can be written");
        let (seen, said) = (self.folder.join("seen"), self.folder.join("said"));
        let _ = std::fs::remove_file(&seen);
        let is_bash = shell.ends_with("bash");
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
        let head = if is_bash { RECORDER } else { "" };
        let mut script = format!("{head}\nexec 9>&2\n");
        for (case, source) in sources.iter().enumerate() {
            let number = before + case;
            script.push_str(&format!("echo {MARK}{case} >&9\n( ulimit -t 1; CASE={number}; export CASE; v=ab a=x r=v; eval {}\nwait ) 2>&9\necho {END}{case} >&9\n", quoted(source)));
        }
        let file = self.folder.join("script");
        std::fs::write(&file, script).expect("the script can be written");
        let status = Command::new("/usr/bin/timeout")
            .args(["-k", "1", "10", shell])
            .args(is_bash.then_some("--norc").into_iter().chain(is_bash.then_some("--noprofile")))
            .arg(&file)
            .env_clear()
            .env("PATH", if is_bash { PathBuf::from("/nonexistent") } else { self.folder.join("bin") })
            .envs([("LC_ALL", "C.UTF-8"), ("FUNCNEST", "30"), ("CORDON_SEEN", &seen.to_string_lossy())])
            .current_dir(&work)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(&said).expect("a file can be made"))
            .status();
        status.expect("the shell starts");
        let mut made: Vec<Seen> = sources.iter().map(|_| Seen::default()).collect();
        for (case, argv) in records(&std::fs::read(&seen).unwrap_or_default()) {
            if let Some(one) = case.checked_sub(before).and_then(|case| made.get_mut(case)) {
                one.commands.push(argv);
            }
        }
        for (case, text) in messages(&String::from_utf8_lossy(&std::fs::read(&said).unwrap_or_default())) {
            made[case].refused = is_refusal(&text);
            made[case].ended = text.contains(&format!("{END}{case}\n")) && !text.contains("Killed");
            made[case].said = text;
        }
        made
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn records(bytes: &[u8]) -> Vec<(usize, Vec<String>)> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let mut fields = text.split_terminator('\0').map(str::to_string);
    let mut found = Vec::new();
    while let (Some(case), Some(count)) = (fields.next(), fields.next()) {
        // A script may have written over the variable that names the case.
        let (Ok(case), Ok(count)) = (case.parse(), count.parse::<usize>()) else { break };
        found.push((case, fields.by_ref().take(count).map(|word| word.replace("\u{1}\u{2}", "\n")).collect()));
    }
    found
}

fn messages(text: &str) -> BTreeMap<usize, String> {
    let mut parts = text.split(MARK);
    parts.next();
    parts
        .filter_map(|part| part.split_once('\n').and_then(|(case, rest)| Some((case.parse().ok()?, rest.to_string()))))
        .collect()
}

/// The shell could not read the text. Arithmetic that is wrong, and what is wrong in backticks, it only finds when it runs.
fn is_refusal(text: &str) -> bool {
    text.lines().any(|line| {
        let grammar = [
            "syntax error near",
            "syntax error: unexpected",
            "unexpected EOF while",
            "syntax error: unterminated",
            "conditional",
            "syntax error: end of file",
            "unexpected argument",
            "bad for loop variable",
            "Syntax error",
        ]
        .iter()
        .any(|sign| line.contains(sign));
        grammar && !line.contains("command substitution:") && !line.contains("arithmetic")
    })
}
