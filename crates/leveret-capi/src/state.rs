//! The one library of the process, and what is committed, as each thread knows it.
//!
//! Setup calls take the library's lock. Calls of the data path take none: each thread keeps what is committed, with the
//! number of the commit, and compares numbers. The number is 0 in a child that `fork` makes of a member, so that every call there ends
//! before it touches anything of the parent's, a lock included, which may be held by a thread that the child does not have.

use crate::answer::{keep_detail, keep_remedy, keep_subject};
use crate::types::CHandle;
use leveret_memory::sync::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use leveret_os::cancellation::Uncancelled;
use leveret_os::kinship;
use leveret_os::thread_value::ThreadValue;
use leveret_runtime::Aborter;
use leveret_runtime::objects::{Code, Committed, Handle, Library, World};
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The library of this process.
#[derive(Default)]
pub(crate) enum Life {
    /// Before init.
    #[default]
    Before,
    /// Between init and finalize.
    Live(Box<Library>),
    /// After finalize.
    After,
}

/// Where the life is: 0 before init, 1 live, 2 after finalize. For those who must not wait for the lock.
static STAGE: AtomicU8 = AtomicU8::new(0);
static LIFE: Mutex<Life> = Mutex::new(Life::Before);
/// What ends the job, from init on; for those who must not wait for the lock.
static ABORTER: OnceLock<Aborter> = OnceLock::new();
/// What is committed; the lock is held for a moment only, never while a commit goes on.
static CURRENT: Mutex<Option<Arc<Committed>>> = Mutex::new(None);
/// The first number: nothing is committed.
const NOTHING: u64 = 1;
static LAST_NUMBER: AtomicU64 = AtomicU64::new(NOTHING);
/// A mode has been opened since the commit.
static BESIDE: AtomicBool = AtomicBool::new(false);

/// Keeps alive what each thread sees: a counted reference.
static KNOWN: ThreadValue = ThreadValue::new();

thread_local! {
    /// What this thread sees: of the task whose function runs on it, or else of the commit that it looked up last. Plain
    /// data, so that its first use allocates nothing, and one look into the thread's memory a call.
    static VIEW: Cell<View> = const { Cell::new(View::NONE) };
}

/// Number of the present commit, or [`NOTHING`]; 0: this process is no member, or a child of one.
#[inline(always)]
fn number() -> &'static AtomicU64 {
    kinship::word()
}

/// The number of what a task sees, which is that of no commit.
const OF_TASK: u64 = u64::MAX;

#[derive(Clone, Copy)]
struct View {
    /// Of the commit; 0: none, [`OF_TASK`]: a task's.
    number: u64,
    /// Valid while the number is that of the present commit, or a task's.
    committed: *const Committed,
}

impl View {
    const NONE: Self = Self { number: 0, committed: std::ptr::null() };

    /// Whether it is what this thread works on while `now` is the number of the present commit. Then it is valid: `in_task`
    /// set it to what it borrows until the task's function, which is running, has returned; or `look_up` set it to what
    /// KNOWN of this thread holds until this thread looks up again.
    #[inline(always)]
    fn is_of(self, now: u64) -> bool {
        now != 0 && (self.number == now || self.number == OF_TASK)
    }
}

/// When a thread ends: lets go of what it held.
unsafe extern "C" fn let_go(known: *mut c_void) {
    // What other destructors of this thread still call looks it up again.
    VIEW.set(View::NONE);
    // SAFETY: it is what `hold` has given away, of this thread, which gets it back once.
    drop(unsafe { Arc::from_raw(known.cast_const().cast::<Committed>()) });
}

/// Whether this thread holds this from here on, instead of what it held.
fn hold(committed: Option<Arc<Committed>>) -> bool {
    let before = KNOWN.get();
    let now = committed.map_or(std::ptr::null(), Arc::into_raw);
    // SAFETY: `let_go` takes what `into_raw` gave.
    let is_held = unsafe { KNOWN.set(now.cast_mut().cast()) };
    let gone = if is_held { before.cast_const().cast() } else { now };
    if !gone.is_null() {
        // SAFETY: both are what `into_raw` gave, and this one is held no more.
        drop(unsafe { Arc::from_raw(gone) });
    }
    is_held
}

