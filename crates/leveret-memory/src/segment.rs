//! A member's own segment: created once, written by its owner alone.

use crate::aliased::{Borrowed, Borrower, Shelf};
use crate::block::{
    Header, LAYOUT_VERSION, MAGIC, MAGIC_UNFINISHED, Participation, SourceControl, Status, TargetControl,
};
use crate::event::{FiringWriter, ListenerWriter};
use crate::layout::{SegmentLayout, SourcePlace, TargetPlace};
use crate::message_record::MessageWriter;
use crate::participation::ParticipationWriter;
use crate::region::Region;
use crate::sequence::Tag;
use crate::slots::Slots;
use crate::stamp::StampWriter;
use crate::status::StatusWriter;
use crate::sync::Ordering;
use crate::window::Window;
use leveret_types::{ChannelId, EventId, Generation, MemberId, TaskId, TriggerId};
use std::mem::{offset_of, size_of};
use std::sync::Arc;

/// Why a region cannot serve as a segment.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SegmentError {
    /// Shorter than the layout.
    #[error(
        "segment of {member}: the region has {found} bytes, the layout needs {needed}; size the memory file by the layout"
    )]
    TooSmall {
        /// The owner.
        member: MemberId,
        /// The layout's size.
        needed: usize,
        /// The region's.
        found: usize,
    },
    /// Not on a cache line.
    #[error(
        "segment of {member}: the region starts at {address:#x}, which is not a multiple of 64; map whole pages"
    )]
    Misaligned {
        /// The owner.
        member: MemberId,
        /// Where it starts.
        address: usize,
    },
    /// The owner's region is read-only.
    #[error("segment of {member}: the region is read-only; its owner must map it writable")]
    NotWritable {
        /// The owner.
        member: MemberId,
    },
    /// The region is in use, or not fresh.
    #[error(
        "segment of {member}: the region is not empty (first word {found:#x}); create every segment in fresh, zeroed memory"
    )]
    NotFresh {
        /// The owner.
        member: MemberId,
        /// The first word.
        found: u64,
    },
    /// Something in the header is not as it must be.
    #[error(
        "segment of {member}: its {field} is {found:#x}, expected {expected:#x}; the peer is stale, of another version, or not Leveret's: commit again"
    )]
    Header {
        /// The expected owner.
        member: MemberId,
        /// Which field.
        field: &'static str,
        /// What was found.
        found: u64,
        /// What was expected.
        expected: u64,
    },
}

