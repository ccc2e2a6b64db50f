//! Nothing but the tests: brush-parser and its sixty crates stay out of every build.
