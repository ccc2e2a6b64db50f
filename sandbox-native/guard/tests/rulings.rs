//! One act, one ruling.

mod support;

use guard::{Access, Kind, Made, Ruling};
use std::path::Path;
use support::{Memory, TRUST, guard, try_guard};

/// The ruling as a word.
fn word(ruling: Ruling<'_>) -> &'static str {
    match ruling {
        Ruling::Allow => "allow",
        Ruling::Report(_) => "report",
        Ruling::Deny(_) => "deny",
        Ruling::CopyConfig(_) => "copy",
        Ruling::TryConfig => "try",
        Ruling::Release => "release",
        Ruling::CrossDevice => "cross",
    }
}

fn change(path: &str, made: Made, tree: &[&str]) -> &'static str {
    word(guard(TRUST).change(Path::new(path), made, &Memory::of(tree)))
}

fn carry(from: &str, to: &str, tree: &[&str]) -> &'static str {
    let memory = Memory::of(tree);
    let kind = guard::Tree::kind(&memory, Path::new(from)).expect("the source is there");
    word(guard(TRUST).carry(Path::new(from), Path::new(to), kind, &memory).ruling)
}

fn link(from: &str, to: &str, tree: &[&str]) -> &'static str {
    word(guard(TRUST).link(Path::new(from), Path::new(to), Kind::File, &Memory::of(tree)).ruling)
}

#[test]
fn the_first_rule_that_matches_decides() {
    let guard = guard(&["allow /w/a/ok", "deny write /w/a", "deny read /w/b"]);
    let open = |path: &str, access| word(guard.open(Path::new(path), access, &Memory::of(&[])));
    assert_eq!(open("/w/a/ok/x", Access::Write), "allow");
    assert_eq!(open("/w/a/x", Access::Write), "deny");
    assert_eq!(open("/w/a/x", Access::Read), "allow");
    assert_eq!(open("/w/ab", Access::ReadWrite), "allow");
    assert_eq!(open("/w/b/x", Access::Read), "deny");
    assert_eq!(open("/w/b/x", Access::Write), "allow");
    assert_eq!(open("/w/b", Access::ReadWrite), "deny");
}

#[test]
fn a_name_that_is_not_utf8_is_judged_like_any_other() {
    use std::os::unix::ffi::OsStrExt;
    let guard = guard(&["deny /w/**/.envrc"]);
    let inside = Path::new(std::ffi::OsStr::from_bytes(b"/w/\xff\xfe/.envrc"));
    assert_eq!(word(guard.open(inside, Access::Write, &Memory::of(&[]))), "deny");
    let beside = Path::new(std::ffi::OsStr::from_bytes(b"/w/\xff\xfe/.envrc\xff"));
    assert_eq!(word(guard.open(beside, Access::Write, &Memory::of(&[]))), "allow");
}

#[test]
fn what_the_kernel_refuses_anyway_is_left_to_it() {
    assert_eq!(change("/w/.husky", Made::Folder, &["/w/.husky/"]), "allow");
    assert_eq!(change("/w/.husky", Made::Folder, &[]), "deny");
    assert_eq!(change("/w/.envrc", Made::Removed, &[]), "allow");
    assert_eq!(change("/w/.envrc", Made::Removed, &["/w/.envrc"]), "deny");
}

#[test]
fn a_rule_for_existing_names_does_not_hold_for_new_ones() {
    assert_eq!(change("/w/package.json", Made::File, &[]), "allow");
    assert_eq!(change("/w/package.json", Made::File, &["/w/package.json"]), "report");
    assert_eq!(carry("/w/x", "/w/package.json", &["/w/x"]), "allow");
    assert_eq!(carry("/w/x", "/w/package.json", &["/w/x", "/w/package.json"]), "report");
    assert_eq!(carry("/w/package.json", "/w/x", &["/w/package.json"]), "report");
}

