//! Opens of each kind.

use super::{HERE, Told, c, open_at, open_how};
use libc::*;

pub fn all(told: &mut Told) {
    opens(told);
    opens_by_how(told);
}

const KINDS: [(&str, i32); 16] = [
    ("rd", O_RDONLY),
    ("wr", O_WRONLY),
    ("rdwr cloexec", O_RDWR | O_CLOEXEC),
    ("creat", O_WRONLY | O_CREAT),
    ("creat rd", O_RDONLY | O_CREAT),
    ("excl", O_WRONLY | O_CREAT | O_EXCL),
    ("trunc", O_WRONLY | O_TRUNC),
    ("nofollow", O_WRONLY | O_NOFOLLOW),
    ("nofollow creat", O_WRONLY | O_NOFOLLOW | O_CREAT),
    ("directory", O_RDONLY | O_DIRECTORY),
    ("directory wr", O_WRONLY | O_DIRECTORY),
    ("append", O_WRONLY | O_APPEND | O_NONBLOCK),
    ("path", O_PATH | O_RDWR),
    ("path nofollow", O_PATH | O_NOFOLLOW),
    ("tmpfile", O_TMPFILE | O_RDWR),
    ("odd bits", O_WRONLY | 0x1000_0000),
];
const PLACES: [&str; 25] = [
    "o/file",
    "o/new",
    "o/dir",
    "o/dir/",
    "o/file/",
    "o/new2/",
    "o/to-file",
    "o/to-nothing",
    "o/to-dir",
    "o/to-dir/",
    "o/loop",
    "o/closed",
    "o/none/x",
    "o/file/x",
    "o/to-dir/y",
    "o",
    ".",
    "..",
    "/",
    "o/dir/..",
    "o/dir/.",
    "o//file",
    "",
    "o/to-file/",
    "o/loop/x",
];

fn opens(told: &mut Told) {
    std::fs::create_dir("o").expect("make");
    std::fs::write("o/file", "text").expect("make");
    std::fs::create_dir("o/dir").expect("make");
    for (target, name) in [("file", "o/to-file"), ("nothing", "o/to-nothing"), ("dir", "o/to-dir"), ("loop", "o/loop")]
    {
        std::os::unix::fs::symlink(target, name).expect("link");
    }
    std::fs::write("o/closed", "").expect("make");
    std::fs::set_permissions("o/closed", std::os::unix::fs::PermissionsExt::from_mode(0o000)).expect("chmod");
    for (kind, flags) in KINDS {
        for place in PLACES {
            // Folders above are as closed as the plan has them.
            if matches!(place, "/" | "..") && flags & O_ACCMODE == O_RDONLY && flags & O_PATH == 0
                || matches!(place, "/" | "..") && flags & O_TMPFILE == O_TMPFILE
            {
                continue;
            }
            told.fd(&format!("open {kind} {place}"), open_at(HERE, &c(place), flags, 0o666));
            for made in ["o/new", "o/nothing", "o/dir/y"] {
                if let Ok(found) = std::fs::symlink_metadata(made) {
                    told.state(&format!("made {made}"), made);
                    if found.is_file() {
                        std::fs::remove_file(made).expect("remove")
                    }
                }
            }
        }
    }
    odd_opens(told);
}

