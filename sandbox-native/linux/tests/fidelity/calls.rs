//! The calls. Each line is a name, the result or errno, and sometimes what the call left.

mod inodes;
mod names;
mod opens;

use libc::*;
use std::ffi::{CStr, CString};
use std::fmt::Write;
use std::os::unix::fs::MetadataExt;

/// The lines so far.
pub struct Told(String);

fn c(text: &str) -> CString {
    CString::new(text).expect("no NUL")
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

impl Told {
    /// A result, or the errno; descriptors are closed and told as "fd".
    fn say(&mut self, name: &str, result: i64) {
        let text = if result < 0 { format!("errno {}", errno()) } else { result.to_string() };
        writeln!(self.0, "{name} -> {text}").expect("text grows");
    }

    fn fd(&mut self, name: &str, fd: i64) {
        if fd < 0 {
            return self.say(name, fd);
        }
        // SAFETY: the descriptor was just made and is closed once.
        let (flags, kept) = unsafe { (fcntl(fd as i32, F_GETFL), fcntl(fd as i32, F_GETFD)) };
        // Of a place that was resolved in a scope, openat2 keeps this one, and the broker can't.
        let flags = if name.starts_with("openat2") { flags & !O_NOFOLLOW } else { flags };
        writeln!(self.0, "{name} -> fd flags {flags:#o} cloexec {kept}").expect("text grows");
        // SAFETY: as above.
        unsafe { close(fd as i32) };
    }

    fn state(&mut self, name: &str, path: &str) {
        // Folders above are those of the plan's view.
        if matches!(path, "/" | "..") {
            return;
        }
        let text = match std::fs::symlink_metadata(path) {
            Ok(found) => format!("mode {:o} size {} links {}", found.mode(), found.len(), found.nlink()),
            Err(error) => format!("{:?}", error.raw_os_error()),
        };
        writeln!(self.0, "{name} -> {text}").expect("text grows");
    }
}

fn open_at(base: i32, path: &CStr, flags: i32, mode: u32) -> i64 {
    // SAFETY: the path lives to the end of the call.
    unsafe { syscall(SYS_openat, base, path.as_ptr(), flags, mode) }
}

fn open_how(base: i32, path: &CStr, how: [u64; 3], size: usize) -> i64 {
    // SAFETY: path and struct live to the end of the call; the kernel reads `size` bytes, at most 24 of which are there.
    unsafe { syscall(SYS_openat2, base, path.as_ptr(), how.as_ptr(), size) }
}

const HERE: i32 = AT_FDCWD;

/// Makes all calls in the working folder.
pub fn told() -> String {
    let mut told = Told(String::new());
    // SAFETY: takes a number.
    unsafe { umask(0o027) };
    opens::all(&mut told);
    names::all(&mut told);
    inodes::all(&mut told);
    told.0
}
