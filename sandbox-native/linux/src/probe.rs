//! Facts of this machine, found by really trying in children that end at once. What fails for a reason of its own in a
//! real run is still reported by the run; these facts are for planning.

use crate::enforced::errno_name;
use crate::mount_kinds::{NewFs, new_fs};
use crate::namespaces::{self, Ids};
use crate::sys::{self, CloneOutcome, attr};
use plan::{ContainerFact, LinuxFacts, NamespaceFacts, NamespaceKind, SysctlFacts};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::process::WaitOptions;
use rustix::thread::CapabilitySet;
use std::os::fd::AsFd;

/// Tries everything. Takes a few milliseconds, most of them for two network namespaces.
pub fn facts() -> LinuxFacts {
    let cap_sys_admin = rustix::thread::capabilities(None)
        .is_ok_and(|capabilities| capabilities.effective.contains(CapabilitySet::SYS_ADMIN));
    let user = try_namespaces(true);
    let without_user = if cap_sys_admin { try_namespaces(false) } else { Tried::failed(Errno::PERM) };
    let way = if user.made.is_ok() { &user } else { &without_user };
    let filters = try_filters();
    LinuxFacts {
        kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
        landlock_abi: sys::landlock_abi(),
        namespaces: NamespaceFacts {
            user: user.made.is_ok(),
            user_errno: user.made.err().map(errno_name),
            without_user: without_user.made.is_ok(),
            proc_mount: way.proc.is_ok(),
            proc_errno: way.proc.err().map(errno_name),
        },
        mount_setattr: way.setattr.is_ok(),
        openat2: knows_openat2(),
        seccomp_filter: filters.filter,
        user_notification: filters.listener,
        socket_copies: crate::broker::can_copy_sockets(),
        no_new_privs: filters.no_new_privs,
        uid: rustix::process::geteuid().as_raw(),
        gid: rustix::process::getegid().as_raw(),
        cap_sys_admin,
        limits: crate::limits::facts(|work| in_child(0, work).unwrap_or_default()),
        filtered: is_filtered(),
        lsm: std::fs::read_to_string("/sys/kernel/security/lsm").ok().map(|text| text.trim().to_owned()),
        container: container_signs(),
        sysctls: SysctlFacts {
            max_user_namespaces: sysctl("user/max_user_namespaces"),
            unprivileged_userns_clone: sysctl("kernel/unprivileged_userns_clone"),
            apparmor_restrict_unprivileged_userns: sysctl("kernel/apparmor_restrict_unprivileged_userns"),
            yama_ptrace_scope: sysctl("kernel/yama/ptrace_scope"),
        },
    }
}

/// Opens for reading: the broker of an outer sandbox refuses openat2(2) for descriptors that only name (`hold_place`).
fn knows_openat2() -> bool {
    rustix::fs::openat2(CWD, "/", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS).is_ok()
}

/// Runs `work` in a child and gives the bytes it returns; an error is why there was no child.
fn in_child(flags: libc::c_int, work: impl FnOnce() -> Vec<u8>) -> Result<Vec<u8>, Errno> {
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    match sys::clone_process(flags)? {
        CloneOutcome::Child => {
            let told = rustix::io::write(&write, &work());
            std::process::exit(i32::from(told.is_err()));
        }
        CloneOutcome::Parent { pid, .. } => {
            drop(write);
            let mut bytes = [0_u8; 16];
            let count = rustix::io::read(&read, &mut bytes)?;
            rustix::process::waitpid(rustix::process::Pid::from_raw(pid), WaitOptions::empty())?;
            Ok(bytes.get(..count).unwrap_or_default().to_vec())
        }
    }
}

struct Tried {
    made: Result<(), Errno>,
    proc: Result<(), Errno>,
    setattr: Result<(), Errno>,
}

impl Tried {
    fn failed(errno: Errno) -> Tried {
        Tried { made: Err(errno), proc: Err(errno), setattr: Err(errno) }
    }
}

