//! Brace expansion where all of it is certain: `{rm,f}` is two words.

/// Words that one word may become before it counts as not known.
const MAX_WORDS: usize = 64;

/// The words that `source` becomes; none if anything but plain text, braces and commas is in it. A sequence such as
/// `{1..3}` stays unknown.
pub(super) fn expand(source: &str) -> Option<Vec<String>> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-/.,{}:+@%".contains(&byte);
    if source.len() > 256 || !source.bytes().all(plain) || source.contains("..") {
        return None;
    }
    let mut words = Vec::new();
    alternatives(source, &mut words)?;
    // Nothing at all, not quoted, is no word.
    words.retain(|word| !word.is_empty());
    Some(words)
}

fn alternatives(text: &str, made: &mut Vec<String>) -> Option<()> {
    let Some((before, inside, after)) = first_group(text) else {
        made.push(text.to_string());
        return (made.len() <= MAX_WORDS).then_some(());
    };
    let mut rests = Vec::new();
    alternatives(after, &mut rests)?;
    for part in inside {
        let mut own = Vec::new();
        alternatives(part, &mut own)?;
        for (one, rest) in own.iter().flat_map(|one| rests.iter().map(move |rest| (one, rest))) {
            made.push(format!("{before}{one}{rest}"));
            if made.len() > MAX_WORDS {
                return None;
            }
        }
    }
    Some(())
}

/// The first braces with a comma between them: what stands before, the parts, and what stands behind.
fn first_group(text: &str) -> Option<(&str, Vec<&str>, &str)> {
    let bytes = text.as_bytes();
    for open in (0..bytes.len()).filter(|at| bytes[*at] == b'{') {
        let (mut depth, mut commas) = (0usize, Vec::new());
        for at in open..bytes.len() {
            match bytes[at] {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                b',' if depth == 1 => commas.push(at),
                _ => {}
            }
            if depth == 0 {
                if commas.is_empty() {
                    break;
                }
                let starts = std::iter::once(open + 1).chain(commas.iter().map(|comma| comma + 1));
                let ends = commas.iter().copied().chain(std::iter::once(at));
                let parts = starts.zip(ends).map(|(start, end)| &text[start..end]).collect();
                return Some((&text[..open], parts, &text[at + 1..]));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::expand;

    #[test]
    fn c14_braces_become_the_words_that_bash_makes_of_them() {
        let words = |source: &str| expand(source).map(|words| words.join(" "));
        assert_eq!(words("{rm,f}").as_deref(), Some("rm f"));
        assert_eq!(words("a{b,{c,d}e}f").as_deref(), Some("abf acef adef"));
        assert_eq!(words("{,rm}").as_deref(), Some("rm"));
        assert_eq!(words("{a}{b,c}").as_deref(), Some("{a}b {a}c"));
        assert_eq!(words("{{a,b}").as_deref(), Some("{a {b"));
        assert_eq!(words("{a,b}{1,2}").as_deref(), Some("a1 a2 b1 b2"));
        assert_eq!(words("{1..3}"), None);
        assert_eq!(words(&"{a,b}".repeat(7)), None);
    }
}
