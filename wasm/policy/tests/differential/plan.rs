//! What a parsed script would run, as an expression over the commands that were seen to start.

use std::collections::{BTreeMap, BTreeSet};

use super::shells::is_stub;
use cordon_policy::shell::ast::{Compound, Node, Redirect, Script, Sequence, Simple, Substitution, Why, Word};

/// A command as the parser knows it: words that are certain, or none in their place.
pub type Words = Vec<Option<String>>;

/// The commands that may be seen, in order.
pub enum Plan {
    Command(Words),
    All(Vec<Plan>),
    Maybe(Box<Plan>),
    Many(Box<Plan>),
}

/// Commands that the shell runs itself and the recorder does not see.
const BUILTINS: [&str; 7] = [":", ".", "true", "false", "wait", "declare", "["];

/// Calls of functions after which no more are followed.
const MAX_CALLS: usize = 500;

/// Makes plans; tells whether the order of the commands is certain.
pub struct Planner<'s> {
    script: &'s Script,
    functions: BTreeMap<String, Vec<&'s Compound>>,
    depth: usize,
    /// Calls of functions that were followed; a function that calls itself twice would make too many.
    calls: usize,
    /// What each command ends with can be foretold.
    foretold: bool,
    /// What a command without a stub ends with is the shell's business.
    stubs_only: bool,
    /// Something runs beside something else.
    pub unordered: bool,
}

type Status = Option<bool>;

impl<'s> Planner<'s> {
    pub fn new(script: &'s Script, foretold: bool, stubs_only: bool) -> Self {
        Planner { script, functions: BTreeMap::new(), depth: 0, calls: 0, foretold, stubs_only, unordered: false }
    }

    pub fn plan(&mut self) -> Plan {
        let script = self.script;
        self.sequence(&script.items).0
    }

    /// Some calls were not followed, so commands may be missing.
    pub fn is_cut(&self) -> bool {
        self.calls > MAX_CALLS
    }

    fn sequence(&mut self, items: &'s Sequence) -> (Plan, Status) {
        let (mut plans, mut last) = (Vec::new(), Some(true));
        for item in items {
            let (plan, status) = self.node(&item.node);
            last = if item.background { Some(true) } else { status };
            self.unordered |= item.background;
            // The shell may end before what it left in the background has begun.
            plans.push(if item.background { Plan::Maybe(Box::new(plan)) } else { plan });
        }
        (Plan::All(plans), last)
    }

    fn node(&mut self, node: &'s Node) -> (Plan, Status) {
        let (plan, status) = self.known_node(node);
        (plan, status.filter(|_| self.foretold))
    }

    fn known_node(&mut self, node: &'s Node) -> (Plan, Status) {
        match node {
            Node::Simple(simple) => self.simple(simple),
            Node::Pipeline(pipeline) => {
                self.unordered |= pipeline.stages.len() > 1;
                let stages: Vec<(Plan, Status)> = pipeline.stages.iter().map(|stage| self.node(stage)).collect();
                let last = stages.last().map_or(Some(true), |stage| stage.1);
                let status = last.map(|ended| ended != pipeline.negated);
                (Plan::All(stages.into_iter().map(|stage| stage.0).collect()), status)
            }
            Node::AndOr(list) => {
                let (first, mut status) = self.node(&list.nodes[0]);
                let mut plans = vec![first];
                for (op, node) in list.ops.iter().zip(&list.nodes[1..]) {
                    let (plan, own) = self.node(node);
                    match status.map(|ended| ended == (*op == "&&")) {
                        Some(true) => {
                            plans.push(plan);
                            status = own;
                        }
                        Some(false) => {}
                        None => {
                            plans.push(Plan::Maybe(Box::new(plan)));
                            status = None;
                        }
                    }
                }
                (Plan::All(plans), status)
            }
            Node::Compound(compound) => self.compound(compound),
        }
    }

