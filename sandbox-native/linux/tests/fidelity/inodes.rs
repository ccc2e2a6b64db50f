//! Files reached through /proc, and what is written about a file and not into it.

use super::{HERE, Told, c, open_at};
use libc::*;

pub fn all(told: &mut Told) {
    through_proc(told);
    metadata(told);
}

fn through_proc(told: &mut Told) {
    std::fs::create_dir("p").expect("make");
    std::fs::write("p/file", "text").expect("make");
    // SAFETY: takes C strings; the descriptors stay open.
    let (fd, folder) = unsafe { (open(c"p/file".as_ptr(), O_RDONLY), open(c"p".as_ptr(), O_PATH | O_DIRECTORY)) };
    std::fs::rename("p/file", "p/moved").expect("rename");
    let paths = [
        format!("/proc/self/fd/{fd}"),
        format!("/proc/thread-self/fd/{fd}"),
        format!("/dev/fd/{fd}"),
        format!("/proc/self/fd/{folder}/new"),
        "/proc/self/cwd/p/new".into(),
        "/proc/self/root/dev/null".into(),
        "/proc/self/fd/777".into(),
        "/proc/self/comm".into(),
        "/proc/self/exe".into(),
        "/proc/self".into(),
        "/proc/self/nothing".into(),
    ];
    for path in &paths {
        for flags in [
            O_WRONLY,
            O_RDWR | O_CREAT,
            O_WRONLY | O_CREAT | O_EXCL,
            O_WRONLY | O_NOFOLLOW,
            O_RDONLY,
            O_WRONLY | O_TRUNC,
        ] {
            // What the plan has read-only.
            if (path.ends_with("exe") || path.ends_with("comm")) && flags != O_RDONLY {
                continue;
            }
            let shown = path.replace(&fd.to_string(), "FD").replace(&folder.to_string(), "DIR");
            told.fd(&format!("proc {shown} {flags:#o}"), open_at(HERE, &c(path), flags, 0o666));
            let _ = std::fs::remove_file("p/new");
        }
    }
    std::fs::remove_file("p/moved").expect("remove");
    told.fd("proc of a removed file", open_at(HERE, &c(&format!("/proc/self/fd/{fd}")), O_RDWR, 0));
}

fn metadata(told: &mut Told) {
    std::fs::create_dir("m").expect("make");
    std::fs::write("m/file", "text").expect("make");
    std::os::unix::fs::symlink("file", "m/to-file").expect("link");
    std::os::unix::fs::symlink("nothing", "m/to-nothing").expect("link");
    // SAFETY: takes a C string; the descriptors stay open.
    let (file, named) = unsafe { (open(c"m/file".as_ptr(), O_RDWR), open(c"m/file".as_ptr(), O_PATH)) };
    // SAFETY: geteuid and getegid can't fail.
    let (user, group) = unsafe { (geteuid(), getegid()) };
    for path in ["m/file", "m/to-file", "m/to-nothing", "m/none", "m/file/", ""] {
        let text = c(path);
        // SAFETY: each takes C strings and numbers.
        unsafe {
            told.say(&format!("chmod {path}"), chmod(text.as_ptr(), 0o4751).into());
            told.say(&format!("chown {path}"), chown(text.as_ptr(), user, u32::MAX).into());
            told.say(&format!("lchown {path}"), lchown(text.as_ptr(), u32::MAX, group).into());
            told.say(
                &format!("fchmodat2 {path}"),
                syscall(SYS_fchmodat2, HERE, text.as_ptr(), 0o600, AT_SYMLINK_NOFOLLOW),
            );
            told.say(&format!("utimensat {path}"), utimensat(HERE, text.as_ptr(), std::ptr::null(), 0).into());
            told.say(
                &format!("utimensat link {path}"),
                utimensat(HERE, text.as_ptr(), std::ptr::null(), AT_SYMLINK_NOFOLLOW).into(),
            );
            let bad = [timespec { tv_sec: 0, tv_nsec: 2_000_000_000 }; 2];
            told.say(&format!("utimensat bad {path}"), utimensat(HERE, text.as_ptr(), bad.as_ptr(), 0).into());
            told.say(
                &format!("setxattr {path}"),
                setxattr(text.as_ptr(), c"user.x".as_ptr(), c"v".as_ptr().cast(), 1, 0).into(),
            );
            told.say(
                &format!("lsetxattr {path}"),
                lsetxattr(text.as_ptr(), c"user.x".as_ptr(), c"v".as_ptr().cast(), 1, XATTR_CREATE).into(),
            );
            told.say(&format!("removexattr {path}"), removexattr(text.as_ptr(), c"user.x".as_ptr()).into());
            told.say(&format!("removexattr again {path}"), removexattr(text.as_ptr(), c"user.x".as_ptr()).into());
        }
        told.state("metadata left", "m/file");
    }
    // SAFETY: each takes numbers and C strings.
    unsafe {
        told.say("fchmod", fchmod(file, 0o640).into());
        told.say("fchmod of a name only", fchmod(777, 0o640).into());
        told.say("fchown", fchown(file, user, group).into());
        told.say("futimens", futimens(file, std::ptr::null()).into());
        told.say("fsetxattr", fsetxattr(file, c"user.y".as_ptr(), c"v".as_ptr().cast(), 1, 0).into());
        told.say("fsetxattr odd name", fsetxattr(file, c"nonsense".as_ptr(), c"v".as_ptr().cast(), 1, 0).into());
        told.say("fremovexattr", fremovexattr(file, c"user.y".as_ptr()).into());
        told.say("fchownat empty", fchownat(named, c"".as_ptr(), user, group, AT_EMPTY_PATH).into());
        told.say("chmod bad pointer", syscall(SYS_chmod, 16, 0o600));
    }
    told.state("metadata at the end", "m/file");
}
