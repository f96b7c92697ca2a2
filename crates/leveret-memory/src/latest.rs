//! Several words that belong together, within one process: whoever reads them sees all of one store, and waits for
//! nobody.
//!
//! ```text
//!  version v  ----->  copy v % 2: in use       store: fill the other copy, then move the version on to it
//!                     copy of the other        load:  read the copy in use, again if the version has moved meanwhile
//! ```

use crate::sync::{AtomicU64, Ordering, fence};

/// The latest of values of `N` words.
pub struct Latest<const N: usize> {
    version: AtomicU64,
    copies: [[AtomicU64; N]; 2],
}

impl<const N: usize> Latest<N> {
    /// With a first value.
    pub fn new(words: [u64; N]) -> Self {
        Self { version: AtomicU64::new(0), copies: [words.map(AtomicU64::new), words.map(AtomicU64::new)] }
    }

    /// Stores a value. Stores must come one after the other: a lock or an owner sees to that. Stored at once, their words
    /// would mix.
    pub fn store(&self, words: [u64; N]) {
        let version = self.version.load(Ordering::Relaxed) + 1;
        // Whoever sees a word stored below also sees the version that took its copy out of use.
        fence(Ordering::Release);
        for (place, word) in self.copies[(version % 2) as usize].iter().zip(words) {
            place.store(word, Ordering::Relaxed);
        }
        self.version.store(version, Ordering::Release);
    }

    /// The latest value. Reads again only if one was stored meanwhile, so at most once more for each store.
    #[inline]
    pub fn load(&self) -> [u64; N] {
        loop {
            let version = self.version.load(Ordering::Acquire);
            let copy = &self.copies[(version % 2) as usize];
            let words = std::array::from_fn(|word| copy[word].load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            if self.version.load(Ordering::Relaxed) == version {
                return words;
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_latest_value_is_loaded() {
        let latest = Latest::new([1, 2, 3]);
        assert_eq!(latest.load(), [1, 2, 3]);
        for round in 0..5 {
            latest.store([round; 3]);
            assert_eq!(latest.load(), [round; 3]);
        }
    }
}
