//! Gives up every privilege for good: capabilities, ways to regain them, and gains through execve.

use crate::enforced::{Failure, Outcome, Step};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit};
use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets};

/// Drops the ambient, bounding, effective, permitted and inheritable sets, locks the bits by which uid 0 would get them
/// back, and sets no_new_privs. After it uid 0 is an ordinary number.
pub fn drop_all() -> Step {
    let held = rustix::thread::capabilities(None).map_err(Failure::at("capget"))?;
    // A kernel without ambient capabilities (before 4.3) has none to clear.
    match rustix::thread::clear_ambient_capability_set() {
        Ok(()) | Err(Errno::INVAL) => {}
        Err(errno) => return Err(Failure::at("clear ambient set")(errno)),
    }
    if held.effective.contains(CapabilitySet::SETPCAP) {
        drop_bounding_set().map_err(Failure::at("drop bounding set"))?;
        // Before the capability that allows it goes.
        rustix::thread::set_capabilities_secure_bits(
            CapabilitiesSecureBits::NO_ROOT
                | CapabilitiesSecureBits::NO_ROOT_LOCKED
                | CapabilitiesSecureBits::NO_SETUID_FIXUP
                | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
                | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
                | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
                | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED,
        )
        .map_err(Failure::at("set securebits"))?;
    }
    no_core_dumps();
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
        .map_err(Failure::at("capset"))?;
    rustix::thread::set_no_new_privs(true).map_err(Failure::at("no_new_privs"))?;
    Ok(Outcome::whole())
}

/// A crash must not start the program in core_pattern: it runs on the host as root, over what the command left it. The
/// kernel asks for no dump and for no program where the limit is exactly 1 (coredump(5); `do_coredump`), while 0 stops
/// files only. Where the hard limit is 0 already and may not be raised, it stays: nothing worse than before.
fn no_core_dumps() {
    let limit = Rlimit { current: Some(1), maximum: Some(1) };
    let _ = rustix::process::setrlimit(Resource::Core, limit);
}

/// Whether another cordon confines this process already: a filter, no_new_privs, and the limit that nobody else sets. Only for
/// what is then known to be refused, so that it is not tried, and not reported there as an attempt of the command.
pub fn are_an_outer_cordons() -> bool {
    let core = rustix::process::getrlimit(Resource::Core);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let says = |name: &str, value: &str| {
        status.lines().any(|line| line.strip_prefix(name).is_some_and(|rest| rest.trim() == value))
    };
    core.current == Some(1) && core.maximum == Some(1) && says("Seccomp:", "2") && says("NoNewPrivs:", "1")
}

/// Without CAP_SETPCAP the bounding set stays, and no_new_privs makes it worthless: execve grants nothing under it.
fn drop_bounding_set() -> Result<(), Errno> {
    for number in 0..64_u64 {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            Ok(()) => {}
            // Past the last capability of this kernel.
            Err(Errno::INVAL) => break,
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
