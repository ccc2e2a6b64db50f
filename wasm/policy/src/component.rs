//! The WebAssembly face of the crate: wit-bindgen's glue and nothing else.
#![allow(unsafe_code, missing_docs)]

use std::cell::RefCell;
use std::rc::Rc;

use crate::lines::Lines;
use crate::rules::types::RuleFault;
use crate::rules::{Policy, to_json};

wit_bindgen::generate!({ world: "policy", path: "../wit/policy.wit" });

use exports::cordon::policy::rules::Guest as RulesGuest;
use exports::cordon::policy::shell::{Guest as ShellGuest, ParseError};

struct Component;

/// Room that was grown for one huge question is given back with the next one.
const KEPT_BYTES: usize = 1 << 20;

/// What lasts between calls.
struct State {
    /// The compiled sets by number, ascending.
    sets: Vec<(u32, Rc<Policy>)>,
    last: u32,
    /// Sets that are compiled for good, by the digest of their rules.
    kept: Vec<(String, Rc<Policy>)>,
    /// Where the host puts what it asks.
    room: Vec<u8>,
    answer: Vec<u8>,
    lines: Lines,
}

thread_local! {
    static STATE: RefCell<State> = const {
        RefCell::new(State {
            sets: Vec::new(),
            last: 0,
            kept: Vec::new(),
            room: Vec::new(),
            answer: Vec::new(),
            lines: Lines::new(),
        })
    };
}

impl State {
    fn asked(&self, bytes: u32) -> &[u8] {
        self.room.get(..bytes as usize).unwrap_or_default()
    }
}

fn find(sets: &[(u32, Rc<Policy>)], policy: u32) -> Option<&Rc<Policy>> {
    sets.binary_search_by_key(&policy, |(number, _)| *number).ok().map(|place| &sets[place].1)
}

/// The fault of rules over a set that there is not.
fn unknown_set() -> RuleFault {
    let why = "The set of rules under these is not compiled".to_string();
    RuleFault { rule: String::new(), origin: String::new(), why }
}

fn small(buffer: &mut Vec<u8>) {
    buffer.clear();
    if buffer.capacity() > KEPT_BYTES {
        *buffer = Vec::new();
    }
}

impl ShellGuest for Component {
    fn parse(source: String) -> Result<String, ParseError> {
        crate::shell::parse(&source).map(|script| to_json(&script)).map_err(|fault| ParseError {
            code: fault.code.to_string(),
            message: fault.message,
            start: fault.span[0],
            end: fault.span[1],
        })
    }
}

impl RulesGuest for Component {
    fn compile(rules_json: String, under: Option<u32>) -> Result<u32, String> {
        STATE.with_borrow_mut(|state| {
            let under = match under {
                Some(number) => Some(find(&state.sets, number).cloned().ok_or_else(|| to_json(&[unknown_set()]))?),
                None => None,
            };
            let policy = Policy::compile_json_over(under, &rules_json).map_err(|faults| to_json(&faults))?;
            state.last += 1;
            state.sets.push((state.last, Rc::new(policy)));
            Ok(state.last)
        })
    }

    fn keep(digest: String, rules_json: String) -> Result<(), String> {
        let policy = Policy::compile_json(&rules_json).map_err(|faults| to_json(&faults))?;
        STATE.with_borrow_mut(|state| state.kept.push((digest, Rc::new(policy))));
        Ok(())
    }

    fn kept(digest: String) -> Option<u32> {
        STATE.with_borrow_mut(|state| {
            let (_, policy) = state.kept.iter().find(|(known, _)| *known == digest)?;
            let policy = policy.clone();
            state.last += 1;
            state.sets.push((state.last, policy));
            Some(state.last)
        })
    }

    fn reserve(bytes: u32) -> u32 {
        STATE.with_borrow_mut(|state| {
            small(&mut state.room);
            state.room.resize(bytes as usize, 0);
            state.room.as_ptr() as u32
        })
    }

    fn answer() -> u32 {
        STATE.with_borrow(|state| state.answer.as_ptr() as u32)
    }

    fn decide(policy: u32, bytes: u32) -> u32 {
        STATE.with_borrow_mut(|state| {
            small(&mut state.answer);
            let mut answer = std::mem::take(&mut state.answer);
            Policy::answer(find(&state.sets, policy).map(Rc::as_ref), state.asked(bytes), &mut answer);
            state.answer = answer;
            state.answer.len() as u32
        })
    }

    fn answer_lines(begin: u32, bytes: u32) -> u32 {
        STATE.with_borrow_mut(|state| {
            small(&mut state.answer);
            let (mut answer, mut lines) = (std::mem::take(&mut state.answer), std::mem::take(&mut state.lines));
            let policies = |policy| find(&state.sets, policy).map(Rc::as_ref);
            let stopped = lines.answer(policies, state.asked(bytes), begin as usize, &mut answer);
            (state.answer, state.lines) = (answer, lines);
            stopped as u32
        })
    }

    fn answered() -> u32 {
        STATE.with_borrow(|state| state.answer.len() as u32)
    }

    fn learn(policy: u32, bytes: u32, lasting: bool) {
        STATE.with_borrow_mut(|state| {
            let mut lines = std::mem::take(&mut state.lines);
            lines.learn(policy, state.asked(bytes), lasting);
            state.lines = lines;
        });
    }

    fn forget() {
        STATE.with_borrow_mut(|state| state.lines.forget());
    }

    fn release(policy: u32) {
        STATE.with_borrow_mut(|state| {
            state.sets.retain(|(set, _)| *set != policy);
            state.lines.release(policy);
        });
    }
}

export!(Component);
