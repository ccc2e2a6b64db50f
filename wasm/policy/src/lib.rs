//! The policy engine of cordon: a parser for bash and the rules `deny > ask > allow` over what it finds.
#![deny(missing_docs, unsafe_code)]

#[cfg(target_arch = "wasm32")]
mod component;
pub mod lines;
pub mod rules;
pub mod shell;
#[cfg(target_arch = "wasm32")]
mod size_classes;
