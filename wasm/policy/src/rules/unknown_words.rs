//! Words whose value only the run knows. Where an option decides what a program runs or writes, such a word could be that
//! option: `find . $x` removes what it likes. So could a file's name that a glob finds, and words that xargs adds.

use super::acts_git;
use super::read_only::{self, is_operand};
use super::wildcard::{Proof, matches, tokens};
use super::wrappers::View;
use super::{argument_programs, hidden_programs};
use crate::shell::ast::{Piece, Why, Word};

/// How a program reads its options.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// As getopt(3): letters may stand in one word, and `--` ends them.
    Grouped,
    /// One letter a word, and `--` ends them.
    Single,
    /// One letter a word, and nothing ends them.
    Endless,
}

/// The options of a program that are known to do no harm. `--` ends options only where it can't be the value of one.
struct Harmless {
    style: Style,
    /// Letters without a value.
    flags: &'static str,
    /// Letters that take a value, in the same or the next word.
    valued: &'static str,
    /// Long options that take the next word, separated by spaces.
    long: &'static str,
}

/// Long options without a value that often stand before `--`.
const LONG_FLAGS: &str = "--all --cached --count --files --files-with-matches --fixed-strings --follow --hidden --ignore-case \
    --line-number --name-only --name-status --no-ignore --oneline --patch --quiet --silent --staged --stat --word-regexp";

const fn harmless(flags: &'static str, valued: &'static str, long: &'static str) -> Harmless {
    Harmless { style: Style::Grouped, flags, valued, long }
}

const fn styled(style: Style, flags: &'static str, valued: &'static str, long: &'static str) -> Harmless {
    Harmless { style, flags, valued, long }
}

/// Programs that an option makes run another one, with what is harmless about them.
static PROGRAMS: [(&str, Harmless); 17] = [
    (
        "curl",
        harmless(
            "sSfLIiGkv46g",
            "HXdAemubTY",
            "--header --request --data --data-raw --data-binary --data-urlencode --json --user-agent --max-time --user \
             --form --retry --url",
        ),
    ),
    ("wget", harmless("qcNS", "tTU", "--header --timeout --tries --user-agent")),
    ("cc c++ clang clang++ g++ gcc", styled(Style::Endless, "", "oILlDU", "-include -isystem -x")),
    ("fd fdfind", harmless("HIuasigpL0", "edtEScj", "--extension --type --max-depth --exclude --glob --color")),
    ("make gmake", harmless("ksniBw", "Cfo", "--directory --file")),
    (
        "rg",
        harmless(
            "nilcvwxFHIoNPSsUu0p.",
            "egtTABCmrjMd",
            "--regexp --glob --iglob --type --type-not --max-count --context --after-context --before-context --replace \
             --max-depth --color --sort --threads",
        ),
    ),
    ("npm pnpm", styled(Style::Single, "s", "w", "--workspace --prefix --filter")),
    ("rsync", harmless("avzrtplgoDnhPiuc", "", "--exclude --include")),
    ("ssh autossh", styled(Style::Endless, "46aAnNqTtvxX", "bcDeilLmpQRW", "")),
    ("scp sftp", harmless("346pqrv", "ciJlP", "")),
    ("sed", harmless("nErsuz", "l", "")),
    ("sort", harmless("bdfgiMhnRrVcCmsuz", "ktS", "--key --field-separator")),
    ("split", harmless("dxue", "abClnt", "--bytes --lines --number --suffix-length --additional-suffix")),
    ("tar", harmless("cxtvzjJakmpShPO", "fCTXbLKNV", "--file --directory --exclude --files-from --strip-components")),
    ("unzip", harmless("lvtqojnC", "x", "")),
    ("psql", harmless("qtAxX1", "hUdpF", "--host --username --dbname --port")),
    ("mysql mariadb", harmless("BNst", "huPD", "--host --user --port --database")),
];

/// Nothing is known to be harmless.
static NOTHING: Harmless = styled(Style::Endless, "", "", "");

fn options_of(name: &str) -> Option<&'static Harmless> {
    let known = PROGRAMS.iter().find(|(names, _)| is_listed(names, name)).map(|(_, known)| known);
    let names = || is_listed(argument_programs::KNOWN, name) || hidden_programs::names_another(name);
    known.or_else(|| names().then_some(&NOTHING))
}

/// Whether a list with spaces between has the word.
pub(super) fn is_listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// Subcommands of git no option of which runs a program, writes a file or reaches another repository.
const HARMLESS_GIT: &str =
    "add branch checkout cherry-pick commit merge mv reset restore revert rm status switch tag worktree";

/// The tests of find that take the next word.
const FIND_VALUES: &str = "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size \
    -mtime -mmin -atime -amin -ctime -cmin -newer -anewer -cnewer -newermt -maxdepth -mindepth -user -group -uid -gid -perm -printf \
    -samefile -inum -links -fstype -used -regextype -context";
/// What find does besides finding; its words are never cut short.
const FIND_ACTS: [&str; 10] =
    ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint", "-fprint0", "-fprintf", "-files0-from"];

const REASON: &str = "it has a word that only the run knows and that could be any option";

