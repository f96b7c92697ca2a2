//! How a function answers, and what a thread's last error was about.
//!
//! An error costs two words of the thread's own: which function, which code. The text is made when it is asked for, in room that the thread
//! has from its start. What a setup call has to add takes memory; where there is none, the code must do.

use crate::state;
use leveret_os::thread_value::ThreadValue;
use leveret_runtime::objects::Code;
use std::alloc::{Layout, alloc};
use std::cell::{Cell, UnsafeCell};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What every function returns when all is well.
pub(crate) const SUCCESS: c_int = 0;

/// Room for a text that is made of a function's name, a code and an object's name, with the closing zero byte.
const SENTENCE_BYTES: usize = 640;

/// What of the text about an error was kept when it came up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Nothing,
    /// All of it.
    All,
    /// What to do about it.
    Remedy,
}

/// A thread's last error.
#[derive(Clone, Copy)]
struct Last {
    /// A type that is named after the function that failed; empty: there was no error.
    place: &'static str,
    code: c_int,
    said: Said,
    /// The handle of an object that the remedy names, or 0.
    subject: u64,
}

const NONE: Last = Last { place: "", code: SUCCESS, said: Said::Nothing, subject: 0 };

// Plain data, all of it: its first use by a thread takes no memory, and neither does the thread's end.
thread_local! {
    static LAST: Cell<Last> = const { Cell::new(NONE) };
    /// What text the call under way has kept, and which object it is about.
    static SAID: Cell<(Said, u64)> = const { Cell::new((Said::Nothing, 0)) };
    /// The sentence that was given out last.
    static SENTENCE: UnsafeCell<[u8; SENTENCE_BYTES]> = const { UnsafeCell::new([0; SENTENCE_BYTES]) };
}

/// Longer texts, of threads that had any: a [`Texts`].
static TEXTS: ThreadValue = ThreadValue::new();

/// Each with a closing zero byte.
#[derive(Default)]
struct Texts {
    /// What a failing setup call has to add to its code, until it is shown.
    kept: Vec<u8>,
    /// As it was given out.
    shown: Vec<u8>,
}

/// Before anything else: what the threads' longer texts are kept by.
///
/// # Errors
/// [`Code::NoMemory`].
pub(crate) fn prepare() -> Result<(), Code> {
    unsafe extern "C" fn end(texts: *mut c_void) {
        // SAFETY: the thread's own, which `texts` has made and nobody else knows.
        drop(unsafe { Box::from_raw(texts.cast::<Texts>()) });
    }
    TEXTS.create(end).map_err(|_| Code::NoMemory)
}

/// This thread's texts; `None` where there is no memory for them.
fn with_texts<T>(body: impl FnOnce(&mut Texts) -> Option<T>) -> Option<T> {
    let mut texts = TEXTS.get().cast::<Texts>();
    if texts.is_null() {
        // SAFETY: it has a size.
        texts = unsafe { alloc(Layout::new::<Texts>()) }.cast();
        if texts.is_null() {
            return None;
        }
        // SAFETY: it was allocated for that.
        unsafe { texts.write(Texts::default()) };
        // SAFETY: `end` takes a box of texts, and such is this memory.
        if !unsafe { TEXTS.set(texts.cast()) } {
            // SAFETY: allocated and written above, and nobody's.
            drop(unsafe { Box::from_raw(texts) });
            return None;
        }
    }
    // SAFETY: the thread's own, and `body` does not come here again.
    body(unsafe { &mut *texts })
}

/// Replaces a text, if there is memory for it.
fn store(text: &mut Vec<u8>, bytes: impl Iterator<Item = u8> + Clone) -> Option<()> {
    text.clear();
    text.try_reserve(bytes.clone().count()).ok()?;
    text.extend(bytes);
    Some(())
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
    let (said, subject) = SAID.replace((Said::Nothing, 0));
    LAST.set(Last { place, code: code as c_int, said, subject });
    code as c_int
}

/// Keeps a text for `MPIRTX_Error_detail`, in a call that is about to fail.
pub(crate) fn keep_detail(text: &str) {
    keep(text, Said::All);
}

/// As [`keep_detail`], of what to do instead of the code's remedy: the text names the function and the code's meaning before it.
pub(crate) fn keep_remedy(text: &str) {
    keep(text, Said::Remedy);
}

fn keep(text: &str, said: Said) {
    if text.is_empty() {
        return;
    }
    let clean = text.bytes().filter(|byte| *byte != 0).chain([0]);
    let is_kept = with_texts(|texts| store(&mut texts.kept, clean)).is_some();
    SAID.set((if is_kept { said } else { Said::Nothing }, SAID.get().1));
}

/// Says which object the call that is about to fail is about; no more than a word is kept.
pub(crate) fn keep_subject(handle: u64) {
    SAID.set((SAID.get().0, handle));
}

/// What the calling thread's last error was about; `about` writes what a code means for the object of a handle, and says whether that has
/// the remedy too. Valid until the thread's next call of this function after another error.
pub(crate) fn detail(
    about: impl FnOnce(Code, u64, &mut dyn Write) -> Result<bool, fmt::Error>,
) -> *const c_char {
    let last = LAST.get();
    let Some(code) = Code::of(last.code) else { return c"".as_ptr() };
    if last.said == Said::All
        && let Some(shown) = with_texts(|texts| Some(texts.show()))
    {
        return shown;
    }
    let mut sentence = Sentence { bytes: [0; SENTENCE_BYTES], length: 0 };
    // What has no room is left out.
    let _ = sentence.tell(last, code, about);
    SENTENCE.with(|place| {
        let place = place.get();
        // SAFETY: the thread's own, to which there is no reference; a pointer that was given out is for the program to read until now.
        unsafe {
            // The same text stays untouched: it may have been given out since the error.
            if *place != sentence.bytes {
                place.write(sentence.bytes);
            }
        }
        place.cast_const().cast()
    })
}

