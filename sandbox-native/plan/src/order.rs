//! The fixed order of steps, and the faults that make a plan unusable before anything is tried.

use crate::{LinuxPlan, NamespaceKind, Network, OpName, PlanOp, Tier, TmpPlace};
use std::fmt;

/// Why a plan is refused without trying it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanFault {
    /// Another version of the contract.
    Version(u32),
    /// A step stands before one that must come first, or twice.
    Order {
        /// The step that stands earlier in the plan.
        earlier: OpName,
        /// The step that follows it.
        later: OpName,
    },
    /// A step that this tier, or the rest of the plan, gives no ground to.
    Unsupported(OpName, &'static str),
    /// The command can't be run as written.
    Command(&'static str),
}

impl fmt::Display for PlanFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanFault::Version(found) => write!(f, "Plan version is {found}, wanted 1"),
            PlanFault::Order { earlier, later } => {
                write!(f, "Step {later:?} follows {earlier:?}, against the fixed order of steps")
            }
            PlanFault::Unsupported(op, why) => write!(f, "Step {op:?} can't be used: {why}"),
            PlanFault::Command(why) => write!(f, "Command can't be run: {why}"),
        }
    }
}

/// Checks version, order of steps, and that each step has what it stands on. Touches nothing.
pub fn check_order(plan: &LinuxPlan) -> Result<(), PlanFault> {
    if plan.version != 1 {
        return Err(PlanFault::Version(plan.version));
    }
    check_command(plan)?;
    for pair in plan.ops.windows(2) {
        if let [first, second] = pair
            && first.name() >= second.name()
        {
            return Err(PlanFault::Order { earlier: first.name(), later: second.name() });
        }
    }
    let kinds = plan.ops.iter().find_map(|op| match op {
        PlanOp::Namespaces { kinds, .. } => Some(kinds.as_slice()),
        _ => None,
    });
    plan.ops.iter().try_for_each(|op| check_ground(plan.tier, kinds, op))?;
    check_loopback(plan)?;
    check_broker(plan)
}

/// Without a net namespace the broker gives the loopback, and the filter must leave it the sockets.
fn check_loopback(plan: &LinuxPlan) -> Result<(), PlanFault> {
    let has = |name| plan.ops.iter().any(|op| op.name() == name);
    let filtered = plan.ops.iter().any(|op| matches!(op, PlanOp::Seccomp { network: Network::Loopback, .. }));
    let fault = |why| Err(PlanFault::Unsupported(OpName::Loopback, why));
    match (plan.tier == Tier::Landlock && has(OpName::Loopback), filtered) {
        (true, false) => fault("without a net namespace it needs seccomp with network \"loopback\""),
        (false, true) => fault("seccomp with network \"loopback\" needs this step, in the landlock tier"),
        (true, true) if !has(OpName::Broker) => fault("without a net namespace it needs a broker"),
        _ => Ok(()),
    }
}

/// A broker hears of nothing without a filter, and could exceed the policy without a wall behind it.
fn check_broker(plan: &LinuxPlan) -> Result<(), PlanFault> {
    let guard = plan.ops.iter().find_map(|op| match op {
        PlanOp::Broker { guard, .. } => Some(guard),
        _ => None,
    });
    let Some(guard) = guard else { return Ok(()) };
    let fault = |why| Err(PlanFault::Unsupported(OpName::Broker, why));
    if !plan.ops.iter().any(|op| op.name() == OpName::Seccomp) {
        return fault("it needs seccomp");
    }
    for rule in &guard.rules {
        let ((Some(place), None) | (None, Some(place))) = (&rule.path, &rule.glob) else {
            return fault("a rule has not exactly one of path and glob");
        };
        if !place.starts_with('/') {
            return fault("a rule's path or glob is not absolute");
        }
    }
    Ok(())
}

fn check_command(plan: &LinuxPlan) -> Result<(), PlanFault> {
    let command = &plan.command;
    if command.argv.first().is_none_or(String::is_empty) {
        return Err(PlanFault::Command("argv is empty"));
    }
    if !command.cwd.starts_with('/') {
        return Err(PlanFault::Command("cwd is not absolute"));
    }
    let nul = |text: &String| text.contains('\0');
    if command.argv.iter().any(nul) || command.env.values().any(nul) || nul(&command.cwd) {
        return Err(PlanFault::Command("a string holds a NUL byte"));
    }
    if command.env.keys().any(|name| name.is_empty() || name.contains(['=', '\0'])) {
        return Err(PlanFault::Command("a name in env is empty or holds = or a NUL byte"));
    }
    Ok(())
}

fn check_ground(tier: Tier, kinds: Option<&[NamespaceKind]>, op: &PlanOp) -> Result<(), PlanFault> {
    let has = |kind| kinds.is_some_and(|kinds| kinds.contains(&kind));
    let fault = |why| Err(PlanFault::Unsupported(op.name(), why));
    match op {
        PlanOp::Namespaces { kinds, .. } => {
            if tier != Tier::Namespaces {
                return fault("the plan's tier has no namespaces");
            }
            // Without a pid namespace nothing ends the tree when init dies, and that is what init is for.
            if !kinds.contains(&NamespaceKind::Pid) || !kinds.contains(&NamespaceKind::Mount) {
                return fault("it needs at least mount and pid");
            }
        }
        PlanOp::View { mounts, .. } => {
            if !has(NamespaceKind::Mount) {
                return fault("it needs a mount namespace");
            }
            let plain = |path: &str| path.split('/').skip(1).all(|part| !matches!(part, "." | ".." | ""));
            if mounts.iter().any(|m| m.path != "/" && !(m.path.starts_with('/') && plain(&m.path))) {
                return fault("a path is not absolute and plain");
            }
        }
        PlanOp::Loopback { .. } if tier == Tier::Namespaces && !has(NamespaceKind::Net) => {
            return fault("it needs a net namespace");
        }
        PlanOp::PrivateTmp { at: TmpPlace::View, .. } if !has(NamespaceKind::Mount) => {
            return fault("at \"view\" needs a mount namespace");
        }
        _ => {}
    }
    Ok(())
}
