//! Copies between shared and private memory that tolerate a writer or reader in another process.
//!
//! A racing copy may yield any mixture of old and new bytes; the sequence word tells afterwards. What it must not be
//! is a plain memory access, which the compiler may assume to be free of races. So the portable copies are relaxed
//! word accesses, and the fast ones on x86-64 are instructions that the compiler does not look into.

use crate::sync::{AtomicU64, Ordering};
use std::ptr::NonNull;

/// From this many bytes on the instruction copy is used where there is one.
#[cfg(all(target_arch = "x86_64", not(any(miri, loom, portable_copy))))]
const LARGE: usize = 128;

/// Copies `out.len()` bytes from shared memory.
///
/// # Safety
/// `source` is aligned to 8, and the length rounded up to 8 is readable from there on.
#[inline(always)]
pub(crate) unsafe fn out_of_shared(source: NonNull<u8>, out: &mut [u8]) {
    #[cfg(all(target_arch = "x86_64", not(any(miri, loom, portable_copy))))]
    if out.len() >= LARGE {
        // SAFETY: the caller's promise covers `out.len()` bytes; `out` is private and as long.
        return unsafe { instructions::copy(out.as_mut_ptr(), source.as_ptr(), out.len()) };
    }
    // SAFETY: the caller's promise, passed on.
    unsafe { words_out(source, out) }
}

/// Copies `bytes` into shared memory; the rest of the last word becomes zero or keeps its content.
///
/// # Safety
/// `target` is aligned to 8, and the length rounded up to 8 is writable from there on.
#[inline(always)]
pub(crate) unsafe fn into_shared(target: NonNull<u8>, bytes: &[u8]) {
    #[cfg(all(target_arch = "x86_64", not(any(miri, loom, portable_copy))))]
    if bytes.len() >= LARGE {
        // SAFETY: the caller's promise covers `bytes.len()` bytes; `bytes` is private and as long.
        return unsafe { instructions::copy(target.as_ptr(), bytes.as_ptr(), bytes.len()) };
    }
    // SAFETY: the caller's promise, passed on.
    unsafe { words_in(target, bytes) }
}

/// The word at `index` words from `base`.
///
/// # Safety
/// The word lies within the region that `base` points into.
#[inline(always)]
unsafe fn word<'a>(base: NonNull<u8>, index: usize) -> &'a AtomicU64 {
    // SAFETY: in bounds and aligned by the caller's promise; shared words are only accessed atomically or while
    // one end owns them.
    unsafe { base.cast::<AtomicU64>().add(index).as_ref() }
}

/// # Safety
/// As for [`out_of_shared`].
#[inline(always)]
unsafe fn words_out(source: NonNull<u8>, out: &mut [u8]) {
    if let Ok(one) = <&mut [u8; 8]>::try_from(&mut *out) {
        // SAFETY: the first word lies within the promised length.
        *one = unsafe { word(source, 0) }.load(Ordering::Relaxed).to_le_bytes();
        return;
    }
    let mut chunks = out.chunks_exact_mut(8);
    let mut index = 0;
    for chunk in &mut chunks {
        // SAFETY: `index` counts whole words within the promised length.
        let value = unsafe { word(source, index) }.load(Ordering::Relaxed);
        chunk.copy_from_slice(&value.to_le_bytes());
        index += 1;
    }
    let rest = chunks.into_remainder();
    if !rest.is_empty() {
        // SAFETY: the last, padded word lies within the promised length rounded up to 8.
        let value = unsafe { word(source, index) }.load(Ordering::Relaxed);
        rest.copy_from_slice(&value.to_le_bytes()[..rest.len()]);
    }
}

/// # Safety
/// As for [`into_shared`].
#[inline(always)]
unsafe fn words_in(target: NonNull<u8>, bytes: &[u8]) {
    if let Ok(one) = <[u8; 8]>::try_from(bytes) {
        // SAFETY: the first word lies within the promised length.
        return unsafe { word(target, 0) }.store(u64::from_le_bytes(one), Ordering::Relaxed);
    }
    let mut chunks = bytes.chunks_exact(8);
    let mut index = 0;
    for chunk in &mut chunks {
        let mut value = [0; 8];
        value.copy_from_slice(chunk);
        // SAFETY: `index` counts whole words within the promised length.
        unsafe { word(target, index) }.store(u64::from_le_bytes(value), Ordering::Relaxed);
        index += 1;
    }
    let rest = chunks.remainder();
    if !rest.is_empty() {
        let mut value = [0; 8];
        value[..rest.len()].copy_from_slice(rest);
        // SAFETY: the last, padded word lies within the promised length rounded up to 8.
        unsafe { word(target, index) }.store(u64::from_le_bytes(value), Ordering::Relaxed);
    }
}

#[cfg(all(target_arch = "x86_64", not(any(miri, loom, portable_copy))))]
mod instructions {
    use std::arch::asm;

