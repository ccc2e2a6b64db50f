//! The search engine of cordon: regular expressions, globs, ignore rules and the shape of the output.
//!
//! It opens nothing and imports nothing. The host walks the folders and reads the files into a buffer of this crate;
//! what is visited ([`walk`]), what matches ([`scan`]) and what is shown ([`render`]) is decided here. The pieces are
//! those of ripgrep (`grep-regex`, `ignore`), so that patterns and ignore files mean what they mean there. Only
//! `component`, the glue for WebAssembly, is left out of a native build.
#![deny(missing_docs)]

pub mod byte_set;
pub mod choose;
pub mod closed_names;
#[cfg(target_arch = "wasm32")]
mod component;
pub mod encoding;
pub mod entries;
pub mod gate;
pub mod index;
pub mod index_need;
mod lane;
pub mod lines;
pub mod literals;
pub mod long;
pub mod name_glob;
pub mod names;
pub mod needle;
pub mod pattern;
pub mod reach;
pub mod render;
pub mod report;
pub mod rule_line;
pub mod rules;
pub mod scan;
pub mod searcher;
pub mod smart_case;
pub mod tour;
pub mod visit;
pub mod walk;
