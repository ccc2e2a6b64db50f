//! Bounds on what one command may use: a control group where one can be had, rlimits elsewhere. The supervisor, which is
//! outside, makes the group and removes it; the process that confines itself enters it before anything else.

use crate::enforced::{Failure, Outcome, Step, errno_name};
use crate::exit_code::WaitStatus;
use crate::limits_cgroup::{Controller, Group};
use crate::limits_rlimit;
use crate::limits_tree::Version;
use plan::{DeniedOp, LimitFacts, LimitHolder, LinuxPlan, ObservedDenial, PlanOp, Property};

/// What the plan bounds; absent is no bound.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    pub memory_bytes: Option<u64>,
    pub processes: Option<u64>,
    pub cpu_percent: Option<u64>,
    pub file_bytes: Option<u64>,
}

impl Wanted {
    fn of(op: &PlanOp) -> Option<Wanted> {
        let PlanOp::Limits { memory_bytes, processes, cpu_percent, file_bytes, .. } = op else { return None };
        Some(Wanted {
            memory_bytes: *memory_bytes,
            processes: *processes,
            cpu_percent: *cpu_percent,
            file_bytes: *file_bytes,
        })
    }

    /// What a control group would have to hold.
    pub fn of_group(&self, controller: Controller) -> Option<u64> {
        match controller {
            Controller::Memory => self.memory_bytes,
            Controller::Processes => self.processes,
            Controller::Cpu => self.cpu_percent,
        }
    }
}

/// The limits of one run, prepared outside.
pub struct Limits {
    wanted: Wanted,
    group: Group,
    /// How many tasks the user has; RLIMIT_NPROC counts them all.
    others: u64,
}

/// What became of one wanted limit.
enum Held {
    ByGroup,
    /// Less exactly than a group would, and why there is none.
    ByRlimit(String),
    NotAtAll(Failure),
}

impl Limits {
    /// Makes the groups, as far as they can be had, if the plan has limits.
    pub fn prepare(plan: &LinuxPlan) -> Option<Limits> {
        let wanted = plan.ops.iter().find_map(Wanted::of)?;
        let group = Group::make(&wanted);
        let counts = wanted.processes.is_some() && !group.has(Controller::Processes);
        Some(Limits { wanted, group, others: if counts { limits_rlimit::tasks_of_this_user() } else { 0 } })
    }

    /// Whether anything was made that must be removed.
    pub fn has_group(&self) -> bool {
        !self.group.is_empty()
    }

    /// Bounds this process and all that it will start.
    pub fn enter(&self, own_user_namespace: bool) -> Step {
        let entered = self.group.enter();
        let held = |controller: Controller, fallback: &dyn Fn(String) -> Held| {
            self.wanted.of_group(controller)?;
            Some(match entered.get(&controller) {
                Some(Ok(())) => Held::ByGroup,
                Some(Err(failure)) => fallback(failure.why.clone()),
                None => fallback(self.group.why_not(controller)),
            })
        };
        let mut all = Vec::new();
        if let Some(bytes) = self.wanted.memory_bytes {
            all.extend(held(Controller::Memory, &|why| by_rlimit(limits_rlimit::bound_memory(bytes), "memory", &why)));
        }
        if let Some(count) = self.wanted.processes {
            // This process is one of them, and the command may have all that were asked for.
            let others = if own_user_namespace { 1 } else { self.others };
            let bound = || limits_rlimit::bound_processes(count.saturating_add(others));
            all.extend(held(Controller::Processes, &|why| by_rlimit(bound(), "processes", &why)));
        }
        all.extend(held(Controller::Cpu, &|why| {
            Held::NotAtAll(Failure::plain(format!(
                "cpu: only a control group can hold a share, and there is none: {why}"
            )))
        }));
        if let Some(bytes) = self.wanted.file_bytes
            && let Err(failure) = limits_rlimit::bound_files(bytes)
        {
            all.push(Held::NotAtAll(failure));
        }
        graded(all)
    }

    /// The limits that were met, worst first. Ask when everything has ended.
    pub fn reached(&self, status: WaitStatus) -> Vec<Reached> {
        let mut all = Vec::new();
        if let (Some(bytes), Some(killed)) = (self.wanted.memory_bytes, self.group.memory_kills()) {
            all.push(Reached::Memory { bytes, killed });
        }
        if let (Some(count), Some(refused)) = (self.wanted.processes, self.group.refused_forks()) {
            all.push(Reached::Processes { count, refused });
        }
        if let Some(bytes) = self.wanted.file_bytes
            && status.is_of_signal(libc::SIGXFSZ)
        {
            all.push(Reached::FileSize { bytes });
        }
        all
    }
}

