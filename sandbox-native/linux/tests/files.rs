//! What the command can reach in the file system: each denial beside its allowed twin, in every tier.

mod support;

use support::{As, Place, golden, in_every_tier, run_plan};

#[test]
fn writes_reach_the_workspace_and_nothing_else() {
    in_every_tier("echo new > made; echo bad > ../outside; echo bad > /etc/launcher-test; true", |told, place, _| {
        assert_eq!(place.read("app/made"), "new\n", "{told}");
        assert_eq!(place.read("outside"), "outside\n", "{told}");
        assert!(!std::path::Path::new("/etc/launcher-test").exists(), "{told}");
    });
}

#[test]
fn reads_reach_the_workspace_and_not_the_folder_above() {
    in_every_tier("cat file; cat ../outside", |told, _, ended| {
        assert_eq!(ended.stdout, "text\n", "{told}");
    });
}

#[test]
fn a_link_that_leaves_the_workspace_does_not_carry_a_write() {
    in_every_tier("ln -s ../outside link; echo bad > link; ln -s file good; echo more >> good", |told, place, _| {
        assert_eq!(place.read("outside"), "outside\n", "{told}");
        assert_eq!(place.read("app/file"), "text\nmore\n", "{told}");
    });
}

#[test]
fn a_hard_link_to_an_outside_file_is_refused_and_one_inside_works() {
    in_every_tier("ln ../outside hard && echo bad > hard; ln file twin && cat twin", |told, place, ended| {
        assert_eq!(place.read("outside"), "outside\n", "{told}");
        assert_eq!(ended.stdout, "text\n", "{told}");
    });
}

#[test]
fn the_private_folder_is_writable_empty_and_gone_afterwards() {
    in_every_tier(
        "ls -A \"$TMPDIR\" | grep -v '^launcher-'; echo x > \"$TMPDIR/f\" && mktemp -u; echo $TMPDIR",
        |told, _, ended| {
            let folder = ended.stdout.lines().last().unwrap_or_default().to_owned();
            assert!(folder.starts_with("/tmp"), "{told}");
            assert_eq!(ended.line("enforced")["tmpdir"], folder.as_str(), "{told}");
            assert!(!std::path::Path::new(&folder).join("f").exists(), "{told}");
            assert!(folder == "/tmp" || !std::path::Path::new(&folder).exists(), "{told}");
        },
    );
}

#[test]
fn everyday_devices_work() {
    in_every_tier(
        "echo x > /dev/null && head -c 3 /dev/zero | wc -c && echo y > /dev/shm/cordon-test-$$ && rm /dev/shm/cordon-test-$$ && echo done",
        |told, _, ended| {
            assert_eq!(ended.stdout.split_whitespace().collect::<Vec<_>>(), ["3", "done"], "{told}");
            assert!(ended.denials().is_empty(), "{told}");
        },
    );
}

/// Protected and hidden need the view, so they are of the namespaces tier only.
fn in_the_view(script: &str, check: impl Fn(&str, &Place, &support::Ended)) {
    for surroundings in [As::Caller, As::Nobody] {
        if !support::tiers().contains(&("namespaces_default.json", surroundings)) {
            eprintln!("skipped: no namespaces as {surroundings:?}");
            continue;
        }
        let place = Place::new();
        let plan = golden("namespaces_default.json", &place, &["/bin/sh", "-c", script]);
        let ended = run_plan(&place, &plan, surroundings);
        assert_eq!(ended.lines.first().map(|line| line["t"].clone()), Some("enforced".into()), "{ended:#?}");
        check(&format!("{surroundings:?}: {ended:#?}"), &place, &ended);
    }
}

#[test]
fn protected_paths_stay_as_they_are_and_their_neighbours_can_change() {
    let script = "echo bad > .git/hooks/pre-commit; echo bad >> .git/config; rm -r .git/hooks; chmod 777 .git/config;
        echo ref > .git/HEAD; true";
    in_the_view(script, |told, place, _| {
        assert!(!place.work.join(".git/hooks/pre-commit").exists(), "{told}");
        assert!(place.work.join(".git/hooks").is_dir(), "{told}");
        assert_eq!(place.read("app/.git/config"), "[core]\n", "{told}");
        assert_eq!(place.read("app/.git/HEAD"), "ref\n", "{told}");
    });
}

#[test]
fn an_ancestor_of_a_protected_path_can_not_be_moved_away_and_another_folder_can() {
    let script = "mv .git gone; mkdir -p .git/hooks; echo bad > .git/hooks/pre-commit; mkdir a; mv a b; true";
    in_the_view(script, |told, place, _| {
        assert!(place.work.join(".git/config").exists(), "{told}");
        assert!(!place.work.join("gone").exists(), "{told}");
        assert!(!place.work.join(".git/hooks/pre-commit").exists(), "{told}");
        assert!(place.work.join("b").is_dir(), "{told}");
    });
}

#[test]
fn hidden_files_and_folders_show_nothing_by_any_name() {
    let script = "cat .env secrets/key /proc/self/cwd/.env /proc/self/root$PWD/secrets/key; ln .env alias; cat alias;
        mv secrets away; cat away/key; chmod 755 secrets; cat secrets/key; cat file";
    in_the_view(script, |told, place, ended| {
        assert_eq!(ended.stdout, "text\n", "{told}");
        assert_eq!(place.read("app/.env"), "KEY=hush\n", "{told}");
        assert_eq!(place.read("app/secrets/key"), "hush\n", "{told}");
    });
}

#[test]
fn names_that_are_not_in_the_view_do_not_exist() {
    in_the_view("ls /home /root /var; ls /usr > /dev/null && echo usr", |told, _, ended| {
        assert_eq!(ended.stdout, "usr\n", "{told}");
    });
}

#[test]
fn the_root_of_the_view_can_be_listed_and_not_written() {
    let script = "ls / | grep -x -e etc -e usr -e proc | tr '\\n' ' '; cat /etc/passwd > /dev/null && echo read;
        echo bad > /made; mkdir /made-dir; ln -s /etc /made-link; echo bad > /usr/made; rm /bin; touch /; ls -A / | grep made";
    in_the_view(script, |told, _, ended| {
        assert_eq!(ended.stdout, "etc proc usr read\n", "{told}");
        assert!(!std::path::Path::new("/usr/made").exists(), "{told}");
        assert!(std::path::Path::new("/bin").exists(), "{told}");
    });
}

#[test]
fn nothing_is_left_in_the_workspace() {
    let list = |place: &Place| {
        let mut names: Vec<_> =
            std::fs::read_dir(&place.work).expect("list").flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    let before = list(&Place::new());
    in_every_tier("true", |told, place, _| assert_eq!(list(place), before, "{told}"));
}
