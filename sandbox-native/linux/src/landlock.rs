//! The Landlock domain: what Landlock's ABI on this kernel can hold of the plan's rules, and what it can't, in words.

use crate::enforced::{Failure, Outcome, Step, errno_name};
use crate::landlock_except::{self, Place};
use crate::mounts::{O_PATH, is_within};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};
use plan::{LandlockAccess, LandlockRule};
use rustix::fs::{CWD, Mode};

/// What the domain is made of.
pub struct Domain<'a> {
    pub rules: &'a [LandlockRule],
    pub scope: &'a [plan::Scope],
    /// Refuse TCP too: set where no network namespace does it, as the backstop of the socket filter.
    pub refuse_tcp: bool,
    /// A broker truncates for the command, and only what it may open for writing.
    pub truncates_brokered: bool,
    /// A broker judges each read, so what is closed may lie in a folder that can be listed.
    pub reads_judged: bool,
    /// All that can be named lies in a view, whose mounts say what of it is there and what can be written. Then reading
    /// and truncating are not handled: a kernel that handles them looks at each open for reading, for 0.3 µs and more.
    pub reads_in_view: bool,
    /// Landlock's ABI on this kernel.
    pub abi: u32,
}

/// What each ABI added that a lower one lets through (kernel documentation, userspace-api/landlock.rst).
const LOSSES: [(u32, &str); 5] = [
    (2, "ABI 1: files can't be renamed or linked across folders at all"),
    (3, "ABI 2: truncate(2) of files that can't be written is not refused"),
    (4, "ABI 3: TCP is not refused by Landlock"),
    (5, "ABI 4: ioctl on devices is not refused"),
    (6, "ABI 5: signals and abstract sockets are not scoped"),
];

/// Restricts this thread and all that it starts.
pub fn restrict(domain: &Domain<'_>) -> Step {
    if domain.abi == 0 {
        return Err(Failure::plain("The kernel has no Landlock, or it is switched off"));
    }
    let (faults, mut notes) = losses(domain);
    let ruleset = create(domain).map_err(|error| Failure::plain(format!("landlock: {error}")))?;
    let ruleset = add_rules(ruleset, domain, &mut notes)?;
    let status = ruleset.restrict_self().map_err(|error| Failure::plain(format!("landlock: {error}")))?;
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err(Failure::plain("The kernel took the Landlock ruleset and enforced nothing of it"));
    }
    let mut outcome = Outcome::from_faults(&faults);
    if !notes.is_empty() {
        // A rule that could not be added allows less, never more: worth a note, no loss of protection.
        outcome.why = Some(outcome.why.into_iter().chain(notes).collect::<Vec<_>>().join("; "));
    }
    Ok(outcome)
}

/// A second layer for the command alone. A domain can't trace or signal what is outside of it, and the warden is, with the
/// first layer only (signals and abstract sockets from ABI 6). Where there is no Landlock, init of a pid namespace takes no
/// signals and a process that is not dumpable can't be traced.
///
/// With `refuse_tcp` it may not bind or connect TCP itself either: that is the broker's alone, which has no such layer.
pub fn keep_off_the_warden(abi: u32, refuse_tcp: bool) -> Result<(), Failure> {
    if abi == 0 {
        return Ok(());
    }
    let failed = |error: landlock::RulesetError| Failure::plain(format!("landlock for the broker: {error}"));
    // Something must be handled, and what is not allowed again is refused: REFER is refused by each layer that does not
    // allow it, and block devices need a capability that is gone.
    let handled = if abi >= 2 { AccessFs::Refer } else { AccessFs::MakeBlock };
    let mut ruleset =
        Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(handled).map_err(failed)?;
    if abi >= 6 {
        ruleset = ruleset.scope(Scope::Signal | Scope::AbstractUnixSocket).map_err(failed)?;
    }
    if refuse_tcp && abi >= 4 {
        ruleset = ruleset.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp).map_err(failed)?;
    }
    let root = rustix::fs::openat(CWD, "/", O_PATH, Mode::empty()).map_err(Failure::at("open /"))?;
    let created = ruleset.create().map_err(failed)?;
    let created = created.add_rule(PathBeneath::new(root, handled)).map_err(failed)?;
    created.restrict_self().map(drop).map_err(failed)
}

