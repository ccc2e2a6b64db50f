//! The supervisor: outside of everything it confines. It starts the tree, carries signals and control lines to it,
//! reports, and ends all of it when the command ends or the host goes away.

use crate::channel::{Channel, Received};
use crate::confine::Ground;
use crate::enforced::{Failure, Ledger, errno_name};
use crate::exit_code::{self, WaitStatus, signal_number};
use crate::guardian::{self, Above};
use crate::limits::Limits;
use crate::link::{Link, Message};
use crate::namespaces::{self, Ids};
use crate::private_tmp::{self, HostFolder};
use crate::signals::Forwarder;
use crate::sys::{self, CloneOutcome};
use crate::{descriptors, init, reap};
use plan::{Control, LinuxPlan, PlanOp, Report, TmpPlace};
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Signal, WaitOptions};
use std::os::fd::{AsFd, OwnedFd, RawFd};

/// Reads a plan from the channel, carries it out, and gives the exit code.
pub fn run(channel: RawFd) -> i32 {
    let Ok(channel) = descriptors::clean(channel) else { return exit_code::USAGE };
    let mut channel = Channel::new(channel);
    let plan = match channel.wait() {
        Received::Control(Control::Plan { plan }) => plan,
        Received::Unusable(why) => return refuse(&channel, why),
        Received::Control(_) => return refuse(&channel, "The first line is no plan".into()),
        Received::Nothing | Received::Closed => return exit_code::REFUSED,
    };
    carry_out(&plan, channel)
}

fn refuse(channel: &Channel, why: String) -> i32 {
    channel.send(&Report::Refused { property: None, op: "plan".into(), why, errno: None, ops: Vec::new() });
    exit_code::REFUSED
}

/// Carries out a plan and reports to the channel; gives the exit code.
pub fn carry_out(plan: &LinuxPlan, channel: Channel) -> i32 {
    if let Err(fault) = plan::check_order(plan) {
        return refuse(&channel, fault.to_string());
    }
    let mut host_tmp = (private_tmp::wanted(plan) == Some(TmpPlace::Host)).then(HostFolder::make);
    let mut limits = Limits::prepare(plan);
    let unbounded = !plan.ops.iter().any(|op| matches!(op, PlanOp::Namespaces { .. }));
    let removes = limits.as_ref().is_some_and(Limits::has_group);
    let started =
        match if unbounded || removes { guardian::stand_above(channel) } else { Ok(Above::Supervisor(channel)) } {
            // The folder and the control groups go with this scope, here too: the supervisor may have been killed.
            Ok(Above::Guardian(code)) => return code,
            Ok(Above::Supervisor(channel)) => start(plan, channel, (host_tmp.take(), limits.take())),
            Err(failed) => Err(failed),
        };
    match started {
        Ok(Started::Inside(code)) => code,
        Ok(Started::Outside(supervisor)) => supervisor.stay(),
        Err((channel, failure)) => {
            channel.send(&Ledger::new(plan).refuse("supervisor", failure));
            exit_code::REFUSED
        }
    }
}

enum Started {
    /// This is the new process, at its end: exit with this code.
    Inside(i32),
    /// This is the supervisor.
    Outside(Box<Supervisor>),
}

struct Supervisor {
    channel: Channel,
    /// Until the other end closes it.
    link: Option<Link>,
    /// What init said about the end.
    told: Option<Ended>,
    signals: OwnedFd,
    forwarder: Forwarder,
    /// The process that was started: the warden.
    first: libc::pid_t,
    first_fd: OwnedFd,
    /// The warden's end is the end of all that it started.
    in_namespaces: bool,
    host_tmp: Option<HostFolder>,
    limits: Option<Limits>,
}

/// What is made on the host for one run and removed at its end.
type Made = (Option<Result<HostFolder, Failure>>, Option<Limits>);

