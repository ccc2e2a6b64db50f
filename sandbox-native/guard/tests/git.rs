//! What git runs or obeys, in every order in which a repository can come to be.

mod support;

use guard::{Access, Kind, Made, Ruling, Tree};
use std::path::Path;
use support::{Memory, TRUST, guard};

fn is_denied(ruling: Ruling<'_>) -> bool {
    matches!(ruling, Ruling::Deny(_))
}

fn change(path: &str, made: Made, tree: &[&str]) -> bool {
    is_denied(guard(TRUST).change(Path::new(path), made, &Memory::of(tree)))
}

fn carry(from: &str, to: &str, tree: &[&str]) -> bool {
    let memory = Memory::of(tree);
    let kind = memory.kind(Path::new(from)).expect("the source is there");
    is_denied(guard(TRUST).carry(Path::new(from), Path::new(to), kind, &memory).ruling)
}

#[test]
fn a_configuration_comes_by_a_copy_of_its_lock_and_not_otherwise() {
    let guard = guard(TRUST);
    let carry = |from: &str, to: &str, tree: &[&str]| {
        guard.carry(Path::new(from), Path::new(to), Kind::File, &Memory::of(tree)).ruling
    };
    let lock = "/w/r/.git/config.lock";
    assert!(matches!(carry(lock, "/w/r/.git/config", &[lock]), Ruling::CopyConfig(_)));
    assert!(matches!(carry(lock, "/w/r/.git/config", &[lock, "/w/r/.git/config!"]), Ruling::CopyConfig(_)));
    assert!(matches!(carry(lock, "/w/r/.git/config", &[lock, "/w/r/.git/config"]), Ruling::CopyConfig(_)));
    assert!(is_denied(carry("/w/x", "/w/r/.git/config", &["/w/x"])));
    assert!(is_denied(carry("/w/config.lock", "/w/r/.git/config", &["/w/config.lock"])));
    let bare = ["/w/b/objects/", "/w/b/refs/", "/w/b/config.lock"];
    assert!(matches!(carry("/w/b/config.lock", "/w/b/config", &bare), Ruling::CopyConfig(_)));
    assert!(is_denied(
        guard.link(Path::new(lock), Path::new("/w/r/.git/config"), Kind::File, &Memory::of(&[lock])).ruling
    ));
}

#[test]
fn a_configuration_that_this_run_made_may_go_and_move_but_is_never_written() {
    assert!(!change("/w/r/.git/config", Made::Removed, &["/w/r/.git/config!"]));
    assert!(change("/w/r/.git/config", Made::Removed, &["/w/r/.git/config"]));
    assert!(!carry("/w/r", "/w/s", &["/w/r/.git/config!"]));
    assert!(carry("/w/r", "/w/s", &["/w/r/.git/config"]));
    assert!(!carry("/w/r/.git/config", "/w/x", &["/w/r/.git/config!"]));
    assert!(change("/w/r/.git/config", Made::File, &["/w/r/.git/config!"]));
    // chmod is what git tries on a new configuration.
    assert!(!change("/w/r/.git/config", Made::Metadata, &["/w/r/.git/config"]));
}

#[test]
fn a_configuration_that_moved_to_where_nobody_obeys_it_is_a_file_like_others_once_it_is_written_or_linked() {
    let guard = guard(TRUST);
    let tree = Memory::of(&["/w/x!", "/w/r/.git/config!"]);
    assert_eq!(guard.change(Path::new("/w/x"), Made::File, &tree), Ruling::Release);
    assert_eq!(guard.open(Path::new("/w/x"), Access::Write, &tree), Ruling::Release);
    let link = |from: &str, to: &str| guard.link(Path::new(from), Path::new(to), Kind::File, &tree).ruling;
    assert_eq!(link("/w/x", "/w/y"), Ruling::Release);
    assert!(is_denied(link("/w/x", "/w/s/.git/config")));
    assert!(is_denied(link("/w/r/.git/config", "/w/y")));
}

#[test]
fn a_lock_becomes_a_configuration_before_the_repository_is_there() {
    let guard = guard(TRUST);
    let carry = |tree: &[&str], to: &str| {
        guard.carry(Path::new("/w/b/config.lock"), Path::new(to), Kind::File, &Memory::of(tree))
    };
    assert_eq!(carry(&["/w/b/config.lock"], "/w/b/config").ruling, Ruling::TryConfig);
    assert_eq!(carry(&["/w/b/config.lock", "/w/b/config!"], "/w/b/config").ruling, Ruling::TryConfig);
    // What was not checked before is not checked now.
    assert_eq!(carry(&["/w/b/config.lock", "/w/b/config"], "/w/b/config").ruling, Ruling::Allow);
    assert_eq!(carry(&["/w/b/config.lock"], "/w/b/other").ruling, Ruling::Allow);
}

