//! Calls of a program's functions that come back even if the function does not return.
//!
//! `pthread_exit`, the cancellation of a thread and exceptions of C++ take the stack down frame by frame, and Rust's `catch_unwind` ends the
//! process at each of them. So the one frame that is not Rust's, `enter`, says through its personality routine that it handles whatever is no
//! panic: the unwinder runs the destructors of the frames above it and goes on in `enter`, as in a `catch (...)` of C++. An exception is caught
//! there by the C++ library's own functions, so that `std::uncaught_exceptions` counts right and the exception is freed. A call costs the
//! registers that `enter` puts aside, and nothing else.
//!
//! ```text
//!   contained   ── waits for `enter`
//!     enter     ── puts the registers aside; `personality` lets the unwinder end here   ◄──┐
//!       inner   ── calls the body                                                         │
//!         body, the program's function, pthread_exit or throw, the unwinder  ─────────────┘
//! ```

use std::ffi::c_void;

/// The function did not return: it has ended its thread (`pthread_exit`), was cancelled, or threw an exception of C++. The thread goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unreturned {
    /// What the exception says (`what()`), or of which type it was; `None` of an end of the thread.
    pub said: Option<String>,
}

/// Runs `body`, which calls a function of a program; says so when it does not come back.
///
/// # Errors
/// [`Unreturned`]. A panic is not caught.
#[inline]
pub fn contained(body: impl FnOnce()) -> Result<(), Unreturned> {
    imp::contained(body)
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod imp {
    use super::{Unreturned, c_void};
    use crate::thrown;
    use std::arch::{asm, naked_asm};
    use std::ffi::c_int;
    use std::mem::transmute;

    // Of the unwinder's interface (Itanium C++ ABI, level I), which is stable.
    const SEARCH_PHASE: c_int = 1;
    const HANDLER_FRAME: c_int = 4;
    const FORCE_UNWIND: c_int = 8;
    const HANDLER_FOUND: c_int = 6;
    const INSTALL_CONTEXT: c_int = 7;
    const CONTINUE_UNWIND: c_int = 8;
    /// The register that the landing pad finds the exception in, by its number in DWARF: rax.
    const RAX: c_int = 0;

    /// The class of exception of a panic, as this standard library and older ones write it.
    const PANICS: [u64; 2] = [u64::from_ne_bytes(*b"MOZ\0RUST"), u64::from_be_bytes(*b"MOZ\0RUST")];
    /// Of the C++ libraries: the vendors' first four letters and "C++"; the last byte says whether it is shared with `std::exception_ptr`.
    const OF_CPP: [u64; 2] = [u64::from_be_bytes(*b"GNUCC++\0"), u64::from_be_bytes(*b"CLNGC++\0")];

    unsafe extern "C" {
        fn _Unwind_SetGR(context: *mut c_void, register: c_int, value: usize);
        fn _Unwind_SetIP(context: *mut c_void, address: usize);
        fn _Unwind_DeleteException(exception: *mut c_void);
    }

    type Enclosed = unsafe extern "C-unwind" fn(*mut c_void);

    pub(super) fn contained<F: FnOnce()>(body: F) -> Result<(), Unreturned> {
        let mut body = Some(body);
        // SAFETY: `inner` gets the body that it is for, which lives until this call is over.
        match unsafe { enter(inner::<F>, (&raw mut body).cast()) } {
            0 => Ok(()),
            UNSAID => Err(Unreturned { said: None }),
            said => {
                let said = std::ptr::with_exposed_provenance_mut::<String>(said);
                // SAFETY: `caught` made it of a box, for this call.
                Err(Unreturned { said: Some(*unsafe { Box::from_raw(said) }) })
            }
        }
    }

    /// # Safety
    /// It is called by `enter`, with an `Option<F>`.
    unsafe extern "C-unwind" fn inner<F: FnOnce()>(body: *mut c_void) {
        // SAFETY: the caller's promise.
        let body = unsafe { (*body.cast::<Option<F>>()).take() };
        if let Some(body) = body {
            body();
        }
    }

    /// Puts the registers aside that a function must preserve, and calls `inner(body)`. 0 when that returns; what `caught` gives when the unwinder
    /// has ended it, which sets the registers back and goes on in `cut`.
    #[unsafe(naked)]
    unsafe extern "C-unwind" fn enter(inner: Enclosed, body: *mut c_void) -> usize {
        naked_asm!(
            ".cfi_startproc",
            // Relative to the place (DW_EH_PE_pcrel | DW_EH_PE_sdata4). No language-specific data name `cut`: a linker that drops unused sections
            // does not count that as a use of code.
            ".cfi_personality 0x1b, {personality}",
            "push rbp",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset rbp, -16",
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            "push rbx",
            ".cfi_offset rbx, -24",
            "push r12",
            ".cfi_offset r12, -32",
            "push r13",
            ".cfi_offset r13, -40",
            "push r14",
            ".cfi_offset r14, -48",
            "push r15",
            ".cfi_offset r15, -56",
            // The stack is aligned at a call.
            "sub rsp, 8",
            "mov rax, rdi",
            "mov rdi, rsi",
            "call rax",
            "xor eax, eax",
            "add rsp, 8",
            "pop r15",
            "pop r14",
            "pop r13",
            "pop r12",
            "pop rbx",
            "pop rbp",
            ".cfi_def_cfa rsp, 8",
            "ret",
            ".cfi_endproc",
            personality = sym personality,
        )
    }

    /// Where the unwinder goes on, in the frame of `enter`: returns from there with what `caught` gives.
    #[unsafe(naked)]
    unsafe extern "C" fn cut() {
        naked_asm!(
            ".cfi_startproc",
            ".cfi_def_cfa rsp, 64",
            ".cfi_offset rbp, -16",
            ".cfi_offset rbx, -24",
            ".cfi_offset r12, -32",
            ".cfi_offset r13, -40",
            ".cfi_offset r14, -48",
            ".cfi_offset r15, -56",
            "mov rdi, rax",
            "call {caught}",
            "add rsp, 8",
            "pop r15",
            "pop r14",
            "pop r13",
            "pop r12",
            "pop rbx",
            "pop rbp",
            "ret",
            ".cfi_endproc",
            caught = sym caught,
        )
    }

    /// What the unwinder asks at the frame of `enter`: a panic passes, and everything else ends there.
    ///
    /// # Safety
    /// The unwinder calls it, for a frame of `enter`.
    unsafe extern "C" fn personality(
        _version: c_int,
        actions: c_int,
        class: u64,
        exception: *mut c_void,
        context: *mut c_void,
    ) -> c_int {
        let is_forced = actions & FORCE_UNWIND != 0;
        if !is_forced && PANICS.contains(&class) {
            return CONTINUE_UNWIND;
        }
        if actions & SEARCH_PHASE != 0 {
            return HANDLER_FOUND;
        }
        if !is_forced && actions & HANDLER_FRAME == 0 {
            return CONTINUE_UNWIND;
        }
        // An end of the thread has no exception that anybody frees.
        let held = if is_forced { 0 } else { exception.expose_provenance() };
        let landing: unsafe extern "C" fn() = cut;
        // SAFETY: the context is of a frame of `enter`, whose landing pad `cut` is.
        unsafe {
            _Unwind_SetGR(context, RAX, held);
            _Unwind_SetIP(context, landing as usize);
        }
        INSTALL_CONTEXT
    }

    /// Frees an exception that has ended at `enter`, as the end of a `catch` does. Gives [`UNSAID`], or a box with what it says.
    ///
    /// # Safety
    /// It is null, or an exception that the unwinder has brought to its handler.
    unsafe extern "C" fn caught(exception: *mut c_void) -> usize {
        if exception.is_null() {
            return UNSAID;
        }
        // SAFETY: an exception begins with its class.
        let class = unsafe { exception.cast::<u64>().read() };
        let mut said = None;
        match cpp_catch() {
            // SAFETY: this is its handler; it begins and ends once, and the exception lives in between.
            Some((begin, end)) if OF_CPP.contains(&(class & !0xff)) => unsafe {
                begin(exception);
                if OF_CPP.contains(&class) {
                    said = thrown::text_of(exception);
                }
                end();
            },
            // SAFETY: nobody else has it.
            _ => unsafe { _Unwind_DeleteException(exception) },
        }
        said.map_or(UNSAID, |said| Box::into_raw(Box::new(said)).expose_provenance())
    }

    /// No address of a box.
    const UNSAID: usize = 1;
    type BeginCatch = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
    type EndCatch = unsafe extern "C" fn();

    /// How the C++ library enters and leaves a handler; `None` in a program without one. So this library need not be linked to it.
    fn cpp_catch() -> Option<(BeginCatch, EndCatch)> {
        let (begin, end): (*const c_void, *const c_void);
        // SAFETY: it reads two addresses that the linker fills in; those of weak symbols that nobody has are null.
        unsafe {
            asm!(
                ".weak __cxa_begin_catch",
                ".weak __cxa_end_catch",
                "mov {begin}, qword ptr [rip + __cxa_begin_catch@GOTPCREL]",
                "mov {end}, qword ptr [rip + __cxa_end_catch@GOTPCREL]",
                begin = out(reg) begin,
                end = out(reg) end,
                options(nostack, pure, readonly, preserves_flags),
            );
        }
        // SAFETY: they are null, or what the C++ ABI declares so.
        unsafe {
            let begin = transmute::<*const c_void, Option<BeginCatch>>(begin);
            let end = transmute::<*const c_void, Option<EndCatch>>(end);
            begin.zip(end)
        }
    }
}

/// Where there is no way back, the process ends with a sentence that says why.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
mod imp {
    use super::Unreturned;

    pub(super) fn contained(body: impl FnOnce()) -> Result<(), Unreturned> {
        struct Guard;
        impl Drop for Guard {
            fn drop(&mut self) {
                // A panic is on its way to whoever catches it.
                if !std::thread::panicking() {
                    end();
                }
            }
        }
        let guard = Guard;
        body();
        std::mem::forget(guard);
        Ok(())
    }

    fn end() {
        eprintln!(
            "leveret: a function that the program gave to the library has ended its thread (pthread_exit, cancellation or an exception); \
             it must return"
        );
        std::process::abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    unsafe extern "C-unwind" {
        fn pthread_exit(value: *mut c_void) -> !;
    }

    #[test]
    fn what_returns_has_run_once() {
        let mut runs = 0;
        assert_eq!(contained(|| runs += 1), Ok(()));
        assert_eq!(runs, 1);
    }

    #[test]
    fn a_panic_passes_through_and_ends_where_it_is_caught() {
        for _ in 0..3 {
            let caught = catch_unwind(AssertUnwindSafe(|| contained(|| panic!("on purpose"))));
            assert_eq!(*caught.unwrap_err().downcast_ref::<&str>().unwrap(), "on purpose");
        }
        assert_eq!(contained(|| ()), Ok(()));
    }

    struct Counts<'c>(&'c Cell<u32>);

    impl Drop for Counts<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }

    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[test]
    fn a_thread_that_ends_itself_within_goes_on_behind_the_call() {
        std::thread::spawn(|| {
            let dropped = Cell::new(0);
            for turn in 1..=3_u32 {
                let seen = std::hint::black_box([u64::from(turn); 8]);
                let answer = contained(|| {
                    let _counts = Counts(&dropped);
                    // One within another is the inner one's.
                    // SAFETY: what the thread has is dropped on the way.
                    let inner = contained(|| unsafe { pthread_exit(std::ptr::null_mut()) });
                    assert_eq!(inner, Err(Unreturned { said: None }));
                    // SAFETY: as above.
                    unsafe { pthread_exit(std::ptr::null_mut()) }
                });
                assert_eq!(answer, Err(Unreturned { said: None }));
                assert_eq!((dropped.get(), seen), (turn, [u64::from(turn); 8]));
            }
            // It can still panic, and catch that.
            assert!(catch_unwind(|| panic!("on purpose")).is_err());
        })
        .join()
        .unwrap();
    }
}
