//! The broker: answers the calls that the filter traps. It never lets a call on files go on in the caller: it reads what the
//! registers point at once, resolves the path itself, asks the guard about the place that it holds, and makes the call on
//! that very place. It is under the command's own mounts and Landlock domain, so a mistake in it can't exceed the policy,
//! and it has one thread, so two of its decisions can't race with each other.

mod addresses;
mod call;
mod caller;
mod config;
mod connects;
mod denials;
mod exec;
mod fifo;
mod inner;
mod judge;
mod loopback;
mod metadata;
mod names;
mod open;
mod resolve;
mod sockets;
mod unix_sockets;

use crate::enforced::Failure;
use crate::link::{Link, Message};
use crate::seccomp::Traps;
use crate::sys;
pub use call::{Answer, Call};
use denials::Denials;
use fifo::Fifos;
use inner::Domains;
use judge::Judge;
use loopback::Loopback;
use plan::{LinuxPlan, Network, ObservedDenial, PlanOp, Report};
use rustix::io::Errno;
use sockets::Sockets;
pub use sockets::can_copy as can_copy_sockets;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// A broker that has no listener yet.
pub struct Ready {
    pub traps: Traps,
    judge: Judge,
    denials: Denials,
    network: Network,
    sockets: Sockets,
}

/// Answers the calls that one filter traps.
pub struct Broker {
    listener: OwnedFd,
    judge: Judge,
    denials: Denials,
    network: Network,
    fifos: Fifos,
    domains: Domains,
    sockets: Sockets,
    loopback: Loopback,
    /// A refusal that may have done no harm.
    doubtful: Option<ObservedDenial>,
    /// Whether connects and binds are carried out here.
    judges_sockets: bool,
}

impl Ready {
    /// What this plan wants; none where it wants no broker. Made where the broker will run.
    pub fn new(plan: &LinuxPlan, tmpdir: Option<String>) -> Option<Result<Ready, Failure>> {
        let guard = plan.ops.iter().find_map(|op| match op {
            PlanOp::Broker { guard, .. } => Some(guard),
            _ => None,
        })?;
        let network = plan.ops.iter().find_map(|op| match op {
            PlanOp::Seccomp { network, .. } => Some(*network),
            _ => None,
        });
        let traps = Traps { reads: guard.reads, metadata: guard.metadata, sockets: sockets::can_copy() };
        let network = network.unwrap_or(Network::Open);
        let network = if traps.sockets { network } else { network.without_broker() };
        let made = check_ground().and_then(|()| Judge::new(guard));
        Some(made.map(|judge| Ready {
            traps,
            judge,
            denials: Denials::new(plan, tmpdir),
            network,
            sockets: Sockets::new(&guard.unix),
        }))
    }

    /// Goes to work for the tree below a command.
    pub fn listen(self, listener: OwnedFd, command: libc::pid_t) -> Broker {
        sys::enable_sync_wakeup(listener.as_fd());
        let Ready { traps, judge, denials, network, sockets } = self;
        Broker {
            listener,
            judge,
            denials,
            network,
            fifos: Fifos::default(),
            domains: Domains::below(command),
            sockets,
            loopback: Loopback::default(),
            doubtful: None,
            judges_sockets: traps.sockets,
        }
    }
}

/// What a broker can't do without: /proc of this pid namespace, and the memory of its callers.
fn check_ground() -> Result<(), Failure> {
    let me = rustix::fs::readlinkat(rustix::fs::CWD, "/proc/self", Vec::new());
    let me = me.map_err(Failure::at("read /proc/self"))?;
    if me.to_str().ok().and_then(|pid| pid.parse().ok()) != Some(rustix::process::getpid().as_raw_nonzero().get()) {
        return Err(Failure::plain("The /proc in the view is not of this pid namespace"));
    }
    // From 2 on only CAP_SYS_PTRACE reads the memory of others, and that is gone.
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    match scope.trim() {
        "2" | "3" => {
            Err(Failure::plain(format!("kernel.yama.ptrace_scope is {}: no memory can be read", scope.trim())))
        }
        _ => Ok(()),
    }
}

impl Broker {
    pub fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// How long poll may wait, if something has to be tried again.
    pub fn pause(&self) -> Option<Duration> {
        [self.fifos.pause(), self.sockets.connects.pause(), self.loopback.pause()].into_iter().flatten().min()
    }

    /// Takes one call and answers it. An error means that nobody is left who could be trapped.
    pub fn serve(&mut self, link: &Link) -> Result<(), Errno> {
        let notice = match sys::receive_notice(self.listener()) {
            Ok(notice) => notice,
            // The caller was killed while it waited.
            Err(Errno::NOENT | Errno::INTR | Errno::AGAIN) => return Ok(()),
            Err(errno) => return Err(errno),
        };
        let call = Call::new(&notice, link);
        let answer = self.decide(&call).unwrap_or_else(Answer::Fail);
        answer.give(self.listener(), notice.id);
        Ok(())
    }

    /// Tells what was kept back, when the command has failed.
    pub fn conclude(&mut self, link: &Link) {
        if let Some(denial) = self.doubtful.take() {
            let _ = link.send(&Message::Event(Box::new(Report::Denial(denial))));
        }
    }

    /// Tries again what had to wait.
    pub fn retry(&mut self, _: &Link) {
        self.fifos.retry(self.listener.as_fd());
        self.sockets.connects.look(self.listener.as_fd());
        self.loopback.look();
    }

    fn decide(&mut self, call: &Call<'_>) -> Result<Answer, Errno> {
        match call.number {
            libc::SYS_connect | libc::SYS_sendto | libc::SYS_bind | libc::SYS_socket => self.socket_call(call),
            libc::SYS_listen => self.listen_call(call),
            libc::SYS_shutdown => self.shutdown_call(call),
            libc::SYS_landlock_restrict_self => self.domains.note(call),
            libc::SYS_execve | libc::SYS_execveat => {
                self.execute(call);
                Ok(Answer::Continue)
            }
            libc::SYS_openat | libc::SYS_openat2 => self.open_call(call),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open | libc::SYS_creat => self.open_call(call),
            _ if metadata::is_one(call.number) => self.metadata_call(call),
            _ => self.name_call(call),
        }
    }

    /// Nothing is made for a caller that is gone: what was read could be of another process that has its pid.
    fn still_waits(&self, call: &Call<'_>) -> Result<(), Errno> {
        if sys::notice_is_live(self.listener(), call.id) { Ok(()) } else { Err(Errno::SRCH) }
    }
}
