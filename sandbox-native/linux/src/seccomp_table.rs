//! What is refused, and why. The kernel's default answer is to allow: a list of what is allowed breaks with each new
//! libc, and the view, the namespaces and Landlock already confine what an ordinary call can reach.

use libc::*;

/// open_tree_attr(2), since Linux 6.15 and younger than the libc crate: the same number everywhere.
const OPEN_TREE_ATTR: c_long = 467;

/// Refused with EPERM whatever the arguments are.
pub const REFUSED: &[(c_long, &str)] = &[
    (SYS_mount, "mounts would change the view"),
    (SYS_umount2, "would uncover what is hidden"),
    (SYS_pivot_root, "would leave the view"),
    (SYS_chroot, "needs a capability that is gone; a user namespace would give it back"),
    (SYS_open_tree, "mounts would change the view"),
    (SYS_move_mount, "mounts would change the view"),
    (SYS_fsopen, "file system drivers are attack surface"),
    (SYS_fsconfig, "file system drivers are attack surface"),
    (SYS_fsmount, "mounts would change the view"),
    (SYS_fspick, "would change a mounted file system"),
    (SYS_mount_setattr, "would make read-only mounts writable"),
    (SYS_setns, "would enter another namespace by descriptor"),
    (SYS_open_by_handle_at, "opens files past the view"),
    (SYS_name_to_handle_at, "makes what open_by_handle_at opens"),
    (SYS_keyctl, "keyrings belong to the user and not to the view: session keys are secrets"),
    (SYS_add_key, "as keyctl"),
    (SYS_request_key, "as keyctl, and it makes the kernel run a program of the host"),
    (SYS_bpf, "programs in the kernel"),
    (SYS_perf_event_open, "samples other processes and the kernel"),
    (SYS_userfaultfd, "makes kernel races easy to win"),
    (SYS_io_uring_setup, "does opens and connects that no filter and no listener sees"),
    (SYS_io_uring_enter, "as io_uring_setup, for a ring that was passed in"),
    (SYS_io_uring_register, "as io_uring_setup, for a ring that was passed in"),
    (SYS_kexec_load, "replaces the kernel"),
    (SYS_kexec_file_load, "replaces the kernel"),
    (SYS_init_module, "code in the kernel"),
    (SYS_finit_module, "code in the kernel"),
    (SYS_delete_module, "code in the kernel"),
    (SYS_reboot, "the machine"),
    (SYS_swapon, "the machine"),
    (SYS_swapoff, "the machine"),
    (SYS_acct, "the machine: writes a file of the host at each exit"),
    (SYS_quotactl, "the machine's quotas"),
    (SYS_settimeofday, "the machine's clock"),
    (SYS_clock_settime, "the machine's clock"),
    (SYS_clock_adjtime, "the machine's clock"),
    (SYS_adjtimex, "the machine's clock"),
    (SYS_syslog, "kernel addresses and messages of the host"),
    (SYS_lookup_dcookie, "kernel profiling, gone from new kernels"),
    (SYS_vhangup, "ends the session on the terminal"),
    (SYS_move_pages, "learns the layout of other processes"),
    (SYS_migrate_pages, "moves memory of other processes"),
    (SYS_kcmp, "compares kernel pointers of processes"),
    (OPEN_TREE_ATTR, "mounts would change the view"),
    (SYS_quotactl_fd, "the machine's quotas"),
];

/// Refused on x86-64 only.
#[cfg(target_arch = "x86_64")]
pub const REFUSED_HERE: &[(c_long, &str)] = &[
    (SYS_ioperm, "hardware"),
    (SYS_iopl, "hardware"),
    (SYS_modify_ldt, "old, and a source of kernel bugs"),
    (SYS_uselib, "old, and a source of kernel bugs"),
    (SYS_ustat, "old"),
    (SYS_sysfs, "old"),
    (SYS__sysctl, "kernel settings"),
    (SYS_nfsservctl, "old"),
];
/// Refused on this architecture only.
#[cfg(not(target_arch = "x86_64"))]
pub const REFUSED_HERE: &[(c_long, &str)] = &[];

/// setxattrat(2), removexattrat(2) and file_setattr(2), since Linux 6.13 and 6.17.
pub const SETXATTRAT: c_long = 463;
pub const REMOVEXATTRAT: c_long = 466;
pub const FILE_SETATTR: c_long = 469;

