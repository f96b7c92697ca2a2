//! Threads that end under what runs on them, without its hearing of it.
//!
//! `pthread_exit` takes the stack down by what the compiler has noted of each function. Where a function of the program has no such notes
//! (C that was compiled with `-fno-asynchronous-unwind-tables`), the C library lets go of the whole stack at once: nothing is dropped, and no
//! call comes back. What is left is what belongs to the thread, and there a notice lies.

use crate::thread_value::ThreadValue;
use std::ffi::c_void;

static NOTICE: ThreadValue = ThreadValue::new();

type Tell = Box<dyn FnOnce() + Send>;

/// What is to be done if a thread ends so; made by whoever starts it.
pub struct Notice(Box<Tell>);

/// A notice that lies with its thread. Dropped, it is taken back.
pub struct Posted {
    /// It is of its thread.
    _not_sent: std::marker::PhantomData<*mut ()>,
}

impl Notice {
    /// `tell` is called on the thread that ends.
    pub fn new(tell: impl FnOnce() + Send + 'static) -> Self {
        unsafe extern "C" fn lost(notice: *mut c_void) {
            // SAFETY: `post` has made it of a box, and `Posted` takes it back before it would be anybody else's.
            let tell: Box<Tell> = unsafe { Box::from_raw(notice.cast()) };
            tell();
        }
        // Without a key nothing is told.
        let _ = NOTICE.create(lost);
        Self(Box::new(Box::new(tell)))
    }

    /// Lays it with the calling thread, in place of another.
    pub fn post(self) -> Posted {
        take_back();
        let notice = Box::into_raw(self.0);
        // SAFETY: `lost` takes such a box.
        if !unsafe { NOTICE.set(notice.cast()) } {
            // SAFETY: it was a box, and is nobody's now.
            drop(unsafe { Box::from_raw(notice) });
        }
        Posted { _not_sent: std::marker::PhantomData }
    }
}

fn take_back() {
    let notice = NOTICE.get().cast::<Tell>();
    // SAFETY: null takes nothing.
    if !notice.is_null() && unsafe { NOTICE.set(std::ptr::null_mut()) } {
        // SAFETY: `post` made it of a box, and it has just been taken from where `lost` would find it.
        drop(unsafe { Box::from_raw(notice) });
    }
}

impl Drop for Posted {
    fn drop(&mut self) {
        take_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_memory::sync::{AtomicU32, Ordering};
    use std::sync::Arc;

    #[test]
    fn it_is_told_of_a_thread_that_ends_with_it_and_of_no_other() {
        let told = Arc::new(AtomicU32::new(0));
        let notice = || {
            let told = told.clone();
            Notice::new(move || {
                told.fetch_add(1, Ordering::SeqCst);
            })
        };
        let (taken_back, left, replaced) = (notice(), notice(), notice());
        std::thread::spawn(move || drop(taken_back.post())).join().unwrap();
        assert_eq!(told.load(Ordering::SeqCst), 0);
        // As a stack that nobody takes down leaves it.
        std::thread::spawn(move || {
            std::mem::forget(replaced.post());
            std::mem::forget(left.post());
        })
        .join()
        .unwrap();
        assert_eq!(told.load(Ordering::SeqCst), 1);
        assert_eq!(Arc::strong_count(&told), 1, "nothing is left of any");
    }
}
