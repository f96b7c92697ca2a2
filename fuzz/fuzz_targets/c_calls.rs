//! Any sequence of calls of the C interface, with any handles: none crashes, hangs, or gives a code that is not of its list. The job is of this
//! process alone, which nobody has started as a member of another.

// The library itself; its functions are found by their symbols.
use mpirt as _;
use std::ffi::{CStr, c_char, c_int};

unsafe extern "C" {
    fn c_calls_begin() -> c_int;
    fn c_calls(bytes: *const u8, size: usize, code: *mut c_int) -> *const c_char;
}

/// Makes this process a job.
pub fn begin() {
    // SAFETY: it is called once, before everything else.
    let code = unsafe { c_calls_begin() };
    assert_eq!(code, 0, "there is no job");
}

pub fn run(bytes: &[u8]) {
    let mut code = 0;
    // SAFETY: so many bytes are there, and the code has a place.
    let wrong = unsafe { c_calls(bytes.as_ptr(), bytes.len(), &raw mut code) };
    if !wrong.is_null() {
        // SAFETY: a function's name.
        let name = unsafe { CStr::from_ptr(wrong) };
        panic!("{} gives {code}, which is none of its codes", name.to_string_lossy());
    }
}