/// Why it is not known which options this command line has; none where all that they could be is harmless.
pub(super) fn could_be_options(view: &View) -> Option<&'static str> {
    let name = view.argv[0].text.as_deref().map(super::command::base_name)?;
    let args = &view.argv[1..];
    let sure = args.iter().all(|word| word.text.is_some()) && !view.fed;
    if sure || read_only::is_read_only(view) {
        return None;
    }
    let hides = match name {
        "git" => git(args, view.fed),
        "find" => view.fed || find(args),
        "awk" | "gawk" | "mawk" | "nawk" => awk(args, view.fed),
        "sed" => sed(args, view.fed),
        _ => {
            let harmless = options_of(name)?;
            // What they are told to run can stand in any word.
            let language = is_listed("psql mysql mariadb sqlite3 make gmake", name);
            // Old letters without a dash: `tar cf out *`.
            let rest = if name == "tar" && args.first().is_some_and(|word| is_operand(word)) {
                behind_letters(args)
            } else {
                args
            };
            hidden(rest, harmless, view.fed) || language && !all_values(args, harmless)
        }
    };
    hides.then_some(REASON)
}

/// Whether a word could turn out to be an option, or several words.
fn hidden(args: &[&Word], known: &Harmless, fed: bool) -> bool {
    let mut at = 0;
    while let Some(word) = args.get(at) {
        at += 1;
        match word.text.as_deref() {
            // It can't be the value of the option before it.
            Some("--") if known.style == Style::Endless => {}
            Some("--") if at < 2 || known.ends_before_dashes(args[at - 2]) => return false,
            Some(text) => at += usize::from(known.takes_next(text) && args.get(at).is_some_and(|word| is_one(word))),
            None if is_operand(word) || known.holds_value(word) || is_numbered(word) => {}
            None => return true,
        }
    }
    fed
}

/// Whether each word that is not certain is the value of an option.
fn all_values(args: &[&Word], known: &Harmless) -> bool {
    let mut before: Option<&Word> = None;
    args.iter().all(|word| {
        let value = before.is_some_and(|word| word.text.as_deref().is_some_and(|text| known.takes_next(text)));
        before = Some(word);
        word.text.is_some() || value && is_one(word) || known.holds_value(word) || is_numbered(word)
    })
}

impl Harmless {
    /// `-e`, `-ne`, `--regexp`.
    fn takes_next(&self, text: &str) -> bool {
        if is_listed(self.long, text) {
            return true;
        }
        let letters = text.strip_prefix('-').unwrap_or_default();
        if self.style != Style::Grouped && letters.len() > 1 {
            return false;
        }
        letters
            .char_indices()
            .find(|(_, letter)| !self.flags.contains(*letter))
            .is_some_and(|(at, letter)| self.valued.contains(letter) && at + letter.len_utf8() == letters.len())
    }

    /// `--name="$x"`, whose name is judged as it stands, and `-n"$x"`.
    fn holds_value(&self, word: &Word) -> bool {
        let lead = lead(word);
        let named = lead.starts_with("--") && lead.contains('=');
        let letters = lead.strip_prefix('-').unwrap_or_default();
        let grouped = self.style == Style::Grouped;
        let glued = letters.chars().find(|letter| !grouped || !self.flags.contains(*letter));
        is_one(word) && (named || glued.is_some_and(|letter| self.valued.contains(letter)))
    }

    /// Whether `--` behind this word ends the options.
    fn ends_before_dashes(&self, word: &Word) -> bool {
        let Some(text) = word.text.as_deref() else { return !lead(word).starts_with('-') || lead(word).contains('=') };
        let flags = || text[1..].chars().all(|letter| self.flags.contains(letter) || letter.is_ascii_digit());
        !text.starts_with('-') || text.contains('=') || flags() || is_listed(LONG_FLAGS, text)
    }
}

/// What is certain of a word's beginning.
pub(super) fn lead(word: &Word) -> &str {
    match word.pieces.first() {
        Some(Piece::Lit(text)) => text,
        _ => "",
    }
}

/// Known text with numbers in it, which make no other option of it: `-j$(nproc)`.
fn is_numbered(word: &Word) -> bool {
    let number =
        |piece: &Piece| matches!(piece, Piece::Lit(_) | Piece::Number(_) | Piece::Dyn { why: Why::Arithmetic, .. });
    word.pieces.iter().all(number)
}

/// What is certain of the beginning, with a sign for what is not.
pub(super) fn beginning(word: &Word) -> String {
    word.text.clone().unwrap_or_else(|| format!("{}\u{fffd}", lead(word)))
}

/// The shell makes exactly one word of it. A glob may find several names.
pub(super) fn is_one(word: &Word) -> bool {
    !word.pieces.iter().any(|piece| matches!(piece, Piece::Dyn { quoted: false, .. } | Piece::Glob(_)))
}

/// Whether the shell may make several words of it that are no names found by a glob.
pub(super) fn splits(word: &Word) -> bool {
    word.pieces.iter().any(|piece| matches!(piece, Piece::Dyn { quoted: false, .. }))
}

