//! Calls that make, carry and remove names.

use super::{HERE, Told, c};
use libc::*;

pub fn all(told: &mut Told) {
    names(told);
    links(told);
    renames(told);
    removals(told);
}

fn names(told: &mut Told) {
    std::fs::create_dir("n").expect("make");
    std::fs::write("n/file", "").expect("make");
    std::os::unix::fs::symlink("nothing", "n/to-nothing").expect("link");
    for path in [
        "n/a",
        "n/a",
        "n/b/",
        "n/file",
        "n/file/x",
        "n/none/x",
        "n/to-nothing",
        "n/to-nothing/",
        ".",
        "..",
        "/",
        "",
        "n/a/.",
    ] {
        // SAFETY: takes a C string.
        told.say(&format!("mkdir {path}"), unsafe { mkdir(c(path).as_ptr(), 0o7777) }.into());
        told.state("mkdir left", path);
    }
    for (kind, mode) in [
        ("fifo", S_IFIFO),
        ("socket", S_IFSOCK),
        ("file", S_IFREG),
        ("none", 0),
        ("dir", S_IFDIR),
        ("odd", 0o70000),
        ("char", S_IFCHR),
    ] {
        let path = format!("n/node-{kind}");
        // SAFETY: takes a C string.
        told.say(&format!("mknod {kind}"), unsafe { mknod(c(&path).as_ptr(), mode | 0o666, 0x103) }.into());
        told.state("mknod left", &path);
        // SAFETY: takes a C string.
        told.say(&format!("mknod {kind} again"), unsafe { mknod(c(&path).as_ptr(), mode | 0o666, 0) }.into());
    }
    for (target, path) in
        [("x", "n/s"), ("x", "n/s"), ("", "n/s2"), ("x", "n/file/y"), ("x", "n/none/y"), ("x", "n/s3/"), ("x", "")]
    {
        // SAFETY: takes C strings.
        told.say(&format!("symlink {target} {path}"), unsafe { symlink(c(target).as_ptr(), c(path).as_ptr()) }.into());
    }
    let long = "t".repeat(4096);
    // SAFETY: takes C strings.
    told.say("symlink to a long name", unsafe { symlink(c(&long).as_ptr(), c"n/s4".as_ptr()) }.into());
    truncates(told);
}

fn truncates(told: &mut Told) {
    for (path, length) in [
        ("n/file", 9),
        ("n/file", -1),
        ("n/a", 0),
        ("n/none", 0),
        ("n/node-fifo", 0),
        ("n/file/", 0),
        ("n/to-nothing", 1),
        ("", 0),
    ] {
        // SAFETY: takes a C string.
        told.say(&format!("truncate {path} {length}"), unsafe { truncate(c(path).as_ptr(), length) }.into());
    }
    told.state("truncated", "n/file");
}

fn links(told: &mut Told) {
    std::fs::create_dir_all("l/dir").expect("make");
    std::fs::write("l/file", "").expect("make");
    std::os::unix::fs::symlink("file", "l/to-file").expect("link");
    let try_link = |from: &str, to: &str, flags: i32| {
        // SAFETY: takes C strings.
        i64::from(unsafe { linkat(HERE, c(from).as_ptr(), HERE, c(to).as_ptr(), flags) })
    };
    for (from, to) in [
        ("l/file", "l/one"),
        ("l/file", "l/one"),
        ("l/file", "l/dir/two"),
        ("l/dir", "l/three"),
        ("l/none", "l/four"),
        ("l/to-file", "l/five"),
        ("l/file/", "l/six"),
        ("l/file", "l/six/"),
        ("l/file", "l/none/x"),
        ("", "l/seven"),
        ("l/file", ""),
        ("l/file", "/dev/null"),
        ("l/file", "/dev/shm/x"),
        ("l/dir/.", "l/eight"),
    ] {
        for flags in [0, AT_SYMLINK_FOLLOW] {
            told.say(&format!("link {from} {to} {flags:#x}"), try_link(from, to, flags));
            told.state("link left", to);
        }
    }
    told.say("link odd flags", try_link("l/file", "l/nine", 0x4000));
    // SAFETY: takes a C string; the descriptor is closed at the end of the process.
    let nameless = unsafe { open(c"l".as_ptr(), O_TMPFILE | O_RDWR, 0o640) };
    told.say("nameless", (nameless >= 0).into());
    told.say("nameless gets a name", try_link(&format!("/proc/self/fd/{nameless}"), "l/named", AT_SYMLINK_FOLLOW));
    told.state("named", "l/named");
    told.say("nameless without follow", try_link(&format!("/proc/self/fd/{nameless}"), "l/named2", 0));
}

fn renames(told: &mut Told) {
    let set_up = || {
        let _ = std::fs::remove_dir_all("r");
        std::fs::create_dir_all("r/dir/in").expect("make");
        std::fs::create_dir_all("r/empty").expect("make");
        std::fs::write("r/file", "one").expect("make");
        std::fs::write("r/other", "three").expect("make");
        std::os::unix::fs::symlink("file", "r/to-file").expect("link");
    };
    let pairs = [
        ("r/file", "r/new"),
        ("r/file", "r/other"),
        ("r/file", "r/dir"),
        ("r/dir", "r/file"),
        ("r/dir", "r/empty"),
        ("r/empty", "r/dir"),
        ("r/dir", "r/dir/in/x"),
        ("r/file", "r/file"),
        ("r/none", "r/x"),
        ("r/file", "r/none/x"),
        ("r/file/", "r/x"),
        ("r/file", "r/x/"),
        ("r/dir/", "r/x/"),
        ("r/to-file", "r/x"),
        ("r/to-file/", "r/x"),
        (".", "r/x"),
        ("r/dir/..", "r/x"),
        ("r/file", "."),
        ("", "r/x"),
        ("r/file", ""),
        ("r/file", "r/dir/in/moved"),
        ("r/file", "/dev/shm/x"),
    ];
    for (from, to) in pairs {
        for flags in [0_u32, RENAME_NOREPLACE, RENAME_EXCHANGE, RENAME_NOREPLACE | RENAME_EXCHANGE, 0x100] {
            set_up();
            // SAFETY: takes C strings.
            let result = unsafe { syscall(SYS_renameat2, HERE, c(from).as_ptr(), HERE, c(to).as_ptr(), flags) };
            told.say(&format!("rename {from} {to} {flags:#x}"), result);
            told.state("rename left there", to);
            told.state("rename left here", from);
        }
    }
}

fn removals(told: &mut Told) {
    std::fs::create_dir_all("u/dir/in").expect("make");
    std::fs::write("u/file", "").expect("make");
    std::os::unix::fs::symlink("dir", "u/to-dir").expect("link");
    for path in [
        "u/none",
        "u/dir",
        "u/dir/",
        "u/file/",
        "u/to-dir/",
        "u/file/x",
        ".",
        "..",
        "/",
        "",
        "u/dir/.",
        "u/dir/..",
        "u/to-dir",
        "u/file",
    ] {
        for flags in [AT_REMOVEDIR, 0, 0x100] {
            // SAFETY: takes a C string.
            told.say(&format!("unlink {path} {flags:#x}"), unsafe { unlinkat(HERE, c(path).as_ptr(), flags) }.into());
        }
    }
    // SAFETY: takes a C string.
    told.say("rmdir", unsafe { rmdir(c"u/dir/in".as_ptr()) }.into());
    // SAFETY: takes a C string.
    told.say("rmdir with slashes", unsafe { rmdir(c"u/dir//".as_ptr()) }.into());
}
