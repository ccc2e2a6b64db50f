//! The process that the supervisor starts: the warden. It goes through all steps up to Landlock, starts the command, which
//! goes through the rest, and then stays to answer the calls that the filter traps, to reap, and to end what is left. In a
//! pid namespace it is init; without one, a subreaper.

use crate::broker::Ready;
use crate::channel::Channel;
use crate::command::Prepared;
use crate::confine::Ground;
use crate::enforced::{Failure, Ledger};
use crate::exit_code;
use crate::link::{Link, Message};
use crate::sys::{self, CloneOutcome};
use crate::warden::Warden;
use plan::Report;
use rustix::process::{DumpableBehavior, Pid, Signal};

/// Confines this process and runs the command; gives the exit code of this process.
pub fn run(ground: &Ground<'_>, channel: Channel, link: Link) -> i32 {
    let in_namespaces = ground.namespaces.is_ok();
    // The supervisor's death, by SIGKILL too, is the command's: init's own death ends its namespace, a subreaper must end the
    // tree itself. If the supervisor died before this line, its end of the link is gone.
    let last_word = if in_namespaces { Signal::KILL } else { Signal::POWER };
    if rustix::process::set_parent_process_death_signal(Some(last_word)).is_err() || link.is_hung_up() {
        return exit_code::REFUSED;
    }
    match start(ground, channel, &link) {
        Ok(Side::Command(code)) => code,
        Ok(Side::Warden(warden)) => warden.serve(link),
        Err(()) => {
            // If the supervisor is gone there is nobody to tell.
            let _ = link.send(&Message::Refused);
            exit_code::REFUSED
        }
    }
}

enum Side {
    /// The command, which could not be executed: exit with this code.
    Command(i32),
    Warden(Box<Warden>),
}

/// An error has been told to the host.
fn start(ground: &Ground<'_>, channel: Channel, link: &Link) -> Result<Side, ()> {
    let tell = |report: Report| channel.send(&report);
    let mut ledger = Ledger::new(ground.plan);
    let prepared = Prepared::new(&ground.plan.command, ground.tmpdir().as_deref())
        .map_err(|failure| tell(ledger.refuse("command", failure)))?;
    ground.confine_warden(&mut ledger).map_err(|report| tell(*report))?;
    let refuse = |ledger: &Ledger<'_>, what: &str, errno| tell(ledger.refuse("supervisor", Failure::at(what)(errno)));
    // The command shares uid and view with this process, whose memory still holds the host's environment: out of reach of
    // ptrace and of /proc. And as the command is not the broker, it must not look into it.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|errno| refuse(&ledger, "dumpable", errno))?;
    if ground.namespaces.is_err() {
        let me = Some(rustix::process::getpid());
        rustix::process::set_child_subreaper(me).map_err(|errno| refuse(&ledger, "subreaper", errno))?;
    }
    let broker = Ready::new(ground.plan, ground.tmpdir());
    let (mine, theirs) = Link::pair().map_err(|errno| refuse(&ledger, "socketpair", errno))?;
    let parent = rustix::process::getpid();
    match sys::clone_process(0).map_err(|errno| refuse(&ledger, "clone the command", errno))? {
        CloneOutcome::Child => {
            drop(mine);
            Ok(Side::Command(become_command(ground, (ledger, broker), (&channel, &theirs), (&prepared, parent))))
        }
        CloneOutcome::Parent { pid, pidfd } => {
            drop(theirs);
            drop(channel);
            // The end of the link without a word: refused, and told by the command's side.
            let Ok(Message::Confined(listener)) = mine.wait() else { return Err(()) };
            link.send(&Message::Started(pidfd)).map_err(drop)?;
            leave_standard_streams();
            let broker = listener.zip(broker.and_then(Result::ok)).map(|(listener, ready)| ready.listen(listener, pid));
            Ok(Side::Warden(Box::new(Warden::new(pid, broker))))
        }
    }
}

fn become_command(
    ground: &Ground<'_>,
    (mut ledger, broker): (Ledger<'_>, Option<Result<Ready, Failure>>),
    (channel, warden): (&Channel, &Link),
    (prepared, parent): (&Prepared, Pid),
) -> i32 {
    let refused = |report: &Report| {
        channel.send(report);
        exit_code::REFUSED
    };
    if ground.namespaces.is_err() {
        // A warden that is killed takes the command along; the supervisor ends what that one left.
        let armed = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
        if armed.is_err() || rustix::process::getppid() != Some(parent) {
            return exit_code::REFUSED;
        }
    }
    let confined = match ground.confine_command(&mut ledger, broker) {
        Ok(confined) => confined,
        Err(report) => return refused(&report),
    };
    if let Err(errno) = warden.send(&Message::Confined(confined.listener)) {
        return refused(&ledger.refuse("seccomp", Failure::at("hand over the listener")(errno)));
    }
    channel.send(&confined.enforced);
    sys::unmask_all_signals();
    prepared.exec()
}

/// Whoever is at their other ends need not wait for this process. The numbers stay taken, by what nothing can be written to:
/// else a file that is opened for a caller could stand where a panic prints.
fn leave_standard_streams() {
    sys::close_standard_streams();
    for _ in 0..3 {
        std::mem::forget(rustix::fs::openat(rustix::fs::CWD, "/", crate::mounts::O_PATH, rustix::fs::Mode::empty()));
    }
}
