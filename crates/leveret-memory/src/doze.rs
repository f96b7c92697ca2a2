//! Sleeping until the other end moves, where ends poll most of the time. Whoever is about to sleep says so in its own segment; whoever
//! moves looks there, and need not order anything as long as nobody has ever slept.
//!
//! ```text
//!   who sleeps: state = ASLEEP; fence; look once more; sleep on the word that the other end will store
//!   who moves:  store the word; state NEVER? done; fence; state ASLEEP? wake
//! ```
//!
//! The pattern is Dekker's, but for the first sleep of a channel: who moves may have read NEVER before it was overwritten. So before the
//! first sleep a barrier is needed where the other end runs, or that sleep is short ([`Doze::is_first`]).

use crate::sync::{Ordering, fence};
use crate::window::Flag;
use std::ptr::NonNull;

/// No thread of this end has ever slept.
const NEVER: u32 = 0;
/// One sleeps, or is about to.
pub(crate) const ASLEEP: u32 = 1;
/// None sleeps any more.
const AWAKE: u32 = 2;

/// Where to sleep, for as long as the word holds what was seen.
#[derive(Clone, Copy, Debug)]
pub struct Doze {
    /// In the other end's segment.
    pub word: NonNull<u32>,
    /// What it held.
    pub seen: u32,
    /// The other end may not know yet that this one sleeps at all: have a barrier in its process before the last look, or look again soon.
    pub is_first: bool,
}

/// Says that this end is about to sleep on `word`; look once more before you do.
pub(crate) fn begin(state: Flag<'_>, word: Flag<'_>) -> Doze {
    let is_first = state.load(Ordering::Relaxed) == NEVER;
    state.store(ASLEEP, Ordering::Relaxed);
    // The other half is in `must_wake`.
    fence(Ordering::SeqCst);
    Doze { word: word.address(), seen: word.load(Ordering::Acquire), is_first }
}

/// After the sleep, or instead of it.
pub(crate) fn end(state: Flag<'_>) {
    state.store(AWAKE, Ordering::Relaxed);
}

/// After a store that the other end may sleep for: whether it must be woken.
#[inline(always)]
pub(crate) fn must_wake(state: Flag<'_>) -> bool {
    if state.load(Ordering::Relaxed) == NEVER {
        return false;
    }
    fence(Ordering::SeqCst);
    state.load(Ordering::Relaxed) == ASLEEP
}
