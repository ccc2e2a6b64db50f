//! The filter: refuses what `seccomp_table` lists and traps calls for the broker. Last step of all, because it forbids
//! what the steps before it use.

use crate::bpf::{self, Instruction, Verdicts, When};
use crate::enforced::{Failure, Outcome, Step};
use crate::seccomp_table as table;
use crate::sys;
use plan::Network;
use rustix::io::Errno;
use std::os::fd::OwnedFd;

const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned();
const ABSENT: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
/// What a kernel without TCP Fast Open says; programs then connect first.
const UNSUPPORTED: u32 = libc::SECCOMP_RET_ERRNO | libc::EOPNOTSUPP.cast_unsigned();
/// What a kernel without the protocol (MPTCP) or the option says; programs then do without.
const NO_PROTOCOL: u32 = libc::SECCOMP_RET_ERRNO | libc::EPROTONOSUPPORT.cast_unsigned();
const NO_OPTION: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOPROTOOPT.cast_unsigned();
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

/// Which calls a broker wants to hear of beyond those that it always does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traps {
    /// Every open, and not only those for writing.
    pub reads: bool,
    /// Changes of mode, owner, times and attributes.
    pub metadata: bool,
    /// Connects and binds are carried out by the broker, which knows whose unix socket is meant.
    pub sockets: bool,
}

fn unsigned(values: &[libc::c_int]) -> Vec<u32> {
    values.iter().map(|value| value.cast_unsigned()).collect()
}

fn any_of(flags: &[libc::c_int]) -> u32 {
    flags.iter().fold(0, |mask, flag| mask | flag.cast_unsigned())
}

/// Which sockets are refused.
fn refused_sockets(around: Surroundings, judged: bool) -> When {
    let (families, netlink): (&[libc::c_int], &[libc::c_int]) = match around.network {
        Network::Blocked => (&[table::ALWAYS_OPEN_FAMILY], &table::NETLINK_PROTOCOLS_HOST),
        Network::Private => (&table::OPEN_FAMILIES, &table::NETLINK_PROTOCOLS),
        Network::Loopback => (&table::OPEN_FAMILIES_ON_HOST, &table::NETLINK_PROTOCOLS_HOST),
        Network::Open if around.on_host => (&table::OPEN_FAMILIES_ON_HOST, &table::NETLINK_PROTOCOLS_HOST),
        Network::Open => (&table::OPEN_FAMILIES, &table::NETLINK_PROTOCOLS_HOST),
    };
    let mut families = unsigned(families);
    if judged && !families.contains(&libc::AF_UNIX.cast_unsigned()) {
        families.push(libc::AF_UNIX.cast_unsigned());
    }
    When::Socket { families, netlink: unsigned(netlink) }
}

/// What is refused. clone3 is not there at all: it hides its flags behind a pointer, and with ENOSYS libc falls back to
/// clone. Sockets are the business of `socket_rules`.
fn refusals() -> Verdicts {
    let mut verdicts = Verdicts::default();
    for (call, _) in table::REFUSED.iter().chain(table::REFUSED_HERE) {
        verdicts.push(*call, When::Always, REFUSE);
    }
    let namespaces = any_of(&table::NAMESPACE_FLAGS);
    let with_time = namespaces | table::CLONE_NEWTIME.cast_unsigned();
    verdicts.push(libc::SYS_clone, When::AnyBit { arg: 0, mask: namespaces }, REFUSE);
    verdicts.push(libc::SYS_unshare, When::AnyBit { arg: 0, mask: with_time }, REFUSE);
    verdicts.push(libc::SYS_ioctl, When::OneOf { arg: 1, values: table::REFUSED_IOCTLS.to_vec() }, REFUSE);
    verdicts.push(libc::SYS_personality, When::NoneOf { arg: 0, values: table::PERSONALITIES.to_vec() }, REFUSE);
    // See privileges::no_core_dumps: 1 is what keeps the host's handler from being started, and 0 would undo it.
    verdicts.push(libc::SYS_setrlimit, When::OneOf { arg: 0, values: vec![libc::RLIMIT_CORE] }, IGNORE);
    let sets_core = When::ValueAndPointer { arg: 1, value: libc::RLIMIT_CORE, pointer: 2 };
    verdicts.push(libc::SYS_prlimit64, sets_core, IGNORE);
    verdicts.push(libc::SYS_clone3, When::Always, ABSENT);
    verdicts
}