/// What can hold each limit here; tried with a group of its own in a child that ends at once.
pub fn facts(in_child: impl Fn(&dyn Fn() -> Vec<u8>) -> Vec<u8>) -> LimitFacts {
    // Wide enough for the child.
    let wanted = Wanted { memory_bytes: Some(1 << 30), processes: Some(64), cpu_percent: Some(100), file_bytes: None };
    let group = Group::make(&wanted);
    let holders = in_child(&|| {
        let entered = group.enter();
        let by_group = |controller| matches!(entered.get(&controller), Some(Ok(())));
        let others = limits_rlimit::tasks_of_this_user();
        let holder = |controller, by_rlimit: &dyn Fn() -> bool| {
            u8::from(by_group(controller)) + 2 * u8::from(!by_group(controller) && by_rlimit())
        };
        vec![
            holder(Controller::Memory, &|| limits_rlimit::bound_memory(1 << 30).is_ok()),
            holder(Controller::Processes, &|| limits_rlimit::bound_processes(others + 64).is_ok()),
            holder(Controller::Cpu, &|| false),
        ]
    });
    let holder = |controller, place: usize| match (holders.get(place), group.version(controller)) {
        (Some(1), Some(Version::One)) => LimitHolder::Cgroup1,
        (Some(1), Some(Version::Two)) => LimitHolder::Cgroup2,
        (Some(2), _) => LimitHolder::Rlimit,
        _ => LimitHolder::None,
    };
    let without = Controller::ALL.into_iter().find(|controller| !group.has(*controller));
    LimitFacts {
        memory: holder(Controller::Memory, 0),
        processes: holder(Controller::Processes, 1),
        cpu: holder(Controller::Cpu, 2),
        why: without.map(|controller| group.why_not(controller)),
    }
}

fn by_rlimit(bound: Result<(), Failure>, what: &str, why: &str) -> Held {
    match bound {
        Ok(()) => Held::ByRlimit(format!("{what}: by rlimit, since there is no control group: {why}")),
        Err(failure) => Held::NotAtAll(Failure { why: format!("{}; no control group: {why}", failure.why), ..failure }),
    }
}

/// A limit that an rlimit holds is held, and told: a demand for it must not keep a machine without groups from running.
fn graded(all: Vec<Held>) -> Step {
    let wanted = all.len();
    let mut told = Vec::new();
    let mut faults = Vec::new();
    for held in all {
        match held {
            Held::ByGroup => {}
            Held::ByRlimit(why) => told.push(why),
            Held::NotAtAll(failure) => faults.push(failure),
        }
    }
    if faults.is_empty() {
        let why = (!told.is_empty()).then(|| told.join("; "));
        return Ok(Outcome { why, ..Outcome::whole() });
    }
    if faults.len() == wanted
        && let Some(first) = faults.pop()
        && faults.is_empty()
    {
        return Err(first);
    }
    Ok(Outcome::from_faults(&faults))
}

/// A limit that a command met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    Memory { bytes: u64, killed: u64 },
    Processes { count: u64, refused: u64 },
    FileSize { bytes: u64 },
}

impl Reached {
    /// As it stands in the `exit` line.
    pub fn name(self) -> &'static str {
        match self {
            Reached::Memory { .. } => "memory",
            Reached::Processes { .. } => "processes",
            Reached::FileSize { .. } => "file size",
        }
    }

    /// The `denial` line. `pid` is the first process of the tree: which one it met, the kernel does not say.
    pub fn denial(self, pid: libc::pid_t) -> ObservedDenial {
        let (syscall, reason, flag) = match self {
            Reached::Memory { bytes, killed } => {
                let ended = if killed == 1 { "1 process".into() } else { format!("{killed} processes") };
                (
                    "page_fault",
                    format!("the memory limit of {} was reached; the kernel ended {ended}", size(bytes)),
                    "--memory",
                )
            }
            Reached::Processes { count, refused } => {
                let times = if refused == 1 { "once".into() } else { format!("{refused} times") };
                let reason = format!("the limit of {count} processes was reached; no new one could be started {times}");
                ("clone", reason, "--pids")
            }
            Reached::FileSize { bytes } => {
                ("write", format!("the file size limit of {} was reached", size(bytes)), "--file-size")
            }
        };
        ObservedDenial {
            op: DeniedOp::Limit,
            path: None,
            host: None,
            port: None,
            syscall: syscall.into(),
            pid,
            exe: None,
            errno: None,
            note: None,
            rule: Property::Limits,
            reason: Some(reason),
            grant: Some(flag.into()),
        }
    }
}

/// Bytes in the largest unit that keeps them whole, as the flags take them.
fn size(bytes: u64) -> String {
    let units = [(1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")];
    let whole = units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    whole.map_or_else(|| format!("{bytes} bytes"), |(unit, name)| format!("{} {name}", bytes / unit))
}

/// The word of an errno with what was tried.
pub fn io_failure(what: &str, error: &std::io::Error) -> Failure {
    let errno = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    let word = errno.map_or_else(|| error.to_string(), errno_name);
    Failure { why: format!("{what}: {word}"), errno }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_in_the_unit_that_was_asked_for() {
        assert_eq!(size(2 << 30), "2 GB");
        assert_eq!(size(1536 << 20), "1536 MB");
        assert_eq!(size(4096), "4 KB");
        assert_eq!(size(1000), "1000 bytes");
    }

    #[test]
    fn a_limit_that_an_rlimit_holds_is_whole_and_says_so_and_one_that_nothing_holds_is_not() {
        let told = graded(vec![Held::ByGroup, Held::ByRlimit("memory: by rlimit".into())]).expect("held");
        assert_eq!((told.state, told.why.as_deref()), (plan::State::Enforced, Some("memory: by rlimit")));
        let part = graded(vec![Held::ByGroup, Held::NotAtAll(Failure::plain("cpu"))]).expect("in part");
        assert_eq!((part.state, part.why.as_deref()), (plan::State::Partial, Some("cpu")));
        assert_eq!(graded(vec![Held::NotAtAll(Failure::plain("cpu"))]).expect_err("nothing held").why, "cpu");
    }
}