fn start(plan: &LinuxPlan, channel: Channel, (host_tmp, limits): Made) -> Result<Started, (Channel, Failure)> {
    sys::mask_all_signals();
    let prepared = || -> Result<_, Failure> {
        let signals = sys::make_signalfd(&Forwarder::SIGNALS).map_err(Failure::at("signalfd"))?;
        let (mine, theirs) = Link::pair().map_err(Failure::at("socketpair"))?;
        Ok((signals, mine, theirs))
    };
    let (signals, mine, theirs) = match prepared() {
        Ok(made) => made,
        Err(failure) => return Err((channel, failure)),
    };
    let (namespaces, cloned) = clone_first(plan);
    match cloned {
        Ok(CloneOutcome::Child) => {
            drop((signals, mine));
            let named = host_tmp.as_ref().map(|made| made.as_ref().map(HostFolder::path).map_err(|f| f.why.clone()));
            let ground = Ground { plan, namespaces, host_tmp: named, limits: limits.as_ref() };
            let code = init::run(&ground, channel.for_child(), theirs);
            // They are the supervisor's to remove.
            std::mem::forget((host_tmp, limits));
            Ok(Started::Inside(code))
        }
        Ok(CloneOutcome::Parent { pid, pidfd }) => {
            drop(theirs);
            // Nothing of the confined tree may look into this process, which is outside.
            let _ = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
            Ok(Started::Outside(Box::new(Supervisor {
                channel,
                link: Some(mine),
                told: None,
                signals,
                forwarder: Forwarder::default(),
                first: pid,
                first_fd: pidfd,
                in_namespaces: namespaces.is_ok(),
                host_tmp: host_tmp.and_then(Result::ok),
                limits,
            })))
        }
        Err(errno) => Err((channel, Failure::at("clone")(errno))),
    }
}

/// Starts the first process, in namespaces if the plan has them and the kernel gives them; else without, and why.
fn clone_first(plan: &LinuxPlan) -> (Result<Ids, String>, Result<CloneOutcome, Errno>) {
    let kinds = plan.ops.iter().find_map(|op| match op {
        PlanOp::Namespaces { kinds, .. } => Some(kinds),
        _ => None,
    });
    let ids = Ids::current();
    let why = match kinds.map(|kinds| sys::clone_process(namespaces::flags(kinds))) {
        Some(Ok(outcome)) => return (Ok(ids), Ok(outcome)),
        Some(Err(errno)) => format!("clone: {}", errno_name(errno)),
        None => "The plan has none".into(),
    };
    // Without a pid namespace, orphans come to this process and not to the host's, so that none is left at the end.
    let subreaper = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    (Err(why), subreaper.and_then(|()| sys::clone_process(0)))
}

impl Supervisor {
    /// Serves until the command has ended, ends what it left, and reports.
    fn stay(mut self) -> i32 {
        // What came with the plan is read already, and poll would not tell.
        self.obey();
        let ended = loop {
            if let Some(ended) = self.serve_once() {
                break ended;
            }
        };
        if !self.in_namespaces {
            reap::kill_descendants();
            drop(self.host_tmp.take());
        }
        self.channel.settle();
        let code = match ended {
            Ended::Refused => exit_code::REFUSED,
            Ended::With(status) => {
                let limit = self.tell_limits(status);
                self.channel.send(&status.report(limit));
                self.channel.exit_code(status.shell_code())
            }
        };
        drop(self.channel);
        if self.in_namespaces {
            // Only init is left, on its way out. It is waited for and not left to the host's init, which may reap nothing.
            sys::close_standard_streams();
            reap::wait_for(self.first);
        }
        code
    }

