//! Firings of events: counted by whoever fires, read by whoever waits, in whatever process.
//!
//! ```text
//!  firing member's segment                                     listening member's segment
//!  +----------------------------------------------+            +---------------------------+
//!  | fired: how many so far                       | <--- read  | waiting: threads asleep   |
//!  | time 0 | time 1 | ... | time n-1             |   futex    | for the event, or about   |
//!  +----------------------------------------------+    wait    | to be                     |
//!      ^ firing k lies in word k mod n                         +---------------------------+
//!
//!  time word   63      56 55                                  0
//!             | lap + 1  | time in nanoseconds, modulo 2^56    |   lap: k / n modulo 256; 0 at first: never used
//!
//!  fired word   a count with a check
//! ```
//!
//! A count is believed when the time of its last firing stands where it belongs, since a firing is timed before it is counted: a number that
//! something has written over the count, however well formed, is a firing of nobody.
//!
//! The count is never wrong and never lost: it only grows, and each reader remembers how far it is. The times are those of the
//! last n firings; a reader that is further behind knows the number of a firing, but not when it was.
//!
//! Any thread of the firing member may fire, and none waits for another: a firing is one exchange of its time word, and whoever
//! finds a time word filled that is not counted yet counts it. So a thread that is preempted in the middle holds up nobody.

use crate::alleged::Alleged;
use crate::block::{ListenerControl, TriggerControl};
use crate::counted::{COUNT_MASK, count_of, counted};
use crate::layout::LayoutError;
use crate::sync::{Ordering, fence};
use crate::window::Window;
use leveret_types::{EventId, Nanos, TriggerId};
use std::mem::offset_of;
use std::ptr::NonNull;

const FIRED: usize = offset_of!(TriggerControl, fired);
const TIMES: usize = size_of::<TriggerControl>();
const WAITING: usize = offset_of!(ListenerControl, waiting);

/// What a member fires and listens to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EventSpec {
    /// Its triggers.
    pub triggers: Vec<TriggerSpec>,
    /// Events for which its threads may wait.
    pub listeners: Vec<EventId>,
}

/// A trigger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TriggerSpec {
    /// Which.
    pub trigger: TriggerId,
    /// Firings whose times are kept; a power of two.
    pub kept: u32,
}

/// Where a trigger's words lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TriggerPlace {
    pub(crate) spec: TriggerSpec,
    offset: usize,
    length: usize,
}

/// Where everything of [`EventSpec`] lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct EventPlaces {
    pub(crate) triggers: Vec<TriggerPlace>,
    pub(crate) listeners: Vec<(EventId, usize)>,
}

impl EventPlaces {
    pub(crate) fn new(
        spec: &EventSpec,
        mut block: impl FnMut(usize) -> Result<usize, LayoutError>,
    ) -> Result<Self, LayoutError> {
        let mut triggers = Vec::with_capacity(spec.triggers.len());
        for trigger in &spec.triggers {
            let length = TIMES + trigger.kept as usize * size_of::<u64>();
            triggers.push(TriggerPlace { spec: *trigger, offset: block(length)?, length });
        }
        let mut listeners = Vec::with_capacity(spec.listeners.len());
        for event in &spec.listeners {
            listeners.push((*event, block(size_of::<ListenerControl>())?));
        }
        Ok(Self { triggers, listeners })
    }
}

/// How often a count that changes is looked at.
const LOOKS_MAX: u32 = 8;

const TIME_BITS: u32 = 56;
const TIME_MASK: u64 = (1 << TIME_BITS) - 1;

/// The words of one trigger.
#[derive(Clone)]
struct Firings {
    window: Window,
    /// Number of time words less one.
    mask: u64,
    /// The lap of firing k is `k >> lap_shift`.
    lap_shift: u32,
}

impl Firings {
    fn new(segment: &Window, place: &TriggerPlace) -> Self {
        assert!(place.spec.kept.is_power_of_two());
        Self {
            window: segment.part(place.offset, place.length),
            mask: u64::from(place.spec.kept) - 1,
            lap_shift: place.spec.kept.trailing_zeros(),
        }
    }

    /// Where the time of firing `number` lies.
    #[inline]
    fn offset(&self, number: u64) -> usize {
        TIMES + (number & self.mask) as usize * size_of::<u64>()
    }

    /// What the time word says once firing `number` is in it.
    #[inline]
    fn lap(&self, number: u64) -> u8 {
        ((number >> self.lap_shift) as u8).wrapping_add(1)
    }
}

/// The lap that a time word says.
#[inline]
const fn lap_of(word: u64) -> u8 {
    (word >> TIME_BITS) as u8
}

/// The firing end of a trigger, for all threads of its member.
pub struct FiringWriter(Firings);

impl FiringWriter {
    pub(crate) fn new(segment: &Window, place: &TriggerPlace) -> Self {
        Self(Firings::new(segment, place))
    }

