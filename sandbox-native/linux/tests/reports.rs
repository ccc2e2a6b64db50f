//! Refusals before anything runs, what is reported as enforced, and the denials that the watch sees.

mod support;

use serde_json::{Value, json};
use support::{As, Place, golden, in_every_tier, op, run_plan, tiers};

fn refused(plan: &Value, place: &Place) -> Value {
    let ended = run_plan(place, plan, As::Caller);
    assert_eq!(ended.code, Some(120), "{ended:#?}");
    assert_eq!(ended.stdout, "", "nothing may run: {ended:#?}");
    assert_eq!(ended.lines.len(), 1, "{ended:#?}");
    ended.line("refused").clone()
}

#[test]
fn a_plan_in_another_order_runs_nothing() {
    let place = Place::new();
    let line = refused(&golden("refused_order.json", &place, &["echo", "ran"]), &place);
    assert_eq!(line["op"], "plan");
}

#[test]
fn a_property_that_no_step_gives_runs_nothing_when_it_must_be() {
    let place = Place::new();
    let line = refused(&golden("refused_missing_property.json", &place, &["echo", "ran"]), &place);
    assert_eq!(line["property"], "proc.isolated");
}

#[test]
fn a_must_that_fails_runs_nothing_and_the_same_as_best_runs() {
    if !tiers().contains(&("namespaces_default.json", As::Caller)) {
        eprintln!("skipped: no namespaces");
        return;
    }
    let place = Place::new();
    let mut plan = golden("namespaces_default.json", &place, &["echo", "ran"]);
    let gone = place.work.join("not/there");
    op(&mut plan, "view").expect("a view")["mounts"]
        .as_array_mut()
        .expect("a list")
        .push(json!({ "path": gone, "access": "protected" }));
    let line = refused(&plan, &place);
    assert_eq!((&line["op"], &line["ops"][1]["state"]), (&json!("view"), &json!("partial")));

    op(&mut plan, "view").expect("a view")["level"] = json!("best");
    for (_, level) in plan["asked"].as_object_mut().expect("a map") {
        *level = json!("best");
    }
    let ended = run_plan(&place, &plan, As::Caller);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "ran\n"), "{ended:#?}");
    assert!(!gone.exists(), "no mount point may be made on the host");
    let enforced = ended.line("enforced");
    let view = enforced["ops"].as_array().expect("a list").iter().find(|step| step["op"] == "view");
    assert_eq!(view.expect("a view")["state"], "partial");
    assert_eq!(enforced["properties"]["fs.write_confined"], "enforced", "by the steps that must be whole");
}

#[test]
fn namespaces_that_can_not_be_made_refuse_and_never_touch_the_hosts_mounts() {
    let place = Place::new();
    let plan = golden("namespaces_default.json", &place, &["echo", "ran"]);
    let ended = run_plan(&place, &plan, As::NoNamespaces);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(120), ""), "{ended:#?}");
    assert_eq!(ended.line("refused")["op"], "namespaces");
}

#[test]
fn a_folder_that_is_not_there_runs_nothing() {
    let place = Place::new();
    let mut plan = golden("landlock_default.json", &place, &["echo", "ran"]);
    plan["command"]["cwd"] = json!("/no/such/folder");
    assert_eq!(refused(&plan, &place)["op"], "command");
}

#[test]
fn a_line_that_is_no_plan_runs_nothing() {
    let place = Place::new();
    let mut plan = golden("landlock_default.json", &place, &["echo", "ran"]);
    plan["surprise"] = json!(true);
    assert_eq!(refused(&plan, &place)["op"], "plan");
}

#[test]
fn each_step_of_the_default_plans_is_enforced() {
    in_every_tier("true", |told, _, ended| {
        for step in ended.line("enforced")["ops"].as_array().expect("a list") {
            assert_eq!(step["state"], "enforced", "{told}");
        }
    });
}

