//! A ring of fixed-size records: one writer that never waits, readers that count what they lost.
//!
//! ```text
//! | pushed, 64 | record 0 | record 1 | ... | record n-1 |     record k lies in slot k mod n
//! record:  | sequence word | payload words ... |             N words in all
//! ```

use crate::alleged::Alleged;
use crate::block::RingControl;
use crate::sequence::Tag;
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

    /// Writes a record over the oldest one. `record[0]` is not used.
    #[inline]
    pub(crate) fn push(&mut self, record: &[u64; N]) {
        let words = self.window.words::<N>(slot::<N>(self.next, self.mask));
        words.word(0).store(self.tag.writing(self.next), Ordering::Relaxed);
        // Whoever sees one of the words below also sees that the record is in writing.
        fence(Ordering::Release);
        for (index, value) in record.iter().enumerate().skip(1) {
            words.word(index).store(*value, Ordering::Relaxed);
        }
        words.word(0).store(self.tag.published(self.next), Ordering::Release);
        self.next += 1;
        self.window.word(PUSHED).store(self.next, Ordering::Release);
    }
}

impl<const N: usize> RingReader<N> {
    /// A reader over `window`, which holds `records` (a power of two) records.
    pub(crate) fn new(window: Window, tag: Tag, records: u32) -> Self {
        assert!(records.is_power_of_two());
        Self { window, tag, mask: u64::from(records) - 1, next: 0 }
    }

    /// Whether the writer claims to be ahead by a quarter of the ring or more, or behind.
    pub(crate) fn is_filling(&self) -> bool {
        let pushed = Alleged::new(self.window.word(PUSHED).load(Ordering::Acquire)).any_value();
        pushed.wrapping_sub(self.next) > self.mask / 4
    }

    /// Passes every record since the last call to `each`, oldest first, and returns how many were overwritten or
    /// unreadable. Looks at no more records than the ring holds, whatever the writer claims.
    pub(crate) fn drain(&mut self, mut each: impl FnMut(&[u64; N])) -> Alleged<u64> {
        // The count needs no bound: it only says how far the position moves, and the loop is bounded below.
        let pushed = Alleged::new(self.window.word(PUSHED).load(Ordering::Acquire)).any_value();
        let capacity = self.mask + 1;
        let behind = pushed.saturating_sub(self.next);
        let mut lost = behind.saturating_sub(capacity);
        let start = self.next.saturating_add(lost);
        for index in start..pushed {
            match self.read(index) {
                Some(record) => each(&record),
                None => lost += 1,
            }
        }
        // A count that went backwards is a peer's nonsense; following it keeps the reader in step.
        self.next = pushed;
        Alleged::new(lost)
    }

    /// Record `index`, if it is still there and whole.
    fn read(&self, index: u64) -> Option<[u64; N]> {
        let words = self.window.words::<N>(slot::<N>(index, self.mask));
        let expected = self.tag.published(index);
        if words.word(0).load(Ordering::Acquire) != expected {
            return None;
        }
        let record = words.load_all();
        // The loads above happen before the one below: were one of them torn, the word would tell.
        fence(Ordering::Acquire);
        (words.word(0).load(Ordering::Relaxed) == expected).then_some(record)
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::region::HeapRegion;
    use leveret_types::Generation;
    use std::sync::Arc;

    /// A ring of records of two equal words, and `count` of them pushed while a reader looks on.
    fn watch(records: u32, count: u64) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound.get_or_insert(3);
        builder.check(move || {
            let window = Window::whole(Arc::new(HeapRegion::new(RECORDS + records as usize * 24)));
            let tag = Tag::new(Generation(1));
            let mut ring = RingWriter::<3>::new(window.clone(), tag, records);
            let mut reader = RingReader::<3>::new(window, tag, records);
            let writer = loom::thread::spawn(move || {
                for value in 1..=count {
                    ring.push(&[0, value, value]);
                }
            });
            let (mut seen, mut newest) = (0, 0);
            let mut check = |record: &[u64; 3]| {
                assert_eq!(record[1], record[2], "a torn record got through");
                assert!(record[1] > newest, "records come in order, none twice");
                newest = record[1];
                seen += 1;
            };
            let lost_before = reader.drain(&mut check).any_value();
            writer.join().expect("the writer does not panic");
            let lost = lost_before + reader.drain(&mut check).any_value();
            assert_eq!(
                (seen + lost, newest),
                (count, count),
                "every record is seen or counted, the last is seen"
            );
        });
    }

    #[test]
    fn a_ring_of_one_loses_nothing_unnoticed() {
        watch(1, 2);
    }

    #[test]
    fn a_ring_of_two_loses_nothing_unnoticed() {
        watch(2, 3);
    }
}
