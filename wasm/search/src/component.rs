//! The glue between the WIT interface and this crate: types in, types out, no decisions.

use crate::pattern::{Pattern, PatternFault};
use crate::render::Shape;
use crate::searcher::{self, Searcher};
use crate::walk::{self, ScopeFault, Walk};
use core::cell::RefCell;
use exports::cordon::search::{grep, walk as wit_walk};

wit_bindgen::generate!({ world: "search", path: "../wit/search.wit" });

thread_local! {
    static SEARCHER: RefCell<Searcher> = RefCell::default();
    static WALK: RefCell<Option<Walk>> = const { RefCell::new(None) };
}

/// What `search` says of a binary file.
const BINARY: i32 = -1;

struct Component;

impl grep::Guest for Component {
    fn compile(query: grep::Query) -> Result<(), grep::Fault> {
        let query = searcher::Query {
            pattern: Pattern {
                text: query.pattern,
                fixed: query.fixed,
                ignore_case: query.ignore_case,
                multiline: query.multiline,
            },
            mode: match query.mode {
                grep::Mode::Content => searcher::Mode::Content,
                grep::Mode::FilesWithMatches => searcher::Mode::FilesWithMatches,
                grep::Mode::Count => searcher::Mode::Count,
            },
            shape: Shape {
                before: query.before,
                after: query.after,
                line_numbers: query.line_numbers,
                max_line_bytes: query.max_line_bytes as usize,
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

    fn render(name: String, max_lines: u32) -> grep::Rendered {
        let rendered = SEARCHER.with_borrow(|searcher| searcher.render(&name, max_lines));
        grep::Rendered { text: rendered.text, lines: rendered.lines }
    }
}

impl wit_walk::Guest for Component {
    fn start(scope: wit_walk::Scope) -> Result<(), wit_walk::Fault> {
        let scope =
            walk::Scope { glob: scope.glob, only: scope.only, file_type: scope.file_type, hidden: scope.hidden };
        let started = Walk::start(&scope).map_err(|fault| match fault {
            ScopeFault::Glob(message) => wit_walk::Fault { part: wit_walk::Part::Glob, message },
            ScopeFault::FileType(message) => wit_walk::Fault { part: wit_walk::Part::FileType, message },
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
            wit_walk::Source::Rgignore => walk::Source::Rgignore,
            wit_walk::Source::Ignore => walk::Source::Ignore,
            wit_walk::Source::Gitignore => walk::Source::Gitignore,
            wit_walk::Source::Exclude => walk::Source::Exclude,
        };
        SEARCHER
            .with_borrow(|searcher| with_walk(|walk| walk.add_rules(folder, source, searcher.filled(len as usize))));
    }

    fn filter(folder: u32, len: u32) -> u32 {
        SEARCHER.with_borrow_mut(|searcher| {
            let places = with_walk(|walk| walk.filter(folder, searcher.filled(len as usize)));
            for (place, room) in
                places.iter().zip(searcher.reserve(places.len() * size_of::<u32>()).chunks_exact_mut(4))
            {
                room.copy_from_slice(&place.to_le_bytes());
            }
            u32::try_from(places.len()).unwrap_or(u32::MAX)
        })
    }
}

/// Calls before `start` have no folders to speak of and change nothing.
fn with_walk<T: Default>(act: impl FnOnce(&mut Walk) -> T) -> T {
    WALK.with_borrow_mut(|walk| walk.as_mut().map(act).unwrap_or_default())
}

export!(Component);
