//! What is told of refusals: who was refused what, and whether it was the sandbox. Repeats are told once.

use super::Call;
use super::judge::{Passage, Refusal};
use crate::enforced::errno_name;
use crate::link::Message;
use crate::mounts::is_within;
use plan::{DeniedOp, LandlockAccess, LinuxPlan, MountAccess, ObservedDenial, PlanOp, Property, Report, Trusted};
use rustix::io::Errno;
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

/// No run tells more different ones than this: the channel must not fill up.
const MOST_DENIALS: usize = 10_000;

/// Where the plan lets what happen, and what was told already.
pub struct Denials {
    mounts: Vec<(String, MountAccess)>,
    /// Absent where the plan has no Landlock.
    landlock: Option<Vec<(String, LandlockAccess)>>,
    seen: HashSet<(Option<DeniedOp>, String)>,
}

impl Denials {
    /// `tmpdir` is the private folder, whose rule is the launcher's own.
    pub fn new(plan: &LinuxPlan, tmpdir: Option<String>) -> Denials {
        let mut denials = Denials { mounts: Vec::new(), landlock: None, seen: HashSet::new() };
        for op in &plan.ops {
            match op {
                PlanOp::View { mounts, .. } => {
                    denials.mounts = mounts.iter().map(|mount| (mount.path.clone(), mount.access)).collect();
                }
                PlanOp::Landlock { rules, .. } => {
                    let rules = rules.iter().map(|rule| (rule.path.clone(), rule.access));
                    let tmp = tmpdir.iter().map(|path| (path.clone(), LandlockAccess::Rw));
                    denials.landlock = Some(rules.chain(tmp).collect());
                }
                _ => {}
            }
        }
        denials
    }

    /// True where the command sees the host's own files.
    pub fn on_host(&self) -> bool {
        self.mounts.is_empty()
    }

    /// Tells of a refusal by the guard; gives the errno that the call ends in.
    pub fn refused(&mut self, call: &Call<'_>, op: DeniedOp, refusal: Refusal) -> Errno {
        let Refusal::By { path, rule } = refusal else { return Errno::XDEV };
        let reason = Some(rule.reason.clone());
        let denial =
            ObservedDenial { reason, grant: rule.grant.clone(), ..call.denial(op, &path, Errno::ACCESS, rule.rule) };
        self.tell(call, denial);
        Errno::ACCESS
    }

    /// Tells what came of a call that the guard let pass.
    pub fn conclude<T>(
        &mut self,
        call: &Call<'_>,
        (op, paths): (DeniedOp, &[&Path]),
        passage: Passage,
        result: Result<T, Errno>,
    ) -> Result<T, Errno> {
        match (&result, passage) {
            (Ok(_), Passage::Told(told)) => told.into_iter().for_each(|(path, reason)| self.trust(call, &path, reason)),
            (Err(errno), _) => {
                let blamed = paths.iter().find_map(|path| Some((path, self.blame_for(call, path, *errno, op)?)));
                if let Some((path, rule)) = blamed {
                    let denial = call.denial(op, path, *errno, rule);
                    self.tell(call, denial);
                }
            }
            _ => {}
        }
        result
    }

    /// Tells of a path that could not even be resolved, if that is the view's doing: in a folder that is hidden, or absent
    /// here and there on the host.
    pub fn unreached(&mut self, call: &Call<'_>, op: DeniedOp, named: (i32, &[u8]), errno: Errno) {
        if self.on_host() || !matches!(errno, Errno::NOENT | Errno::ACCESS) {
            return;
        }
        let Some(path) = call.named(named) else { return };
        let Some(text) = path.to_str() else { return };
        let hidden =
            self.mounts.iter().any(|(mount, access)| *access == MountAccess::HiddenDir && is_within(text, mount));
        if errno == Errno::ACCESS && hidden {
            let denial = call.denial(op, &path, errno, Property::FsReadHidden);
            self.tell(call, denial);
        } else if errno == Errno::NOENT && !self.shows_host(text) && self.is_new(Some(op), text) {
            let rule = if op == DeniedOp::Write { Property::FsWriteConfined } else { Property::FsReadConfined };
            let denial = ObservedDenial { exe: call.caller.exe(), ..call.denial(op, &path, errno, rule) };
            call.send(&Message::IfOnHost(Box::new(Report::Denial(denial))));
        }
    }

    /// True where the view has the host's own files, so that what is absent here is absent there.
    fn shows_host(&self, path: &str) -> bool {
        use MountAccess::{Protected, Ro, Rw};
        let holding = self.mounts.iter().filter(|(mount, _)| is_within(path, mount));
        matches!(holding.max_by_key(|(mount, _)| mount.len()), Some((_, Ro | Rw | Protected)))
    }

    /// Tells of any refusal.
    pub fn tell(&mut self, call: &Call<'_>, denial: ObservedDenial) {
        let key = match (&denial.path, &denial.host) {
            (Some(path), _) => path.clone(),
            (None, host) => format!("{host:?} {:?} {:?}", denial.port, denial.note),
        };
        if self.is_new(Some(denial.op), &key) {
            let denial = ObservedDenial { exe: call.caller.exe(), ..denial };
            call.send(&Message::Event(Box::new(Report::Denial(denial))));
        }
    }