/// The library, for as long as it takes; meanwhile the thread is not cancelled.
pub(crate) fn life() -> (MutexGuard<'static, Life>, Uncancelled) {
    let uncancelled = Uncancelled::here();
    (LIFE.lock().unwrap_or_else(PoisonError::into_inner), uncancelled)
}

/// Before anything is begun: what threads and children of this process are told apart by.
///
/// # Errors
/// [`Code::NoMemory`].
pub(crate) fn prepare() -> Result<(), Code> {
    kinship::keep_from_children().and_then(|()| KNOWN.create(let_go)).map_err(|_| Code::NoMemory)
}

/// The library lives from here on.
pub(crate) fn begin(life: &mut Life, library: Library) {
    // There is one library in the life of a process.
    let _ = ABORTER.set(library.aborter());
    *life = Life::Live(Box::new(library));
    number().store(NOTHING, Ordering::Release);
    STAGE.store(1, Ordering::Release);
}

/// Whether this process is a child that `fork` has made of a member. It has no part in the job, whatever it has copies of.
pub(crate) fn is_child() -> bool {
    STAGE.load(Ordering::Acquire) == 1 && number().load(Ordering::Relaxed) == 0
}

/// The library is gone from here on, if it takes its leave: of threads that end it together one does.
pub(crate) fn end(leave: impl FnOnce(&mut Library) -> Result<(), Code>) -> Result<(), Code> {
    in_life(leave, |life| {
        *life = Life::After;
        STAGE.store(2, Ordering::Release);
    })
}

/// Whether init has succeeded, and whether finalize has.
pub(crate) fn stage() -> (bool, bool) {
    if is_child() {
        return (false, false);
    }
    let stage = STAGE.load(Ordering::Acquire);
    (stage > 0, stage > 1)
}

/// Between init and finalize, and not in a task: for calls that block.
pub(crate) fn may_block() -> Result<(), Code> {
    check_setup()
}

fn current() -> MutexGuard<'static, Option<Arc<Committed>>> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A setup call: the library, which must live; not from a task.
pub(crate) fn with_library<T>(body: impl FnOnce(&mut Library) -> Result<T, Code>) -> Result<T, Code> {
    in_life(body, |_| {})
}

/// As [`with_library`]; after it, where it succeeds, `end` of the same life: no other thread comes between.
fn in_life<T>(
    body: impl FnOnce(&mut Library) -> Result<T, Code>,
    end: impl FnOnce(&mut Life),
) -> Result<T, Code> {
    if is_child() {
        return Err(Code::NotInitialized);
    }
    if is_in_task() {
        return Err(Code::RealTime);
    }
    let (mut life, _uncancelled) = life();
    let answer = match &mut *life {
        Life::Before => Err(Code::NotInitialized),
        Life::Live(library) => body(library).inspect_err(|code| explain(*code, library)),
        Life::After => Err(Code::Finalized),
    }?;
    end(&mut life);
    Ok(answer)
}

/// Keeps what the library knows of an error beyond its code.
fn explain(code: Code, library: &mut Library) {
    if code == Code::Limit
        && let Some(reached) = library.world.limit_reached()
    {
        keep_detail(&reached.to_string());
    }
    if let Some(why) = library.world.why(code) {
        keep_detail(&why);
    } else if code == Code::ObjectCommitted
        && let Some(remedy) = library.remedy_of_group()
    {
        keep_remedy(&remedy);
    }
}

/// Between init and finalize.
pub(crate) fn check_live() -> Result<(), Code> {
    match stage() {
        (false, _) => Err(Code::NotInitialized),
        (_, true) => Err(Code::Finalized),
        _ => Ok(()),
    }
}

/// What ends the job, between init and finalize; from a task or a handler too, and while another thread commits.
pub(crate) fn aborter() -> Result<&'static Aborter, Code> {
    check_live()?;
    ABORTER.get().ok_or(Code::Internal)
}

