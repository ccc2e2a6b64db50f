//! git: the options before its subcommand, and what each subcommand changes.

use super::acts::{Act, Acts, anywhere};
use super::hosts::{self, Target};
use super::paths::Places;
use super::pattern::Access;
use crate::shell::ast::Word;

/// Settings that name no program and no file, given with `-c` or by `git config`: beginnings of their names.
const PLAIN_SETTINGS: [&str; 22] = [
    "advice.",
    "branch.",
    "color.",
    "column.",
    "core.abbrev",
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.longpaths",
    "core.quotepath",
    "diff.algorithm",
    "diff.renames",
    "fetch.prune",
    "init.defaultbranch",
    "log.",
    "merge.conflictstyle",
    "pull.",
    "push.",
    "rerere.",
    "status.",
    "user.",
];

/// Subcommands that change the index or refs and no other file.
const RECORDING: [&str; 14] = [
    "add",
    "branch",
    "commit",
    "fsck",
    "gc",
    "init",
    "notes",
    "pack-refs",
    "prune",
    "reflog",
    "remote",
    "tag",
    "update-index",
    "update-ref",
];
/// Subcommands that change files of the work tree.
const CHANGING: [&str; 19] = [
    "am",
    "apply",
    "checkout",
    "cherry-pick",
    "clean",
    "merge",
    "mv",
    "read-tree",
    "rebase",
    "reset",
    "restore",
    "revert",
    "rm",
    "sparse-checkout",
    "stash",
    "switch",
    "worktree",
    "checkout-index",
    "merge-file",
];
/// Subcommands that reach another repository.
const REACHING: [&str; 6] = ["clone", "fetch", "ls-remote", "pull", "push", "submodule"];
/// Options of any of them that name a program.
const NAMING: [&str; 13] = [
    "--exec",
    "-x",
    "--upload-pack",
    "--receive-pack",
    "-u",
    "--open-files-in-pager",
    "--ext-diff",
    "--textconv",
    "--tool",
    "--config",
    "-c",
    "--template",
    "--extcmd",
];

/// The words of git before the subcommand, and after.
pub(super) struct GitLine<'a, 'w> {
    /// Folders of `-C`, each within the one before.
    pub(super) folders: Vec<&'a Word>,
    /// No option before the subcommand could name a program or another repository.
    pub(super) plain: bool,
    pub(super) rest: &'w [&'a Word],
}

/// Takes the options before the subcommand apart.
pub(super) fn line<'a, 'w>(args: &'w [&'a Word]) -> GitLine<'a, 'w> {
    let mut made = GitLine { folders: Vec::new(), plain: true, rest: args };
    while let Some(word) = made.rest.first() {
        let Some(text) = word.text.as_deref().filter(|text| text.starts_with('-')) else { break };
        let value = made.rest.get(1).copied();
        let width = match text {
            "--no-pager" | "--no-optional-locks" | "-P" | "--literal-pathspecs" => 1,
            "-C" => {
                made.plain &= value.is_some_and(super::unknown_words::is_one);
                made.folders.extend(value);
                2
            }
            "-c" => {
                made.plain &= value.and_then(|word| word.text.as_deref()).is_some_and(sets_plainly);
                2
            }
            "--git-dir" | "--work-tree" | "--namespace" | "--config-env" | "--exec-path" => {
                made.plain = false;
                2
            }
            "--version" => break,
            _ => {
                made.plain = false;
                1
            }
        };
        made.rest = made.rest.get(width..).unwrap_or_default();
    }
    made
}

/// `core.pager=cat`, `user.name=x`.
fn sets_plainly(setting: &str) -> bool {
    let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
    let name = name.to_ascii_lowercase();
    let no_pager = name == "core.pager" && matches!(value, "cat" | "");
    let off = matches!(name.as_str(), "commit.gpgsign" | "tag.gpgsign" | "gc.auto" | "core.fsmonitor")
        && matches!(value, "false" | "0");
    no_pager || off || is_plain_setting(&name)
}

fn is_plain_setting(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    PLAIN_SETTINGS.iter().any(|plain| name.starts_with(plain))
}

