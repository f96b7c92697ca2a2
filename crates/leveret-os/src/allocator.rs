//! Counting heap calls per thread, to prove that the data path makes none.
//!
//! A program installs it as its global allocator:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: leveret_os::allocator::CountingAllocator = leveret_os::allocator::CountingAllocator;
//! ```

use leveret_memory::sync::{AtomicBool, Ordering};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // Constant and without destructor: reaching it neither allocates nor fails while a thread ends.
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

static INSTALLED: AtomicBool = AtomicBool::new(false);

/// The system's allocator with a count per thread: an addition to a word of the thread's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CountingAllocator;

/// Heap calls (allocate, reallocate, free) that the calling thread has made; 0 where [`CountingAllocator`] is not
/// the global allocator.
#[inline]
pub fn allocations_of_this_thread() -> u64 {
    CALLS.with(Cell::get)
}

/// Whether the count means anything: true once the allocator has served a call.
pub fn installed() -> bool {
    INSTALLED.load(Ordering::Relaxed)
}

#[inline]
fn count() {
    CALLS.with(|calls| calls.set(calls.get().wrapping_add(1)));
    // Looked at before it is set, so that the line stays shared among cores.
    if !INSTALLED.load(Ordering::Relaxed) {
        INSTALLED.store(true, Ordering::Relaxed);
    }
}

// SAFETY: every call is handed to the system's allocator as it came; counting touches no memory of the heap.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps GlobalAlloc's contract, which is System's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as in `alloc`; the block came from System.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count();
        // SAFETY: as in `alloc`; the block came from System.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[global_allocator]
    static ALLOCATOR: CountingAllocator = CountingAllocator;

    #[test]
    fn every_kind_of_call_is_counted_on_its_own_thread() {
        let before = allocations_of_this_thread();
        let block = black_box(Box::new(5_u64));
        assert_eq!(allocations_of_this_thread() - before, 1);
        drop(block);
        assert_eq!(allocations_of_this_thread() - before, 2);
        let mut bytes = black_box(vec![0_u8; 100]);
        bytes.reserve_exact(10_000);
        assert_eq!(allocations_of_this_thread() - before, 4);
        assert!(installed());
    }

    #[test]
    fn what_allocates_nothing_counts_nothing() {
        let clock = crate::clock::MonotonicClock;
        let before = allocations_of_this_thread();
        let target = leveret_types::Clock::now(&clock).earliest + leveret_types::Nanos::from_micros(20);
        leveret_types::Clock::sleep_until(&clock, target);
        black_box(crate::clock::spin_until(target));
        black_box(crate::overrun::of_this_thread());
        assert_eq!(allocations_of_this_thread(), before);
    }

    #[test]
    fn other_threads_calls_are_not_ours() {
        let (before, theirs) = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let before = allocations_of_this_thread();
                for size in 1..100 {
                    black_box(Vec::<u8>::with_capacity(size));
                }
                allocations_of_this_thread() - before
            });
            let before = allocations_of_this_thread();
            while !other.is_finished() {
                std::hint::spin_loop();
            }
            assert_eq!(allocations_of_this_thread(), before);
            (before, other.join().unwrap())
        });
        assert_eq!(theirs, 198);
        assert!(allocations_of_this_thread() >= before);
    }
}
