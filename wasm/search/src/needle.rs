//! Looks for sequences of bytes, sixteen places at a time.
//!
//! One sequence is looked for by two of its bytes, the rarest, as `memchr` does it, but so that either case of a letter will do. So are
//! several that share a piece: `task` in any case of letters is four texts, since `s` and `k` have other forms of more bytes, and
//! `task_struct` eight, all with `truct`. Others are looked for by their first three bytes, as `aho-corasick`'s Teddy does it, which WebAssembly has no build of: each sequence
//! has one bit of eight, and two tables of sixteen entries say of each half of a byte which sequences may have it.
//!
//! What is not the loop of the day stays out of line here and in `scan`: the WebAssembly engine compiles a hot function whole, beside
//! the search, and in a search of half a second that was a tenth of all that two processors did.

use crate::byte_set::ByteSet;
use crate::lane::Lane;
use crate::literals::Sequence;
use memchr::arch::all::packedpair::Pair;

/// Bytes from the front of each sequence that the tables hold.
const TABLED: usize = 3;

/// A bit each.
const BUCKETS: usize = 8;

/// Lanes that are looked at before it is asked whether there was anything.
const LANES_AT_ONCE: usize = 4;

/// A shorter piece, of more sequences than this, is found too often, and asked about for too long.
const LEAST_SHARED: usize = 3;
const MOST_SHARING: usize = 8;

/// What is looked for.
#[derive(Clone, Debug)]
pub struct Needle {
    sequences: Vec<Sequence>,
    /// Where in each sequence the piece stands that all of them share; their starts if it is not looked for.
    shared_at: Vec<usize>,
    how: How,
}

#[derive(Clone, Debug)]
enum How {
    Pair(Probe, Probe),
    Tables(Vec<Table>),
}

/// A byte of a sequence: where in it, and what a byte of the text must be once some bits are left out.
#[derive(Clone, Copy, Debug)]
struct Probe {
    at: usize,
    keep: u8,
    wanted: u8,
}

impl Probe {
    fn is_exact(self) -> bool {
        self.keep == 0xFF
    }
}

/// For one place of the sequences: which of them may have a byte with this lower, and this upper half there.
#[derive(Clone, Debug, Default)]
struct Table {
    lower: [u8; 16],
    upper: [u8; 16],
}

impl Needle {
    /// Takes at least one sequence, none of them empty.
    #[must_use]
    pub fn new(sequences: Vec<Sequence>) -> Self {
        if let Some((shared_at, len)) = shared_piece(&sequences) {
            let piece = &sequences[0][shared_at[0]..shared_at[0] + len];
            if let Some((first, second)) = pair_of(piece) {
                return Self { sequences, shared_at, how: How::Pair(first, second) };
            }
        }
        let how = How::Tables(tables_of(&sequences));
        Self { shared_at: vec![0; sequences.len()], sequences, how }
    }

    /// The length of what is looked for, if that is one sequence.
    #[must_use]
    pub fn bytes_of_one(&self) -> Option<usize> {
        match self.sequences.as_slice() {
            [one] => Some(one.len()),
            _ => None,
        }
    }

    /// A place at or after `from` where a sequence stands: no other stands wholly before it.
    #[must_use]
    pub fn find(&self, text: &[u8], from: usize) -> Option<usize> {
        match &self.how {
            How::Pair(first, second) if first.is_exact() && second.is_exact() => {
                self.find_by_pair::<true>(text, from, *first, *second)
            }
            How::Pair(first, second) => self.find_by_pair::<false>(text, from, *first, *second),
            How::Tables(tables) => self.find_by_tables(text, from, tables),
        }
    }

    /// `EXACT`: no bits are left out, and so none are masked.
    #[inline(never)]
    fn find_by_pair<const EXACT: bool>(&self, text: &[u8], from: usize, first: Probe, second: Probe) -> Option<usize> {
        let (keeps, wanted) = (
            [Lane::splat(first.keep), Lane::splat(second.keep)],
            [Lane::splat(first.wanted), Lane::splat(second.wanted)],
        );
        let look = |one: &[u8; 16], other: &[u8; 16]| {
            let fits = |bytes: &[u8; 16], at: usize| {
                let lane = Lane::of(bytes);
                (if EXACT { lane } else { lane.and(keeps[at]) }).equal(wanted[at])
            };
            fits(one, 0).and(fits(other, 1))
        };
        let mut at = from;
        // Many lanes with one question at their end: most of a text has nothing.
        while let (Some(one), Some(other)) = (block(text, at + first.at), block(text, at + second.at)) {
            let looked: [Lane; LANES_AT_ONCE] = core::array::from_fn(|lane| look(part(one, lane), part(other, lane)));
            if looked[0].or(looked[1]).or(looked[2].or(looked[3])).any() {
                for (lane, found) in looked.into_iter().enumerate() {
                    if let Some(place) = self.first_fit(text, from, at + lane * Lane::BYTES, found.tops()) {
                        return Some(place);
                    }
                }
            }
            at += LANES_AT_ONCE * Lane::BYTES;
        }
        while let (Some(one), Some(other)) = (chunk(text, at + first.at), chunk(text, at + second.at)) {
            if let Some(place) = self.first_fit(text, from, at, look(one, other).tops()) {
                return Some(place);
            }
            at += Lane::BYTES;
        }
        let longest_way = self.shared_at.iter().max().map_or(0, |way| *way);
        self.find_slowly(text, at.saturating_sub(longest_way).max(from))
    }