    /// Up to this many bytes the loop is faster; above, the string instruction, which need not read the lines that
    /// it overwrites. Measured by `leveret-benches round-trip`.
    const STRING_LENGTH: usize = 128 << 10;
    /// Bytes that the loop copies in one turn.
    const TURN: usize = 64;

    /// Copies at least 64 bytes, so that the loads are ordered before all later ones, as the validation that follows
    /// needs, and the stores before all later ones. Plain loads and stores are so ordered by the architecture; the
    /// string instruction's loads need the fence (Intel SDM 3A, 9.2).
    ///
    /// # Safety
    /// `source` is readable and `target` writable for `length` bytes, at least 64, and they do not overlap.
    #[inline(always)]
    pub(super) unsafe fn copy(target: *mut u8, source: *const u8, length: usize) {
        debug_assert!(length >= TURN);
        if length > STRING_LENGTH {
            // SAFETY: the caller's promise, passed on.
            return unsafe { copy_by_string(target, source, length) };
        }
        let last = length - TURN;
        // SAFETY: the ranges are valid by the caller's promise: the loop stays below `last` rounded up to a turn, less
        // one turn, and the final turn covers the 64 bytes from `last` on, some of them perhaps for a second time. No
        // `nomem`: the compiler must assume that the block reads and writes memory.
        unsafe {
            asm!(
                "cmp {place}, {last}",
                "jae 3f",
                ".p2align 4",
                "2:",
                "movups {a}, [{source} + {place}]",
                "movups {b}, [{source} + {place} + 16]",
                "movups {c}, [{source} + {place} + 32]",
                "movups {d}, [{source} + {place} + 48]",
                "movups [{target} + {place}], {a}",
                "movups [{target} + {place} + 16], {b}",
                "movups [{target} + {place} + 32], {c}",
                "movups [{target} + {place} + 48], {d}",
                "add {place}, 64",
                "cmp {place}, {last}",
                "jb 2b",
                "3:",
                "movups {a}, [{source} + {last}]",
                "movups {b}, [{source} + {last} + 16]",
                "movups {c}, [{source} + {last} + 32]",
                "movups {d}, [{source} + {last} + 48]",
                "movups [{target} + {last}], {a}",
                "movups [{target} + {last} + 16], {b}",
                "movups [{target} + {last} + 32], {c}",
                "movups [{target} + {last} + 48], {d}",
                place = inout(reg) 0_usize => _,
                last = in(reg) last,
                source = in(reg) source,
                target = in(reg) target,
                a = out(xmm_reg) _,
                b = out(xmm_reg) _,
                c = out(xmm_reg) _,
                d = out(xmm_reg) _,
                options(nostack)
            );
        }
    }

    /// # Safety
    /// As for [`copy`].
    #[inline(never)]
    unsafe fn copy_by_string(target: *mut u8, source: *const u8, length: usize) {
        // SAFETY: the direction flag is clear by the calling convention; the ranges are valid by the caller's
        // promise. No `nomem`, as above.
        unsafe {
            asm!(
                "rep movsb",
                "lfence",
                inout("rcx") length => _,
                inout("rdi") target => _,
                inout("rsi") source => _,
                options(nostack, preserves_flags)
            );
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The lengths around every change of method; few under Miri, where there is but one.
    fn lengths() -> impl Iterator<Item = usize> {
        let most = if cfg!(miri) { 40 } else { 400 };
        let threshold = if cfg!(miri) { 64 } else { 128 << 10 };
        (0..most).chain(threshold - 2..threshold + 70)
    }

    #[test]
    fn every_byte_arrives_and_none_beside_it_changes() {
        const GUARD: usize = 64;
        for length in lengths() {
            let mut words: Vec<u64> = (0..length as u64 / 8 + 1)
                .map(|word| (word + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
                .collect();
            let expected: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take(length).collect();
            let source = NonNull::from(words.as_mut_slice()).cast::<u8>();
            let mut out = vec![0xa5; length + GUARD];
            // SAFETY: the words are aligned and cover the length rounded up to 8.
            unsafe { out_of_shared(source, &mut out[..length]) };
            assert_eq!(out[..length], expected, "out of shared memory, {length} bytes");
            assert!(out[length..].iter().all(|byte| *byte == 0xa5), "beyond {length} bytes");
            let mut shared = vec![0xa5a5_a5a5_a5a5_a5a5_u64; length / 8 + 1 + GUARD / 8];
            let target = NonNull::from(shared.as_mut_slice()).cast::<u8>();
            // SAFETY: as above.
            unsafe { into_shared(target, &expected) };
            let bytes: Vec<u8> = shared.iter().flat_map(|word| word.to_le_bytes()).collect();
            assert_eq!(bytes[..length], expected, "into shared memory, {length} bytes");
            let after = length.next_multiple_of(8);
            assert!(bytes[after..].iter().all(|byte| *byte == 0xa5), "beyond {length} bytes");
        }
    }
}
