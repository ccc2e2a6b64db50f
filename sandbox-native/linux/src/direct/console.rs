//! Where reports go when no host listens: lines for people on stderr, and the closing row of the audit log. Mirror of what
//! `cli/commands/run.ts` does beside a launcher.

use super::explain::{Denial, guess_line};
use super::record::Record;
use super::rows::{End, OpenRow};
use super::visible_text::{visible_lines, visible_text};
use crate::exit_code;
use plan::{Enforced, Report};
use rustix::io::Errno;
use std::collections::HashSet;
use std::io::IsTerminal;

/// Lines for people in one run; a build that probes a thousand paths must not bury its own output.
const MOST_LINES: usize = 20;

/// The most denials that a row counts.
const MOST_DENIALS: usize = 100;

/// Tells people, and closes the row.
pub struct Console {
    record: Record,
    row: OpenRow,
    coloured: bool,
    enforced: Option<Enforced>,
    seen: HashSet<(String, String)>,
    /// Denials by what they name, whatever the rule.
    counted: HashSet<String>,
    lines: usize,
    trusted: Vec<(String, String)>,
    /// The row is left open.
    abandoned: bool,
    /// The exit code in place of the command's, when the row could not be closed.
    instead: Option<i32>,
}

impl Console {
    pub fn new(record: Record, row: OpenRow) -> Console {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Console {
            record,
            row,
            coloured: !plain && std::io::stderr().is_terminal(),
            enforced: None,
            seen: HashSet::new(),
            counted: HashSet::new(),
            lines: 0,
            trusted: Vec::new(),
            abandoned: false,
            instead: None,
        }
    }

    /// Takes one report.
    pub fn take(&mut self, report: Report) {
        match report {
            Report::Enforced { enforced, .. } => self.enforced = Some(enforced),
            Report::Denial(seen) => self.deny(&Denial::explain(&seen, &self.record.tell)),
            Report::Trusted(change) => {
                let entry = (change.path, change.reason);
                if !self.trusted.contains(&entry) {
                    self.trusted.push(entry);
                }
            }
            Report::Refused { property, op, why, errno, .. } => {
                let name = property.and_then(|property| serde_json::to_value(property).ok());
                let what = name.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or(op);
                let errno = errno.map_or(String::new(), |errno| format!(" ({errno})"));
                self.error(&format!(
                    "sandbox.unenforced: The sandbox could not be built, so nothing was run: {what}: {why}{errno}\n  hint: see `cordon doctor` for what this machine can enforce"
                ));
                for path in &self.record.forget {
                    // What is gone is forgotten.
                    let _ = std::fs::remove_file(path);
                }
                self.close(None);
            }
            Report::Exit { code, limit, .. } => self.finish(code, limit.is_some()),
        }
    }

    /// Leaves the row open: that is how the log shows a crash.
    pub fn abandon(&mut self) {
        self.abandoned = true;
    }

    /// The exit code of this process, when the command's own is `code`.
    pub fn exit_code(&self, code: i32) -> i32 {
        self.instead.unwrap_or(code)
    }

    fn deny(&mut self, denial: &Denial) {
        // Limits name neither path nor host.
        let what = denial.what.clone().unwrap_or_else(|| denial.reason.clone());
        let op = format!("{:?}", denial.op);
        if self.counted.len() < MOST_DENIALS {
            self.counted.insert(format!("{op} {what}"));
        }
        if !self.seen.insert((format!("{op} {what}"), denial.rule.clone())) {
            return;
        }
        self.lines += 1;
        if self.lines <= MOST_LINES {
            tell(&denial.line());
        }
    }

    fn finish(&mut self, code: Option<i32>, limited: bool) {
        let mut denials = self.counted.len();
        if denials == 0
            && code != Some(0)
            && let Some(guess) = &self.record.tell.guess
        {
            denials = 1;
            if !limited && !is_explained(code) {
                tell(&guess_line(guess));
            }
        }
        if self.lines > MOST_LINES {
            tell(&format!("cordon: {} more were blocked; --events FILE lists them all", self.lines - MOST_LINES));
        }
        self.tell_trusted();
        self.close(Some(denials));
    }

    fn tell_trusted(&self) {
        if self.trusted.is_empty() {
            return;
        }
        tell("cordon: changed files that tools outside the sandbox obey:");
        for (path, reason) in &self.trusted {
            tell(&format!("  {} ({})", visible_text(path), visible_text(reason)));
        }
    }

    fn close(&mut self, denials: Option<usize>) {
        if self.abandoned {
            return;
        }
        let enforced = denials.and(self.enforced.as_ref());
        let end = End { enforced, denials: denials.unwrap_or(0) };
        if let Err(why) = self.row.close(&self.record.audit, &end) {
            let log = &self.record.audit.log;
            self.error(&format!(
                "audit.unwritable: Cannot write the audit log \"{log}\": {why}\n  hint: the call has ended, but its closing row is not in the log; make room or set CORDON_STATE_DIR"
            ));
            self.instead = Some(exit_code::USAGE);
        }
    }

    fn error(&self, text: &str) {
        error(text, self.coloured);
    }
}

/// Tells a person what went wrong, as `cli/ui/messages.ts` does.
pub fn error(text: &str, coloured: bool) {
    let name = if coloured { "\u{1b}[31mcordon\u{1b}[0m" } else { "cordon" };
    tell(&format!("{name}: {}", visible_lines(text)));
}

/// A guess at the cause helps only where nothing else says why the command failed; a signal says it.
fn is_explained(code: Option<i32>) -> bool {
    const TIMED_OUT: i32 = 124;
    code.is_none_or(|code| {
        [0, TIMED_OUT, exit_code::NOT_EXECUTABLE, exit_code::NOT_FOUND].contains(&code) || code > 128
    })
}

/// One line on stderr. Nothing is left to tell if that is closed.
fn tell(line: &str) {
    let text = format!("{line}\n");
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        match rustix::io::write(std::io::stderr(), rest) {
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let stderr = std::io::stderr();
                let mut entry = [rustix::event::PollFd::new(&stderr, rustix::event::PollFlags::OUT)];
                if rustix::event::poll(&mut entry, None).is_err() {
                    return;
                }
            }
            Err(_) => return,
        }
    }
}
