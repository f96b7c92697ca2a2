//! Where a segment's bytes lie: a mapping made by `leveret-os`, or a heap block within one process.

use std::ptr::NonNull;

/// Alignment of every region, in bytes: a page.
pub const REGION_ALIGNMENT: usize = 4096;

/// A stretch of memory that stays in place for as long as the value lives.
///
/// Another process may write to it at any time; this crate therefore reads it only through atomics and copies
/// that tolerate a concurrent writer, and takes nothing in it for granted.
///
/// # Safety
/// `base()` must always return the same address, aligned to 64 bytes; the `len()` bytes from there must stay mapped
/// and readable until the value is dropped, and writable if `is_writable()` says so. Within this process nothing
/// else may access them except through this crate, or through atomics of eight aligned bytes; the bytes of aliased
/// buffers ([`crate::Shelf`]) and of parts ([`crate::Part`]) are the program's, and this crate never looks at them.
pub unsafe trait Region: Send + Sync {
    /// The first byte.
    fn base(&self) -> NonNull<u8>;

    /// The length in bytes.
    fn len(&self) -> usize;

    /// Whether nothing is in it.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it may be written. A read-only mapping must say `false`.
    fn is_writable(&self) -> bool {
        true
    }
}

#[cfg(not(loom))]
mod heap {
    use super::{REGION_ALIGNMENT, Region};
    use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
    use std::ptr::NonNull;

    /// A zeroed, page-aligned heap block: a segment within one process, for tests and in-process jobs.
    pub struct HeapRegion {
        base: NonNull<u8>,
        layout: Layout,
    }

    impl HeapRegion {
        /// A block of `length` bytes, all zero.
        ///
        /// # Panics
        /// When `length` is 0 or larger than the address space.
        pub fn new(length: usize) -> Self {
            assert!(length > 0, "a region of no bytes");
            let Ok(layout) = Layout::from_size_align(length, REGION_ALIGNMENT) else {
                panic!("a region of {length} bytes exceeds the address space")
            };
            // SAFETY: the layout's size is not zero, as asserted above.
            let pointer = unsafe { alloc_zeroed(layout) };
            let Some(base) = NonNull::new(pointer) else { handle_alloc_error(layout) };
            Self { base, layout }
        }

        /// A block of `length` bytes in which the word at each place is what `word` says: what a hostile owner may have left there.
        ///
        /// # Panics
        /// As [`HeapRegion::new`].
        pub fn filled(length: usize, mut word: impl FnMut(usize) -> u64) -> Self {
            let block = Self::new(length);
            for place in 0..length / 8 {
                // SAFETY: within the block, aligned as the block is, and nobody else has it yet.
                unsafe { block.base.cast::<u64>().add(place).write(word(place)) };
            }
            block
        }

        /// Every word, as a hostile owner has them. Only for fuzzing: writing here while a sender fills a buffer
        /// of the same region in place would be a race.
        #[cfg(fuzzing)]
        pub fn words(&self) -> &[crate::sync::AtomicU64] {
            // SAFETY: the block is page-aligned, lives as long as the borrow, and has room for that many words,
            // which are accessed atomically.
            unsafe { std::slice::from_raw_parts(self.base.as_ptr().cast(), self.layout.size() / 8) }
        }
    }

    impl Drop for HeapRegion {
        fn drop(&mut self) {
            // SAFETY: `base` came from `alloc_zeroed` with this very layout and is freed here only.
            unsafe { dealloc(self.base.as_ptr(), self.layout) }
        }
    }

    // SAFETY: the block belongs to the value, not to a thread; all access goes through `Region`'s contract.
    unsafe impl Send for HeapRegion {}
    // SAFETY: as for `Send`; `&HeapRegion` gives out an address and a length only.
    unsafe impl Sync for HeapRegion {}

    // SAFETY: the block is page-aligned, does not move, is readable and writable, and lives until `drop`.
    unsafe impl Region for HeapRegion {
        fn base(&self) -> NonNull<u8> {
            self.base
        }

        fn len(&self) -> usize {
            self.layout.size()
        }
    }
}

#[cfg(loom)]
mod heap {
    use super::Region;
    use crate::sync::AtomicU64;
    use std::ptr::NonNull;

    /// Under loom a region is a row of loom's atomics, one for every eight bytes.
    pub struct HeapRegion {
        words: Box<[AtomicU64]>,
    }

    impl HeapRegion {
        /// A block of `length` bytes, all zero.
        pub fn new(length: usize) -> Self {
            Self { words: (0..length / 8).map(|_| AtomicU64::new(0)).collect() }
        }
    }

    // SAFETY: the boxed row does not move and lives until the value is dropped; `Window` scales offsets to it.
    unsafe impl Region for HeapRegion {
        fn base(&self) -> NonNull<u8> {
            NonNull::from(&*self.words).cast()
        }

        fn len(&self) -> usize {
            self.words.len() * 8
        }
    }
}

pub use heap::HeapRegion;