    /// Reports the limits that were met and removes their groups; gives the name of the worst.
    fn tell_limits(&mut self, status: WaitStatus) -> Option<&'static str> {
        let limits = self.limits.take()?;
        if self.in_namespaces {
            // A group goes when nobody is in it.
            reap::wait_for(self.first);
        }
        let reached = limits.reached(status);
        for one in &reached {
            self.channel.send(&Report::Denial(one.denial(self.first)));
        }
        reached.first().map(|one| one.name())
    }

    fn serve_once(&mut self) -> Option<Ended> {
        let ready = {
            let signals = self.signals.as_fd();
            // An entry whose descriptor is gone stands for itself with the signals: poll has no empty place.
            let link = self.link.as_ref().map_or(signals, Link::as_fd);
            let mut entries =
                [signals, link, self.channel.as_fd()].map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
            if rustix::event::poll(&mut entries, None).is_err() {
                return None;
            }
            entries.map(|entry| entry.revents())
        };
        let [has_signals, has_messages, has_control] = ready.map(|events| !events.is_empty());
        // Signals first: one that the terminal sent must be seen before the host's copy of it on the channel.
        let mut ended = None;
        if has_signals {
            ended = self.take_signals();
        }
        if has_messages {
            self.take_messages();
            // The warden tells when nobody else is left below it.
            ended = ended.or_else(|| self.told.take());
        }
        if has_control {
            self.take_control();
        }
        ended
    }

    fn take_signals(&mut self) -> Option<Ended> {
        let mut ended = None;
        while let Some((signal, origin)) = sys::read_signal(self.signals.as_fd()) {
            if signal == libc::SIGCHLD {
                ended = ended.or_else(|| self.take_dead());
            } else if signal == libc::SIGPWR {
                self.channel.abandon();
                self.kill();
            } else {
                self.forwarder.take(signal, origin);
                if signal == libc::SIGTSTP && self.channel.has_console() {
                    sys::stop_this_process(libc::SIGSTOP);
                }
            }
        }
        ended
    }

    fn take_dead(&mut self) -> Option<Ended> {
        while let Ok(Some((dead, _))) = rustix::process::wait(WaitOptions::NOHANG) {
            if dead.as_raw_pid() == self.first {
                return Some(self.how_it_ended());
            }
        }
        None
    }

    fn how_it_ended(&mut self) -> Ended {
        self.take_messages();
        // A warden that could not tell was killed, and with it the command; its own code says nothing about the command.
        self.told.take().unwrap_or(Ended::With(WaitStatus::KILLED))
    }

    fn take_messages(&mut self) {
        while let Some(link) = &self.link {
            match link.receive() {
                Ok(Message::Started(command)) => self.forwarder.attach(command),
                Ok(Message::Event(report)) => self.tell(&report),
                Ok(Message::IfOnHost(report)) => {
                    if is_on_host(&report) {
                        self.tell(&report);
                    }
                }
                Ok(Message::Stopped(signal)) => {
                    if self.channel.has_console() && self.forwarder.is_stopped() {
                        sys::stop_this_process(signal);
                        // What continued this process is passed on before anything else is read: the next word of a stop may be old.
                        return;
                    }
                }
                Ok(Message::Ended(status)) => self.told = Some(Ended::With(status)),
                Ok(Message::Refused | Message::Confined(_) | Message::Made(_) | Message::Failed(_)) => {
                    self.told = Some(Ended::Refused)
                }
                Err(Errno::AGAIN | Errno::INTR) => return,
                // An event that can't be read is one that is not told.
                Err(Errno::BADMSG) => {}
                Err(_) => self.link = None,
            }
        }
    }

    /// Passes on what the warden saw; it says nothing else to the host.
    fn tell(&self, report: &Report) {
        if matches!(report, Report::Denial(_) | Report::Trusted(_)) {
            self.channel.send(report);
        }
    }

    fn take_control(&mut self) {
        let alive = match self.channel.fill() {
            Ok(count) => count > 0,
            Err(Errno::INTR | Errno::AGAIN) => true,
            Err(_) => false,
        };
        self.obey();
        if !alive {
            self.kill();
        }
    }

    /// Carries out every control line that was read.
    fn obey(&mut self) {
        loop {
            match self.channel.next() {
                Received::Control(Control::Signal { signal }) => {
                    if let Some(number) = signal_number(&signal) {
                        self.forwarder.pass_on(number);
                    }
                }
                // A line that can't be read may have been "kill": fail closed.
                Received::Control(_) | Received::Unusable(_) => self.kill(),
                Received::Nothing | Received::Closed => break,
            }
        }
    }

    fn kill(&self) {
        // Already dead is as good.
        let _ = rustix::process::pidfd_send_signal(&self.first_fd, Signal::KILL);
    }
}

enum Ended {
    Refused,
    With(WaitStatus),
}

/// Whether what a denial names, or the folder in which it would be made, is there outside of the view; nothing of it is read.
fn is_on_host(report: &Report) -> bool {
    let Report::Denial(denial) = report else { return false };
    let Some(path) = denial.path.as_deref().map(std::path::Path::new) else { return false };
    let there = |path: &std::path::Path| std::fs::symlink_metadata(path).is_ok();
    there(path) || (denial.op == plan::DeniedOp::Write && path.parent().is_some_and(there))
}
