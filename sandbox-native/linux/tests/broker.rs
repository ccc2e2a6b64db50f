//! What the broker does beyond making calls: it waits for FIFOs, is not fooled by memory that changes, makes nothing twice,
//! and keeps to what a caller has confined itself to.

mod support;

use serde_json::{Value, json};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use support::{As, Ended, Place, golden, op, run_plan, tiers};

/// Not a test of its own: does what DEED names and prints what came of it.
#[test]
#[ignore = "runs inside the sandbox, started by the other tests"]
fn deed() {
    match std::env::var("DEED").as_deref() {
        Ok("confine") => confine(),
        Ok("swap") => swap(),
        Ok("storm") => storm(),
        Ok("many fifos") => many_fifos(),
        _ => {}
    }
}

/// Runs a deed in each tier under these rules, with every kind of call trapped.
fn in_every_tier(deed: &str, rules: &Value, check: impl Fn(&str, &Place, &Ended)) {
    for (name, surroundings) in tiers() {
        let place = Place::new();
        let attempts = place.top.join("attempts");
        let argv = [attempts.to_str().expect("text"), "--ignored", "--exact", "--nocapture", "deed"];
        let ended = run_plan(&place, &guarded((name, deed), &place, &argv, rules), surroundings);
        check(&format!("{name} as {surroundings:?}: {ended:#?}"), &place, &ended);
    }
}

fn guarded((name, deed): (&str, &str), place: &Place, argv: &[&str], rules: &Value) -> Value {
    let mut plan = golden(name, place, argv);
    let text = rules.to_string().replace("WORK", place.work.to_str().expect("text"));
    let rules: Value = serde_json::from_str(&text).expect("JSON");
    let step = op(&mut plan, "broker").expect("a broker");
    step["guard"] = json!({ "rules": rules, "gitLayout": false, "metadata": true, "reads": true, "unix": [] });
    step["level"] = json!("must");
    plan["command"]["env"]["DEED"] = json!(deed);
    plan
}

fn denied(glob: &str) -> Value {
    json!([{ "glob": glob, "access": "write", "effect": "deny", "rule": "fs.protected", "reason": "obeyed outside" }])
}

fn errno_of(result: std::io::Result<impl Sized>) -> i32 {
    result.err().and_then(|error| error.raw_os_error()).unwrap_or(0)
}

/// Confines itself by Landlock to writing in one folder, and lets children of all kinds try more.
fn confine() {
    use landlock::{ABI, Access, AccessFs, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr};
    std::fs::create_dir("own").expect("make");
    std::fs::write("shut", "").expect("make");
    let all = AccessFs::from_all(ABI::V2);
    let rules = Ruleset::default().handle_access(all).expect("handle").create().expect("create");
    let rules = rules.add_rule(PathBeneath::new(PathFd::new("/").expect("open"), AccessFs::from_read(ABI::V2)));
    let rules = rules.expect("rule").add_rule(PathBeneath::new(PathFd::new("own").expect("open"), all));
    println!("confined {:?}", rules.expect("rule").restrict_self().is_ok());
    let attempts = || {
        println!("made inside {}", errno_of(std::fs::write("own/file", "x")));
        println!("made beside {}", errno_of(std::fs::write("new", "x")));
        println!("written beside {}", errno_of(std::fs::OpenOptions::new().write(true).open("shut")));
        println!("folder beside {}", errno_of(std::fs::create_dir("folder")));
        println!("moved out {}", errno_of(std::fs::rename("own/file", "moved")).min(100));
        println!("removed beside {}", errno_of(std::fs::remove_file("shut")));
    };
    attempts();
    // SAFETY: this thread forks; the child only makes calls and prints, and no other thread holds a lock of those.
    unsafe {
        let first = libc::fork();
        if first == 0 {
            let parent = libc::getpid();
            if libc::fork() == 0 {
                while libc::getppid() == parent {
                    libc::usleep(1000);
                }
                println!("orphan");
                attempts();
                std::fs::write("own/over", "").expect("write");
            }
            libc::_exit(0);
        }
        libc::waitpid(first, std::ptr::null_mut(), 0);
        while !std::path::Path::new("own/over").exists() {
            libc::usleep(1000);
        }
    }
}

#[test]
fn a_caller_that_confined_itself_gets_no_more_from_the_broker_and_nor_do_its_orphans() {
    in_every_tier("confine", &json!([]), |told, place, ended| {
        if !ended.stdout.contains("confined true") {
            panic!("{told}");
        }
        let wanted = ["made inside 0", "made beside 13", "written beside 13", "folder beside 13", "removed beside 13"];
        for line in wanted {
            assert_eq!(ended.stdout.matches(line).count(), 2, "{line}: {told}");
        }
        assert!(ended.stdout.contains("orphan"), "{told}");
        for name in ["new", "folder", "moved"] {
            assert!(!place.work.join(name).exists(), "{name}: {told}");
        }
    });
}

