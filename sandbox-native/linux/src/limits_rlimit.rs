//! Limits where no control group can be had: per process, or per user, and inherited by all that the command starts.

use crate::enforced::Failure;
use crate::sys::{self, CloneOutcome};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit};

/// Bounds the private memory of each process (RLIMIT_DATA counts private writable mappings since Linux 4.7). Shared memory is
/// not in it, and nothing adds the processes up.
pub fn bound_memory(bytes: u64) -> Result<(), Failure> {
    bound(Resource::Data, bytes).map_err(Failure::at("RLIMIT_DATA"))
}

/// Bounds the size of a file that is written. One that stands in the way already is not made smaller.
pub fn bound_files(bytes: u64) -> Result<(), Failure> {
    bound(Resource::Fsize, bytes).map_err(Failure::at("file size: RLIMIT_FSIZE"))
}

/// Bounds the tasks of this user in this user namespace, `count` in all. Tried at once: it does not hold for root, not even
/// for root without capabilities (copy_process spares INIT_USER).
pub fn bound_processes(count: u64) -> Result<(), Failure> {
    let failed = Failure::at("processes: RLIMIT_NPROC");
    let before = rustix::process::getrlimit(Resource::Nproc);
    let none = Rlimit { current: Some(0), maximum: before.maximum };
    if let Err(errno) = rustix::process::setrlimit(Resource::Nproc, none) {
        return Err(failed(errno));
    }
    match sys::clone_process(0) {
        Err(Errno::AGAIN) => bound(Resource::Nproc, count).map_err(failed),
        Err(errno) => Err(failed(errno)),
        Ok(CloneOutcome::Child) => std::process::exit(0),
        Ok(CloneOutcome::Parent { pid, .. }) => {
            crate::reap::wait_for(pid);
            rustix::process::setrlimit(Resource::Nproc, before).map_err(failed)?;
            Err(Failure::plain("processes: RLIMIT_NPROC does not hold for root"))
        }
    }
}

/// For good: soft and hard, never above what holds already.
fn bound(resource: Resource, wanted: u64) -> Result<(), Errno> {
    let hard = rustix::process::getrlimit(resource).maximum.map_or(wanted, |outer| outer.min(wanted));
    rustix::process::setrlimit(resource, Rlimit { current: Some(hard), maximum: Some(hard) })
}

/// How many tasks (processes and their threads) the user of this process has, as RLIMIT_NPROC counts them: since Linux 5.14
/// in each user namespace for itself, before that in all.
pub fn tasks_of_this_user() -> u64 {
    let uid = rustix::process::getuid().as_raw();
    let here = std::fs::read_link("/proc/self/ns/user").ok().filter(|space| counts_apart(space.as_os_str()));
    // One that can't be looked at is in a namespace above, or is dumpable to nobody: the limit is then a little narrower.
    let counts = |pid: u32| match &here {
        None => true,
        Some(here) => std::fs::read_link(format!("/proc/{pid}/ns/user")).is_ok_and(|space| space == *here),
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let statuses = pids.filter_map(|pid| Some((pid, std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?)));
    statuses
        .filter(|(pid, status)| field(status, "Uid") == Some(uid.into()) && counts(*pid))
        .filter_map(|(_, status)| field(&status, "Threads"))
        .sum()
}

/// Whether a user namespace has a count of its own: not the first one, and not on old kernels.
fn counts_apart(space: &std::ffi::OsStr) -> bool {
    // PROC_USER_INIT_INO.
    const FIRST: &str = "user:[4026531837]";
    let release = rustix::system::uname();
    let mut numbers =
        release.release().to_str().unwrap_or_default().split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    space != FIRST && (numbers.next(), numbers.next()) >= (Some(5), Some(14))
}

/// The first number of a line of proc_pid_status(5).
fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_status_are_found_by_their_whole_name() {
        let status = "Name:\tUid: 7\nUidx:\t9\nUid:\t1000\t1001\t1000\t1000\nThreads:\t12\n";
        assert_eq!(
            (field(status, "Uid"), field(status, "Threads"), field(status, "Gid")),
            (Some(1000), Some(12), None)
        );
    }

    #[test]
    fn this_user_has_at_least_this_task() {
        assert!(tasks_of_this_user() >= 1);
    }
}