/// Sockets, and the ways to send to an address that no connect names.
fn socket_rules(verdicts: &mut Verdicts, around: Surroundings, traps: Option<Traps>) {
    let (brokered, judged) = (traps.is_some(), traps.is_some_and(|traps| traps.sockets));
    if brokered {
        // sendmsg(2) hides its address behind two pointers, so a unix socket must be of a kind that takes none.
        let connected = || When::SocketType {
            family: libc::AF_UNIX.cast_unsigned(),
            types: unsigned(&[libc::SOCK_STREAM, libc::SOCK_SEQPACKET]),
        };
        verdicts.push(libc::SYS_socket, connected(), REFUSE);
        verdicts.push(libc::SYS_socketpair, connected(), REFUSE);
    }
    // Where the network is blocked, a refused socket is reported too: it is the only sign of an attempt.
    let blocked = matches!(around.network, Network::Blocked | Network::Loopback);
    let with = if brokered && blocked { TRAP } else { REFUSE };
    verdicts.push(libc::SYS_socket, refused_sockets(around, judged), with);
    if around.network == Network::Loopback {
        loopback_rules(verdicts);
    }
    for (call, flags) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
        verdicts.push(call, When::AnyBit { arg: flags, mask: any_of(&[libc::MSG_FASTOPEN]) }, UNSUPPORTED);
    }
    if brokered {
        verdicts.push(libc::SYS_connect, When::Always, TRAP);
        verdicts.push(libc::SYS_sendto, When::NotZero { arg: 4 }, TRAP);
        if judged {
            verdicts.push(libc::SYS_bind, When::Always, TRAP);
        }
    }
}

/// TCP alone, which the broker binds, connects and lets listen; and no option that leads it elsewhere behind its back.
fn loopback_rules(verdicts: &mut Verdicts) {
    for family in unsigned(&[libc::AF_INET, libc::AF_INET6]) {
        verdicts.push(libc::SYS_socket, When::SocketType { family, types: unsigned(&[libc::SOCK_STREAM]) }, TRAP);
        let tcp = unsigned(&[0, libc::IPPROTO_TCP]);
        let other = When::Given { arg: 0, value: family, of: 2, values: tcp, listed: false };
        verdicts.push(libc::SYS_socket, other, NO_PROTOCOL);
    }
    let mut option = |level: libc::c_int, names: &[libc::c_int], listed, with| {
        let when = When::Given { arg: 1, value: level.cast_unsigned(), of: 2, values: unsigned(names), listed };
        verdicts.push(libc::SYS_setsockopt, when, with);
    };
    // Nobody else can listen where a socket without it listens.
    option(libc::SOL_SOCKET, &[libc::SO_REUSEPORT], true, IGNORE);
    option(libc::SOL_SOCKET, &table::SOCKET_OPTIONS_REFUSED, true, REFUSE);
    option(libc::IPPROTO_IP, &table::IP_OPTIONS_LEFT, false, NO_OPTION);
    option(libc::IPPROTO_IPV6, &table::IPV6_OPTIONS_LEFT, false, NO_OPTION);
    option(libc::IPPROTO_TCP, &table::TCP_OPTIONS_REFUSED, true, NO_OPTION);
    let levels = When::NoneOf { arg: 1, values: unsigned(&table::OPTION_LEVELS) };
    verdicts.push(libc::SYS_setsockopt, levels, NO_OPTION);
    // A socket that has no address yet would listen on all of them.
    verdicts.push(libc::SYS_listen, When::Always, TRAP);
    // The other ways than its last close by which a socket stops listening: this one, and connect.
    verdicts.push(libc::SYS_shutdown, When::NoneOf { arg: 1, values: unsigned(&[libc::SHUT_WR]) }, TRAP);
}