fn try_namespaces(with_user: bool) -> Tried {
    use NamespaceKind::{Ipc, Mount, Net, Pid, User, Uts};
    let kinds = [Mount, Pid, Ipc, Uts, Net, User];
    let kinds = kinds.get(..if with_user { 6 } else { 5 }).unwrap_or_default();
    let ids = Ids::current();
    let results = in_child(namespaces::flags(kinds), || {
        let mapped = if with_user { ids.map() } else { Ok(()) };
        let proc = new_fs(NewFs::Proc).map(drop);
        let folder = new_fs(NewFs::Folder { mode: "0755" });
        let setattr = folder.and_then(|made| sys::add_mount_attributes(made.as_fd(), attr::RDONLY, true));
        vec![
            errno_byte(mapped.map_err(|failure| failure.errno.unwrap_or(Errno::IO))),
            errno_byte(proc),
            errno_byte(setattr),
        ]
    });
    match results.as_deref() {
        Ok([mapped, proc, setattr]) => {
            Tried { made: from_byte(*mapped), proc: from_byte(*proc), setattr: from_byte(*setattr) }
        }
        Ok(_) => Tried::failed(Errno::IO),
        Err(errno) => Tried::failed(*errno),
    }
}

/// 0 for success, else the errno: those of Linux that these calls give are below 256.
fn errno_byte(result: Result<(), Errno>) -> u8 {
    result.err().map_or(0, |errno| u8::try_from(errno.raw_os_error()).unwrap_or(u8::MAX))
}

fn from_byte(byte: u8) -> Result<(), Errno> {
    if byte == 0 { Ok(()) } else { Err(Errno::from_raw_os_error(byte.into())) }
}

struct Filters {
    no_new_privs: bool,
    filter: bool,
    listener: bool,
}

fn try_filters() -> Filters {
    let tried = in_child(0, || {
        let privs = rustix::thread::set_no_new_privs(true);
        let listener = sys::load_filter_listened(&crate::seccomp::ALLOW_ALL).map(drop);
        let filter = sys::load_filter(&crate::seccomp::ALLOW_ALL);
        vec![errno_byte(privs), errno_byte(filter), errno_byte(listener)]
    });
    match tried.as_deref() {
        Ok([privs, filter, listener]) => {
            Filters { no_new_privs: *privs == 0, filter: *filter == 0, listener: *listener == 0 }
        }
        _ => Filters { no_new_privs: false, filter: false, listener: false },
    }
}

fn sysctl(name: &str) -> Option<i64> {
    std::fs::read_to_string(format!("/proc/sys/{name}")).ok()?.trim().parse().ok()
}

/// Mode 2 of `Seccomp` in proc_pid_status(5) is a filter; none of ours is on this process.
fn is_filtered() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().any(|line| line.strip_prefix("Seccomp:").is_some_and(|mode| mode.trim() == "2"))
}

/// Files that container engines leave, variables that they set, and names that they give to cgroups.
fn container_signs() -> Vec<ContainerFact> {
    let sign = |kind: &str, found: &str| ContainerFact { kind: kind.into(), found: found.into() };
    let files = ["/.dockerenv", "/run/.containerenv"].into_iter().filter(|path| std::path::Path::new(path).exists());
    let variables = ["container", "KUBERNETES_SERVICE_HOST", "DOCKER_CONTAINER"].into_iter();
    let variables = variables.filter(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    let cgroup = std::fs::read_to_string("/proc/1/cgroup").unwrap_or_default();
    let engines = ["docker", "containerd", "kubepods", "libpod", "podman", "lxc", "garden"];
    let lines = cgroup.lines().filter(|line| engines.iter().any(|engine| line.contains(engine)));
    files
        .map(|path| sign("file", path))
        .chain(variables.map(|name| sign("env", name)))
        .chain(lines.take(1).map(|line| sign("cgroup", line)))
        .collect()
}
