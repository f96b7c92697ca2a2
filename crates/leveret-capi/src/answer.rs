//! How a function answers, and what a thread's last error was about.
//!
//! An error costs two words of the thread's own: which function, which code. The text is made when it is asked for.

use leveret_runtime::objects::Code;
use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What every function returns when all is well.
pub(crate) const SUCCESS: c_int = 0;

/// A thread's last error.
#[derive(Clone, Copy)]
struct Last {
    /// A type that is named after the function that failed; empty: there was no error.
    place: &'static str,
    code: c_int,
    /// The text that was kept says it all.
    is_explained: bool,
    /// The handle of an object that the remedy names, or 0.
    subject: u64,
}

const NONE: Last = Last { place: "", code: SUCCESS, is_explained: false, subject: 0 };

thread_local! {
    /// Plain data, so that an error on the data path allocates nothing.
    static LAST: Cell<Last> = const { Cell::new(NONE) };
    /// Whether the call under way has kept a text, and which object it is about.
    static SAID: Cell<(bool, u64)> = const { Cell::new((false, 0)) };
    /// What a failing setup call has to add to its code.
    static KEPT: RefCell<String> = const { RefCell::new(String::new()) };
    /// The text that was given out last.
    static SHOWN: RefCell<CString> = RefCell::default();
}

/// Runs a function's body; a panic is an error like others. The body stands within the function, so that its type's name
/// says which function it is.
#[inline(always)]
pub(crate) fn answer<F: FnOnce() -> Result<(), Code>>(body: F) -> c_int {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => SUCCESS,
        Ok(Err(code)) => refuse(std::any::type_name::<F>(), code),
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().copied();
            let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            let place = std::any::type_name::<F>();
            keep_detail(&format!(
                "{}: the library has failed: {}; please report it with this text",
                function_in(place),
                text.unwrap_or("a panic without a message")
            ));
            refuse(place, Code::Internal)
        }
    }
}

#[cold]
fn refuse(place: &'static str, code: Code) -> c_int {
    let (is_explained, subject) = SAID.replace((false, 0));
    LAST.set(Last { place, code: code as c_int, is_explained, subject });
    code as c_int
}

/// Makes this thread's texts, so that they need not be made when there is no memory.
pub(crate) fn settle() {
    // A thread that is ending has none any more, and needs none.
    let _ = KEPT.try_with(|_| ());
    let _ = SHOWN.try_with(|_| ());
}

/// Keeps a text for `MPIRTX_Error_detail`, in a call that is about to fail.
pub(crate) fn keep_detail(text: &str) {
    if text.is_empty() {
        return;
    }
    let is_kept = KEPT.try_with(|kept| text.clone_into(&mut kept.borrow_mut())).is_ok();
    SAID.set((is_kept, SAID.get().1));
}

/// Says which object the call that is about to fail is about; no more than a word is kept.
pub(crate) fn keep_subject(handle: u64) {
    SAID.set((SAID.get().0, handle));
}

/// What the calling thread's last error was about; `name_of` names the object of a handle. Valid until the thread's next
/// call of this function after another error.
pub(crate) fn detail(name_of: impl FnOnce(u64) -> Option<String>) -> *const c_char {
    let last = LAST.get();
    let Some(code) = Code::of(last.code) else { return c"".as_ptr() };
    let text = if last.is_explained {
        KEPT.try_with(|kept| kept.borrow().clone()).unwrap_or_default()
    } else {
        let subject = (last.subject != 0).then(|| name_of(last.subject)).flatten().unwrap_or_default();
        format!("{}: {}{subject}; {}", function_in(last.place), code.text(), code.remedy())
    };
    let clean: Vec<u8> = text.bytes().filter(|byte| *byte != 0).collect();
    let text = CString::new(clean).unwrap_or_default();
    let shown = SHOWN.try_with(|shown| {
        let mut shown = shown.borrow_mut();
        // The same text stays where it is: it may have been given out since the error.
        if *shown != text {
            *shown = text;
        }
        shown.as_ptr()
    });
    shown.unwrap_or(c"".as_ptr())
}

/// The C function within which a type stands.
fn function_in(place: &str) -> &str {
    place.split("::").find(|part| part.starts_with("MPIRT")).unwrap_or("the call")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    /// As C reads it, with every object called "it".
    fn said() -> String {
        let text = detail(|handle| Some(format!(", it is {handle}")));
        // SAFETY: a text with a closing zero byte, valid until the next one is made.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    #[allow(non_snake_case, reason = "named as what it stands for")]
    fn MPIRT_Stand_in(result: Result<(), Code>) -> c_int {
        answer(|| result)
    }

    #[allow(non_snake_case, reason = "named as what it stands for")]
    fn MPIRT_Failing() -> c_int {
        answer(|| panic!("on purpose"))
    }

    // spec: ERROR-DETAIL-01, ERROR-DETAIL-02
    #[test]
    fn a_detail_names_the_function_and_the_remedy_and_is_its_threads() {
        assert_eq!(said(), "");
        assert_eq!(MPIRT_Stand_in(Err(Code::Slack)), Code::Slack as c_int);
        let first = said();
        assert!(first.starts_with("MPIRT_Stand_in: as many transfers as the slack allows"), "{first}");
        assert!(first.ends_with(Code::Slack.remedy()), "{first}");
        assert_eq!(MPIRT_Stand_in(Ok(())), SUCCESS);
        assert_eq!(said(), first, "a success does not clear it");
        std::thread::spawn(|| {
            assert_eq!(said(), "", "another thread has its own");
            MPIRT_Stand_in(Err(Code::Empty));
        })
        .join()
        .expect("it holds");
        assert_eq!(said(), first);
        keep_subject(7);
        MPIRT_Stand_in(Err(Code::NotAllowed));
        assert!(said().contains(", it is 7; "), "{}", said());
        MPIRT_Stand_in(Err(Code::NotAllowed));
        assert!(!said().contains("it is 7"), "{}", said());
    }

    #[test]
    fn a_panic_is_an_error_with_its_message() {
        assert_eq!(MPIRT_Failing(), Code::Internal as c_int);
        assert!(said().starts_with("MPIRT_Failing: ") && said().contains("on purpose"), "{}", said());
        keep_detail("a sentence of its own");
        MPIRT_Stand_in(Err(Code::Admission));
        assert_eq!(said(), "a sentence of its own");
        MPIRT_Stand_in(Err(Code::Admission));
        assert!(said().starts_with("MPIRT_Stand_in: "), "{}", said());
    }
}
