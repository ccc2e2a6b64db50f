//! Globs that look at nothing but how a name begins and ends: `*.h`, `**/*.{ts,tsx}`, `Makefile`. The real matcher needs a path for each
//! file and tells what kind of glob it has to do with each time.

/// The alternatives of one glob.
#[derive(Debug)]
pub struct NameGlob(Vec<Ends>);

#[derive(Debug)]
enum Ends {
    /// The whole name.
    Whole(Box<[u8]>),
    /// What stands before and after a star.
    Around(Box<[u8]>, Box<[u8]>),
}

/// What makes a glob another kind of glob; braces are looked at before.
const SPECIAL: [char; 8] = ['?', '[', ']', '{', '}', '\\', '/', ','];

impl NameGlob {
    /// Nothing if names alone don't tell.
    #[must_use]
    pub fn of(glob: &str) -> Option<Self> {
        // To the matcher the first two are no part of a pattern, and neither is white space at its end.
        if glob.starts_with(['!', '#']) || glob.ends_with(char::is_whitespace) {
            return None;
        }
        let glob = glob.strip_prefix("**/").unwrap_or(glob);
        let alternatives = match glob.split_once('{') {
            None => vec![Ends::of(glob)?],
            Some((front, rest)) => {
                let (inner, back) = rest.split_once('}')?;
                let each =
                    inner.split(',').map(|one| if one.is_empty() { None } else { Some([front, one, back].concat()) });
                each.map(|one| one.and_then(|one| Ends::of(&one))).collect::<Option<_>>()?
            }
        };
        Some(Self(alternatives))
    }

    /// True if a file of this name matches.
    #[must_use]
    pub fn fits(&self, name: &[u8]) -> bool {
        self.0.iter().any(|ends| match ends {
            Ends::Whole(whole) => *name == **whole,
            Ends::Around(before, after) => {
                name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
            }
        })
    }
}

impl Ends {
    fn of(glob: &str) -> Option<Self> {
        if glob.is_empty() || glob.contains(SPECIAL) {
            return None;
        }
        let Some((before, after)) = glob.split_once('*') else { return Some(Self::Whole(glob.as_bytes().into())) };
        (!after.contains('*')).then(|| Self::Around(before.as_bytes().into(), after.as_bytes().into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ignore::overrides::OverrideBuilder;

    #[test]
    fn names_fit_as_the_matcher_says() {
        let pieces = [
            "*", "a", ".h", "{a,b}", "{.h,.ts}", "**/", "é", ".", "?", "[a]", "!", "#", " ", "/", "\\", "{a,}", "{",
            "}", ",",
        ];
        let names: [&[u8]; 18] = [
            b"a",
            b"b",
            b".h",
            b"a.h",
            b"a.ts",
            b"ah",
            b"aa",
            "é".as_bytes(),
            b"\xC3\xA9a",
            b"a\xA9",
            b"\xE2\xC3\xA9",
            b"#a",
            b"!a",
            b"a ",
            b"a,b",
            b"{a,b}",
            b"b.h",
            b"a..h",
        ];
        let mut known = 0;
        let globs = pieces.iter().flat_map(|one| pieces.iter().map(move |two| [*one, *two].concat()));
        let globs = globs.flat_map(|two| pieces.iter().map(move |three| [two.as_str(), three].concat()));
        for glob in globs.chain(pieces.map(str::to_owned)) {
            let mut builder = OverrideBuilder::new(".");
            let Some(ours) = NameGlob::of(&glob) else { continue };
            builder.add(&glob).unwrap();
            let matcher = builder.build().unwrap();
            known += 1;
            for name in names {
                for folder in ["", "s/", "a/b/"] {
                    let path = [folder, &String::from_utf8_lossy(name)].concat();
                    assert_eq!(ours.fits(name), !matcher.matched(&path, false).is_ignore(), "{glob} {path}");
                    assert!(!matcher.matched(&path, true).is_ignore(), "{glob}: folders are gone into");
                }
            }
        }
        assert!(known > 200, "{known}");
    }

    #[test]
    fn what_names_do_not_tell_is_left_to_the_matcher() {
        for glob in ["src/*.h", "/a", "a/", "a**b*", "[ab].h", "a?", "!*.h", "*.{a,{b,c}}", "{a", "a}", "*a*b", ""] {
            assert!(NameGlob::of(glob).is_none(), "{glob}");
        }
    }
}