/// Words of the header, as they are read and compared.
pub(crate) fn header_words(layout: &SegmentLayout) -> [(&'static str, usize, u64); 4] {
    let version = u64::from(LAYOUT_VERSION) | u64::from(layout.member().0) << 32;
    [
        ("version and member", offset_of!(Header, version), version),
        ("layout hash", offset_of!(Header, layout_hash), layout.hash()),
        ("generation", offset_of!(Header, generation), u64::from(layout.generation().0)),
        ("size", offset_of!(Header, size), layout.size() as u64),
    ]
}

/// Checks what does not depend on the region's content.
pub(crate) fn check_region(region: &dyn Region, layout: &SegmentLayout) -> Result<(), SegmentError> {
    let member = layout.member();
    if region.len() < layout.size() {
        return Err(SegmentError::TooSmall { member, needed: layout.size(), found: region.len() });
    }
    let address = region.base().as_ptr() as usize;
    if !cfg!(loom) && !address.is_multiple_of(64) {
        return Err(SegmentError::Misaligned { member, address });
    }
    Ok(())
}

/// A member's own segment. Each end, task and the status block can be taken once; who has taken it is its only
/// writer.
pub struct OwnSegment {
    window: Window,
    layout: SegmentLayout,
    sources_taken: Vec<bool>,
    targets_taken: Vec<bool>,
    tasks_taken: Vec<bool>,
    triggers_taken: Vec<bool>,
    listeners_taken: Vec<bool>,
    status_taken: bool,
}

impl OwnSegment {
    /// Makes a segment of the zeroed `region`. Peers may attach as soon as this returns.
    ///
    /// # Errors
    /// [`SegmentError`] when the region is too small, misaligned, read-only, or already a segment.
    pub fn create(region: Arc<dyn Region>, layout: &SegmentLayout) -> Result<Self, SegmentError> {
        check_region(&*region, layout)?;
        let member = layout.member();
        if !region.is_writable() {
            return Err(SegmentError::NotWritable { member });
        }
        let window = Window::whole(region).part(0, layout.size());
        let magic = window.word(offset_of!(Header, magic));
        // The exchange makes a second creation over the same memory impossible: one region, one writer.
        magic
            .compare_exchange(0, MAGIC_UNFINISHED, Ordering::AcqRel, Ordering::Relaxed)
            .map_err(|found| SegmentError::NotFresh { member, found })?;
        for (_, offset, value) in header_words(layout) {
            window.word(offset).store(value, Ordering::Relaxed);
        }
        let sources = layout.sources.iter().map(|source| source.control);
        for control in sources.chain(layout.targets.iter().map(|target| target.control)) {
            let control = window.part(control, size_of::<Participation>());
            ParticipationWriter::new(&control).begin();
        }
        magic.store(MAGIC, Ordering::Release);
        Ok(Self {
            window,
            layout: layout.clone(),
            sources_taken: vec![false; layout.sources.len()],
            targets_taken: vec![false; layout.targets.len()],
            tasks_taken: vec![false; layout.tasks.len()],
            triggers_taken: vec![false; layout.events.triggers.len()],
            listeners_taken: vec![false; layout.events.listeners.len()],
            status_taken: false,
        })
    }

    /// The layout.
    pub fn layout(&self) -> &SegmentLayout {
        &self.layout
    }

    /// The owner's generation.
    pub fn generation(&self) -> Generation {
        self.layout.generation()
    }

    fn tag(&self) -> Tag {
        Tag::new(self.layout.generation())
    }

    /// The sending end of `channel`; `None` when the segment has none or it was taken before.
    pub fn take_source(&mut self, channel: ChannelId) -> Option<SourceEnd> {
        let index = self.layout.sources.iter().position(|place| place.spec.channel == channel)?;
        take(&mut self.sources_taken[index])?;
        Some(SourceEnd::new(&self.window, &self.layout.sources[index], self.tag()))
    }

    /// The receiving end of `channel`; `None` when the segment has none or it was taken before.
    pub fn take_target(&mut self, channel: ChannelId) -> Option<TargetEnd> {
        let index = self.layout.targets.iter().position(|place| place.spec.channel == channel)?;
        take(&mut self.targets_taken[index])?;
        Some(TargetEnd::new(&self.window, &self.layout.targets[index], self.tag()))
    }

    /// The stamps of `task`; `None` when the segment has none or they were taken before.
    pub fn take_task(&mut self, task: TaskId) -> Option<StampWriter> {
        let index = self.layout.tasks.iter().position(|place| place.spec.task == task)?;
        take(&mut self.tasks_taken[index])?;
        Some(StampWriter::new(&self.window, &self.layout.tasks[index], self.tag()))
    }

    /// The firings of `trigger`; `None` when the segment has none or they were taken before.
    pub fn take_trigger(&mut self, trigger: TriggerId) -> Option<FiringWriter> {
        let index = self.layout.events.triggers.iter().position(|place| place.spec.trigger == trigger)?;
        take(&mut self.triggers_taken[index])?;
        Some(FiringWriter::new(&self.window, &self.layout.events.triggers[index]))
    }

    /// Where this member's threads say that they wait for `event`; `None` when the segment has none or it was taken
    /// before.
    pub fn take_listener(&mut self, event: EventId) -> Option<ListenerWriter> {
        let index = self.layout.events.listeners.iter().position(|(listened, _)| *listened == event)?;
        take(&mut self.listeners_taken[index])?;
        Some(ListenerWriter::new(&self.window, self.layout.events.listeners[index].1))
    }

    /// The status block; `None` when it was taken before.
    pub fn take_status(&mut self) -> Option<StatusWriter> {
        take(&mut self.status_taken)?;
        Some(StatusWriter::new(self.window.part(self.layout.status, size_of::<Status>())))
    }
}

/// Sets `taken`; `None` when it was set before.
fn take(taken: &mut bool) -> Option<()> {
    (!std::mem::replace(taken, true)).then_some(())
}

/// The sending end of a channel, in its owner's segment: what a [`crate::Sender`] is made of.
pub struct SourceEnd {
    pub(crate) channel: ChannelId,
    pub(crate) waits: bool,
    pub(crate) tag: Tag,
    pub(crate) control: Window,
    pub(crate) slots: Slots,
    /// Where a watcher reads what was counted and recorded; see [`crate::Sender::report_as`].
    pub(crate) counts: Window,
    pub(crate) records: MessageWriter,
    shelf: Option<Shelf>,
}

impl SourceEnd {
    fn new(segment: &Window, place: &SourcePlace, tag: Tag) -> Self {
        let control = segment.part(place.control, size_of::<SourceControl>());
        Self {
            channel: place.spec.channel,
            waits: place.spec.waits,
            tag,
            counts: control.clone(),
            control,
            slots: Slots::new(segment, place),
            shelf: place.slots.shelf.as_ref().map(|shelf| Shelf::new(segment, shelf)),
            records: MessageWriter::new(segment, &place.ring, tag),
        }
    }

    /// Which channel.
    pub fn channel(&self) -> ChannelId {
        self.channel
    }

    /// The program's buffers, where they are aliased.
    pub fn shelf(&self) -> Option<&Shelf> {
        self.shelf.as_ref()
    }
}

/// The receiving end of a channel, in its owner's segment: what a [`crate::Receiver`] is made of.
pub struct TargetEnd {
    pub(crate) channel: ChannelId,
    pub(crate) waits: bool,
    pub(crate) control: Window,
    /// As [`SourceEnd::counts`].
    pub(crate) counts: Window,
    pub(crate) records: MessageWriter,
    borrowed: Option<Borrowed>,
}

impl TargetEnd {
    fn new(segment: &Window, place: &TargetPlace, tag: Tag) -> Self {
        let control = segment.part(place.control, size_of::<TargetControl>());
        Self {
            channel: place.spec.channel,
            waits: place.spec.waits,
            counts: control.clone(),
            control,
            records: MessageWriter::new(segment, &place.ring, tag),
            borrowed: Borrowed::new(segment, place),
        }
    }

    /// What the program has in use, where buffers are aliased.
    pub fn borrower(&self) -> Option<Borrower> {
        self.borrowed.as_ref().map(Borrower::new)
    }

    /// Which channel.
    pub fn channel(&self) -> ChannelId {
        self.channel
    }
}
