//! Programs that connect, and where to.

use super::acts::{Act, Acts, Options, Value};
use super::hosts::{self, Target};
use super::paths::Places;
use super::pattern::Access;
use crate::shell::ast::{Piece, Word};

/// Options of curl that change nothing about where it connects, what it writes and what it runs.
const CURL: Options = Options {
    flags: "sSfLIiGkv46#gjNlaRO0123",
    valued: "HXdAemuboDTwy:YrzFc",
    long: &[
        "silent",
        "show-error",
        "fail",
        "location",
        "head",
        "include",
        "get",
        "insecure",
        "verbose",
        "compressed",
        "remote-name",
        "progress-bar",
        "no-progress-meter",
        "fail-with-body",
        "ipv4",
        "ipv6",
        "http1.1",
        "http2",
        "globoff",
        "create-dirs",
        "remote-time",
        "no-buffer",
    ],
    long_valued: &[
        "header",
        "request",
        "data",
        "data-raw",
        "data-binary",
        "data-urlencode",
        "json",
        "user-agent",
        "referer",
        "max-time",
        "connect-timeout",
        "retry",
        "retry-delay",
        "user",
        "cookie",
        "output",
        "dump-header",
        "upload-file",
        "write-out",
        "url",
        "form",
        "cookie-jar",
        "range",
        "output-dir",
        "max-redirs",
    ],
};

const WGET: Options = Options {
    flags: "qvcNSdbrlpkmH46",
    valued: "OPotTUwQ",
    long: &[
        "quiet",
        "verbose",
        "continue",
        "no-verbose",
        "spider",
        "no-check-certificate",
        "recursive",
        "server-response",
    ],
    long_valued: &[
        "output-document",
        "directory-prefix",
        "timeout",
        "tries",
        "user-agent",
        "header",
        "output-file",
        "wait",
    ],
};

/// Programs that connect somewhere that their words do not surely tell.
const CONNECTING: [&str; 36] = [
    "apt",
    "apt-get",
    "aria2c",
    "aws",
    "az",
    "brew",
    "dnf",
    "ftp",
    "gcloud",
    "gh",
    "glab",
    "heroku",
    "http",
    "httpie",
    "https",
    "kubectl",
    "lftp",
    "mosh",
    "nc",
    "ncat",
    "netcat",
    "nmap",
    "openssl",
    "pacman",
    "ping",
    "rclone",
    "s3cmd",
    "scp",
    "sftp",
    "skopeo",
    "socat",
    "ssh-keyscan",
    "telnet",
    "traceroute",
    "whois",
    "yum",
];

/// What the program connects to; none if it is no such program.
pub(super) fn of(name: &str, args: &[&Word], places: &Places) -> Option<Acts> {
    if args.len() == 1 && matches!(args[0].text.as_deref(), Some("--version" | "-V" | "--help" | "-h")) {
        return None;
    }
    match name {
        "curl" => Some(curl(args, places)),
        "wget" | "wget2" => Some(wget(args, places)),
        "dig" | "host" | "nslookup" => Some(looks_up()),
        "rsync" => Some(rsync(args, places)),
        "ssh" => Some(ssh(args)),
        _ if CONNECTING.contains(&name) => {
            Some(Acts { list: vec![somewhere(name)], ..Acts::unknown("what it does there is not known") })
        }
        _ => None,
    }
}

fn somewhere(shown: &str) -> Act {
    Act::Net(Target::Unknown, shown.to_string())
}

fn to_url(word: &Value) -> Act {
    match word.text() {
        Some(url) => Act::Net(hosts::of_url(url), url.to_string()),
        None => somewhere("a host that is not known before it runs"),
    }
}

