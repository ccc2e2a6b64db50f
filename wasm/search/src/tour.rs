//! Goes through the folders of a tree and their files by itself, and back to the host only where it has something to tell or to ask.

use crate::entries::{UNKNOWN, entries_mut};
use crate::names::Names;
use crate::report::Report;
use crate::searcher::Searcher;
use crate::visit::{FOLDER, Files, Folder, Stretch, visit};
use crate::walk::Walk;
use std::collections::VecDeque;

/// The folders of the host. Less than 0 is a failure.
pub trait Folders {
    /// Opens a folder by its whole path, which ends with a NUL byte. No part of it may be a link.
    fn open(&mut self, path: &[u8]) -> i32;
    /// Reads some entries, see `entries.rs`, and gives the number of bytes; 0 once there are no more.
    fn entries(&mut self, folder: i32, to: &mut [u8]) -> i32;
    /// What an entry is, in the numbers of readdir(3), where the folder does not say.
    fn kind(&mut self, folder: i32, name: &[u8]) -> i32;
}

/// Why the host has its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// There are no folders left.
    Over = 0,
    /// There may be something to tell of the files of a folder, and the tour goes on.
    Told = 1,
    /// The host is to enter the folder and add its rules, and then says its number by `entered`.
    Rules = 2,
    /// The folder can't be read.
    Unreadable = 3,
}

/// A folder that was seen and not opened.
#[derive(Debug)]
struct Waiting {
    path: Vec<u8>,
    parent: Option<u32>,
}

/// The folder that the tour is in.
#[derive(Debug)]
struct Current {
    handle: i32,
    bytes: usize,
    seen: u32,
    parent: Option<u32>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Ruling,
    Choosing(u32),
    Files(usize),
}

/// What the tour was told, and where it stands.
#[derive(Debug, Default)]
pub struct Tour {
    waiting: VecDeque<Waiting>,
    current: Option<Current>,
    /// Of the folder that was opened last, without the NUL byte that stands after it.
    path: Vec<u8>,
    /// Files are not searched, only their names gathered.
    lists: bool,
    /// Folders opened since the start.
    opened: u32,
}

/// The parts of a search that a tour needs.
pub struct Parts<'a, Host> {
    /// Chooses the entries.
    pub walk: &'a mut Walk,
    /// Searches the files.
    pub searcher: &'a mut Searcher,
    /// Opens and reads.
    pub host: &'a mut Host,
    /// Takes what there is to tell.
    pub report: &'a mut Report,
    /// Takes the names of files where only names are wanted.
    pub names: &'a mut Names,
}

/// Room for entries to begin with, and the least that a read of them is given.
const FIRST_ROOM: usize = 64 << 10;
const LEAST_ROOM: usize = 8 << 10;

impl Tour {
    /// Forgets all folders. `lists`: the names of files are gathered, and they are not searched.
    pub fn start(&mut self, lists: bool, host: &mut impl Files) {
        self.leave(host);
        *self = Self { lists, ..Self::default() };
    }

    /// Closes the folder that the tour is in.
    pub fn leave(&mut self, host: &mut impl Files) {
        if let Some(current) = self.current.take() {
            host.close(current.handle);
        }
        self.waiting.clear();
    }

    /// Takes a folder over, which the host is asked to enter when its turn comes.
    pub fn push(&mut self, path: &[u8]) {
        self.waiting.push_back(Waiting { path: path.to_vec(), parent: None });
    }

    /// Gives the oldest folder away, which has most below it. False if that would leave nothing.
    pub fn give(&mut self, report: &mut Report) -> bool {
        let given = if self.waiting.len() > 1 { self.waiting.pop_front() } else { None };
        report.begin();
        if let Some(Waiting { path, .. }) = &given {
            report.name(path);
        }
        given.is_some()
    }

    /// The number of the folder that the host was asked to enter.
    pub fn entered(&mut self, number: u32) {
        if let Some(current) = &mut self.current {
            current.stage = Stage::Choosing(number);
        }
    }

    /// Folders that wait.
    #[must_use]
    pub fn left(&self) -> usize {
        self.waiting.len()
    }

