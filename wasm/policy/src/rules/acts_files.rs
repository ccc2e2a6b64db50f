//! Programs that change files, and which of their words name them.

use super::acts::{Acts, Line, Options, Value, anywhere, below};
use super::paths::{PathValue, Places};
use super::pattern::Access;
use super::read_only_checks::sed as sed_only_shows;
use crate::shell::ast::Word;

/// Which words of a program are written or removed.
enum Role {
    /// Each operand is written.
    Writes,
    /// Each operand after the first one is written.
    WritesAfterFirst,
    /// Each operand is removed.
    Removes,
    /// The last operand, or the value of `-t`, is written; the others are read.
    Copies,
    /// The same, and the others are removed.
    Moves,
    /// Each operand is written and another file made beside it.
    Packs,
    /// Only options write.
    OnlyOptions,
}

struct Program {
    name: &'static str,
    options: Options,
    role: Role,
    /// Options whose value is a file that is written.
    outputs: &'static [&'static str],
    /// A mode that may write the workspace allows it.
    everyday: bool,
}

const fn options(
    flags: &'static str,
    valued: &'static str,
    long: &'static [&'static str],
    long_valued: &'static [&'static str],
) -> Options {
    Options { flags, valued, long, long_valued }
}

const fn program(name: &'static str, role: Role, options: Options) -> Program {
    Program { name, options, role, outputs: &[], everyday: false }
}

const BACKUP: &[&str] = &["target-directory", "suffix"];

static PROGRAMS: [Program; 27] = [
    program("bzip2", Role::Packs, options("cdfkqstvz123456789", "", &["decompress", "keep", "force", "stdout"], &[])),
    program(
        "chgrp",
        Role::WritesAfterFirst,
        options("cfhvRHLP", "", &["recursive", "silent", "verbose"], &["reference"]),
    ),
    program("chmod", Role::WritesAfterFirst, options("cfvR", "", &["recursive", "silent", "verbose"], &["reference"])),
    program(
        "chown",
        Role::WritesAfterFirst,
        options("cfhvRHLP", "", &["recursive", "silent", "verbose"], &["reference", "from"]),
    ),
    Program {
        everyday: true,
        ..program(
            "cp",
            Role::Copies,
            options(
                "abdfHiLlnPpRrsTuvx",
                "tS",
                &[
                    "archive",
                    "force",
                    "interactive",
                    "no-clobber",
                    "recursive",
                    "verbose",
                    "update",
                    "dereference",
                    "no-dereference",
                    "parents",
                    "symbolic-link",
                    "link",
                    "no-target-directory",
                    "preserve",
                ],
                BACKUP,
            ),
        )
    },
    program("fallocate", Role::Writes, options("cdnpvxz", "lo", &[], &["length", "offset"])),
    program("gunzip", Role::Packs, options("cfknqtv", "", &["keep", "force", "stdout"], &[])),
    program(
        "gzip",
        Role::Packs,
        options("cdfknqrtv123456789", "S", &["decompress", "keep", "force", "stdout", "recursive"], &[]),
    ),
    program(
        "install",
        Role::Copies,
        options(
            "bcCdDpsTv",
            "gmotS",
            &["directory", "verbose", "preserve-timestamps"],
            &["mode", "owner", "group", "target-directory", "suffix"],
        ),
    ),
    program(
        "ln",
        Role::Copies,
        options("bdfFiLnPrsTv", "tS", &["symbolic", "force", "relative", "no-dereference", "verbose"], BACKUP),
    ),
    Program {
        everyday: true,
        ..program("mkdir", Role::Writes, options("pv", "m", &["parents", "verbose"], &["mode"]))
    },
    program("mkfifo", Role::Writes, options("", "m", &[], &["mode"])),
    program(
        "mktemp",
        Role::OnlyOptions,
        options("dqtu", "p", &["directory", "dry-run", "quiet"], &["suffix", "tmpdir"]),
    ),
    Program {
        everyday: true,
        ..program(
            "mv",
            Role::Moves,
            options(
                "bfinTuv",
                "tS",
                &["force", "interactive", "no-clobber", "verbose", "update", "no-target-directory"],
                BACKUP,
            ),
        )
    },
    program(
        "rm",
        Role::Removes,
        options(
            "dfiIrRv",
            "",
            &[
                "force",
                "recursive",
                "verbose",
                "dir",
                "interactive",
                "one-file-system",
                "preserve-root",
                "no-preserve-root",
            ],
            &[],
        ),
    ),
    program("rmdir", Role::Removes, options("pv", "", &["parents", "verbose", "ignore-fail-on-non-empty"], &[])),
    program(
        "shred",
        Role::Removes,
        options("fuvxz", "ns", &["remove", "zero", "verbose", "force", "exact"], &["iterations", "size"]),
    ),
    Program {
        outputs: &["o", "output"],
        ..program(
            "sort",
            Role::OnlyOptions,
            options(
                "bdfgiMhnRrVcCmsuz",
                "ktSo",
                &[
                    "reverse",
                    "unique",
                    "numeric-sort",
                    "human-numeric-sort",
                    "version-sort",
                    "check",
                    "stable",
                    "zero-terminated",
                    "ignore-case",
                ],
                &["key", "field-separator", "output", "buffer-size"],
            ),
        )
    },
    program("tee", Role::Writes, options("aip", "", &["append", "ignore-interrupts", "output-error"], &[])),
    Program {
        everyday: true,
        ..program(
            "touch",
            Role::Writes,
            options("acfhm", "drt", &["no-create", "no-dereference"], &["date", "reference", "time"]),
        )
    },
    program("truncate", Role::Writes, options("co", "rs", &["no-create", "io-blocks"], &["reference", "size"])),
    program(
        "uniq",
        Role::WritesAfterFirst,
        options(
            "cdDiuz",
            "fsw",
            &["count", "repeated", "unique", "ignore-case"],
            &["skip-fields", "skip-chars", "check-chars"],
        ),
    ),
    program("unlink", Role::Removes, options("", "", &[], &[])),
    program("unxz", Role::Packs, options("cfkqtv", "", &["keep", "force", "stdout"], &[])),
    program("unzstd", Role::Packs, options("cfkqtv", "", &["keep", "force", "stdout", "rm"], &[])),
    program(
        "xz",
        Role::Packs,
        options("cdfkltqvz0123456789e", "T", &["decompress", "keep", "force", "stdout"], &["threads"]),
    ),
    program(
        "zstd",
        Role::Packs,
        options("cdfkltqvz0123456789", "T", &["decompress", "keep", "force", "stdout", "rm"], &[]),
    ),
];

