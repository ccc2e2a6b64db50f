//! The WebAssembly face of the crate: wit-bindgen's glue and nothing else.
#![allow(unsafe_code, missing_docs)]

use std::cell::RefCell;

use crate::rules::{Policy, to_json};

wit_bindgen::generate!({ world: "policy", path: "../wit/policy.wit" });

use exports::cordon::policy::rules::Guest as RulesGuest;
use exports::cordon::policy::shell::{Guest as ShellGuest, ParseError};

struct Component;

thread_local! {
    /// The compiled sets by number, and the last number given out.
    static SETS: RefCell<(Vec<(u32, Policy)>, u32)> = const { RefCell::new((Vec::new(), 0)) };
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
    fn compile(rules_json: String) -> Result<u32, String> {
        let policy = Policy::compile_json(&rules_json).map_err(|faults| to_json(&faults))?;
        Ok(SETS.with_borrow_mut(|(sets, last)| {
            *last += 1;
            sets.push((*last, policy));
            *last
        }))
    }

    fn decide(policy: u32, question_json: String) -> String {
        SETS.with_borrow(|(sets, _)| match sets.iter().find(|(set, _)| *set == policy) {
            Some((_, policy)) => policy.decide_json(&question_json),
            None => to_json(&Policy::unknown_set()),
        })
    }

    fn release(policy: u32) {
        SETS.with_borrow_mut(|(sets, _)| sets.retain(|(set, _)| *set != policy));
    }
}

export!(Component);
