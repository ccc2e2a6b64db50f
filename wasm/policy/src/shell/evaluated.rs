//! The names in text that bash evaluates as arithmetic (bash manual, "Shell Arithmetic": the value of a variable is
//! evaluated as an expression in turn).

use super::ast::Evaluated;
use super::cursor::{Parser, is_name};

impl Parser<'_> {
    /// Notes what the source from `start` to `end` reads and sets when it is evaluated.
    pub(super) fn evaluates(&mut self, start: usize, end: usize) {
        self.facts.arithmetic = true;
        let seen = self.looked_through;
        if start >= end || start >= seen.0 && end <= seen.1 {
            return;
        }
        self.looked_through = (start, end);
        self.steps += (end - start) as u64;
        names(&self.src[start..end], &mut self.evaluated);
    }

    /// At what follows the name in `${name…}`: where evaluated text begins, if any does.
    pub(super) fn parameter_operator(&mut self, name: &str) -> Option<usize> {
        let whole = self.looking_at("[@]") || self.looking_at("[*]");
        // `${!x}` takes the value of x for a name, whose subscript is evaluated; `${!x*}` and `${!x[@]}` list names.
        if name.len() > 1 && name.starts_with('!') && !whole && !name.ends_with(['*', '@']) {
            self.facts.arithmetic = true;
            self.evaluated.open = true;
        }
        // An element of these two tells the shell what a name runs.
        let table = self.peek() == b'[' && matches!(name, "BASH_CMDS" | "BASH_ALIASES");
        if table || self.peek() == b'=' || self.looking_at(":=") {
            self.evaluated.given.push(name.to_string());
        }
        let (next, after) = if whole { (self.at(3), self.at(4)) } else { (self.peek(), self.at(1)) };
        let offset = next == b':' && !matches!(after, b'-' | b'+' | b'=' | b'?');
        (offset || next == b'[').then_some(self.pos + if whole { 3 } else { 0 })
    }
}

fn names(text: &[u8], found: &mut Evaluated) {
    let mut at = 0;
    while at < text.len() && !found.open {
        let length = name_length(&text[at..]);
        match text[at] {
            _ if length > 0 => {
                let name = String::from_utf8_lossy(&text[at..at + length]).into_owned();
                at += length;
                let next = at + text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                let sets = text.get(next) == Some(&b'=') && text.get(next + 1) != Some(&b'=');
                if sets { found.sets.push(name) } else { found.reads.push(name) }
            }
            // `0x1f`, `16#ff`.
            b'0'..=b'9' => {
                at += text[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'#').count();
            }
            b'$' => at += parameter(&text[at + 1..], found) + 1,
            b'`' | b'\\' => found.open = true,
            _ => at += 1,
        }
    }
}

/// After `$`: notes what it reads and returns its length.
fn parameter(text: &[u8], found: &mut Evaluated) -> usize {
    let length = name_length(text);
    let read = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    match text.first() {
        _ if length > 0 => {
            found.reads.push(read(&text[..length]));
            return length;
        }
        Some(b'#' | b'?' | b'$' | b'!') => return 1,
        // What is evaluated inside is text of the same kind.
        Some(b'[') => return 1,
        Some(b'(') if text.get(1) == Some(&b'(') => return 2,
        Some(b'{') => {
            let close = text.iter().position(|byte| *byte == b'}').unwrap_or(0);
            let inside = text.get(1..close).map(read).unwrap_or_default();
            let counted = inside.strip_prefix('#').map(|name| name.trim_end_matches("[@]").trim_end_matches("[*]"));
            if is_name(&inside) {
                found.reads.push(inside);
                return close + 1;
            }
            if counted.is_some_and(|name| name.is_empty() || is_name(name)) || inside == "?" {
                return close + 1;
            }
        }
        Some(b'"') | None => return 0,
        _ => {}
    }
    found.open = true;
    text.len()
}

fn name_length(text: &[u8]) -> usize {
    if text.first().is_none_or(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
}
