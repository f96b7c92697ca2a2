//! Memory of this process alone, for buffers that no peer looks into: zero, and present from the first byte to the last.

use crate::{Failure, Region};
use rustix::io::Errno;
use std::ptr::NonNull;

/// Why there is no such memory.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{size} B of memory: {failure}; {}", remedy(failure))]
pub struct PrivateMemoryError {
    /// Size in bytes.
    pub size: usize,
    /// What failed.
    pub failure: Failure,
}

fn remedy(failure: &Failure) -> &'static str {
    match failure.errno {
        Errno::AGAIN => "the memlock limit is reached; raise `ulimit -l`",
        Errno::NOMEM => {
            "declare fewer or smaller buffers, free some, or raise `ulimit -v` where that is less than unlimited"
        }
        _ => "a size of 1 B to the largest that an address space holds can be mapped",
    }
}

/// A mapping of its own; unmapped when dropped.
#[derive(Debug)]
pub struct PrivateMemory {
    base: NonNull<u8>,
    length: usize,
}

impl PrivateMemory {
    /// So many zeros, each page present.
    ///
    /// # Errors
    /// [`PrivateMemoryError`]; then there is nothing.
    pub fn new(length: usize) -> Result<Self, PrivateMemoryError> {
        let failed = |failure| PrivateMemoryError { size: length, failure };
        if length > isize::MAX as usize {
            return Err(failed(Failure::new("mmap", Errno::INVAL)));
        }
        // By the C library's function, which a test of what happens without memory can take the place of.
        // SAFETY: a null hint lets the kernel choose an unused range, so no existing mapping is touched.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                // Written by the kernel, so that no page is faulted in later.
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(failed(Failure::last("mmap")));
        }
        let base = NonNull::new(base.cast()).ok_or(failed(Failure::new("mmap", Errno::FAULT)))?;
        Ok(Self { base, length })
    }
}

impl Drop for PrivateMemory {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `new`, and nobody uses it beyond the value's life. The only failures of munmap are wrong
        // arguments, which the fields exclude; there is nobody to tell anyway.
        let _ = unsafe { libc::munmap(self.base.as_ptr().cast(), self.length) };
    }
}

// SAFETY: the mapping belongs to the process, not to a thread; no method touches its bytes.
unsafe impl Send for PrivateMemory {}
// SAFETY: as for Send; every method takes `&self` and reads two fields that never change.
unsafe impl Sync for PrivateMemory {}

// SAFETY: `base..base + length` was mapped by `new` for reading and writing, at a page, and is unmapped only by `drop`. There is no file
// behind it that could shrink.
unsafe impl Region for PrivateMemory {
    fn base(&self) -> NonNull<u8> {
        self.base
    }
    fn len(&self) -> usize {
        self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage;

    #[test]
    fn it_is_zero_and_faults_no_page() {
        const SIZE: usize = 1 << 20;
        let memory = PrivateMemory::new(SIZE).expect("a mebibyte is there");
        assert!(memory.len() == SIZE && memory.base().addr().get().is_multiple_of(4096));
        let before = usage::of_this_thread();
        let mut sum = 0_u64;
        for place in (0..SIZE).step_by(512) {
            // SAFETY: within the mapping, which nothing else uses.
            unsafe {
                let byte = memory.base().add(place);
                sum += u64::from(byte.read_volatile());
                byte.write_volatile(1);
            }
        }
        let after = usage::of_this_thread();
        assert_eq!(sum, 0);
        // Some may be the test's own; its 256 pages are not among them.
        assert!(after.faults - before.faults < 32, "{before:?} {after:?}");
    }

    #[test]
    fn what_cannot_be_had_is_an_error_with_a_remedy() {
        let beyond = PrivateMemory::new(1 << 55).expect_err("no machine has as much");
        assert_eq!((beyond.failure.call, beyond.failure.errno), ("mmap", Errno::NOMEM));
        assert!(beyond.to_string().contains("fewer or smaller buffers"), "{beyond}");
        for size in [0, usize::MAX] {
            let wrong = PrivateMemory::new(size).expect_err("no size for a mapping");
            assert_eq!(wrong.failure.errno, Errno::INVAL);
        }
    }
}
