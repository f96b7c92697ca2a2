//! Threads that are not cancelled (`pthread_cancel`): a cancellation takes the stack down, and frames of Rust cannot be taken down so.

use std::ffi::c_int;

const PTHREAD_CANCEL_ENABLE: c_int = 0;
const PTHREAD_CANCEL_DISABLE: c_int = 1;

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

/// While it lives a cancellation of the calling thread waits.
#[derive(Debug)]
pub struct Uncancelled {
    before: c_int,
    /// It is of its thread.
    _not_sent: std::marker::PhantomData<*mut ()>,
}

impl Uncancelled {
    /// From here on.
    pub fn here() -> Self {
        let mut before = PTHREAD_CANCEL_ENABLE;
        // SAFETY: a state that there is, and a place for the former one.
        unsafe { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &raw mut before) };
        Self { before, _not_sent: std::marker::PhantomData }
    }

    /// To the end of the thread.
    pub fn for_good() {
        std::mem::forget(Self::here());
    }
}

impl Drop for Uncancelled {
    fn drop(&mut self) {
        if self.before == PTHREAD_CANCEL_ENABLE {
            // SAFETY: as above. With the deferred kind of cancellation, the usual one, nothing happens before the next cancellation point.
            unsafe { pthread_setcancelstate(self.before, std::ptr::null_mut()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_memory::sync::{AtomicU32, Ordering};
    use std::ffi::c_void;

    unsafe extern "C-unwind" {
        fn pthread_testcancel();
    }

    static PASSED: AtomicU32 = AtomicU32::new(0);

    extern "C-unwind" fn passes_points(_: *mut c_void) -> *mut c_void {
        let outer = Uncancelled::here();
        {
            let _inner = Uncancelled::here();
            // SAFETY: it is this thread, and the state says that the cancellation waits.
            unsafe {
                libc::pthread_cancel(libc::pthread_self());
                pthread_testcancel();
            }
        }
        // SAFETY: the outer one still lives.
        unsafe { pthread_testcancel() };
        PASSED.store(1, Ordering::SeqCst);
        drop(outer);
        // SAFETY: nothing is left that would have to be dropped.
        unsafe { pthread_testcancel() };
        PASSED.store(2, Ordering::SeqCst);
        std::ptr::null_mut()
    }

    #[test]
    fn a_cancellation_waits_for_the_outermost() {
        let begin: extern "C-unwind" fn(*mut c_void) -> *mut c_void = passes_points;
        // SAFETY: the two differ in what may come out of the function, and for the C library it is a forced end.
        let begin: extern "C" fn(*mut c_void) -> *mut c_void = unsafe { std::mem::transmute(begin) };
        let (mut thread, mut result) = (std::mem::MaybeUninit::uninit(), std::ptr::null_mut());
        // SAFETY: places for what comes out; the thread is joined once.
        unsafe {
            let made =
                libc::pthread_create(thread.as_mut_ptr(), std::ptr::null(), begin, std::ptr::null_mut());
            assert_eq!(made, 0);
            assert_eq!(libc::pthread_join(thread.assume_init(), &raw mut result), 0);
        }
        assert_eq!(
            (PASSED.load(Ordering::SeqCst), result.addr()),
            (1, usize::MAX),
            "cancelled at the third point"
        );
    }
}
