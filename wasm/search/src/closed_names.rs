//! Names of files that hold secrets: a search leaves them out wherever they are.

use crate::byte_set::ByteSet;

/// Exact names and beginnings, with the endings of samples, which hold no secret.
#[derive(Debug, Default)]
pub struct ClosedNames {
    exact: Vec<Box<[u8]>>,
    beginnings: Vec<Box<[u8]>>,
    samples: Vec<Box<[u8]>>,
    /// What they begin with: most names of a tree begin otherwise.
    firsts: ByteSet,
}

impl ClosedNames {
    /// `x.*` in `names` stands for all names that start with `x.`.
    #[must_use]
    pub fn new(names: &[String], sample_endings: &[String]) -> Self {
        let mut closed = Self::default();
        for name in names {
            match name.trim_end_matches('*').bytes().next() {
                Some(first) => closed.firsts.add(first),
                // `*` alone closes every name.
                None => (0..=u8::MAX).for_each(|byte| closed.firsts.add(byte)),
            }
            match name.strip_suffix('*') {
                Some(beginning) => closed.beginnings.push(beginning.as_bytes().into()),
                None => closed.exact.push(name.as_bytes().into()),
            }
        }
        closed.samples = sample_endings.iter().map(|ending| ending.as_bytes().into()).collect();
        closed
    }

    /// True for a closed name that is no sample.
    #[must_use]
    pub fn holds(&self, name: &[u8]) -> bool {
        if !name.first().is_some_and(|first| self.firsts.has(*first)) {
            return false;
        }
        let named = self.exact.iter().any(|exact| **exact == *name)
            || self.beginnings.iter().any(|beginning| name.starts_with(beginning));
        named && !self.is_sample(name)
    }

    fn is_sample(&self, name: &[u8]) -> bool {
        let ending = name.rsplit(|byte| *byte == b'.').next().unwrap_or(name);
        self.samples.iter().any(|sample| sample.eq_ignore_ascii_case(ending))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_alone_closes_every_name() {
        assert!(ClosedNames::new(&["*".into()], &[]).holds(b"any"));
        assert!(!ClosedNames::new(&["a".into()], &[]).holds(b"any"));
    }

    #[test]
    fn a_closed_name_is_held_and_its_samples_are_not() {
        let closed = ClosedNames::new(&[".env".into(), ".env.*".into()], &["sample".into()]);
        for (name, held) in [
            (".env", true),
            (".env.local", true),
            (".env.sample", false),
            (".env.SAMPLE", false),
            (".envrc", false),
            ("x.env", false),
        ] {
            assert_eq!(closed.holds(name.as_bytes()), held, "{name}");
        }
    }
}
