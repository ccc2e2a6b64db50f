//! The command: prepared before anything is confined, executed as a shell would.

use crate::enforced::Failure;
use crate::exit_code;
use crate::sys;
use plan::PlanCommand;
use rustix::io::Errno;
use std::ffi::{CString, NulError};
use std::io::Write;

/// As much of a program's name as a message shows.
const SHOWN_CHARS: usize = 200;

/// Everything that execve needs, made in advance.
pub struct Prepared {
    name: String,
    candidates: Vec<CString>,
    argv: Vec<CString>,
    envp: Vec<CString>,
}

/// Where to search when the plan's environment has no PATH, as execvp(3) does.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

impl Prepared {
    /// `tmpdir` becomes TMPDIR, and the caches lie in it.
    pub fn new(command: &PlanCommand, tmpdir: Option<&str>) -> Result<Prepared, Failure> {
        Prepared::build(command, tmpdir).map_err(|error| Failure::plain(format!("The command: {error}")))
    }

    fn build(command: &PlanCommand, tmpdir: Option<&str>) -> Result<Prepared, NulError> {
        let name = command.argv.first().cloned().unwrap_or_default();
        let candidates = if name.contains('/') {
            vec![CString::new(name.as_str())?]
        } else {
            let path = command.env.get("PATH").map_or(DEFAULT_PATH, String::as_str);
            let folders = path.split(':').map(|folder| if folder.is_empty() { "." } else { folder });
            folders.map(|folder| CString::new(format!("{folder}/{name}"))).collect::<Result<_, _>>()?
        };
        let ours = |key: &str| tmpdir.is_some() && (key == "TMPDIR" || command.caches.contains_key(key));
        let kept = command.env.iter().filter(|(key, _)| !ours(key));
        let mut envp =
            kept.map(|(key, value)| CString::new(format!("{key}={value}"))).collect::<Result<Vec<_>, _>>()?;
        if let Some(tmpdir) = tmpdir {
            envp.push(CString::new(format!("TMPDIR={tmpdir}"))?);
            for (key, folder) in &command.caches {
                envp.push(CString::new(format!("{key}={tmpdir}/{folder}"))?);
            }
        }
        let argv = command.argv.iter().map(|word| CString::new(word.as_str())).collect::<Result<_, _>>()?;
        Ok(Prepared { name, candidates, argv, envp })
    }

    /// Becomes the command. Comes back only with an exit code, after a line on stderr.
    pub fn exec(&self) -> i32 {
        let mut worst = Errno::NOENT;
        for path in &self.candidates {
            // A look costs a tenth of an execve that fails, and a PATH has many folders.
            if let Err(Errno::NOENT | Errno::NOTDIR) = rustix::fs::stat(path) {
                continue;
            }
            let errno = match sys::execve(path, &self.argv, &self.envp) {
                // A script without #!: execvp(3) and every shell give it to sh.
                Errno::NOEXEC => self.exec_by_shell(path.clone()),
                errno => errno,
            };
            if !matches!(errno, Errno::NOENT | Errno::NOTDIR) {
                worst = errno;
            }
        }
        let (what, code) = match worst {
            Errno::NOENT => ("not found", exit_code::NOT_FOUND),
            _ => ("can't be executed", exit_code::NOT_EXECUTABLE),
        };
        let errno = crate::enforced::errno_name(worst);
        // Escaped and cut: a name is any text, and must not steer the terminal that it is shown on.
        let shown: String = self.name.chars().take(SHOWN_CHARS).collect();
        // Nothing is left to tell if stderr is closed.
        let _ = writeln!(std::io::stderr(), "cordon: {}: {what} ({errno})", shown.escape_debug());
        code
    }

    fn exec_by_shell(&self, script: CString) -> Errno {
        let rest = self.argv.iter().skip(1).cloned();
        let argv: Vec<CString> = [c"sh".to_owned(), script].into_iter().chain(rest).collect();
        match sys::execve(c"/bin/sh", &argv, &self.envp) {
            Errno::NOENT => Errno::NOEXEC,
            errno => errno,
        }
    }
}
