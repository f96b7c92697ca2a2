//! Memory of another process that the program has addresses of and may only read: a store there is reported on standard error before the
//! signal ends the process, or before the handler runs that was installed earlier (a debugger's runtime, a sanitizer, a virtual machine).
//!
//! ```text
//!   guard ── TABLE[i] = description ── SIGSEGV installed once; BEFORE = the action that was there
//!   store ── SIGSEGV ── handle: TABLE has the address? write it down ── BEFORE: call it, or restore the default and fault again
//!   drop  ── TABLE[i] = null ── wait until no handler is inside ── the description is freed
//! ```
//!
//! The handler allocates nothing and takes no lock; it reads atomics and calls `poll`, `writev` and `sigaction`. A handler that the program
//! installs later comes first, and whether this one runs is up to it.

use crate::Region;
use leveret_memory::sync::{AtomicPtr, AtomicUsize, Ordering};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::{Arc, OnceLock};

/// More at once are not reported.
const GUARDED_MAX: usize = 256;
/// Standard error that nobody reads delays the end of the process by so much.
const PATIENCE_MS: c_int = 1000;

static TABLE: [AtomicPtr<Description>; GUARDED_MAX] =
    [const { AtomicPtr::new(ptr::null_mut()) }; GUARDED_MAX];
/// Handlers that read the table.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Buffers of one size at equal distances, and the sentence about a store to one of them. It is put together as
/// `{before}byte N of {name of the buffer}{after}`.
pub struct Description {
    /// The mapping that they lie in.
    pub region: Arc<dyn Region>,
    /// Address of the first byte of the first.
    pub first: usize,
    /// Bytes from one to the next.
    pub stride: usize,
    /// What each is called.
    pub names: Vec<String>,
    /// The sentence's beginning.
    pub before: String,
    /// And its end, with the cause and the remedy.
    pub after: String,
}

/// Where an address lies.
enum Place<'d> {
    /// At a byte of a buffer.
    Within(usize, &'d str),
    /// In the mapping, beside them.
    Beside,
}

impl Description {
    fn find(&self, address: usize) -> Option<Place<'_>> {
        let base = self.region.base().addr().get();
        if !(base..base + self.region.len()).contains(&address) {
            return None;
        }
        let offset = address.wrapping_sub(self.first);
        let name = self.names.get(offset / self.stride.max(1)).filter(|_| address >= self.first);
        Some(name.map_or(Place::Beside, |name| Place::Within(offset % self.stride, name)))
    }
}

/// Stores there are reported until it is dropped.
#[must_use]
pub struct Guard(usize);

/// Reports stores there from now on; `None` where the table is full, or the signal cannot be handled.
pub fn guard(description: Description) -> Option<Guard> {
    install()?;
    let described = Box::into_raw(Box::new(description));
    for (place, entry) in TABLE.iter().enumerate() {
        let taken = entry.compare_exchange(ptr::null_mut(), described, Ordering::SeqCst, Ordering::Relaxed);
        if taken.is_ok() {
            return Some(Guard(place));
        }
    }
    // SAFETY: it was made above, and no entry has it.
    drop(unsafe { Box::from_raw(described) });
    None
}

impl Drop for Guard {
    fn drop(&mut self) {
        let described = TABLE[self.0].swap(ptr::null_mut(), Ordering::SeqCst);
        // A handler that began before may still read it. It is there for the length of one message.
        while INSIDE.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
        // SAFETY: `guard` made it, the entry was this guard's alone, and whoever enters now does not find it.
        drop(unsafe { Box::from_raw(described) });
    }
}

type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// Once in a process.
fn install() -> Option<()> {
    if BEFORE.get().is_some() {
        return Some(());
    }
    // SAFETY: all-zero is a valid action; filled by the call.
    let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: without a new action the call only reads.
    if unsafe { libc::sigaction(libc::SIGSEGV, ptr::null(), &raw mut before) } != 0 {
        return None;
    }
    // Of two threads that come here at once one goes on.
    if BEFORE.set(before).is_err() {
        return Some(());
    }
    let handler: Handler = handle;
    // As the one before wants to be called: on which stack, with which signals blocked.
    let mut action = before;
    action.sa_sigaction = handler as *const () as libc::sighandler_t;
    action.sa_flags &= !libc::SA_RESETHAND;
    action.sa_flags |= libc::SA_SIGINFO;
    if before.sa_sigaction == libc::SIG_DFL || before.sa_sigaction == libc::SIG_IGN {
        action.sa_flags |= libc::SA_ONSTACK;
    }
    // SAFETY: the structure is valid, and the handler calls async-signal-safe functions only.
    let answer = unsafe { libc::sigaction(libc::SIGSEGV, &raw const action, ptr::null_mut()) };
    (answer == 0).then_some(())
}

/// # Safety
/// The kernel calls it, or another handler in its place with what the kernel gave that one.
unsafe extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the calling thread has its errno for as long as it lives.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: the caller's promise; a handler of this kind gets its information.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    // Pages of ours can be read, so what is denied is a store.
    if code == SEGV_ACCERR {
        INSIDE.fetch_add(1, Ordering::SeqCst);
        report(address);
        INSIDE.fetch_sub(1, Ordering::SeqCst);
    }
    // SAFETY: as above.
    unsafe {
        *libc::__errno_location() = errno;
        pass_on(signal, info, context);
    }
}

