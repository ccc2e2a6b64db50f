//! Carries out the steps of a plan in their order, in the process that will become, or start, the command.

use crate::broker::Ready;
use crate::enforced::{Failure, Ledger, Outcome, Step};
use crate::landlock::{self, Domain};
use crate::limits::Limits;
use crate::namespaces::{self, Ids};
use crate::seccomp::Surroundings;
use crate::{descriptors, mounts, private_tmp, privileges, seccomp, sys};
use plan::{LandlockAccess, LandlockRule, Level, LinuxPlan, Network, PlanOp, Report, Tier, TmpPlace};
use rustix::process::DumpableBehavior;
use std::os::fd::OwnedFd;

/// What the supervisor prepared before this process began.
pub struct Ground<'a> {
    pub plan: &'a LinuxPlan,
    /// Whether the namespaces of the plan were made, and of whom; an error is why not.
    pub namespaces: Result<Ids, String>,
    /// The private folder on the host, if the plan has one; an error is why not.
    pub host_tmp: Option<Result<String, String>>,
    /// The limits, if the plan has any.
    pub limits: Option<&'a Limits>,
}

/// What is left to hand over when all steps are done.
pub struct Confined {
    pub enforced: Report,
    /// The listener of the filter, where a broker answers.
    pub listener: Option<OwnedFd>,
}

impl Ground<'_> {
    /// The private folder as the command will see it.
    pub fn tmpdir(&self) -> Option<String> {
        match private_tmp::wanted(self.plan)? {
            TmpPlace::View => Some(private_tmp::IN_VIEW.into()),
            TmpPlace::Host => self.host_tmp.clone()?.ok(),
        }
    }

    /// Applies the steps up to Landlock, which the warden and the command share. An error is the finished `refused` line:
    /// then nothing may run in this process.
    pub fn confine_warden(&self, ledger: &mut Ledger<'_>) -> Result<(), Box<Report>> {
        let abi = sys::landlock_abi();
        for op in self.plan.ops.iter().filter(|op| !is_the_commands(self.plan, op)) {
            ledger.record(op, self.apply(op, abi))?;
        }
        // After the privileges are gone: what the command may not enter, it does not start in.
        let folder = self.plan.command.cwd.as_str();
        let entered = rustix::process::chdir(folder).map_err(Failure::at(format!("enter \"{folder}\"")));
        entered.map_err(|failure| Box::new(ledger.refuse("command", failure)))
    }

    /// Applies the steps that only the command is under: what keeps it off the warden, and the filter.
    pub fn confine_command(
        &self,
        ledger: &mut Ledger<'_>,
        wanted: Option<Result<Ready, Failure>>,
    ) -> Result<Confined, Box<Report>> {
        let abi = sys::landlock_abi();
        let broker = self.plan.ops.iter().find(|op| matches!(op, PlanOp::Broker { .. }));
        let seccomp = self.plan.ops.iter().find(|op| matches!(op, PlanOp::Seccomp { .. }));
        let loopback = self.plan.ops.iter().find(|op| is_the_brokers(self.plan, op));
        let mut listener = None;
        if let Some(op @ PlanOp::Seccomp { network, .. }) = seccomp {
            let around = Surroundings { network: *network, on_host: self.namespaces.is_err() };
            let refuse_tcp = matches!(network, Network::Blocked | Network::Loopback);
            let ready = wanted.map(|ready| prepare_broker(abi, refuse_tcp).and(ready));
            let traps = ready.as_ref().and_then(|ready| ready.as_ref().ok()).map(|ready| ready.traps);
            let installed = seccomp::install(around, traps);
            let heard = match (ready, installed.listener) {
                (Some(Err(failure)), _) | (_, Some(Err(failure))) => Err(failure),
                (_, Some(Ok(made))) => {
                    listener = Some(made);
                    Ok(Outcome::whole())
                }
                (_, None) => Err(Failure::plain("The filter was not installed")),
            };
            if let Some(op) = loopback {
                let copies = traps.is_some_and(|traps| traps.sockets);
                ledger.record(op, loopback_by(listener.is_some(), copies))?;
            }
            if let Some(op) = broker {
                ledger.record(op, heard)?;
            }
            ledger.record(op, installed.filter)?;
        }
        let enforced = ledger.finish(abi, self.tmpdir())?;
        Ok(Confined { enforced, listener })
    }

    fn apply(&self, op: &PlanOp, landlock_abi: u32) -> Step {
        match op {
            PlanOp::Limits { .. } => match self.limits {
                Some(limits) => limits.enter(self.has_user_namespace()),
                None => Err(Failure::plain("They were not prepared")),
            },
            PlanOp::Namespaces { kinds, .. } => {
                let ids = self.in_namespaces()?;
                if kinds.contains(&plan::NamespaceKind::User) {
                    ids.map()?;
                }
                Ok(Outcome::whole())
            }
            PlanOp::View { mounts, .. } => {
                // Without namespaces of its own this would take the host's root apart.
                self.in_namespaces()?;
                match private_tmp::wanted(self.plan) {
                    Some(TmpPlace::View) => mounts::build(&private_tmp::with_tmpfs(mounts)),
                    _ => mounts::build(mounts),
                }
            }
            PlanOp::Loopback { .. } => {
                self.in_namespaces()?;
                namespaces::raise_loopback()
            }
            PlanOp::PrivateTmp { at: TmpPlace::View, .. } => {
                self.in_namespaces()?;
                private_tmp::report_in_view(self.mounts())
            }
            PlanOp::PrivateTmp { at: TmpPlace::Host, .. } => match &self.host_tmp {
                Some(Ok(_)) => Ok(Outcome::whole()),
                Some(Err(why)) => Err(Failure::plain(why)),
                None => Err(Failure::plain("It was not made")),
            },
            PlanOp::Privileges { .. } => privileges::drop_all(),
            PlanOp::Landlock { rules, scope, .. } => {
                let rules = self.with_tmp_rule(rules);
                landlock::restrict(&Domain {
                    rules: &rules,
                    scope,
                    // With a loopback it is the command's own layer that refuses it.
                    refuse_tcp: self.network() == Some(Network::Blocked),
                    truncates_brokered: self.has_sure_broker(),
                    reads_judged: self.reads_judged(),
                    reads_in_view: self.reads_in_view(&rules),
                    abi: landlock_abi,
                })
            }
            PlanOp::Broker { .. } | PlanOp::Seccomp { .. } => Err(Failure::plain("It is the command's own step")),
        }
    }

    fn in_namespaces(&self) -> Result<Ids, Failure> {
        self.namespaces.clone().map_err(Failure::plain)
    }

    fn has_user_namespace(&self) -> bool {
        let wanted =
            |op: &PlanOp| matches!(op, PlanOp::Namespaces { kinds, .. } if kinds.contains(&plan::NamespaceKind::User));
        self.namespaces.is_ok() && self.plan.ops.iter().any(wanted)
    }

    fn mounts(&self) -> &[plan::Mount] {
        let mounts = self.plan.ops.iter().find_map(|op| match op {
            PlanOp::View { mounts, .. } => Some(mounts.as_slice()),
            _ => None,
        });
        mounts.unwrap_or_default()
    }

    /// Only a broker that must be there counts: one that turns out to be missing would judge nothing.
    fn reads_judged(&self) -> bool {
        let judges = |op: &PlanOp| matches!(op, PlanOp::Broker { guard, level: Level::Must, .. } if guard.reads);
        self.plan.ops.iter().any(judges)
    }

    /// Whether nothing that the command can name lies outside of its view, in which the rules let it read all. Outside lead
    /// streams that are files or folders, whose entries in /proc open anew, and what a socket of the host may hand over.
    fn reads_in_view(&self, rules: &[LandlockRule]) -> bool {
        let reads_all =
            |rule: &LandlockRule| rule.path == "/" && rule.except.is_empty() && rule.access != LandlockAccess::Rw;
        let hands_over = |op: &PlanOp| matches!(op, PlanOp::Broker { guard, .. } if !guard.unix.is_empty());
        self.namespaces.is_ok()
            && self.plan.ops.iter().any(|op| matches!(op, PlanOp::View { .. }))
            && rules.iter().any(reads_all)
            && !self.plan.ops.iter().any(hands_over)
            && descriptors::streams_lead_nowhere()
    }

    /// As above: where the broker may be missing, a lost right must not count as held.
    fn has_sure_broker(&self) -> bool {
        self.plan.ops.iter().any(|op| matches!(op, PlanOp::Broker { level: Level::Must, .. }))
    }

    fn network(&self) -> Option<Network> {
        self.plan.ops.iter().find_map(|op| match op {
            PlanOp::Seccomp { network, .. } => Some(*network),
            _ => None,
        })
    }

    fn with_tmp_rule(&self, rules: &[LandlockRule]) -> Vec<LandlockRule> {
        let tmp = self.tmpdir().map(|path| LandlockRule { path, access: LandlockAccess::Rw, except: Vec::new() });
        rules.iter().cloned().chain(tmp).collect()
    }
}

