//! The glue between the WIT interface and this crate: types in, types out, no decisions.

use crate::choose::Choice;
use crate::index::Index;
use crate::index_need::Need;
use crate::names::{Gather, Names, Wanted};
use crate::pattern::{self, Case, Pattern, PatternFault};
use crate::render::Shape;
use crate::report::Report;
use crate::rules::Source;
use crate::searcher::{self, Searcher};
use crate::tour::{Folders, Parts, Tour};
use crate::visit::{Files, Folder, Stretch, load, visit};
use crate::walk::{self, ScopeFault, Walk};
use cordon::search::{files, folders};
use core::cell::RefCell;
use exports::cordon::search::{grep, index as wit_index, names as wit_names, tour as wit_tour, walk as wit_walk};

wit_bindgen::generate!({ world: "search", path: "../wit/search.wit" });

thread_local! {
    static SEARCHER: RefCell<Searcher> = RefCell::default();
    static INDEX: RefCell<Index> = RefCell::default();
    static WALK: RefCell<Option<Walk>> = const { RefCell::new(None) };
    static REPORT: RefCell<Report> = RefCell::default();
    static TOUR: RefCell<Tour> = RefCell::default();
    static NUMBERS: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
    static NAMES: RefCell<Names> = RefCell::default();
}

/// What `index` says where there is no number.
const NONE: i32 = -1;

/// What `search` says of a binary file.
const BINARY: i32 = -1;

struct Component;

impl grep::Guest for Component {
    fn compile(query: grep::Query) -> Result<(), grep::Fault> {
        let query = searcher::Query {
            pattern: pattern_of(&query),
            mode: match query.mode {
                grep::Mode::Content => searcher::Mode::Content,
                grep::Mode::FilesWithMatches => searcher::Mode::FilesWithMatches,
                grep::Mode::FilesWithoutMatch => searcher::Mode::FilesWithMatches,
                grep::Mode::Count | grep::Mode::CountMatches => searcher::Mode::Count,
            },
            choice: Choice {
                invert: query.invert,
                max_count: query.max_count,
                // Of lines that do not match there is nothing to count but the lines.
                each_match: query.mode == grep::Mode::CountMatches && !query.invert,
                without: query.mode == grep::Mode::FilesWithoutMatch,
            },
            shape: Shape {
                before: query.before,
                after: query.after,
                line_numbers: query.line_numbers,
                max_line_bytes: query.max_line_bytes as usize,
                spans: query.spans,
                only_matching: query.only_matching && !query.invert,
                inverted: query.invert,
            },
        };
        SEARCHER.with_borrow_mut(|searcher| searcher.compile(&query)).map_err(
            |PatternFault { message, position, hint }| grep::Fault {
                message,
                position: position.and_then(|at| u32::try_from(at).ok()),
                hint,
            },
        )
    }

    fn reserve(len: u32) -> u32 {
        // An address in linear memory of 32 bits always fits.
        SEARCHER.with_borrow_mut(|searcher| searcher.reserve(len as usize).as_ptr() as u32)
    }

    fn search(len: u32, budget: u32) -> i32 {
        let count = SEARCHER.with_borrow_mut(|searcher| searcher.search(len as usize, budget));
        count.map_or(BINARY, |count| i32::try_from(count).unwrap_or(i32::MAX))
    }

    fn visit(folder: i32, from: u32) -> u32 {
        with_parts(|_, Parts { walk, searcher, host, report, names }| {
            let folder = Folder { handle: folder, raw: walk.raw(), order: walk.order(), from: from as usize };
            let next = visit(searcher, host, folder, (&mut *report, &mut Stretch::default()));
            names.gather_told(folder, report);
            report.close(next);
        })
    }

    fn render(name: String, max_lines: u32) -> grep::Rendered {
        let rendered = SEARCHER.with_borrow_mut(|searcher| searcher.render(&name, max_lines));
        grep::Rendered { text: rendered.text, lines: rendered.lines, spans: rendered.spans, matches: rendered.matches }
    }
}

impl wit_walk::Guest for Component {
    fn start(scope: wit_walk::Scope) -> Result<(), wit_walk::Fault> {
        let scope = walk::Scope {
            globs: scope.globs,
            iglobs: scope.iglobs,
            only: scope.only,
            ignore_case: scope.ignore_case,
            file_types: scope.file_types,
            file_types_not: scope.file_types_not,
            hidden: scope.hidden,
            no_ignore: scope.no_ignore,
            closed_names: scope.closed_names,
            sample_endings: scope.sample_endings,
        };
        let started = Walk::start(&scope).map_err(|fault| match fault {
            ScopeFault::Glob(message) => wit_walk::Fault { part: wit_walk::Part::Glob, message, known: Vec::new() },
            ScopeFault::FileType(message, known) => wit_walk::Fault { part: wit_walk::Part::FileType, message, known },
        })?;
        WALK.set(Some(started));
        Ok(())
    }

