//! The golden plans of `test/plans` are read, judged and written back without loss.

use plan::{LinuxPlan, OpName, PlanFault, PlanOp, check_order};
use std::path::PathBuf;

fn golden(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../test/plans").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn parsed(name: &str) -> LinuxPlan {
    serde_json::from_str(&golden(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_golden_plan_survives_the_round_trip() {
    for name in [
        "namespaces_default.json",
        "landlock_default.json",
        "namespaces_broker.json",
        "landlock_broker.json",
        "refused_order.json",
        "refused_missing_property.json",
    ] {
        let before: serde_json::Value = serde_json::from_str(&golden(name)).expect("golden files are JSON");
        let after = serde_json::to_value(parsed(name)).expect("plans can be written");
        assert_eq!(before, after, "{name}");
    }
}

#[test]
fn the_default_plans_are_in_order() {
    assert_eq!(check_order(&parsed("namespaces_default.json")), Ok(()));
    assert_eq!(check_order(&parsed("landlock_default.json")), Ok(()));
    assert_eq!(check_order(&parsed("namespaces_broker.json")), Ok(()));
    assert_eq!(check_order(&parsed("landlock_broker.json")), Ok(()));
}

#[test]
fn a_broker_without_a_filter_and_a_rule_without_one_place_are_refused() {
    let good = parsed("landlock_broker.json");
    let mut plan = good.clone();
    plan.ops.pop();
    assert!(matches!(check_order(&plan), Err(PlanFault::Unsupported(OpName::Broker, _))));
    for (path, glob) in [(None, None), (Some("/a"), Some("/b/*")), (Some("a"), None)] {
        let mut plan = good.clone();
        for op in &mut plan.ops {
            if let PlanOp::Broker { guard, .. } = op {
                guard.rules[0].path = path.map(str::to_owned);
                guard.rules[0].glob = glob.map(str::to_owned);
            }
        }
        assert!(matches!(check_order(&plan), Err(PlanFault::Unsupported(OpName::Broker, _))), "{path:?} {glob:?}");
    }
}

#[test]
fn a_plan_in_another_order_is_refused() {
    let fault = PlanFault::Order { earlier: OpName::View, later: OpName::Namespaces };
    assert_eq!(check_order(&parsed("refused_order.json")), Err(fault));
}

#[test]
fn a_step_that_stands_twice_is_refused() {
    let mut plan = parsed("landlock_default.json");
    let step = plan.ops[1].clone();
    plan.ops.insert(1, step);
    assert!(matches!(check_order(&plan), Err(PlanFault::Order { .. })));
}

#[test]
fn a_view_without_a_mount_namespace_is_refused() {
    let mut plan = parsed("namespaces_default.json");
    plan.ops.remove(0);
    assert!(matches!(check_order(&plan), Err(PlanFault::Unsupported(OpName::View, _))));
}

#[test]
fn an_unknown_field_an_unknown_step_and_an_unknown_word_are_errors() {
    let text = golden("landlock_default.json");
    for (from, to) in [
        ("\"at\": \"host\"", "\"at\": \"host\", \"size\": 1"),
        ("\"op\": \"privileges\"", "\"op\": \"privilege\""),
        ("\"tier\": \"landlock\"", "\"tier\": \"landlocked\""),
        ("\"version\": 1", "\"version\": 1, \"extra\": true"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from} is in the file");
        assert!(serde_json::from_str::<LinuxPlan>(&changed).is_err(), "{to} was accepted");
    }
}

#[test]
fn another_version_an_empty_argv_and_a_nul_byte_are_refused() {
    let good = parsed("landlock_default.json");
    let mut plan = good.clone();
    plan.version = 2;
    assert_eq!(check_order(&plan), Err(PlanFault::Version(2)));
    let mut plan = good.clone();
    plan.command.argv.clear();
    assert!(matches!(check_order(&plan), Err(PlanFault::Command(_))));
    let mut plan = good;
    plan.command.argv.push("a\0b".into());
    assert!(matches!(check_order(&plan), Err(PlanFault::Command(_))));
}