fn odd_opens(told: &mut Told) {
    told.fd("open long name", open_at(HERE, &c(&"n".repeat(300)), O_WRONLY | O_CREAT, 0o600));
    told.fd("open long path", open_at(HERE, &c(&"n/".repeat(3000)), O_WRONLY | O_CREAT, 0o600));
    told.fd("open longest path", open_at(HERE, &c(&"./".repeat(2047)), O_WRONLY, 0));
    // SAFETY: the pointer is bad on purpose, and the kernel says EFAULT.
    told.fd("open bad pointer", unsafe { syscall(SYS_openat, HERE, 16, O_WRONLY, 0) });
    told.fd("open bad base", open_at(1234, c"x", O_WRONLY | O_CREAT, 0));
    told.fd("open bad base absolute", open_at(1234, c"/dev/null", O_WRONLY, 0));
    told.fd("open negative base", open_at(-5, c"x", O_WRONLY, 0));
    // SAFETY: the descriptor is open until it is closed below.
    let (file, folder) = unsafe { (open(c"o/file".as_ptr(), O_PATH), open(c"o/dir".as_ptr(), O_RDONLY)) };
    told.fd("open base is a file", open_at(file, c"x", O_WRONLY | O_CREAT, 0o600));
    told.fd("open base is a folder", open_at(folder, c"in", O_WRONLY | O_CREAT, 0o7777));
    told.state("made in the folder", "o/dir/in");
    told.fd("open up from a folder", open_at(folder, c"../file", O_RDWR, 0));
    told.fd("open mode without creat", open_at(HERE, c"o/file", O_RDWR, 0o777));
    told.fd("open device", open_at(HERE, c"/dev/null", O_RDWR | O_TRUNC | O_CREAT, 0o600));
    told.fd("open tty", open_at(HERE, c"/dev/tty", O_RDWR, 0));
    told.fd("open creat and directory", open_at(HERE, c"o/what", O_CREAT | O_DIRECTORY | O_RDWR, 0o600));
    // SAFETY: takes a C string.
    told.fd("creat", unsafe { creat(c"o/created".as_ptr(), 0o666) }.into());
    told.state("created", "o/created");
    // SAFETY: closes what was opened above.
    unsafe { (close(file), close(folder)) };
}

fn opens_by_how(told: &mut Told) {
    std::fs::create_dir("h").expect("make");
    std::fs::write("h/file", "text").expect("make");
    std::os::unix::fs::symlink("/", "h/root").expect("link");
    std::os::unix::fs::symlink("file", "h/to-file").expect("link");
    // SAFETY: takes a C string; the descriptor stays open.
    let base = unsafe { open(c"h".as_ptr(), O_RDONLY | O_DIRECTORY) };
    let how = |flags: i32, mode: u64, resolve: u64| [flags as u32 as u64, mode, resolve];
    for (name, resolve) in [
        ("plain", 0),
        ("beneath", 8),
        ("in root", 16),
        ("no links", 4),
        ("no magic", 2),
        ("no xdev", 1),
        ("cached", 32),
    ] {
        if name == "cached" {
            continue;
        }
        for path in ["file", "new", "to-file", "../h/file", "root/etc/hostname", "/file", ".", "none/x"] {
            for flags in [O_WRONLY, O_RDONLY, O_WRONLY | O_CREAT, O_WRONLY | O_CREAT | O_EXCL, O_WRONLY | O_NOFOLLOW] {
                // Files of the system are not what is compared.
                let scoped = matches!(name, "beneath" | "in root");
                if path.starts_with("root/") && flags != O_RDONLY || path.starts_with('/') && !scoped {
                    continue;
                }
                let mode = if flags & O_CREAT != 0 { 0o640 } else { 0 };
                let fd = open_how(base, &c(path), how(flags, mode, resolve), 24);
                told.fd(&format!("openat2 {name} {path} {flags:#o}"), fd);
                let _ = std::fs::remove_file("h/new");
            }
        }
    }
    told.fd("openat2 short", open_how(base, c"file", how(O_RDONLY, 0, 0), 16));
    told.fd("openat2 unknown flag", open_how(base, c"file", [1 << 40, 0, 0], 24));
    told.fd("openat2 unknown resolve", open_how(base, c"file", [0, 0, 1 << 20], 24));
    told.fd("openat2 mode without creat", open_how(base, c"file", how(O_WRONLY, 0o600, 0), 24));
    told.fd("openat2 odd mode", open_how(base, c"file", how(O_WRONLY | O_CREAT, 0o100_600, 0), 24));
}