    fn enter(parent: Option<u32>, len: u32, above: bool, repository: bool) -> u32 {
        SEARCHER.with_borrow(|searcher| {
            let name = String::from_utf8_lossy(searcher.filled(len as usize));
            with_walk(|walk| walk.enter(parent, &name, above, repository))
        })
    }

    fn add_rules(folder: u32, source: wit_walk::Source, len: u32) {
        let source = match source {
            wit_walk::Source::Rgignore => Source::Rgignore,
            wit_walk::Source::Ignore => Source::Ignore,
            wit_walk::Source::Gitignore => Source::Gitignore,
            wit_walk::Source::Exclude => Source::Exclude,
            wit_walk::Source::Global => Source::Global,
        };
        SEARCHER
            .with_borrow(|searcher| with_walk(|walk| walk.add_rules(folder, source, searcher.filled(len as usize))));
    }

    fn reserve(len: u32) -> u32 {
        with_walk(|walk| walk.reserve(len as usize).as_ptr() as u32)
    }

    fn survey(len: u32) -> u32 {
        with_walk(|walk| walk.survey(len as usize))
    }

    fn filter(folder: u32, len: u32) -> u32 {
        with_walk(|walk| u32::try_from(walk.filter(folder, len as usize).len() / 3).unwrap_or(u32::MAX))
    }

    fn choose(at: u32, len: u32) {
        with_walk(|walk| walk.choose(at, len));
    }

    fn order() -> u32 {
        with_walk(|walk| walk.order().as_ptr() as u32)
    }
}

impl wit_tour::Guest for Component {
    fn start(lists: bool) {
        TOUR.with_borrow_mut(|tour| tour.start(lists, &mut Host));
    }

    fn hide(len: u32) {
        SEARCHER.with_borrow(|searcher| with_walk(|walk| walk.hide(searcher.filled(len as usize))));
    }

    fn push(len: u32) {
        SEARCHER.with_borrow(|searcher| TOUR.with_borrow_mut(|tour| tour.push(searcher.filled(len as usize))));
    }

    fn go() -> u32 {
        with_parts(|tour, parts| {
            let Parts { walk, searcher, host, report, names } = parts;
            let turn = tour.go(Parts { walk, searcher, host, report: &mut *report, names });
            report.close(turn as usize);
        })
    }

    fn entered(number: u32) {
        TOUR.with_borrow_mut(|tour| tour.entered(number));
    }

    fn give() -> u32 {
        with_parts(|tour, parts| {
            let given = tour.give(parts.report);
            parts.report.close(usize::from(given));
        })
    }

    fn leave() {
        TOUR.with_borrow_mut(|tour| tour.leave(&mut Host));
        SEARCHER.with_borrow_mut(|searcher| searcher.leave(&mut Host));
    }
}

impl wit_names::Guest for Component {
    fn start(gather: wit_names::Gather) {
        let gather = match gather {
            wit_names::Gather::Nothing => Gather::Nothing,
            wit_names::Gather::Names => Gather::Names,
            wit_names::Gather::Counts => Gather::Counts,
            wit_names::Gather::Ages => Gather::Ages,
        };
        NAMES.with_borrow_mut(|names| names.start(gather));
    }

    fn folder(len: u32) {
        SEARCHER.with_borrow(|searcher| NAMES.with_borrow_mut(|names| names.folder(searcher.filled(len as usize))));
    }

    fn take_files(folder: i32, from: u32) -> u32 {
        with_parts(|_, Parts { walk, host, report, names, .. }| {
            let folder = Folder { handle: folder, raw: walk.raw(), order: walk.order(), from: from as usize };
            report.close(names.list(host, folder, &mut Stretch::default()));
        })
    }

    fn gathered() -> u32 {
        reporting(|numbers| {
            NAMES.with_borrow(|names| numbers.extend([names.bytes().as_ptr() as u32, names.bytes().len() as u32]));
        })
    }

    fn noted() -> u32 {
        reporting(|numbers| {
            NAMES.with_borrow(|names| numbers.extend([names.noted().as_ptr() as u32, names.noted().len() as u32]));
        })
    }

    fn absorb(len: u32) {
        SEARCHER.with_borrow(|searcher| NAMES.with_borrow_mut(|names| names.absorb(searcher.filled(len as usize))));
    }

    fn page(offset: u32, limit: u32, base: u32, newest: bool) -> u32 {
        reporting(|numbers| {
            SEARCHER.with_borrow(|searcher| {
                let base = searcher.filled(base as usize);
                let wanted = Wanted { offset: offset as usize, limit: limit as usize, base, newest };
                NAMES.with_borrow_mut(|names| {
                    let page = names.page(wanted);
                    numbers.extend([page.bytes.as_ptr() as u32, page.bytes.len() as u32]);
                    numbers.extend([page.numbers.as_ptr() as u32, page.count as u32, page.total as u32]);
                    numbers.extend([page.numbers.len() as u32, u32::from(page.end)]);
                });
            });
        })
    }
}

