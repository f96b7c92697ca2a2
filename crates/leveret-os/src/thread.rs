//! Threads whose start can be refused: the standard library's takes memory of its own when it starts one, and ends the process if there
//! is none.
//!
//! ```text
//!   start: packet [ head: owners 2, result | body ] -- pthread_create --> takes the body, stores the result, leaves
//!   join:  waits for the thread, takes the result, leaves                 the last owner frees the packet
//! ```
//! The packet is the one piece of memory; what the C library takes for a stack and the thread's words it may refuse, and says so. A body must
//! do without what the standard library keeps for each of its own threads: `std::thread::current`, `park`, `mpsc`, and words of the
//! thread with a destructor. Each takes memory when it is first used.

use crate::Failure;
use leveret_memory::sync::{AtomicBool, AtomicU32, AtomicUsize, Ordering, fence};
use rustix::io::Errno;
use std::alloc::{Layout, alloc, dealloc};
use std::any::Any;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// The kernel keeps 15 bytes of a thread's name, and a zero.
const NAME_BYTES: usize = 16;
/// As the standard library's threads have.
const STACK_BYTES: usize = 2 << 20;
/// Half a mebibyte: of a task's stack a part of this is touched before it begins.
const STACK_BYTES_LEAST: usize = 512 << 10;

/// What is left of a thread that was ended by what it called.
const ENDED_FROM_WITHIN: &str = "a function of the program has ended the library's thread; it must return";

/// What a thread leaves behind: what its body gave, or what it panicked with.
pub type Left<T> = Result<T, Box<dyn Any + Send>>;

/// What the thread and its handle share, whatever the body is.
struct Head<T> {
    /// The thread and its handle; the last one to leave frees the packet.
    owners: AtomicU32,
    is_finished: AtomicBool,
    /// Stored by the thread before it has finished, taken after the thread was joined: never contended.
    result: Mutex<Option<Left<T>>>,
    free: unsafe fn(NonNull<Head<T>>),
    name: [u8; NAME_BYTES],
}

/// The head comes first, so that its address is the packet's.
#[repr(C)]
struct Packet<F, T> {
    head: Head<T>,
    /// Until the thread takes it: never contended.
    body: Mutex<Option<F>>,
}

/// A thread. One that is dropped runs on by itself.
pub struct Thread<T> {
    native: libc::pthread_t,
    head: NonNull<Head<T>>,
}

// SAFETY: the handle stands for a thread that any other may join, and of the packet it touches what is atomic, and the result after the
// thread has ended; that is `Send`.
unsafe impl<T: Send> Send for Thread<T> {}
// SAFETY: as for `Send`; by reference it reads one atomic word.
unsafe impl<T: Send> Sync for Thread<T> {}

impl<T: Send + 'static> Thread<T> {
    /// Starts a thread of this name, of which the kernel keeps 15 bytes. Its stack is of two mebibytes, or what the environment's
    /// `RUST_MIN_STACK` says.
    ///
    /// # Errors
    /// Without memory or a thread: the call that was refused. The body is dropped then.
    pub fn start<F>(name: &str, body: F) -> Result<Self, Failure>
    where
        F: FnOnce() -> T + Send + 'static,
    {
        Self::start_on(stack_bytes(), name, body)
    }

    /// As [`Thread::start`], with a stack of so many bytes.
    fn start_on<F>(stack: usize, name: &str, body: F) -> Result<Self, Failure>
    where
        F: FnOnce() -> T + Send + 'static,
    {
        let packet = Packet {
            head: Head {
                owners: AtomicU32::new(2),
                is_finished: AtomicBool::new(false),
                result: Mutex::new(None),
                free: free::<F, T>,
                name: shortened(name),
            },
            body: Mutex::new(Some(body)),
        };
        // SAFETY: a packet has a size.
        let place = unsafe { alloc(Layout::new::<Packet<F, T>>()) };
        let place: NonNull<Packet<F, T>> =
            NonNull::new(place.cast()).ok_or(Failure::new("malloc", Errno::NOMEM))?;
        // SAFETY: it was allocated for a packet.
        unsafe { place.write(packet) };
        match create(place, stack, begin::<F, T>) {
            Ok(native) => Ok(Self { native, head: place.cast() }),
            Err(failure) => {
                // SAFETY: there is no thread that could use it, and it was allocated and written above.
                unsafe { free::<F, T>(place.cast()) };
                Err(failure)
            }
        }
    }
}

