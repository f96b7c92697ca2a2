//! A ring of fixed-size records: one writer that never waits, readers that count what they lost.
//!
//! ```text
//! | pushed, 64 | record 0 | record 1 | ... | record n-1 |     record k lies in slot k mod n
//! record:  | sequence word | payload words ... | check |     N words in all
//! ```
//! The check is of the other words: a record of which something has changed a word is none, and so is a count that no record confirms.

use crate::alleged::Alleged;
use crate::block::RingControl;
use crate::sequence::{Claim, Tag};
use crate::sync::{Ordering, fence};
use crate::window::Window;
use std::mem::offset_of;

const PUSHED: usize = offset_of!(RingControl, pushed);
const RECORDS: usize = size_of::<RingControl>();

/// The writing end. Records are `N` words, of which the first is the sequence word.
pub(crate) struct RingWriter<const N: usize> {
    window: Window,
    tag: Tag,
    mask: u64,
    next: u64,
}

/// A reading end, with its own position.
pub(crate) struct RingReader<const N: usize> {
    window: Window,
    tag: Tag,
    mask: u64,
    next: u64,
    /// A count that no record confirms, once it was reported.
    doubted: Option<u64>,
}

/// What a draining has found beside the records that it passed on.
#[derive(Clone, Copy)]
pub struct Drained {
    /// Records that were overwritten before they were read.
    pub lost: Alleged<u64>,
    /// Records and counts that something has written over; at most one more than the ring has records.
    pub damaged: u64,
}

/// What stands in a record's place.
enum Read<const N: usize> {
    Whole([u64; N]),
    /// A later one.
    Gone,
    /// Nothing that the writer wrote.
    Damaged,
}

/// The last word of a record: a change of one of the others changes it.
#[inline(always)]
fn check_of<const N: usize>(sequence: u64, record: &[u64; N]) -> u64 {
    let payload = record.iter().enumerate().take(N - 1).skip(1);
    payload.fold(sequence, |sum, (place, word)| sum ^ word.rotate_left(place as u32 * 9 % 64))
}

/// Offset of the slot of record `index`.
#[inline(always)]
const fn slot<const N: usize>(index: u64, mask: u64) -> usize {
    RECORDS + (index & mask) as usize * N * 8
}

impl<const N: usize> RingWriter<N> {
    /// A writer over `window`, which holds `records` (a power of two) records.
    pub(crate) fn new(window: Window, tag: Tag, records: u32) -> Self {
        assert!(records.is_power_of_two());
        Self { window, tag, mask: u64::from(records) - 1, next: 0 }
    }

    /// Writes a record over the oldest one. Its first and last words are not used.
    #[inline]
    pub(crate) fn push(&mut self, record: &[u64; N]) {
        let words = self.window.words::<N>(slot::<N>(self.next, self.mask));
        words.word(0).store(self.tag.writing(self.next), Ordering::Relaxed);
        // Whoever sees one of the words below also sees that the record is in writing.
        fence(Ordering::Release);
        let sequence = self.tag.published(self.next);
        for (index, value) in record.iter().enumerate().take(N - 1).skip(1) {
            words.word(index).store(*value, Ordering::Relaxed);
        }
        words.word(N - 1).store(check_of(sequence, record), Ordering::Relaxed);
        words.word(0).store(sequence, Ordering::Release);
        self.next += 1;
        self.window.word(PUSHED).store(self.next, Ordering::Release);
    }
}

impl<const N: usize> RingReader<N> {
    /// A reader over `window`, which holds `records` (a power of two) records.
    pub(crate) fn new(window: Window, tag: Tag, records: u32) -> Self {
        assert!(records.is_power_of_two());
        Self { window, tag, mask: u64::from(records) - 1, next: 0, doubted: None }
    }

    /// Whether the writer claims to be ahead by a quarter of the ring or more, or behind.
    pub(crate) fn is_filling(&self) -> bool {
        // No record is read for it.
        let pushed = Alleged::new(self.window.word(PUSHED).load(Ordering::Relaxed)).any_value();
        pushed.wrapping_sub(self.next) > self.mask / 4
    }

