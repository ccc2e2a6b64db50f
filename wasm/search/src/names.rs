//! What a search for names gathers: the names as bytes, folder by folder, put in order and cut to a page once at the end.
//!
//! A folder's names come in order and next to each other, so the folder's path is kept once, and only folders have to be sorted.

use crate::report::Report;
use crate::visit::{FILE, Files, Folder, Stretch, end, note};
use core::cmp::Ordering;
use core::mem::take;
use memchr::memchr;

/// What stands with each name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gather {
    /// Nothing is gathered: the host is told of each file.
    #[default]
    Nothing,
    /// Only names.
    Names,
    /// The number of matches.
    Counts,
    /// When the file was changed, in milliseconds.
    Ages,
}

impl Gather {
    fn is_numbered(self) -> bool {
        matches!(self, Self::Counts | Self::Ages)
    }
}

/// Which part of the names is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// So many are left out first.
    pub offset: usize,
    /// At most so many; 0 is all.
    pub limit: usize,
    /// Paths below this folder, if it is not empty, are shown without it.
    pub base: &'a [u8],
    /// The last changed first, not by path.
    pub newest: bool,
}

/// What is shown: paths, each followed by `end`, and their numbers if names have any.
#[derive(Debug, Default)]
pub struct Page {
    /// The paths.
    pub bytes: Vec<u8>,
    /// Their numbers.
    pub numbers: Vec<f64>,
    /// How many there are.
    pub count: usize,
    /// How many were gathered.
    pub total: usize,
    /// A line end, or the NUL byte where a path has a line end in it.
    pub end: u8,
}

/// Names that were gathered, in blocks: three numbers of 32 bits, which are bytes of the path, bytes of the names and how many
/// they are, then the path of the folder, then each name with a NUL byte and, if there is one, its number of 64 bits.
#[derive(Debug, Default)]
pub struct Names {
    gather: Gather,
    bytes: Vec<u8>,
    /// The folder of the names that come next.
    folder: Vec<u8>,
    /// Where its block begins, once it has one.
    block: Option<usize>,
    page: Page,
    noted: Vec<i32>,
}

const HEAD_BYTES: usize = 12;
const NUMBER_BYTES: usize = 8;

#[derive(Clone, Copy)]
struct Block<'a> {
    path: &'a [u8],
    /// What of the path is shown.
    shown: &'a [u8],
    names: &'a [u8],
    count: usize,
}

impl Names {
    /// Forgets all names.
    pub fn start(&mut self, gather: Gather) {
        *self = Self { gather, bytes: take(&mut self.bytes), ..Self::default() };
        self.bytes.clear();
    }

    /// True if files that match are gathered here and not told of.
    #[must_use]
    pub fn gathers(&self) -> bool {
        self.gather != Gather::Nothing
    }

    /// Says which folder the next names are in.
    pub fn folder(&mut self, path: &[u8]) {
        self.block = None;
        self.folder.clear();
        self.folder.extend_from_slice(path);
    }

    /// Gathers the files of a choice until a stretch is over, and gives the entry to go on with.
    pub fn list(&mut self, files: &mut impl Files, folder: Folder<'_>, stretch: &mut Stretch) -> usize {
        let entries = folder.entries();
        let mut place = folder.from;
        while place < entries.len() && !stretch.is_over() {
            let [_, _, kind] = entries[place];
            if kind == FILE && folder.note(place) != note::LEFT_OUT {
                let mut changed = 0.0;
                if self.gather == Gather::Ages {
                    stretch.look();
                    changed = files.changed(folder.handle, folder.name_to_end(place));
                }
                // What is gone by now has no time.
                if !changed.is_nan() {
                    self.note(folder, place, 1);
                    self.add(folder.name(place), changed);
                }
            }
            place += 1;
        }
        place
    }

    /// Gathers the files that a visit of a folder tells of because they match. What is left is told of.
    pub fn gather_told(&mut self, folder: Folder<'_>, report: &mut Report) {
        report.each_told(|place, end| {
            if end != end::PART {
                self.note(folder, place, end);
            }
        });
        if self.gathers() {
            report.keep(|place, end| {
                if end > 0 {
                    self.add(folder.name(place), f64::from(end));
                }
                end <= 0
            });
        }
    }

    /// What was said of files that have a number in the index: pairs of the number and the end.
    #[must_use]
    pub fn noted(&self) -> &[i32] {
        &self.noted
    }

    fn note(&mut self, folder: Folder<'_>, place: usize, end: i32) {
        // Of a file that is not over the last word is still to come.
        if end != end::PART
            && let Some(number) = folder.number(place)
        {
            self.noted.extend([number, end]);
        }
    }

