//! CRC-32C (Castagnoli) of payloads, which the processor computes where it has the instruction.

use crate::copy;
use crate::window::scaled;
use std::ptr::NonNull;

/// Shared bytes are summed in private memory, so many at a time: enough for the sum to be taken in several streams.
const PIECE: usize = 4096;
/// Messages up to this length need not clear a whole piece first.
const SHORT: usize = 128;
const _: () = assert!(PIECE.is_multiple_of(8) && SHORT.is_multiple_of(8));

/// The checksum of private bytes.
pub(crate) fn of(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes)
}

/// The checksum of `length` bytes of shared memory, whoever may be writing them.
///
/// # Safety
/// `source` is aligned to 8, and the length rounded up to 8 is readable from there on.
pub(crate) unsafe fn of_shared(source: NonNull<u8>, length: usize) -> u32 {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        if length <= SHORT { by_pieces::<SHORT>(source, length) } else { by_pieces::<PIECE>(source, length) }
    }
}

/// # Safety
/// As for [`of_shared`]; `N` is a multiple of 8.
unsafe fn by_pieces<const N: usize>(source: NonNull<u8>, length: usize) -> u32 {
    let mut piece = [0; N];
    let mut sum = 0;
    let mut done = 0;
    while done < length {
        let piece = &mut piece[..N.min(length - done)];
        // SAFETY: `done` is a multiple of `N`, so of 8, and the piece ends within the promised length.
        unsafe { copy::out_of_shared(source.add(scaled(done)), piece) };
        sum = crc32c::crc32c_append(sum, piece);
        done += piece.len();
    }
    sum
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn shared_and_private_bytes_have_the_same_sum() {
        let longest = if cfg!(miri) { 300 } else { 3 * PIECE };
        let mut words: Vec<u64> =
            (0..longest as u64 / 8 + 1).map(|word| (word + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let base = NonNull::from(words.as_mut_slice()).cast::<u8>();
        for length in (0..300).chain([PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 7, longest]) {
            if length > longest {
                continue;
            }
            // SAFETY: the words are aligned and cover the length rounded up to 8.
            assert_eq!(unsafe { of_shared(base, length) }, of(&bytes[..length]), "{length} bytes");
        }
    }

    #[test]
    fn it_is_the_castagnoli_polynomial() {
        assert_eq!(of(b"123456789"), 0xe306_9283);
    }
}
