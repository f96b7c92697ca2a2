//! Page faults and switches on purpose, and the kernel's other accounts of them, for the tests.

use crate::clock;
use leveret_types::Nanos;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

pub(super) const PAGE_BYTES: usize = 4096;

/// Touches `pages` pages that were never touched before, one fault each; gives the first one's address.
pub(crate) fn touch(pages: usize) -> u64 {
    let bytes = pages * PAGE_BYTES;
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a null hint lets the kernel choose an unused range.
    let base = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, protection, MapFlags::PRIVATE) }.unwrap();
    // A huge page would be one fault for all.
    // SAFETY: the range was just mapped and is used by nobody else.
    unsafe { madvise(base, bytes, Advice::LinuxNoHugepage) }.unwrap();
    for page in 0..pages {
        // SAFETY: inside the mapping made above.
        unsafe { base.cast::<u8>().add(page * PAGE_BYTES).write_volatile(1) };
    }
    // SAFETY: the mapping made above, of which nothing is kept but its number.
    unsafe { munmap(base, bytes) }.unwrap();
    base as u64
}

/// Sleeps until the calling thread has given up its core at least once more.
pub(super) fn give_up_the_core() {
    let (before, _) = switches();
    // A thread that is preempted on its way into the sleep may find its time over.
    while switches().0 == before {
        clock::sleep_until(clock::now() + Nanos::from_micros(50));
    }
}

/// Voluntary and involuntary switches of the calling thread, by another of the kernel's accounts.
pub(super) fn switches() -> (u64, u64) {
    let usage = crate::usage::of_this_thread();
    (usage.switches_voluntary, usage.switches_involuntary)
}