fn curl(args: &[&Word], places: &Places) -> Acts {
    let line = CURL.line(args);
    let mut acts = Acts::default();
    let urls = line.options.iter().filter(|(name, _)| name == "url").filter_map(|(_, value)| value.as_ref());
    acts.list.extend(urls.map(to_url));
    acts.list.extend(line.operands.iter().map(|word| to_url(&Value::Word(word))));
    // A redirection may lead to any host.
    if line.has(&["L", "location"]) {
        acts.list.push(somewhere("wherever it is sent on to"));
    }
    for name in ["o", "output", "D", "dump-header", "c", "cookie-jar"] {
        let value = line.value(&[name]).filter(|value| value.text() != Some("-"));
        acts.list.extend(value.map(|value| Act::Path {
            access: Access::Write,
            path: value.path(places),
            whole: false,
        }));
    }
    if line.has(&["O", "remote-name", "output-dir"]) {
        acts.list.push(Act::Path { access: Access::Write, path: super::acts::below(None, places), whole: false });
    }
    if line.odd || line.has(&["T", "upload-file"]) {
        acts.unknown = Some("it has an option that may lead elsewhere or read settings");
    }
    acts
}

fn wget(args: &[&Word], places: &Places) -> Acts {
    let line = WGET.line(args);
    let mut acts = Acts::default();
    acts.list.extend(line.operands.iter().map(|word| to_url(&Value::Word(word))));
    // It follows redirections unless it is told not to.
    acts.list.push(somewhere("wherever it is sent on to"));
    match line.value(&["O", "output-document"]) {
        Some(value) if value.text() == Some("-") => {}
        Some(value) => acts.push_path(Access::Write, value.path(places)),
        None if line.has(&["spider"]) => {}
        None => match line.value(&["P", "directory-prefix"]) {
            Some(folder) => acts.push_path(Access::Write, folder.path(places)),
            None => acts.push_path(Access::Write, super::acts::below(None, places)),
        },
    }
    if line.odd {
        acts.unknown = Some("it has an option that may lead elsewhere or read settings");
    }
    acts
}

fn looks_up() -> Acts {
    Acts { list: vec![somewhere("a name server")], ..Acts::default() }
}

/// The last operand is written, here or on a host.
fn rsync(args: &[&Word], places: &Places) -> Acts {
    let mut acts = Acts::default();
    let operands: Vec<&&Word> =
        args.iter().filter(|word| !word.text.as_deref().is_some_and(|text| text.starts_with('-'))).collect();
    let remote =
        |word: &&&Word| word.pieces.iter().any(|piece| matches!(piece, Piece::Lit(text) if text.contains(':')));
    if operands.iter().any(remote) {
        acts.list.push(somewhere("the host of rsync"));
        acts.unknown = Some("it starts a shell for the connection");
    }
    if let Some(target) = operands.last().filter(|word| !remote(word)) {
        acts.push_path(Access::Write, places.resolve(target));
    }
    acts.files = true;
    let plain = |text: &str| {
        text.starts_with('-')
            && !text.starts_with("--")
            && text[1..].bytes().all(|letter| b"avzrtplgoDnhPiuc".contains(&letter))
    };
    let long = |text: &str| {
        matches!(text, "--delete" | "--progress" | "--dry-run" | "--archive" | "--stats")
            || text.starts_with("--exclude")
    };
    let odd = args
        .iter()
        .filter_map(|word| word.text.as_deref())
        .any(|text| text.starts_with('-') && !plain(text) && !long(text));
    if odd {
        acts.unknown = Some("one of its options may name a program to run");
    }
    acts
}

fn ssh(args: &[&Word]) -> Acts {
    let first = args.iter().find_map(|word| word.text.as_deref().filter(|text| !text.starts_with('-')));
    let act = match first {
        Some(text) => {
            let host = text.rsplit_once('@').map_or(text, |(_, host)| host);
            Act::Net(hosts::target(host, Some(22)), host.to_string())
        }
        None => somewhere("ssh"),
    };
    Acts { list: vec![act], ..Acts::unknown("it runs commands on another machine, and what its settings name") }
}