    fn trust(&mut self, call: &Call<'_>, path: &Path, reason: String) {
        let path = path.to_string_lossy().into_owned();
        if self.is_new(None, &path) {
            let (syscall, pid) = (call.name.to_owned(), call.caller.tid);
            let trusted = Trusted { path, reason, syscall, pid, exe: call.caller.exe() };
            call.send(&Message::Event(Box::new(Report::Trusted(trusted))));
        }
    }

    fn is_new(&mut self, op: Option<DeniedOp>, what: &str) -> bool {
        self.seen.len() < MOST_DENIALS && self.seen.insert((op, what.to_owned()))
    }

    /// The property in whose name the kernel refused, or none where the sandbox is not the cause.
    pub fn blame(&self, path: &Path, errno: Errno, op: DeniedOp) -> Option<Property> {
        let text = path.to_str()?;
        let of_process = |rest: &str| rest.starts_with(|first: char| first.is_ascii_digit());
        // Nothing of a process's own is worth a report.
        if text.strip_prefix("/proc/").is_some_and(of_process) {
            return None;
        }
        let holding = self.mounts.iter().filter(|(mount, _)| is_within(text, mount));
        let nearest = holding.max_by_key(|(mount, _)| mount.len()).map(|(_, access)| *access);
        let rule = match (nearest, op) {
            (Some(MountAccess::Protected | MountAccess::PinnedLink), _) => Property::FsProtected,
            (Some(MountAccess::HiddenDir | MountAccess::HiddenFile), _) => Property::FsReadHidden,
            (_, DeniedOp::Write) => Property::FsWriteConfined,
            _ => Property::FsReadConfined,
        };
        let is_sandbox = match errno {
            Errno::ROFS => !self.on_host(),
            Errno::ACCESS => rule == Property::FsReadHidden || !self.landlock_allows(text, op),
            _ => false,
        };
        is_sandbox.then_some(rule)
    }

    fn landlock_allows(&self, path: &str, op: DeniedOp) -> bool {
        let Some(rules) = &self.landlock else { return true };
        rules.iter().filter(|(folder, _)| is_within(path, folder)).any(|(_, access)| match op {
            DeniedOp::Write => *access == LandlockAccess::Rw,
            DeniedOp::Exec => *access != LandlockAccess::Read,
            _ => true,
        })
    }

    /// Whether a place may be changed as far as Landlock's rules say: for what Landlock itself does not refuse.
    pub fn may_change(&self, path: &Path) -> bool {
        path.to_str().is_some_and(|path| self.landlock_allows(path, DeniedOp::Write))
    }

    fn blame_for(&self, call: &Call<'_>, path: &Path, errno: Errno, op: DeniedOp) -> Option<Property> {
        if errno != Errno::BUSY {
            return self.blame(path, errno, op);
        }
        // A mount point can't be renamed or removed, nor can a folder with one in it be carried away. To remove such a
        // folder fails anyway, as it is not empty.
        self.pins(path.to_str()?, call.name.starts_with("rename")).then_some(Property::FsProtected)
    }

    fn pins(&self, path: &str, carries: bool) -> bool {
        let pinned = |access: &MountAccess| {
            use MountAccess::{HiddenDir, HiddenFile, PinnedLink, Protected};
            matches!(access, Protected | HiddenDir | HiddenFile | PinnedLink)
        };
        self.mounts.iter().any(|(mount, access)| pinned(access) && (mount == path || carries && is_within(mount, path)))
    }
}

impl Call<'_> {
    /// A denial of this call; the program is looked up when it is told.
    pub fn denial(&self, op: DeniedOp, path: &Path, errno: Errno, rule: Property) -> ObservedDenial {
        ObservedDenial {
            path: Some(path.to_string_lossy().into_owned()),
            errno: Some(errno_name(errno)),
            ..self.bare_denial(op, rule)
        }
    }

    /// A denial that says nothing but who and which call.
    pub fn bare_denial(&self, op: DeniedOp, rule: Property) -> ObservedDenial {
        ObservedDenial {
            op,
            path: None,
            host: None,
            port: None,
            syscall: self.name.into(),
            pid: self.caller.tid,
            exe: None,
            errno: None,
            note: None,
            rule,
            reason: None,
            grant: None,
        }
    }

    /// A path as the caller wrote it, made absolute in words only.
    fn named(&self, (base, path): (i32, &[u8])) -> Option<PathBuf> {
        use std::os::unix::ffi::OsStringExt;
        let text = if path.starts_with(b"/") {
            path.to_vec()
        } else {
            [self.caller.folder_name(base)?, path.to_vec()].join(&b'/')
        };
        Some(in_words(&PathBuf::from(std::ffi::OsString::from_vec(text))))
    }
}

/// A path without `.` and `..`, as far as words go: a link on the way is not known here.
fn in_words(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}