/// What the program does to files; none if it is no such program.
pub(super) fn of(name: &str, args: &[&Word], places: &Places) -> Option<Acts> {
    match name {
        "dd" => return Some(dd(args, places)),
        "sed" if !sed_only_shows(args) => return Some(sed(args, places)),
        "find" => return find(args, places),
        "tar" => return Some(tar(args, places)),
        "unzip" => return Some(unpacks(args, places)),
        _ => {}
    }
    let program = PROGRAMS.iter().find(|program| program.name == name)?;
    let line = program.options.line(args);
    let mut acts = Acts { everyday: program.everyday && !line.odd, ..Acts::default() };
    for output in program.outputs {
        acts.list.extend(line.value(&[output]).map(|value| write(value.path(places))));
    }
    program.role.apply(&line, places, &mut acts);
    if line.odd {
        acts.files = true;
        // A word that only the run knows could name the target, as in `-tFOLDER`.
        if matches!(program.role, Role::Copies | Role::Moves) && !args.iter().all(|word| word.text.is_some()) {
            acts.push_path(Access::Write, anywhere());
        }
    }
    // A later mode of the file may give it other rights.
    if matches!(name, "chmod") && line.operands.first().is_some_and(|mode| sets_rights(mode)) {
        acts.list.push(super::acts::Act::Privilege("it lets a program run with the rights of its owner"));
    }
    Some(acts)
}

fn write(path: PathValue) -> super::acts::Act {
    super::acts::Act::Path { access: Access::Write, path, whole: false }
}

/// `u+s`, `4755`.
fn sets_rights(mode: &Word) -> bool {
    mode.text.as_deref().is_none_or(|text| {
        let octal = text.len() > 3 && text.bytes().all(|byte| byte.is_ascii_digit());
        (octal
            && !text.trim_start_matches('0').is_empty()
            && text.len() - text.trim_start_matches('0').len() < text.len() - 3)
            || (text.contains(['+', '=']) && text.contains('s'))
    })
}

