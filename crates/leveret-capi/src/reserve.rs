//! Memory that is kept for when there is no other: setup is refused while it can still be refused, and what has begun ends well.
//!
//! The library is written in a language whose collections end the process when memory runs out. So its allocator falls back on a
//! reserve, and a function that makes something sees to it first that the reserve is whole ([`ready`]): with the memory that is there,
//! or not at all.
//!
//! ```text
//!   chunk  [ given out ... | given out ... |   free   )      live: pieces that are still in use
//!                                          ^ used            none: all of it is free again
//! ```
//! Behind that lies a [`last`] one, with which a member says that it has not the memory for a commit.

mod last;

use leveret_memory::sync::{AtomicUsize, Ordering};
use leveret_runtime::objects::{Code, World};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a function needs that makes one object. Lists that grow with the number of objects ask before they grow.
const ENOUGH: usize = 1 << 20;
/// What a commit needs, and for each object besides, and for each place of the table of objects, in use or not: it is copied.
const ENOUGH_FOR_A_COMMIT: usize = 2 << 20;
const ENOUGH_FOR_AN_OBJECT: usize = 8 << 10;
const ENOUGH_FOR_A_PLACE: usize = 512;
/// So often the reserve may have been used up for good.
const CHUNKS_MAX: usize = 16;
const ALIGNMENT: usize = 64;

#[derive(Clone, Copy)]
struct Chunk {
    base: *mut u8,
    size: usize,
    used: usize,
    live: usize,
}

// SAFETY: the bytes belong to whoever they are given to; the rest is plain numbers.
unsafe impl Send for Chunk {}

const NONE: Chunk = Chunk { base: std::ptr::null_mut(), size: 0, used: 0, live: 0 };

static CHUNKS: Mutex<[Chunk; CHUNKS_MAX]> = Mutex::new([NONE; CHUNKS_MAX]);
/// The lowest and the highest address of a chunk: nearly all that is given back lies elsewhere.
static LOWEST: AtomicUsize = AtomicUsize::new(usize::MAX);
static HIGHEST: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, and the reserve behind it.
struct Reserving;

#[global_allocator]
static ALLOCATOR: Reserving = Reserving;

fn chunks() -> MutexGuard<'static, [Chunk; CHUNKS_MAX]> {
    CHUNKS.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    /// Whether this thread's own words are there.
    static IS_SETTLED: Cell<bool> = const { Cell::new(false) };
}

/// The standard library's handle of a thread ends with it. Its first use takes memory, without which the C library ends the process. So it
/// comes here, where memory can be asked for before.
fn settle_thread() -> Result<(), Code> {
    if IS_SETTLED.get() {
        return Ok(());
    }
    let layout = Layout::new::<[usize; 64]>();
    // SAFETY: it has a size.
    let probe = unsafe { System.alloc(layout) };
    if probe.is_null() {
        return Err(Code::NoMemory);
    }
    // SAFETY: it was allocated above with this layout.
    unsafe { System.dealloc(probe, layout) };
    let _ = std::thread::current();
    IS_SETTLED.set(true);
    Ok(())
}

/// Before something is made: there is enough for it, whatever the system says meanwhile.
///
/// # Errors
/// [`Code::NoMemory`].
pub(crate) fn ready() -> Result<(), Code> {
    ready_for(ENOUGH)
}

/// Before there is anything: as [`ready`], and from here on what is needed to say that there is no memory.
///
/// # Errors
/// [`Code::NoMemory`].
pub(crate) fn prepare() -> Result<(), Code> {
    let (from, to) = last::prepare()?;
    widen(from, to);
    ready()
}

/// Runs what has to be done without memory, out of the last reserve where there is no other.
pub(crate) fn without_memory<T>(body: impl FnOnce() -> T) -> T {
    let _opened = last::Opened::now();
    body()
}

/// Pieces of the reserve may lie here too.
fn widen(from: usize, to: usize) {
    LOWEST.fetch_min(from, Ordering::Relaxed);
    HIGHEST.fetch_max(to, Ordering::Relaxed);
}

/// As [`ready`], for what takes so many bytes for its elements.
pub(crate) fn ready_for_elements(bytes: usize) -> Result<(), Code> {
    ready_for(ENOUGH.saturating_add(bytes.saturating_mul(8)))
}

/// As [`ready`], for a commit of these objects.
pub(crate) fn ready_for_commit(world: &World) -> Result<(), Code> {
    let for_objects = world.object_count().saturating_mul(ENOUGH_FOR_AN_OBJECT);
    let for_places = world.place_count().saturating_mul(ENOUGH_FOR_A_PLACE);
    ready_for(ENOUGH_FOR_A_COMMIT.saturating_add(for_objects).saturating_add(for_places))
}

