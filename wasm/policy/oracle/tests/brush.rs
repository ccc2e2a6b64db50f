//! brush-parser as a second opinion on the scripts of this machine: the same simple commands, word for word as written. Run it with
//! `cargo test --manifest-path wasm/policy/oracle/Cargo.toml -- --nocapture`.

use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

use brush_parser::ast::{
    AndOr, AndOrList, Command, CommandPrefixOrSuffixItem, CompoundCommand, CompoundList, Pipeline, SimpleCommand,
};
use brush_parser::{Parser, ParserOptions};
use cordon_policy::shell::ast::{Node, Sequence, Simple};

const FOLDERS: [&str; 7] = [
    "/usr/bin",
    "/usr/sbin",
    "/etc",
    "/usr/share/bash-completion",
    "/usr/lib/git-core",
    "/var/lib/dpkg/info",
    "/usr/share/doc",
];
const LONGEST: u64 = 200_000;

fn scripts(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    for path in paths {
        let Ok(kind) = path.symlink_metadata() else { continue };
        if kind.is_dir() {
            scripts(&path, found);
        } else if kind.is_file() && kind.len() < LONGEST && is_script(&path) {
            found.push(path);
        }
    }
}

fn is_script(path: &Path) -> bool {
    use std::io::Read;
    let mut head = [0u8; 32];
    let Ok(length) = std::fs::File::open(path).and_then(|mut file| file.read(&mut head)) else { return false };
    let head = String::from_utf8_lossy(&head[..length]).into_owned();
    let shell = ["#!/bin/sh", "#! /bin/sh", "#!/bin/bash", "#!/usr/bin/bash", "#!/usr/bin/env bash"];
    shell.iter().any(|start| head.starts_with(start)) || path.to_string_lossy().contains("/completions/")
}

fn bash_accepts(path: &Path) -> bool {
    let status =
        Process::new("/bin/bash").args(["--norc", "-O", "extglob", "-n"]).arg(path).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// The words of each simple command as written, less continued lines; what stands inside words is left to the words.
#[derive(Default)]
struct Ours<'s> {
    source: &'s str,
    found: Vec<Vec<String>>,
}

impl Ours<'_> {
    fn sequence(&mut self, items: &Sequence) {
        items.iter().for_each(|item| self.node(&item.node));
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Simple(simple) => self.simple(simple),
            Node::Pipeline(pipeline) => pipeline.stages.iter().for_each(|stage| self.node(stage)),
            Node::AndOr(list) => list.nodes.iter().for_each(|node| self.node(node)),
            Node::Compound(compound) => compound.bodies.iter().for_each(|body| self.sequence(body)),
        }
    }

    fn simple(&mut self, simple: &Simple) {
        let text = |span: [u32; 2]| self.source[span[0] as usize..span[1] as usize].replace("\\\n", "");
        let words: Vec<String> = simple.words.iter().map(|word| text(word.span)).collect();
        if !words.is_empty() {
            self.found.push(words);
        }
    }
}

#[derive(Default)]
struct Theirs {
    found: Vec<Vec<String>>,
}

impl Theirs {
    fn list(&mut self, list: &CompoundList) {
        list.0.iter().for_each(|item| self.and_or(&item.0));
    }

    fn and_or(&mut self, list: &AndOrList) {
        self.pipeline(&list.first);
        for further in &list.additional {
            match further {
                AndOr::And(pipeline) | AndOr::Or(pipeline) => self.pipeline(pipeline),
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        pipeline.seq.iter().for_each(|command| self.command(command));
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, _) => self.compound(compound),
            Command::Function(function) => self.compound(&function.body.0),
            Command::ExtendedTest(..) => {}
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::Arithmetic(_) => {}
            CompoundCommand::ArithmeticForClause(one) => self.list(&one.body.list),
            CompoundCommand::BraceGroup(one) => self.list(&one.list),
            CompoundCommand::Subshell(one) => self.list(&one.list),
            CompoundCommand::ForClause(one) => self.list(&one.body.list),
            CompoundCommand::CaseClause(one) => {
                one.cases.iter().filter_map(|case| case.cmd.as_ref()).for_each(|body| self.list(body));
            }
            CompoundCommand::IfClause(one) => {
                self.list(&one.condition);
                self.list(&one.then);
                for branch in one.elses.iter().flatten() {
                    branch.condition.iter().for_each(|condition| self.list(condition));
                    self.list(&branch.body);
                }
            }
            CompoundCommand::WhileClause(one) | CompoundCommand::UntilClause(one) => {
                self.list(&one.0);
                self.list(&one.1.list);
            }
            CompoundCommand::Coprocess(one) => self.command(&one.body),
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) {
        let Some(name) = &simple.word_or_name else { return };
        let mut words = vec![name.value.clone()];
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                    words.push(word.value.clone());
                }
                CommandPrefixOrSuffixItem::ProcessSubstitution(..) => words.push("<()".to_string()),
                CommandPrefixOrSuffixItem::IoRedirect(_) => {}
            }
        }
        self.found.push(words);
    }
}