/// Between init and finalize, and not in a task.
pub(crate) fn check_setup() -> Result<(), Code> {
    check_live()?;
    if is_in_task() { Err(Code::RealTime) } else { Ok(()) }
}

/// As [`check_setup`], and something is committed.
pub(crate) fn check_running() -> Result<(), Code> {
    check_setup()?;
    if is_committed() { Ok(()) } else { Err(Code::NotCommitted) }
}

/// A look at objects: as they are; in a task, without a lock, as they were committed.
pub(crate) fn with_world<T>(body: impl FnOnce(&World) -> Result<T, Code>) -> Result<T, Code> {
    let view = VIEW.get();
    if view.number == OF_TASK && !is_child() {
        // SAFETY: `in_task` set it to what it borrows until the task's function, which is running, has returned.
        return body(unsafe { &*view.committed }.world());
    }
    with_library(|library| body(&library.world))
}

/// The handle of a live object of its type's class; in a task, as it was committed.
pub(crate) fn good<T: CHandle>(object: T) -> Result<Handle, Code> {
    with_world(|world| good_in(world, object))
}

/// As [`good`], of a handle that may be null.
pub(crate) fn good_or_null<T: CHandle>(object: T) -> Result<Handle, Code> {
    if object.handle().is_null() { Ok(object.handle()) } else { good(object) }
}

/// As [`good`], of what is committed, without a lock.
#[cold]
pub(crate) fn good_committed<T: CHandle>(object: T) -> Result<Handle, Code> {
    with_committed_of(object, |committed| good_in(committed.world(), object))
}

/// As [`good_committed`], where nothing needs to be committed.
#[cold]
pub(crate) fn good_either<T: CHandle>(object: T) -> Result<Handle, Code> {
    with_either(|committed| good_in(committed.world(), object), |world| good_in(world, object))
}

fn good_in<T: CHandle>(world: &World, object: T) -> Result<Handle, Code> {
    let handle = object.handle();
    if T::accepts(world.class(handle)?) { Ok(handle) } else { Err(Code::WrongClass) }
}

/// From here on `committed` is what the data path works on.
pub(crate) fn publish(committed: Arc<Committed>) {
    *current() = Some(committed);
    let number = LAST_NUMBER.fetch_add(1, Ordering::Relaxed) + 1;
    self::number().store(number, Ordering::Release);
    // Now and not on the data path.
    let _ = look_up(number);
}

/// From here on to the end of what is committed there are objects that are not of it and can be changed.
pub(crate) fn beside() {
    BESIDE.store(true, Ordering::Release);
}

/// Whether there may be objects beside what is committed that can be changed. Not from a task, which sees none.
#[cold]
fn has_beside() -> bool {
    !is_in_task() && BESIDE.load(Ordering::Acquire)
}

/// Nothing is committed any more.
pub(crate) fn retract() {
    BESIDE.store(false, Ordering::Release);
    number().store(NOTHING, Ordering::Release);
    *current() = None;
}

/// Whether anything is committed.
pub(crate) fn is_committed() -> bool {
    is_in_task() || number().load(Ordering::Acquire) > NOTHING
}

/// The commits so far, for who waits for the next change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Commits {
    pub(crate) is_committed: bool,
    number: u64,
}

/// Which commit there is; two that differ have a commit or an end of one between them.
pub(crate) fn commits() -> Commits {
    let number = LAST_NUMBER.load(Ordering::Acquire);
    Commits { is_committed: is_committed(), number }
}

/// Whether the commit is at its horizon, or the job is stopping. Not from a task, which is ended by itself.
pub(crate) fn is_over() -> bool {
    // A library that is busy is committing or uncommitting: the next look will tell.
    !is_in_task()
        && LIFE.try_lock().is_ok_and(|life| matches!(&*life, Life::Live(library) if library.is_over()))
}

/// Tells why what is committed has ended before its horizon, if it has and nobody is just ending it. Not to a task.
pub(crate) fn with_end_reason<T>(body: impl FnOnce(&str) -> T) -> Option<T> {
    if is_in_task() {
        return None;
    }
    match &*LIFE.try_lock().ok()? {
        Life::Live(library) => library.end_reason().map(body),
        _ => None,
    }
}

