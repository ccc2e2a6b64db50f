//! The parser against the real shells: random commands are run where every program is a stub that records its words, and
//! the parser must have said exactly what was seen. `CORDON_SHELL_CASES` and `CORDON_SHELL_SEED` make the run longer or
//! another one. Where a shell is not installed, nothing is compared with it.

mod generator;
mod plan;
mod shells;
mod vocabulary;

use cordon_policy::shell::ast::ParseError;
use cordon_policy::shell::parse;
use generator::{Dialect, Generator, Random, mutate};
use plan::{Planner, Words, could_be};
use shells::{Scratch, Seen};

/// Cases in one run of a shell.
const BATCH: usize = 64;
/// Of so many batches, one is for dash as well, where each program is a process, and two are mutations, some of which run
/// for as long as they may.
const SHARES: usize = 16;
/// Differences that are shown.
const SHOWN: usize = 12;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Every command can be foretold.
    Grammatical(Dialect),
    /// Only what is seen can be compared.
    Mutated,
}

#[derive(Default)]
struct Tally {
    cases: usize,
    commands: usize,
    refused: usize,
    unsupported: usize,
    endless: usize,
    /// Text that we refuse and bash takes, where it was spoilt by a mutation.
    stricter: usize,
    wrong: Vec<String>,
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().map_or(otherwise, |text| text.parse().expect("a number"))
}

#[test]
fn c14_the_shells_run_what_the_parser_says_and_refuse_what_it_refuses() {
    let Some(bash) = shells::bash() else { return };
    let cases = number("CORDON_SHELL_CASES", 2_000) as usize;
    let mut random = Random(number("CORDON_SHELL_SEED", 0x5EED_CAFE));
    let scratch = Scratch::new("shell-differential");
    let mut tally = Tally::default();
    while tally.cases < cases && tally.wrong.len() < SHOWN {
        let kind = match random.below(SHARES) {
            0 => Kind::Grammatical(Dialect::Posix),
            1 | 2 => Kind::Mutated,
            _ => Kind::Grammatical(Dialect::Bash),
        };
        let batch: Vec<String> = (0..BATCH).map(|_| source(&mut random, kind)).collect();
        let posix = kind == Kind::Grammatical(Dialect::Posix);
        for shell in [Some(bash), shells::dash().filter(|_| posix)].into_iter().flatten() {
            for (source, seen) in batch.iter().zip(scratch.run(shell, &batch)) {
                compare(&Case { source, kind, shell }, &seen, &mut tally);
            }
        }
        tally.cases += BATCH;
    }
    let Tally { cases, commands, refused, unsupported, endless, stricter, wrong } = &tally;
    println!(
        "{cases} cases, {commands} commands, {refused} refused by both, {unsupported} not supported, {endless} did not end, {stricter} refused by us alone"
    );
    assert!(wrong.is_empty(), "differ:\n{}", wrong.join("\n\n"));
    assert!(*commands > *cases, "only {commands} commands were started in {cases} cases");
}

fn source(random: &mut Random, kind: Kind) -> String {
    let dialect = if kind == Kind::Grammatical(Dialect::Posix) { Dialect::Posix } else { Dialect::Bash };
    let depth = 1 + random.below(2);
    let made = Generator { random, dialect, open: 0, waiting: Vec::new() }.script(depth);
    if kind == Kind::Mutated { mutate(random, &made) } else { made }
}

/// A text, what it was made for, and who runs it.
struct Case<'c> {
    source: &'c str,
    kind: Kind,
    shell: &'c str,
}

/// What is wrong with a value ends the command, or the whole script.
const ENDED_EARLY: [&str; 6] = [
    "bad substitution",
    "error token",
    "invalid indirect",
    "not a valid identifier",
    "nesting level",
    "command substitution:",
];

fn compare(case: &Case, seen: &Seen, tally: &mut Tally) {
    let Case { source, kind, shell } = *case;
    if !seen.ended {
        return tally.endless += 1;
    }
    let mut differs = |what: String| {
        tally.wrong.push(format!("{source:?}\n  {what}\n  {shell}: {:?}\n  {}", seen.commands, seen.said))
    };
    let script = match parse(source) {
        Ok(script) => script,
        Err(fault) if seen.refused => return tally.refused += usize::from(!fault.message.is_empty()),
        Err(fault) if is_unsupported(&fault, source, kind, seen) => return tally.unsupported += 1,
        Err(_) if kind == Kind::Mutated => return tally.stricter += 1,
        Err(fault) => return differs(format!("we refuse it: {} at {:?}", fault.message, fault.span)),
    };
    // A lone `!` is a command for bash alone.
    let lone = posix_only(shell) && source.contains("!\n") && seen.said.contains("newline unexpected");
    if seen.refused && lone {
        return tally.unsupported += 1;
    }
    if seen.refused {
        return differs("we accept it".to_string());
    }
    let mut planner = Planner::new(&script, kind != Kind::Mutated, posix_only(shell));
    let plan = planner.plan();
    if planner.is_cut() {
        return tally.endless += 1;
    }
    tally.commands += seen.commands.len();
    let mut listed: Vec<&Words> = Vec::new();
    plan.commands(&mut listed);
    if let Some(argv) = seen.commands.iter().find(|argv| !listed.iter().any(|words| could_be(words, argv))) {
        return differs(format!("we do not list {argv:?}, but {listed:?}"));
    }
    if kind == Kind::Mutated || ENDED_EARLY.iter().any(|sign| seen.said.contains(sign)) {
        return;
    }
    let mut certain: Vec<&Words> = Vec::new();
    plan.certain(&mut certain);
    // Only where each name has a stub can all of them be seen.
    let stubbed = |words: &Words| !posix_only(shell) || words[0].as_deref().is_some_and(shells::is_stub);
    if let Some(words) = certain
        .iter()
        .filter(|words| stubbed(words))
        .find(|words| !seen.commands.iter().any(|argv| could_be(words, argv)))
    {
        return differs(format!("we list {words:?}, which did not run"));
    }
    if !planner.unordered && listed.iter().all(|words| stubbed(words)) && !plan.fits(&seen.commands) {
        differs(format!("the order is another: {listed:?}"));
    }
}

fn posix_only(shell: &str) -> bool {
    shell.ends_with("dash")
}

/// What we refuse by name although a shell takes it.
fn is_unsupported(fault: &ParseError, source: &str, kind: Kind, seen: &Seen) -> bool {
    // Bash reads what stands in backticks only when it runs them.
    let deferred = kind == Kind::Mutated && source.contains('`');
    // The shell gave up before it read the rest.
    let warned = deferred
        || seen.said.contains("nesting level")
        || seen.said.contains("error token")
        || seen.said.contains("bad substitution")
        || seen.said.contains("here-document")
        || seen.said.contains("command substitution:");
    matches!(fault.code, "shell.unsupported" | "shell.too_deep") || warned
}
