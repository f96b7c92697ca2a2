//! How a function answers.

use leveret_runtime::objects::Code;
use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// What every function returns when all is well.
pub(crate) const SUCCESS: c_int = 0;

/// Runs a function's body; a panic is an error like others.
#[inline(always)]
pub(crate) fn answer(body: impl FnOnce() -> Result<(), Code>) -> c_int {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => SUCCESS,
        Ok(Err(code)) => code as c_int,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().copied();
            let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            keep_detail(text.unwrap_or("a panic without a message"));
            Code::Internal as c_int
        }
    }
}

/// What the last failing setup call has to add to its code. Texts that were given out stay where they are.
static DETAILS: Mutex<Vec<CString>> = Mutex::new(Vec::new());

/// Keeps a text for `MPIRTX_Error_detail`.
pub(crate) fn keep_detail(text: &str) {
    let clean: Vec<u8> = text.bytes().filter(|byte| *byte != 0).collect();
    let mut details = DETAILS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Ok(text) = CString::new(clean)
        && details.last() != Some(&text)
    {
        details.push(text);
    }
}

/// The text that was kept last.
pub(crate) fn detail() -> *const c_char {
    let details = DETAILS.lock().unwrap_or_else(PoisonError::into_inner);
    details.last().map_or(c"".as_ptr(), |text| text.as_ptr())
}
