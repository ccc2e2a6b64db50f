//! Which record belongs to a `cordon run`, told from its words and variables alone. Mirror of `core/config/run_key.ts`; the
//! tests of both read `test/plans/run_keys.json`. Without heap, and without a word on failure: `None` is the slow way, which
//! gives every start its due.
#![cfg_attr(not(test), no_std)]

mod engine_options;
mod text;
mod variables;

pub use engine_options::{AT_NULL, add_variables, engine_options};
pub use text::Text;
pub use variables::Variables;

/// What the key is made of, beside the variables. `flags` are the words before the command.
pub struct Place<'a> {
    /// Tells this executable from any other.
    pub build: &'a [u8],
    /// Names of the variables whose values planning reads.
    pub read: &'a [u8],
    /// The working folder.
    pub cwd: &'a [u8],
}

/// The number of words of `cordon run` before its command; `None` where flags must be read to know, or there is no command.
pub fn words_before_command<'a>(words: impl Iterator<Item = &'a [u8]>) -> Option<usize> {
    let mut words = words.enumerate();
    let (at, word) = words.find(|(_, word)| !word.starts_with(b"-") || matches!(*word, b"-" | b"--"))?;
    let (at, command) = if word == b"--" { words.next()? } else { (at, word) };
    (!command.is_empty()).then_some(at)
}

/// Writes the key: everything that must be the same for a plan to hold again, joined by NUL.
pub fn write_key<'a>(
    key: &mut Text<'_>,
    place: &Place<'a>,
    flags: impl ExactSizeIterator<Item = &'a [u8]>,
    variables: &Variables<'_>,
) -> Option<()> {
    key.push(place.build)?;
    key.push(b"\0")?;
    key.push_number(flags.len() as u64)?;
    for part in flags.chain([place.cwd]) {
        key.push(b"\0")?;
        key.push(part)?;
    }
    for name in place.read.split(|byte| *byte == 0) {
        match variables.get(name) {
            None => key.push(b"\0-")?,
            Some(value) => {
                key.push(b"\0=")?;
                key.push(value)?;
            }
        }
    }
    for name in variables.names() {
        key.push(b"\0")?;
        key.push(name)?;
    }
    // A key is one line of its record.
    (!key.as_bytes().contains(&b'\n')).then_some(())
}

/// The number that a record's file is named by: CRC-32 of its key (ISO 3309).
pub fn record_name(key: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0xedb8_8320;
    let rest = key.iter().fold(u32::MAX, |rest, byte| {
        (0..8).fold(rest ^ u32::from(*byte), |rest, _| (rest >> 1) ^ if rest & 1 == 1 { POLYNOMIAL } else { 0 })
    });
    !rest
}

/// Writes the path of the folder that holds the plans and the launcher.
pub fn write_state_folder(path: &mut Text<'_>, variables: &Variables<'_>, uid: u32) -> Option<()> {
    let absolute = |name: &[u8]| variables.get(name).filter(|value| value.starts_with(b"/"));
    let home = absolute(b"HOME")?;
    if let Some(own) = absolute(b"CORDON_STATE_DIR") {
        return path.push(own);
    }
    if variables.get(b"CORDON_SANDBOX") == Some(b"1") {
        path.push(variables.get(b"TMPDIR").unwrap_or(b"/tmp"))?;
        path.push(b"/.cordon-")?;
        return path.push_number(uid.into());
    }
    match absolute(b"XDG_STATE_HOME") {
        Some(folder) => path.push(folder)?,
        None => {
            path.push(home)?;
            path.push(b"/.local/state")?;
        }
    }
    path.push(b"/cordon")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Golden {
        build: String,
        read: Vec<String>,
        cases: Vec<Case>,
    }

    /// What TypeScript makes of a start; nothing where it leaves the quick way.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Case {
        words: Vec<String>,
        cwd: String,
        uid: u32,
        env: BTreeMap<String, String>,
        state: Option<String>,
        flags: Option<usize>,
        key: Option<String>,
        name: Option<String>,
    }

    fn made(case: &Case, golden: &Golden) -> (Option<String>, Option<usize>, Option<String>, Option<String>) {
        let entries: Vec<Vec<u8>> =
            case.env.iter().rev().map(|(name, value)| format!("{name}={value}").into_bytes()).collect();
        let mut slots = [b"".as_slice(); 64];
        let variables = Variables::sort(entries.iter().map(Vec::as_slice), &mut slots).expect("no odd variables");
        let (mut space, mut other) = ([0; 4096], [0; 4096]);
        let mut state = Text::new(&mut space);
        let state = write_state_folder(&mut state, &variables, case.uid)
            .map(|()| String::from_utf8_lossy(state.as_bytes()).into());
        let flags = words_before_command(case.words.iter().map(String::as_bytes));
        let read = golden.read.join("\0");
        let place = Place { build: golden.build.as_bytes(), read: read.as_bytes(), cwd: case.cwd.as_bytes() };
        let mut key = Text::new(&mut other);
        let words = case.words.get(..flags.unwrap_or(0)).expect("flags are words");
        let written = write_key(&mut key, &place, words.iter().map(String::as_bytes), &variables);
        let key = flags.and(written).map(|()| key.as_bytes());
        let name = key.map(|key| record_name(key).to_string());
        (state, flags, key.map(|key| String::from_utf8_lossy(key).into()), name)
    }

    #[test]
    fn each_start_has_the_key_and_the_folder_that_cordon_gives_it() {
        let golden: Golden = serde_json::from_str(include_str!("../../../test/plans/run_keys.json")).expect("JSON");
        assert!(golden.cases.len() >= 12);
        for case in &golden.cases {
            let wanted = (case.state.clone(), case.flags, case.key.clone(), case.name.clone());
            assert_eq!(made(case, &golden), wanted, "{:?} {:?}", case.words, case.env);
        }
    }
}
