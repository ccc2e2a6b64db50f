//! Two filters: one that refuses (`seccomp_table`), one that traps calls for the watch. Last step of all, because the
//! first one forbids what the steps before it use.

use crate::enforced::{Failure, Outcome, Step};
use crate::seccomp_table as table;
use crate::sys;
use plan::{Network, State, WatchKind};
use rustix::io::Errno;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, sock_filter,
};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;
type Built<T> = Result<T, BackendError>;

const EPERM: u32 = libc::EPERM as u32;

/// A condition on the low 32 bits of an argument: most arguments that matter are ints, and the kernel ignores the rest.
fn low(arg: u8, op: SeccompCmpOp, value: u32) -> Built<SeccompCondition> {
    SeccompCondition::new(arg, SeccompCmpArgLen::Dword, op, value.into())
}

fn bit(arg: u8, flag: u32) -> Built<SeccompRule> {
    SeccompRule::new(vec![low(arg, SeccompCmpOp::MaskedEq(flag.into()), flag)?])
}

fn none_of(arg: u8, values: &[u32], mut also: Vec<SeccompCondition>) -> Built<SeccompRule> {
    for value in values {
        also.push(low(arg, SeccompCmpOp::Ne, *value)?);
    }
    SeccompRule::new(also)
}

fn unsigned(values: &[libc::c_int]) -> Vec<u32> {
    values.iter().map(|value| value.cast_unsigned()).collect()
}

/// Which sockets are refused: as rules of socket(2) and socketpair(2).
fn socket_rules(network: Network) -> Built<Vec<SeccompRule>> {
    let (families, protocols): (&[libc::c_int], &[libc::c_int]) = match network {
        Network::Blocked => (&[table::ALWAYS_OPEN_FAMILY], &table::NETLINK_PROTOCOLS_HOST),
        Network::Private => (&table::OPEN_FAMILIES, &table::NETLINK_PROTOCOLS),
        Network::Open => (&table::OPEN_FAMILIES, &table::NETLINK_PROTOCOLS_HOST),
    };
    let netlink = low(0, SeccompCmpOp::Eq, libc::AF_NETLINK.cast_unsigned())?;
    Ok(vec![none_of(0, &unsigned(families), Vec::new())?, none_of(2, &unsigned(protocols), vec![netlink])?])
}

fn refusals(network: Network, watch_sockets: bool) -> Built<Rules> {
    let mut rules: Rules = table::REFUSED.iter().chain(table::REFUSED_HERE).map(|(nr, _)| (*nr, Vec::new())).collect();
    let mut new_namespace = Vec::new();
    for flag in table::NAMESPACE_FLAGS {
        new_namespace.push(bit(0, flag.cast_unsigned())?);
    }
    rules.insert(libc::SYS_clone, new_namespace.clone());
    new_namespace.push(bit(0, table::CLONE_NEWTIME.cast_unsigned())?);
    rules.insert(libc::SYS_unshare, new_namespace);
    let mut terminal = Vec::new();
    for request in table::REFUSED_IOCTLS {
        terminal.push(SeccompRule::new(vec![low(1, SeccompCmpOp::Eq, request)?])?);
    }
    rules.insert(libc::SYS_ioctl, terminal);
    rules.insert(libc::SYS_personality, vec![none_of(0, &table::PERSONALITIES, Vec::new())?]);
    if !watch_sockets {
        rules.insert(libc::SYS_socket, socket_rules(network)?);
    }
    Ok(rules)
}

