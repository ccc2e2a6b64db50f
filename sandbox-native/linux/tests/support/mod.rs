//! Runs the built launcher through a socketpair, as the host does.
#![allow(dead_code, reason = "each test file uses a part of this")]

use rustix::io::FdFlags;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

pub const LAUNCHER: &str = env!("CARGO_BIN_EXE_cordon-launcher");

/// Uid and gid of an ordinary user; the suite runs a second time as this one when it runs as root.
pub const NOBODY: u32 = 65_534;

/// A folder with a workspace in it, and everything that the golden plans name.
pub struct Place {
    pub top: PathBuf,
    pub work: PathBuf,
}

/// Held while a program is copied and while a child is forked: a child has all descriptors until it executes, and a program that
/// is open for writing anywhere can't be executed (ETXTBSY, execve(2)).
static FORKS: Mutex<()> = Mutex::new(());

static COUNT: AtomicU32 = AtomicU32::new(0);

impl Place {
    pub fn new() -> Place {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let top = std::env::temp_dir().join(format!("launcher-{}-{count}", std::process::id()));
        let work = top.join("app");
        std::fs::create_dir_all(work.join(".git/hooks")).expect("make the workspace");
        std::fs::create_dir_all(work.join("secrets")).expect("make the workspace");
        for (name, text) in
            [(".git/config", "[core]\n"), (".env", "KEY=hush\n"), ("secrets/key", "hush\n"), ("file", "text\n")]
        {
            std::fs::write(work.join(name), text).expect("fill the workspace");
        }
        std::fs::write(top.join("outside"), "outside\n").expect("fill the folder");
        let probe = std::env::current_exe().expect("this program has a path");
        let _no_fork = FORKS.lock();
        std::fs::copy(LAUNCHER, top.join("launcher")).expect("copy the launcher");
        std::fs::copy(probe, top.join("attempts")).expect("copy the attempts");
        Place { top, work }
    }

    /// Gives everything to an ordinary user.
    pub fn give_to(&self, uid: u32) {
        let mut folders = vec![self.top.clone()];
        while let Some(folder) = folders.pop() {
            chown(&folder, Some(uid), Some(uid)).expect("chown");
            for entry in std::fs::read_dir(&folder).expect("list").flatten() {
                let path = entry.path();
                if path.is_dir() { folders.push(path) } else { chown(&path, Some(uid), Some(uid)).expect("chown") }
            }
        }
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.top.join(name)).unwrap_or_default()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::set_permissions(&self.top, std::fs::Permissions::from_mode(0o700));
        let _ = std::fs::remove_dir_all(&self.top);
    }
}

/// A golden plan for this place and command. The folder with the attempts can be read and run.
pub fn golden(name: &str, place: &Place, argv: &[&str]) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/plans").join(name);
    let text = std::fs::read_to_string(&file).expect("golden plan");
    let work = place.work.to_str().expect("test folders are UTF-8");
    let mut plan: Value = serde_json::from_str(&text.replace("/home/dev/app", work)).expect("JSON");
    plan["command"]["argv"] = json!(argv);
    let attempts = place.top.join("attempts");
    if let Some(mounts) = op(&mut plan, "view").map(|view| &mut view["mounts"]) {
        mounts.as_array_mut().expect("a list").push(json!({ "path": attempts, "access": "ro" }));
    }
    if name.starts_with("landlock")
        && let Some(rules) = op(&mut plan, "landlock").map(|step| &mut step["rules"])
    {
        rules.as_array_mut().expect("a list").push(json!({ "path": attempts, "access": "read_exec" }));
    }
    plan
}

/// A step of a plan by name.
pub fn op<'a>(plan: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    plan["ops"].as_array_mut().expect("a list").iter_mut().find(|step| step["op"] == name)
}

/// In which surroundings the launcher runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum As {
    /// The user of the tests.
    Caller,
    /// An ordinary user.
    Nobody,
    /// Root of an outer user namespace in which no further one can be made.
    NoNamespaces,
    /// The user of the tests, with stdin and stderr closed.
    ClosedStreams,
}

/// A launcher that runs.
pub struct Running {
    pub child: Child,
    pub channel: UnixStream,
}

/// What came out of it.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub lines: Vec<Value>,
}

impl Ended {
    pub fn line(&self, kind: &str) -> &Value {
        let found = self.lines.iter().find(|line| line["t"] == kind);
        found.unwrap_or_else(|| panic!("no {kind} line in {self:#?}"))
    }

    pub fn denials(&self) -> Vec<&Value> {
        self.lines.iter().filter(|line| line["t"] == "denial").collect()
    }
}

/// Starts a program. The lock is held until the child has executed and has no descriptor of this process any more.
fn spawn(command: &mut Command) -> Child {
    let _no_copy = FORKS.lock();
    command.spawn().expect("start the launcher")
}