    fn add(&mut self, name: &[u8], number: f64) {
        let block = *self.block.get_or_insert_with(|| {
            let block = self.bytes.len();
            self.bytes.extend_from_slice(&number_of(self.folder.len()));
            self.bytes.extend_from_slice(&[0; HEAD_BYTES - 4]);
            self.bytes.extend_from_slice(&self.folder);
            block
        });
        let before = self.bytes.len();
        self.bytes.extend_from_slice(name);
        self.bytes.push(0);
        if self.gather.is_numbered() {
            self.bytes.extend_from_slice(&number.to_le_bytes());
        }
        let added = self.bytes.len() - before;
        let head = &mut self.bytes[block..];
        let (names, count) = (number_at(head, 4) + added, number_at(head, 8) + 1);
        head[4..8].copy_from_slice(&number_of(names));
        head[8..12].copy_from_slice(&number_of(count));
    }

    /// All that was gathered, for [`absorb`](Self::absorb) of another.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds what another gathered. The same was wanted of it.
    pub fn absorb(&mut self, bytes: &[u8]) {
        self.block = None;
        self.bytes.extend_from_slice(bytes);
    }

    /// Puts all names in order and takes a page of them.
    pub fn page(&mut self, wanted: Wanted<'_>) -> &Page {
        self.page = Page::default();
        let numbered = self.gather.is_numbered();
        if let Some(bytes) = without_twins(&self.bytes, numbered) {
            self.bytes = bytes;
        }
        let blocks = blocks(&self.bytes, wanted.base);
        self.page.total = blocks.iter().map(|block| block.count).sum();
        let end = if wanted.limit == 0 { usize::MAX } else { wanted.offset.saturating_add(wanted.limit) };
        let range = wanted.offset..end;
        if wanted.limit == 0 {
            // All at once, since what is copied to a larger place again and again is megabytes.
            let bytes = |block: &Block<'_>| (block.shown.len() + 1) * block.count + block.names.len();
            self.page.bytes.reserve(blocks.iter().map(bytes).sum());
        }
        if wanted.newest && numbered {
            by_age(&blocks, range, &mut self.page);
        } else {
            let mut place = 0;
            each(&blocks, numbered, |shown, name, number| {
                if range.contains(&place) {
                    self.page.push(shown, name);
                    if numbered {
                        self.page.numbers.push(number);
                    }
                }
                place += 1;
                place < range.end
            });
        }
        self.page.close();
        &self.page
    }
}

/// The blocks, in path order.
fn blocks<'a>(bytes: &'a [u8], base: &[u8]) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    let mut rest = bytes;
    while rest.len() >= HEAD_BYTES {
        let (path, names, count) = (number_at(rest, 0), number_at(rest, 4), number_at(rest, 8));
        let (block, after) = rest[HEAD_BYTES..].split_at(path + names);
        let (path, names) = block.split_at(path);
        blocks.push(Block { path, shown: shown_of(path, base), names, count });
        rest = after;
    }
    blocks.sort_unstable_by(|one, other| by_path(one.path, other.path));
    blocks
}

/// The same with one block for each folder. Nothing if that is how it is: of a folder in which only some files were searched anew, what is
/// known of the others is another block.
fn without_twins(bytes: &[u8], numbered: bool) -> Option<Vec<u8>> {
    let blocks = blocks(bytes, b"");
    if blocks.windows(2).all(|pair| pair[0].path != pair[1].path) {
        return None;
    }
    let mut merged = Vec::with_capacity(bytes.len());
    for twins in blocks.chunk_by(|one, other| one.path == other.path) {
        let mut names: Vec<(&[u8], &[u8])> = Vec::new();
        for Block { names: mut rest, .. } in twins.iter().copied() {
            while let Some(end) = memchr(0, rest) {
                let (record, after) = rest.split_at(end + 1 + if numbered { NUMBER_BYTES } else { 0 });
                names.push((&record[..end], record));
                rest = after;
            }
        }
        names.sort_unstable_by_key(|(name, _)| *name);
        merged.extend_from_slice(&number_of(twins[0].path.len()));
        merged.extend_from_slice(&number_of(names.iter().map(|(_, record)| record.len()).sum()));
        merged.extend_from_slice(&number_of(twins.iter().map(|block| block.count).sum()));
        merged.extend_from_slice(twins[0].path);
        names.iter().for_each(|(_, record)| merged.extend_from_slice(record));
    }
    Some(merged)
}

fn by_age(blocks: &[Block<'_>], range: core::ops::Range<usize>, page: &mut Page) {
    let mut all = Vec::with_capacity(page.total);
    each(blocks, true, |shown, name, number| {
        all.push((shown, name, number));
        true
    });
    // Stable: by path where times are equal.
    all.sort_by(|(.., one), (.., other)| other.total_cmp(one));
    for (shown, name, number) in all.iter().take(range.end).skip(range.start) {
        page.push(shown, name);
        page.numbers.push(*number);
    }
}

/// What of a folder's path is shown: what is below the base, or all of it.
fn shown_of<'a>(path: &'a [u8], base: &[u8]) -> &'a [u8] {
    match below(base, path) {
        _ if base.is_empty() => path,
        _ if path == base => &[],
        inner => inner.unwrap_or(path),
    }
}

