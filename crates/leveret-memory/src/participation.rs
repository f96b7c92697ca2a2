//! When an end of a channel takes part, as it tells the other end: in spans of instances, and in single transfers that it
//! started. Any thread of the owner may tell, one at a time; the other end waits for nobody.

use crate::alleged::Alleged;
use crate::block::Participation;
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

    /// Takes part `from..until`, and from `resume` on; [`NOT_ACTIVE`] stands for never.
    pub fn tell_spans(&self, spans: [u64; 3]) {
        let version = self.words.word(VERSION).load(Ordering::Relaxed).wrapping_add(1);
        // Whoever sees a word stored below also sees the version that took its copy out of use.
        fence(Ordering::Release);
        for (place, word) in spans.into_iter().enumerate() {
            self.words.word(copy(version) + place * 8).store(word, Ordering::Relaxed);
        }
        self.store(VERSION, version);
    }

    /// So many single transfers were started here.
    pub fn tell_started(&self, count: u64) {
        self.store(STARTED, count);
    }

    /// So many of the single transfers that the other end started had their instance.
    pub fn tell_answered(&self, count: u64) {
        self.store(ANSWERED, count);
    }

    /// `instance` is over here; the lowest bit of `history` says whether both ends took part in it, the next one that of
    /// the instance before, and so on.
    pub fn tell_served(&self, instance: u64, history: u8) {
        self.store(SERVED, instance.wrapping_add(1) << 8 | u64::from(history));
    }

    /// So many messages had no buffer here, the last of them this one.
    pub fn tell_lacked(&self, count: u64, instance: u64) {
        self.words.word(LACKED_AT).store(instance, Ordering::Relaxed);
        self.store(LACKED, count);
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

    /// As [`ParticipationWriter::tell_spans`].
    #[inline]
    pub fn spans(&self) -> [u64; 3] {
        let mut spans = [NOT_ACTIVE; 3];
        for _ in 0..READS_MAX {
            let version = self.load(VERSION);
            for (place, word) in spans.iter_mut().enumerate() {
                let found = self.words.word(copy(version) + place * 8).load(Ordering::Relaxed);
                *word = Alleged::new(found).any_value();
            }
            fence(Ordering::Acquire);
            if self.words.word(VERSION).load(Ordering::Relaxed) == version {
                break;
            }
        }
        spans
    }

    /// As [`ParticipationWriter::tell_started`].
    #[inline]
    pub fn started(&self) -> u64 {
        self.load(STARTED)
    }

    /// As [`ParticipationWriter::tell_answered`].
    #[inline]
    pub fn answered(&self) -> u64 {
        self.load(ANSWERED)
    }

    /// Whether both ends took part in `instance`, as the other end says; `None` if it has not served it yet, or says no
    /// more.
    #[inline]
    pub fn served(&self, instance: u64) -> Option<bool> {
        let served = self.load(SERVED);
        let back = (served >> 8).checked_sub(instance.checked_add(1)?)?;
        (back < 8).then(|| served >> back & 1 == 1)
    }

    /// As [`ParticipationWriter::tell_lacked`]: how many, and the last.
    #[inline]
    pub fn lacked(&self) -> (u64, u64) {
        let count = self.load(LACKED);
        (count, self.load(LACKED_AT))
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
            assert_eq!(reader.spans(), [round, round + 5, NOT_ACTIVE]);
        }
        writer.tell_started(3);
        writer.tell_answered(2);
        writer.tell_lacked(1, 17);
        assert_eq!((reader.started(), reader.answered(), reader.lacked()), (3, 2, (1, 17)));
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
