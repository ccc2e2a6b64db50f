//! Any text: no panic, steps in proportion to the length, every span inside the text.
#![no_main]

use cordon_policy::shell::parse_counting;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    let (result, steps) = parse_counting(source);
    assert!(steps <= 16 * source.len() as u64 + 4_096, "{steps} steps for {} bytes", source.len());
    let span = match &result {
        Ok(script) => script.items.last().map_or([0, 0], |item| item.node.span()),
        Err(fault) => fault.span,
    };
    assert!(span[0] <= span[1] && span[1] as usize <= source.len(), "{span:?}");
});