#[test]
fn a_refused_write_is_reported_once_with_its_path_and_an_allowed_one_is_not() {
    let script = "for i in 1 2 3; do echo bad > /etc/launcher-test; done; echo good > made; echo x > /dev/null";
    in_every_tier(script, |told, _, ended| {
        let denials = ended.denials();
        assert_eq!(denials.len(), 1, "{told}");
        let denial = denials[0];
        assert_eq!((&denial["op"], &denial["path"]), (&json!("write"), &json!("/etc/launcher-test")), "{told}");
        assert_eq!(denial["rule"], "fs.write_confined", "{told}");
        assert!(denial["exe"].as_str().is_some_and(|exe| exe.ends_with("sh")), "{told}");
    });
}

#[test]
fn a_protected_path_is_reported_under_its_own_rule() {
    if !tiers().contains(&("namespaces_default.json", As::Caller)) {
        eprintln!("skipped: no namespaces");
        return;
    }
    let place = Place::new();
    let script = "echo bad > .git/hooks/pre-commit; echo > /dev/stdout; echo > /dev/stderr";
    let ended = run_plan(&place, &golden("namespaces_default.json", &place, &["/bin/sh", "-c", script]), As::Caller);
    let rules: Vec<&Value> = ended.denials().iter().map(|denial| &denial["rule"]).collect();
    assert_eq!(rules, [&json!("fs.protected")], "{ended:#?}");
}

#[test]
fn a_refused_connection_is_reported() {
    let script = "exec 3<>/dev/tcp/10.9.8.7/81";
    for (name, surroundings) in tiers() {
        if !std::path::Path::new("/bin/bash").exists() {
            eprintln!("skipped: no bash");
            return;
        }
        let place = Place::new();
        let ended = run_plan(&place, &golden(name, &place, &["/bin/bash", "-c", script]), surroundings);
        let denials = ended.denials();
        assert!(denials.iter().any(|denial| denial["rule"] == "net.blocked"), "{name} {ended:#?}");
        if name.starts_with("namespaces") {
            assert_eq!((&denials[0]["host"], &denials[0]["port"]), (&json!("10.9.8.7"), &json!(81)), "{ended:#?}");
        }
    }
}

#[test]
fn a_path_that_is_gone_when_the_view_is_built_refuses_with_its_name_and_errno() {
    if !tiers().contains(&("namespaces_default.json", As::Caller)) {
        eprintln!("skipped: no namespaces");
        return;
    }
    for (gone, access, errno) in [
        (".git/config", "protected", "ENOENT"),
        (".git/hooks", "protected", "ENOENT"),
        (".env", "hidden_file", "ENOENT"),
        ("secrets", "hidden_dir", "ENOENT"),
    ] {
        let place = Place::new();
        let plan = golden("namespaces_default.json", &place, &["echo", "ran"]);
        let path = place.work.join(gone);
        if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) }.expect("remove");
        let line = refused(&plan, &place);
        let wanted = format!("{} \"{}\": {errno}", access.replace('_', ""), path.display());
        assert_eq!((&line["why"], &line["errno"]), (&json!(wanted), &json!(errno)), "{line:#}");
        assert!(!path.exists(), "no mount point may be made on the host");
    }
}

#[test]
fn a_path_that_became_a_link_is_not_followed_and_refuses_with_its_name() {
    if !tiers().contains(&("namespaces_default.json", As::Caller)) {
        eprintln!("skipped: no namespaces");
        return;
    }
    let place = Place::new();
    let plan = golden("namespaces_default.json", &place, &["echo", "ran"]);
    let path = place.work.join(".git/config");
    std::fs::remove_file(&path).expect("remove");
    std::os::unix::fs::symlink(place.top.join("outside"), &path).expect("link");
    let line = refused(&plan, &place);
    assert_eq!(line["errno"], "ELOOP", "{line:#}");
    assert!(line["why"].as_str().is_some_and(|why| why.contains(".git/config")), "{line:#}");
}
