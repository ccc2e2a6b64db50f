//! From the tree to the flat list of everything that would run.

use crate::shell::ast::{Compound, HereDoc, Node, Redirect, Script, Sequence, Simple, Span, Substitution, Word};

/// Where a simple command stands.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    /// Its input comes from a pipe or a redirection.
    pub(crate) fed: bool,
    /// Its output goes into a pipe or a substitution.
    pub(crate) drained: bool,
}

/// A simple command and its place.
pub(crate) struct Part<'a> {
    pub(crate) simple: &'a Simple,
    pub(crate) place: Place,
}

/// Everything in a script, in source order.
#[derive(Default)]
pub(crate) struct Flat<'a> {
    pub(crate) parts: Vec<Part<'a>>,
    pub(crate) redirects: Vec<&'a Redirect>,
    pub(crate) functions: Vec<&'a Compound>,
    /// `for`, `select` and `coproc`, which set the variable they name.
    pub(crate) setters: Vec<&'a Compound>,
    /// `[[ … ]]`, `(( … ))` and loops run nothing of their own; this is where they stand.
    pub(crate) tests: Vec<Span>,
    docs: &'a [HereDoc],
}

pub(crate) fn flatten(script: &Script) -> Flat<'_> {
    let mut flat = Flat { docs: &script.here_docs, ..Flat::default() };
    flat.sequence(&script.items, Place::default());
    flat
}

impl<'a> Flat<'a> {
    fn sequence(&mut self, items: &'a Sequence, place: Place) {
        for item in items {
            self.node(&item.node, place);
        }
    }

    fn node(&mut self, node: &'a Node, place: Place) {
        match node {
            Node::Simple(simple) => self.simple(simple, place),
            Node::Pipeline(pipeline) => {
                let last = pipeline.stages.len().saturating_sub(1);
                for (index, stage) in pipeline.stages.iter().enumerate() {
                    let fed = place.fed || index > 0;
                    self.node(stage, Place { fed, drained: place.drained || index < last });
                }
            }
            Node::AndOr(list) => list.nodes.iter().for_each(|node| self.node(node, place)),
            Node::Compound(compound) => self.compound(compound, place),
        }
    }

    fn simple(&mut self, simple: &'a Simple, place: Place) {
        let fed = self.redirects(&simple.redirects) || place.fed;
        for assignment in &simple.assignments {
            self.words(assignment.subscript.iter().chain(&assignment.values));
        }
        self.words(simple.words.iter());
        self.parts.push(Part { simple, place: Place { fed, ..place } });
    }

    fn compound(&mut self, compound: &'a Compound, place: Place) {
        let fed = self.redirects(&compound.redirects) || place.fed;
        match compound.r#type {
            "function" => self.functions.push(compound),
            "for" | "select" | "coproc" => self.setters.push(compound),
            "cond" | "arith" => self.tests.push(compound.span),
            _ => {}
        }
        self.words(compound.words.iter());
        let fed = fed || compound.r#type == "coproc";
        // What feeds a function is not seen where it is defined.
        let fed = fed || compound.r#type == "function";
        for body in &compound.bodies {
            self.sequence(body, Place { fed, ..place });
        }
    }

    fn words(&mut self, words: impl Iterator<Item = &'a Word>) {
        for word in words {
            self.subs(&word.subs);
        }
    }

    fn subs(&mut self, subs: &'a [Substitution]) {
        for sub in subs {
            let place = Place { fed: sub.kind == ">(", drained: sub.kind != ">(" };
            self.sequence(&sub.body, place);
        }
    }

    /// Whether one of them feeds the command.
    fn redirects(&mut self, redirects: &'a [Redirect]) -> bool {
        for redirect in redirects {
            self.subs(&redirect.target.subs);
            if let Some(doc) = redirect.here_doc.and_then(|index| self.docs.get(index)) {
                self.subs(&doc.subs);
            }
            self.redirects.push(redirect);
        }
        redirects
            .iter()
            .any(|redirect| redirect.op.starts_with('<') && redirect.fd.as_deref().is_none_or(|fd| fd == "0"))
    }
}