/// Answered by the broker whatever the registers hold: what names a place that it makes, changes or removes, and what
/// executes. open(2) and openat(2) are not here: their flags decide.
#[cfg(target_arch = "x86_64")]
pub const TRAPPED: &[c_long] = &[
    SYS_openat2,
    SYS_creat,
    SYS_mkdir,
    SYS_mkdirat,
    SYS_mknod,
    SYS_mknodat,
    SYS_symlink,
    SYS_symlinkat,
    SYS_link,
    SYS_linkat,
    SYS_rename,
    SYS_renameat,
    SYS_renameat2,
    SYS_unlink,
    SYS_unlinkat,
    SYS_rmdir,
    SYS_truncate,
    SYS_execve,
    SYS_execveat,
    SYS_landlock_restrict_self,
];
/// As above, where the kernel has only the younger calls.
#[cfg(not(target_arch = "x86_64"))]
pub const TRAPPED: &[c_long] = &[
    SYS_openat2,
    SYS_mkdirat,
    SYS_mknodat,
    SYS_symlinkat,
    SYS_linkat,
    SYS_renameat,
    SYS_renameat2,
    SYS_unlinkat,
    SYS_truncate,
    SYS_execve,
    SYS_execveat,
    SYS_landlock_restrict_self,
];

/// Answered by the broker where it guards mode, owner, times and attributes.
#[cfg(target_arch = "x86_64")]
pub const METADATA: &[c_long] = &[
    SYS_chmod,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchmodat2,
    SYS_chown,
    SYS_lchown,
    SYS_fchown,
    SYS_fchownat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
    SYS_utimensat,
];
/// As above, where the kernel has only the younger calls.
#[cfg(not(target_arch = "x86_64"))]
pub const METADATA: &[c_long] = &[
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchmodat2,
    SYS_fchown,
    SYS_fchownat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
    SYS_utimensat,
];

/// The names of trapped calls, for reports.
pub const NAMES: &[(c_long, &str)] = &[
    #[cfg(target_arch = "x86_64")]
    (SYS_open, "open"),
    (SYS_openat, "openat"),
    (SYS_openat2, "openat2"),
    #[cfg(target_arch = "x86_64")]
    (SYS_creat, "creat"),
    #[cfg(target_arch = "x86_64")]
    (SYS_mkdir, "mkdir"),
    (SYS_mkdirat, "mkdirat"),
    #[cfg(target_arch = "x86_64")]
    (SYS_mknod, "mknod"),
    (SYS_mknodat, "mknodat"),
    #[cfg(target_arch = "x86_64")]
    (SYS_symlink, "symlink"),
    (SYS_symlinkat, "symlinkat"),
    #[cfg(target_arch = "x86_64")]
    (SYS_link, "link"),
    (SYS_linkat, "linkat"),
    #[cfg(target_arch = "x86_64")]
    (SYS_rename, "rename"),
    (SYS_renameat, "renameat"),
    (SYS_renameat2, "renameat2"),
    #[cfg(target_arch = "x86_64")]
    (SYS_unlink, "unlink"),
    (SYS_unlinkat, "unlinkat"),
    #[cfg(target_arch = "x86_64")]
    (SYS_rmdir, "rmdir"),
    (SYS_truncate, "truncate"),
    (SYS_execve, "execve"),
    (SYS_execveat, "execveat"),
    (SYS_connect, "connect"),
    (SYS_bind, "bind"),
    (SYS_listen, "listen"),
    (SYS_shutdown, "shutdown"),
    (SYS_sendto, "sendto"),
    (SYS_socket, "socket"),
    #[cfg(target_arch = "x86_64")]
    (SYS_chmod, "chmod"),
    (SYS_fchmod, "fchmod"),
    (SYS_fchmodat, "fchmodat"),
    (SYS_fchmodat2, "fchmodat2"),
    #[cfg(target_arch = "x86_64")]
    (SYS_chown, "chown"),
    #[cfg(target_arch = "x86_64")]
    (SYS_lchown, "lchown"),
    (SYS_fchown, "fchown"),
    (SYS_fchownat, "fchownat"),
    (SYS_setxattr, "setxattr"),
    (SYS_lsetxattr, "lsetxattr"),
    (SYS_fsetxattr, "fsetxattr"),
    (SYS_removexattr, "removexattr"),
    (SYS_lremovexattr, "lremovexattr"),
    (SYS_fremovexattr, "fremovexattr"),
    #[cfg(target_arch = "x86_64")]
    (SYS_utime, "utime"),
    #[cfg(target_arch = "x86_64")]
    (SYS_utimes, "utimes"),
    #[cfg(target_arch = "x86_64")]
    (SYS_futimesat, "futimesat"),
    (SYS_utimensat, "utimensat"),
    (SETXATTRAT, "setxattrat"),
    (REMOVEXATTRAT, "removexattrat"),
    (FILE_SETATTR, "file_setattr"),
];