/// Threads change the name while it is opened, made, renamed and linked.
fn swap() {
    static OVER: AtomicBool = AtomicBool::new(false);
    let path: &'static mut [u8; 8] = Box::leak(Box::new(*b"fine.x\0\0"));
    let at = path.as_mut_ptr() as usize;
    let thread = std::thread::spawn(move || {
        while !OVER.load(Ordering::Relaxed) {
            for name in [b"obey.x\0\0", b"fine.x\0\0"] {
                // SAFETY: the memory is leaked, and the race on it is the point.
                unsafe { std::ptr::write_volatile(at as *mut [u8; 8], *name) };
            }
        }
    });
    let mut made = 0;
    for _ in 0..1500 {
        // SAFETY: the calls take a pointer that stays valid.
        unsafe {
            let path = at as *const libc::c_char;
            let fd = libc::open(path, libc::O_WRONLY | libc::O_CREAT, 0o600);
            if fd >= 0 {
                made += 1;
                libc::close(fd);
            }
            libc::close(libc::open(c"own".as_ptr(), libc::O_WRONLY | libc::O_CREAT, 0o600));
            libc::rename(c"own".as_ptr(), path);
            libc::link(c"fine.x".as_ptr(), path);
            libc::symlink(c"own".as_ptr(), path);
            libc::mkdir(path, 0o700);
            libc::rmdir(c"fine.x".as_ptr());
            libc::unlink(path);
        }
    }
    OVER.store(true, Ordering::Relaxed);
    thread.join().expect("the thread ends");
    println!("made {}", made > 0);
}

#[test]
fn a_name_that_a_thread_changes_during_the_call_is_judged_and_used_as_one() {
    in_every_tier("swap", &denied("WORK/obey.x"), |told, place, ended| {
        assert!(ended.stdout.contains("made true"), "{told}");
        assert!(std::fs::symlink_metadata(place.work.join("obey.x")).is_err(), "{told}");
        assert_eq!(ended.denials().len(), 1, "{told}");
        assert_eq!(ended.denials()[0]["reason"], "obeyed outside", "{told}");
    });
}

/// Signals come all the time; every file must be made exactly once.
fn storm() {
    extern "C" fn nothing(_: i32) {}
    // SAFETY: the handler does nothing, and the timer sends SIGALRM every half millisecond until the process ends.
    unsafe {
        libc::signal(libc::SIGALRM, nothing as extern "C" fn(i32) as usize);
        let often = libc::timeval { tv_sec: 0, tv_usec: 500 };
        libc::setitimer(
            libc::ITIMER_REAL,
            &libc::itimerval { it_interval: often, it_value: often },
            std::ptr::null_mut(),
        );
    }
    let mut wrong = 0;
    for number in 0..3000 {
        let name = std::ffi::CString::new(format!("storm{number}")).expect("text");
        // SAFETY: takes C strings.
        unsafe {
            wrong += i32::from(libc::mkdir(name.as_ptr(), 0o700) != 0);
            wrong += i32::from(libc::rmdir(name.as_ptr()) != 0);
            let fd = libc::open(name.as_ptr(), libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY, 0o600);
            wrong += i32::from(fd < 0) + i32::from(libc::unlink(name.as_ptr()) != 0);
            libc::close(fd);
        }
    }
    println!("wrong {wrong}");
}

#[test]
fn signals_during_a_call_do_not_make_it_twice() {
    in_every_tier("storm", &json!([]), |told, _, ended| assert!(ended.stdout.contains("wrong 0"), "{told}"));
}

/// Hundreds wait for a reader; a pair finds together meanwhile, and then they are let go.
fn many_fifos() {
    // SAFETY: takes a C string.
    unsafe { libc::mkfifo(c"lonely".as_ptr(), 0o600) };
    let waiting: Vec<_> = (0..300)
        .map(|_| std::thread::Builder::new().stack_size(65_536).spawn(|| std::fs::File::create("lonely").is_ok()))
        .collect();
    // SAFETY: takes a C string.
    unsafe { libc::mkfifo(c"pair".as_ptr(), 0o600) };
    let writer = std::thread::spawn(|| std::fs::write("pair", "through"));
    println!("read {}", std::fs::read_to_string("pair").unwrap_or_else(|error| error.to_string()));
    println!("written {}", errno_of(writer.join().expect("join")));
    println!("started {}", waiting.iter().filter(|thread| thread.is_ok()).count() == 300);
    let reader = std::fs::File::open("lonely").expect("all that wait are writers");
    println!("lonely {}", reader.as_raw_fd() > 2);
    let through = waiting.into_iter().flatten().filter_map(|thread| thread.join().ok()).filter(|open| *open).count();
    println!("let go {through}");
}

#[test]
fn fifos_wait_for_their_other_end_without_a_thread_each_and_others_are_served_meanwhile() {
    in_every_tier("many fifos", &json!([]), |told, _, ended| {
        for line in ["read through", "written 0", "started true", "lonely true", "let go 300"] {
            assert!(ended.stdout.contains(line), "{line}: {told}");
        }
    });
}

#[test]
fn what_the_guard_denies_is_denied_by_every_call_and_its_twin_is_not() {
    let script = "mkdir d; for f in obey.x fine.x; do echo > $f && echo open $f; ln d/../made $f 2>/dev/null; echo > made; \
        mv made $f && echo mv $f; rm -f $f && echo rm $f; ln -s x $f && echo ln $f; rm -f $f; mkdir $f && echo mkdir $f; \
        rmdir $f; mkfifo $f && echo fifo $f; rm -f $f; cp d/none $f; done 2>/dev/null";
    for (name, surroundings) in tiers() {
        let place = Place::new();
        let plan = guarded((name, ""), &place, &["/bin/sh", "-c", script], &denied("WORK/**/obey.x"));
        let ended = run_plan(&place, &plan, surroundings);
        let wanted = ["open fine.x", "mv fine.x", "rm fine.x", "ln fine.x", "mkdir fine.x", "fifo fine.x"];
        let said: Vec<&str> = ended.stdout.lines().filter(|line| !line.starts_with("rm obey")).collect();
        assert_eq!(said, wanted, "{name} as {surroundings:?}: {ended:#?}");
        assert!(!place.work.join("obey.x").exists(), "{name}");
        assert_eq!(ended.denials()[0]["rule"], "fs.protected", "{name} {ended:#?}");
        assert_ne!(surroundings, As::ClosedStreams);
    }
}