/// Adds the calls that the broker answers. An open counts when its flags can write or make a file, or always; openat2
/// hides its flags behind a pointer.
fn add_traps(verdicts: &mut Verdicts, traps: Traps) {
    let opens = |arg| match traps.reads {
        true => When::Always,
        false => When::AnyBit { arg, mask: any_of(&[libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC]) },
    };
    // A descriptor that only names is none of the broker's business, whatever else its flags say.
    let names = |arg| When::AnyBit { arg, mask: any_of(&[libc::O_PATH]) };
    verdicts.push(libc::SYS_openat, names(2), libc::SECCOMP_RET_ALLOW);
    verdicts.push(libc::SYS_openat, opens(2), TRAP);
    #[cfg(target_arch = "x86_64")]
    {
        verdicts.push(libc::SYS_open, names(1), libc::SECCOMP_RET_ALLOW);
        verdicts.push(libc::SYS_open, opens(1), TRAP);
    }
    let metadata: &[libc::c_long] = if traps.metadata { table::METADATA } else { &[] };
    for call in table::TRAPPED.iter().chain(metadata) {
        verdicts.push(*call, When::Always, TRAP);
    }
    // The broker reads the caller's memory, which a process that is not dumpable would close to it.
    let dumpable = When::OneOf { arg: 0, values: unsigned(&[libc::PR_SET_DUMPABLE]) };
    verdicts.push(libc::SYS_prctl, dumpable, IGNORE);
}

fn filter(around: Surroundings, traps: Option<Traps>) -> Verdicts {
    let mut verdicts = refusals();
    // Without a broker that binds and connects there is no loopback.
    let judged = traps.is_some_and(|traps| traps.sockets);
    let network = if judged { around.network } else { around.network.without_broker() };
    let around = Surroundings { network, ..around };
    socket_rules(&mut verdicts, around, traps);
    if let Some(traps) = traps {
        add_traps(&mut verdicts, traps);
    }
    verdicts
}

/// What became of the filter, and of the broker's ear in it.
pub struct Installed {
    pub filter: Step,
    /// Absent where no broker was asked for.
    pub listener: Option<Result<OwnedFd, Failure>>,
}

/// Installs the filter, with a listener if a broker wants one. Needs no_new_privs. Without its listener the filter traps
/// nothing: a call that nobody answers would end in ENOSYS.
pub fn install(around: Surroundings, traps: Option<Traps>) -> Installed {
    let listener = traps.map(|traps| {
        sys::load_filter_listened(&bpf::assemble(&filter(around, Some(traps)))).map_err(|errno| match errno {
            Errno::BUSY => Failure { why: "EBUSY: an outer sandbox already listens".into(), errno: Some(errno) },
            errno => Failure::at("seccomp listener")(errno),
        })
    });
    let filter = match &listener {
        Some(Ok(_)) => Ok(Outcome::whole()),
        _ => {
            let loaded = sys::load_filter(&bpf::assemble(&filter(around, None)));
            loaded.map_err(Failure::at("seccomp")).map(|()| Outcome::whole())
        }
    };
    Installed { filter, listener }
}

