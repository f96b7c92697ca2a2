//! What became of a message, as one end of its channel saw it (design section 9).

use crate::alleged::Alleged;
use crate::layout::RingPlace;
use crate::ring::{Drained, RingReader, RingWriter};
use crate::sequence::Tag;
use crate::window::Window;
use leveret_types::Nanos;
use std::mem::{offset_of, size_of};

const WORDS: usize = size_of::<MessageSlot>() / 8;

/// A message record as it lies in the ring.
/// ```text
///  0          8          16   24    32     36     37         40      56      64
/// | sequence | instance | at | due | size | fate | reserved | spare | check |
/// ```
#[repr(C)]
struct MessageSlot {
    sequence: u64,
    instance: u64,
    at: i64,
    due: i64,
    size: u32,
    fate: u8,
    reserved: [u8; 3],
    spare: [u64; 2],
    check: u64,
}

const _: () = {
    assert!(size_of::<MessageSlot>() == 64 && offset_of!(MessageSlot, sequence) == 0);
    assert!(offset_of!(MessageSlot, instance) == 8 && offset_of!(MessageSlot, at) == 16);
    assert!(offset_of!(MessageSlot, due) == 24 && offset_of!(MessageSlot, size) == 32);
    assert!(offset_of!(MessageSlot, fate) == 36 && offset_of!(MessageSlot, reserved) == 37);
    assert!(offset_of!(MessageSlot, spare) == 40 && offset_of!(MessageSlot, check) == 56);
};

/// One message, seen from one end of its channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MessageRecord {
    /// Which instance.
    pub instance: u64,
    /// When this end acted: inserted at the source, taken at the target.
    pub at: Nanos,
    /// When the message had to be visible.
    pub due: Nanos,
    /// Its length in bytes.
    pub size: u32,
    /// What became of it; its meaning is the runtime's.
    pub fate: u8,
}

impl MessageRecord {
    /// Bytes of a record in the ring.
    pub(crate) const BYTES: usize = size_of::<MessageSlot>();

    #[inline(always)]
    fn encode(&self) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        words[1] = self.instance;
        words[2] = self.at.0 as u64;
        words[3] = self.due.0 as u64;
        words[4] = u64::from(self.size) | u64::from(self.fate) << 32;
        words
    }

    fn decode(words: &[u64; WORDS]) -> Self {
        Self {
            instance: words[1],
            at: Nanos(words[2] as i64),
            due: Nanos(words[3] as i64),
            size: words[4] as u32,
            fate: (words[4] >> 32) as u8,
        }
    }
}

/// The ring of one channel end, for writing.
pub(crate) struct MessageWriter(RingWriter<WORDS>);

impl MessageWriter {
    pub(crate) fn new(segment: &Window, place: &RingPlace, tag: Tag) -> Self {
        Self(RingWriter::new(segment.part(place.offset, place.length), tag, place.records))
    }

    #[inline]
    pub(crate) fn push(&mut self, record: &MessageRecord) {
        self.0.push(&record.encode());
    }
}

/// The ring of one channel end, in the watcher.
pub struct MessageReader(RingReader<WORDS>);

impl MessageReader {
    pub(crate) fn new(segment: &Window, place: &RingPlace, tag: Tag) -> Self {
        Self(RingReader::new(segment.part(place.offset, place.length), tag, place.records))
    }

    /// Whether the ring is a quarter full or more of records that were not read.
    pub fn is_filling(&self) -> bool {
        self.0.is_filling()
    }

    /// Passes every record since the last call to `each`, oldest first; returns how many were overwritten or damaged. The records are
    /// bounded in number.
    pub fn drain(&mut self, mut each: impl FnMut(Alleged<MessageRecord>)) -> Drained {
        self.0.drain(|words| each(Alleged::new(MessageRecord::decode(words))))
    }
}