impl Page {
    fn push(&mut self, shown: &[u8], name: &[u8]) {
        self.bytes.extend_from_slice(shown);
        if !shown.is_empty() && !shown.ends_with(b"/") {
            self.bytes.push(b'/');
        }
        self.bytes.extend_from_slice(name);
        self.bytes.push(0);
        self.count += 1;
    }

    fn close(&mut self) {
        if memchr(b'\n', &self.bytes).is_none() {
            self.end = b'\n';
            for byte in &mut self.bytes {
                *byte = if *byte == 0 { b'\n' } else { *byte };
            }
        }
    }
}

/// Hands out all names of sorted blocks in path order: a folder's content where its name stands. Until `take` gives false.
fn each<'a>(blocks: &[Block<'a>], numbered: bool, mut take: impl FnMut(&'a [u8], &'a [u8], f64) -> bool) {
    // The folders that the last block was in, each with the names that are still to come.
    let mut open: Vec<Block<'a>> = Vec::new();
    for block in blocks {
        while let Some(above) = open.last_mut() {
            let inner = below(above.path, block.path);
            let until = inner.map(|inner| memchr(b'/', inner).map_or(inner, |end| &inner[..end]));
            if !hand_out(above, until, numbered, &mut take) {
                return;
            }
            if inner.is_some() {
                break;
            }
            open.pop();
        }
        open.push(*block);
    }
    while let Some(mut above) = open.pop() {
        if !hand_out(&mut above, None, numbered, &mut take) {
            return;
        }
    }
}

/// Hands out the names of a block that come before `until`.
fn hand_out<'a>(
    block: &mut Block<'a>,
    until: Option<&[u8]>,
    numbered: bool,
    take: &mut impl FnMut(&'a [u8], &'a [u8], f64) -> bool,
) -> bool {
    while let Some(end) = memchr(0, block.names) {
        let (name, mut rest) = (&block.names[..end], &block.names[end + 1..]);
        if until.is_some_and(|until| name >= until) {
            return true;
        }
        let mut number = 0.0;
        if let Some((bytes, after)) = rest.split_first_chunk::<NUMBER_BYTES>().filter(|_| numbered) {
            (number, rest) = (f64::from_le_bytes(*bytes), after);
        }
        block.names = rest;
        if !take(block.shown, name, number) {
            return false;
        }
    }
    true
}

/// What of a path is below a folder.
fn below<'a>(folder: &[u8], path: &'a [u8]) -> Option<&'a [u8]> {
    let inner = path.strip_prefix(folder)?;
    // Only "/" itself ends with a slash.
    if folder.ends_with(b"/") { Some(inner) } else { inner.strip_prefix(b"/") }.filter(|inner| !inner.is_empty())
}

/// By the bytes of names, a slash before all.
fn by_path(one: &[u8], other: &[u8]) -> Ordering {
    let rank = |byte: u8| if byte == b'/' { 0 } else { u16::from(byte) + 1 };
    match one.iter().zip(other).find(|(one, other)| one != other) {
        Some((one, other)) => rank(*one).cmp(&rank(*other)),
        None => one.len().cmp(&other.len()),
    }
}

fn number_of(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes()
}

