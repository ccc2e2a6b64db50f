//! Random sequences of acts on a real folder through the guard never end with a guarded name changed or planted.

mod support;

use proptest::prelude::*;
use support::TRUST;
use support::world::{Act, Content, World};

const FOLDERS: &[&str] = &[
    "",
    "d",
    "e",
    ".git",
    ".git/hooks",
    ".git/info",
    "d/.git",
    "d/.git/hooks",
    "b",
    "b/hooks",
    "d/b",
    "d/b/hooks",
    "d/b/info",
    "e/hooks",
    "node_modules",
    "node_modules/p",
    "node_modules/p/.git",
    ".github",
    ".github/workflows",
    "d/.github",
    "d/workflows",
    "secret",
    "sub",
    "sub/.git",
];

const NAMES: &[&str] = &[
    "d",
    "e",
    "b",
    "x",
    ".git",
    "config",
    "config.lock",
    "hooks",
    "pre-commit",
    "y.sample",
    "objects",
    "refs",
    "info",
    "attributes",
    "commondir",
    "config.worktree",
    ".envrc",
    ".github",
    "workflows",
    ".husky",
    "node_modules",
    "key",
    "secret",
    "package.json",
    "sub",
];

fn path() -> impl Strategy<Value = String> {
    (prop::sample::select(FOLDERS), prop::sample::select(NAMES)).prop_map(|(folder, name)| match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    })
}

fn act() -> impl Strategy<Value = Act> {
    let content =
        || prop_oneof![3 => Just(Content::Evil), 1 => Just(Content::HarmlessConfig), 1 => Just(Content::ChangedConfig)];
    let target = prop_oneof![path(), path().prop_map(|path| format!("../{path}"))];
    prop_oneof![
        3 => path().prop_map(Act::Mkdir),
        4 => (path(), content()).prop_map(|(path, content)| Act::Write(path, content)),
        1 => (0..9usize, content()).prop_map(|(number, content)| Act::Held(number, content)),
        2 => (target, path()).prop_map(|(target, path)| Act::Symlink(target, path)),
        5 => (path(), path()).prop_map(|(from, to)| Act::Rename(from, to)),
        1 => (path(), path()).prop_map(|(one, other)| Act::Exchange(one, other)),
        2 => (path(), path()).prop_map(|(from, to)| Act::Link(from, to)),
        2 => path().prop_map(Act::Remove),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        // CORDON_GUARD_CASES=100000 for a long search.
        cases: std::env::var("CORDON_GUARD_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(300),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_sequence_of_acts_changes_or_plants_a_guarded_name(acts in prop::collection::vec(act(), 1..60)) {
        let mut world = World::new(TRUST);
        for (number, act) in acts.iter().enumerate() {
            world.act(act);
            let faults = world.faults();
            prop_assert!(faults.is_empty(), "{faults:?} after {:?}", &acts[..=number]);
        }
    }
}

#[test]
fn the_scan_sees_what_a_world_without_rules_lets_through() {
    let plant = |acts: &[Act]| {
        let mut world = World::new(&[]);
        acts.iter().for_each(|act| world.act(act));
        world.faults()
    };
    let write = |path: &str| Act::Write(path.to_owned(), Content::Evil);
    let rename = |from: &str, to: &str| Act::Rename(from.to_owned(), to.to_owned());
    assert_eq!(plant(&[write("d/y")]), Vec::<String>::new());
    assert_eq!(plant(&[write(".envrc")]), ["changed: .envrc"]);
    assert_eq!(plant(&[write("d/.envrc")]), ["planted: d/.envrc"]);
    assert_eq!(plant(&[rename("secret", "e/s")]).len(), 2);
    let link = Act::Symlink("../e".to_owned(), "d/.git".to_owned());
    assert_eq!(plant(&[link, write("e/config")]), ["planted: d/.git/config"]);
}
