//! Counts with a check: whoever reads a word that something has written over believes nothing.
//!
//! ```text
//!  63        48 47                       0
//! | check      | count                    |   check: 16 bits made of the count; that of 0 is 0, as in fresh memory
//! ```

const COUNT_BITS: u32 = 48;

/// What a word keeps of a count.
pub(crate) const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;

/// A count as it lies in the segment: 2^48 of one each millisecond are 8,900 years.
#[inline(always)]
pub(crate) const fn counted(number: u64) -> u64 {
    // Fibonacci hashing: every bit of the count changes about half of the check's.
    let check = (number & COUNT_MASK).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> COUNT_BITS;
    check << COUNT_BITS | number & COUNT_MASK
}

/// The count that a word says, if it says one.
#[inline(always)]
pub(crate) const fn count_of(word: u64) -> Option<u64> {
    if counted(word) == word { Some(word & COUNT_MASK) } else { None }
}
