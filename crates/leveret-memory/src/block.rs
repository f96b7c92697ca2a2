//! The blocks of a segment, as they lie in memory. The types are drawings that the compiler checks: nothing is ever
//! a reference to one of them, they only give sizes and offsets.
//!
//! ```text
//! segment   +--------+--------+------------+-----+--------------+-----+--------------+-----+---------------+----------------+
//!           | header | status | task block | ... | source block | ... | target block | ... | trigger block | listener block |
//!           +--------+--------+------------+-----+--------------+-----+--------------+-----+---------------+----------------+
//! task      | counters 256 | pushed 64 | stamp records, 128 each |
//! source    | control 256  | pushed 64 | message records, 64 each | buffer slots | aliased buffers |
//! target    | control 256  | pushed 64 | message records, 64 each | returns 64 | a word for each aliased buffer |
//! trigger   | fired 64     | times of the last firings, 8 each |
//! listener  | waiting 64   |
//! ```
//! Every block starts at a multiple of 128, so that no pair of prefetched lines belongs to two threads.

use std::mem::{align_of, offset_of};

/// Alignment of every block.
pub(crate) const BLOCK_ALIGNMENT: usize = 128;
/// What one cache line holds.
pub(crate) const LINE: usize = 64;
/// "LEVERET\0".
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"LEVERET\0");
/// What the magic reads while the owner is still writing the rest.
pub(crate) const MAGIC_UNFINISHED: u64 = u64::from_le_bytes(*b"leveret\0");
/// Version of everything on this page.
pub const LAYOUT_VERSION: u32 = 8;

/// ```text
///  0        8         12       16            24           28         32      40       64
/// | magic  | version | member | layout hash | generation | reserved | size  | unused |
/// ```
#[repr(C, align(64))]
pub(crate) struct Header {
    pub(crate) magic: u64,
    pub(crate) version: u32,
    pub(crate) member: u32,
    pub(crate) layout_hash: u64,
    pub(crate) generation: u32,
    pub(crate) reserved: u32,
    pub(crate) size: u64,
    pub(crate) unused: [u64; 3],
}

/// ```text
///  0       8           16      24                64
/// | state | heartbeat | phase | progress | unused |   written by the member's main thread
/// ```
#[repr(C, align(64))]
pub(crate) struct Status {
    pub(crate) state: u64,
    pub(crate) heartbeat: u64,
    pub(crate) phase: u64,
    pub(crate) progress: u64,
    pub(crate) unused: [u64; 4],
}

/// ```text
///  0                        256
/// | 32 counters, 8 bytes each |   written by the task's thread
/// ```
#[repr(C, align(64))]
pub(crate) struct TaskControl {
    pub(crate) counters: [u64; 32],
}

/// When an end takes part, for the other end to read.
/// ```text
///  0         8      16      24       32     40      48       56
/// | version | from | until | resume | from | until | resume | dozing |   the copy in use is number version % 2; written
///                                                                        at activation. Dozing: a sender's alone, as `waiting`
///                                                                        is the receiver's
///  64        72         80       88       96                128
/// | started | answered | served | lacked | lacked at | check | check | unused |   written with started transfers, and with
///                                                                        each instance that is served; a check is of one of
///                                                                        the copies
/// ```
#[repr(C, align(64))]
pub(crate) struct Participation {
    pub(crate) version: u64,
    pub(crate) copies: [[u64; 3]; 2],
    pub(crate) dozing: u64,
    pub(crate) started: u64,
    pub(crate) answered: u64,
    pub(crate) served: u64,
    pub(crate) lacked: u64,
    pub(crate) lacked_at: u64,
    pub(crate) checks: [u64; 2],
    pub(crate) line_1: u64,
}

/// ```text
///   0                            128
///  | participation              |
/// 128         136                192
///  | published | refused | unused |   written with every message, read by the watcher only
/// 192       200                 256
///  | wake | pad | unused          |   futex word, bumped with every message of a waking channel
/// ```
#[repr(C, align(64))]
pub(crate) struct SourceControl {
    pub(crate) participation: Participation,
    pub(crate) published: u64,
    pub(crate) refused: u64,
    pub(crate) line_1: [u64; 6],
    pub(crate) wake: u64,
    pub(crate) line_2: [u64; 7],
}

/// ```text
///   0                             128
///  | participation               |
/// 128        136     144    152       160          192
///  | released | taken | late | missing | invalid | .. |  written with every message; the sender reads it when it
///                                                        seems out of buffers
/// 192         200                256
///  | waiting | unused            |                     written when the receiver begins or ends to wait
/// ```
#[repr(C, align(64))]
pub(crate) struct TargetControl {
    pub(crate) participation: Participation,
    pub(crate) released: u64,
    pub(crate) taken: u64,
    pub(crate) late: u64,
    pub(crate) missing: u64,
    pub(crate) invalid: u64,
    pub(crate) line_1: [u64; 3],
    pub(crate) waiting: u64,
    pub(crate) line_2: [u64; 7],
}

/// ```text
///  0        8                 64
/// | pushed | unused          |   records pushed so far
/// ```
#[repr(C, align(64))]
pub(crate) struct RingControl {
    pub(crate) pushed: u64,
    pub(crate) unused: [u64; 7],
}