fn ready_for(bytes: usize) -> Result<(), Code> {
    settle_thread()?;
    let mut chunks = chunks();
    if chunks.iter().any(|chunk| chunk.size - chunk.used >= bytes) {
        return Ok(());
    }
    // A vacant place; or one that is too small and not in use gives way.
    let vacant = chunks.iter().position(|chunk| chunk.size == 0);
    let place = vacant.or_else(|| chunks.iter().position(|chunk| chunk.live == 0)).ok_or(Code::NoMemory)?;
    let layout = Layout::from_size_align(bytes, ALIGNMENT).map_err(|_| Code::NoMemory)?;
    // SAFETY: so many bytes, which are more than none.
    let base = unsafe { System.alloc(layout) };
    if base.is_null() {
        return Err(Code::NoMemory);
    }
    let former = std::mem::replace(&mut chunks[place], Chunk { base, size: bytes, used: 0, live: 0 });
    widen(base.addr(), base.addr() + bytes);
    drop(chunks);
    if let (false, Ok(layout)) = (former.base.is_null(), Layout::from_size_align(former.size, ALIGNMENT)) {
        // SAFETY: it was allocated with this layout, nothing of it is in use, and nothing more will be given out.
        unsafe { System.dealloc(former.base, layout) };
    }
    Ok(())
}

/// A piece of the reserve; null when there is none so large.
#[cold]
fn take(layout: Layout) -> *mut u8 {
    // It is whole again sooner than what a piece stays in use of.
    let piece = last::take(layout);
    if !piece.is_null() {
        return piece;
    }
    for chunk in chunks().iter_mut() {
        let free = chunk.base.addr() + chunk.used;
        let end = free.next_multiple_of(layout.align()) - chunk.base.addr() + layout.size();
        if chunk.size > 0 && end <= chunk.size {
            chunk.used = end;
            chunk.live += 1;
            // SAFETY: the piece ends within the chunk.
            return unsafe { chunk.base.add(end - layout.size()) };
        }
    }
    std::ptr::null_mut()
}

/// Gives a piece of this size back, if it is one of the reserve.
fn give_back(piece: *mut u8, size: usize) -> bool {
    let address = piece.addr();
    if address < LOWEST.load(Ordering::Relaxed) || address >= HIGHEST.load(Ordering::Relaxed) {
        return false;
    }
    for chunk in chunks().iter_mut() {
        if (chunk.base.addr()..chunk.base.addr() + chunk.size).contains(&address) {
            chunk.live -= 1;
            if chunk.live == 0 {
                chunk.used = 0;
            } else if address + size == chunk.base.addr() + chunk.used {
                // The last one: lists that grow step by step take no more than they hold.
                chunk.used -= size;
            }
            return true;
        }
    }
    last::give_back(piece, size)
}

fn is_of_the_reserve(piece: *mut u8) -> bool {
    let address = piece.addr();
    let has = |chunk: &Chunk| (chunk.base.addr()..chunk.base.addr() + chunk.size).contains(&address);
    address >= LOWEST.load(Ordering::Relaxed)
        && address < HIGHEST.load(Ordering::Relaxed)
        && (chunks().iter().any(has) || last::contains(piece))
}

// SAFETY: every piece is the system's, or lies in a chunk of the reserve, apart from all others that are in use; it goes back to where
// it came from. Nothing here allocates or unwinds.
unsafe impl GlobalAlloc for Reserving {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let piece = unsafe { System.alloc(layout) };
        if piece.is_null() { take(layout) } else { piece }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let piece = unsafe { System.alloc_zeroed(layout) };
        if !piece.is_null() {
            return piece;
        }
        let piece = take(layout);
        if !piece.is_null() {
            // SAFETY: it is so large.
            unsafe { piece.write_bytes(0, layout.size()) };
        }
        piece
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        if !give_back(piece, layout.size()) {
            // SAFETY: as the caller promises, and it is the system's.
            unsafe { System.dealloc(piece, layout) };
        }
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !is_of_the_reserve(piece) {
            // SAFETY: as the caller promises, and it is the system's.
            let grown = unsafe { System.realloc(piece, layout, size) };
            if !grown.is_null() {
                return grown;
            }
        }
        // SAFETY: the caller promises that size and alignment go together.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: the caller promises a size above zero.
        let grown = unsafe { self.alloc(wanted) };
        if !grown.is_null() {
            // SAFETY: both are so large, and they are two pieces; then the first is no longer in use.
            unsafe {
                grown.copy_from_nonoverlapping(piece, layout.size().min(size));
                self.dealloc(piece, layout);
            }
        }
        grown
    }
}