/// The launcher in these surroundings, without its arguments.
fn launcher(place: &Place, surroundings: As) -> Command {
    let launcher = place.top.join("launcher");
    let mut command = match surroundings {
        As::NoNamespaces => {
            let mut outer = Command::new("unshare");
            let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set -all \"$@\"";
            outer.args(["-Ur", "sh", "-c", script, "sh"]).arg(launcher);
            outer
        }
        As::ClosedStreams => {
            let mut outer = Command::new("sh");
            outer.args(["-c", "exec \"$@\" <&- 2>&-", "sh"]).arg(launcher);
            outer
        }
        _ => Command::new(launcher),
    };
    if surroundings == As::Nobody {
        place.give_to(NOBODY);
        command.uid(NOBODY).gid(NOBODY);
    }
    command.current_dir(&place.top);
    command
}

/// The facts of the machine as the launcher sees them in these surroundings.
pub fn facts(surroundings: As) -> Value {
    let place = Place::new();
    let mut command = launcher(&place, surroundings);
    command.arg("probe").stdin(Stdio::null()).stdout(Stdio::piped());
    let output = spawn(&mut command).wait_with_output().expect("wait");
    serde_json::from_slice(&output.stdout).expect("facts")
}

pub fn start(place: &Place, plan: &Value, surroundings: As) -> Running {
    let (mine, theirs) = UnixStream::pair().expect("socketpair");
    rustix::io::fcntl_setfd(&theirs, FdFlags::empty()).expect("let the channel be inherited");
    let channel = format!("--channel={}", theirs.as_raw_fd());
    let mut command = launcher(place, surroundings);
    command.args(["run", &channel]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = spawn(&mut command);
    drop(theirs);
    let mut running = Running { child, channel: mine };
    running.tell(&json!({ "t": "plan", "plan": plan }));
    running
}

impl Running {
    pub fn tell(&mut self, line: &Value) {
        // A launcher that is gone shows in what it left.
        let _ = self.channel.write_all(format!("{line}\n").as_bytes());
    }

    /// Waits for the first line on the command's stdout, so that it is known to run.
    pub fn first_output(&mut self) -> String {
        let mut reader = BufReader::new(self.child.stdout.as_mut().expect("piped"));
        let mut line = String::new();
        reader.read_line(&mut line).expect("read stdout");
        line
    }

    pub fn finish(self) -> Ended {
        let reader = BufReader::new(self.channel);
        // Ends when the launcher closes its side.
        let lines: Vec<Value> =
            reader.lines().map_while(Result::ok).map(|line| serde_json::from_str(&line).expect("JSON line")).collect();
        let Output { status, stdout, stderr } = self.child.wait_with_output().expect("wait");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ended { code: status.code(), stdout: text(stdout), stderr: text(stderr), lines }
    }
}

pub fn run_plan(place: &Place, plan: &Value, surroundings: As) -> Ended {
    start(place, plan, surroundings).finish()
}

/// The combinations that this machine can try: plan file and surroundings.
pub fn tiers() -> Vec<(&'static str, As)> {
    let mut tiers = vec![("landlock_default.json", As::Caller)];
    let works = |surroundings| {
        let place = Place::new();
        let plan = golden("namespaces_default.json", &place, &["true"]);
        run_plan(&place, &plan, surroundings).code == Some(0)
    };
    if works(As::Caller) {
        tiers.push(("namespaces_default.json", As::Caller));
        tiers.push(("landlock_default.json", As::NoNamespaces));
    } else {
        eprintln!("skipped: this machine gives no namespaces");
    }
    if rustix::process::geteuid().is_root() {
        tiers.push(("landlock_default.json", As::Nobody));
        if works(As::Nobody) {
            tiers.push(("namespaces_default.json", As::Nobody));
        }
    }
    tiers
}

/// Runs one shell script in every tier, each time in a fresh place, and hands the result over.
pub fn in_every_tier(script: &str, check: impl Fn(&str, &Place, &Ended)) {
    for (name, surroundings) in tiers() {
        let place = Place::new();
        let plan = golden(name, &place, &["/bin/sh", "-c", script]);
        let ended = run_plan(&place, &plan, surroundings);
        assert_eq!(ended.lines.first().map(|line| &line["t"]), Some(&json!("enforced")), "{name} {ended:#?}");
        check(&format!("{name} as {surroundings:?}: {ended:#?}"), &place, &ended);
    }
}

/// Whether a process with this word in its command line is alive. Zombies have no command line.
pub fn is_alive(marker: &str) -> bool {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(|first: char| first.is_ascii_digit())).any(
        |entry| {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(marker)
        },
    )
}

/// Waits up to two seconds for a condition.
pub fn eventually(condition: impl Fn() -> bool) -> bool {
    for _ in 0..200 {
        if condition() {
            return true;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    false
}