/// ```text
///  0       8                 64
/// | fired | unused          |   firings so far, and their check; the low half is the futex word of those who wait for the next
/// ```
#[repr(C, align(64))]
pub(crate) struct TriggerControl {
    pub(crate) fired: u64,
    pub(crate) unused: [u64; 7],
}

/// ```text
///  0         8               64
/// | waiting | unused        |   threads of this member that wait, or are about to, for a firing of the event
/// ```
#[repr(C, align(64))]
pub(crate) struct ListenerControl {
    pub(crate) waiting: u64,
    pub(crate) unused: [u64; 7],
}

/// The head of a buffer slot. A payload of up to 40 bytes follows it in the same cache line; a larger one starts
/// at the next line, where copies are fastest.
/// ```text
///  0          8        12      16      24                  64
/// | sequence | length | check | stamp | payload, <= 40 B  |
///
///  0          8        12      16      24        64                    stride
/// | sequence | length | check | stamp | unused  | payload, > 40 B ...  |
/// ```
#[repr(C)]
pub(crate) struct SlotHead {
    pub(crate) sequence: u64,
    pub(crate) length: u32,
    pub(crate) check: u32,
    pub(crate) stamp: i64,
}

/// Largest payload that shares the line of its sequence word.
const INLINE_BYTES_MAX: usize = LINE - size_of::<SlotHead>();

/// The head of a slot whose message belongs into a certain buffer of the receiver's, or has a checksum. Of an aliased buffer there is
/// no payload: it lies beside the slots.
/// ```text
///  0                 24      28         32                  64
/// | head, as above  | index | checksum | payload, <= 32 B  |
/// ```
#[repr(C)]
pub(crate) struct IndexedHead {
    pub(crate) head: SlotHead,
    pub(crate) index: u32,
    pub(crate) checksum: u32,
}

/// Which of the sender's buffers the receiver's program has in use; the words, one for each, follow.
/// ```text
///  0         8         64
/// | returns | unused  |   how many were given back so far
///
/// word i    0: not in use;    k + 1: in use since instance k was taken
/// ```
#[repr(C, align(64))]
pub(crate) struct BorrowedControl {
    pub(crate) returns: u64,
    pub(crate) line_0: [u64; 7],
}

const _: () = {
    assert!(size_of::<Header>() == 64 && align_of::<Header>() == LINE);
    assert!(offset_of!(Header, version) == 8 && offset_of!(Header, member) == 12);
    assert!(offset_of!(Header, layout_hash) == 16 && offset_of!(Header, generation) == 24);
    assert!(offset_of!(Header, reserved) == 28 && offset_of!(Header, size) == 32);
    assert!(offset_of!(Header, magic) == 0 && offset_of!(Header, unused) == 40);
    assert!(size_of::<Status>() == 64 && offset_of!(Status, progress) == 24);
    assert!(offset_of!(Status, unused) == 32);
    assert!(size_of::<TaskControl>() == 256 && offset_of!(TaskControl, counters) == 0);
    assert!(size_of::<Participation>() == 128 && offset_of!(Participation, version) == 0);
    assert!(offset_of!(Participation, copies) == 8 && offset_of!(Participation, dozing) == 56);
    assert!(offset_of!(Participation, started) == 64 && offset_of!(Participation, answered) == 72);
    assert!(offset_of!(Participation, served) == 80 && offset_of!(Participation, lacked) == 88);
    assert!(offset_of!(Participation, lacked_at) == 96 && offset_of!(Participation, checks) == 104);
    assert!(offset_of!(Participation, line_1) == 120);
    assert!(size_of::<SourceControl>() == 256 && offset_of!(SourceControl, published) == 128);
    assert!(offset_of!(SourceControl, refused) == 136 && offset_of!(SourceControl, wake) == 192);
    assert!(offset_of!(SourceControl, participation) == 0 && offset_of!(SourceControl, line_1) == 144);
    assert!(offset_of!(SourceControl, line_2) == 200);
    assert!(size_of::<TargetControl>() == 256 && offset_of!(TargetControl, released) == 128);
    assert!(offset_of!(TargetControl, invalid) == 160 && offset_of!(TargetControl, waiting) == 192);
    assert!(offset_of!(TargetControl, participation) == 0 && offset_of!(TargetControl, line_1) == 168);
    assert!(offset_of!(TargetControl, line_2) == 200);
    assert!(size_of::<RingControl>() == 64 && offset_of!(RingControl, unused) == 8);
    assert!(size_of::<TriggerControl>() == 64 && offset_of!(TriggerControl, unused) == 8);
    assert!(offset_of!(TriggerControl, fired) == 0 && offset_of!(ListenerControl, waiting) == 0);
    assert!(size_of::<ListenerControl>() == 64 && offset_of!(ListenerControl, unused) == 8);
    assert!(size_of::<SlotHead>() == 24 && offset_of!(SlotHead, stamp) == 16);
    assert!(offset_of!(SlotHead, length) == 8 && offset_of!(SlotHead, check) == 12);
    assert!(INLINE_BYTES_MAX == 40);
    assert!(size_of::<IndexedHead>() == 32 && offset_of!(IndexedHead, index) == 24);
    assert!(offset_of!(IndexedHead, checksum) == 28);
    assert!(size_of::<BorrowedControl>() == 64 && offset_of!(BorrowedControl, line_0) == 8);
    assert!(offset_of!(BorrowedControl, returns) == 0 && offset_of!(IndexedHead, head) == 0);
};
