//! Random commands of a small grammar, run by bash where no program can be found: each command that bash would start is
//! one that the parser lists, unless the parser says that it can't know. `CORDON_FUZZ_CASES` and `CORDON_FUZZ_SEED` make
//! the run longer or another one. Where bash is not installed, nothing is compared.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cordon_policy::shell::ast::{Compound, Node, Script, Sequence, Word};
use cordon_policy::shell::parse;

/// Commands in one run of bash: starting it costs more than running them.
const BATCH: usize = 64;
/// For each command that was not found: the case, the number of its words, the words, each ended by NUL.
const RECORDER: &str =
    r#"command_not_found_handle() { printf '%s\0' "$CASE" "$#" "$@" >> "$CORDON_SEEN"; return "${#1}"; }"#;

/// The second is how many substitutions are open: in one, bash 5.2 prints a here-doc's command again and loses the
/// semicolon after it, so that two commands become one.
struct Random(u64, usize);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn word(&mut self, depth: usize) -> String {
        let parts = 1 + self.below(3);
        (0..parts).map(|_| self.part(depth)).collect()
    }

    fn part(&mut self, depth: usize) -> String {
        if depth > 0 && self.below(6) == 0 {
            self.1 += 1;
            let inner = self.list(depth - 1);
            self.1 -= 1;
            return match self.below(5) {
                0 => format!("$({inner})"),
                1 => format!("\"$({inner}\n)\""),
                2 => format!("${{u:-$({inner})}}"),
                3 => format!("`{}`", inner.replace(['`', '\\', '$'], "")),
                _ => format!("<({inner})"),
            };
        }
        let plain = [
            "a",
            "b",
            "-x",
            "rm",
            "'q r'",
            "\"d e\"",
            "\\ ",
            "\\\n",
            "$'t\\x41'",
            "''",
            "\"\"",
            "=",
            ",",
            ".",
            "/",
            "@",
            "%",
            "~",
            "#",
            "!",
            "{",
            "}",
            "[",
            "]",
            "{a,b}",
            "$u",
            "\"$u\"",
            "${u:-z}",
            "*",
            "?",
            "é",
            "\\;",
            "\\#",
            "'\\'",
            "\"\\\"\"",
            "$",
            ":",
            "+",
            "$((1+1))",
            "\"'\"",
            "'\"'",
        ];
        self.one(&plain).to_string()
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut made = Vec::new();
        if self.below(5) == 0 {
            made.push(format!("v={}", self.word(depth)));
        }
        let name = self.one(&["c1", "c2", "'c3'", "c\\4", "\"c5\"", "c''6", "$'c\\x37'", "\\c8"]).to_string();
        made.push(if self.below(12) == 0 { self.word(depth) } else { name });
        for _ in 0..self.below(4) {
            made.push(self.word(depth));
        }
        match self.below(10) {
            0 => made.push("2>/dev/null".to_string()),
            1 => made.insert(0, "</dev/null".to_string()),
            2 => made.push("<<< x".to_string()),
            _ => {}
        }
        made.join(self.one(&[" ", "  ", "\t", " \\\n"]))
    }

    fn command(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.simple(0);
        }
        let (first, second) = (self.list(depth - 1), self.list(depth - 1));
        match self.below(16) {
            6 | 7 if self.1 > 0 => self.simple(depth),
            0 => format!("({first})"),
            1 => format!("{{ {first}\n}}"),
            2 => format!("if {first}\nthen {second}\nfi"),
            3 => format!("for i in 1 2; do {first}\ndone"),
            4 => format!("case a in (b|'a') {first};; *) {second}\nesac"),
            5 => format!("! {}", self.simple(depth)),
            6 => format!("c9 <<E\n$({first})\nE"),
            7 => format!("c9 <<'E'\n$({first})\nE"),
            8 => format!("f() {{ {first}\n}}; f"),
            9 => format!("[[ a == {} ]]", self.one(&["a", "'b c'", "\"$u\"", "[ab]", "a*"])),
            10 => format!("{} # {}", self.simple(depth), self.one(&["c x", "'", "\"", "$(", "\\"])),
            _ => self.simple(depth),
        }
    }

    fn list(&mut self, depth: usize) -> String {
        let mut made = self.command(depth);
        for _ in 0..self.below(3) {
            let by = self.one(&["; ", "\n", " && ", " || ", " | ", "\n\n", ";"]);
            // A comment or a here-doc ends with its line.
            let by = if made.contains(['#', '<']) { "\n" } else { by };
            made = format!("{made}{by}{}", self.command(depth));
        }
        made
    }
}

fn bash() -> Option<&'static str> {
    ["/bin/bash", "/usr/bin/bash"].into_iter().find(|path| Path::new(path).exists())
}

