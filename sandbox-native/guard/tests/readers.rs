//! The two readers of hostile text: they never panic, and globs mean what they mean elsewhere.

mod support;

use guard::{Access, Ruling, git_config};
use proptest::prelude::*;
use std::path::Path;
use support::{Memory, try_guard};

fn is_matched(glob: &str, path: &str) -> Option<bool> {
    let guard = try_guard(&[&format!("deny {glob}")]).ok()?;
    Some(matches!(guard.open(Path::new(path), Access::Read, &Memory::of(&[])), Ruling::Deny(_)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_glob_matches_a_path_where_globset_matches_it_or_a_folder_above_it(
        glob in r"(/(\*\*|[ab*?]{1,4}|[ab]\[!?[a-c]{1,2}\]|\{a,b?\}[ab])){1,4}",
        path in "(/[abc]{1,3}){1,5}",
    ) {
        let known = globset::GlobBuilder::new(&glob).literal_separator(true).backslash_escape(true).empty_alternates(true).build();
        let known = known.expect("globset takes the glob").compile_matcher();
        let wanted = Path::new(&path).ancestors().any(|path| path != Path::new("/") && known.is_match(path));
        prop_assert_eq!(is_matched(&glob, &path), Some(wanted));
    }

    #[test]
    fn no_text_makes_the_glob_reader_panic(glob in r"/[ab/*?\[\]{},\\!^\-\u{e9}.]{0,40}", path in "/[ab/é.]{0,20}") {
        let _ = is_matched(&glob, &path);
    }

    #[test]
    fn no_bytes_make_the_config_reader_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = git_config::harmless(&text);
    }

    #[test]
    fn nothing_like_a_config_with_a_key_that_runs_programs_is_harmless(
        text in r#"(\[(core|remote "a"|CORE|include)\][ \t]*\n?|[ \t]*(bare|fsmonitor|url|path)[ \t]*=?[ \t]*["\\#;a:]{0,6}\n|[#;][a\\]*\n){0,8}"#,
    ) {
        if git_config::harmless(text.as_bytes()).is_ok() {
            let mut uncommented = text.lines().filter(|line| !line.trim_start().starts_with(['#', ';']));
            prop_assert!(uncommented.all(|line| !line.contains("fsmonitor") && !line.contains("path")));
        }
    }
}

#[test]
fn long_text_is_read_in_one_pass() {
    // Any reader that looks back takes hours for these.
    let config = format!("[remote \"{}\"]\n\turl = {}\n", "a".repeat(1 << 20), "b".repeat(1 << 20));
    assert!(git_config::harmless(config.as_bytes()).is_ok());
    assert!(git_config::harmless("[".repeat(1 << 20).as_bytes()).is_err());
    let path = format!("/{}", "a/".repeat(2000));
    assert_eq!(is_matched(&format!("/{}b", "**/a/".repeat(500)), &path), Some(false));
    assert_eq!(is_matched(&format!("/**/{}b", "a*".repeat(1000)), &format!("/{}", "a".repeat(4000))), Some(false));
}
