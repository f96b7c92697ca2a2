//! The sequence word: which instance a slot holds, of which generation, and whether it is being written.
//!
//! ```text
//!  63            48 47  46                                   0
//! +----------------+---+--------------------------------------+
//! | generation     | W | instance + 1                         |   0: never used
//! | (low 16 bits)  |   |                                      |
//! +----------------+---+--------------------------------------+
//! W: in writing; whoever reads the slot now may see anything.
//! ```

use leveret_types::Generation;

/// Largest instance that a sequence word can carry: at a million messages a second, four years.
pub const INSTANCE_MAX: u64 = COUNT_MASK - 1;

const COUNT_MASK: u64 = (1 << 47) - 1;
const WRITING: u64 = 1 << 47;
const GENERATION_SHIFT: u32 = 48;

/// The part of every sequence word that one segment's generation fixes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tag(u64);

/// What a sequence word says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Claim {
    /// Nothing was ever written.
    Empty,
    /// This instance is whole.
    Published(u64),
    /// This instance is being written.
    Writing(u64),
    /// Another generation's, or no sequence word at all.
    Foreign,
}

impl Tag {
    pub(crate) const fn new(generation: Generation) -> Self {
        Self((generation.0 as u64) << GENERATION_SHIFT)
    }

    /// The word of a whole instance.
    #[inline(always)]
    pub(crate) const fn published(self, instance: u64) -> u64 {
        self.0 | (instance.wrapping_add(1) & COUNT_MASK)
    }

    /// The word of an instance in writing.
    #[inline(always)]
    pub(crate) const fn writing(self, instance: u64) -> u64 {
        self.published(instance) | WRITING
    }

    /// What `word` says.
    #[inline]
    pub(crate) const fn read(self, word: u64) -> Claim {
        if word == 0 {
            return Claim::Empty;
        }
        let count = word & COUNT_MASK;
        if word & !(COUNT_MASK | WRITING) != self.0 || count == 0 {
            return Claim::Foreign;
        }
        if word & WRITING == 0 { Claim::Published(count - 1) } else { Claim::Writing(count - 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_read_back(generation in any::<u32>(), instance in 0..=INSTANCE_MAX) {
            let tag = Tag::new(Generation(generation));
            prop_assert_eq!(tag.read(tag.published(instance)), Claim::Published(instance));
            prop_assert_eq!(tag.read(tag.writing(instance)), Claim::Writing(instance));
            prop_assert_eq!(Tag::new(Generation(generation).next()).read(tag.published(instance)), Claim::Foreign);
        }
    }

    #[test]
    fn zero_is_empty_and_a_bare_tag_is_foreign() {
        let tag = Tag::new(Generation(3));
        assert_eq!(tag.read(0), Claim::Empty);
        assert_eq!(tag.read(3 << 48), Claim::Foreign);
    }
}
