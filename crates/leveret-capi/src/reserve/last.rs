//! The last reserve: what a member that has not the memory for a commit takes its part in it with. It is had from Init on, gives out nothing
//! at other times, and what it has given out comes back piece by piece: a few texts may be kept, each until the next takes its place.
//!
//! ```text
//!   base   | part | part | part | ... |      a piece takes as many parts in a row as it needs
//!   taken     1      1      0             a bit for each
//! ```

use leveret_runtime::objects::Code;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a refusal needs of the largest job, in which every member says so: its frame, its text, and copies of both.
const BYTES: usize = 512 << 10;
const PART: usize = 256;
const PARTS: usize = BYTES / PART;
const WORD: usize = u64::BITS as usize;

struct Last {
    base: *mut u8,
    taken: [u64; PARTS / WORD],
    is_open: bool,
}

// SAFETY: the bytes belong to whoever they are given to; the rest is plain numbers.
unsafe impl Send for Last {}

static LAST: Mutex<Last> = Mutex::new(Last { base: null_mut(), taken: [0; PARTS / WORD], is_open: false });

fn last() -> MutexGuard<'static, Last> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Last {
    fn is_taken(&self, part: usize) -> bool {
        self.taken[part / WORD] >> (part % WORD) & 1 == 1
    }

    fn mark(&mut self, parts: std::ops::Range<usize>, is_taken: bool) {
        for part in parts {
            let bit = 1 << (part % WORD);
            let word = &mut self.taken[part / WORD];
            *word = if is_taken { *word | bit } else { *word & !bit };
        }
    }

    /// The first parts in a row that are free.
    fn find(&self, parts: usize) -> Option<usize> {
        let mut free = 0;
        for part in 0..PARTS {
            free = if self.is_taken(part) { 0 } else { free + 1 };
            if free >= parts {
                return Some(part + 1 - free);
            }
        }
        None
    }
}

/// Has it, from here on; gives its first and its last address.
///
/// # Errors
/// [`Code::NoMemory`].
pub(super) fn prepare() -> Result<(usize, usize), Code> {
    let mut last = last();
    if last.base.is_null() {
        let layout = Layout::from_size_align(BYTES, PART).map_err(|_| Code::NoMemory)?;
        // SAFETY: so many bytes, which are more than none.
        last.base = unsafe { System.alloc(layout) };
    }
    if last.base.is_null() { Err(Code::NoMemory) } else { Ok((last.base.addr(), last.base.addr() + BYTES)) }
}

/// Opens it for as long as this is there, for every thread: the refusal is read by one of the library's own.
pub(super) struct Opened;

impl Opened {
    pub(super) fn now() -> Self {
        last().is_open = true;
        Self
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        last().is_open = false;
    }
}

/// A piece, if it is open and has one so large; null otherwise.
pub(super) fn take(layout: Layout) -> *mut u8 {
    let mut last = last();
    if !last.is_open || layout.align() > PART {
        return null_mut();
    }
    let parts = layout.size().div_ceil(PART).max(1);
    let Some(first) = last.find(parts) else { return null_mut() };
    last.mark(first..first + parts, true);
    // SAFETY: the parts lie within it.
    unsafe { last.base.add(first * PART) }
}

/// Gives a piece of this size back, if it is one of these.
pub(super) fn give_back(piece: *mut u8, size: usize) -> bool {
    let mut last = last();
    let is_own = has(&last, piece);
    if is_own {
        let first = (piece.addr() - last.base.addr()) / PART;
        last.mark(first..first + size.div_ceil(PART).max(1), false);
    }
    is_own
}

pub(super) fn contains(piece: *mut u8) -> bool {
    has(&last(), piece)
}

fn has(last: &Last, piece: *mut u8) -> bool {
    !last.base.is_null() && (last.base.addr()..last.base.addr() + BYTES).contains(&piece.addr())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 8).expect("a layout")
    }

    /// One test, since there is one such reserve.
    #[test]
    fn it_gives_only_while_it_is_open_and_has_all_again_in_whatever_order_pieces_come_back() {
        let (from, to) = prepare().expect("memory");
        assert_eq!(prepare(), Ok((from, to)), "once");
        assert!(take(layout(1)).is_null(), "not yet");
        let opened = Opened::now();
        let whole = take(layout(BYTES));
        assert_eq!((whole.addr(), to - from), (from, BYTES));
        assert!(take(layout(1)).is_null(), "there is no more");
        assert!(contains(whole) && give_back(whole, BYTES));
        // Of many pieces every other one comes back, and then there is room for nothing that is larger than one.
        let sizes = [1, PART, PART + 1, 4 * PART];
        let mut pieces = Vec::new();
        for size in sizes.into_iter().cycle() {
            let piece = take(layout(size));
            if piece.is_null() {
                break;
            }
            pieces.push((piece, size));
        }
        for (number, (piece, size)) in pieces.iter().enumerate() {
            let others = pieces[..number].iter();
            assert!(piece.addr() % PART == 0 && piece.addr() + size <= to);
            assert!(others.into_iter().all(|(other, size)| other.addr() + size <= piece.addr()));
        }
        for (piece, size) in pieces.iter().skip(1).step_by(2) {
            assert!(give_back(*piece, *size));
        }
        assert!(take(layout(5 * PART)).is_null(), "none so large in a row");
        assert!(!take(layout(4 * PART)).is_null(), "the largest that came back");
        assert!(!give_back(null_mut(), 1) && !contains(null_mut()), "not its own");
        drop(opened);
        assert!(take(layout(1)).is_null(), "no more");
        for (piece, size) in pieces.iter().step_by(2) {
            assert!(give_back(*piece, *size), "closed too");
        }
    }
}