    #[inline(never)]
    fn find_by_tables(&self, text: &[u8], from: usize, tables: &[Table]) -> Option<usize> {
        let low = Lane::splat(0x0F);
        let none = Lane::splat(0);
        let tables: Vec<(Lane, Lane)> =
            tables.iter().map(|table| (Lane::of(&table.lower), Lane::of(&table.upper))).collect();
        let mut at = from;
        while let Some(last) = chunk(text, at + tables.len() - 1) {
            let mut fits = Lane::splat(0xFF);
            for (place, (lower, upper)) in tables.iter().enumerate() {
                let bytes = Lane::of(chunk(text, at + place).unwrap_or(last));
                fits = fits.and(bytes.and(low).look_up(*lower)).and(bytes.upper_nibbles().look_up(*upper));
            }
            if fits.any() {
                let empty = fits.equal(none).tops();
                if let Some(place) = self.first_fit(text, from, at, !empty & 0xFFFF) {
                    return Some(place);
                }
            }
            at += Lane::BYTES;
        }
        self.find_slowly(text, at)
    }

    /// Of the places from `at` that the bits name, the first where the shared piece is in a sequence that starts at `from` or later.
    #[inline(never)]
    fn first_fit(&self, text: &[u8], from: usize, at: usize, mut bits: u32) -> Option<usize> {
        while bits != 0 {
            let place = at + bits.trailing_zeros() as usize;
            let starts = self.sequences.iter().zip(&self.shared_at);
            for (sequence, way) in starts {
                let start = place.wrapping_sub(*way);
                if start >= from && start <= place && stands(sequence, text, start) {
                    return Some(start);
                }
            }
            bits &= bits - 1;
        }
        None
    }

    #[inline(never)]
    fn find_slowly(&self, text: &[u8], from: usize) -> Option<usize> {
        (from..text.len()).find(|at| self.sequences.iter().any(|sequence| stands(sequence, text, *at)))
    }
}

fn stands(sequence: &Sequence, text: &[u8], at: usize) -> bool {
    let Some(rest) = text.get(at..) else { return false };
    sequence.len() <= rest.len() && sequence.iter().zip(rest).all(|(set, byte)| set.has(*byte))
}

/// The longest piece that all sequences have: where it stands in each, and its length.
fn shared_piece(sequences: &[Sequence]) -> Option<(Vec<usize>, usize)> {
    let (first, others) = sequences.split_first()?;
    if others.is_empty() {
        return Some((vec![0], first.len()));
    }
    if sequences.len() > MOST_SHARING {
        return None;
    }
    (LEAST_SHARED..=first.len()).rev().find_map(|len| {
        first.windows(len).enumerate().find_map(|(at, piece)| {
            let others = others.iter().map(|other| other.windows(len).position(|window| window == piece));
            core::iter::once(Some(at)).chain(others).collect::<Option<Vec<usize>>>().map(|places| (places, len))
        })
    })
}

fn block(text: &[u8], at: usize) -> Option<&[u8; LANES_AT_ONCE * Lane::BYTES]> {
    text.get(at..)?.first_chunk()
}

fn chunk(text: &[u8], at: usize) -> Option<&[u8; Lane::BYTES]> {
    text.get(at..)?.first_chunk()
}

fn part(block: &[u8; LANES_AT_ONCE * Lane::BYTES], lane: usize) -> &[u8; Lane::BYTES] {
    // There are as many parts as lanes.
    block[lane * Lane::BYTES..].first_chunk().unwrap_or(&[0; Lane::BYTES])
}

/// The two rarest bytes of a sequence that a mask and a comparison can tell.
fn pair_of(sequence: &[ByteSet]) -> Option<(Probe, Probe)> {
    let probes: Vec<Probe> = sequence.iter().enumerate().filter_map(|(at, set)| probe_of(at, set)).collect();
    // What is rare is known of texts as people write them, mostly in lower case.
    let text: Vec<u8> = probes.iter().map(|probe| sequence[probe.at].bytes().last().unwrap_or(0)).collect();
    let pair = Pair::new(&text)?;
    Some((*probes.get(usize::from(pair.index1()))?, *probes.get(usize::from(pair.index2()))?))
}

