//! The variables of a start, by name.

/// Sorted by name, each name once.
pub struct Variables<'a> {
    entries: &'a [&'a [u8]],
}

impl<'a> Variables<'a> {
    /// Sorts entries of the form `NAME=value` into the slots. `None` where there are more than slots, where one has no name or
    /// stands twice, or where a name is not plain: it may sort elsewhere as JavaScript has it.
    pub fn sort(all: impl Iterator<Item = &'a [u8]>, slots: &'a mut [&'a [u8]]) -> Option<Variables<'a>> {
        let mut count = 0;
        for entry in all {
            let (name, _) = split(entry)?;
            let plain = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
            if name.is_empty() || !name.iter().all(plain) {
                return None;
            }
            *slots.get_mut(count)? = entry;
            count += 1;
        }
        let entries = slots.get_mut(..count)?;
        entries.sort_unstable_by_key(|entry| name_of(entry));
        let twice = entries.windows(2).any(|pair| matches!(pair, [one, other] if name_of(one) == name_of(other)));
        (!twice).then_some(Variables { entries })
    }

    /// The value of a variable.
    pub fn get(&self, name: &[u8]) -> Option<&'a [u8]> {
        let at = self.entries.binary_search_by_key(&name, |entry| name_of(entry)).ok()?;
        self.entries.get(at).and_then(|entry| split(entry)).map(|(_, value)| value)
    }

    /// All names in their order.
    pub fn names(&self) -> impl Iterator<Item = &'a [u8]> {
        self.entries.iter().map(|entry| name_of(entry))
    }
}

fn split(entry: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = entry.iter().position(|byte| *byte == b'=')?;
    Some((entry.get(..at)?, entry.get(at + 1..)?))
}

fn name_of(entry: &[u8]) -> &[u8] {
    split(entry).map_or(entry, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(entries: &[&str]) -> Option<Vec<String>> {
        let mut slots = [b"".as_slice(); 4];
        let found = Variables::sort(entries.iter().map(|entry| entry.as_bytes()), &mut slots)?;
        Some(found.names().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    #[test]
    fn names_are_sorted_and_values_found() {
        assert_eq!(sorted(&["B=1", "A_=2", "A=3", "a="]), Some(["A", "A_", "B", "a"].map(str::to_owned).to_vec()));
        let mut slots = [b"".as_slice(); 4];
        let found = Variables::sort([b"B=x=y".as_slice(), b"A="].into_iter(), &mut slots).expect("plain");
        assert_eq!(
            (found.get(b"B"), found.get(b"A"), found.get(b"C")),
            (Some(b"x=y".as_slice()), Some(b"".as_slice()), None)
        );
    }

    #[test]
    fn odd_ones_are_left_to_the_slow_way() {
        for odd in [&["A=1", "A=2"][..], &["A"], &["=x"], &["\u{e9}=1"], &["A\nB=1"], &["A=", "B=", "C=", "D=", "E="]] {
            assert_eq!(sorted(odd), None, "{odd:?}");
        }
    }
}
