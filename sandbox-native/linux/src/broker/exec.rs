//! execve and execveat: looked at for a report, and always left to the kernel. What may run is for Landlock, mounts and file
//! modes to say; here nothing is decided.

use super::Broker;
use super::call::Call;
use super::names::hold;
use super::resolve::{Resolver, real_path};
use crate::sys;
use plan::DeniedOp;
use rustix::io::Errno;

impl Broker {
    pub(super) fn execute(&mut self, call: &Call<'_>) {
        let (base, at, flags) = match call.number {
            libc::SYS_execveat => (call.int(0), 1, call.int(4)),
            _ => (libc::AT_FDCWD, 0, 0),
        };
        // By descriptor there is no name that the sandbox could refuse in words.
        let Ok(path) = call.path(at) else { return };
        let follow = flags & libc::AT_SYMLINK_NOFOLLOW == 0;
        let target = Resolver::new(&call.caller).target(base, &path, follow);
        let held = match target.and_then(|target| hold(target, &path)) {
            Ok(held) => held,
            Err(errno) => return self.denials.unreached(call, DeniedOp::Exec, (base, &path), errno),
        };
        let Ok(path) = real_path(&held) else { return };
        let Some(rule) = self.denials.blame(&path, Errno::ACCESS, DeniedOp::Exec) else { return };
        // A kernel that can't say it beforehand has said nothing.
        if sys::check_executable(std::os::fd::AsFd::as_fd(&held)) == Err(Errno::ACCESS) {
            let denial = call.denial(DeniedOp::Exec, &path, Errno::ACCESS, rule);
            self.denials.tell(call, denial);
        }
    }
}