    /// Goes on until the host has its turn.
    pub fn go(&mut self, mut parts: Parts<'_, impl Files + Folders>) -> Turn {
        let mut stretch = Stretch::default();
        parts.report.begin();
        let turn = loop {
            let Some(current) = &mut self.current else {
                if stretch.is_over() {
                    break Turn::Told;
                }
                let Some(next) = self.waiting.pop_back() else { break Turn::Over };
                stretch.folder();
                if self.open(next, &mut parts) {
                    continue;
                }
                break Turn::Unreadable;
            };
            match current.stage {
                Stage::Ruling => {
                    if current.parent.is_none() || current.seen & !UNKNOWN != 0 {
                        parts.report.ask(current.seen, current.parent);
                        break Turn::Rules;
                    }
                    let name = self.path.rsplit(|byte| *byte == b'/').next().unwrap_or(&[]);
                    let number = parts.walk.enter(current.parent, &String::from_utf8_lossy(name), false, false);
                    current.stage = Stage::Choosing(number);
                }
                Stage::Choosing(number) => {
                    parts.walk.filter(number, current.bytes);
                    current.stage = Stage::Files(0);
                    self.note_inner(parts.walk, number);
                }
                Stage::Files(from) => {
                    let folder =
                        Folder { handle: current.handle, raw: parts.walk.raw(), order: parts.walk.order(), from };
                    let next = if self.lists {
                        parts.names.list(parts.host, folder, &mut stretch)
                    } else {
                        let next = visit(parts.searcher, parts.host, folder, (parts.report, &mut stretch));
                        parts.names.gather_told(folder, parts.report);
                        next
                    };
                    current.stage = Stage::Files(next);
                    if folder.is_done(next) {
                        parts.host.close(current.handle);
                        self.current = None;
                        if parts.report.has_told() {
                            break Turn::Told;
                        }
                    } else if stretch.is_over() || parts.report.has_told() {
                        break Turn::Told;
                    }
                }
            }
        };
        parts.report.name(&self.path);
        parts.report.count(self.opened, self.waiting.len());
        turn
    }

    /// Opens a folder and reads its entries into the walk's room.
    fn open(&mut self, next: Waiting, parts: &mut Parts<'_, impl Files + Folders>) -> bool {
        let Waiting { mut path, parent } = next;
        path.push(0);
        let handle = Folders::open(parts.host, &path);
        path.pop();
        self.path = path;
        self.opened += 1;
        if handle < 0 {
            return false;
        }
        let Some(bytes) = read_entries(parts, handle) else {
            parts.host.close(handle);
            return false;
        };
        let seen = parts.walk.survey(bytes);
        if seen & UNKNOWN != 0 {
            name_kinds(parts, handle, bytes);
        }
        // A `.git` whose kind was not known before.
        let seen = if seen & UNKNOWN == 0 { seen } else { parts.walk.survey(bytes) };
        parts.names.folder(&self.path);
        self.current = Some(Current { handle, bytes, seen, parent, stage: Stage::Ruling });
        true
    }

    /// Keeps the folders of the choice. The last is visited first: so the order of the visit is nearly that of the paths.
    fn note_inner(&mut self, walk: &Walk, number: u32) {
        for [at, len, kind] in walk.order().as_chunks().0.iter().rev() {
            if *kind == FOLDER {
                let name = &walk.raw()[*at as usize..][..*len as usize];
                let slash: &[u8] = if self.path.ends_with(b"/") { b"" } else { b"/" };
                let path = [self.path.as_slice(), slash, name].concat();
                self.waiting.push_back(Waiting { path, parent: Some(number) });
            }
        }
    }
}

fn read_entries(parts: &mut Parts<'_, impl Files + Folders>, handle: i32) -> Option<usize> {
    let mut bytes = 0;
    loop {
        let wanted = if parts.walk.raw().len() < bytes + LEAST_ROOM { (bytes * 2).max(FIRST_ROOM) } else { 0 };
        let room = parts.walk.reserve(wanted);
        let read = usize::try_from(parts.host.entries(handle, &mut room[bytes..])).ok()?;
        if read == 0 {
            return Some(bytes);
        }
        bytes += read;
    }
}