    /// Passes every record since the last call to `each`, oldest first. Looks at no more records than the ring holds, twice, whatever the
    /// writer claims.
    pub(crate) fn drain(&mut self, mut each: impl FnMut(&[u64; N])) -> Drained {
        let (pushed, mut damaged) = self.pushed();
        let capacity = self.mask + 1;
        let behind = pushed.saturating_sub(self.next);
        let mut lost = behind.saturating_sub(capacity);
        let start = self.next.saturating_add(lost);
        for index in start..pushed {
            match self.read(index) {
                Read::Whole(record) => each(&record),
                Read::Gone => lost += 1,
                Read::Damaged => damaged += 1,
            }
        }
        self.next = self.next.max(pushed);
        Drained { lost: Alleged::new(lost), damaged }
    }

    /// How many records were pushed, and whether that is first found damaged now. A count is believed when the last record that it counts
    /// stands where it belongs, or a later one does; else the records themselves say how many there are, and how many more than it counts.
    fn pushed(&mut self) -> (u64, u64) {
        let said = Alleged::new(self.window.word(PUSHED).load(Ordering::Acquire)).any_value();
        let is_confirmed = said == self.next || said > self.next && self.has_reached(said - 1);
        if is_confirmed && !self.has_reached(said) {
            self.doubted = None;
            return (said, 0);
        }
        // A record is there before the count says so.
        let is_news = !is_confirmed && self.doubted.replace(said) != Some(said);
        let newest = self.newest().map_or(self.next, |newest| newest + 1);
        (if is_confirmed { newest.max(said) } else { newest }, u64::from(is_news))
    }

    fn claim(&self, index: u64) -> Claim {
        // Whoever reads the record then loads this word again, and acquires what was written before it.
        let word = self.window.words::<N>(slot::<N>(index, self.mask)).word(0).load(Ordering::Relaxed);
        self.tag.read(Alleged::new(word).any_value())
    }

    /// Whether the place of record `index` says that it was written.
    fn has_reached(&self, index: u64) -> bool {
        match self.claim(index) {
            Claim::Published(found) => found >= index && (found ^ index) & self.mask == 0,
            Claim::Writing(found) => found > index && (found ^ index) & self.mask == 0,
            Claim::Empty | Claim::Foreign => false,
        }
    }

    /// The newest record that is whole.
    #[cold]
    fn newest(&self) -> Option<u64> {
        let found = |place| match self.claim(place) {
            Claim::Published(index) if index & self.mask == place => Some(index),
            _ => None,
        };
        let whole = |index: &u64| matches!(self.read(*index), Read::Whole(_));
        (0..=self.mask).filter_map(found).filter(whole).max()
    }

    /// Record `index`, if it is still there and whole.
    fn read(&self, index: u64) -> Read<N> {
        let words = self.window.words::<N>(slot::<N>(index, self.mask));
        let expected = self.tag.published(index);
        let sequence = words.word(0).load(Ordering::Acquire);
        if sequence != expected && !self.is_later(sequence, index) {
            return Read::Damaged;
        }
        let record = words.load_all();
        // The loads above happen before the one below: were one of them torn, the word would tell.
        fence(Ordering::Acquire);
        let is_still = words.word(0).load(Ordering::Relaxed) == sequence;
        match self.tag.read(sequence) {
            Claim::Published(_) if is_still && record[N - 1] != check_of(sequence, &record) => Read::Damaged,
            Claim::Published(_) if is_still && sequence == expected => Read::Whole(record),
            _ => Read::Gone,
        }
    }

    /// Whether a sequence word is that of a record which has taken the place of `index`. A writer that is a lap ahead has counted that far
    /// before it publishes there; while it writes, its count need not be seen yet.
    fn is_later(&self, sequence: u64, index: u64) -> bool {
        let is_in_place = |found: u64| found > index && (found ^ index) & self.mask == 0;
        // With the sequence word came the count from before that record.
        let pushed = Alleged::new(self.window.word(PUSHED).load(Ordering::Relaxed)).any_value();
        match self.tag.read(sequence) {
            Claim::Published(found) => is_in_place(found) && found <= pushed,
            Claim::Writing(found) => is_in_place(found),
            Claim::Empty | Claim::Foreign => false,
        }
    }
}

#[cfg(all(test, loom))]
#[path = "ring_loom_tests.rs"]
mod loom_tests;

#[cfg(all(test, not(loom)))]
#[path = "ring_tests.rs"]
mod tests;
