//! Exit codes and signal names: how the end of the command becomes the end of the launcher.

use plan::Report;

/// Nothing ran: a `must` could not be carried out, or the plan was not usable.
pub const REFUSED: i32 = 120;
/// Nothing ran: the launcher was called wrongly.
pub const USAGE: i32 = 121;
/// The command was found and can't be executed.
pub const NOT_EXECUTABLE: i32 = 126;
/// The command was not found.
pub const NOT_FOUND: i32 = 127;

/// Signals by name, as they are forwarded and reported. Numbers are those of x86-64 and arm64 Linux.
const SIGNALS: [(&str, i32); 31] = [
    ("SIGHUP", libc::SIGHUP),
    ("SIGINT", libc::SIGINT),
    ("SIGQUIT", libc::SIGQUIT),
    ("SIGILL", libc::SIGILL),
    ("SIGTRAP", libc::SIGTRAP),
    ("SIGABRT", libc::SIGABRT),
    ("SIGBUS", libc::SIGBUS),
    ("SIGFPE", libc::SIGFPE),
    ("SIGKILL", libc::SIGKILL),
    ("SIGUSR1", libc::SIGUSR1),
    ("SIGSEGV", libc::SIGSEGV),
    ("SIGUSR2", libc::SIGUSR2),
    ("SIGPIPE", libc::SIGPIPE),
    ("SIGALRM", libc::SIGALRM),
    ("SIGTERM", libc::SIGTERM),
    ("SIGSTKFLT", libc::SIGSTKFLT),
    ("SIGCHLD", libc::SIGCHLD),
    ("SIGCONT", libc::SIGCONT),
    ("SIGSTOP", libc::SIGSTOP),
    ("SIGTSTP", libc::SIGTSTP),
    ("SIGTTIN", libc::SIGTTIN),
    ("SIGTTOU", libc::SIGTTOU),
    ("SIGURG", libc::SIGURG),
    ("SIGXCPU", libc::SIGXCPU),
    ("SIGXFSZ", libc::SIGXFSZ),
    ("SIGVTALRM", libc::SIGVTALRM),
    ("SIGPROF", libc::SIGPROF),
    ("SIGWINCH", libc::SIGWINCH),
    ("SIGIO", libc::SIGIO),
    ("SIGPWR", libc::SIGPWR),
    ("SIGSYS", libc::SIGSYS),
];

/// The number of a signal's name, for example "SIGTERM".
pub fn signal_number(name: &str) -> Option<i32> {
    SIGNALS.iter().find(|(known, _)| *known == name).map(|(_, number)| *number)
}

/// The name of a signal; real-time signals are "SIG" and their number.
pub fn signal_name(number: i32) -> String {
    match SIGNALS.iter().find(|(_, known)| *known == number) {
        Some((name, _)) => (*name).into(),
        None => format!("SIG{number}"),
    }
}

/// How a command ended: a raw status as waitpid(2) gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitStatus(pub i32);

impl WaitStatus {
    /// The status of a process that SIGKILL ended, for where nobody lived to tell.
    pub const KILLED: WaitStatus = WaitStatus(libc::SIGKILL);

    /// The exit code of a shell: the command's own, or 128 and the signal's number.
    pub fn shell_code(self) -> i32 {
        if libc::WIFSIGNALED(self.0) { 128 + libc::WTERMSIG(self.0) } else { libc::WEXITSTATUS(self.0) }
    }

    /// Whether this signal ended the command, or a part of it as a shell tells that.
    pub fn is_of_signal(self, signal: i32) -> bool {
        self.shell_code() == 128 + signal
    }

    /// The `exit` line. `limit` is the one that was met, if any.
    pub fn report(self, limit: Option<&str>) -> Report {
        let limit = limit.map(str::to_owned);
        if libc::WIFSIGNALED(self.0) {
            return Report::Exit { code: None, signal: Some(signal_name(libc::WTERMSIG(self.0))), limit };
        }
        Report::Exit { code: Some(libc::WEXITSTATUS(self.0)), signal: None, limit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_stays_what_it_is() {
        assert_eq!(WaitStatus(42 << 8).shell_code(), 42);
        assert_eq!(WaitStatus(42 << 8).report(None), Report::Exit { code: Some(42), signal: None, limit: None });
    }

    #[test]
    fn a_signal_is_128_and_its_number_and_keeps_its_name() {
        assert_eq!(WaitStatus(libc::SIGTERM).shell_code(), 143);
        let report = Report::Exit { code: None, signal: Some("SIGTERM".into()), limit: None };
        assert_eq!(WaitStatus(libc::SIGTERM).report(None), report);
        assert!(WaitStatus(libc::SIGTERM).is_of_signal(libc::SIGTERM));
        assert!(WaitStatus(143 << 8).is_of_signal(libc::SIGTERM));
        assert!(!WaitStatus(libc::SIGTERM << 8).is_of_signal(libc::SIGTERM));
    }

    #[test]
    fn names_and_numbers_agree() {
        assert_eq!(signal_number("SIGTERM"), Some(libc::SIGTERM));
        assert_eq!(signal_number("TERM"), None);
        assert_eq!(signal_name(libc::SIGUSR1), "SIGUSR1");
        assert_eq!(signal_name(40), "SIG40");
    }
}