    fn simple(&mut self, simple: &'s Simple) -> (Plan, Status) {
        let values: Vec<&Word> =
            simple.assignments.iter().flat_map(|one| one.values.iter().chain(&one.subscript)).collect();
        let mut plans: Vec<Plan> = self.words(simple.words.iter());
        let before = plans.len();
        plans.extend(self.words(values.into_iter()));
        plans.extend(self.redirects(&simple.redirects));
        // Which of these come first is the shell's business.
        self.unordered |= plans.len() > 1 && before < plans.len();
        // A job and a path are not looked for by name, so the recorder may not see them.
        let sought =
            |word: &Word| !word.text.as_deref().is_some_and(|name| name.starts_with('%') || name.contains('/'));
        let opened = |redirect: &Redirect| redirect.target.text.is_some() || redirect.here_doc.is_some();
        let certain = simple.redirects.iter().all(opened) && simple.words.first().is_none_or(sought);
        let words: Words = simple.words.iter().map(|word| word.text.clone()).collect();
        let status = match words.first() {
            None => return (Plan::All(plans), None),
            Some(None) => {
                plans.push(Plan::Maybe(Box::new(Plan::Command(words))));
                return (Plan::All(plans), None);
            }
            Some(Some(name)) if self.functions.contains_key(name) => {
                // Whether the definition was reached, and by this shell, is not followed.
                let called = self.call(&name.clone()).0;
                plans.push(Plan::Maybe(Box::new(called)));
                plans.push(Plan::Maybe(Box::new(Plan::Command(words))));
                return (Plan::All(plans), None);
            }
            Some(Some(name)) if BUILTINS.contains(&name.as_str()) => {
                return (Plan::All(plans), None);
            }
            Some(Some(name)) if self.stubs_only && !is_stub(name) => {
                plans.push(Plan::Maybe(Box::new(Plan::Command(words))));
                return (Plan::All(plans), None);
            }
            Some(Some(name)) => !name.starts_with('f'),
        };
        let command = Plan::Command(words);
        plans.push(if certain { command } else { Plan::Maybe(Box::new(command)) });
        (Plan::All(plans), certain.then_some(status))
    }

    fn call(&mut self, name: &str) -> (Plan, Status) {
        let bodies = self.functions.get(name).cloned().unwrap_or_default();
        self.calls += 1;
        self.unordered |= self.calls > MAX_CALLS;
        if self.depth > 8 || self.calls > MAX_CALLS {
            return (Plan::All(Vec::new()), None);
        }
        self.depth += 1;
        let called = match bodies.as_slice() {
            [one] => self.compound_body(one),
            several => {
                let plans = several.iter().map(|one| Plan::Maybe(Box::new(self.compound_body(one).0))).collect();
                (Plan::All(plans), None)
            }
        };
        self.depth -= 1;
        called
    }

    fn compound_body(&mut self, function: &'s Compound) -> (Plan, Status) {
        self.sequence(&function.bodies[0])
    }

    fn compound(&mut self, compound: &'s Compound) -> (Plan, Status) {
        if compound.r#type == "function" {
            let name = compound.name.clone().unwrap_or_default();
            self.functions.entry(name).or_default().push(compound);
            return (Plan::All(Vec::new()), Some(true));
        }
        let mut plans = self.words(compound.words.iter());
        self.unordered |= plans.len() > 1;
        plans.extend(self.redirects(&compound.redirects));
        let bodies: Vec<(Plan, Status)> = compound.bodies.iter().map(|body| self.sequence(body)).collect();
        let status = self.join(compound.r#type, bodies, &mut plans);
        (Plan::All(plans), status.filter(|_| compound.redirects.is_empty()))
    }

    fn join(&mut self, kind: &str, mut bodies: Vec<(Plan, Status)>, plans: &mut Vec<Plan>) -> Status {
        match kind {
            "subshell" | "group" => {
                let (plan, status) = bodies.remove(0);
                plans.push(plan);
                status
            }
            "if" => {
                let mut bodies = bodies.into_iter();
                let (condition, status) = bodies.next().unwrap_or((Plan::All(Vec::new()), None));
                plans.push(condition);
                let branches: Vec<(Plan, Status)> = bodies.collect();
                let chosen = match (status, branches.len()) {
                    (Some(true), _) => Some(0),
                    (Some(false), 2) => Some(1),
                    (Some(false), 1) => return Some(true),
                    _ => None,
                };
                for (index, (plan, ended)) in branches.into_iter().enumerate() {
                    match chosen {
                        Some(wanted) if wanted == index => {
                            plans.push(plan);
                            return ended;
                        }
                        Some(_) => {}
                        None => plans.push(Plan::Maybe(Box::new(plan))),
                    }
                }
                None
            }
            "coproc" => {
                self.unordered = true;
                plans.extend(bodies.into_iter().map(|body| Plan::Maybe(Box::new(body.0))));
                Some(true)
            }
            _ => {
                // How often, and which of them, is not followed.
                let inner = bodies.into_iter().map(|body| Plan::Maybe(Box::new(body.0))).collect();
                plans.push(Plan::Many(Box::new(Plan::All(inner))));
                None
            }
        }
    }