/// The calls that the watch sees. An open counts when its flags can write or make a file; openat2 hides its flags behind
/// a pointer and is not seen.
fn traps(kinds: &[WatchKind], network: Network) -> Built<Rules> {
    let mut rules = Rules::new();
    if kinds.contains(&WatchKind::Write) {
        let writing = |arg| {
            [libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC]
                .into_iter()
                .map(|flag| bit(arg, flag.cast_unsigned()))
                .collect::<Built<Vec<SeccompRule>>>()
        };
        rules.insert(libc::SYS_openat, writing(2)?);
        #[cfg(target_arch = "x86_64")]
        {
            rules.insert(libc::SYS_open, writing(1)?);
            rules.insert(libc::SYS_creat, Vec::new());
        }
    }
    if kinds.contains(&WatchKind::Connect) {
        rules.insert(libc::SYS_connect, Vec::new());
        let addressed = SeccompCondition::new(4, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
        rules.insert(libc::SYS_sendto, vec![SeccompRule::new(vec![addressed])?]);
        if network == Network::Blocked {
            rules.insert(libc::SYS_socket, socket_rules(network)?);
        }
    }
    Ok(rules)
}

fn compile(rules: Rules, action: SeccompAction) -> Built<BpfProgram> {
    let arch = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::Allow, action, arch)?.try_into()
}

const fn statement(code: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: code as u16, jt, jf, k }
}

const LOAD_NUMBER: sock_filter = statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0);
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
const RET_ENOSYS: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
/// Numbers from here up are the x32 ABI: the same calls again under numbers that no rule names.
const X32_BIT: u32 = 0x4000_0000;

/// The refusing filter. In front of the compiled rules, which check the architecture and kill foreign ones, stand two
/// tests: clone3 hides its flags behind a pointer, and with ENOSYS libc falls back to clone; x32 is not there at all.
fn refusing_program(network: Network, watch_sockets: bool) -> Built<BpfProgram> {
    let mut program = vec![
        LOAD_NUMBER,
        statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, libc::SYS_clone3 as u32, 1, 0),
        statement(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, X32_BIT, 0, 1),
        statement(RETURN, RET_ENOSYS, 0, 0),
    ];
    program.extend(compile(refusals(network, watch_sockets)?, SeccompAction::Errno(EPERM))?);
    Ok(program)
}

/// The trapping filter: compiled with an action that the crate knows, which is then replaced by the one it doesn't.
fn trapping_program(kinds: &[WatchKind], network: Network) -> Built<BpfProgram> {
    const STAND_IN: u32 = 0x7eed;
    let mut program = compile(traps(kinds, network)?, SeccompAction::Trace(STAND_IN))?;
    for instruction in &mut program {
        if u32::from(instruction.code) == RETURN && instruction.k == (libc::SECCOMP_RET_TRACE | STAND_IN) {
            instruction.k = libc::SECCOMP_RET_USER_NOTIF;
        }
    }
    Ok(program)
}

/// Installs both filters; gives the listener of the watch where there is one. Needs no_new_privs.
///
/// Sockets that are refused are refused by the answer of the watch where it runs, since a filter's ERRNO would go before
/// its notice; the answer looks at registers only, and without a listener the kernel says ENOSYS. The watch missing is
/// `partial` only as a remark: it protects nothing.
pub fn install(network: Network, watch: &[WatchKind]) -> (Step, Option<OwnedFd>) {
    let faulty = |error: BackendError| Failure::plain(format!("seccomp: {error}"));
    let (listener, missing) = match install_watch(network, watch) {
        Ok(listener) => (listener, None),
        Err(failure) => (None, Some(format!("watch is missing: {}", failure.why))),
    };
    let watch_sockets = listener.is_some() && network == Network::Blocked && watch.contains(&WatchKind::Connect);
    let step = refusing_program(network, watch_sockets)
        .map_err(faulty)
        .and_then(|program| sys::load_filter(&program).map_err(Failure::at("seccomp")))
        .map(|()| Outcome { state: State::Enforced, why: missing });
    (step, listener)
}

fn install_watch(network: Network, watch: &[WatchKind]) -> Result<Option<OwnedFd>, Failure> {
    if watch.is_empty() {
        return Ok(None);
    }
    let program = trapping_program(watch, network).map_err(|error| Failure::plain(format!("seccomp: {error}")))?;
    match sys::load_filter_listened(&program) {
        Ok(listener) => Ok(Some(listener)),
        Err(Errno::BUSY) => Err(Failure::plain("EBUSY: an outer sandbox already listens")),
        Err(errno) => Err(Failure::at("seccomp listener")(errno)),
    }
}

/// A filter that does nothing, to try whether filters can be installed.
pub const ALLOW_ALL: [sock_filter; 1] = [statement(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0)];