#[test]
fn a_rename_that_completes_a_guarded_name_is_refused() {
    assert_eq!(carry("/w/x", "/w/.envrc", &["/w/x"]), "deny");
    assert_eq!(carry("/w/x", "/w/.github", &["/w/x/workflows/ci.yml"]), "deny");
    assert_eq!(carry("/w/x", "/w/.github", &["/w/x/workflow/ci.yml"]), "allow");
    assert_eq!(carry("/w/x", "/w/.github/workflows", &["/w/.github/", "/w/x/ci.yml"]), "deny");
    assert_eq!(carry("/w/x", "/w/.git", &["/w/x/hooks/pre-commit"]), "deny");
    assert_eq!(carry("/w/x", "/w/.git", &["/w/x/hooks/pre-commit.sample"]), "allow");
}

#[test]
fn a_folder_around_a_guarded_name_is_not_renamed() {
    assert_eq!(carry("/w/.github", "/w/x", &["/w/.github/workflows/ci.yml"]), "deny");
    assert_eq!(carry("/w/a", "/w/b", &["/w/a/deep/.envrc"]), "deny");
    assert_eq!(carry("/w/a", "/w/b", &["/w/a/deep/envrc"]), "allow");
    assert_eq!(carry("/w/.git", "/w/gx", &["/w/.git/config", "/w/.git/hooks/"]), "deny");
}

#[test]
fn a_folder_around_a_ruled_path_is_not_renamed_even_if_the_path_is_not_there() {
    let guard = guard(&["allow /w/a/open", "deny write /w/a/b/p", "deny write /w/a/open/x"]);
    let memory = Memory::of(&["/w/a/x", "/w/a/open/y", "/w/c/x"]);
    let carry = |from: &str| word(guard.carry(Path::new(from), Path::new("/w/z"), Kind::Folder, &memory).ruling);
    assert_eq!(carry("/w/a"), "deny");
    assert_eq!(carry("/w/a/open"), "allow", "a rule that another opens");
    assert_eq!(carry("/w/c"), "allow");
}

#[test]
fn a_path_rule_holds_in_a_folder_that_is_removed_and_made_again() {
    let guard = guard(&["deny write /w/a/p"]);
    let change = |path: &str, made, tree: &[&str]| word(guard.change(Path::new(path), made, &Memory::of(tree)));
    assert_eq!(change("/w/a", Made::Removed, &["/w/a/"]), "allow");
    assert_eq!(change("/w/a", Made::Folder, &[]), "allow");
    assert_eq!(change("/w/a/p", Made::File, &["/w/a/"]), "deny");
}

#[test]
fn a_link_whose_name_is_part_of_a_guarded_one_is_refused() {
    for name in ["/w/.github", "/w/a/.git", "/w/.git/hooks", "/w/.github/workflows/x", "/w/.envrc"] {
        assert_eq!(change(name, Made::Symlink, &["/w/.git/"]), "deny", "{name}");
    }
    for name in ["/w/github", "/w/a/x", "/w/hooks", "/w/node_modules/a/.github"] {
        assert_eq!(change(name, Made::Symlink, &[]), "allow", "{name}");
    }
    let path = guard(&["deny write /w/a/b/p"]);
    assert_eq!(word(path.change(Path::new("/w/a"), Made::Symlink, &Memory::of(&[]))), "deny");
    assert_eq!(word(path.change(Path::new("/w/c"), Made::Symlink, &Memory::of(&[]))), "allow");
}

#[test]
fn a_link_gets_no_guarded_name_by_a_rename() {
    assert_eq!(carry("/w/x", "/w/.github", &["/w/x@"]), "deny");
    assert_eq!(carry("/w/x", "/w/y", &["/w/x@"]), "allow");
    assert_eq!(carry("/w/x", "/w/.git", &["/w/x/hooks@"]), "deny");
    assert_eq!(carry("/w/x", "/w/z", &["/w/x/hooks@"]), "allow");
}

#[test]
fn a_hidden_or_guarded_file_gets_no_second_name() {
    assert_eq!(link("/w/secret/key", "/w/k", &["/w/secret/key"]), "deny");
    assert_eq!(link("/w/.envrc", "/w/k", &["/w/.envrc"]), "deny");
    assert_eq!(link("/w/k", "/w/.envrc", &["/w/k"]), "deny");
    assert_eq!(link("/w/package.json", "/w/k", &["/w/package.json"]), "report");
    assert_eq!(link("/w/k", "/w/l", &["/w/k"]), "allow");
    assert_eq!(carry("/w/secret/key", "/w/k", &["/w/secret/key"]), "deny");
    assert_eq!(carry("/w/secret", "/w/k", &["/w/secret/key"]), "deny");
}