fn name_kinds(parts: &mut Parts<'_, impl Files + Folders>, handle: i32, bytes: usize) {
    entries_mut(parts.walk.reserve(0), bytes, |name, kind| {
        if *kind == 0 {
            // What can't be told is visited by nobody, as a FIFO is.
            *kind = u8::try_from(parts.host.kind(handle, name)).unwrap_or(1);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::Choice;
    use crate::entries::tests::pack;
    use crate::names::{Gather, Wanted};
    use crate::pattern::Pattern;
    use crate::render::Shape;
    use crate::rules::Source;
    use crate::searcher::{Mode, Query};
    use crate::walk::Scope;

    /// Folders by their paths, each with its packed entries; every file holds its own name.
    struct Given {
        folders: Vec<(&'static str, Vec<u8>)>,
        read: Vec<usize>,
        open: i32,
        names: Vec<String>,
    }

    impl Folders for Given {
        fn open(&mut self, path: &[u8]) -> i32 {
            let path = std::str::from_utf8(&path[..path.len() - 1]).unwrap();
            let found = self.folders.iter().position(|(given, _)| *given == path);
            self.open += i32::from(found.is_some());
            found.map_or(-1, |place| i32::try_from(place).unwrap())
        }
        fn entries(&mut self, folder: i32, to: &mut [u8]) -> i32 {
            let place = usize::try_from(folder).unwrap();
            let rest = &self.folders[place].1[self.read[place]..];
            to[..rest.len()].copy_from_slice(rest);
            self.read[place] += rest.len();
            i32::try_from(rest.len()).unwrap()
        }
        fn kind(&mut self, _: i32, name: &[u8]) -> i32 {
            if name.starts_with(b"dir") { 4 } else { 8 }
        }
    }

    impl Files for Given {
        fn open(&mut self, _: i32, name: &[u8]) -> i32 {
            let name = name.split(|byte| *byte == 0).next().unwrap();
            self.names.push(String::from_utf8_lossy(name).into_owned());
            self.open += 1;
            100
        }
        fn read(&mut self, _: i32, to: &mut [u8], from: u64) -> i32 {
            let text = self.names.last().unwrap().as_bytes();
            let rest = &text[usize::try_from(from).unwrap()..];
            to[..rest.len()].copy_from_slice(rest);
            i32::try_from(rest.len()).unwrap()
        }
        fn size(&mut self, _: i32) -> f64 {
            0.0
        }
        fn changed(&mut self, _: i32, _: &[u8]) -> f64 {
            0.0
        }
        fn close(&mut self, _: i32) {
            self.open -= 1;
        }
    }

    fn given() -> Given {
        let entries = |list: &[&str]| -> Vec<u8> {
            list.iter().flat_map(|entry| pack(entry.as_bytes()[0], &entry.as_bytes()[1..])).collect()
        };
        let folders = vec![
            ("/r", entries(&["da", "fneedle1", "?dirb", "dgone", "fhidden_needle"])),
            ("/r/a", entries(&["f.ignore", "fneedle2", "fneedle3"])),
            ("/r/dirb", entries(&["?needle4", "fhay"])),
        ];
        Given { read: vec![0; folders.len()], folders, open: 0, names: Vec::new() }
    }

    /// What a whole tour tells: files as "folder place", and what the host was asked.
    fn toured(host: &mut Given, lists: bool) -> Vec<String> {
        let mut walk = Walk::start(&Scope::default()).unwrap();
        walk.hide(b"/r/hidden_needle");
        let mut searcher = Searcher::default();
        let pattern = Pattern { text: "needle".into(), ..Pattern::default() };
        searcher
            .compile(&Query {
                pattern,
                mode: Mode::FilesWithMatches,
                choice: Choice::default(),
                shape: Shape::default(),
            })
            .unwrap();
        let (mut tour, mut report, mut told) = (Tour::default(), Report::default(), Vec::new());
        let mut names = Names::default();
        names.start(if lists { Gather::Names } else { Gather::Nothing });
        tour.start(lists, host);
        tour.push(b"/r");
        loop {
            let parts =
                Parts { walk: &mut walk, searcher: &mut searcher, host, report: &mut report, names: &mut names };
            let turn = tour.go(parts);
            let path = String::from_utf8(tour.path.clone()).unwrap();
            match turn {
                Turn::Over => {
                    let page = names.page(Wanted::default());
                    told.extend(String::from_utf8_lossy(&page.bytes).lines().map(|path| format!("file {path}")));
                    return told;
                }
                Turn::Unreadable => told.push(format!("unreadable {path}")),
                Turn::Rules => {
                    let parent = u32::try_from(report.numbers()[7]).ok();
                    let name = if parent.is_none() { path.as_str() } else { path.rsplit('/').next().unwrap() };
                    let number = walk.enter(parent, name, false, false);
                    if path == "/r/a" {
                        walk.add_rules(number, Source::Ignore, b"needle3\n");
                    }
                    told.push(format!("rules {path}"));
                    tour.entered(number);
                }
                Turn::Told => {
                    let count = report.numbers()[1];
                    (0..count).for_each(|_| told.push(format!("file in {path}")));
                }
            }
        }
    }

    #[test]
    fn folders_are_gone_through_in_order_and_the_host_is_asked_for_rules_only() {
        let mut host = given();
        let told = toured(&mut host, false);
        let expected =
            ["rules /r", "file in /r", "rules /r/a", "file in /r/a", "file in /r/dirb", "unreadable /r/gone"];
        assert_eq!(told, expected);
        assert_eq!(host.names, ["needle1", "needle2", "hay", "needle4"]);
        assert_eq!(host.open, 0);
    }

    #[test]
    fn a_list_opens_no_file() {
        let mut host = given();
        let files: Vec<_> = toured(&mut host, true).into_iter().filter(|line| line.starts_with("file")).collect();
        assert_eq!(files, ["file /r/a/needle2", "file /r/dirb/hay", "file /r/dirb/needle4", "file /r/needle1"]);
        assert_eq!((host.names.len(), host.open), (0, 0));
    }

    #[test]
    fn the_oldest_folder_is_given_away_and_the_last_one_kept() {
        let (mut tour, mut report) = (Tour::default(), Report::default());
        tour.push(b"/a");
        assert!(!tour.give(&mut report));
        tour.push(b"/b");
        assert!(tour.give(&mut report));
        assert_eq!((tour.left(), report.numbers()[3]), (1, 2));
    }
}
