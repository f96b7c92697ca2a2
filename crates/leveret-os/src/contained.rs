//! Calls of a program's functions that come back even if the function does not return.
//!
//! `pthread_exit`, and the cancellation of a thread, take the stack down frame by frame, and no frame of Rust may stop that: at its
//! `catch_unwind` the process ends. A frame of Rust may do what it has to on the way, though, and here that is to go on from where the
//! function was called, as `longjmp` would. So a call costs the registers that it puts aside, and nothing else.
//!
//! ```text
//!   contained   ── waits for `enter`
//!     enter     ── puts the registers aside                     ◄──┐
//!       inner   ── has the guard                                   │ `leave`
//!         body, the program's function, pthread_exit, unwinder  ───┘ from the guard's drop
//! ```

use std::ffi::c_void;

/// The function did not return: it has ended its thread (`pthread_exit`), was cancelled, or threw an exception of C++. The thread goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unreturned;

/// Runs `body`, which calls a function of a program; says so when it does not come back.
///
/// # Errors
/// [`Unreturned`]. A panic is not caught.
#[inline]
pub fn contained(body: impl FnOnce()) -> Result<(), Unreturned> {
    imp::contained(body)
}

/// Runs `body` under a guard that ends up in `leave` if it is cut off.
///
/// # Safety
/// `leave`, if it comes back, may leave `body` unfinished.
#[inline(always)]
unsafe fn guarded(body: impl FnOnce(), leave: impl FnMut()) {
    struct Guard<L: FnMut()>(L);
    impl<L: FnMut()> Drop for Guard<L> {
        fn drop(&mut self) {
            // A panic is on its way to whoever catches it.
            if !std::thread::panicking() {
                (self.0)();
            }
        }
    }
    let guard = Guard(leave);
    body();
    std::mem::forget(guard);
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod imp {
    use super::{Unreturned, c_void, guarded};
    use std::arch::naked_asm;

    /// What `contained` and `inner` share.
    struct Frame<F> {
        /// The stack as `enter` has it while it waits.
        resume: *mut c_void,
        body: Option<F>,
    }

    pub(super) fn contained<F: FnOnce()>(body: F) -> Result<(), Unreturned> {
        let mut frame = Frame { resume: std::ptr::null_mut(), body: Some(body) };
        let place = &raw mut frame;
        // SAFETY: `inner` gets the frame that it is for, which lives until this call is over, and `resume` is of that call.
        let is_cut = unsafe { enter(&raw mut (*place).resume, inner::<F>, place.cast()) };
        if is_cut == 0 { Ok(()) } else { Err(Unreturned) }
    }

    /// # Safety
    /// It is called by `enter`, with a `Frame<F>`.
    unsafe extern "C-unwind" fn inner<F: FnOnce()>(frame: *mut c_void) {
        let frame: *mut Frame<F> = frame.cast();
        // SAFETY: the caller's promise.
        let Some(body) = (unsafe { (*frame).body.take() }) else { return };
        // SAFETY: `enter` has set it, and waits for this function. What is cut off are frames of C and of the unwinder, which has run what the
        // frames of Rust above them have to drop.
        unsafe { guarded(body, || leave((*frame).resume)) };
    }

    /// Puts the registers aside that a function must preserve, and calls `inner(frame)`. 0 when that returns, 1 after `leave`.
    #[unsafe(naked)]
    unsafe extern "C-unwind" fn enter(
        resume: *mut *mut c_void,
        inner: unsafe extern "C-unwind" fn(*mut c_void),
        frame: *mut c_void,
    ) -> u32 {
        naked_asm!(
            ".cfi_startproc",
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
            "mov [rdi], rsp",
            "mov rdi, rdx",
            "call rsi",
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
        )
    }

    /// Returns from `enter` once more, with 1.
    #[unsafe(naked)]
    unsafe extern "C" fn leave(resume: *mut c_void) {
        naked_asm!(
            "mov rsp, rdi",
            "mov eax, 1",
            "add rsp, 8",
            "pop r15",
            "pop r14",
            "pop r13",
            "pop r12",
            "pop rbx",
            "pop rbp",
            "ret",
        )
    }
}

/// Where there is no way back, the process ends with a sentence that says why.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
mod imp {
    use super::{Unreturned, guarded};

    pub(super) fn contained(body: impl FnOnce()) -> Result<(), Unreturned> {
        // SAFETY: it does not come back.
        unsafe { guarded(body, || end()) };
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
                    assert_eq!(inner, Err(Unreturned));
                    // SAFETY: as above.
                    unsafe { pthread_exit(std::ptr::null_mut()) }
                });
                assert_eq!(answer, Err(Unreturned));
                assert_eq!((dropped.get(), seen), (turn, [u64::from(turn); 8]));
            }
            // It can still panic, and catch that.
            assert!(catch_unwind(|| panic!("on purpose")).is_err());
        })
        .join()
        .unwrap();
    }
}