/// Behind the letters of tar and the words that they take.
fn behind_letters<'w, 'a>(args: &'w [&'a Word]) -> &'w [&'a Word] {
    let letters = args[0].text.as_deref().unwrap_or("?");
    let takes = letters.chars().filter(|letter| "fCTXbLKNVgHIF".contains(*letter)).count();
    let taken = args[1..].iter().take(takes).take_while(|word| is_one(word)).count();
    &args[1 + taken..]
}

/// Not options but an expression: a word is one of its acts or it is not.
fn find(args: &[&Word]) -> bool {
    let mut at = 0;
    while let Some(word) = args.get(at) {
        at += 1;
        match word.text.as_deref() {
            Some(text) if is_listed(FIND_VALUES, text) => {
                at += usize::from(args.get(at).is_some_and(|word| is_one(word)));
            }
            Some(_) => {}
            None => {
                let text = super::command::text(&[word], false);
                if splits(word) || FIND_ACTS.iter().any(|act| matches(&tokens(act), &text, Proof::Possible)) {
                    return true;
                }
            }
        }
    }
    false
}

/// The words behind the program of awk are files and values.
fn awk(args: &[&Word], fed: bool) -> bool {
    let known = harmless("", "vF", "--assign --field-separator");
    let mut at = 0;
    while let Some(word) = args.get(at) {
        at += 1;
        match word.text.as_deref() {
            Some(text) if known.takes_next(text) => at += usize::from(args.get(at).is_some_and(|word| is_one(word))),
            Some("--") => return args.get(at).is_none_or(|word| word.text.is_none()),
            Some(text) if text.starts_with('-') => {}
            Some(_) => return false,
            None if known.holds_value(word) => {}
            None => return true,
        }
    }
    fed
}

/// A script is a language of its own.
fn sed(args: &[&Word], fed: bool) -> bool {
    let known = harmless("nErsuz", "l", "");
    let separate = |word: &Word| {
        let text = word.text.as_deref().unwrap_or_default();
        text == "--expression" || text.starts_with('-') && !text.starts_with("--") && text.ends_with('e')
    };
    let first = args.iter().find(|word| !word.text.as_deref().is_some_and(|text| text.starts_with('-')));
    let script = first.is_some_and(|word| word.text.is_none())
        || args.windows(2).any(|pair| separate(pair[0]) && pair[1].text.is_none());
    script || hidden(args, &known, fed)
}

fn git(args: &[&Word], fed: bool) -> bool {
    let line = acts_git::line(args);
    let before = &args[..args.len() - line.rest.len()];
    if !before.iter().all(|word| is_one(word)) {
        return true;
    }
    let Some((name, rest)) = line.rest.split_first() else { return fed };
    let Some(name) = name.text.as_deref() else { return true };
    let known = match name {
        _ if is_listed(HARMLESS_GIT, name) => return false,
        "log" | "rev-list" => {
            styled(Style::Single, "pq", "nSGL", "--author --committer --grep --since --until --after --before")
        }
        "diff" | "show" => styled(Style::Single, "pqw", "SG", ""),
        "grep" => harmless("nilcvwEFPhHIq", "eABCm", ""),
        _ => styled(Style::Single, "", "", ""),
    };
    hidden(rest, &known, fed)
}

#[cfg(test)]
mod tests {
    use super::could_be_options;
    use crate::rules::wrappers::View;
    use crate::shell::ast::{Node, Word};

    fn unsure(command: &str, fed: bool) -> bool {
        let script = crate::shell::parse(command).expect("it is a command");
        let Node::Simple(simple) = &script.items[0].node else { panic!("it is simple") };
        let argv: Vec<&Word> = simple.words.iter().collect();
        could_be_options(&View { argv, transparent: true, open: fed, fed, tame: true }).is_some()
    }

    #[test]
    fn c14_a_word_that_only_the_run_knows_could_be_an_option_where_it_stands_as_one() {
        for command in ["git log $x", "git log \"$x\"", "find . \"$@\"", "tar cf a *", "rg -\"$x\" a", "gcc -- $x"] {
            assert!(unsure(command, false), "{command}");
        }
        for command in ["git log", "find .", "tar cf a", "sort"] {
            assert!(unsure(command, true), "xargs {command}");
        }
    }

    #[test]
    fn c14_a_value_a_name_with_a_known_beginning_and_what_stands_behind_two_dashes_are_no_options() {
        for command in
            ["git log -n \"$x\"", "git log \"origin/$x\"", "git log -- $x", "find . -name \"$x\"", "tar cf a ./*"]
        {
            assert!(!unsure(command, false), "{command}");
        }
        // Two dashes that are a value end nothing, and neither does a value that splits.
        for command in ["rg -e -- $x", "git log -n $x", "git --attr-source $x log"] {
            assert!(unsure(command, false), "{command}");
        }
    }

    #[test]
    fn c14_a_program_without_dangerous_options_takes_any_word() {
        for command in ["git add $x", "git commit -m \"$x\"", "ls *", "cat $x", "mytool \"$@\"", "rm -f *.o"] {
            assert!(!unsure(command, false), "{command}");
        }
    }
}