impl<T> Thread<T> {
    /// Whether the body has returned or panicked, and all that it had is gone.
    pub fn is_finished(&self) -> bool {
        // SAFETY: the packet lives as long as the handle.
        unsafe { self.head.as_ref() }.is_finished.load(Ordering::Acquire)
    }

    /// Waits for the thread's end; an error is what its body panicked with, or a text when the thread was ended from within.
    ///
    /// # Errors
    /// What the body panicked with.
    ///
    /// # Panics
    /// When the thread joins itself.
    pub fn join(self) -> Left<T> {
        let (native, head) = (self.native, self.head);
        std::mem::forget(self);
        // SAFETY: the thread was neither joined nor detached: both take the handle.
        let answer = unsafe { libc::pthread_join(native, std::ptr::null_mut()) };
        assert!(answer == 0, "a thread cannot wait for its own end");
        // SAFETY: the packet lives until this owner leaves.
        let result = taken(unsafe { &head.as_ref().result });
        // SAFETY: this owner leaves once, here.
        unsafe { leave(head) };
        // It has not stored it when the program has ended the thread from within, in a way that could not be noticed there.
        result.unwrap_or_else(|| Err(Box::new(ENDED_FROM_WITHIN)))
    }
}

impl<T> Drop for Thread<T> {
    fn drop(&mut self) {
        // SAFETY: the thread was neither joined nor detached: both take the handle. It can fail for a wrong handle only.
        unsafe { libc::pthread_detach(self.native) };
        // SAFETY: this owner leaves once: `join` forgets the handle.
        unsafe { leave(self.head) };
    }
}

type Begin = extern "C" fn(*mut c_void) -> *mut c_void;

/// Asks the C library for a thread that begins with this packet.
fn create<P>(packet: NonNull<P>, stack: usize, begin: Begin) -> Result<libc::pthread_t, Failure> {
    let failed = |call, errno| Failure::new(call, Errno::from_raw_os_error(errno));
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: it is written there.
    let answer = unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) };
    if answer != 0 {
        return Err(failed("pthread_attr_init", answer));
    }
    // SAFETY: the call above has initialised it.
    let mut attributes = unsafe { attributes.assume_init() };
    let mut native = MaybeUninit::<libc::pthread_t>::uninit();
    // SAFETY: initialised attributes; a size that is too small is an error.
    let mut answer = unsafe { libc::pthread_attr_setstacksize(&raw mut attributes, stack) };
    let mut call = "pthread_attr_setstacksize";
    if answer == 0 {
        call = "pthread_create";
        // SAFETY: initialised attributes, a place for the handle, and a packet that is the thread's as much as the caller's.
        answer = without_the_programs_signals(|| unsafe {
            libc::pthread_create(native.as_mut_ptr(), &raw const attributes, begin, packet.as_ptr().cast())
        });
    }
    // SAFETY: initialised above, and not used any more.
    unsafe { libc::pthread_attr_destroy(&raw mut attributes) };
    if answer != 0 {
        return Err(failed(call, answer));
    }
    // SAFETY: a call that succeeds has written it.
    Ok(unsafe { native.assume_init() })
}

/// Signals that a thread must take: those that say what it has done itself, and ours.
fn taken_by_every_thread() -> impl Iterator<Item = libc::c_int> {
    let own_faults =
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS, libc::SIGABRT];
    own_faults.into_iter().chain([libc::SIGXCPU, crate::nudge::signal()])
}