#[test]
fn what_leaves_an_exempt_folder_is_judged_at_its_new_name() {
    assert_eq!(change("/w/node_modules/a/.envrc", Made::File, &[]), "allow");
    assert_eq!(carry("/w/node_modules/a", "/w/a", &["/w/node_modules/a/.envrc"]), "deny");
    assert_eq!(carry("/w/node_modules/a", "/w/node_modules/b", &["/w/node_modules/a/.envrc"]), "allow");
    assert_eq!(link("/w/node_modules/x", "/w/.envrc", &["/w/node_modules/x"]), "deny");
    assert_eq!(carry("/w/node_modules", "/w/.husky", &["/w/node_modules/x"]), "deny");
}

#[test]
fn an_exchange_is_judged_both_ways() {
    let tree = Memory::of(&["/w/.envrc", "/w/x", "/w/y", "/w/a/workflows/ci.yml", "/w/.github/"]);
    let guard = guard(TRUST);
    let exchange = |one: &str, other: &str, kind| {
        word(guard.exchange((Path::new(one), kind), (Path::new(other), kind), &tree).ruling)
    };
    assert_eq!(exchange("/w/.envrc", "/w/x", Kind::File), "deny");
    assert_eq!(exchange("/w/x", "/w/.envrc", Kind::File), "deny");
    assert_eq!(exchange("/w/.github", "/w/a", Kind::Folder), "deny");
    assert_eq!(exchange("/w/a", "/w/.github", Kind::Folder), "deny");
    assert_eq!(exchange("/w/x", "/w/y", Kind::File), "allow");
}

#[test]
fn a_folder_with_too_many_names_is_to_be_copied() {
    let names: Vec<String> = (0..10_001).map(|n| format!("/w/a/{n}")).collect();
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(carry("/w/a", "/w/b", &names), "cross");
    names.pop();
    assert_eq!(carry("/w/a", "/w/b", &names), "allow");
}

#[test]
fn every_trusted_file_of_a_folder_is_named() {
    let guard = guard(&["report write /w/**/Makefile"]);
    let tree = Memory::of(&["/w/a/Makefile", "/w/a/b/Makefile"]);
    let carried = guard.carry(Path::new("/w/a"), Path::new("/w/z"), Kind::Folder, &tree);
    assert_eq!(word(carried.ruling), "report");
    let mut names: Vec<String> = carried.reports.iter().map(|(path, _)| path.display().to_string()).collect();
    names.sort();
    assert_eq!(names, ["/w/a/Makefile", "/w/a/b/Makefile", "/w/z/Makefile", "/w/z/b/Makefile"]);
}

#[test]
fn rules_that_would_not_protect_are_no_guard() {
    for line in ["deny relative", "deny /w/../x", "deny /w//x", "deny /w/[x", "deny /w/{x", "deny /w/*/../x"] {
        assert!(try_guard(&[line]).is_err(), "{line}");
    }
    assert!(try_guard(&["deny /w/[x]", "deny /w/{x,y}"]).is_ok());
}

#[test]
fn a_rule_about_what_exists_is_about_that_very_name() {
    let guard = guard(&["deny write exists /w/**/.git"]);
    let tree = Memory::of(&["/w/tree/.git", "/w/.git/", "/w/.git/index"]);
    let change = |path: &str, made| word(guard.change(Path::new(path), made, &tree));
    assert_eq!(change("/w/tree/.git", Made::File), "deny");
    assert_eq!(change("/w/new/.git", Made::File), "allow");
    assert_eq!(change("/w/.git/index", Made::File), "allow");
    // What may be made anew may go: git removes worktrees, and tries to remove folders that are not empty.
    assert_eq!(change("/w/tree/.git", Made::Removed), "allow");
    assert_eq!(change("/w/.git", Made::Removed), "allow");
}
