//! Memory shared between a job's members: one segment a member, one writer a byte (design sections 4, 5 and 9).
//!
//! ```text
//!   sender's segment (read-only to the receiver)     receiver's segment (read-only to the sender)
//!   +---------------------------------------+        +------------------------------+
//!   | slot 0 | slot 1 | ... | slot n-1      | -----> | released: instances done with |
//!   | sequence word, stamp, length, payload |  take  | waiting: about to sleep       |
//!   | wake: bumped on waking channels       | <----- |                               |
//!   +---------------------------------------+ release+------------------------------+
//! ```
//!
//! - [`SegmentLayout`] says where everything lies; owner and peers compute it alike.
//! - [`OwnSegment`] hands out the writing ends, each once; [`PeerSegment`] the reading ends, after validation.
//! - [`Sender`] and [`Receiver`] join the two ends of a channel; [`StampWriter`] and [`StampReader`] carry what the
//!   watcher wants to know.
//! - [`FiringWriter`] and [`FiringReader`] count the firings of a trigger; listeners say that they wait for one.
//! - [`Part`] is what a program's buffer has of the memory that commit made for all of them.
//! - [`iterator`] keeps the buffers at a channel's end in the order of their policy, within one process.
//!
//! Nothing here makes a system call, allocates after set-up, or takes a lock. All that is read from a peer is an
//! allegation ([`Alleged`]) until it is checked.

mod aliased;
mod alleged;
mod block;
mod checksum;
mod copy;
mod counted;
#[cfg(all(test, not(loom), not(miri)))]
mod damage_tests;
mod doze;
mod event;
#[cfg(portable_copy)]
mod handed;
pub mod iterator;
mod latest;
mod layout;
mod message;
mod message_record;
mod part;
mod participation;
mod peer;
mod receiver;
mod region;
mod ring;
mod segment;
mod sender;
mod sequence;
mod slots;
mod stamp;
mod status;
pub mod sync;
mod window;

pub use aliased::{Borrower, Lender, Shelf};
pub use alleged::Alleged;
pub use block::LAYOUT_VERSION;
pub use doze::Doze;
pub use event::{
    EventSpec, FiringReader, FiringWriter, ListenerReader, ListenerWriter, TriggerSpec, after_firing,
};
#[cfg(portable_copy)]
pub use handed::Handed;
pub use latest::Latest;
pub use layout::{
    LayoutError, Mapping, RECORDS_MAX, SEGMENT_BYTES_MAX, SegmentLayout, SegmentSpec, SourceSpec, TargetSpec,
    TaskSpec,
};
pub use message::{Message, SharedBytes, Torn};
pub use message_record::{MessageReader, MessageRecord};
pub use part::{PART_ALIGNMENT, Part};
pub use participation::{NOT_ACTIVE, ParticipationReader, ParticipationWriter};
pub use peer::{PeerSegment, PeerSource, PeerTarget, SourceCounters, TargetCounters};
pub use receiver::{InvalidReason, Receiver, Taken};
pub use region::{HeapRegion, REGION_ALIGNMENT, Region};
pub use ring::Drained;
pub use segment::{OwnSegment, SegmentError, SourceEnd, TargetEnd};
pub use sender::{NoBuffer, Sender, Slot};
pub use sequence::INSTANCE_MAX;
pub use stamp::{GAP_BUCKETS, StampReader, StampRecord, StampWriter, TaskCounter};
pub use status::{StatusReader, StatusSnapshot, StatusWriter};
