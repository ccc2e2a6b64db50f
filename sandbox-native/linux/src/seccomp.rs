//! The filter: refuses what `seccomp_table` lists and traps calls for the watch. Last step of all, because it forbids what
//! the steps before it use.

use crate::bpf::{self, Instruction, Verdicts, When};
use crate::enforced::{Failure, Outcome, Step};
use crate::seccomp_table as table;
use crate::sys;
use plan::{Network, WatchKind};
use rustix::io::Errno;
use std::os::fd::OwnedFd;

const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned();
const ABSENT: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
const TRAP: u32 = libc::SECCOMP_RET_USER_NOTIF;
/// The call is not made, and its caller is told that it went well.
const IGNORE: u32 = libc::SECCOMP_RET_ERRNO;

/// What the command's sockets are confined by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surroundings {
    pub network: Network,
    /// The command sees the host's own file system, with the sockets in it.
    pub on_host: bool,
}

fn unsigned(values: &[libc::c_int]) -> Vec<u32> {
    values.iter().map(|value| value.cast_unsigned()).collect()
}

fn any_of(flags: &[libc::c_int]) -> u32 {
    flags.iter().fold(0, |mask, flag| mask | flag.cast_unsigned())
}

/// System call numbers are small and never negative.
fn number(call: libc::c_long) -> u32 {
    call as u32
}

/// Which sockets are refused.
fn refused_sockets(around: Surroundings) -> When {
    let (families, netlink): (&[libc::c_int], &[libc::c_int]) = match around.network {
        Network::Blocked => (&[table::ALWAYS_OPEN_FAMILY], &table::NETLINK_PROTOCOLS_HOST),
        Network::Private => (&table::OPEN_FAMILIES, &table::NETLINK_PROTOCOLS),
        Network::Open if around.on_host => (&table::OPEN_FAMILIES_ON_HOST, &table::NETLINK_PROTOCOLS_HOST),
        Network::Open => (&table::OPEN_FAMILIES, &table::NETLINK_PROTOCOLS_HOST),
    };
    When::Socket { families: unsigned(families), netlink: unsigned(netlink) }
}

/// What is refused. clone3 is not there at all: it hides its flags behind a pointer, and with ENOSYS libc falls back to
/// clone.
fn refusals(around: Surroundings) -> Verdicts {
    let refused = table::REFUSED.iter().chain(table::REFUSED_HERE);
    let mut verdicts: Verdicts = refused.map(|(call, _)| (number(*call), (When::Always, REFUSE))).collect();
    let namespaces = any_of(&table::NAMESPACE_FLAGS);
    let with_time = namespaces | table::CLONE_NEWTIME.cast_unsigned();
    for (call, when) in [
        (libc::SYS_clone, When::AnyBit { arg: 0, mask: namespaces }),
        (libc::SYS_unshare, When::AnyBit { arg: 0, mask: with_time }),
        (libc::SYS_ioctl, When::OneOf { arg: 1, values: table::REFUSED_IOCTLS.to_vec() }),
        (libc::SYS_personality, When::NoneOf { arg: 0, values: table::PERSONALITIES.to_vec() }),
        (libc::SYS_socket, refused_sockets(around)),
    ] {
        verdicts.insert(number(call), (when, REFUSE));
    }
    // See privileges::no_core_dumps: 1 is what keeps the host's handler from being started, and 0 would undo it.
    for (call, when) in [
        (libc::SYS_setrlimit, When::OneOf { arg: 0, values: vec![libc::RLIMIT_CORE] }),
        (libc::SYS_prlimit64, When::ValueAndPointer { arg: 1, value: libc::RLIMIT_CORE, pointer: 2 }),
    ] {
        verdicts.insert(number(call), (when, IGNORE));
    }
    verdicts.insert(number(libc::SYS_clone3), (When::Always, ABSENT));
    verdicts
}

/// Adds the calls that the watch sees. An open counts when its flags can write or make a file; openat2 hides its flags
/// behind a pointer and is not seen. None of them has a verdict of its own but socket(2).
fn add_traps(verdicts: &mut Verdicts, kinds: &[WatchKind], around: Surroundings) {
    let mut trap = |call, when| drop(verdicts.insert(number(call), (when, TRAP)));
    if kinds.contains(&WatchKind::Write) {
        let writing = |arg| {
            let mask = any_of(&[libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC]);
            When::AnyBit { arg, mask }
        };
        trap(libc::SYS_openat, writing(2));
        #[cfg(target_arch = "x86_64")]
        {
            trap(libc::SYS_open, writing(1));
            trap(libc::SYS_creat, When::Always);
        }
    }
    if kinds.contains(&WatchKind::Connect) {
        trap(libc::SYS_connect, When::Always);
        trap(libc::SYS_sendto, When::NotZero { arg: 4 });
        if around.network == Network::Blocked {
            // Refused by the answer of the watch, which looks at registers only; without a listener the kernel says ENOSYS.
            trap(libc::SYS_socket, refused_sockets(around));
        }
    }
}

