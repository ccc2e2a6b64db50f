//! Matching of patterns against text that may be unknown in places.

/// A token of a pattern or of a text: a character, or one of the codes below.
pub(crate) type Token = u32;

/// In a text: something that is not known.
pub(crate) const UNKNOWN: Token = 0x11_0000;
/// In both: white space that was quoted, so it separates nothing.
pub(crate) const QUOTED_SPACE: Token = 0x11_0001;
/// In a pattern: anything.
pub(crate) const ANYTHING: Token = 0x11_0002;
/// In a pattern: anything without a slash.
pub(crate) const SEGMENT: Token = 0x11_0003;
/// In a pattern: one character that is no slash.
pub(crate) const ONE: Token = 0x11_0004;

/// In a text: something unknown in one name of a path, as a glob finds it.
pub(crate) const UNKNOWN_PART: Token = 0x11_0006;
/// In a text: the same at the beginning of a name, which is not hidden then (bash manual, "Filename Expansion").
pub(crate) const UNKNOWN_NAME: Token = 0x11_0007;
/// In a text: an unknown path below a folder, no name of which is hidden.
pub(crate) const UNKNOWN_VISIBLE: Token = 0x11_0008;

/// In a pattern: the next two tokens may be skipped.
const OPTIONAL: Token = 0x11_0005;
/// In a pattern: any number of whole folders, each with its slash.
pub(crate) const FOLDERS: [Token; 3] = [OPTIONAL, ANYTHING, SLASH];

/// What a match must prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Each value that the unknown parts can take matches, and quoted space is not a separator: for `allow`.
    Strict,
    /// Each value matches; quoted space may be a separator: for `deny` and `ask`.
    Certain,
    /// Some value matches.
    Possible,
}

const SLASH: Token = '/' as Token;
const SPACE: Token = ' ' as Token;

/// Text as tokens.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut made = Vec::with_capacity(text.len());
    made.extend(text.chars().map(Token::from));
    made
}

/// Whether the whole text matches, in time proportional to the product of the lengths.
pub(crate) fn matches(pattern: &[Token], text: &[Token], proof: Proof) -> bool {
    if pattern.len() < u128::BITS as usize { quickly(pattern, text, proof) } else { slowly(pattern, text, proof) }
}

/// The states as bits of one number.
fn quickly(pattern: &[Token], text: &[Token], proof: Proof) -> bool {
    let mut states = closed(pattern, 1);
    for token in text {
        let unknown = is_unknown(*token);
        let mut next = 0_u128;
        if unknown && proof == Proof::Possible {
            next = states;
            for index in states.trailing_zeros() as usize..pattern.len() {
                if next >> index & 1 == 1 && could_be(pattern, index, *token) {
                    next |= 1 << (index + 1);
                }
            }
        } else {
            let mut left = states & !(1 << pattern.len());
            while left != 0 {
                let index = left.trailing_zeros() as usize;
                left &= left - 1;
                let plain = *token != SLASH && !unknown;
                match pattern[index] {
                    ANYTHING => next |= 1 << index,
                    SEGMENT if plain => next |= 1 << index,
                    ONE if plain => next |= 1 << (index + 1),
                    SEGMENT | ONE => {}
                    wanted if same(wanted, *token, proof) => next |= 1 << (index + 1),
                    _ => {}
                }
            }
        }
        states = closed(pattern, next);
        if states == 0 {
            return false;
        }
    }
    states >> pattern.len() & 1 == 1
}

/// A wildcard may match nothing.
fn closed(pattern: &[Token], mut states: u128) -> u128 {
    let mut left = states & !(1 << pattern.len());
    while left != 0 {
        let index = left.trailing_zeros() as usize;
        left &= left - 1;
        let more = match pattern[index] {
            OPTIONAL => 1 << (index + 1) | 1 << (index + FOLDERS.len()),
            ANYTHING | SEGMENT => 1 << (index + 1),
            _ => continue,
        };
        left |= more & !states & !(1 << pattern.len());
        states |= more;
    }
    states
}

/// For patterns of any length.
fn slowly(pattern: &[Token], text: &[Token], proof: Proof) -> bool {
    let mut states = vec![false; pattern.len() + 1];
    states[0] = true;
    close(pattern, &mut states);
    let mut next = vec![false; pattern.len() + 1];
    for token in text {
        next.fill(false);
        if is_unknown(*token) && proof == Proof::Possible {
            next.copy_from_slice(&states);
            for index in 0..pattern.len() {
                next[index + 1] |= next[index] && could_be(pattern, index, *token);
            }
        } else {
            for (index, wanted) in pattern.iter().enumerate() {
                if !states[index] {
                    continue;
                }
                match *wanted {
                    ANYTHING => next[index] = true,
                    SEGMENT => next[index] |= *token != SLASH && !is_unknown(*token),
                    ONE => next[index + 1] |= *token != SLASH && !is_unknown(*token),
                    _ => next[index + 1] |= same(*wanted, *token, proof),
                }
            }
        }
        close(pattern, &mut next);
        std::mem::swap(&mut states, &mut next);
        if !states.contains(&true) {
            return false;
        }
    }
    states[pattern.len()]
}

pub(crate) fn is_unknown(token: Token) -> bool {
    matches!(token, UNKNOWN | UNKNOWN_PART | UNKNOWN_NAME | UNKNOWN_VISIBLE)
}

/// Whether some value of the unknown text has this token of the pattern in it.
fn could_be(pattern: &[Token], index: usize, unknown: Token) -> bool {
    let slash = pattern[index] == SLASH;
    let hides = pattern[index] == Token::from('.') && index > 0 && pattern[index - 1] == SLASH;
    match unknown {
        UNKNOWN_PART => !slash,
        UNKNOWN_NAME => !slash && !hides,
        UNKNOWN_VISIBLE => !hides,
        _ => true,
    }
}

/// A wildcard may match nothing.
fn close(pattern: &[Token], states: &mut [bool]) {
    for (index, wanted) in pattern.iter().enumerate() {
        if states[index] && matches!(*wanted, ANYTHING | SEGMENT | OPTIONAL) {
            states[index + 1] = true;
            if *wanted == OPTIONAL {
                states[index + FOLDERS.len()] = true;
            }
        }
    }
}

fn same(wanted: Token, token: Token, proof: Proof) -> bool {
    if is_unknown(token) {
        return false;
    }
    if proof == Proof::Strict {
        return wanted == token;
    }
    let plain = |token| if token == QUOTED_SPACE { SPACE } else { token };
    plain(wanted) == plain(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_part_is_covered_by_a_star_only() {
        let pattern = [tokens("rm "), vec![ANYTHING]].concat();
        let text = [tokens("rm "), vec![UNKNOWN]].concat();
        assert!(matches(&pattern, &text, Proof::Strict));
        let flags = tokens("rm -rf x");
        assert!(!matches(&flags, &text, Proof::Certain));
        assert!(matches(&flags, &text, Proof::Possible));
        assert!(!matches(&tokens("mv x"), &text, Proof::Possible));
    }

    #[test]
    fn quoted_space_separates_for_deny_and_not_for_allow() {
        let text = [tokens("git"), vec![QUOTED_SPACE], tokens("push")].concat();
        assert!(!matches(&tokens("git push"), &text, Proof::Strict));
        assert!(matches(&tokens("git push"), &text, Proof::Certain));
    }
}
