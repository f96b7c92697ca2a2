//! The store that makes a message visible.
//!
//! Whoever polls takes the line away at any moment, so each store to it may cost a transfer of its own. Where the
//! machine has an atomic store of 16 bytes, sequence and tail are written by one.

use crate::slots::{SEQUENCE, TAIL};
use crate::sync::Ordering;
use crate::window::Words;

/// How this machine publishes.
#[derive(Clone, Copy)]
pub(crate) struct Publish {
    /// Aligned stores of 16 bytes are atomic.
    #[cfg(all(target_arch = "x86_64", not(any(miri, loom, portable_copy))))]
    in_one: bool,
}

impl Publish {
    /// Processors with AVX store 16 aligned bytes at once (Intel SDM volume 3, section 9.1.1; AMD APM volume 2,
    /// section 7.3.2).
    pub(crate) fn of_this_machine() -> Self {
        Self {
            #[cfg(all(target_arch = "x86_64", not(any(miri, loom, portable_copy))))]
            in_one: std::arch::is_x86_feature_detected!("avx"),
        }
    }

    /// Writes the tail, then the sequence word: everything written before is visible to whoever acquires that word.
    #[inline(always)]
    pub(crate) fn pair(self, head: Words<'_, 3>, sequence: u64, tail: u64) {
        #[cfg(all(target_arch = "x86_64", not(any(miri, loom, portable_copy))))]
        if self.in_one {
            // SAFETY: the head's first two words are those, 16 bytes on a cache line of their own; it lies in a
            // source end's region, which is writable.
            unsafe { pair_in_one(head.base().as_ptr(), sequence, tail) };
            return;
        }
        head.word(TAIL).store(tail, Ordering::Relaxed);
        head.word(SEQUENCE).store(sequence, Ordering::Release);
    }
}

const _: () = assert!(SEQUENCE == 0 && TAIL == 1);

/// # Safety
/// `head` is aligned to 16, 16 bytes are writable there, and all others access them atomically.
#[cfg(all(target_arch = "x86_64", not(any(miri, loom, portable_copy))))]
#[inline(always)]
unsafe fn pair_in_one(head: *mut u8, sequence: u64, tail: u64) {
    // SAFETY: by the caller's promise. Stores are never reordered with earlier loads and stores on this architecture,
    // and the block is not `nomem`, so the compiler keeps it after them too: it releases.
    unsafe {
        std::arch::asm!(
            "movq {pair}, {sequence}",
            "movq {upper}, {tail}",
            "punpcklqdq {pair}, {upper}",
            "movdqa [{head}], {pair}",
            head = in(reg) head,
            sequence = in(reg) sequence,
            tail = in(reg) tail,
            pair = out(xmm_reg) _,
            upper = out(xmm_reg) _,
            options(nostack, preserves_flags)
        );
    }
}
