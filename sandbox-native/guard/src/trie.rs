//! All names of all rules in one trie, stepped through name by name, so that a path costs the same for one rule as for
//! many with the same beginning, and a walk down a tree never starts again at the root.

use crate::glob::{Pattern, Segment};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

/// Where in the trie a path stands.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Sorted, no node twice.
    nodes: Vec<usize>,
    /// Numbers of the rules that match the path or, but for those with a condition, a folder above it; ascending.
    pub(crate) matched: Vec<usize>,
}

#[derive(Debug, Default)]
struct Node {
    literal: HashMap<Vec<u8>, usize>,
    patterns: Vec<(Pattern, usize)>,
    /// The node of a `**` that follows here; it holds on to every name.
    any_depth: Option<usize>,
    is_any_depth: bool,
    /// Nothing but literal names lead here.
    fixed: bool,
    rules: Vec<usize>,
    /// Rules that match some name below, ascending.
    below: Vec<usize>,
}

#[derive(Debug)]
pub(crate) struct Trie {
    nodes: Vec<Node>,
    /// Rules with a condition on the very name: what lies below it is not theirs.
    conditional: HashSet<usize>,
}

impl Trie {
    pub(crate) fn new() -> Trie {
        Trie { nodes: vec![Node { fixed: true, ..Node::default() }], conditional: HashSet::new() }
    }

    /// Marks a rule as one about the very name that it matches.
    pub(crate) fn mark_conditional(&mut self, rule: usize) {
        self.conditional.insert(rule);
    }

    /// Adds one list of segments for a rule.
    pub(crate) fn add(&mut self, segments: &[Segment], rule: usize) {
        let mut at = 0;
        for segment in segments {
            at = self.child(at, segment);
        }
        self.nodes[at].rules.push(rule);
    }

    fn child(&mut self, at: usize, segment: &Segment) -> usize {
        let node = &self.nodes[at];
        let known = match segment {
            Segment::AnyDepth => node.any_depth,
            Segment::Literal(name) => node.literal.get(name).copied(),
            Segment::Pattern(wanted) => node.patterns.iter().find(|(known, _)| known == wanted).map(|(_, to)| *to),
        };
        if let Some(known) = known {
            return known;
        }
        let new = self.nodes.len();
        let fixed = node.fixed && !matches!(segment, Segment::Pattern(_)) && !node.is_any_depth;
        let is_any_depth = *segment == Segment::AnyDepth;
        self.nodes.push(Node { fixed, is_any_depth, ..Node::default() });
        let node = &mut self.nodes[at];
        match segment {
            Segment::AnyDepth => node.any_depth = Some(new),
            Segment::Literal(name) => drop(node.literal.insert(name.clone(), new)),
            Segment::Pattern(wanted) => node.patterns.push((wanted.clone(), new)),
        }
        new
    }

    /// To be called once, after the last rule was added.
    pub(crate) fn finish(&mut self) {
        // A child always has the higher number, so from the last to the first each is complete before it is asked.
        for at in (0..self.nodes.len()).rev() {
            let node = &self.nodes[at];
            let children = node.literal.values().chain(node.patterns.iter().map(|(_, to)| to)).chain(&node.any_depth);
            let mut below: Vec<usize> =
                children.flat_map(|to| self.nodes[*to].rules.iter().chain(&self.nodes[*to].below)).copied().collect();
            below.sort_unstable();
            below.dedup();
            self.nodes[at].below = below;
        }
    }

    /// The place of "/".
    pub(crate) fn root(&self) -> Place {
        self.arrive(vec![0], Vec::new())
    }

    /// The place of an absolute, plain path.
    pub(crate) fn place(&self, path: &Path) -> Place {
        let names =
            path.components().filter_map(|part| if let Component::Normal(name) = part { Some(name) } else { None });
        names.fold(self.root(), |place, name| self.step(&place, name))
    }

    /// The place of a name in a folder.
    pub(crate) fn step(&self, place: &Place, name: &OsStr) -> Place {
        let name = name.as_bytes();
        let mut nodes = Vec::with_capacity(place.nodes.len() + 2);
        for &at in &place.nodes {
            let node = &self.nodes[at];
            if node.is_any_depth {
                nodes.push(at);
            }
            nodes.extend(node.literal.get(name));
            nodes.extend(node.patterns.iter().filter(|(pattern, _)| pattern.matches(name)).map(|(_, to)| *to));
        }
        let inherited = place.matched.iter().copied().filter(|rule| !self.conditional.contains(rule));
        self.arrive(nodes, inherited.collect())
    }

    fn arrive(&self, mut nodes: Vec<usize>, mut matched: Vec<usize>) -> Place {
        let passed: Vec<usize> = nodes.iter().filter_map(|&at| self.nodes[at].any_depth).collect();
        nodes.extend(passed);
        nodes.sort_unstable();
        nodes.dedup();
        let before = matched.len();
        matched.extend(nodes.iter().flat_map(|&at| &self.nodes[at].rules));
        if matched.len() > before {
            matched.sort_unstable();
            matched.dedup();
        }
        Place { nodes, matched }
    }

    /// The rules that may match a name below this place.
    pub(crate) fn below(&self, place: &Place) -> Vec<usize> {
        self.gather(place, |_| true)
    }

    /// The rules that match some name below this place and not the same name below any other folder of the rule's root:
    /// a link made here would give what lies at its target a name that the rule is about.
    pub(crate) fn named_below(&self, place: &Place) -> Vec<usize> {
        self.gather(place, |node| !(node.is_any_depth && node.fixed))
    }

    fn gather(&self, place: &Place, wanted: impl Fn(&Node) -> bool) -> Vec<usize> {
        let nodes = place.nodes.iter().map(|&at| &self.nodes[at]).filter(|node| wanted(node));
        let mut rules: Vec<usize> = nodes.flat_map(|node| &node.below).copied().collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    }
}