/// What this subcommand does.
pub(super) fn of(args: &[&Word], places: &Places) -> Acts {
    let GitLine { plain, rest, .. } = line(args);
    let text = |word: &&Word| word.text.clone().unwrap_or_else(|| "…".to_string());
    let words: Vec<String> = rest.iter().map(text).collect();
    let Some((name, options)) = words.split_first() else { return Acts::default() };
    let mut acts = match name.as_str() {
        "config" => config(options, places),
        "bisect" | "difftool" | "filter-branch" | "mergetool" | "send-email" | "svn" | "instaweb" | "daemon"
        | "hook" => Acts::unknown("it runs what its arguments or settings name"),
        _ if RECORDING.contains(&name.as_str()) => Acts::default(),
        _ if CHANGING.contains(&name.as_str()) => changes(name, options, rest, places),
        _ if REACHING.contains(&name.as_str()) => {
            Acts { list: reached(options), files: name != "ls-remote" && name != "push", ..Acts::default() }
        }
        _ if super::read_only::is_git_reading(rest) => Acts::default(),
        _ => Acts::unknown("what this subcommand does is not known"),
    };
    let names = |option: &String| {
        let option = option.split('=').next().unwrap_or_default();
        // Letters that mean something else after these subcommands.
        let means_else = match option {
            "-u" => ["push", "add", "stash", "status", "diff"].contains(&name.as_str()),
            "-c" => ["switch", "commit"].contains(&name.as_str()),
            "-x" => ["clean", "cherry-pick"].contains(&name.as_str()),
            _ => false,
        };
        !means_else && NAMING.contains(&option)
    };
    let runs = options.iter().any(names)
        || options
            .iter()
            .any(|option| option.contains("ext::") || option.starts_with("-O") || option.starts_with("--upload-p"))
        || (name == "submodule" && options.iter().any(|option| option == "foreach"));
    if !plain {
        acts.unknown = Some("an option before its subcommand may name a program or another repository");
    } else if runs {
        acts.unknown = Some("one of its options names a program to run");
    }
    acts
}

/// The hosts of the URLs among the words; where there is none, the repository's settings name one. What a server says may
/// lead to others, and `insteadOf` may name another one, so a known host is no proof that no other is reached.
fn reached(options: &[String]) -> Vec<Act> {
    let urls = options.iter().filter(|word| word.contains("://") && !word.starts_with('-'));
    let known = urls.map(|url| Act::Net(hosts::of_url(url), url.clone()));
    known.chain([Act::Net(Target::Unknown, "the repository's host".to_string())]).collect()
}

/// Setting anything but what names no program.
fn config(options: &[String], places: &Places) -> Acts {
    let reads = ["--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list", "--show-origin"];
    let operands: Vec<&String> = options.iter().filter(|option| !option.starts_with('-')).collect();
    if options.iter().any(|option| reads.contains(&option.as_str()))
        || operands.len() < 2 && !options.iter().any(|option| option.starts_with("--un") || option == "-e")
    {
        return Acts::default();
    }
    let plain = operands.iter().find(|name| name.contains('.')).is_some_and(|name| is_plain_setting(name));
    if plain {
        return Acts::default();
    }
    let mut acts = Acts::default();
    let file =
        match options.iter().find(|option| matches!(option.as_str(), "--global" | "--system")).map(String::as_str) {
            Some("--global") => format!("{}/.gitconfig", places.question.home),
            Some(_) => "/etc/gitconfig".to_string(),
            None => ".git/config".to_string(),
        };
    acts.push_path(Access::Write, places.resolve_text(&file));
    acts
}

fn changes(name: &str, options: &[String], rest: &[&Word], places: &Places) -> Acts {
    let mut acts = Acts { files: true, ..Acts::default() };
    if matches!(name, "rm" | "mv" | "restore") {
        for word in rest.iter().skip(1).filter(|word| !word.text.as_deref().is_some_and(|text| text.starts_with('-'))) {
            let access = if name == "rm" { Access::Delete } else { Access::Write };
            acts.list.push(Act::Path { access, path: places.resolve(word), whole: name != "restore" });
        }
        acts.files = name == "restore";
    }
    if name == "clean" && !options.iter().any(|option| option == "-n" || option == "--dry-run") {
        acts.push_path(Access::Delete, super::acts::below(None, places));
    }
    if name == "rebase" && options.iter().any(|option| option.starts_with("-x") || option.starts_with("--exec")) {
        acts.unknown = Some("it runs a command for each commit");
    }
    if acts.list.is_empty() && !acts.files {
        acts.push_path(Access::Write, anywhere());
    }
    acts
}
