//! The private temporary folder: a tmpfs at /tmp of the view, or a folder of its own on the host.

use crate::enforced::{Failure, Outcome, Step};
use crate::maker::Maker;
use plan::{LinuxPlan, Mount, MountAccess, PlanOp, TmpPlace};
use rustix::fs::{CWD, Mode};
use std::path::{Path, PathBuf};

/// Where private folders lie on the host.
const HOST_TMP: &str = "/tmp";

/// Where the private folder lies in the view.
pub const IN_VIEW: &str = "/tmp";

/// Where the plan wants it, if it does.
pub fn wanted(plan: &LinuxPlan) -> Option<TmpPlace> {
    plan.ops.iter().find_map(|op| match op {
        PlanOp::PrivateTmp { at, .. } => Some(*at),
        _ => None,
    })
}

/// The mounts of the view with a tmpfs at /tmp before them, so that what the plan binds below /tmp stands in it. A plan
/// that puts something at /tmp itself keeps that.
pub fn with_tmpfs(mounts: &[Mount]) -> Vec<Mount> {
    let mut all = mounts.to_vec();
    if !all.iter().any(|mount| mount.path == IN_VIEW) {
        let after_root = all.iter().position(|mount| mount.path == "/").map_or(0, |at| at + 1);
        all.insert(after_root, Mount { path: IN_VIEW.into(), access: MountAccess::Tmpfs, target: None });
    }
    all
}

/// The report for a folder in the view, once the view stands.
pub fn report_in_view(mounts: &[Mount]) -> Step {
    match mounts.iter().find(|mount| mount.path == IN_VIEW).map(|mount| mount.access) {
        None | Some(MountAccess::Tmpfs) => Ok(Outcome::whole()),
        Some(_) => Ok(Outcome::from_faults(&[Failure::plain("The plan shows the host's folder at \"/tmp\"")])),
    }
}

/// A new folder on the host that nobody else may enter; removed when this is dropped.
pub struct HostFolder {
    path: PathBuf,
}

impl HostFolder {
    /// Makes it below /tmp with a name that can't be guessed, after removing those of runs that were killed with all their
    /// processes. An existing name is never used.
    pub fn make() -> Result<HostFolder, Failure> {
        let mut random = [0_u8; 8];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
            .map_err(Failure::at("getrandom"))?;
        let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        for stale in Maker::stale_in(Path::new(HOST_TMP)) {
            // Only one's own can be removed. Links in it lead nowhere, as below.
            let _ = std::fs::remove_dir_all(stale);
        }
        let path = Path::new(HOST_TMP).join(format!("{}-{name}", Maker::this_process()));
        rustix::fs::mkdirat(CWD, &path, Mode::RWXU).map_err(Failure::at("mkdir in /tmp"))?;
        Ok(HostFolder { path })
    }

    /// Its path as text: ASCII by construction.
    pub fn path(&self) -> String {
        self.path.display().to_string()
    }
}

impl Drop for HostFolder {
    fn drop(&mut self) {
        // remove_dir_all works on descriptors and follows no link, so a link planted in here leads nowhere. What is left
        // over can't be helped: the folder is the user's own.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