fn number_at(bytes: &[u8], at: usize) -> usize {
    bytes[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of one folder each, gathered as a search gathers them.
    fn gathered(gather: Gather, folders: &[(&str, &[(&str, f64)])]) -> Names {
        let mut names = Names::default();
        names.start(gather);
        for (path, files) in folders {
            names.folder(path.as_bytes());
            files.iter().for_each(|(name, number)| names.add(name.as_bytes(), *number));
        }
        names
    }

    fn shown(names: &mut Names, wanted: Wanted<'_>) -> Vec<String> {
        let page = names.page(wanted);
        let end = char::from(page.end);
        let text = String::from_utf8_lossy(&page.bytes).into_owned();
        assert_eq!(text.matches(end).count(), page.count);
        text.split_terminator(end).map(str::to_owned).collect()
    }

    #[test]
    fn names_of_a_folder_that_were_gathered_apart_come_in_order() {
        let apart = [("/r", &[("a", 1.0), ("d", 4.0)][..]), ("/r/b", &[("x", 9.0)]), ("/r", &[("c", 3.0)])];
        let mut names = gathered(Gather::Counts, &apart);
        // What is counted and not named: a block without names.
        names.absorb(&[2u32.to_le_bytes(), 0u32.to_le_bytes(), 5u32.to_le_bytes()].concat());
        names.bytes.extend_from_slice(b"/r");
        let page = names.page(Wanted::default());
        assert_eq!(
            (page.bytes.as_slice(), page.numbers.as_slice()),
            (&b"/r/a\n/r/b/x\n/r/c\n/r/d\n"[..], &[1.0, 9.0, 3.0, 4.0][..])
        );
        assert_eq!(page.total, 9);
    }

    #[test]
    fn a_folders_content_comes_where_its_name_stands_whoever_gathered_it() {
        let mut one = gathered(Gather::Names, &[("/r", &[("a.c", 0.0), ("b", 0.0)]), ("/r/a/x", &[("1", 0.0)])]);
        let other = gathered(Gather::Names, &[("/r/a-b", &[("2", 0.0)]), ("/r/a", &[("w", 0.0), ("y", 0.0)])]);
        one.absorb(other.bytes());
        let all = ["a/w", "a/x/1", "a/y", "a-b/2", "a.c", "b"];
        assert_eq!(shown(&mut one, Wanted { base: b"/r", ..Wanted::default() }), all);
        assert_eq!(shown(&mut one, Wanted { base: b"/r", offset: 1, limit: 3, newest: false }), all[1..4]);
        assert_eq!(one.page(Wanted { limit: 1, ..Wanted::default() }).total, 6);
    }

    #[test]
    fn only_what_is_below_the_base_is_shown_without_it() {
        let mut names =
            gathered(Gather::Names, &[("/r", &[("f", 0.0)]), ("/r/s", &[("f", 0.0)]), ("/r/s2", &[("f", 0.0)])]);
        assert_eq!(shown(&mut names, Wanted { base: b"/r/s", ..Wanted::default() }), ["/r/f", "f", "/r/s2/f"]);
        assert_eq!(shown(&mut names, Wanted { base: b"/", ..Wanted::default() }), ["r/f", "r/s/f", "r/s2/f"]);
        assert_eq!(shown(&mut names, Wanted::default()), ["/r/f", "/r/s/f", "/r/s2/f"]);
    }

    #[test]
    fn the_last_changed_come_first_and_those_of_one_time_by_path() {
        let mut names =
            gathered(Gather::Ages, &[("/r", &[("a", 1.0), ("b", 3.5), ("c", 1.0)]), ("/r/b2", &[("d", 1.0)])]);
        let newest = Wanted { base: b"/r", newest: true, ..Wanted::default() };
        assert_eq!(shown(&mut names, newest), ["b", "a", "b2/d", "c"]);
        assert_eq!(shown(&mut names, Wanted { offset: 1, limit: 2, ..newest }), ["a", "b2/d"]);
        assert_eq!(names.page(newest).numbers, [3.5, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn a_line_end_in_a_path_makes_nul_bytes_the_end_of_each() {
        let mut names = gathered(Gather::Names, &[("/r", &[("a\nb", 0.0), ("c", 0.0)])]);
        assert_eq!(names.page(Wanted::default()).bytes, b"/r/a\nb\0/r/c\0");
        assert_eq!(names.page(Wanted { offset: 1, ..Wanted::default() }).bytes, b"/r/c\n");
    }

    #[test]
    fn generated_trees_come_in_the_order_of_their_paths_parts() {
        let mut seed = 7_u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..300 {
            let mut files = std::collections::BTreeSet::new();
            for _ in 0..random(40) {
                let parts = (0..=random(4)).map(|_| ["a", "a-", "a.", "b", "\u{e9}", "a0"][random(6) as usize]);
                files.insert(parts.collect::<Vec<_>>().join("/") + ["f", ".", "z"][random(3) as usize]);
            }
            // A file can't have the name of a folder.
            let all = files.clone();
            files.retain(|file| !all.iter().any(|other| other.starts_with(&format!("{file}/"))));
            let mut folders = std::collections::BTreeMap::<String, Vec<&str>>::new();
            for file in &files {
                let (folder, name) = file
                    .rsplit_once('/')
                    .map_or(("/r".into(), file.as_str()), |(above, name)| (format!("/r/{above}"), name));
                folders.entry(folder).or_default().push(name);
            }
            let (mut names, mut other) = (gathered(Gather::Names, &[]), gathered(Gather::Names, &[]));
            for (folder, mut inner) in folders {
                inner.sort_unstable();
                let to = if random(2) == 0 { &mut names } else { &mut other };
                to.folder(folder.as_bytes());
                inner.iter().for_each(|name| to.add(name.as_bytes(), 0.0));
            }
            names.absorb(other.bytes());
            let mut expected: Vec<_> = files.iter().cloned().collect();
            expected.sort_by(|one, other| one.split('/').cmp(other.split('/')));
            assert_eq!(shown(&mut names, Wanted { base: b"/r", ..Wanted::default() }), expected);
        }
    }
}
