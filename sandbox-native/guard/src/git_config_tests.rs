use super::*;

fn fault(text: &str) -> Option<Fault> {
    harmless(text.as_bytes()).err().map(|reason| reason.fault)
}

#[test]
fn what_git_init_clone_and_worktree_write_is_taken() {
    let text = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\
        [remote \"origin\"]\n\turl = https://example.org/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
        [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n\
        [user]\n\tname = \"A # B\" ; said\n\temail = a@example.org\n# end\n[extensions]\n\tworktreeConfig = false\n";
    assert_eq!(fault(text), None);
    assert_eq!(fault(""), None);
    assert_eq!(fault("[core] bare\n"), None);
}

#[test]
fn keys_that_run_or_read_something_are_refused() {
    for text in [
        "[core]\n\tfsmonitor = ./x\n",
        "[CORE]\n\tFsMonitor = ./x\n",
        "[core] fsmonitor = ./x\n",
        "[core]\n\tbare = false\n[core] hooksPath = x\n",
        "[core]\n\tworktree = /\n",
        "[include]\n\tpath = x\n",
        "[includeIf \"gitdir:/\"]\n\tpath = x\n",
        "[remote \"a\"]\n\tuploadpack = x\n",
        "[remote \"a\"]\n\tvcs = x\n",
        "[submodule \"a\"]\n\tupdate = !x\n",
        "[alias]\n\tst = !x\n",
        "[filter \"a\"]\n\tclean = x\n",
        "[core \"x\"]\n\tbare = false\n",
        "[remote]\n\turl = x\n",
    ] {
        assert!(matches!(fault(text), Some(Fault::Key(_))), "{text}");
    }
}

#[test]
fn values_that_name_a_program_or_an_option_are_refused() {
    for text in [
        "[remote \"a\"]\n\turl = ext::sh -c x\n",
        "[remote \"a\"]\n\turl = \"ext:\":sh\n",
        "[remote \"a\"]\n\turl = -x\n",
        "[remote \"ext::sh\"]\n\tfetch = x\n",
        "[branch \"a\"]\n\tremote = ext::sh\n",
        "[submodule \"a\"]\n\turl = ext::sh\n",
    ] {
        assert!(matches!(fault(text), Some(Fault::Value(_))), "{text}");
    }
}

#[test]
fn what_readers_understand_differently_is_refused() {
    for text in [
        "\u{feff}[core]\n\tbare = false\n",
        "[core]\r\n\tbare = false\r\n",
        "[core]\n\tbare = \\\nfalse\n",
        "# a \\\n[core]\n",
        "[core]\n\tbare = a\\tb\n",
        "[core]\n\tbare = \"a\n",
        "[core.x]\n\tbare = a\n",
        "[core\n]\n",
        "[remote \"a\n\"]\n",
        "bare = a\n",
        "[core]\n\tbare a\n",
        "[core]\n\t1a = a\n",
        "[core]\n\tbare = \0\n",
        "[]\n",
        "[core] ]\n",
    ] {
        assert_eq!(fault(text), Some(Fault::Syntax), "{text}");
    }
    assert_eq!(harmless(b"[core]\n\tbare = \xff\n").err().map(|reason| reason.line), Some(2));
    assert_eq!(fault("[core]\n\tbare = true"), Some(Fault::Unfinished));
}

const OLD: &str = "[core]\n\tbare = false\n\tfsmonitor = ./watch \\\n  --all\r\n# ours \\\n[remote \"origin\"]\n\turl = https://example.org/a.git\n\
    \tpushurl = git@example.org:a.git\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[Include]\n\tpath = ../shared\n[a.B]\n\tc = d\n";

fn change(new: &str) -> Option<Fault> {
    harmless_change(new.as_bytes(), OLD.as_bytes(), OLD.as_bytes()).err().map(|reason| reason.fault)
}

#[test]
fn what_git_changes_in_a_configuration_of_any_keys_is_taken() {
    let without = |part: &str| OLD.replace(part, "");
    for new in [
        OLD.to_owned(),
        format!("{OLD}[user]\n\tname = Bob\n"),
        format!("{OLD}[remote \"near\"]\n\turl = ../b\n\tfetch = +refs/heads/*:refs/remotes/near/*\n"),
        format!("{OLD}[branch \"side\"]\n\tremote = .\n\tmerge = refs/heads/main\n"),
        without("[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n"),
        OLD.replace("[branch \"main\"]", "[branch \"other\"]"),
        OLD.replace("remote = origin", "remote = ."),
        OLD.replace("\turl = https", "\tfetch = +refs/heads/*:refs/remotes/origin/*\n\turl = https"),
    ] {
        assert_eq!(change(&new), None, "{new}");
    }
}

#[test]
fn what_stood_there_is_not_changed_taken_out_or_moved() {
    for new in [
        OLD.replace("./watch", "./other"),
        OLD.replace("\tfsmonitor = ./watch \\\n  --all\r\n", ""),
        OLD.replace("path = ../shared", "path = ../shared\n\tpath = ../shared"),
        OLD.replace("[Include]\n\tpath = ../shared\n", ""),
        OLD.replace(
            "[Include]\n\tpath = ../shared\n[a.B]\n\tc = d\n",
            "[a.B]\n\tc = d\n[Include]\n\tpath = ../shared\n",
        ),
        format!("{OLD}[core]\n\thooksPath = x\n"),
        // Its continuation becomes a key of its own.
        OLD.replace("./watch \\\n", "./watch\n"),
        // The comment continues for some readers.
        OLD.replace("# ours \\\n", "# ours \\\n# more \\\n"),
        String::new(),
    ] {
        assert!(change(&new).is_some(), "{new}");
    }
}

#[test]
fn a_remote_of_the_start_leads_where_it_led_and_branches_follow_only_such() {
    let elsewhere = "[remote \"evil\"]\n\turl = https://example.com/e.git\n";
    for new in [
        OLD.replace("url = https://example.org/a.git", "url = https://example.com/a.git"),
        OLD.replace("\turl = https://example.org/a.git\n", ""),
        OLD.replace("\turl = https", "\turl = https://example.com/b.git\n\turl = https"),
        OLD.replace("\turl = https", "\tmirror = true\n\turl = https"),
        OLD.replace("\tpushurl", "\tpushurl = https://example.com/b.git\n\tpushurl"),
        format!("{}{elsewhere}", OLD.replace("remote = origin", "remote = evil")),
        format!("{OLD}[branch \"main\"]\n\tpushRemote = evil\n"),
    ] {
        assert!(change(&new).is_some(), "{new}");
    }
    // Nor in two steps.
    let (plain, gone) = ("[remote \"o\"]\n\turl = a\n", "");
    assert!(harmless_change(gone.as_bytes(), plain.as_bytes(), plain.as_bytes()).is_ok());
    let again = "[remote \"o\"]\n\turl = b\n";
    assert!(harmless_change(again.as_bytes(), gone.as_bytes(), plain.as_bytes()).is_err());
    assert!(harmless_change(again.as_bytes(), gone.as_bytes(), gone.as_bytes()).is_ok());
}

#[test]
fn settings_of_single_worktrees_are_not_switched_on() {
    for (text, taken) in [("true", false), ("1", false), ("yes", false), ("false", true), ("off", true)] {
        assert_eq!(fault(&format!("[extensions]\n\tworktreeConfig = {text}\n")).is_none(), taken, "{text}");
    }
    assert!(fault("[extensions]\n\tworktreeConfig\n").is_some());
    let on = b"[extensions]\n\tworktreeConfig = true\n";
    assert!(harmless_change(on, on, on).is_ok());
}

#[test]
fn files_are_read_as_git_reads_them() {
    let text = "[Core \"A b\\\"\"] Key-1=a \"b  c\" d ; x\n\te = \"q # r\"\t\n[x.Y]z\n\tlong = one \\\n two";
    let said: Vec<String> = text::read(text.as_bytes())
        .expect("git reads it")
        .into_iter()
        .map(|placed| {
            let value = placed.entry.value.clone().map(|value| String::from_utf8_lossy(&value).into_owned());
            format!("{}:{}={value:?}", placed.line, full(&placed.entry))
        })
        .collect();
    assert_eq!(
        said,
        [
            "1:core.A b\".key-1=Some(\"a b  c d\")",
            "2:core.A b\".e=Some(\"q # r\")",
            "3:x.y.z=None",
            "4:x.y.long=Some(\"one  two\")"
        ]
    );
}
