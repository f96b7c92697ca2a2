//! Parts of a region that are the program's: the buffers of one commit, side by side.
//!
//! ```text
//!   region  | buffer 0 ....   | buffer 1 | buffer 2 ........     | ...
//!           0                 64·k       64·l                    64·m
//! ```
//! Each begins at a line of its own, so what one thread writes into a buffer takes no line from who uses the next one.

use crate::region::Region;
use crate::window::Window;
use std::ptr::NonNull;
use std::sync::Arc;

/// Where a part may begin: at the multiples of a line.
pub const PART_ALIGNMENT: usize = 64;

/// A stretch of a region that is the program's: this crate never looks at its bytes. The region stays for as long as one of its
/// parts, or what [`Part::region`] gives, is held.
pub struct Part(Window);

impl Part {
    /// How long a region must be for parts of these sizes; `None` beyond the address space.
    pub fn room(sizes: impl IntoIterator<Item = usize>) -> Option<usize> {
        let room =
            |room: usize, size: usize| room.checked_add(size.checked_next_multiple_of(PART_ALIGNMENT)?);
        sizes.into_iter().try_fold(0, room)
    }

    /// Cuts a region into parts of these sizes, which lie side by side in their order.
    ///
    /// # Panics
    /// When the region has not the [`Part::room`].
    pub fn cut(region: Arc<dyn Region>, sizes: impl IntoIterator<Item = usize>) -> Vec<Self> {
        let whole = Window::whole(region);
        let mut free = 0;
        let cut = |size: usize| {
            let part = whole.part(free, size);
            free += size.next_multiple_of(PART_ALIGNMENT);
            Self(part)
        };
        sizes.into_iter().map(cut).collect()
    }

    /// The first byte.
    pub fn address(&self) -> NonNull<u8> {
        self.0.base()
    }

    /// What keeps the bytes in place.
    pub fn region(&self) -> Arc<dyn Region> {
        self.0.region()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::region::HeapRegion;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_lie_apart_each_at_a_line_within_their_room(sizes in prop::collection::vec(1_usize..5000, 1..40)) {
            let room = Part::room(sizes.iter().copied()).expect("so little fits");
            let region: Arc<dyn Region> = Arc::new(HeapRegion::new(room));
            let base = region.base().addr().get();
            let parts = Part::cut(region, sizes.iter().copied());
            prop_assert_eq!(parts.len(), sizes.len());
            let mut end = base;
            for (part, size) in parts.iter().zip(&sizes) {
                let address = part.address().addr().get();
                prop_assert!(address.is_multiple_of(PART_ALIGNMENT));
                prop_assert!(address >= end && address - end < PART_ALIGNMENT, "side by side");
                end = address + size;
            }
            prop_assert!(end <= base + room && base + room - end < PART_ALIGNMENT, "no more room than they take");
        }
    }

    #[test]
    fn one_part_keeps_the_whole_region() {
        let region: Arc<dyn Region> = Arc::new(HeapRegion::new(128));
        let seen = Arc::downgrade(&region);
        let mut parts = Part::cut(region, [1, 1]);
        let kept = parts.pop().expect("two parts").region();
        drop(parts);
        assert!(seen.upgrade().is_some());
        drop(kept);
        assert!(seen.upgrade().is_none());
    }

    #[test]
    fn what_no_address_space_holds_has_no_room() {
        assert_eq!(Part::room([]), Some(0));
        assert_eq!(Part::room([1, 64, 65]), Some(64 + 64 + 128));
        assert_eq!(Part::room([usize::MAX - 64, 1, 1]), None);
        assert_eq!(Part::room([usize::MAX]), None);
    }

    #[test]
    #[should_panic(expected = "offset <= self.length")]
    fn a_region_that_is_too_short_is_not_cut() {
        Part::cut(Arc::new(HeapRegion::new(64)), [64, 65]);
    }
}
