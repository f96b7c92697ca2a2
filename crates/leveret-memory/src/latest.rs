//! Several words that belong together, within one process: whoever reads them sees all of one store, and neither side waits
//! for the other or begins again.
//!
//! ```text
//!  current:  copy 2 | 1 load begun        store: fill a copy that nobody reads, then put it in use
//!                |                        load:  begin at the copy in use, read it, say that this load has ended
//!                v
//!  copies    [ 0 ]   [ 1 ]   [ 2 ]   [ 3 ] ...
//!   begun      3       5       -       0       counted when the copy goes out of use
//!   ended      3       4       0       0       equal: nobody reads it
//! ```
//!
//! One exchange takes a copy out of use and says how many loads have begun at it, so none is missed: a copy is filled again when as
//! many have ended. A load that stalls keeps its copy alone from being filled. (The structure is that of Ianni, Pellegrini
//! and Quaglia, 2017.)

use crate::sync::{AtomicU64, Ordering};

/// One is in use, one can be filled, and the others are for loads that stall in the middle, each at another store's words.
const COPIES: usize = if cfg!(loom) { 3 } else { 8 };
/// Above these bits of the word that says so is the copy in use; at a load each ten nanoseconds they last for twenty years.
const COUNT_BITS: u32 = 56;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;

/// The latest of values of `N` words.
pub struct Latest<const N: usize> {
    /// Which copy is in use, above how many loads have begun at it since it is.
    current: AtomicU64,
    copies: [Value<N>; COPIES],
}

struct Value<const N: usize> {
    words: [AtomicU64; N],
    /// Loads that have begun here until it last went out of use; known to who stores.
    begun: AtomicU64,
    /// Loads that have ended here.
    ended: AtomicU64,
}

impl<const N: usize> Latest<N> {
    /// With a first value.
    pub fn new(words: [u64; N]) -> Self {
        let copy = |_| Value {
            words: words.map(AtomicU64::new),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
        };
        Self { current: AtomicU64::new(0), copies: std::array::from_fn(copy) }
    }

    /// Stores a value, and says whether there was a copy for it: always, unless [`Latest::STALLED_MAX`] loads stall at the words
    /// of as many earlier stores. Then the value before stays. Stores must come one after the other: a lock or an owner sees to that.
    pub fn store(&self, words: [u64; N]) -> bool {
        let current = self.in_use();
        // Two looks at each copy at most; the second, rarely, misses no load that has ended.
        let mut others = (current + 1..COPIES).chain(0..current);
        let free = others.clone().find(|copy| self.copies[*copy].is_free());
        let Some(free) = free.or_else(|| others.find(|copy| self.copies[*copy].is_surely_free())) else {
            return false;
        };
        for (place, word) in self.copies[free].words.iter().zip(words) {
            place.store(word, Ordering::Relaxed);
        }
        // Release: whoever begins at the copy sees its words.
        let begun = self.current.swap((free as u64) << COUNT_BITS, Ordering::AcqRel) & COUNT_MASK;
        let counted = &self.copies[current].begun;
        counted.store(counted.load(Ordering::Relaxed).wrapping_add(begun), Ordering::Relaxed);
        true
    }

    /// So many loads may stall in the middle, and every store finds a copy all the same.
    pub const STALLED_MAX: usize = COPIES - 2;

    /// The latest value. As many steps whatever is stored meanwhile.
    #[inline]
    pub fn load(&self) -> [u64; N] {
        // Acquire: the words are those of the store that put the copy in use, or of a later one that never was.
        let begun = self.current.fetch_add(1, Ordering::Acquire);
        let copy = &self.copies[(begun >> COUNT_BITS) as usize];
        let words = std::array::from_fn(|word| copy.words[word].load(Ordering::Relaxed));
        // Release: the loads above happen before the copy is filled again.
        copy.ended.fetch_add(1, Ordering::Release);
        words
    }

    /// What was stored last, for who stores: nobody else changes it.
    pub fn stored(&self) -> [u64; N] {
        let copy = &self.copies[self.in_use()];
        std::array::from_fn(|word| copy.words[word].load(Ordering::Relaxed))
    }

    /// Only a store changes it.
    fn in_use(&self) -> usize {
        (self.current.load(Ordering::Relaxed) >> COUNT_BITS) as usize
    }
}

impl<const N: usize> Value<N> {
    /// Whether nobody reads it; of a copy that is not in use. A load that has just ended may still count as one that has not.
    fn is_free(&self) -> bool {
        self.ended.load(Ordering::Acquire) == self.begun.load(Ordering::Relaxed)
    }

    /// As [`Value::is_free`], of this very moment: an exchange meets the newest value.
    fn is_surely_free(&self) -> bool {
        self.ended.fetch_add(0, Ordering::Acquire) == self.begun.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_latest_value_is_loaded() {
        let latest = Latest::new([1, 2, 3]);
        assert_eq!(latest.load(), [1, 2, 3]);
        for round in 0..50 {
            assert!(latest.store([round; 3]));
            assert_eq!((latest.load(), latest.stored()), ([round; 3], [round; 3]));
        }
    }

    #[test]
    fn as_many_loads_as_it_says_may_stall() {
        let latest = Latest::new([0]);
        // A load that begins and goes no further.
        let stall = || latest.current.fetch_add(1, Ordering::Acquire) >> COUNT_BITS;
        let mut stalled = Vec::new();
        for round in 1..=Latest::<1>::STALLED_MAX as u64 {
            stalled.push((stall() as usize, round - 1));
            assert!(latest.store([round]));
        }
        for round in 10..30 {
            assert!(latest.store([round]));
            assert_eq!(latest.load(), [round]);
            for (copy, value) in &stalled {
                assert_eq!(latest.copies[*copy].words[0].load(Ordering::Relaxed), *value);
            }
        }
        stalled.push((stall() as usize, 29));
        assert!(latest.store([30]) && !latest.store([31]), "one more than it says");
        assert_eq!((latest.load(), latest.stored()), ([30], [30]));
        for (copy, _) in stalled {
            latest.copies[copy].ended.fetch_add(1, Ordering::Release);
            assert!(latest.store([40]));
        }
        assert_eq!(latest.load(), [40]);
    }
}