/// Has numbers written and says where they are.
fn reporting(write: impl FnOnce(&mut Vec<u32>)) -> u32 {
    NUMBERS.with_borrow_mut(|numbers| {
        numbers.clear();
        write(numbers);
        numbers.as_ptr() as u32
    })
}

/// Runs a part of a search and gives the address of its report. Before `start` of the walk there is nothing to report.
fn with_parts(act: impl FnOnce(&mut Tour, Parts<'_, Host>)) -> u32 {
    REPORT.with_borrow_mut(|report| {
        report.begin();
        SEARCHER.with_borrow_mut(|searcher| {
            TOUR.with_borrow_mut(|tour| {
                NAMES.with_borrow_mut(|names| {
                    with_walk(|walk| act(tour, Parts { walk, searcher, host: &mut Host, report: &mut *report, names }));
                });
            });
        });
        // An address in linear memory of 32 bits always fits.
        report.numbers().as_ptr() as u32
    })
}

/// The files of the host.
struct Host;

impl Folders for Host {
    fn open(&mut self, path: &[u8]) -> i32 {
        folders::open(path.as_ptr() as u32)
    }

    fn entries(&mut self, folder: i32, to: &mut [u8]) -> i32 {
        folders::entries(folder, to.as_mut_ptr() as u32, to.len() as u32)
    }

    fn kind(&mut self, folder: i32, name: &[u8]) -> i32 {
        folders::kind(folder, name.as_ptr() as u32)
    }
}

impl Files for Host {
    fn open(&mut self, folder: i32, name: &[u8]) -> i32 {
        files::open(folder, name.as_ptr() as u32)
    }

    fn read(&mut self, file: i32, to: &mut [u8], from: u64) -> i32 {
        // All in linear memory of 32 bits fits, and no file has so many bytes that a place in it would not be exact.
        files::read(file, to.as_mut_ptr() as u32, to.len() as u32, from as f64)
    }

    fn size(&mut self, file: i32) -> f64 {
        files::size(file)
    }

    fn changed(&mut self, folder: i32, name: &[u8]) -> f64 {
        files::changed(folder, name.as_ptr() as u32)
    }

    fn close(&mut self, file: i32) {
        files::close(file);
    }
}

fn pattern_of(query: &grep::Query) -> Pattern {
    Pattern {
        text: query.pattern.clone(),
        fixed: query.fixed,
        case: match query.letter_case {
            grep::LetterCase::Sensitive => Case::Sensitive,
            grep::LetterCase::Ignore => Case::Ignore,
            grep::LetterCase::Smart => Case::Smart,
        },
        word: query.word,
        multiline: query.multiline,
    }
}

impl wit_index::Guest for Component {
    fn add(folder: i32, at: u32) -> i32 {
        SEARCHER.with_borrow_mut(|searcher| {
            let filled = with_walk(|walk| {
                let name = walk.raw().get(at as usize..).unwrap_or(b"\0");
                load(searcher, &mut Host, folder, name).ok()
            });
            let number = filled.and_then(|filled| INDEX.with_borrow_mut(|index| index.add(searcher.filled(filled))));
            number.and_then(|number| i32::try_from(number).ok()).unwrap_or(NONE)
        })
    }

    fn remove(number: u32) {
        INDEX.with_borrow_mut(|index| index.remove(number));
    }

    fn choose(query: grep::Query) -> i32 {
        // What does not match is wanted: signatures say nothing of that.
        if query.invert || query.mode == grep::Mode::FilesWithoutMatch {
            return NONE;
        }
        // A pattern that can't be compiled is refused by the search itself.
        let Ok((need, spans_lines)) = pattern::need(&pattern_of(&query)) else { return NONE };
        if need == Need::Anything {
            return NONE;
        }
        INDEX.with_borrow_mut(|index| i32::try_from(index.choose(&need, spans_lines).len()).unwrap_or(NONE))
    }

    fn chosen() -> u32 {
        INDEX.with_borrow(|index| index.chosen().as_ptr() as u32)
    }

    fn size() -> u32 {
        INDEX.with_borrow(|index| u32::try_from(index.bytes()).unwrap_or(u32::MAX))
    }
}

/// Calls before `start` have no folders to speak of and change nothing.
fn with_walk<T: Default>(act: impl FnOnce(&mut Walk) -> T) -> T {
    WALK.with_borrow_mut(|walk| walk.as_mut().map(act).unwrap_or_default())
}

export!(Component);
