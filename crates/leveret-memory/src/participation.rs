//! When an end of a channel takes part, as it tells the other end: in spans of instances, and in single transfers that it
//! started. Any thread of the owner may tell, one at a time; the other end waits for nobody.

use crate::alleged::Alleged;
use crate::block::Participation;
use crate::counted::{COUNT_MASK, count_of, counted};
use crate::sync::{Ordering, fence};
use crate::window::Window;
use std::mem::offset_of;

/// First instance of a span that never comes.
pub const NOT_ACTIVE: u64 = u64::MAX;
/// Reads of a peer that tells all the time; its words mix then, and no value does harm.
const READS_MAX: u32 = 4;

const VERSION: usize = offset_of!(Participation, version);
const STARTED: usize = offset_of!(Participation, started);
const ANSWERED: usize = offset_of!(Participation, answered);
const SERVED: usize = offset_of!(Participation, served);
const LACKED: usize = offset_of!(Participation, lacked);
const LACKED_AT: usize = offset_of!(Participation, lacked_at);

/// So that memory of which every byte is the same says no count.
const SALT: u64 = 0x5a17_c0de_3b8f_29e4;

/// A count as it lies there.
const fn word_of(count: u64) -> u64 {
    counted(count) ^ SALT
}

/// The count that a word says, if it says one.
const fn told(word: u64) -> Option<u64> {
    count_of(word ^ SALT)
}