/// brush leaves out process substitutions, comments inside words, and has other spaces inside arrays and substitutions.
fn plain(word: &str) -> String {
    if word.starts_with("<(") || word.starts_with(">(") {
        return "<()".to_string();
    }
    let word = word.replace("\\\n", "");
    if !word.contains('(') {
        return word;
    }
    let lines = word.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.flat_map(|line| line.chars().filter(|letter| !letter.is_whitespace())).collect()
}

#[derive(Default)]
struct Counts {
    same: usize,
    ours_alone: Vec<String>,
    theirs_alone: Vec<String>,
    refused_by_all: usize,
    different: Vec<String>,
}

fn compare(path: &Path, source: &str, counts: &mut Counts) {
    let ours = cordon_policy::shell::parse(source);
    let theirs = Parser::new(source.as_bytes(), &ParserOptions::default()).parse_program();
    let (ours, theirs) = match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => (ours, theirs),
        (Ok(_), Err(_)) if bash_accepts(path) => return counts.ours_alone.push(path.display().to_string()),
        (Ok(_), Err(_)) => {
            return counts.different.push(format!("{}: accepted, though bash and brush refuse it", path.display()));
        }
        (Err(fault), Ok(_)) if bash_accepts(path) => {
            return counts.theirs_alone.push(format!("{}: {} at {:?}", path.display(), fault.message, fault.span));
        }
        _ => return counts.refused_by_all += 1,
    };
    let mut own = Ours { source, ..Ours::default() };
    own.sequence(&ours.items);
    let mut other = Theirs::default();
    theirs.complete_commands.iter().for_each(|list| other.list(list));
    let tidy = |list: Vec<Vec<String>>| -> Vec<Vec<String>> {
        list.into_iter().map(|words| words.iter().map(|word| plain(word)).collect()).collect()
    };
    let (own, other) = (tidy(own.found), tidy(other.found));
    let at = own
        .iter()
        .zip(&other)
        .position(|(a, b)| a != b)
        .or((own.len() != other.len()).then_some(own.len().min(other.len())));
    match at {
        None => counts.same += 1,
        Some(at) => counts.different.push(format!("{}: {:?} and {:?}", path.display(), own.get(at), other.get(at))),
    }
}

#[test]
fn c14_brush_sees_the_same_commands() {
    let mut found = Vec::new();
    FOLDERS.iter().for_each(|folder| scripts(Path::new(folder), &mut found));
    let mut counts = Counts::default();
    // Its recursion needs more of a stack than a test has.
    let worker = std::thread::Builder::new().stack_size(64 << 20).spawn(move || {
        for path in &found {
            if let Ok(source) = std::fs::read_to_string(path) {
                compare(path, &source, &mut counts);
            }
        }
        (found.len(), counts)
    });
    let (all, counts) = worker.expect("a thread").join().expect("no panic");
    println!(
        "{all} scripts: {} with the same commands, {} refused by both, {} by brush alone, {} by us alone",
        counts.same,
        counts.refused_by_all,
        counts.ours_alone.len(),
        counts.theirs_alone.len()
    );
    println!("by brush alone: {:#?}\nby us alone: {:#?}", counts.ours_alone, counts.theirs_alone);
    // What is refused on purpose (core/adr/0003-own-shell-parser.md) is rare in scripts that people write.
    assert!(counts.theirs_alone.len() * 100 <= all, "{:#?}", counts.theirs_alone);
    assert!(counts.different.is_empty(), "{} differ:\n{}", counts.different.len(), counts.different.join("\n"));
}