    /// Fires, at `now`, and gives the firing's number, from 0 on. Lock-free: it tries again only when another thread of this member
    /// has fired meanwhile.
    #[inline]
    pub fn fire(&self, now: Nanos) -> u64 {
        let Self(firings) = self;
        let fired = firings.window.word(FIRED);
        loop {
            let word = fired.load(Ordering::Acquire);
            let number = word & COUNT_MASK;
            let place = firings.window.word(firings.offset(number));
            let found = place.load(Ordering::Acquire);
            let lap = firings.lap(number);
            if lap_of(found) == lap {
                // Another thread has filled it, and has not counted it yet, or this count is old.
                let next = counted(number + 1);
                let _ = fired.compare_exchange(word, next, Ordering::AcqRel, Ordering::Relaxed);
                continue;
            }
            if lap_of(found) != lap.wrapping_sub(1) {
                // Filled for a later lap: this count is old.
                continue;
            }
            let filled = u64::from(lap) << TIME_BITS | now.0 as u64 & TIME_MASK;
            if place.compare_exchange(found, filled, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                // Fails when another thread has counted it, which is as good.
                let next = counted(number + 1);
                let _ = fired.compare_exchange(word, next, Ordering::AcqRel, Ordering::Relaxed);
                return number;
            }
        }
    }

    /// Firings so far.
    pub fn fired(&self) -> u64 {
        self.0.window.word(FIRED).load(Ordering::Acquire) & COUNT_MASK
    }

    /// Where those sleep who wait for a firing, in this process's mapping.
    pub fn futex_word_address(&self) -> NonNull<u32> {
        self.0.window.flag(FIRED).address()
    }
}

/// A reading end of a trigger, its own member's or a peer's.
#[derive(Clone)]
pub struct FiringReader {
    firings: Firings,
    near: Nanos,
}

impl FiringReader {
    pub(crate) fn new(segment: &Window, place: &TriggerPlace, near: Nanos) -> Self {
        Self { firings: Firings::new(segment, place), near }
    }

    /// Firings so far; `None` when something has written over the count, or over the time of the last of them, or when each of a few looks
    /// finds another count without the time of its last firing: nothing is believed before a later look confirms it.
    #[inline]
    pub fn fired(&self) -> Option<u64> {
        let mut word = self.word();
        for _ in 0..LOOKS_MAX {
            let count = Alleged::new(word).checked(|word| count_of(*word).is_some()).and_then(count_of)?;
            if self.is_timed(count) {
                return Some(count);
            }
            let before = std::mem::replace(&mut word, self.word());
            if word == before {
                return None;
            }
        }
        None
    }

    fn word(&self) -> u64 {
        self.firings.window.word(FIRED).load(Ordering::Acquire)
    }

    /// Whether the last of so many firings stands where it belongs, or, of a trigger that keeps one time, the next.
    #[inline]
    fn is_timed(&self, count: u64) -> bool {
        let Some(last) = count.checked_sub(1) else { return true };
        let found = Alleged::new(self.firings.window.word(self.firings.offset(last)).load(Ordering::Acquire));
        lap_of(found.any_value()).wrapping_sub(self.firings.lap(last)) <= u8::from(self.firings.mask == 0)
    }

    /// When firing `number` was; `None` when that is overwritten, or there is no such firing yet. Any value is possible.
    #[inline]
    pub fn time(&self, number: u64) -> Option<Nanos> {
        let word = self.firings.window.word(self.firings.offset(number)).load(Ordering::Acquire);
        // Read after the word: were it a later lap's with the same number, the count would have come that far.
        let fired = Alleged::new(self.word()).checked(|word| count_of(*word).is_some()).and_then(count_of)?;
        let kept = self.firings.mask + 1;
        if number >= fired || fired - number > kept || lap_of(word) != self.firings.lap(number) {
            return None;
        }
        // The nearest instant with these low bits.
        let ahead = (word.wrapping_sub(self.near.0 as u64)) << (64 - TIME_BITS);
        Some(Nanos(self.near.0.wrapping_add(ahead as i64 >> (64 - TIME_BITS))))
    }

    /// What [`FiringReader::futex_word_address`] holds. Any value is possible.
    #[inline]
    pub fn futex_value(&self) -> u32 {
        Alleged::new(self.word()).any_value() as u32
    }

    /// Where to sleep until the count, of which the low half is the expected value, has grown.
    pub fn futex_word_address(&self) -> NonNull<u32> {
        self.firings.window.flag(FIRED).address()
    }
}

/// Where the threads of one member say that they wait for an event.
pub struct ListenerWriter(Window);

impl ListenerWriter {
    pub(crate) fn new(segment: &Window, offset: usize) -> Self {
        Self(segment.part(offset, size_of::<ListenerControl>()))
    }

    /// One more thread waits. To be called before the last look at the counts: this with that look, and a firing with
    /// [`ListenerReader::is_waiting`], form Dekker's pattern.
    #[inline]
    pub fn begin(&self) {
        self.0.word(WAITING).fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// One thread waits no longer.
    #[inline]
    pub fn end(&self) {
        self.0.word(WAITING).fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether anybody of a member waits for an event.
#[derive(Clone)]
pub struct ListenerReader(Window);

impl ListenerReader {
    pub(crate) fn new(segment: &Window, offset: usize) -> Self {
        Self(segment.part(offset, size_of::<ListenerControl>()))
    }

    /// Whether a thread waits. To be called after a firing and [`after_firing`].
    #[inline]
    pub fn is_waiting(&self) -> bool {
        Alleged::new(self.0.word(WAITING).load(Ordering::Relaxed)).any_value() != 0
    }
}

/// To be passed between a firing and the look at who waits.
#[inline]
pub fn after_firing() {
    fence(Ordering::SeqCst);
}

#[cfg(all(test, loom))]
#[path = "event_loom_tests.rs"]
mod loom_tests;

#[cfg(all(test, not(loom)))]
#[path = "event_tests.rs"]
mod tests;