/// The page is there and denies the access; of `siginfo_t`, and not in the C library's bindings.
const SEGV_ACCERR: c_int = 2;

fn report(address: usize) {
    let mut beside = None;
    for entry in &TABLE {
        // SAFETY: an entry's description lives until the handlers are gone that may have found it, and this one has entered.
        let Some(described) = (unsafe { entry.load(Ordering::SeqCst).as_ref() }) else { continue };
        match described.find(address) {
            Some(Place::Within(byte, name)) => {
                let mut digits = [0; 20];
                let number = decimal(byte, &mut digits);
                let parts = [described.before.as_bytes(), b"byte ", number, b" of "];
                return say(parts, [name.as_bytes(), described.after.as_bytes(), b"\n"]);
            }
            // Another channel's buffers may lie in the same mapping.
            Some(Place::Beside) => beside = Some(described),
            None => {}
        }
    }
    if let Some(described) = beside {
        let parts = [described.before.as_bytes(), b"", b"", b""];
        say(parts, [b"memory beside the buffers", described.after.as_bytes(), b"\n"]);
    }
}

/// One line, in one piece where there is room for it.
fn say(first: [&[u8]; 4], then: [&[u8]; 3]) {
    let part =
        |bytes: &[u8]| libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let [a, b, c, d] = first.map(part);
    let [e, f, g] = then.map(part);
    let parts = [a, b, c, d, e, f, g];
    let mut ready = libc::pollfd { fd: libc::STDERR_FILENO, events: libc::POLLOUT, revents: 0 };
    // SAFETY: both are async-signal-safe; the structures and what they point to live until the calls are over.
    unsafe {
        if libc::poll(&raw mut ready, 1, PATIENCE_MS) == 1 {
            libc::writev(libc::STDERR_FILENO, parts.as_ptr(), parts.len() as c_int);
        }
    }
}

fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut from = digits.len();
    loop {
        from -= 1;
        digits[from] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[from..];
        }
    }
}

/// What would have happened without this handler.
///
/// # Safety
/// As [`handle`].
unsafe fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(before) = BEFORE.get() else { return };
    // SAFETY: the caller's promise.
    let was_sent = unsafe { (*info).si_code } <= 0;
    match before.sa_sigaction {
        libc::SIG_IGN if was_sent => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            restore_default(signal);
            // A fault comes again when the handler returns; a signal that a process sent does not.
            if was_sent {
                // SAFETY: async-signal-safe.
                unsafe { libc::raise(signal) };
            }
        }
        handler => {
            if before.sa_flags & libc::SA_RESETHAND != 0 {
                restore_default(signal);
            }
            // SAFETY: the action was installed with a handler of the kind that its flags say.
            unsafe {
                if before.sa_flags & libc::SA_SIGINFO != 0 {
                    std::mem::transmute::<usize, Handler>(handler)(signal, info, context);
                } else {
                    std::mem::transmute::<usize, unsafe extern "C" fn(c_int)>(handler)(signal);
                }
            }
        }
    }
}

fn restore_default(signal: c_int) {
    // SAFETY: all-zero is a valid action: the default one. It cannot fail for a signal that was accepted before.
    unsafe {
        let default: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, &raw const default, ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::private_memory::PrivateMemory;

    fn described(region: &Arc<dyn Region>) -> Description {
        Description {
            region: region.clone(),
            first: region.base().addr().get() + 128,
            stride: 256,
            names: vec!["a".to_owned(), "b".to_owned()],
            before: String::new(),
            after: String::new(),
        }
    }

    #[test]
    fn an_address_is_in_a_buffer_beside_them_or_elsewhere() {
        let region: Arc<dyn Region> = Arc::new(PrivateMemory::new(4096).expect("a page"));
        let base = region.base().addr().get();
        let found = |offset: usize| match described(&region).find(base.wrapping_add(offset)) {
            Some(Place::Within(byte, name)) => format!("{byte} of {name}"),
            Some(Place::Beside) => "beside".to_owned(),
            None => "elsewhere".to_owned(),
        };
        assert_eq!(
            [0, 127, 128, 383, 384, 639, 640, 4095, 4096, usize::MAX].map(found),
            [
                "beside",
                "beside",
                "0 of a",
                "255 of a",
                "0 of b",
                "255 of b",
                "beside",
                "beside",
                "elsewhere",
                "elsewhere"
            ]
        );
    }

    #[test]
    fn a_full_table_refuses_and_one_that_went_makes_room() {
        let region: Arc<dyn Region> = Arc::new(PrivateMemory::new(4096).expect("a page"));
        let mut guards: Vec<Guard> = (0..GUARDED_MAX).map_while(|_| guard(described(&region))).collect();
        assert_eq!(guards.len(), GUARDED_MAX);
        assert!(guard(described(&region)).is_none());
        guards.pop();
        guards.push(guard(described(&region)).expect("one place is free"));
        drop(guards);
        assert_eq!(Arc::strong_count(&region), 1, "descriptions are freed");
    }

    #[test]
    fn numbers_are_written_without_memory() {
        for number in [0, 7, 10, 4096, usize::MAX] {
            assert_eq!(decimal(number, &mut [0; 20]), number.to_string().as_bytes());
        }
    }
}
