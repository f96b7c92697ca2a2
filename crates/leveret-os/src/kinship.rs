//! Whether this process is the one that set something up, or a child that `fork` has made of it.
//!
//! A child has a copy of all that the parent has, and shares its socket and its segments. What must not be used there looks at one word:
//! the kernel gives every child a page of zeros in place of the page that it lies in, whichever call made the child.

use crate::Failure;
use leveret_memory::sync::{AtomicU64, Ordering};
use rustix::io::Errno;

const PAGE_BYTES: usize = 4096;

#[repr(C, align(4096))]
struct Page {
    word: AtomicU64,
    rest: [u8; PAGE_BYTES - size_of::<AtomicU64>()],
}

static OWN: Page = Page { word: AtomicU64::new(0), rest: [0; PAGE_BYTES - size_of::<AtomicU64>()] };

/// The word: 0 until this process stores something else there, and in every child that is made after [`keep_from_children`].
#[inline(always)]
pub fn word() -> &'static AtomicU64 {
    &OWN.word
}

/// From here on the word is 0 in every child. Called again it changes nothing.
///
/// # Errors
/// What refused it.
pub fn keep_from_children() -> Result<(), Failure> {
    if rustix::param::page_size() == PAGE_BYTES {
        let page = (&raw const OWN).cast_mut().cast();
        // SAFETY: the page is this word's alone, and its content changes in children only, where it is read as any other content.
        if unsafe { libc::madvise(page, PAGE_BYTES, libc::MADV_WIPEONFORK) } == 0 {
            return Ok(());
        }
    }
    watch_forks()
}

/// Where the kernel does not do it, the C library does, for the children that it makes.
fn watch_forks() -> Result<(), Failure> {
    extern "C" fn in_child() {
        OWN.word.store(0, Ordering::SeqCst);
    }
    static IS_WATCHED: AtomicU64 = AtomicU64::new(0);
    if IS_WATCHED.swap(1, Ordering::SeqCst) == 1 {
        return Ok(());
    }
    // SAFETY: the function stores a word, which a child may do.
    match unsafe { libc::pthread_atfork(None, None, Some(in_child)) } {
        0 => Ok(()),
        answer => {
            IS_WATCHED.store(0, Ordering::SeqCst);
            Err(Failure::new("pthread_atfork", Errno::from_raw_os_error(answer)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a child finds in the word.
    fn seen_by_a_child() -> i32 {
        // SAFETY: the child reads a word and ends.
        match unsafe { libc::fork() } {
            0 => {
                let seen = word().load(Ordering::SeqCst) as i32;
                // SAFETY: it ends the child without anything of the parent's.
                unsafe { libc::_exit(seen) }
            }
            child => {
                assert!(child > 0);
                let mut status = 0;
                // SAFETY: a child of this process, and a place for its status.
                assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
                assert!(libc::WIFEXITED(status));
                libc::WEXITSTATUS(status)
            }
        }
    }

    #[test]
    fn a_child_finds_nothing_and_the_parent_keeps_what_it_has() {
        word().store(7, Ordering::SeqCst);
        assert_eq!(seen_by_a_child(), 7, "nobody has asked for it");
        for _ in 0..2 {
            keep_from_children().unwrap();
            assert_eq!(seen_by_a_child(), 0);
            assert_eq!(word().load(Ordering::SeqCst), 7);
        }
        // What is done where the kernel knows no such pages.
        // SAFETY: it undoes what was asked for the same page.
        let undone =
            unsafe { libc::madvise((&raw const OWN).cast_mut().cast(), PAGE_BYTES, libc::MADV_KEEPONFORK) };
        assert_eq!(undone, 0);
        assert_eq!(seen_by_a_child(), 7);
        for _ in 0..2 {
            watch_forks().unwrap();
            assert_eq!(seen_by_a_child(), 0);
            assert_eq!(word().load(Ordering::SeqCst), 7);
        }
        assert_eq!(OWN.rest[0], 0);
    }
}
