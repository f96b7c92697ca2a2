//! A pointer of each thread that is given back when the thread ends.
//!
//! The standard library's words with a destructor take memory when a thread first uses one, and the C library ends the process if there is
//! none. Keys of threads are told so: setting one may fail, and does not for the first thirty-two of a process, for which each thread has
//! room from its start.

use crate::Failure;
use leveret_memory::sync::{AtomicU32, Ordering};
use rustix::io::Errno;
use std::ffi::c_void;
use std::mem::MaybeUninit;

/// A pointer of each thread; null until it is set.
pub struct ThreadValue {
    /// The C library's key and one more; 0: there is none yet.
    key: AtomicU32,
}

impl ThreadValue {
    /// One that is null everywhere until it is created.
    pub const fn new() -> Self {
        Self { key: AtomicU32::new(0) }
    }

    /// Creates it, if that was not done before. When a thread ends, `end` gets what it has, unless that is null.
    ///
    /// # Errors
    /// When the process has as many keys as there can be.
    pub fn create(&self, end: unsafe extern "C" fn(*mut c_void)) -> Result<(), Failure> {
        if self.key().is_some() {
            return Ok(());
        }
        let mut key = MaybeUninit::uninit();
        // SAFETY: a place for the key.
        let answer = unsafe { libc::pthread_key_create(key.as_mut_ptr(), Some(end)) };
        if answer != 0 {
            return Err(Failure::new("pthread_key_create", Errno::from_raw_os_error(answer)));
        }
        // SAFETY: the call has written it.
        let key = unsafe { key.assume_init() };
        if self.key.compare_exchange(0, key + 1, Ordering::AcqRel, Ordering::Acquire).is_err() {
            // SAFETY: another thread was faster, and nobody has seen this one.
            unsafe { libc::pthread_key_delete(key) };
        }
        Ok(())
    }

    fn key(&self) -> Option<libc::pthread_key_t> {
        self.key.load(Ordering::Acquire).checked_sub(1)
    }

    /// What this thread has.
    pub fn get(&self) -> *mut c_void {
        // SAFETY: the key was created, and is never deleted.
        self.key().map_or(std::ptr::null_mut(), |key| unsafe { libc::pthread_getspecific(key) })
    }

    /// Whether this thread has `value` from here on; if not, it has what it had.
    ///
    /// # Safety
    /// The function that the value was created with may get this one at the thread's end, unless it is null.
    #[must_use]
    pub unsafe fn set(&self, value: *mut c_void) -> bool {
        // SAFETY: as above; the pointer is only kept.
        self.key().is_some_and(|key| unsafe { libc::pthread_setspecific(key, value) } == 0)
    }
}

impl Default for ThreadValue {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static GIVEN_BACK: AtomicU32 = AtomicU32::new(0);

    unsafe extern "C" fn give_back(value: *mut c_void) {
        GIVEN_BACK.fetch_add(value.addr() as u32, Ordering::SeqCst);
    }

    #[test]
    fn each_thread_has_its_own_and_gives_it_back() {
        static VALUE: ThreadValue = ThreadValue::new();
        // SAFETY: here and below `give_back` takes any number.
        let is_set = unsafe { VALUE.set(std::ptr::dangling_mut()) };
        assert!(VALUE.get().is_null() && !is_set, "there is no key yet");
        VALUE.create(give_back).unwrap();
        VALUE.create(give_back).unwrap();
        let of = |number: usize| std::ptr::without_provenance_mut(number);
        // SAFETY: as above.
        assert!(unsafe { VALUE.set(of(1)) });
        std::thread::spawn(move || {
            assert!(VALUE.get().is_null());
            // SAFETY: as above.
            assert!(unsafe { VALUE.set(of(20)) && VALUE.set(of(30)) });
            assert_eq!(VALUE.get(), of(30));
        })
        .join()
        .unwrap();
        assert_eq!(GIVEN_BACK.load(Ordering::SeqCst), 30);
        assert_eq!(VALUE.get(), of(1));
        // SAFETY: as above.
        assert!(unsafe { VALUE.set(of(0)) });
    }
}