/// A filter that does nothing, to try whether filters can be installed.
pub const ALLOW_ALL: [Instruction; 1] = [bpf::answer(libc::SECCOMP_RET_ALLOW)];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpf::emulator::{answer_to, run};

    const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
    const NETWORKS: [Network; 3] = [Network::Blocked, Network::Private, Network::Open];
    const SOME: Option<Traps> = Some(Traps { reads: false, metadata: false, sockets: false });
    const ALL: Option<Traps> = Some(Traps { reads: true, metadata: true, sockets: true });

    fn program(network: Network, traps: Option<Traps>) -> Vec<Instruction> {
        program_in(Surroundings { network, on_host: network == Network::Blocked }, traps)
    }

    fn program_in(around: Surroundings, traps: Option<Traps>) -> Vec<Instruction> {
        bpf::assemble(&filter(around, traps))
    }

    fn first(value: i64) -> [u64; 6] {
        [value as u64, 0, 0, 0, 0, 0]
    }

    #[test]
    fn every_number_gets_the_answer_of_the_table() {
        for network in NETWORKS {
            for traps in [ALL, SOME, None] {
                let verdicts = filter(Surroundings { network, on_host: false }, traps);
                let program = bpf::assemble(&verdicts);
                assert!(program.len() < 4096, "BPF_MAXINSNS");
                for call in (0..1_000).chain([0x3fff_ffff]) {
                    // Register values that meet no condition, so that only Always is left; those of absence meet them.
                    let met = verdicts
                        .of(call)
                        .iter()
                        .find(|(when, _)| matches!(when, When::Always | When::NoneOf { .. } | When::Socket { .. }));
                    let wanted = met.map_or(ALLOW, |(_, with)| *with);
                    let args = [0x80_0000_0000_u64 | 0x0070_0000, 0, 0, 0, 0, 0];
                    assert_eq!(answer_to(&program, call.into(), args), wanted, "{call} {network:?}");
                }
            }
        }
    }

    #[test]
    fn foreign_architectures_die_and_x32_is_absent() {
        const I386: u32 = 0x4000_0003;
        let program = program(Network::Private, ALL);
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
        let program = program(Network::Private, ALL);
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
        let program = program(Network::Private, ALL);
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
        let socket = |family: i32, protocol: u64| [family as u64, 1, protocol, 0, 0, 0];
        for network in NETWORKS {
            let plain = program(network, None);
            let brokered = program(network, ALL);
            let refused = if network == Network::Blocked { TRAP } else { REFUSE };
            let open = network != Network::Blocked;
            for family in [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6] {
                assert_eq!(answer_to(&plain, libc::SYS_socket, socket(family, 0)) == ALLOW, open, "{network:?}");
            }
            for args in [socket(40, 0), socket(libc::AF_PACKET, 0), socket(libc::AF_NETLINK, 12)] {
                assert_eq!(answer_to(&plain, libc::SYS_socket, args), REFUSE, "{network:?}");
                assert_eq!(answer_to(&brokered, libc::SYS_socket, args), refused, "{network:?}");
            }
            assert_eq!(answer_to(&plain, libc::SYS_socket, socket(libc::AF_NETLINK, 0)), ALLOW, "{network:?}");
            let generic = answer_to(&plain, libc::SYS_socket, socket(libc::AF_NETLINK, 16));
            assert_eq!(generic == ALLOW, network == Network::Private, "{network:?}");
        }
    }

    #[test]
    fn a_loopback_without_a_namespace_is_tcp_that_a_broker_binds_and_connects() {
        let around = Surroundings { network: Network::Loopback, on_host: true };
        let (plain, brokered) = (program_in(around, None), program_in(around, ALL));
        let blocked = program_in(Surroundings { network: Network::Blocked, on_host: true }, None);
        assert_eq!(plain, blocked, "without a broker");
        assert_eq!(program_in(around, SOME).len(), program(Network::Blocked, SOME).len(), "without copies of sockets");
        let socket = |family: i32, kind: i32, protocol: i32| {
            answer_to(&brokered, libc::SYS_socket, [family as u64, kind as u64, protocol as u64, 0, 0, 0])
        };
        for family in [libc::AF_INET, libc::AF_INET6] {
            let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
            assert_eq!(socket(family, libc::SOCK_STREAM | flags, 0), ALLOW);
            assert_eq!(socket(family, libc::SOCK_STREAM, libc::IPPROTO_TCP), ALLOW);
            assert_eq!(socket(family, libc::SOCK_STREAM, libc::IPPROTO_MPTCP), NO_PROTOCOL);
            assert_eq!(socket(family, libc::SOCK_STREAM, libc::IPPROTO_SCTP), NO_PROTOCOL);
            for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_SEQPACKET, libc::SOCK_DGRAM | flags] {
                assert_eq!(socket(family, kind, 0), TRAP);
            }
        }
        assert_eq!(socket(libc::AF_UNIX, libc::SOCK_STREAM, 0), ALLOW);
        assert_eq!(socket(libc::AF_NETLINK, libc::SOCK_RAW, 0), ALLOW);
        assert_eq!(socket(libc::AF_NETLINK, libc::SOCK_RAW, 16), TRAP);
        let call = |number, second: i32| answer_to(&brokered, number, [3, second as u64, 0, 0, 0, 0]);
        assert_eq!(
            (call(libc::SYS_listen, 5), call(libc::SYS_bind, 0), call(libc::SYS_connect, 0)),
            (TRAP, TRAP, TRAP)
        );
        assert_eq!(call(libc::SYS_shutdown, libc::SHUT_WR), ALLOW);
        assert_eq!((call(libc::SYS_shutdown, libc::SHUT_RD), call(libc::SYS_shutdown, libc::SHUT_RDWR)), (TRAP, TRAP));
    }

    #[test]
    fn options_that_lead_a_connection_elsewhere_are_refused_where_the_broker_judges_addresses() {
        let around = Surroundings { network: Network::Loopback, on_host: true };
        let brokered = program_in(around, ALL);
        let set =
            |level: i32, name: i32| answer_to(&brokered, libc::SYS_setsockopt, [3, level as u64, name as u64, 0, 0, 0]);
        use libc::{IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, SOL_SOCKET};
        for name in [libc::SO_REUSEADDR, libc::SO_KEEPALIVE, libc::SO_RCVBUF, libc::SO_LINGER] {
            assert_eq!(set(SOL_SOCKET, name), ALLOW);
        }
        assert_eq!(set(SOL_SOCKET, libc::SO_REUSEPORT), IGNORE);
        assert_eq!(set(SOL_SOCKET, libc::SO_BINDTODEVICE), REFUSE);
        assert_eq!((set(IPPROTO_IP, libc::IP_TOS), set(IPPROTO_IP, 4)), (ALLOW, NO_OPTION));
        let (routing, flow_label) = (57, 32);
        assert_eq!(set(IPPROTO_IPV6, libc::IPV6_V6ONLY), ALLOW);
        assert_eq!((set(IPPROTO_IPV6, routing), set(IPPROTO_IPV6, flow_label)), (NO_OPTION, NO_OPTION));
        assert_eq!((set(IPPROTO_TCP, libc::TCP_NODELAY), set(IPPROTO_TCP, libc::TCP_KEEPIDLE)), (ALLOW, ALLOW));
        assert_eq!(set(IPPROTO_TCP, libc::TCP_FASTOPEN_CONNECT), NO_OPTION);
        assert_eq!((set(libc::SOL_NETLINK, 1), set(132, 1), set(255, 1)), (ALLOW, NO_OPTION, NO_OPTION));
        let private = program(Network::Private, ALL);
        assert_eq!(answer_to(&private, libc::SYS_setsockopt, [3, 0, 4, 0, 0, 0]), ALLOW);
    }

    #[test]
    fn on_the_host_an_open_network_has_sockets_by_path_where_a_broker_judges_them() {
        let socket = |family: i32| [family as u64, 1, 0, 0, 0, 0];
        let around = Surroundings { network: Network::Open, on_host: true };
        let (plain, brokered) = (program_in(around, None), program_in(around, ALL));
        assert_eq!(answer_to(&plain, libc::SYS_socket, socket(libc::AF_UNIX)), REFUSE);
        assert_eq!(answer_to(&brokered, libc::SYS_socket, socket(libc::AF_UNIX)), ALLOW);
        for family in [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK] {
            assert_eq!(answer_to(&plain, libc::SYS_socket, socket(family)), ALLOW);
        }
        assert_eq!(answer_to(&plain, libc::SYS_socketpair, socket(libc::AF_UNIX)), ALLOW);
    }

    #[test]
    fn unix_sockets_that_take_addresses_are_refused_where_a_broker_judges_addresses() {
        let program = program(Network::Private, SOME);
        for call in [libc::SYS_socket, libc::SYS_socketpair] {
            let of = |kind: i32| answer_to(&program, call, [1, kind as u64, 0, 0, 0, 0]);
            for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC] {
                assert_eq!(of(kind), REFUSE, "{kind:#x}");
            }
            for kind in [libc::SOCK_STREAM, libc::SOCK_SEQPACKET, libc::SOCK_STREAM | libc::SOCK_NONBLOCK] {
                assert_eq!(of(kind), ALLOW, "{kind:#x}");
            }
        }
        let udp = [libc::AF_INET as u64, libc::SOCK_DGRAM as u64, 0, 0, 0, 0];
        assert_eq!(answer_to(&program, libc::SYS_socket, udp), ALLOW);
    }

    #[test]
    fn the_limit_on_core_dumps_can_be_read_and_not_changed() {
        let program = program(Network::Private, ALL);
        let prlimit = |what, new: u64| answer_to(&program, libc::SYS_prlimit64, [0, what, new, 0, 0, 0]);
        let core = u64::from(libc::RLIMIT_CORE);
        assert_eq!((prlimit(core, 0), prlimit(core, 1), prlimit(core, 1 << 40)), (ALLOW, IGNORE, IGNORE));
        assert_eq!(prlimit(libc::RLIMIT_NOFILE.into(), 1), ALLOW);
        assert_eq!(answer_to(&program, libc::SYS_setrlimit, [core, 1, 0, 0, 0, 0]), IGNORE);
    }

    #[test]
    fn the_broker_hears_what_can_write_or_connect_and_of_reads_only_when_asked() {
        let program = program(Network::Private, SOME);
        let open =
            |program: &[Instruction], flags: i32| answer_to(program, libc::SYS_openat, [0, 0, flags as u64, 0, 0, 0]);
        for flags in [libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC] {
            assert_eq!(open(&program, flags | libc::O_CLOEXEC), TRAP);
        }
        let reading = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_DIRECTORY;
        let reads = program_in(Surroundings { network: Network::Private, on_host: false }, ALL);
        assert_eq!((open(&program, reading), open(&reads, reading)), (ALLOW, TRAP));
        for program in [&program, &reads] {
            assert_eq!(open(program, libc::O_PATH | libc::O_RDWR), ALLOW);
        }
        assert_eq!(answer_to(&program, libc::SYS_connect, [0; 6]), TRAP);
        let send = |flags, address| answer_to(&program, libc::SYS_sendto, [0, 0, 0, flags, address, 0]);
        assert_eq!((send(0, 0), send(0, 1), send(0, 1 << 40)), (ALLOW, TRAP, TRAP));
        let fast = libc::MSG_FASTOPEN as u64;
        assert_eq!((send(fast, 0), send(fast, 1)), (UNSUPPORTED, UNSUPPORTED));
        assert_eq!(answer_to(&program, libc::SYS_sendmsg, [0, 0, fast, 0, 0, 0]), UNSUPPORTED);
        for call in [libc::SYS_openat2, libc::SYS_renameat2, libc::SYS_linkat, libc::SYS_execve] {
            assert_eq!(answer_to(&program, call, [0; 6]), TRAP);
        }
        for call in table::METADATA {
            assert_eq!((answer_to(&program, *call, [0; 6]), answer_to(&reads, *call, [0; 6])), (ALLOW, TRAP));
        }
        assert_eq!(answer_to(&program, libc::SYS_prctl, [libc::PR_SET_DUMPABLE as u64, 0, 0, 0, 0, 0]), IGNORE);
        assert_eq!(answer_to(&program, libc::SYS_prctl, [libc::PR_SET_NAME as u64, 0, 0, 0, 0, 0]), ALLOW);
        assert_eq!(answer_to(&program, libc::SYS_mount, [0; 6]), REFUSE);
    }
}
