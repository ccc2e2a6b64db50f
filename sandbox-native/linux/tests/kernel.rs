//! Attempts on the kernel's side: system calls that must fail inside and the twins that must work. This test program
//! runs itself as the command: `attempt` makes one call and exits with its errno.

mod support;

use support::{As, Ended, Place, golden, run_plan, tiers};

/// Not a test of its own: makes the call that ATTEMPT names and exits with the errno, 0 when it worked.
#[test]
#[ignore = "runs inside the sandbox, started by the other tests"]
fn attempt() {
    let Ok(name) = std::env::var("ATTEMPT") else { return };
    // SAFETY: each call takes numbers, null pointers, or strings that live to its end; failing is what is wanted.
    let result = unsafe { call(&name) };
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    std::process::exit(if result < 0 { errno } else { 0 });
}

/// Makes one call.
///
/// # Safety
/// The process ends right after it.
unsafe fn call(name: &str) -> i64 {
    use libc::*;
    // SAFETY: as the caller says.
    unsafe {
        match name {
            "keyctl" => syscall(SYS_keyctl, 0, -3, 0),
            "add_key" => syscall(SYS_add_key, c"user".as_ptr(), c"k".as_ptr(), c"v".as_ptr(), 1, -3),
            "tiocsti" => ioctl(0, 0x5412, c"x".as_ptr()).into(),
            "tiocsti high bits" => syscall(SYS_ioctl, 0, 0x1_0000_5412_u64, c"x".as_ptr()),
            "tiocgwinsz" => ioctl(0, TIOCGWINSZ, &mut [0_u16; 4]).into(),
            "unshare user" => syscall(SYS_unshare, CLONE_NEWUSER),
            "unshare files" => syscall(SYS_unshare, CLONE_FILES),
            "clone user" => syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0),
            "clone3" => syscall(SYS_clone3, 0, 0),
            "bpf" => syscall(SYS_bpf, 0, 0, 0),
            "io_uring" => syscall(SYS_io_uring_setup, 1, 0),
            "userfaultfd" => syscall(SYS_userfaultfd, 0),
            "perf" => syscall(SYS_perf_event_open, 0, 0, -1, -1, 0),
            "mount" => mount(c"x".as_ptr(), c"/tmp".as_ptr(), c"tmpfs".as_ptr(), 0, std::ptr::null()).into(),
            "umount" => umount2(c"/proc".as_ptr(), MNT_DETACH).into(),
            "setns" => setns(0, 0).into(),
            "x32 getpid" => syscall(0x4000_0000 + SYS_getpid),
            "getpid" => syscall(SYS_getpid),
            "personality odd" => personality(0x0040_0000).into(),
            "personality query" => personality(0xffff_ffff).into(),
            "vsock" => socket(40, SOCK_STREAM, 0).into(),
            "packet" => socket(AF_PACKET, SOCK_RAW, 0).into(),
            "alg" => socket(AF_ALG, SOCK_SEQPACKET, 0).into(),
            "inet" => socket(AF_INET, SOCK_STREAM, 0).into(),
            "inet datagram" => socket(AF_INET, SOCK_DGRAM, 0).into(),
            "netlink route" => socket(AF_NETLINK, SOCK_RAW, 0).into(),
            "netlink netfilter" => socket(AF_NETLINK, SOCK_RAW, 12).into(),
            "socketpair" => socketpair(AF_UNIX, SOCK_STREAM, 0, [0; 2].as_mut_ptr()).into(),
            "kill host" => kill(std::env::var("HOST_PID").map_or(1, |pid| pid.parse().unwrap_or(1)), 0).into(),
            other => panic!("no attempt is named {other}"),
        }
    }
}