/// Of the spans that a version has: another one, or a changed word, is not believed.
fn spans_check(version: u64, spans: [u64; 3]) -> u64 {
    let rotated = spans.iter().zip([7, 23, 41]).fold(!version, |sum, (word, by)| sum ^ word.rotate_left(by));
    rotated.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn check(version: u64) -> usize {
    offset_of!(Participation, checks) + (version % 2) as usize * size_of::<u64>()
}

fn copy(version: u64) -> usize {
    offset_of!(Participation, copies) + (version % 2) as usize * size_of::<[u64; 3]>()
}

/// An end's own words.
///
/// Whoever stores spans or starts does so one at a time; the thread that serves the end stores the rest.
#[derive(Clone)]
pub struct ParticipationWriter {
    words: Window,
}

impl ParticipationWriter {
    pub(crate) fn new(control: &Window) -> Self {
        Self { words: control.part(0, size_of::<Participation>()) }
    }

    fn store(&self, offset: usize, value: u64) {
        self.words.word(offset).store(value, Ordering::Release);
    }

    /// What is there before anything was told: it takes no part, and nothing was counted.
    pub(crate) fn begin(&self) {
        self.tell_spans([NOT_ACTIVE; 3]);
        self.tell_started(0);
        self.tell_answered(0);
        self.tell_lacked(0, 0);
    }

    /// Takes part `from..until`, and from `resume` on; [`NOT_ACTIVE`] stands for never.
    pub fn tell_spans(&self, spans: [u64; 3]) {
        let version = self.words.word(VERSION).load(Ordering::Relaxed).wrapping_add(1) & COUNT_MASK;
        // Whoever sees a word stored below also sees the version that took its copy out of use.
        fence(Ordering::Release);
        for (place, word) in spans.into_iter().enumerate() {
            self.words.word(copy(version) + place * 8).store(word, Ordering::Relaxed);
        }
        self.words.word(check(version)).store(spans_check(version, spans), Ordering::Relaxed);
        self.store(VERSION, counted(version));
    }

    /// So many single transfers were started here.
    pub fn tell_started(&self, count: u64) {
        self.store(STARTED, word_of(count));
    }

    /// So many of the single transfers that the other end started had their instance.
    pub fn tell_answered(&self, count: u64) {
        self.store(ANSWERED, word_of(count));
    }

    /// `instance` is over here; the lowest bit of `history` says whether both ends took part in it, the next one that of
    /// the instance before, and so on.
    pub fn tell_served(&self, instance: u64, history: u8) {
        self.store(SERVED, instance.wrapping_add(1) << 8 | u64::from(history));
    }

    /// So many messages had no buffer here, the last of them this one.
    pub fn tell_lacked(&self, count: u64, instance: u64) {
        self.words.word(LACKED_AT).store(word_of(instance), Ordering::Relaxed);
        self.store(LACKED, word_of(count));
    }
}

/// The other end's words; any value is possible.
#[derive(Clone)]
pub struct ParticipationReader {
    words: Window,
}

impl ParticipationReader {
    pub(crate) fn new(control: &Window) -> Self {
        Self { words: control.part(0, size_of::<Participation>()) }
    }

    #[inline]
    fn load(&self, offset: usize) -> u64 {
        Alleged::new(self.words.word(offset).load(Ordering::Acquire)).any_value()
    }

    /// As [`ParticipationWriter::tell_spans`]; `None` when something has written over them.
    #[inline]
    pub fn spans(&self) -> Option<[u64; 3]> {
        let mut spans = [NOT_ACTIVE; 3];
        for _ in 0..READS_MAX {
            let word = self.load(VERSION);
            let version = word & COUNT_MASK;
            for (place, word) in spans.iter_mut().enumerate() {
                let found = self.words.word(copy(version) + place * 8).load(Ordering::Relaxed);
                *word = Alleged::new(found).any_value();
            }
            let check = Alleged::new(self.words.word(check(version)).load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            if self.words.word(VERSION).load(Ordering::Relaxed) == word {
                check.must_be(spans_check(version, spans)).ok()?;
                return count_of(word).map(|_| spans);
            }
        }
        None
    }

    /// As [`ParticipationWriter::tell_started`]; `None` when something has written over it.
    #[inline]
    pub fn started(&self) -> Option<u64> {
        told(self.load(STARTED))
    }

    /// As [`ParticipationWriter::tell_answered`]; `None` when something has written over it.
    #[inline]
    pub fn answered(&self) -> Option<u64> {
        told(self.load(ANSWERED))
    }

    /// Whether both ends took part in `instance`, as the other end says; `None` if it has not served it yet, or says no
    /// more.
    #[inline]
    pub fn served(&self, instance: u64) -> Option<bool> {
        let served = self.load(SERVED);
        let back = (served >> 8).checked_sub(instance.checked_add(1)?)?;
        (back < 8).then(|| served >> back & 1 == 1)
    }

    /// As [`ParticipationWriter::tell_lacked`]: how many, and the last; `None` when something has written over them.
    #[inline]
    pub fn lacked(&self) -> Option<(u64, u64)> {
        let count = told(self.load(LACKED))?;
        Some((count, told(self.load(LACKED_AT))?))
    }

    /// Whether every count and span is what its end wrote, as far as that can be seen.
    pub fn is_whole(&self) -> bool {
        let counts = [STARTED, ANSWERED, LACKED, LACKED_AT];
        counts.into_iter().all(|offset| told(self.load(offset)).is_some()) && self.spans().is_some()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::HeapRegion;
    use std::sync::Arc;

    fn ends() -> (ParticipationWriter, ParticipationReader) {
        let control = Window::whole(Arc::new(HeapRegion::new(128)));
        (ParticipationWriter::new(&control), ParticipationReader::new(&control))
    }

    #[test]
    fn what_one_end_tells_the_other_reads() {
        let (writer, reader) = ends();
        for round in 1..4 {
            writer.tell_spans([round, round + 5, NOT_ACTIVE]);
            assert_eq!(reader.spans(), Some([round, round + 5, NOT_ACTIVE]));
        }
        writer.tell_started(3);
        writer.tell_answered(2);
        writer.tell_lacked(1, 17);
        assert_eq!((reader.started(), reader.answered(), reader.lacked()), (Some(3), Some(2), Some((1, 17))));
    }

    #[test]
    fn the_last_instances_are_remembered() {
        let (writer, reader) = ends();
        assert_eq!(reader.served(0), None);
        writer.tell_served(9, 0b101);
        let known: Vec<_> = (6..11).map(|instance| reader.served(instance)).collect();
        assert_eq!(known, [Some(false), Some(true), Some(false), Some(true), None]);
        assert_eq!(reader.served(1), None, "too long ago");
        assert_eq!(reader.served(u64::MAX), None);
    }
}