impl Role {
    fn apply(&self, line: &Line, places: &Places, acts: &mut Acts) {
        let whole = line.has(&["r", "R", "recursive"]);
        let push = |acts: &mut Acts, access, word: &Word| {
            let path = places.resolve(word);
            acts.list.push(super::acts::Act::Path { access, path, whole: whole && access == Access::Delete });
        };
        match self {
            Role::Writes => line.operands.iter().for_each(|word| push(acts, Access::Write, word)),
            Role::WritesAfterFirst => line.operands.iter().skip(1).for_each(|word| push(acts, Access::Write, word)),
            Role::Removes => line.operands.iter().for_each(|word| push(acts, Access::Delete, word)),
            Role::Packs => {
                acts.files = true;
                line.operands.iter().for_each(|word| push(acts, Access::Write, word));
            }
            Role::Copies | Role::Moves => self.copies(line, places, acts),
            Role::OnlyOptions => {}
        }
    }

    fn copies(&self, line: &Line, places: &Places, acts: &mut Acts) {
        let folder = line.value(&["t", "target-directory"]);
        let (target, sources) = match (folder, line.operands.split_last()) {
            (Some(folder), _) => (Some(folder.clone()), line.operands.as_slice()),
            (None, Some((last, sources))) => (Some(Value::Word(last)), sources),
            (None, None) => (None, &[][..]),
        };
        let Some(target) = target else { return };
        acts.push_path(Access::Write, target.path(places));
        for source in sources {
            if matches!(self, Role::Moves) {
                let path = places.resolve(source);
                acts.list.push(super::acts::Act::Path { access: Access::Delete, path, whole: true });
            }
            let name =
                source.text.as_deref().map(|text| text.trim_end_matches('/').rsplit('/').next().unwrap_or_default());
            match (target.text(), name) {
                (Some(target), Some(name)) if !matches!(name, "" | "." | "..") => {
                    acts.push_path(Access::Write, places.resolve_text(&format!("{target}/{name}")));
                }
                _ => acts.files = true,
            }
        }
        // What is inside the folders that are copied is not seen.
        acts.files |= line.has(&["r", "R", "a", "recursive", "archive"]) && !matches!(self, Role::Moves);
        acts.everyday &= !acts.files;
    }
}

/// `dd of=FILE`.
fn dd(args: &[&Word], places: &Places) -> Acts {
    let mut acts = Acts::default();
    for word in args {
        match word.text.as_deref().map(|text| text.strip_prefix("of=")) {
            Some(Some(path)) => acts.push_path(Access::Write, places.resolve_text(path)),
            Some(None) => {}
            None => acts.push_path(Access::Write, anywhere()),
        }
    }
    acts
}

/// `sed -i` writes its operands; a script with `w` or `e` in it may do more.
fn sed(args: &[&Word], places: &Places) -> Acts {
    let options = options(
        "nErsuz",
        "efl",
        &["quiet", "silent", "regexp-extended", "separate", "null-data"],
        &["expression", "file"],
    );
    let in_place = |text: &str| {
        text == "-i" || text.starts_with("-i") || text.starts_with("--in-place") || text.starts_with("--in-p")
    };
    // `-i.bak` and `-ni` would be taken for letters.
    let rest: Vec<&Word> = args.iter().filter(|word| !word.text.as_deref().is_some_and(in_place)).copied().collect();
    let edits = rest.len() < args.len();
    let line = options.line(&rest);
    let given: Vec<Option<&str>> = line
        .options
        .iter()
        .filter(|(name, _)| name == "e" || name == "expression")
        .map(|(_, value)| value.as_ref().and_then(Value::text))
        .collect();
    let separate = !given.is_empty() || line.has(&["f", "file"]);
    let (scripts, files) = match line.operands.split_first() {
        Some((script, files)) if !separate => (vec![script.text.as_deref()], files),
        _ => (given, line.operands.as_slice()),
    };
    let plain = |script: &Option<&str>| script.is_some_and(substitutes);
    let mut acts = Acts::default();
    if edits {
        files.iter().for_each(|word| acts.push_path(Access::Write, places.resolve(word)));
    }
    if line.odd || line.has(&["f", "file"]) || !scripts.iter().all(plain) {
        acts.unknown = Some("its script is not known to write and run nothing else");
    }
    acts
}

