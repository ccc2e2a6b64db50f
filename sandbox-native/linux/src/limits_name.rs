//! Names of control groups, which tell whether whoever made one still lives: a run that was killed with all its processes
//! removes nothing, and the next one does.

use std::fmt;
use std::path::Path;

/// Who made a group: the process, by its number and time of start in its pid namespace.
#[derive(Debug, PartialEq, Eq)]
pub struct Name {
    pid_namespace: u64,
    pid: u32,
    started: u64,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cordon-{}-{}-{}", self.pid_namespace, self.pid, self.started)
    }
}

impl Name {
    pub fn of_this_process() -> Name {
        let pid = std::process::id();
        Name { pid_namespace: own_pid_namespace(), pid, started: start_time(pid).unwrap_or_default() }
    }

    fn parse(text: &str) -> Option<Name> {
        let mut parts = text.strip_prefix("cordon-")?.split('-');
        let name = Name {
            pid_namespace: parts.next()?.parse().ok()?,
            pid: parts.next()?.parse().ok()?,
            started: parts.next()?.parse().ok()?,
        };
        parts.next().is_none().then_some(name)
    }

    /// Whether its maker is gone. Another pid namespace's can't be told and counts as alive.
    fn is_stale(&self) -> bool {
        self.pid_namespace == own_pid_namespace() && start_time(self.pid) != Some(self.started)
    }

    /// Removes the groups in this folder whose makers are gone. One that has processes can't be removed.
    pub fn remove_stale(folder: &Path) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_str().and_then(Name::parse).is_some_and(|name| name.is_stale()) {
                // Another run may be at it too.
                let _ = std::fs::remove_dir(entry.path());
            }
        }
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
        let name = Name::of_this_process();
        assert_eq!(Name::parse(&name.to_string()).as_ref(), Some(&name));
        for other in ["cordon", "cordon-1-2", "cordon-1-2-3-4", "cordon-a-2-3", "user.slice", "cordon-1-2-3.scope"] {
            assert_eq!(Name::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_name_is_stale_when_its_process_is_gone_or_another_and_never_in_another_namespace() {
        let mine = Name::of_this_process();
        assert!(!mine.is_stale());
        let reused = Name { started: mine.started + 1, ..Name::of_this_process() };
        assert!(reused.is_stale());
        assert!(!Name { pid_namespace: mine.pid_namespace + 1, ..reused }.is_stale());
        // Above every pid_max of Linux (PID_MAX_LIMIT).
        assert!(Name { pid: 1 << 23, ..mine }.is_stale());
    }
}
