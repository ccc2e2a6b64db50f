//! Names of what a run makes on the host, which tell whether its maker still lives: a run that was killed with all its
//! processes removes nothing, and the next one does.

use std::fmt;
use std::path::{Path, PathBuf};

/// Who made it: the process, by its number and time of start in its pid namespace.
#[derive(Debug, PartialEq, Eq)]
pub struct Maker {
    pid_namespace: u64,
    pid: u32,
    started: u64,
}

impl fmt::Display for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cordon-{}-{}-{}", self.pid_namespace, self.pid, self.started)
    }
}

impl Maker {
    pub fn this_process() -> Maker {
        let pid = std::process::id();
        Maker { pid_namespace: own_pid_namespace(), pid, started: start_time(pid).unwrap_or_default() }
    }

    /// The maker in a name; what stands after it makes the name unique.
    fn parse(text: &str) -> Option<Maker> {
        let mut parts = text.strip_prefix("cordon-")?.splitn(4, '-');
        let name = Maker {
            pid_namespace: parts.next()?.parse().ok()?,
            pid: parts.next()?.parse().ok()?,
            started: parts.next()?.parse().ok()?,
        };
        Some(name)
    }

    /// Whether its maker is gone. Another pid namespace's can't be told and counts as alive.
    fn is_stale(&self) -> bool {
        self.pid_namespace == own_pid_namespace() && start_time(self.pid) != Some(self.started)
    }

    /// What is named so in this folder by makers that are gone.
    pub fn stale_in(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let stale = entries.filter(|entry| entry.file_name().to_str().is_some_and(Maker::is_gone));
        stale.map(|entry| entry.path()).collect()
    }

    fn is_gone(name: &str) -> bool {
        Maker::parse(name).is_some_and(|maker| maker.is_stale())
    }
}

fn own_pid_namespace() -> u64 {
    let link = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let digits = link.to_string_lossy().chars().filter(char::is_ascii_digit).collect::<String>();
    digits.parse().unwrap_or_default()
}

/// In clock ticks since the machine started; none if there is no such process.
fn start_time(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold any; of the fields after it, the first of which is the state, the 20th.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back_and_no_other_is_taken_for_one() {
        let name = Maker::this_process();
        assert_eq!(Maker::parse(&name.to_string()).as_ref(), Some(&name));
        assert_eq!(Maker::parse(&format!("{name}-0aff")).as_ref(), Some(&name));
        for other in ["cordon", "cordon-1-2", "cordon-a-2-3", "user.slice", "cordon-1-2-3.scope", "cordon-0a1b2c"] {
            assert_eq!(Maker::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_name_is_stale_when_its_process_is_gone_or_another_and_never_in_another_namespace() {
        let mine = Maker::this_process();
        assert!(!mine.is_stale());
        let reused = Maker { started: mine.started + 1, ..Maker::this_process() };
        assert!(reused.is_stale());
        assert!(!Maker { pid_namespace: mine.pid_namespace + 1, ..reused }.is_stale());
        // Above every pid_max of Linux (PID_MAX_LIMIT).
        assert!(Maker { pid: 1 << 23, ..mine }.is_stale());
    }
}
