//! The word of all stores but UNORDERED: the index of a buffer, and a number that tells this time from the others.
//!
//! ```text
//!  63                        16   15   14            0
//! +----------------------------+------+---------------+
//! | number                     | mark | index         |   index 7fff: none
//! +----------------------------+------+---------------+
//! ```
//!
//! The number counts, modulo 2^48. A thread that read a word and was preempted would have to sleep through a multiple
//! of 2^48 operations (a month at 10 ns each), and through none more, to take the word for the one that it read.

use leveret_types::BUFFERS_MAX;

const INDEX_NONE: u64 = 0x7fff;
const MARK: u64 = 1 << 15;
const NUMBER_SHIFT: u32 = 16;
const NUMBER_MASK: u64 = (1 << 48) - 1;

const _: () = assert!((BUFFERS_MAX as u64) < INDEX_NONE);

/// An index with a number and a mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Link(u64);

impl Link {
    /// To nothing.
    pub(super) const END: Self = Self(INDEX_NONE);

    /// To `index`, without a mark. Of `number` the low 48 bits count.
    #[inline(always)]
    pub(super) const fn new(number: u64, index: u32) -> Self {
        Self(number << NUMBER_SHIFT | index as u64)
    }

    /// As it lies in memory.
    #[inline(always)]
    pub(super) const fn from_word(word: u64) -> Self {
        Self(word)
    }

    /// As it lies in memory.
    #[inline(always)]
    pub(super) const fn word(self) -> u64 {
        self.0
    }

    /// Where it points.
    #[inline(always)]
    pub(super) const fn index(self) -> Option<u32> {
        let index = self.0 & INDEX_NONE;
        if index == INDEX_NONE { None } else { Some(index as u32) }
    }

    /// Below 2^48.
    #[inline(always)]
    pub(super) const fn number(self) -> u64 {
        self.0 >> NUMBER_SHIFT
    }

    /// To where `other` points, with this number and no mark.
    #[inline(always)]
    pub(super) const fn pointing_as(self, other: Self) -> Self {
        Self(self.0 & !(MARK | INDEX_NONE) | other.0 & INDEX_NONE)
    }

    /// With the next number.
    #[inline(always)]
    pub(super) const fn renewed(self) -> Self {
        Self(self.0.wrapping_add(1 << NUMBER_SHIFT))
    }

    /// With a mark.
    #[inline(always)]
    pub(super) const fn marked(self) -> Self {
        Self(self.0 | MARK)
    }

    /// Whether there is a mark.
    #[inline(always)]
    pub(super) const fn is_marked(self) -> bool {
        self.0 & MARK != 0
    }
}

/// `number + offset`, modulo 2^48.
#[inline(always)]
pub(super) const fn number_after(number: u64, offset: u64) -> u64 {
    number.wrapping_add(offset) & NUMBER_MASK
}

/// `later - earlier`, modulo 2^48.
#[inline(always)]
pub(super) const fn numbers_between(earlier: u64, later: u64) -> u64 {
    later.wrapping_sub(earlier) & NUMBER_MASK
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_parts_of_a_link_keep_apart(number in 0..=NUMBER_MASK, index in 0..BUFFERS_MAX) {
            let link = Link::new(number, index);
            prop_assert_eq!((link.number(), link.index(), link.is_marked()), (number, Some(index), false));
            prop_assert_eq!(Link::from_word(link.word()), link);
            let marked = link.marked();
            prop_assert_eq!((marked.number(), marked.index(), marked.is_marked()), (number, Some(index), true));
            let renewed = marked.renewed();
            prop_assert_eq!(renewed.number(), number_after(number, 1));
            prop_assert_eq!((renewed.index(), renewed.is_marked()), (Some(index), true));
            let end = marked.pointing_as(Link::END.marked());
            prop_assert_eq!((end.number(), end.index(), end.is_marked()), (number, None, false));
        }

        #[test]
        fn numbers_wrap(number in 0..=NUMBER_MASK, offset in 0..=NUMBER_MASK) {
            prop_assert_eq!(numbers_between(number, number_after(number, offset)), offset);
        }
    }
}