fn try_in(name: &str, surroundings: As, attempt: &str) -> Ended {
    let place = Place::new();
    let exe = place.top.join("attempts");
    let argv = [exe.to_str().expect("UTF-8"), "--exact", "attempt", "--ignored", "--nocapture"];
    let mut plan = golden(name, &place, &argv);
    plan["command"]["env"]["ATTEMPT"] = attempt.into();
    plan["command"]["env"]["HOST_PID"] = std::process::id().to_string().into();
    run_plan(&place, &plan, surroundings)
}

/// Checks the errno of each attempt in each tier.
fn expect(cases: &[(&str, i32)]) {
    for (name, surroundings) in tiers() {
        for (attempt, errno) in cases {
            let ended = try_in(name, surroundings, attempt);
            assert_eq!(ended.code, Some(*errno), "{attempt} in {name} as {surroundings:?}: {ended:#?}");
        }
    }
}

#[test]
fn calls_that_nobody_needs_are_refused() {
    let refused = [
        "keyctl",
        "add_key",
        "tiocsti",
        "tiocsti high bits",
        "unshare user",
        "clone user",
        "bpf",
        "io_uring",
        "userfaultfd",
        "perf",
        "mount",
        "umount",
        "setns",
        "personality odd",
        "vsock",
        "packet",
        "alg",
        "netlink netfilter",
    ];
    expect(&refused.map(|attempt| (attempt, libc::EPERM)));
}

#[test]
fn their_twins_work() {
    expect(&[
        ("tiocgwinsz", libc::ENOTTY),
        ("unshare files", 0),
        ("getpid", 0),
        ("personality query", 0),
        ("netlink route", 0),
        ("socketpair", 0),
    ]);
}

#[test]
fn clone3_and_the_x32_numbers_are_not_there() {
    expect(&[("clone3", libc::ENOSYS)]);
    #[cfg(target_arch = "x86_64")]
    expect(&[("x32 getpid", libc::ENOSYS)]);
}

#[test]
fn internet_sockets_are_those_of_tcp_where_the_network_is_not_private() {
    for (name, surroundings) in tiers() {
        let datagram = if name.starts_with("namespaces") { 0 } else { libc::EPERM };
        for (attempt, wanted) in [("inet", 0), ("inet datagram", datagram)] {
            let code = try_in(name, surroundings, attempt).code;
            assert_eq!(code, Some(wanted), "{attempt} in {name} as {surroundings:?}");
        }
    }
}

#[test]
fn host_processes_can_not_be_signalled() {
    for (name, surroundings) in tiers() {
        let code = try_in(name, surroundings, "kill host").code;
        assert!(matches!(code, Some(libc::EPERM | libc::ESRCH)), "{name} as {surroundings:?}: {code:?}");
    }
}

#[test]
fn kernel_settings_can_not_be_written_as_root_either() {
    let before = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    let script =
        "echo '|/x' > /proc/sys/kernel/core_pattern; echo h > /proc/sysrq-trigger; cat /proc/sys/kernel/ostype";
    support::in_every_tier(script, |told, _, ended| {
        assert_eq!(ended.stdout, "Linux\n", "{told}");
        assert_eq!(std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default(), before, "{told}");
    });
}

#[test]
fn privileges_are_gone_for_good() {
    support::in_every_tier("exec grep -E '^(Cap|NoNewPrivs)' /proc/self/status", |told, _, ended| {
        for line in ended.stdout.lines() {
            let (field, value) = line.split_once(":\t").expect("a field");
            let wanted = match field {
                "NoNewPrivs" => "1",
                // Without CAP_SETPCAP the bounding set can't be dropped, and under no_new_privs it gives nothing.
                "CapBnd" => continue,
                _ => "0000000000000000",
            };
            assert_eq!(value, wanted, "{field} {told}");
        }
    });
}

#[test]
fn the_environment_of_the_launcher_can_not_be_read() {
    let script = "cat /proc/1/environ /proc/$PPID/environ; cat /proc/self/environ | tr '\\0' '\\n' | grep -c ^PATH=";
    support::in_every_tier(script, |told, _, ended| {
        assert_eq!(ended.stdout, "1\n", "{told}");
    });
}