/// Namespace flags of clone(2) and unshare(2): a user namespace gives capabilities over new mounts and new sockets, and
/// with them most of the kernel's attack surface.
pub const NAMESPACE_FLAGS: [c_int; 7] =
    [CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP];

/// Also a namespace, but its bit is part of clone's exit signal: unshare only.
pub const CLONE_NEWTIME: c_int = 0x80;

/// ioctls that type into the terminal (TIOCSTI) or paste into the console (TIOCLINUX): what is typed runs outside. And
/// TIOCSETD, which loads a line discipline: old kernel code, and the terminal keeps it when the command has ended.
/// Compared on 32 bits, since the kernel looks at no more (CVE-2019-10063).
pub const REFUSED_IOCTLS: [u32; 3] = [0x5412, 0x541c, 0x5423];

/// Values of personality(2) that change nothing that protects: Linux, 32-bit uname, UNAME26, no randomisation (gdb,
/// setarch -R), and the query. What is left over is READ_IMPLIES_EXEC and old systems.
pub const PERSONALITIES: [u32; 6] = [0, 8, 0x0002_0000, 0x0002_0008, 0x0004_0000, 0xffff_ffff];

/// Socket families that stay open where a namespace or the policy allows the network. Everything else (vsock, packet,
/// alg, bluetooth, …) reaches the hypervisor, the wire or rare kernel code.
pub const OPEN_FAMILIES: [c_int; 4] = [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK];

/// The same where the command is on the host's file system: what listens at a path there (docker, D-Bus, ssh-agent) would
/// run programs for it without any sandbox, and Landlock can't refuse the connect before ABI 9. socketpair(2) stays.
pub const OPEN_FAMILIES_ON_HOST: [c_int; 3] = [AF_INET, AF_INET6, AF_NETLINK];

/// Where sockets are refused, this family stays: node, python and getaddrinfo list interfaces through it, and changing
/// anything needs CAP_NET_ADMIN. AF_UNIX is not here: sockets of the host (docker, D-Bus, ssh-agent) are reachable by
/// path, and Landlock can't refuse that before ABI 9. socketpair(2) needs no family and stays.
pub const ALWAYS_OPEN_FAMILY: c_int = AF_NETLINK;

/// Netlink protocols that stay open: NETLINK_ROUTE, SOCK_DIAG (ss), KOBJECT_UEVENT (libudev), GENERIC.
pub const NETLINK_PROTOCOLS: [c_int; 4] = [0, 4, 15, 16];
/// Netlink protocols that stay open without a network namespace: NETLINK_ROUTE.
pub const NETLINK_PROTOCOLS_HOST: [c_int; 1] = [0];

/// Options of TCP sockets that choose another way for their packets than the address, put the connect off until the first
/// send, or let a process of the host listen on the same port: source routes (IP_OPTIONS, IPV6_RTHDR, flow labels with
/// either), devices, TCP_FASTOPEN_CONNECT, protocols on top (TCP_ULP). Where the broker judges addresses, all options of IP that are not known to be
/// harmless are refused; programs set them for speed and do without.
pub const IP_OPTIONS_LEFT: [c_int; 8] =
    [IP_TOS, IP_TTL, IP_RECVTOS, IP_RECVTTL, IP_RECVERR, IP_MTU_DISCOVER, IP_BIND_ADDRESS_NO_PORT, IP_PKTINFO];
/// As above, of IPv6.
pub const IPV6_OPTIONS_LEFT: [c_int; 8] = [
    IPV6_V6ONLY,
    IPV6_UNICAST_HOPS,
    IPV6_TCLASS,
    IPV6_RECVTCLASS,
    IPV6_RECVERR,
    IPV6_MTU_DISCOVER,
    IPV6_RECVPKTINFO,
    IPV6_RECVHOPLIMIT,
];
/// As above, of TCP: these are refused.
pub const TCP_OPTIONS_REFUSED: [c_int; 4] = [TCP_FASTOPEN, TCP_FASTOPEN_CONNECT, TCP_ULP, TCP_REPAIR];
/// As above, of every socket: these are refused. Devices, SO_MARK, programs that pick a socket of a group.
pub const SOCKET_OPTIONS_REFUSED: [c_int; 5] =
    [SO_BINDTODEVICE, SO_BINDTOIFINDEX, SO_MARK, SO_ATTACH_REUSEPORT_CBPF, SO_ATTACH_REUSEPORT_EBPF];
/// The levels of options that are left at all.
pub const OPTION_LEVELS: [c_int; 5] = [SOL_SOCKET, IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, SOL_NETLINK];
