//! Carries out the steps of a plan in their order, in the process that will become, or start, the command.

use crate::enforced::{Failure, Ledger, Outcome, Step};
use crate::landlock::{self, Domain};
use crate::limits::Limits;
use crate::namespaces::{self, Ids};
use crate::seccomp::Surroundings;
use crate::{mounts, private_tmp, privileges, seccomp, sys};
use plan::{LandlockAccess, LandlockRule, LinuxPlan, Network, PlanOp, Report, TmpPlace};
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

    /// Applies every step. An error is the finished `refused` line: then nothing may run in this process.
    pub fn confine(&self) -> Result<Confined, Box<Report>> {
        let mut ledger = Ledger::new(self.plan);
        let mut listener = None;
        let landlock_abi = sys::landlock_abi();
        for op in &self.plan.ops {
            let step = match op {
                PlanOp::Seccomp { network, watch, .. } => {
                    self.enter_folder().map_err(|failure| Box::new(ledger.refuse("command", failure)))?;
                    let (step, made) = seccomp::install(
                        Surroundings { network: *network, on_host: self.namespaces.is_err() },
                        watch.as_deref().unwrap_or_default(),
                    );
                    listener = made;
                    step
                }
                op => self.apply(op, landlock_abi),
            };
            ledger.record(op, step)?;
        }
        if !self.plan.ops.iter().any(|op| matches!(op, PlanOp::Seccomp { .. })) {
            self.enter_folder().map_err(|failure| Box::new(ledger.refuse("command", failure)))?;
        }
        let enforced = ledger.finish(landlock_abi, self.tmpdir())?;
        Ok(Confined { enforced, listener })
    }

    fn apply(&self, op: &PlanOp, landlock_abi: u32) -> Step {
        match op {
            PlanOp::Limits { .. } => match self.limits {
                Some(limits) => limits.enter(self.has_user_namespace()),
                None => Err(Failure::plain("They were not prepared")),
            },
            PlanOp::Broker { .. } => Err(Failure::plain("This launcher has no broker yet")),
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
                    refuse_tcp: self.refuses_network(),
                    abi: landlock_abi,
                })
            }
            PlanOp::Seccomp { .. } => Err(Failure::plain("It is applied by its caller, which keeps the listener")),
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

    fn refuses_network(&self) -> bool {
        self.plan.ops.iter().any(|op| matches!(op, PlanOp::Seccomp { network: Network::Blocked, .. }))
    }

    fn with_tmp_rule(&self, rules: &[LandlockRule]) -> Vec<LandlockRule> {
        let tmp = self.tmpdir().map(|path| LandlockRule { path, access: LandlockAccess::Rw, except: Vec::new() });
        rules.iter().cloned().chain(tmp).collect()
    }

    /// Before seccomp, so that this process's own calls never meet the watch, and after the privileges are gone: what
    /// the command may not enter, it does not start in.
    fn enter_folder(&self) -> Result<(), Failure> {
        let folder = self.plan.command.cwd.as_str();
        rustix::process::chdir(folder).map_err(Failure::at(format!("enter \"{folder}\"")))
    }
}
