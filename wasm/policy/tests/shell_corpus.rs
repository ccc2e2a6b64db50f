//! The parser against bash itself, over test/policy/shell_corpus.jsonl. Where bash is not installed, nothing is compared.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cordon_policy::shell::ast::{Compound, Node, Script, Sequence, Substitution, Word};
use cordon_policy::shell::{parse, parse_counting};
use serde::Deserialize;

/// Written for every command that bash would have run: the number of its words, then the words, each ended by NUL.
const RECORDER: &str = r#"command_not_found_handle() { printf '%s\0' "$#" "$@" >> "$CORDON_SEEN"; return 0; }; "#;

#[derive(Deserialize)]
struct Row {
    source: String,
    /// `equal`: run it, and bash runs exactly our literal commands. `contained`: each command that bash runs is one of ours.
    run: Option<String>,
    /// Why bash and we may disagree about the syntax.
    exception: Option<String>,
}

fn corpus() -> Vec<Row> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../test/policy/shell_corpus.jsonl");
    let text = std::fs::read_to_string(path).expect("the corpus is part of the repository");
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn bash() -> Option<&'static str> {
    ["/bin/bash", "/usr/bin/bash"].into_iter().find(|path| Path::new(path).exists())
}

#[test]
fn c14_the_parser_accepts_what_bash_accepts_and_nothing_else() {
    let Some(bash) = bash() else { return };
    let rows = corpus();
    assert!(rows.len() >= 150, "the corpus has {} rows", rows.len());
    let mut wrong = Vec::new();
    for row in rows.iter().filter(|row| row.exception.is_none()) {
        let checked = Command::new(bash).args(["--norc", "-n", "-c", &row.source]).output().expect("bash starts");
        // A fault in `[[ … ]]` is printed, and the exit code is 0 all the same.
        let theirs = checked.status.success() && checked.stderr.is_empty();
        let ours = parse(&row.source);
        if theirs != ours.is_ok() {
            wrong.push(format!("{:?}: bash {theirs}, we {:?}", row.source, ours.err().map(|fault| fault.message)));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn c14_the_words_of_each_command_are_the_ones_bash_runs() {
    let Some(bash) = bash() else { return };
    let scratch = scratch_folder();
    let mut wrong = Vec::new();
    for row in corpus().iter().filter(|row| row.run.is_some()) {
        let seen = run_recorded(bash, &row.source, &scratch);
        let ours = literal_commands(&parse(&row.source).expect(&row.source));
        let external = |argv: &Vec<String>| !is_builtin(&argv[0]);
        let expected: Vec<Vec<String>> = ours.into_iter().filter(external).collect();
        let fits = match row.run.as_deref() {
            Some("equal") => seen == expected,
            _ => seen.iter().all(|argv| expected.contains(argv)),
        };
        if !fits {
            wrong.push(format!("{:?}: bash ran {seen:?}, we read {expected:?}", row.source));
        }
    }
    std::fs::remove_dir_all(&scratch).expect("the scratch folder can be removed");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Bash 5.2 makes `/home/ada=~` of `~=~`, and leaves `a~=~` alone.
#[test]
fn c14_a_tilde_before_an_equals_sign_is_not_certain() {
    let certain = |source: &str| literal_commands(&parse(source).expect(source)).len();
    assert_eq!(certain("foo ~=~"), 0);
    assert_eq!(certain("foo a~=~"), 1);
}

fn scratch_folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("cordon-shell-corpus-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a scratch folder can be made");
    folder
}

/// Runs the source where no program can be found, and gives the words of each that was looked for.
fn run_recorded(bash: &str, source: &str, scratch: &Path) -> Vec<Vec<String>> {
    let seen = scratch.join("seen");
    let _ = std::fs::remove_file(&seen);
    let status = Command::new(bash)
        .args(["--norc", "--noprofile", "-c", &format!("{RECORDER}\n{source}")])
        .env_clear()
        .env("PATH", "/nonexistent")
        .env("LC_ALL", "C.UTF-8")
        .env("CORDON_SEEN", &seen)
        .current_dir(scratch)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.expect("bash starts");
    let bytes = std::fs::read(&seen).unwrap_or_default();
    let text = String::from_utf8(bytes).expect("the corpus is UTF-8");
    let mut fields = text.split_terminator('\0').map(str::to_string);
    let mut commands = Vec::new();
    while let Some(count) = fields.next() {
        let count = count.parse().expect("a record begins with the number of its words");
        commands.push(fields.by_ref().take(count).collect());
    }
    commands
}

fn is_builtin(name: &str) -> bool {
    matches!(name, ":" | "true" | "false" | "wait" | "break" | "[" | "declare" | "f")
}

/// The words of every simple command whose words are all certain, in source order.
fn literal_commands(script: &Script) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    sequence(&script.items, &mut found);
    found
}

fn sequence(items: &Sequence, found: &mut Vec<Vec<String>>) {
    items.iter().for_each(|item| node(&item.node, found));
}

fn node(at: &Node, found: &mut Vec<Vec<String>>) {
    match at {
        Node::Simple(simple) => {
            words(&simple.words, found);
            let argv: Option<Vec<String>> = simple.words.iter().map(|word| word.text.clone()).collect();
            found.extend(argv.filter(|argv| !argv.is_empty()));
        }
        Node::Pipeline(pipeline) => pipeline.stages.iter().for_each(|stage| node(stage, found)),
        Node::AndOr(list) => list.nodes.iter().for_each(|entry| node(entry, found)),
        Node::Compound(Compound { words: own, bodies, .. }) => {
            words(own, found);
            bodies.iter().for_each(|body| sequence(body, found));
        }
    }
}

fn words(words: &[Word], found: &mut Vec<Vec<String>>) {
    for Substitution { body, .. } in words.iter().flat_map(|word| &word.subs) {
        sequence(body, found);
    }
}

#[test]
fn c14_every_span_is_a_place_in_the_source() {
    for row in corpus() {
        let Ok(script) = parse(&row.source) else { continue };
        for item in &script.items {
            let [start, end] = item.node.span();
            let text = row.source.get(start as usize..end as usize);
            assert!(text.is_some_and(|text| !text.trim().is_empty()), "{:?}: {start}..{end}", row.source);
        }
    }
}

/// Inputs that are slow or fatal for other parsers.
fn hostile(size: usize) -> Vec<String> {
    let opening = [
        "(",
        "((",
        "$(",
        "$((",
        "{ ",
        "`",
        "\"$(",
        "${a:-",
        "<(",
        "[[ (",
        "if ",
        "case a in a) ",
        "f() ",
        "! ",
        "a[",
        "a=(",
        "function f ",
    ];
    let mut made: Vec<String> = opening.iter().map(|token| token.repeat(size / token.len())).collect();
    let pairs = [
        ("(", ")"),
        ("$(", ")"),
        ("{ ", "; }"),
        ("$((", "))"),
        ("((", "))"),
        ("${a:-", "}"),
        ("coproc ", " x"),
        ("`", "`"),
    ];
    made.extend(pairs.iter().map(|(open, close)| format!("{}x{}", open.repeat(size / 8), close.repeat(size / 8))));
    let flat = [
        "a ", "a;", "a&&", "a|", "'a'", "\\\n", "{a,b}", "[a]", "{", "}", "[", "$x", "~", "a=b ", ">a ", "<<E ", "# ",
        "\n", "((1));", "$((1))", "a[1]=2 ", "é", "\\\\",
    ];
    made.extend(flat.iter().map(|token| token.repeat(size / token.len())));
    made
}

/// Debug builds need more stack a level than the 2 MB of a test thread; the component has its own, measured limit.
fn with_stack(test: fn()) {
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(test);
    thread.expect("a thread starts").join().expect("the test holds");
}

#[test]
fn c14_hostile_input_takes_steps_in_proportion_to_its_length_and_never_overflows() {
    with_stack(hostile_inputs);
}

fn hostile_inputs() {
    for (short, long) in hostile(20_000).iter().zip(hostile(200_000)) {
        let (_, few) = parse_counting(short);
        let (_, many) = parse_counting(&long);
        let label: String = long.chars().take(12).collect();
        assert!(many <= 16 * long.len() as u64 + 4_096, "{label:?}: {many} steps for {} bytes", long.len());
        assert!(many <= 12 * few + 4_096, "{label:?}: {few} steps, then {many}");
    }
}

#[test]
fn c14_deep_nesting_and_great_length_are_refused_by_name() {
    with_stack(refusals);
}

fn refusals() {
    let code = |source: &str| parse(source).err().map(|fault| fault.code);
    assert_eq!(code(&"( ".repeat(100_000)), Some("shell.too_deep"));
    assert_eq!(code(&format!("{}x{}", "{ ".repeat(2_000), "; }".repeat(2_000))), Some("shell.too_deep"));
    assert_eq!(code(&"a".repeat((1 << 20) + 1)), Some("shell.too_long"));
    assert_eq!(code(&"a".repeat(1 << 20)), None);
    assert_eq!(code("a\0b"), Some("shell.nul"));
    assert_eq!(code("echo 'x"), Some("shell.unclosed"));
}

/// A small generator, seeded, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

#[test]
fn c14_random_token_soup_never_panics_and_spans_stay_inside() {
    let tokens = [
        "a", " ", ";", "&", "|", "(", ")", "{", "}", "'", "\"", "`", "$", "$(", "${", "$((", "))", "\\", "\n", "<<E",
        "E\n", "<", ">", "=", "[", "]", "[[", "]]", "if", "then", "fi", "for", "in", "do", "done", "case", "esac", "é",
        "~", "*", "?", ",", "..", "#", "!", "@(", "time", "function", "coproc", "x=",
    ];
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..60_000 {
        let length = 1 + random.below(24);
        let source: String = (0..length).map(|_| tokens[random.below(tokens.len())]).collect();
        match parse(&source) {
            Ok(script) => {
                assert!(script.items.iter().all(|item| item.node.span()[1] as usize <= source.len()), "{source:?}")
            }
            Err(fault) => assert!(fault.span[1] as usize <= source.len(), "{source:?} {fault:?}"),
        }
    }
}
