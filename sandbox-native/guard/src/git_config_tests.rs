use super::*;

fn fault(text: &str) -> Option<Fault> {
    harmless(text.as_bytes()).err().map(|reason| reason.fault)
}

#[test]
fn what_git_init_clone_and_worktree_write_is_taken() {
    let text = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\
        [remote \"origin\"]\n\turl = https://example.org/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
        [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n\
        [user]\n\tname = \"A # B\" ; said\n\temail = a@example.org\n# end\n[extensions]\n\tworktreeConfig = true\n";
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