/// What an old ABI lets through and nothing else holds, and what is worth a note: the socket filter refuses TCP, the broker
/// looks at abstract sockets, and that no signal leaves was promised with a pid namespace only. ABI 1 refuses more and not less.
fn losses(domain: &Domain<'_>) -> (Vec<Failure>, Vec<String>) {
    let matters = |since: u32| match since {
        3 => !domain.truncates_brokered,
        4 => domain.refuse_tcp,
        6 => !domain.scope.is_empty(),
        _ => false,
    };
    let lost = LOSSES.iter().filter(|(since, _)| domain.abi < *since && matters(*since));
    let (faults, notes): (Vec<_>, Vec<_>) = lost.partition(|(since, _)| *since == 3);
    let words = |loss: &&(u32, &str)| loss.1.to_owned();
    (faults.iter().map(|loss| Failure::plain(words(loss))).collect(), notes.iter().map(words).collect())
}

fn create(domain: &Domain<'_>) -> Result<RulesetCreated, landlock::RulesetError> {
    let mut ruleset =
        Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(handled(domain))?;
    if domain.refuse_tcp && domain.abi >= 4 {
        ruleset = ruleset.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)?;
    }
    if domain.abi >= 6 {
        for scope in domain.scope {
            ruleset = ruleset.scope(match scope {
                plan::Scope::Signal => Scope::Signal,
                plan::Scope::AbstractUnixSocket => Scope::AbstractUnixSocket,
            })?;
        }
    }
    ruleset.create()
}

/// What is refused where no rule allows it.
fn handled(domain: &Domain<'_>) -> BitFlags<AccessFs> {
    let all = AccessFs::from_all(known_abi(domain.abi));
    // The kernel asks for both at each open that reads.
    let reading = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Truncate;
    if domain.reads_in_view { all & !reading } else { all }
}

/// The newest ABI that this kernel has and this program was written for.
fn known_abi(abi: u32) -> ABI {
    match abi {
        0 | 1 => ABI::V1,
        2 => ABI::V2,
        3 => ABI::V3,
        4 => ABI::V4,
        5 => ABI::V5,
        6 => ABI::V6,
        _ => ABI::V7,
    }
}

fn add_rules(
    mut ruleset: RulesetCreated,
    domain: &Domain<'_>,
    notes: &mut Vec<String>,
) -> Result<RulesetCreated, Failure> {
    let handled = handled(domain);
    for rule in domain.rules {
        landlock_except::check(rule)?;
        let places = match landlock_except::places(rule, domain.reads_judged) {
            Ok(places) => places,
            Err(errno) => {
                notes.push(format!("no rule for \"{}\": {}", rule.path, errno_name(errno)));
                continue;
            }
        };
        for Place { fd, is_folder, names_only } in places {
            let mut access = if names_only { AccessFs::ReadDir.into() } else { rights(rule) } & handled;
            if !is_folder {
                access &= AccessFs::from_file(known_abi(domain.abi));
            }
            if access.is_empty() {
                // The kernel takes no rule without a right.
                continue;
            }
            ruleset = ruleset
                .add_rule(PathBeneath::new(fd, access))
                .map_err(|error| Failure::plain(format!("landlock rule for \"{}\": {error}", rule.path)))?;
        }
    }
    Ok(ruleset)
}

fn rights(rule: &LandlockRule) -> BitFlags<AccessFs> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let device = if is_within(&rule.path, "/dev") { AccessFs::IoctlDev.into() } else { BitFlags::empty() };
    match rule.access {
        // Terminals under /dev need ioctl to be of any use; TIOCSTI and TIOCLINUX are refused by seccomp.
        LandlockAccess::Read => read | device,
        LandlockAccess::ReadExec => read | AccessFs::Execute | device,
        LandlockAccess::Rw => AccessFs::from_all(ABI::V7),
    }
}
