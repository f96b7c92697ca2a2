//! UNORDERED: a bit for each buffer.
//!
//! ```text
//!   word 0    63          32 31            0      word 1
//!            +--------------+---------------+    +--------------+---------------+
//!            | insertions   | buffers 31..0 |    | insertions   | buffers 63..32|   ...
//!            +--------------+---------------+    +--------------+---------------+
//! ```
//!
//! Insert sets the buffer's bit and counts the insertion, remove clears the lowest bit of a word that has one: one
//! exchange each, which fails only if another thread's succeeded on the same word. Nothing is ever half done. The bits are
//! the membership too, so nothing else is to be kept.
//!
//! Words are looked at one after the other, from the one last inserted into, so a buffer might come into a word behind and
//! leave one ahead. That the store was empty is said only after a second look at all words found them empty and without an
//! insertion since the first: then all were empty at the same instant, between the two.

use super::InsertError;
use super::line::Line;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

const BUFFERS_A_WORD: u32 = 32;
const BUFFERS_MASK: u64 = u32::MAX as u64;
const INSERTION: u64 = 1 << 32;

pub(super) struct Unordered {
    /// The word last inserted into, or one inserted into before: where to look first.
    recent: Line<AtomicU32>,
    words: Box<[AtomicU64]>,
}

impl Unordered {
    pub(super) fn new(capacity: u32) -> Self {
        let words = (0..capacity.div_ceil(BUFFERS_A_WORD)).map(|_| AtomicU64::new(0)).collect();
        Self { recent: Line(AtomicU32::new(0)), words }
    }

    #[inline]
    pub(super) fn insert(&self, index: u32) -> Result<(), InsertError> {
        let place = index / BUFFERS_A_WORD;
        let bit = 1 << (index % BUFFERS_A_WORD);
        let atom = &self.words[place as usize];
        let mut word = atom.load(Ordering::Relaxed);
        loop {
            if word & bit != 0 {
                return Err(InsertError::AlreadyIn { index });
            }
            let with = (word | bit).wrapping_add(INSERTION);
            match atom.compare_exchange(word, with, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => break,
                Err(other) => word = other,
            }
        }
        if self.words.len() > 1 && self.recent.load(Ordering::Relaxed) != place {
            self.recent.store(place, Ordering::Relaxed);
        }
        Ok(())
    }

    #[inline]
    pub(super) fn remove(&self) -> Option<u32> {
        if let [only] = &*self.words {
            return take_lowest(only).ok();
        }
        self.remove_from_any()
    }

    fn remove_from_any(&self) -> Option<u32> {
        let recent = self.recent.load(Ordering::Relaxed) as usize;
        let mut insertions_before = None;
        loop {
            // Each summand only grows, so equal sums mean equal summands.
            let mut insertions = 0_u64;
            let order = (recent..self.words.len()).chain(0..recent);
            for place in order {
                match take_lowest(&self.words[place]) {
                    Ok(bit) => return Some(place as u32 * BUFFERS_A_WORD + bit),
                    Err(count) => insertions = insertions.wrapping_add(u64::from(count)),
                }
            }
            if insertions_before == Some(insertions) {
                return None;
            }
            insertions_before = Some(insertions);
        }
    }

    /// Takes out this buffer, if it is in.
    #[inline]
    pub(super) fn remove_this(&self, index: u32) -> bool {
        let atom = &self.words[(index / BUFFERS_A_WORD) as usize];
        let bit = 1 << (index % BUFFERS_A_WORD);
        let mut word = atom.load(Ordering::Acquire);
        while word & bit != 0 {
            match atom.compare_exchange(word, word & !bit, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return true,
                Err(other) => word = other,
            }
        }
        false
    }

    pub(super) fn len_hint(&self) -> u32 {
        self.words.iter().map(|word| (word.load(Ordering::Relaxed) & BUFFERS_MASK).count_ones()).sum()
    }
}

/// Clears the lowest bit of a word and says which it was; or how many insertions the word has seen, when it has no bit.
#[inline]
fn take_lowest(atom: &AtomicU64) -> Result<u32, u32> {
    let mut word = atom.load(Ordering::Acquire);
    loop {
        if word & BUFFERS_MASK == 0 {
            return Err((word >> 32) as u32);
        }
        match atom.compare_exchange(word, word & (word - 1), Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return Ok(word.trailing_zeros()),
            Err(other) => word = other,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_count_of_insertions_wraps_without_touching_buffers() {
        let store = Unordered::new(2);
        store.words[0].store(!BUFFERS_MASK, Ordering::Relaxed);
        store.insert(1).expect("it is out");
        assert_eq!(store.words[0].load(Ordering::Relaxed), 2);
        assert_eq!((store.remove(), store.remove()), (Some(1), None));
    }

    #[test]
    fn a_named_buffer_leaves_once_and_no_other_with_it() {
        let store = Unordered::new(70);
        for index in [3, 33, 69] {
            store.insert(index).expect("it is out");
        }
        assert_eq!([3, 3, 4, 69].map(|index| store.remove_this(index)), [true, false, false, true]);
        assert_eq!((store.remove(), store.remove()), (Some(33), None));
    }

    #[test]
    fn the_word_inserted_into_last_is_looked_at_first() {
        let store = Unordered::new(100);
        store.insert(5).expect("it is out");
        store.insert(99).expect("it is out");
        assert_eq!((store.remove(), store.remove(), store.remove()), (Some(99), Some(5), None));
    }
}