/// Whether this thread runs a task's function.
fn is_in_task() -> bool {
    VIEW.get().number == OF_TASK && number().load(Ordering::Relaxed) != 0
}

/// A call of the data path.
///
/// # Errors
/// [`Code::NotCommitted`], or why there is no library.
#[inline]
pub(crate) fn with_committed<T>(body: impl FnOnce(&Committed) -> Result<T, Code>) -> Result<T, Code> {
    // One look: each is a call to find the thread's memory.
    let view = VIEW.get();
    let now = number().load(Ordering::Acquire);
    if view.is_of(now) {
        // SAFETY: `body` does not look up, and it is ours as `is_of` says.
        return body(unsafe { &*view.committed });
    }
    let committed = look_up(now)?;
    body(&committed)
}

/// As [`with_committed`], of an object that may be of a mode that does not run yet, or of what a mode has taken over from.
#[inline]
pub(crate) fn with_committed_of<T: CHandle, R>(
    object: T,
    body: impl FnOnce(&Committed) -> Result<R, Code>,
) -> Result<R, Code> {
    match with_committed(body) {
        Err(code @ (Code::InvObject | Code::NotCommitted | Code::StaleObject)) if has_beside() => {
            Err(beside_of(object, code))
        }
        answer => answer,
    }
}

/// What is wrong with an object that is not of what runs.
#[cold]
fn beside_of<T: CHandle>(object: T, code: Code) -> Code {
    let handle = object.handle();
    let now = with_library(|library| Ok(library.world.code_beside(code, handle))).unwrap_or_else(|code| code);
    if now == Code::NotCommitted {
        keep_subject(handle.number());
    }
    now
}

/// A call that the data path makes on what is committed, and setup on what is not: before commit, and beside what runs.
#[inline]
pub(crate) fn with_either<T>(
    committed: impl FnOnce(&Committed) -> Result<T, Code>,
    world: impl FnOnce(&mut World) -> Result<T, Code>,
) -> Result<T, Code> {
    let view = VIEW.get();
    let now = number().load(Ordering::Acquire);
    let answer = if view.is_of(now) {
        // SAFETY: `committed` does not look up, and it is ours as `is_of` says.
        committed(unsafe { &*view.committed })
    } else {
        match if now <= NOTHING { Err(Code::NotCommitted) } else { look_up(now) } {
            Ok(found) => committed(&found),
            // Or another thread has uncommitted meanwhile.
            Err(Code::NotCommitted) => return with_library(|library| world(&mut library.world)),
            Err(code) => return Err(code),
        }
    };
    match answer {
        // Of a mode that is made beside what runs, or of what a mode has taken over from.
        Err(Code::InvObject | Code::NotCommitted | Code::StaleObject) if has_beside() => {
            with_library(|library| world(&mut library.world))
        }
        answer => answer,
    }
}

/// Gives the present commit, and keeps it for this thread's next calls.
#[cold]
fn look_up(now: u64) -> Result<Arc<Committed>, Code> {
    if is_child() {
        return Err(Code::NotInitialized);
    }
    let found = if now <= NOTHING { None } else { current().clone() };
    let number = if found.is_some() { now } else { 0 };
    let committed = found.as_ref().map_or(std::ptr::null(), Arc::as_ptr);
    // The view goes first: it must not outlive what is replaced.
    VIEW.set(View::NONE);
    // Where there is no room to hold it, every call of this thread looks it up.
    if hold(found.clone()) {
        VIEW.set(View { number, committed });
    }
    found.ok_or_else(|| match stage() {
        (false, _) => Code::NotInitialized,
        (true, false) => Code::NotCommitted,
        (_, true) => Code::Finalized,
    })
}

/// Runs a task's function, which sees `committed` whatever the other threads are at.
pub(crate) fn in_task(committed: &Committed, body: impl FnOnce()) {
    let before = VIEW.replace(View { number: OF_TASK, committed });
    body();
    VIEW.set(before);
}