    fn redirects(&mut self, redirects: &'s [Redirect]) -> Vec<Plan> {
        let mut plans = Vec::new();
        for redirect in redirects {
            plans.extend(self.words(std::iter::once(&redirect.target)));
            let script = self.script;
            if let Some(doc) = redirect.here_doc.and_then(|index| script.here_docs.get(index)) {
                plans.extend(self.substitutions(&doc.subs, false));
            }
        }
        plans
    }

    fn words(&mut self, words: impl Iterator<Item = &'s Word>) -> Vec<Plan> {
        let mut plans = Vec::new();
        for word in words {
            let certain = word.dynamic.iter().all(|why| matches!(why, Why::Command));
            let inner = self.substitutions(&word.subs, certain);
            // Braces write the whole word several times, substitutions and all.
            let several = word.dynamic.contains(&Why::Brace);
            plans.extend(if several { vec![Plan::Many(Box::new(Plan::All(inner)))] } else { inner });
            self.unordered |= word.dynamic.contains(&Why::Process);
        }
        plans
    }

    fn substitutions(&mut self, subs: &'s [Substitution], certain: bool) -> Vec<Plan> {
        let mut plans = Vec::new();
        for sub in subs {
            let plan = self.sequence(&sub.body).0;
            plans.push(if certain { plan } else { Plan::Maybe(Box::new(plan)) });
        }
        plans
    }
}

impl Plan {
    /// Whether the commands that were seen are exactly these, in this order.
    pub fn fits(&self, seen: &[Vec<String>]) -> bool {
        self.ends(seen, BTreeSet::from([0])).contains(&seen.len())
    }

    fn ends(&self, seen: &[Vec<String>], starts: BTreeSet<usize>) -> BTreeSet<usize> {
        match self {
            Plan::Command(words) => starts
                .into_iter()
                .filter(|at| seen.get(*at).is_some_and(|argv| could_be(words, argv)))
                .map(|at| at + 1)
                .collect(),
            Plan::All(plans) => plans.iter().fold(starts, |starts, plan| plan.ends(seen, starts)),
            Plan::Maybe(plan) => starts.iter().copied().chain(plan.ends(seen, starts.clone())).collect(),
            Plan::Many(plan) => {
                let mut all = starts;
                loop {
                    let next: BTreeSet<usize> = all.iter().copied().chain(plan.ends(seen, all.clone())).collect();
                    if next.len() == all.len() {
                        return all;
                    }
                    all = next;
                }
            }
        }
    }

    /// Every command in it.
    pub fn commands<'p>(&'p self, found: &mut Vec<&'p Words>) {
        match self {
            Plan::Command(words) => found.push(words),
            Plan::All(plans) => plans.iter().for_each(|plan| plan.commands(found)),
            Plan::Maybe(plan) | Plan::Many(plan) => plan.commands(found),
        }
    }

    /// The commands that must run.
    pub fn certain<'p>(&'p self, found: &mut Vec<&'p Words>) {
        match self {
            Plan::Command(words) => found.push(words),
            Plan::All(plans) => plans.iter().for_each(|plan| plan.certain(found)),
            Plan::Maybe(_) | Plan::Many(_) => {}
        }
    }
}

/// A word that is not certain may have become any number of words, so the rest is looked for at every place.
pub fn could_be(words: &[Option<String>], argv: &[String]) -> bool {
    match words {
        [] => argv.is_empty(),
        [Some(text), rest @ ..] => argv.first() == Some(text) && could_be(rest, &argv[1..]),
        [None, rest @ ..] => (0..=argv.len()).any(|taken| could_be(rest, &argv[taken..])),
    }
}
