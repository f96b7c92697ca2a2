//! What follows a panic in the library: an error with its message, and a library that goes on.

use crate::answer::{answer, detail};
use crate::functions::{MPIRT_Commit, MPIRT_Finalize, MPIRT_Init, MPIRT_Uncommit};
use crate::job;
use crate::state::{self, with_committed, with_library};
use leveret_runtime::objects::Code;
use std::ffi::{CStr, c_int};

const INTERNAL: c_int = Code::Internal as c_int;

fn said() -> String {
    // SAFETY: a text with a closing zero byte, valid until the next one is made.
    unsafe { CStr::from_ptr(detail(|_, _, _| Ok(false))) }.to_string_lossy().into_owned()
}

/// As a function of setup that fails with the library in its hands.
#[allow(non_snake_case, reason = "named as what it stands for")]
fn MPIRT_Fails_in_setup() -> c_int {
    answer(|| {
        with_library(|library| -> Result<(), Code> {
            let made = library.world.cset("made before the panic")?;
            panic!("on purpose, with {made:?} made");
        })
    })
}

/// As a function of the data path.
#[allow(non_snake_case, reason = "named as what it stands for")]
fn MPIRT_Fails_on_the_data_path() -> c_int {
    answer(|| {
        with_committed(|committed| -> Result<(), Code> { panic!("on purpose, at {:?}", committed.epoch()) })
    })
}

// spec: ERROR-PANIC-01
#[test]
fn a_library_that_has_failed_can_be_used_and_finalised() {
    job::run("panic_tests::member_whose_library_fails", 1);
}

#[test]
#[ignore = "it is a member of the job that the test above runs"]
fn member_whose_library_fails() {
    // SAFETY: both may be null.
    assert_eq!(unsafe { MPIRT_Init(std::ptr::null_mut(), std::ptr::null_mut()) }, 0);
    for round in 0..2 {
        assert_eq!(MPIRT_Fails_in_setup(), INTERNAL);
        let text = said();
        assert!(text.starts_with("MPIRT_Fails_in_setup: ") && text.contains("on purpose, with"), "{text}");
        let made = with_library(|library| library.world.cset("made after it")).expect("the library lives");
        with_library(|library| library.world.free(made)).expect("it was made");
        let gone = with_library(|library| library.world.class(made));
        assert_eq!(gone, Err(Code::StaleObject), "round {round}");
        // SAFETY: it takes nothing.
        assert_eq!(unsafe { MPIRT_Commit() }, 0, "{}", said());
        assert_eq!(MPIRT_Fails_on_the_data_path(), INTERNAL);
        let text = said();
        assert!(
            text.starts_with("MPIRT_Fails_on_the_data_path: ") && text.contains("on purpose, at"),
            "{text}"
        );
        assert!(with_committed(|committed| committed.epoch()).is_ok());
        // SAFETY: it takes nothing.
        assert_eq!(unsafe { MPIRT_Uncommit() }, 0, "{}", said());
    }
    assert_eq!(MPIRT_Fails_in_setup(), INTERNAL);
    // SAFETY: it takes nothing.
    assert_eq!(unsafe { MPIRT_Finalize() }, 0, "{}", said());
    assert_eq!(state::stage(), (true, true));
    job::passed();
}
