//! The entries of a folder as getdents64(2) gives them: `struct linux_dirent64`, one after the other.

use memchr::memchr;

/// A folder (readdir(3)).
pub const DT_DIR: u8 = 4;
/// A regular file.
pub const DT_REG: u8 = 8;
/// The file system does not say.
const DT_UNKNOWN: u8 = 0;

/// Bytes before the name: inode, offset, length of the record, type.
const HEAD_BYTES: usize = 19;
const LENGTH_AT: usize = 16;
const TYPE_AT: usize = 18;

/// One entry; `.` and `..` are none.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its name's bytes.
    pub name: &'a [u8],
    /// Where the name starts in the raw bytes.
    pub at: usize,
    /// What it is, in the numbers of readdir(3).
    pub kind: u8,
}

/// What a walk must know of a folder before it judges its entries, a bit each.
const RGIGNORE: u32 = 1;
const IGNORE: u32 = 2;
const GITIGNORE: u32 = 4;
const GIT_FOLDER: u32 = 8;
const GIT_FILE: u32 = 16;
const JJ: u32 = 32;
/// The bit for an entry whose type the file system does not say.
pub const UNKNOWN: u32 = 64;

impl Entry<'_> {
    /// The bit for an entry that a walk must know of; 0 for all others.
    #[must_use]
    pub fn stands_out(&self) -> u32 {
        match self.name {
            _ if self.kind == DT_UNKNOWN => UNKNOWN,
            [first, ..] if *first != b'.' => 0,
            b".rgignore" => RGIGNORE,
            b".ignore" => IGNORE,
            b".gitignore" => GITIGNORE,
            b".git" if self.kind == DT_DIR => GIT_FOLDER,
            b".git" => GIT_FILE,
            b".jj" => JJ,
            _ => 0,
        }
    }
}

/// The entries in raw bytes. Ends where they do, or where they make no sense.
pub fn entries(raw: &[u8]) -> impl Iterator<Item = Entry<'_>> {
    let mut at = 0;
    core::iter::from_fn(move || {
        let record = raw.get(at..)?;
        let length = usize::from(u16::from_le_bytes(*record.get(LENGTH_AT..)?.first_chunk()?));
        let (kind, name) = (*record.get(TYPE_AT)?, record.get(HEAD_BYTES..length)?);
        let name = &name[..memchr(0, name).unwrap_or(name.len())];
        let start = at + HEAD_BYTES;
        at += length;
        Some(Entry { name, at: start, kind })
    })
    .filter(|entry| !matches!(entry.name, [b'.'] | [b'.', b'.']))
}

/// Hands each entry's name, with the NUL byte after it, and its type out to be changed.
pub fn entries_mut(raw: &mut [u8], bytes: usize, mut change: impl FnMut(&[u8], &mut u8)) {
    let places: Vec<(usize, usize)> =
        entries(&raw[..bytes.min(raw.len())]).map(|entry| (entry.at, entry.name.len())).collect();
    for (at, len) in places {
        let mut kind = raw[at - HEAD_BYTES + TYPE_AT];
        change(&raw[at..=at + len], &mut kind);
        raw[at - HEAD_BYTES + TYPE_AT] = kind;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// One raw entry: `d` is a folder, `f` a file, `l` a link, `?` unknown, anything else a FIFO.
    pub(crate) fn pack(kind: u8, name: &[u8]) -> Vec<u8> {
        let length = (HEAD_BYTES + name.len() + 1).next_multiple_of(8);
        let mut raw = vec![0; length];
        raw[LENGTH_AT..TYPE_AT].copy_from_slice(&u16::try_from(length).unwrap().to_le_bytes());
        raw[TYPE_AT] = match kind {
            b'd' => DT_DIR,
            b'f' => DT_REG,
            b'l' => 10,
            b'?' => DT_UNKNOWN,
            _ => 1,
        };
        raw[HEAD_BYTES..HEAD_BYTES + name.len()].copy_from_slice(name);
        raw
    }

    #[test]
    fn entries_are_read_one_after_the_other() {
        let raw = [pack(b'd', b"."), pack(b'f', b"a name"), pack(b'd', b"\xFF")].concat();
        let read: Vec<_> = entries(&raw).map(|entry| (entry.name.to_vec(), entry.kind)).collect();
        assert_eq!(read, [(b"a name".to_vec(), DT_REG), (b"\xFF".to_vec(), DT_DIR)]);
        assert!(entries(&raw).all(|entry| raw[entry.at..].starts_with(entry.name)));
    }

    #[test]
    fn bytes_that_make_no_sense_end_the_list() {
        assert_eq!(entries(&[0; 40]).count(), 0);
        assert_eq!(entries(&pack(b'f', b"abc")[..20]).count(), 0);
        assert_eq!(entries(&[]).count(), 0);
    }

    #[test]
    fn what_a_walk_must_know_of_stands_out() {
        let raw = [pack(b'f', b".gitignore"), pack(b'f', b".git"), pack(b'f', b"x")].concat();
        assert_eq!(entries(&raw).fold(0, |bits, entry| bits | entry.stands_out()), GITIGNORE | GIT_FILE);
        assert_eq!(entries(&pack(b'?', b".git")).map(|entry| entry.stands_out()).sum::<u32>(), UNKNOWN);
    }
}