#[test]
fn in_a_repository_of_any_name_what_git_obeys_is_guarded() {
    let bare = ["/w/b/objects/", "/w/b/refs/", "/w/b/hooks/", "/w/b/info/"];
    for name in ["config", "config.worktree", "commondir", "hooks/pre-commit", "info/attributes"] {
        assert!(change(&format!("/w/b/{name}"), Made::File, &bare), "{name}");
        assert!(carry("/w/x", &format!("/w/b/{name}"), &[&bare[..], &["/w/x"]].concat()), "{name}");
        assert!(!change(&format!("/w/plain/{name}"), Made::File, &["/w/plain/refs/"]), "{name}");
    }
    for name in ["HEAD", "description", "hooks/x.sample", "info/exclude", "refs/heads/config"] {
        assert!(!change(&format!("/w/b/{name}"), Made::File, &bare), "{name}");
    }
}

#[test]
fn objects_and_refs_of_any_kind_make_a_repository() {
    for objects in ["/w/b/objects", "/w/b/objects/", "/w/b/objects@"] {
        assert!(change("/w/b/config", Made::File, &[objects, "/w/b/refs@"]), "{objects}");
    }
}

#[test]
fn the_last_part_of_a_repository_is_not_laid_around_what_git_obeys() {
    let loads = [
        "/w/b/config",
        "/w/b/config.worktree",
        "/w/b/hooks/pre-commit",
        "/w/b/hooks@",
        "/w/b/info@",
        "/w/b/info/attributes",
    ];
    for load in loads {
        for (first, last) in [("objects", "refs"), ("refs", "objects")] {
            let (first, last) = (format!("/w/b/{first}/"), format!("/w/b/{last}"));
            for made in [Made::File, Made::Folder, Made::Symlink, Made::Node] {
                assert!(change(&last, made, &[load, &first]), "{load} {last} {made:?}");
            }
            assert!(carry("/w/x", &last, &[load, &first, "/w/x/"]), "{load} {last} by a rename");
            assert!(!change(&last, Made::Folder, &[&first, "/w/b/config!", "/w/b/hooks/x.sample"]), "{last}");
        }
    }
}

#[test]
fn a_repository_is_not_taken_apart_to_open_its_settings() {
    let bare = ["/w/b/objects/", "/w/b/refs/", "/w/b/config"];
    assert!(change("/w/b/refs", Made::Removed, &bare));
    assert!(carry("/w/b/objects", "/w/b/o", &bare));
    assert!(!change("/w/b/refs", Made::Removed, &["/w/b/objects/", "/w/b/refs/", "/w/b/config!"]));
}

#[test]
fn a_prepared_folder_does_not_become_a_part_of_a_repository() {
    let bare = ["/w/b/objects/", "/w/b/refs/"];
    assert!(carry("/w/x", "/w/b/hooks", &[&bare[..], &["/w/x/pre-commit"]].concat()));
    assert!(!carry("/w/x", "/w/b/hooks", &[&bare[..], &["/w/x/pre-commit.sample"]].concat()));
    assert!(carry("/w/x", "/w/b/hooks", &[&bare[..], &["/w/x@"]].concat()));
    assert!(carry("/w/x", "/w/b/info", &[&bare[..], &["/w/x/attributes"]].concat()));
    assert!(carry("/w/x", "/w/.git", &["/w/x/objects/", "/w/x/refs/", "/w/x/config"]));
}

#[test]
fn a_worktree_may_be_made_and_not_turned_round() {
    let main = ["/w/.git/objects/", "/w/.git/refs/", "/w/.git/config", "/w/.git/worktrees/t/HEAD"];
    let linked = [&main[..], &["/w/.git/worktrees/t/commondir"]].concat();
    assert!(!change("/w/.git/worktrees/t/commondir", Made::File, &main));
    assert!(change("/w/.git/worktrees/t/commondir", Made::File, &linked));
    assert!(!change("/w/.git/worktrees/t/commondir", Made::Removed, &linked));
    assert!(change("/w/.git/commondir", Made::File, &main));
    assert!(change("/w/.git/worktrees/t/config.worktree", Made::File, &linked));
    assert!(change("/w/x/commondir", Made::File, &["/w/x/config.worktree"]));
    assert!(change("/w/x/config.worktree", Made::File, &["/w/x/commondir"]));
    assert!(!change("/w/x/config.worktree", Made::File, &["/w/x/HEAD"]));
    assert!(!change("/w/t/.git", Made::File, &main));
}

#[test]
fn exempt_folders_do_not_open_repositories_but_a_grant_does() {
    let bare = ["/w/node_modules/b/objects/", "/w/node_modules/b/refs/"];
    assert!(change("/w/node_modules/b/config", Made::File, &bare));
    assert!(change("/w/node_modules/b/.git/config", Made::File, &[]));
    let granted = guard(&[&["allow /w/b/config"], TRUST].concat());
    let tree = Memory::of(&["/w/b/objects/", "/w/b/refs/"]);
    assert_eq!(granted.change(Path::new("/w/b/config"), Made::File, &tree), Ruling::Allow);
    assert!(is_denied(granted.change(Path::new("/w/b/commondir"), Made::File, &tree)));
}
