//! What JavaScriptCore reads from the environment alone, and a search is cheaper with: two more variables for Bun.

use core::ffi::CStr;

/// The kind of the last pair of the auxiliary vector (getauxval(3)).
pub const AT_NULL: usize = 0;

/// Its value is 0 on Linux, and nobody reads it.
const AT_FLAGS: usize = 8;

/// A search of one process ends before the engine's best code pays, so WebAssembly's optimizing compiler is for the hottest loops
/// alone (`core/adr/0015-cold-searches.md`). It also ends before garbage is worth collecting, so that begins at 32 MiB in place of 8,
/// which the memories of the components reach by themselves (`core/adr/0019-start-of-searches.md`). `None` for every other start, and
/// where somebody has set options of the engine.
pub fn engine_options<'a>(verb: &[u8], mut variables: impl Iterator<Item = &'a [u8]>) -> Option<[&'static CStr; 2]> {
    (matches!(verb, b"grep" | b"glob") && !variables.any(|entry| entry.starts_with(b"BUN_JSC_")))
        .then_some([c"BUN_JSC_largeHeapSize=33554432", c"BUN_JSC_thresholdForOMGOptimizeAfterWarmUp=300000"])
}

/// Puts two variables behind those that a program has. `tail` is what the kernel laid behind them on its stack: a null and the
/// pairs of the auxiliary vector, without the last. The C library knows already where both begin, so the list can only grow at
/// its end, over the null and the first pair. That pair moves to the place of AT_FLAGS, and what is left in its own is of no kind
/// that getauxval(3) is asked for: an address. Where there is no such place, nothing is changed.
pub fn add_variables(tail: &mut [usize], [one, other]: [usize; 2]) -> Option<()> {
    let (end, pairs) = tail.split_first_mut()?;
    let (pairs, _) = pairs.as_chunks_mut::<2>();
    let first = *pairs.first()?;
    *pairs.iter_mut().find(|[kind, _]| *kind == AT_FLAGS)? = first;
    *end = one;
    *pairs.first_mut()? = [other, 0];
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDED: [usize; 2] = [0x7f00_0001, 0x7f00_0002];

    #[test]
    fn two_variables_stand_before_a_null_and_no_pair_that_is_read_is_lost() {
        let mut tail = [0, 33, 0xaaa, 6, 4096, AT_FLAGS, 0, 25, 0xbbb];
        assert_eq!(add_variables(&mut tail, ADDED), Some(()));
        assert_eq!(tail, [ADDED[0], ADDED[1], 0, 6, 4096, 33, 0xaaa, 25, 0xbbb]);
    }

    #[test]
    fn a_first_pair_that_nobody_reads_is_not_kept() {
        let mut tail = [0, AT_FLAGS, 0, 6, 4096];
        assert_eq!(add_variables(&mut tail, ADDED), Some(()));
        assert_eq!(tail, [ADDED[0], ADDED[1], 0, 6, 4096]);
    }

    #[test]
    fn nothing_changes_where_there_is_no_room() {
        for before in [vec![0], vec![0, 33, 0xaaa, 6, 4096]] {
            let mut tail = before.clone();
            assert_eq!(add_variables(&mut tail, ADDED), None);
            assert_eq!(tail, before);
        }
    }

    #[test]
    fn searches_alone_get_them_and_nobody_who_set_some() {
        let told = |verb: &str, variables: &[&str]| {
            engine_options(verb.as_bytes(), variables.iter().map(|entry| entry.as_bytes())).is_some()
        };
        assert!(told("grep", &["HOME=/home/ada", "BUN_INSTALL=/x"]) && told("glob", &[]));
        assert!(!told("serve", &[]) && !told("run", &[]) && !told("--version", &[]));
        assert!(!told("grep", &["HOME=/home/ada", "BUN_JSC_useJIT=1"]));
    }
}
