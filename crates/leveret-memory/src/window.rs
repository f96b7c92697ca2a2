//! The only door to a region's bytes: bounds-checked words.

use crate::region::Region;
use crate::sync::{AtomicU64, Ordering};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

/// A part of a region. Cloning it is for set-up; using it allocates nothing.
#[derive(Clone)]
pub(crate) struct Window {
    base: NonNull<u8>,
    length: usize,
    /// Keeps the memory in place.
    region: Arc<dyn Region>,
}

// SAFETY: the pointer stays valid in any thread while `region` (itself `Send + Sync`) is held, and every access
// through a window is atomic, racing-safe, or guarded by the uniqueness of a channel end.
unsafe impl Send for Window {}
// SAFETY: as for `Send`: shared use of a window is atomic or racing-safe.
unsafe impl Sync for Window {}

/// Distance in memory of `offset` bytes of layout. Under loom every eight bytes are one of loom's atomics.
#[inline(always)]
pub(crate) const fn scaled(offset: usize) -> usize {
    if cfg!(loom) { offset / 8 * size_of::<AtomicU64>() } else { offset }
}

impl Window {
    /// All of `region`.
    pub(crate) fn whole(region: Arc<dyn Region>) -> Self {
        Self { base: region.base(), length: region.len(), region }
    }

    /// `length` bytes from `offset` on.
    ///
    /// # Panics
    /// When they do not lie within the window, or `offset` is not a multiple of 8.
    pub(crate) fn part(&self, offset: usize, length: usize) -> Self {
        assert!(offset.is_multiple_of(8) && offset <= self.length && length <= self.length - offset);
        // SAFETY: the assertion keeps `offset` within this window, hence within the region.
        let base = unsafe { self.base.add(scaled(offset)) };
        Self { base, length, region: Arc::clone(&self.region) }
    }

    /// The first byte.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// What keeps the memory in place.
    pub(crate) fn region(&self) -> Arc<dyn Region> {
        Arc::clone(&self.region)
    }

    /// `N` words from `offset` on, checked once.
    #[inline(always)]
    pub(crate) fn words<const N: usize>(&self, offset: usize) -> Words<'_, N> {
        assert!(offset.is_multiple_of(8) && self.holds(offset, N * 8));
        // SAFETY: as asserted.
        unsafe { self.words_within(offset) }
    }

    /// `N` words from `offset` on, unchecked, for offsets that are right by construction.
    ///
    /// # Safety
    /// `offset` is a multiple of 8, and all `N` words lie within the window.
    #[inline(always)]
    pub(crate) unsafe fn words_within<const N: usize>(&self, offset: usize) -> Words<'_, N> {
        debug_assert!(offset.is_multiple_of(8) && self.holds(offset, N * 8));
        // SAFETY: by the caller's promise all `N` words lie within this window, hence within the region.
        let base = unsafe { self.base.add(scaled(offset)) };
        Words { base, window: PhantomData }
    }

    /// Whether `length` bytes from `offset` on lie within the window.
    #[inline(always)]
    pub(crate) fn holds(&self, offset: usize, length: usize) -> bool {
        offset.checked_add(length).is_some_and(|end| end <= self.length)
    }

    /// The word at `offset`.
    #[inline(always)]
    pub(crate) fn word(&self, offset: usize) -> &AtomicU64 {
        self.words::<1>(offset).word(0)
    }

    /// The 32-bit word at `offset`, which has eight bytes to itself.
    #[inline(always)]
    pub(crate) fn flag(&self, offset: usize) -> Flag<'_> {
        Flag(self.word(offset))
    }
}

/// `N` adjacent words of a window.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a, const N: usize> {
    base: NonNull<u8>,
    window: PhantomData<&'a Window>,
}

impl<'a, const N: usize> Words<'a, N> {
    /// The same words for a lifetime of the caller's choice.
    ///
    /// # Safety
    /// The owner of the window that they were obtained from is borrowed for all of 'b.
    #[inline(always)]
    pub(crate) unsafe fn lent_for<'b>(self) -> Words<'b, N> {
        Words { base: self.base, window: PhantomData }
    }

    /// Where the first word lies; the rest of the window follows.
    #[inline(always)]
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// The word of this index.
    #[inline(always)]
    pub(crate) fn word(&self, index: usize) -> &'a AtomicU64 {
        assert!(index < N);
        // SAFETY: `Window::words` checked `N` aligned words from `base` on, `index` is one of them, and the window,
        // borrowed for 'a, keeps the region in place. Shared words are only ever accessed atomically.
        unsafe { self.base.add(scaled(index * 8)).cast::<AtomicU64>().as_ref() }
    }

    /// Reads all words, one relaxed load each.
    #[inline(always)]
    pub(crate) fn load_all(&self) -> [u64; N] {
        std::array::from_fn(|index| self.word(index).load(Ordering::Relaxed))
    }
}

/// A 32-bit word alone in eight bytes, so that the kernel can wait on it.
///
/// The whole eight bytes are accessed; on a little-endian machine the kernel's 32 bits are the low half.
#[derive(Clone, Copy)]
pub(crate) struct Flag<'a>(&'a AtomicU64);

#[cfg(not(target_endian = "little"))]
compile_error!("the futex words are the low halves of 64-bit words: Leveret needs a little-endian machine");

impl<'a> Flag<'a> {
    /// Of a word of which the low half changes with each of its values.
    #[inline(always)]
    pub(crate) fn of(word: &'a AtomicU64) -> Self {
        Self(word)
    }

    /// The present value.
    #[inline(always)]
    pub(crate) fn load(self, order: Ordering) -> u32 {
        self.0.load(order) as u32
    }

    /// Sets the value.
    #[inline(always)]
    pub(crate) fn store(self, value: u32, order: Ordering) {
        self.0.store(u64::from(value), order);
    }

    /// The address for the kernel.
    pub(crate) fn address(self) -> NonNull<u32> {
        NonNull::from(self.0).cast()
    }
}
