//! A parser for bash: recursive descent, linear in its input, bounded in depth, with a span on every node.
//! It refuses what it does not understand (core/adr/0003-own-shell-parser.md).

mod ansi;
mod arithmetic;
mod array;
pub mod ast;
mod brace;
mod compound;
mod cond;
mod cursor;
mod evaluated;
mod expand;
mod grammar;
mod here_doc;
mod redirect;
mod word;

pub use ast::{ParseError, Script};
pub use cursor::{MAX_DEPTH, MAX_LENGTH};

/// Parses a whole bash script. Errors say where and why; nothing is repaired.
pub fn parse(source: &str) -> Result<Script, ParseError> {
    parse_counting(source).0
}

/// Like [`parse`], and gives the number of parser steps as well, so that tests can show linear time without a clock.
pub fn parse_counting(source: &str) -> (Result<Script, ParseError>, u64) {
    let mut parser = match cursor::Parser::new(source) {
        Ok(parser) => parser,
        Err(fault) => return (Err(fault), 0),
    };
    let result = parser.script();
    (result, parser.steps)
}