/// What the parser lists: words that are certain, or none in their place.
type Listed = Vec<Vec<Option<String>>>;

#[test]
fn c14_bash_starts_nothing_that_the_parser_does_not_list() {
    let Some(bash) = bash() else { return };
    let number =
        |name: &str, otherwise: u64| std::env::var(name).ok().map_or(otherwise, |text| text.parse().expect("a number"));
    let cases = number("CORDON_FUZZ_CASES", 1_920) as usize;
    let mut random = Random(number("CORDON_FUZZ_SEED", 0x5EED_CAFE), 0);
    let folder = std::env::temp_dir().join(format!("cordon-shell-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a scratch folder can be made");
    let (mut wrong, mut compared, mut started) = (Vec::new(), 0, 0);
    while compared < cases {
        let mut batch = Vec::new();
        while batch.len() < BATCH {
            let source = random.list(2);
            if let Ok(script) = parse(&source) {
                batch.push((source, listed(&script)));
            }
        }
        for (case, argv) in run(bash, &batch, &folder) {
            started += 1;
            let (source, listed) = &batch[case];
            if !listed.iter().any(|words| could_be(words, &argv)) {
                wrong.push(format!("{source:?}: bash starts {argv:?}, listed are {listed:?}"));
            }
        }
        compared += batch.len();
    }
    std::fs::remove_dir_all(&folder).expect("the scratch folder can be removed");
    assert!(started >= cases, "only {started} commands were started in {cases} cases");
    wrong.truncate(10);
    assert!(wrong.is_empty(), "differ:\n{}", wrong.join("\n"));
}

/// Runs each case in a shell of its own; gives the commands that were looked for, with their case.
fn run(bash: &str, batch: &[(String, Listed)], folder: &PathBuf) -> Vec<(usize, Vec<String>)> {
    let seen = folder.join("seen");
    let _ = std::fs::remove_file(&seen);
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let lines = batch.iter().enumerate().map(|(case, (source, _))| format!("( CASE={case}; eval {} )", quoted(source)));
    let script = std::iter::once(RECORDER.to_string()).chain(lines).collect::<Vec<_>>().join("\n");
    let file = folder.join("script");
    std::fs::write(&file, script).expect("the script can be written");
    let status = Command::new(bash)
        .args(["--norc", "--noprofile"])
        .arg(&file)
        .env_clear()
        .envs([("PATH", "/nonexistent"), ("LC_ALL", "C.UTF-8")])
        .env("CORDON_SEEN", &seen)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.expect("bash starts");
    let bytes = std::fs::read(&seen).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let mut fields = text.split_terminator('\0').map(str::to_string);
    let mut found = Vec::new();
    while let (Some(case), Some(count)) = (fields.next(), fields.next()) {
        let (Ok(case), Ok(count)) = (case.parse(), count.parse::<usize>()) else { break };
        found.push((case, fields.by_ref().take(count).collect()));
    }
    found
}

/// Each certain word is the same, up to the first that is not certain: it may have become any number of words.
fn could_be(words: &[Option<String>], argv: &[String]) -> bool {
    for (index, word) in words.iter().enumerate() {
        match word {
            None => return true,
            Some(text) if argv.get(index) == Some(text) => {}
            Some(_) => return false,
        }
    }
    words.len() == argv.len()
}

fn listed(script: &Script) -> Listed {
    let mut found = Vec::new();
    sequence(&script.items, &mut found);
    for doc in &script.here_docs {
        doc.subs.iter().for_each(|sub| sequence(&sub.body, &mut found));
    }
    found
}

fn sequence(items: &Sequence, found: &mut Listed) {
    items.iter().for_each(|item| node(&item.node, found));
}

fn node(at: &Node, found: &mut Listed) {
    match at {
        Node::Simple(simple) => {
            let values = simple.assignments.iter().flat_map(|assignment| &assignment.values);
            let targets = simple.redirects.iter().map(|redirect| &redirect.target);
            substitutions(simple.words.iter().chain(values).chain(targets), found);
            if !simple.words.is_empty() {
                found.push(simple.words.iter().map(|word| word.text.clone()).collect());
            }
        }
        Node::Pipeline(pipeline) => pipeline.stages.iter().for_each(|stage| node(stage, found)),
        Node::AndOr(list) => list.nodes.iter().for_each(|entry| node(entry, found)),
        Node::Compound(Compound { words, bodies, .. }) => {
            substitutions(words.iter(), found);
            bodies.iter().for_each(|body| sequence(body, found));
        }
    }
}

fn substitutions<'a>(words: impl Iterator<Item = &'a Word>, found: &mut Listed) {
    words.flat_map(|word| &word.subs).for_each(|sub| sequence(&sub.body, found));
}