/// Installs the filter; gives the listener of the watch where there is one. Needs no_new_privs. The watch missing is a
/// remark and no loss: it protects nothing.
pub fn install(around: Surroundings, watch: &[WatchKind]) -> (Step, Option<OwnedFd>) {
    let whole = |why| Ok(Outcome { why, ..Outcome::whole() });
    let mut missing = None;
    if !watch.is_empty() {
        let mut verdicts = refusals(around);
        add_traps(&mut verdicts, watch, around);
        match sys::load_filter_listened(&bpf::assemble(&verdicts)) {
            Ok(listener) => return (whole(None), Some(listener)),
            Err(Errno::BUSY) => missing = Some("watch is missing: EBUSY: an outer sandbox already listens".into()),
            Err(errno) => {
                missing = Some(format!("watch is missing: {}", Failure::at("seccomp listener")(errno).why));
            }
        }
    }
    let loaded = sys::load_filter(&bpf::assemble(&refusals(around)));
    (loaded.map_err(Failure::at("seccomp")).and_then(|()| whole(missing)), None)
}

/// A filter that does nothing, to try whether filters can be installed.
pub const ALLOW_ALL: [Instruction; 1] = [bpf::answer(libc::SECCOMP_RET_ALLOW)];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpf::emulator::{answer_to, run};

    const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
    const NETWORKS: [Network; 3] = [Network::Blocked, Network::Private, Network::Open];
    const ALL: [WatchKind; 2] = [WatchKind::Write, WatchKind::Connect];

    fn program(network: Network, watch: &[WatchKind]) -> Vec<Instruction> {
        program_in(Surroundings { network, on_host: network == Network::Blocked }, watch)
    }

    fn program_in(around: Surroundings, watch: &[WatchKind]) -> Vec<Instruction> {
        let mut verdicts = refusals(around);
        add_traps(&mut verdicts, watch, around);
        bpf::assemble(&verdicts)
    }

    fn first(value: i64) -> [u64; 6] {
        [value as u64, 0, 0, 0, 0, 0]
    }

    #[test]
    fn every_number_gets_the_answer_of_the_table() {
        for network in NETWORKS {
            for watch in [&ALL[..], &[]] {
                let around = Surroundings { network, on_host: false };
                let mut verdicts = refusals(around);
                add_traps(&mut verdicts, watch, around);
                let program = bpf::assemble(&verdicts);
                assert!(program.len() < 4096, "BPF_MAXINSNS");
                for call in (0..1_000).chain([0x3fff_ffff]) {
                    // Register values that meet no condition, so that only Always is left; NoneOf meets them.
                    let wanted = match verdicts.get(&call) {
                        Some((When::Always | When::NoneOf { .. } | When::Socket { .. }, with)) => *with,
                        _ => ALLOW,
                    };
                    let args = [0x80_0000_0000_u64 | 0x0070_0000, 0, 0, 0, 0, 0];
                    assert_eq!(answer_to(&program, call.into(), args), wanted, "{call} {network:?}");
                }
            }
        }
    }

    #[test]
    fn foreign_architectures_die_and_x32_is_absent() {
        const I386: u32 = 0x4000_0003;
        let program = program(Network::Private, &ALL);
        for call in [0, 20, 435, 0x4000_0000] {
            assert_eq!(run(&program, I386, call, [0; 6]), libc::SECCOMP_RET_KILL_PROCESS);
        }
        for call in [0x4000_0000, 0x4000_0000 + libc::SYS_getpid, 0x7fff_ffff, 0xffff_ffff] {
            assert_eq!(answer_to(&program, call, [0; 6]), ABSENT);
        }
        assert_eq!(answer_to(&program, libc::SYS_clone3, [0; 6]), ABSENT);
    }

    #[test]
    fn each_namespace_flag_alone_is_refused_and_threads_start() {
        let program = program(Network::Private, &ALL);
        for flag in table::NAMESPACE_FLAGS {
            let flags = i64::from(flag | libc::SIGCHLD);
            assert_eq!(answer_to(&program, libc::SYS_clone, first(flags)), REFUSE, "{flag:#x}");
            assert_eq!(answer_to(&program, libc::SYS_unshare, first(flag.into())), REFUSE, "{flag:#x}");
        }
        assert_eq!(answer_to(&program, libc::SYS_unshare, first(0x80)), REFUSE);
        let thread = libc::CLONE_VM | libc::CLONE_THREAD | libc::CLONE_SIGHAND | libc::CLONE_FILES;
        assert_eq!(answer_to(&program, libc::SYS_clone, first(thread.into())), ALLOW);
        assert_eq!(answer_to(&program, libc::SYS_unshare, first(libc::CLONE_FILES.into())), ALLOW);
    }

    #[test]
    fn values_are_compared_on_32_bits() {
        let program = program(Network::Private, &ALL);
        for request in [0x5412, 0x541c, 0x1_0000_5412] {
            assert_eq!(answer_to(&program, libc::SYS_ioctl, [0, request, 0, 0, 0, 0]), REFUSE);
        }
        assert_eq!(answer_to(&program, libc::SYS_ioctl, [0, 0x5413, 0, 0, 0, 0]), ALLOW);
        for allowed in table::PERSONALITIES {
            assert_eq!(answer_to(&program, libc::SYS_personality, first(allowed.into())), ALLOW);
        }
        assert_eq!(answer_to(&program, libc::SYS_personality, first(0x0040_0000)), REFUSE);
    }

    #[test]
    fn sockets_follow_the_network() {
        let socket = |family: i32, protocol: u64| [family as u64, 0, protocol, 0, 0, 0];
        for network in NETWORKS {
            let plain = program(network, &[]);
            let watched = program(network, &ALL);
            let refused = if network == Network::Blocked { TRAP } else { REFUSE };
            let open = network != Network::Blocked;
            for family in [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6] {
                assert_eq!(answer_to(&plain, libc::SYS_socket, socket(family, 0)) == ALLOW, open, "{network:?}");
            }
            for args in [socket(40, 0), socket(libc::AF_PACKET, 0), socket(libc::AF_NETLINK, 12)] {
                assert_eq!(answer_to(&plain, libc::SYS_socket, args), REFUSE, "{network:?}");
                assert_eq!(answer_to(&watched, libc::SYS_socket, args), refused, "{network:?}");
            }
            assert_eq!(answer_to(&plain, libc::SYS_socket, socket(libc::AF_NETLINK, 0)), ALLOW, "{network:?}");
            let generic = answer_to(&plain, libc::SYS_socket, socket(libc::AF_NETLINK, 16));
            assert_eq!(generic == ALLOW, network == Network::Private, "{network:?}");
        }
    }

    #[test]
    fn on_the_host_an_open_network_has_no_sockets_by_path() {
        let socket = |family: i32| [family as u64, 0, 0, 0, 0, 0];
        let program = program_in(Surroundings { network: Network::Open, on_host: true }, &ALL);
        assert_eq!(answer_to(&program, libc::SYS_socket, socket(libc::AF_UNIX)), REFUSE);
        for family in [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK] {
            assert_eq!(answer_to(&program, libc::SYS_socket, socket(family)), ALLOW);
        }
        assert_eq!(answer_to(&program, libc::SYS_socketpair, socket(libc::AF_UNIX)), ALLOW);
    }

    #[test]
    fn the_limit_on_core_dumps_can_be_read_and_not_changed() {
        let program = program(Network::Private, &ALL);
        let prlimit = |what, new: u64| answer_to(&program, libc::SYS_prlimit64, [0, what, new, 0, 0, 0]);
        let core = u64::from(libc::RLIMIT_CORE);
        assert_eq!((prlimit(core, 0), prlimit(core, 1), prlimit(core, 1 << 40)), (ALLOW, IGNORE, IGNORE));
        assert_eq!(prlimit(libc::RLIMIT_NOFILE.into(), 1), ALLOW);
        assert_eq!(answer_to(&program, libc::SYS_setrlimit, [core, 1, 0, 0, 0, 0]), IGNORE);
    }

    #[test]
    fn the_watch_traps_what_can_write_or_connect_and_nothing_else() {
        let program = program(Network::Private, &ALL);
        let open = |flags: i32| answer_to(&program, libc::SYS_openat, [0, 0, flags as u64, 0, 0, 0]);
        for flags in [libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC] {
            assert_eq!(open(flags | libc::O_CLOEXEC), TRAP);
        }
        assert_eq!(open(libc::O_RDONLY | libc::O_CLOEXEC | libc::O_DIRECTORY), ALLOW);
        assert_eq!(answer_to(&program, libc::SYS_connect, [0; 6]), TRAP);
        let send = |address| answer_to(&program, libc::SYS_sendto, [0, 0, 0, 0, address, 0]);
        assert_eq!((send(0), send(1), send(1 << 40)), (ALLOW, TRAP, TRAP));
        assert_eq!(answer_to(&program, libc::SYS_mount, [0; 6]), REFUSE);
    }
}