impl Texts {
    /// Takes no memory: what was kept without any is shown all the same.
    fn show(&mut self) -> *const c_char {
        if !self.kept.is_empty() && self.kept != self.shown {
            std::mem::swap(&mut self.kept, &mut self.shown);
        }
        // It is shown until another is kept.
        self.kept.clear();
        self.shown.as_ptr().cast()
    }
}

/// A text that is made without memory. What follows its end is zero.
struct Sentence {
    bytes: [u8; SENTENCE_BYTES],
    length: usize,
}

impl Sentence {
    fn tell(
        &mut self,
        last: Last,
        code: Code,
        about: impl FnOnce(Code, u64, &mut dyn Write) -> Result<bool, fmt::Error>,
    ) -> fmt::Result {
        let function = function_in(last.place);
        if code == Code::NotInitialized && state::is_child() {
            return write!(self, "{function}: {OF_A_CHILD}");
        }
        write!(self, "{function}: ")?;
        if last.subject == 0 {
            write!(self, "{}", code.text())?;
        } else if about(code, last.subject, self)? {
            return Ok(());
        }
        // A stop, and not a call of Uncommit, most likely: what is said of that would send the user astray.
        if code == Code::Uncommitted
            && let Some(told) = state::with_end_reason(|reason| write!(self, "; {reason}"))
        {
            return told;
        }
        let mut kept = || with_texts(|texts| self.tell_remedy(texts));
        match if last.said == Said::Remedy { kept() } else { None } {
            Some(told) => told,
            None => write!(self, "; {}", code.remedy()),
        }
    }

    fn tell_remedy(&mut self, texts: &Texts) -> Option<fmt::Result> {
        let text = CStr::from_bytes_with_nul(&texts.kept).ok()?.to_str().ok()?;
        Some(write!(self, "; {text}"))
    }
}

/// What every call says in a child of a member.
pub(crate) const OF_A_CHILD: &str = "this process is a child that fork has made of a member, and has no part in the job; it may call exec or \
     _exit, and the member goes on";

impl Write for Sentence {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // The last byte stays zero.
        let room = SENTENCE_BYTES - 1 - self.length;
        let end = text.floor_char_boundary(room);
        for byte in text.bytes().take(end).filter(|byte| *byte != 0) {
            self.bytes[self.length] = byte;
            self.length += 1;
        }
        if end < text.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

/// The C function within which a type stands.
fn function_in(place: &str) -> &str {
    place.split("::").find(|part| part.starts_with("MPIRT")).unwrap_or("the call")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As C reads it, with every object called "it".
    fn said() -> String {
        prepare().expect("there are keys");
        let text = detail(|code, handle, out| write!(out, "{}, it is {handle}", code.text()).map(|()| false));
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
        keep_detail("a sentence\0 of its own");
        MPIRT_Stand_in(Err(Code::Admission));
        assert_eq!(said(), "a sentence of its own");
        MPIRT_Stand_in(Err(Code::Admission));
        assert!(said().starts_with("MPIRT_Stand_in: "), "{}", said());
    }

    #[test]
    fn a_remedy_of_its_own_stands_where_the_codes_would() {
        keep_remedy("undo it with MPIRT_Other");
        MPIRT_Stand_in(Err(Code::ObjectCommitted));
        let expected = format!("MPIRT_Stand_in: {}; undo it with MPIRT_Other", Code::ObjectCommitted.text());
        assert_eq!((said(), said()), (expected.clone(), expected));
        MPIRT_Stand_in(Err(Code::ObjectCommitted));
        assert!(said().ends_with(Code::ObjectCommitted.remedy()), "{}", said());
        keep_subject(7);
        MPIRT_Stand_in(Err(Code::NotCommitted));
        let whole = detail(|_, handle, out| write!(out, "{handle} is elsewhere; go there").map(|()| true));
        // SAFETY: a text with a closing zero byte, valid until the next one is made.
        let whole = unsafe { CStr::from_ptr(whole) }.to_string_lossy();
        assert_eq!(whole, "MPIRT_Stand_in: 7 is elsewhere; go there");
    }

    #[test]
    fn the_longest_sentence_has_room_and_what_has_none_is_left_out() {
        let longest =
            Code::ALL.iter().map(|code| code.text().len() + code.remedy().len()).max().unwrap_or_default();
        // A function's name; a buffer's name and its handle.
        assert!(longest + 64 + leveret_types::NAME_BYTES_MAX + 80 < SENTENCE_BYTES, "{longest}");
        let mut sentence = Sentence { bytes: [0; SENTENCE_BYTES], length: 0 };
        assert!(write!(sentence, "{}ü", "x".repeat(SENTENCE_BYTES - 2)).is_err());
        assert_eq!(sentence.bytes[SENTENCE_BYTES - 3..], [b'x', 0, 0]);
        assert!(sentence.write_str("y").is_ok() && sentence.write_str("z").is_err());
    }

    #[test]
    fn the_same_text_stays_where_it_is() {
        MPIRT_Stand_in(Err(Code::Slack));
        let at = detail(|_, _, _| Ok(false)).addr();
        MPIRT_Stand_in(Ok(()));
        assert_eq!(detail(|_, _, _| Ok(false)).addr(), at);
        keep_detail("a sentence of its own");
        MPIRT_Stand_in(Err(Code::Admission));
        let at = detail(|_, _, _| Ok(false)).addr();
        assert_eq!(detail(|_, _, _| Ok(false)).addr(), at);
    }
}