/// The steps that the warden itself is not under.
fn is_the_commands(plan: &LinuxPlan, op: &PlanOp) -> bool {
    matches!(op, PlanOp::Broker { .. } | PlanOp::Seccomp { .. }) || is_the_brokers(plan, op)
}

/// A loopback without a net namespace.
fn is_the_brokers(plan: &LinuxPlan, op: &PlanOp) -> bool {
    plan.tier == Tier::Landlock && matches!(op, PlanOp::Loopback { .. })
}

fn loopback_by(has_broker: bool, copies_sockets: bool) -> Step {
    match (has_broker, copies_sockets) {
        (true, true) => {
            let why = "On the host's own loopback, whose processes can connect to what the command serves";
            Ok(Outcome { why: Some(why.into()), ..Outcome::whole() })
        }
        (true, false) => Err(Failure::plain("pidfd_getfd(2) is refused, so the broker can't bind and connect")),
        (false, _) => Err(Failure::plain("There is no broker that would bind and connect")),
    }
}

/// What a broker stands on: the command can't reach the warden, the warden can look into the command.
fn prepare_broker(abi: u32, refuse_tcp: bool) -> Result<(), Failure> {
    landlock::keep_off_the_warden(abi, refuse_tcp)?;
    // So that the warden can read what this process says before its first execve, which makes it dumpable anyway.
    rustix::process::set_dumpable_behavior(DumpableBehavior::Dumpable).map_err(Failure::at("dumpable"))
}