fn probe_of(at: usize, set: &ByteSet) -> Option<Probe> {
    let least = set.least();
    let differs = set.bytes().fold(0, |bits, byte| bits | (byte ^ least));
    let is_told = set.len() == 1 || (set.len() == 2 && differs.count_ones() == 1);
    is_told.then_some(Probe { at, keep: !differs, wanted: least & !differs })
}

fn tables_of(sequences: &[Sequence]) -> Vec<Table> {
    let places = sequences.iter().map(Vec::len).min().unwrap_or(1).min(TABLED);
    let mut tables = vec![Table::default(); places];
    for (number, sequence) in sequences.iter().enumerate() {
        let bit = 1 << (number % BUCKETS);
        for (table, set) in tables.iter_mut().zip(sequence) {
            for byte in set.bytes() {
                table.lower[usize::from(byte & 15)] |= bit;
                table.upper[usize::from(byte >> 4)] |= bit;
            }
        }
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Sequence {
        text.bytes().map(ByteSet::of).collect()
    }

    fn any_case(text: &str) -> Sequence {
        let set = |byte: u8| {
            let mut set = ByteSet::of(byte.to_ascii_lowercase());
            set.add(byte.to_ascii_uppercase());
            set
        };
        text.bytes().map(set).collect()
    }

    /// Numbers that look random, the same each time.
    fn noise(count: usize, of: usize) -> impl Iterator<Item = usize> {
        let mut state = 88_172_645_463_325_252_u64;
        (0..count).map(move |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 33).unwrap() % of
        })
    }

    #[test]
    fn each_place_is_found_wherever_it_is_in_a_lane() {
        for needle in [Needle::new(vec![any_case("Key")]), Needle::new(vec![plain("key"), plain("KEY")])] {
            for length in 6..200 {
                for at in [0, 1, length / 2, length - 3] {
                    let mut text = vec![b'-'; length];
                    text[at..at + 3].copy_from_slice(if at % 2 == 0 { b"key" } else { b"KEY" });
                    assert_eq!(needle.find(&text, 0), Some(at));
                    assert_eq!(needle.find(&text, at + 1), None);
                }
            }
        }
    }

    #[test]
    fn one_text_is_found_wherever_it_is_in_a_lane() {
        let needle = Needle::new(vec![plain("key")]);
        for length in 6..200 {
            for at in [0, 1, length / 2, length - 3] {
                let mut text = vec![b'k'; length];
                text[at..at + 3].copy_from_slice(b"key");
                assert_eq!(needle.find(&text, 0), Some(at));
                assert_eq!(needle.find(&text, at + 1), None);
            }
        }
    }

    #[test]
    fn texts_that_share_a_piece_are_looked_for_by_it() {
        let odd = [any_case("ta"), plain("\u{17F}"), any_case("k_struct")].concat();
        let sequences = vec![any_case("task_struct"), odd, any_case("x_struct")];
        let needle = Needle::new(sequences);
        assert!(matches!(needle.how, How::Pair(..)));
        for before in 0..140 {
            for text in ["TASK_Struct", "ta\u{17F}k_struct", "x_struct"] {
                let whole = format!("{}{text}{}", "struct ".repeat(before / 7) + &"-".repeat(before % 7), " struct ");
                assert_eq!(needle.find(whole.as_bytes(), 0), Some(before));
                assert_eq!(needle.find(whole.as_bytes(), before), Some(before));
                assert_eq!(needle.find(whole.as_bytes(), before + 1), None);
            }
        }
        assert!(matches!(Needle::new(vec![plain("abc"), plain("def")]).how, How::Tables(_)));
    }

    #[test]
    fn it_finds_what_a_plain_search_finds() {
        let mut numbers = noise(400_000, 1 << 20);
        let mut next = |of: usize| numbers.next().unwrap_or(0) % of;
        for _ in 0..2000 {
            let text: Vec<u8> = (0..next(300)).map(|_| b"abAB\n\xC3"[next(6)]).collect();
            let sequences: Vec<Sequence> = (0..=next(12))
                .map(|_| {
                    let letters: String = (0..2 + next(4)).map(|_| char::from(b"abAB"[next(4)])).collect();
                    if next(2) == 0 { plain(&letters) } else { any_case(&letters) }
                })
                .collect();
            let needle = Needle::new(sequences);
            let from = next(text.len() + 1);
            let line = |place: Option<usize>| place.map(|place| crate::lines::around(&text, place).start);
            assert_eq!(line(needle.find(&text, from)), line(needle.find_slowly(&text, from)));
        }
    }
}
