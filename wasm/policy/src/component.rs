//! The WebAssembly face of the crate: wit-bindgen's glue and nothing else.
#![allow(unsafe_code, missing_docs)]

use crate::rules::to_json;

wit_bindgen::generate!({ world: "policy", path: "../wit/policy.wit" });

use exports::cordon::policy::rules::{Guest as RulesGuest, GuestPolicy, Policy};
use exports::cordon::policy::shell::{Guest as ShellGuest, ParseError};

struct Component;

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
    type Policy = crate::rules::Policy;
}

impl GuestPolicy for crate::rules::Policy {
    fn compile(rules_json: String) -> Result<Policy, String> {
        crate::rules::Policy::compile_json(&rules_json).map(Policy::new).map_err(|faults| to_json(&faults))
    }

    fn decide(&self, question_json: String) -> String {
        self.decide_json(&question_json)
    }
}

export!(Component);