/// `s/a/b/g`, `3d`, `/x/d`: scripts in which no command could be `w`, `e`, `r` or a flag of `s` that writes or runs.
fn substitutes(script: &str) -> bool {
    script.split([';', '\n']).all(|command| {
        let command = command.trim();
        let Some(text) = command
            .trim_start_matches(|at: char| at.is_ascii_digit() || matches!(at, '$' | ',' | ' '))
            .strip_prefix('s')
        else {
            let rest = match command.strip_prefix('/') {
                Some(text) => text.split_once('/').map_or("?", |(_, rest)| rest),
                None => command.trim_start_matches(|at: char| at.is_ascii_digit() || matches!(at, '$' | ',')),
            };
            return command.is_empty() || matches!(rest.trim(), "d" | "p" | "q" | "D" | "G" | "N");
        };
        let Some(mark) = text.chars().next().filter(|mark| !mark.is_ascii_alphanumeric() && *mark != '\\') else {
            return false;
        };
        let (mut parts, mut escaped) = (0, false);
        let flags = text.char_indices().skip(1).find_map(|(at, letter)| {
            parts += usize::from(letter == mark && !escaped);
            escaped = letter == '\\' && !escaped;
            (parts == 2).then(|| &text[at + mark.len_utf8()..])
        });
        flags.is_some_and(|flags| flags.trim().bytes().all(|flag| flag.is_ascii_digit() || b"gpiI".contains(&flag)))
    })
}

/// `find -delete` and `find -fprint FILE`.
fn find(args: &[&Word], places: &Places) -> Option<Acts> {
    let is = |word: &&&Word, names: &[&str]| word.text.as_deref().is_some_and(|text| names.contains(&text));
    let deletes = args.iter().any(|word| is(&word, &["-delete"]));
    let mut acts = Acts::default();
    let prints = ["-fprint", "-fprint0", "-fls", "-fprintf"];
    for pair in args.windows(2).filter(|pair| is(&&pair[0], &prints)) {
        acts.push_path(Access::Write, places.resolve(pair[1]));
    }
    if deletes {
        let folders: Vec<&&Word> = args
            .iter()
            .take_while(|word| !word.text.as_deref().is_some_and(|text| text.starts_with(['-', '(', '!'])))
            .collect();
        // What covers the folder covers all that is below; what is only below may or may not be found.
        let paths: Vec<PathValue> = match folders.as_slice() {
            [] => vec![places.resolve_text("."), below(None, places)],
            folders => {
                folders.iter().flat_map(|folder| [places.resolve(folder), below(Some(folder), places)]).collect()
            }
        };
        paths.into_iter().for_each(|path| acts.push_path(Access::Delete, path));
    }
    let runs = args.iter().any(|word| is(&word, &["-exec", "-execdir", "-ok", "-okdir"]));
    (deletes || !acts.list.is_empty() || runs).then_some(acts)
}

/// `tar -x` writes below a folder, `tar -c` an archive.
fn tar(args: &[&Word], places: &Places) -> Acts {
    let mut acts = Acts::default();
    let first = args.first().and_then(|word| word.text.as_deref()).unwrap_or("?");
    let texts = || args.iter().filter_map(|word| word.text.as_deref());
    let has = |letter: char, long: &str| {
        first.trim_start_matches('-').contains(letter) && !first.starts_with("--")
            || texts().skip(1).any(|text| text.starts_with('-') && !text.starts_with("--") && text.contains(letter))
            || texts().any(|text| text == long)
    };
    if has('t', "--list") && !has('x', "--extract") {
        return acts;
    }
    let folder =
        args.windows(2).find(|pair| matches!(pair[0].text.as_deref(), Some("-C" | "--directory"))).map(|pair| pair[1]);
    if has('x', "--extract") {
        acts.push_path(Access::Write, below(folder, places));
        acts.files = has('P', "--absolute-names");
    } else {
        let archive = args.windows(2).find(|pair| {
            pair[0]
                .text
                .as_deref()
                .is_some_and(|text| text == "--file" || !text.starts_with("--") && text.ends_with('f'))
        });
        match archive {
            Some(pair) => acts.push_path(Access::Write, places.resolve(pair[1])),
            None => acts.files = true,
        }
    }
    acts
}

fn unpacks(args: &[&Word], places: &Places) -> Acts {
    let mut acts = Acts::default();
    let shows =
        |word: &&Word| word.text.as_deref().is_some_and(|text| matches!(text, "-l" | "-v" | "-t" | "-Z" | "-p"));
    if !args.iter().any(shows) {
        let folder = args.windows(2).find(|pair| pair[0].text.as_deref() == Some("-d")).map(|pair| pair[1]);
        acts.push_path(Access::Write, below(folder, places));
    }
    acts
}
