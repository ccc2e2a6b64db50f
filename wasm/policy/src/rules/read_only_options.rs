//! The table behind `read_only`. A command or option that is missing here is one that asks.

use super::read_only_checks::{awk, date, sed, test};
use super::read_only_tools::{dpkg, go, ip, npm, pip, shows_settings, tar, unzip};
use crate::shell::ast::Word;

/// Which arguments keep a command from changing anything.
pub(crate) enum Safe {
    /// None of its options writes or runs anything.
    Always,
    /// Only without arguments.
    NoArguments,
    /// Only these options, and operands.
    Only { short: &'static str, long: &'static [&'static str] },
    /// Any options but these.
    Without { short: &'static str, long: &'static [&'static str] },
    /// As the function says of the arguments.
    Checked(fn(&[&Word]) -> bool),
    /// Only these options and at most so many operands: a further one would be written.
    Operands { at_most: usize, short: &'static str },
}

use Safe::{Always, Checked, NoArguments, Only, Operands, Without};

/// Names in alphabetical order.
pub(crate) static OPTIONS: [(&str, Safe); 127] = [
    (":", Always),
    ("[", Checked(test)),
    ("alias", NoArguments),
    ("arch", Always),
    ("awk", Checked(awk)),
    ("b2sum", Without { short: "", long: &[] }),
    ("base64", Always),
    ("basename", Always),
    ("bzcat", Without { short: "", long: &[] }),
    ("cal", Always),
    ("cat", Always),
    ("cd", Always),
    ("cksum", Always),
    ("cmp", Always),
    ("column", Always),
    ("comm", Always),
    ("cut", Always),
    ("date", Checked(date)),
    ("df", Always),
    // --paginate runs pr.
    ("diff", Without { short: "l", long: &["output", "paginate"] }),
    ("dir", Always),
    ("dirname", Always),
    ("dirs", NoArguments),
    ("dpkg", Checked(dpkg)),
    ("du", Always),
    ("echo", Always),
    ("egrep", Always),
    ("exit", Always),
    ("expand", Always),
    ("expr", Always),
    ("factor", Always),
    ("false", Always),
    // -l runs ls.
    ("fd", Without { short: "xXl", long: &["exec", "exec-batch", "list-details"] }),
    ("fdfind", Without { short: "xXl", long: &["exec", "exec-batch", "list-details"] }),
    ("fgrep", Always),
    // -C writes, -z runs programs that unpack, -p sets times.
    (
        "file",
        Only { short: "bhikLNr", long: &["brief", "mime", "mime-type", "mime-encoding", "dereference", "keep-going"] },
    ),
    (
        "find",
        Without {
            short: "",
            long: &[
                "-exec",
                "-execdir",
                "-ok",
                "-okdir",
                "-delete",
                "-fls",
                "-fprint",
                "-fprint0",
                "-fprintf",
                "-files0-from",
            ],
        },
    ),
    ("fmt", Always),
    ("fold", Always),
    ("free", Always),
    ("getconf", Always),
    ("go", Checked(go)),
    ("grep", Always),
    ("groups", Always),
    ("head", Always),
    ("hexdump", Always),
    ("iconv", Without { short: "o", long: &["output"] }),
    ("id", Always),
    ("ip", Checked(ip)),
    ("join", Always),
    ("jq", Always),
    ("locale", Always),
    ("ls", Always),
    ("lsblk", Always),
    ("lscpu", Always),
    ("lsmod", NoArguments),
    ("lspci", Only { short: "vntkmD", long: &[] }),
    ("lsusb", Only { short: "vt", long: &[] }),
    ("md5sum", Always),
    ("namei", Always),
    ("nl", Always),
    (
        "nm",
        Only {
            short: "aAgDCunpPrSlv",
            long: &["demangle", "defined-only", "dynamic", "extern-only", "undefined-only", "print-size"],
        },
    ),
    ("npm", Checked(npm)),
    ("nproc", Always),
    ("numfmt", Always),
    ("od", Always),
    ("paste", Always),
    ("pgrep", Always),
    ("pidof", Always),
    ("pip", Checked(pip)),
    ("pip3", Checked(pip)),
    ("pr", Always),
    ("printenv", Always),
    ("printf", Without { short: "v", long: &[] }),
    ("ps", Always),
    ("pstree", Always),
    ("pwd", Always),
    ("readelf", Always),
    ("readlink", Always),
    ("realpath", Always),
    ("rev", Always),
    ("rg", Without { short: "z", long: &["pre", "pre-glob", "hostname-bin", "search-zip"] }),
    ("sed", Checked(sed)),
    ("seq", Always),
    ("sha1sum", Always),
    ("sha224sum", Always),
    ("sha256sum", Always),
    ("sha384sum", Always),
    ("sha512sum", Always),
    ("shuf", Without { short: "o", long: &["output"] }),
    ("size", Always),
    ("sleep", Always),
    ("sort", Without { short: "oTS", long: &["output", "compress-program", "temporary-directory", "files0-from"] }),
    (
        "ss",
        Only {
            short: "tlnpauxsemiowHO46",
            long: &["tcp", "udp", "listening", "numeric", "processes", "all", "summary"],
        },
    ),
    ("stat", Always),
    ("strings", Only { short: "afontewsd", long: &["all", "bytes", "radix", "encoding"] }),
    ("sum", Always),
    ("tac", Always),
    ("tail", Always),
    ("tar", Checked(tar)),
    ("test", Checked(test)),
    ("times", NoArguments),
    ("tr", Always),
    // -o writes, and so does -R at a limit of depth.
    ("tree", Only { short: "adfipstugDhLPIFCnQ", long: &["noreport", "dirsfirst", "gitignore", "prune"] }),
    ("true", Always),
    ("tsort", Always),
    ("tty", Always),
    ("type", Always),
    ("ulimit", Checked(shows_settings)),
    ("umask", Checked(shows_settings)),
    ("uname", Always),
    ("unexpand", Always),
    ("uniq", Operands { at_most: 1, short: "cdDiuz" }),
    ("unzip", Checked(unzip)),
    ("uptime", Always),
    ("w", Always),
    ("wc", Always),
    ("whereis", Always),
    ("which", Always),
    ("who", Always),
    ("whoami", NoArguments),
    ("xxd", Operands { at_most: 1, short: "abeipuEclgos" }),
    ("xzcat", Always),
    (
        "yq",
        Only {
            short: "rejMCNPo",
            long: &["raw-output", "exit-status", "no-colors", "output-format", "input-format", "unwrapScalar"],
        },
    ),
    ("zcat", Always),
    ("zipinfo", Always),
    ("zstdcat", Always),
];

/// Programs of the system that run nothing else when they are asked for their version alone. Not here: cargo and rustc,
/// yarn and pnpm, which start what a file of the workspace names.
pub(crate) const VERSIONED: [&str; 20] = [
    "bash", "bun", "curl", "docker", "gcc", "go", "java", "jq", "make", "node", "npm", "perl", "php", "pip", "pip3",
    "python", "python3", "rg", "ruby", "tsc",
];

const GIT_OUTPUT: Safe = Without {
    short: "O",
    long: &[
        "output",
        "ext-diff",
        "textconv",
        "open-files-in-pager",
        "no-index",
        "exec",
        "upload-pack",
        "show-signature",
    ],
};

const LISTING: Safe = Only {
    short: "avr",
    long: &[
        "list",
        "all",
        "remotes",
        "verbose",
        "show-current",
        "contains",
        "merged",
        "no-merged",
        "sort",
        "format",
        "column",
        "no-column",
        "points-at",
    ],
};

/// No `-v`, which verifies a tag by running a program.
const LISTING_TAGS: Safe = Only {
    short: "ln",
    long: &["list", "contains", "merged", "no-merged", "sort", "format", "column", "no-column", "points-at"],
};

/// Subcommand, options, and the words one of which must follow (a lone dot: none need follow). Empty: any may follow.
pub(crate) static GIT: [(&str, Safe, &str); 29] = [
    ("blame", GIT_OUTPUT, ""),
    ("branch", LISTING, "list"),
    ("cat-file", Only { short: "tspe", long: &["batch-check"] }, ""),
    ("check-ignore", Always, ""),
    ("cherry", GIT_OUTPUT, ""),
    ("config", Only { short: "z", long: &["show-origin", "show-scope", "null"] }, "--get --get-all --list -l"),
    ("count-objects", Always, ""),
    ("describe", Always, ""),
    ("diff", GIT_OUTPUT, ""),
    ("diff-tree", GIT_OUTPUT, ""),
    ("for-each-ref", Always, ""),
    ("grep", GIT_OUTPUT, ""),
    ("log", GIT_OUTPUT, ""),
    ("ls-files", Always, ""),
    ("ls-tree", Always, ""),
    ("merge-base", Always, ""),
    ("name-rev", Always, ""),
    ("reflog", GIT_OUTPUT, ". show"),
    // `-v` may stand before `add`, `update` and all the others.
    ("remote", NoArguments, ". -v --verbose"),
    ("rev-list", GIT_OUTPUT, ""),
    ("rev-parse", Always, ""),
    ("shortlog", GIT_OUTPUT, ""),
    ("show", GIT_OUTPUT, ""),
    (
        "show-ref",
        Only { short: "dsq", long: &["heads", "tags", "head", "hash", "abbrev", "verify", "quiet", "dereference"] },
        "",
    ),
    ("stash", GIT_OUTPUT, "list show"),
    ("status", Always, ""),
    ("tag", LISTING_TAGS, "list"),
    ("whatchanged", GIT_OUTPUT, ""),
    ("worktree", Only { short: "vz", long: &["porcelain", "verbose"] }, "list"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted_so_that_a_name_is_found_by_eye() {
        assert!(OPTIONS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(GIT.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