/// A thread that is started here takes no signal that is for the process: its handler would run in the middle of whatever the library
/// does, and wait for ever for a lock that this very thread has.
fn without_the_programs_signals<R>(start: impl FnOnce() -> R) -> R {
    let (mut all, mut before) =
        (MaybeUninit::<libc::sigset_t>::uninit(), MaybeUninit::<libc::sigset_t>::uninit());
    // SAFETY: each set is written before it is used; the calls fail for wrong arguments only, and these are right.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        for signal in taken_by_every_thread() {
            libc::sigdelset(all.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let result = start();
    // SAFETY: the set was written above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    result
}

/// What a thread does.
extern "C" fn begin<F: FnOnce() -> T, T>(packet: *mut c_void) -> *mut c_void {
    // SAFETY: `start` passed a packet of this type, which lives until this owner leaves.
    let packet: &Packet<F, T> = unsafe { &*packet.cast_const().cast() };
    crate::cancellation::Uncancelled::for_good();
    let head = NonNull::from(packet).cast();
    if packet.head.name[0] != 0 {
        // SAFETY: the name ends with a zero. It can fail for one that is too long only.
        unsafe { libc::pthread_setname_np(libc::pthread_self(), packet.head.name.as_ptr().cast()) };
    }
    let result = taken(&packet.body).map(|body| catch_unwind(AssertUnwindSafe(body)));
    *packet.head.result.lock().unwrap_or_else(PoisonError::into_inner) = result;
    // Release: what the body did happens before what is done by those who see that it has finished.
    packet.head.is_finished.store(true, Ordering::Release);
    // SAFETY: this owner leaves once, here.
    unsafe { leave::<T>(head) };
    std::ptr::null_mut()
}

fn taken<T>(place: &Mutex<Option<T>>) -> Option<T> {
    place.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// One of the two owners leaves the packet.
///
/// # Safety
/// It is one of the two, leaves once, and does not touch the packet afterwards.
unsafe fn leave<T>(head: NonNull<Head<T>>) {
    // SAFETY: the packet lives until both have left.
    let (owners, free) = unsafe { (&head.as_ref().owners, head.as_ref().free) };
    // Release and acquire: what the other one did with the packet happens before it is freed.
    if owners.fetch_sub(1, Ordering::Release) == 1 {
        fence(Ordering::Acquire);
        // SAFETY: both have left, and this is the packet's own function.
        unsafe { free(head) };
    }
}

/// Frees a packet, with whatever is in it.
///
/// # Safety
/// It is a packet of these types, and nobody else's any more.
unsafe fn free<F, T>(head: NonNull<Head<T>>) {
    let packet: NonNull<Packet<F, T>> = head.cast();
    // SAFETY: the caller's promise; it was allocated by `start` with this layout.
    unsafe {
        packet.drop_in_place();
        dealloc(packet.as_ptr().cast(), Layout::new::<Packet<F, T>>());
    }
}

/// As much of a name as the kernel keeps, in whole characters.
fn shortened(name: &str) -> [u8; NAME_BYTES] {
    let mut kept = [0; NAME_BYTES];
    let name = name.split('\0').next().unwrap_or_default();
    let end = name.floor_char_boundary(NAME_BYTES - 1);
    kept[..end].copy_from_slice(&name.as_bytes()[..end]);
    kept
}

/// As the standard library has it for its threads.
fn stack_bytes() -> usize {
    static BYTES: AtomicUsize = AtomicUsize::new(0);
    let known = BYTES.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    let wanted = crate::host::environment("RUST_MIN_STACK").and_then(|bytes| bytes.parse().ok());
    let bytes = wanted.unwrap_or(STACK_BYTES).max(STACK_BYTES_LEAST).next_multiple_of(4096);
    BYTES.store(bytes, Ordering::Relaxed);
    bytes
}

/// Which thread this is, among those that live: it takes no memory to know, unlike the standard library's number.
pub fn here() -> usize {
    thread_local! {
        static HERE: u8 = const { 0 };
    }
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::futex;
    use std::sync::Arc;

    #[test]
    fn the_joiner_gets_what_the_body_gives() {
        let thread = Thread::start("hare", || vec![1, 2, 3]).unwrap();
        assert_eq!(thread.join().unwrap(), [1, 2, 3]);
    }

    #[test]
    fn a_panic_is_the_joiners() {
        let thread = Thread::<()>::start("hare", || panic!("on purpose")).unwrap();
        assert_eq!(*thread.join().unwrap_err().downcast_ref::<&str>().unwrap(), "on purpose");
    }

    fn wait_for(gate: &AtomicU32) {
        while gate.load(Ordering::Acquire) == 0 {
            let _ = futex::wait(gate, 0, None);
        }
    }

    fn open(gate: &AtomicU32) {
        gate.store(1, Ordering::Release);
        let _ = futex::wake(gate, u32::MAX);
    }

    #[test]
    fn it_has_finished_when_all_that_it_had_is_gone() {
        let (gate, held) = (Arc::new(AtomicU32::new(0)), Arc::new(()));
        let seen = Arc::downgrade(&held);
        let thread = Thread::start("hare", {
            let gate = gate.clone();
            move || {
                wait_for(&gate);
                drop(held);
            }
        })
        .unwrap();
        assert!(!thread.is_finished() && seen.upgrade().is_some());
        open(&gate);
        while !thread.is_finished() {
            std::thread::yield_now();
        }
        assert!(seen.upgrade().is_none());
        thread.join().unwrap();
    }

    #[test]
    fn one_that_is_dropped_runs_on() {
        let gates = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let thread = Thread::start("hare", {
            let gates = gates.clone();
            move || {
                wait_for(&gates[0]);
                open(&gates[1]);
            }
        });
        drop(thread.unwrap());
        open(&gates[0]);
        wait_for(&gates[1]);
    }

    #[test]
    fn what_nobody_takes_is_dropped_once() {
        let result = Arc::new(());
        let thread = Thread::start("hare", {
            let result = result.clone();
            move || result
        });
        drop(thread.unwrap());
        while Arc::strong_count(&result) > 1 {
            std::thread::yield_now();
        }
    }

    /// Which signals the calling thread blocks.
    fn blocked() -> Vec<libc::c_int> {
        let mut mask = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: without a new mask it only writes the present one.
        let mask = unsafe {
            libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), mask.as_mut_ptr());
            mask.assume_init()
        };
        // SAFETY: a mask that was written, and signals that there are.
        (1..=libc::SIGRTMAX())
            .filter(|signal| unsafe { libc::sigismember(&raw const mask, *signal) } == 1)
            .collect()
    }

    #[test]
    fn it_takes_none_of_the_programs_signals() {
        let before = blocked();
        let blocked_there = Thread::start("hare", blocked).unwrap().join().unwrap();
        for signal in
            [libc::SIGALRM, libc::SIGINT, libc::SIGTERM, libc::SIGUSR1, libc::SIGCHLD, libc::SIGPROF]
        {
            assert!(blocked_there.contains(&signal), "{signal}");
        }
        assert!(taken_by_every_thread().all(|signal| !blocked_there.contains(&signal)), "{blocked_there:?}");
        assert_eq!(blocked(), before, "the starter's own are as they were");
    }

    #[test]
    fn its_name_is_as_much_as_the_kernel_keeps() {
        for (name, kept) in
            [("hare", "hare"), ("a name that is too long", "a name that is "), ("", ""), ("a\0b", "a")]
        {
            let own = || std::fs::read_to_string("/proc/thread-self/comm").unwrap();
            let thread = Thread::start(name, own).unwrap();
            // Without a name it has its process's.
            let said = thread.join().unwrap();
            assert!(said.trim_end_matches('\n') == kept || name.is_empty(), "{name}: {said}");
        }
        assert_eq!(&shortened("fünfzehn Zeichenü")[..], "fünfzehn Zeich\0".as_bytes());
    }

    #[test]
    fn a_thread_that_cannot_be_had_is_an_error() {
        let held = Arc::new(());
        let body = held.clone();
        // More stack than an address space holds.
        let refused = Thread::start_on(1 << 60, "hare", move || drop(body)).err().unwrap();
        assert_eq!((refused.call, refused.errno), ("pthread_create", Errno::AGAIN));
        assert_eq!(Arc::strong_count(&held), 1, "the body is gone");
        let refused = Thread::start_on(1, "hare", || ()).err().unwrap();
        assert_eq!((refused.call, refused.errno), ("pthread_attr_setstacksize", Errno::INVAL));
    }
}
