//! Keeps book of what became of each step, and stops at the first `must` that is not whole.

use plan::{Enforced, Level, LinuxPlan, OpReport, PlanOp, Property, Report, State};
use rustix::io::Errno;

/// What a step achieved when it did not fail outright.
#[derive(Debug)]
pub struct Outcome {
    pub state: State,
    pub why: Option<String>,
    /// Of the first fault, where it has one.
    pub errno: Option<Errno>,
}

/// Why a step achieved nothing.
#[derive(Debug)]
pub struct Failure {
    pub why: String,
    pub errno: Option<Errno>,
}

/// What each step gives back.
pub type Step = Result<Outcome, Failure>;

impl Outcome {
    /// All of it, nothing to say.
    pub fn whole() -> Outcome {
        Outcome { state: State::Enforced, why: None, errno: None }
    }

    /// All of it when `faults` is empty, else a part of it.
    pub fn from_faults(faults: &[Failure]) -> Outcome {
        let Some(first) = faults.first() else { return Outcome::whole() };
        let words: Vec<&str> = faults.iter().map(|fault| fault.why.as_str()).collect();
        Outcome { state: State::Partial, why: Some(words.join("; ")), errno: first.errno }
    }
}

impl Failure {
    /// A failure that no errno explains.
    pub fn plain(why: impl Into<String>) -> Failure {
        Failure { why: why.into(), errno: None }
    }

    /// For `map_err`: the call that failed and the errno it gave.
    pub fn at(what: impl Into<String>) -> impl FnOnce(Errno) -> Failure {
        let what = what.into();
        move |errno| Failure { why: format!("{what}: {}", errno_name(errno)), errno: Some(errno) }
    }
}

/// The state of a plan that is being carried out.
pub struct Ledger<'a> {
    plan: &'a LinuxPlan,
    reports: Vec<OpReport>,
}

impl<'a> Ledger<'a> {
    /// An empty book for this plan.
    pub fn new(plan: &'a LinuxPlan) -> Ledger<'a> {
        Ledger { plan, reports: Vec::new() }
    }

    /// Records the next step. An error is the finished `refused` line: a `must` that is not whole.
    pub fn record(&mut self, op: &PlanOp, step: Step) -> Result<(), Box<Report>> {
        let (level, gives) = op.graded();
        let (state, why, errno) = match step {
            Ok(outcome) => (outcome.state, outcome.why, outcome.errno),
            Err(failure) => (State::Missing, Some(failure.why), failure.errno),
        };
        self.reports.push(OpReport { op: op.name(), level, state, why: why.clone() });
        if level == Level::Best || state == State::Enforced {
            return Ok(());
        }
        Err(Box::new(Report::Refused {
            property: gives.first().copied(),
            op: op_word(op),
            why: why.unwrap_or_else(|| "It was not carried out".into()),
            errno: errno.map(errno_name),
            ops: self.reports.clone(),
        }))
    }

    /// A `refused` line for something that is no step: the command itself, the plan, the machinery.
    pub fn refuse(&self, op: &str, failure: Failure) -> Report {
        Report::Refused {
            property: None,
            op: op.into(),
            why: failure.why,
            errno: failure.errno.map(errno_name),
            ops: self.reports.clone(),
        }
    }

    /// The `enforced` line, or `refused` when a property that the policy demands is not there in full.
    pub fn finish(&self, landlock_abi: u32, tmpdir: Option<String>) -> Result<Report, Box<Report>> {
        let properties = plan::properties(self.plan, &self.reports);
        let lacks = |property: &Property| properties.get(property) != Some(&State::Enforced);
        let demanded =
            self.plan.asked.iter().filter(|(_, level)| **level == Level::Must).map(|(property, _)| *property);
        if let Some(property) = demanded.into_iter().find(lacks) {
            return Err(Box::new(Report::Refused {
                property: Some(property),
                op: "plan".into(),
                why: "The policy demands this property and no step gave it in full".into(),
                errno: None,
                ops: self.reports.clone(),
            }));
        }
        let tier = self.plan.tier;
        let ops = self.reports.clone();
        Ok(Report::Enforced { enforced: Enforced { tier, landlock_abi, properties, ops }, tmpdir })
    }
}

fn op_word(op: &PlanOp) -> String {
    serde_json::to_value(op.name()).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

/// The errno's symbol, such as "EPERM", for the errnos that set-up and confined calls end in; else its number.
pub fn errno_name(errno: Errno) -> String {
    let name = match errno {
        Errno::PERM => "EPERM",
        Errno::NOENT => "ENOENT",
        Errno::IO => "EIO",
        Errno::TOOBIG => "E2BIG",
        Errno::NOEXEC => "ENOEXEC",
        Errno::BADF => "EBADF",
        Errno::AGAIN => "EAGAIN",
        Errno::NOMEM => "ENOMEM",
        Errno::ACCESS => "EACCES",
        Errno::BUSY => "EBUSY",
        Errno::EXIST => "EEXIST",
        Errno::XDEV => "EXDEV",
        Errno::NODEV => "ENODEV",
        Errno::NOTDIR => "ENOTDIR",
        Errno::ISDIR => "EISDIR",
        Errno::INVAL => "EINVAL",
        Errno::NFILE => "ENFILE",
        Errno::MFILE => "EMFILE",
        Errno::TXTBSY => "ETXTBSY",
        Errno::NOSPC => "ENOSPC",
        Errno::ROFS => "EROFS",
        Errno::NAMETOOLONG => "ENAMETOOLONG",
        Errno::NOSYS => "ENOSYS",
        Errno::LOOP => "ELOOP",
        Errno::USERS => "EUSERS",
        Errno::OPNOTSUPP => "EOPNOTSUPP",
        Errno::OVERFLOW => "EOVERFLOW",
        other => return format!("errno {}", other.raw_os_error()),
    };
    name.into()
}
