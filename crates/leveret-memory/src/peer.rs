//! A peer's segment, read only. Its header is an allegation until it is validated here; everything else is one
//! whenever it is read.

use crate::aliased::{Borrowed, Lender, Shelf};
use crate::alleged::Alleged;
use crate::block::{Header, MAGIC, SourceControl, Status, TargetControl};
use crate::counted::count_of;
use crate::event::{FiringReader, ListenerReader};
use crate::layout::{RingPlace, SegmentLayout, SourcePlace, TargetPlace};
use crate::message_record::MessageReader;
use crate::participation::ParticipationReader;
use crate::region::Region;
use crate::segment::{SegmentError, check_region, header_words};
use crate::sequence::Tag;
use crate::slots::Slots;
use crate::stamp::StampReader;
use crate::status::StatusReader;
use crate::sync::Ordering;
use crate::window::Window;
use leveret_types::{ChannelId, EventId, Generation, MemberId, Nanos, TaskId, TriggerId};
use std::mem::offset_of;
use std::sync::Arc;

/// A validated view of a peer's segment.
pub struct PeerSegment {
    window: Window,
    layout: SegmentLayout,
}

impl PeerSegment {
    /// Attaches to the segment in `region`, which must be laid out as `layout` says and belong to `member` in
    /// `generation`.
    ///
    /// # Errors
    /// [`SegmentError`] naming the first thing that is not as it must be.
    pub fn attach(
        region: Arc<dyn Region>,
        layout: &SegmentLayout,
        member: MemberId,
        generation: Generation,
    ) -> Result<Self, SegmentError> {
        let header = |field, found, expected| SegmentError::Header { member, field, found, expected };
        if layout.member() != member {
            return Err(header("layout's member", u64::from(layout.member().0), u64::from(member.0)));
        }
        if layout.generation() != generation {
            let found = u64::from(layout.generation().0);
            return Err(header("layout's generation", found, u64::from(generation.0)));
        }
        check_region(&*region, layout)?;
        let window = Window::whole(region).part(0, layout.size());
        let magic = Alleged::new(window.word(offset_of!(Header, magic)).load(Ordering::Acquire));
        magic.must_be(MAGIC).map_err(|found| header("magic", found, MAGIC))?;
        for (field, offset, expected) in header_words(layout) {
            let word = Alleged::new(window.word(offset).load(Ordering::Relaxed));
            word.must_be(expected).map_err(|found| header(field, found, expected))?;
        }
        Ok(Self { window, layout: layout.clone() })
    }

    /// The layout.
    pub fn layout(&self) -> &SegmentLayout {
        &self.layout
    }

    fn tag(&self) -> Tag {
        Tag::new(self.layout.generation())
    }

    /// The peer's sending end of `channel`, if the layout has one.
    pub fn source(&self, channel: ChannelId) -> Option<PeerSource> {
        let place = self.layout.sources.iter().find(|place| place.spec.channel == channel)?;
        Some(PeerSource::new(&self.window, place, self.tag()))
    }

    /// The peer's receiving end of `channel`, if the layout has one.
    pub fn target(&self, channel: ChannelId) -> Option<PeerTarget> {
        let place = self.layout.targets.iter().find(|place| place.spec.channel == channel)?;
        Some(PeerTarget::new(&self.window, place, self.tag()))
    }

    /// The stamps of the peer's `task`, if the layout has it.
    pub fn task(&self, task: TaskId) -> Option<StampReader> {
        let place = self.layout.tasks.iter().find(|place| place.spec.task == task)?;
        Some(StampReader::new(&self.window, place, self.tag()))
    }

    /// The firings of the peer's `trigger`, if the layout has it. Their times are found if they lie within a year
    /// of `near`.
    pub fn trigger(&self, trigger: TriggerId, near: Nanos) -> Option<FiringReader> {
        let place = self.layout.events.triggers.iter().find(|place| place.spec.trigger == trigger)?;
        Some(FiringReader::new(&self.window, place, near))
    }

    /// Whether threads of the peer wait for `event`, if the layout says that it listens.
    pub fn listener(&self, event: EventId) -> Option<ListenerReader> {
        let (_, place) = self.layout.events.listeners.iter().find(|(listened, _)| *listened == event)?;
        Some(ListenerReader::new(&self.window, *place))
    }

    /// What the peer says of itself.
    pub fn status(&self) -> StatusReader {
        StatusReader::new(self.window.part(self.layout.status, size_of::<Status>()))
    }
}

/// Counters of a sending end; any value is possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SourceCounters {
    /// Messages published.
    pub published: u64,
    /// Messages not sent for want of a free buffer.
    pub refused: u64,
}

/// Counters of a receiving end; any value is possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TargetCounters {
    /// Messages taken and released.
    pub taken: u64,
    /// Messages that came after they were due.
    pub late: u64,
    /// Messages that never came.
    pub missing: u64,
    /// Messages that were nonsense.
    pub invalid: u64,
}

/// The sending end of a channel, in a peer's segment.
#[derive(Clone)]
pub struct PeerSource {
    pub(crate) channel: ChannelId,
    pub(crate) waits: bool,
    pub(crate) tag: Tag,
    pub(crate) control: Window,
    pub(crate) slots: Slots,
    segment: Window,
    ring: RingPlace,
    pub(crate) shelf: Option<Shelf>,
}

impl PeerSource {
    fn new(segment: &Window, place: &SourcePlace, tag: Tag) -> Self {
        Self {
            channel: place.spec.channel,
            waits: place.spec.waits,
            tag,
            control: segment.part(place.control, size_of::<SourceControl>()),
            slots: Slots::new(segment, place),
            shelf: place.slots.shelf.as_ref().map(|shelf| Shelf::new(segment, shelf)),
            segment: segment.clone(),
            ring: place.ring,
        }
    }

    /// Which channel.
    pub fn channel(&self) -> ChannelId {
        self.channel
    }

    /// The sender's buffers, where they are aliased.
    pub fn shelf(&self) -> Option<&Shelf> {
        self.shelf.as_ref()
    }

    /// When the sender takes part.
    pub fn participation(&self) -> ParticipationReader {
        ParticipationReader::new(&self.control)
    }

    /// First instance that the sender can make; [`crate::NOT_ACTIVE`] while it is not active. Any value is possible.
    pub fn first_eligible(&self) -> u64 {
        self.participation().spans().map_or(crate::NOT_ACTIVE, |[first, ..]| first)
    }

    /// The counters.
    pub fn counters(&self) -> SourceCounters {
        SourceCounters {
            published: alleged_word(&self.control, offset_of!(SourceControl, published)),
            refused: alleged_word(&self.control, offset_of!(SourceControl, refused)),
        }
    }

    /// Whether the words that say when it takes part are what it wrote, as far as that can be seen.
    pub fn is_whole(&self) -> bool {
        self.participation().is_whole()
    }

    /// A reader of the sender's message records, from the first one on.
    pub fn records(&self) -> MessageReader {
        MessageReader::new(&self.segment, &self.ring, self.tag)
    }
}

/// The receiving end of a channel, in a peer's segment.
#[derive(Clone)]
pub struct PeerTarget {
    pub(crate) channel: ChannelId,
    pub(crate) waits: bool,
    pub(crate) control: Window,
    tag: Tag,
    segment: Window,
    ring: RingPlace,
    pub(crate) borrowed: Option<Borrowed>,
}

impl PeerTarget {
    fn new(segment: &Window, place: &TargetPlace, tag: Tag) -> Self {
        Self {
            channel: place.spec.channel,
            waits: place.spec.waits,
            control: segment.part(place.control, size_of::<TargetControl>()),
            tag,
            segment: segment.clone(),
            ring: place.ring,
            borrowed: Borrowed::new(segment, place),
        }
    }

    /// Which channel.
    pub fn channel(&self) -> ChannelId {
        self.channel
    }

    /// What the receiver has in use of the sender's buffers, where they are aliased.
    pub fn lender(&self) -> Option<Lender> {
        Lender::new(self)
    }

    /// When the receiver takes part.
    pub fn participation(&self) -> ParticipationReader {
        ParticipationReader::new(&self.control)
    }

    /// First instance that the receiver can take; [`crate::NOT_ACTIVE`] while it is not active. Any value is possible.
    pub fn first_eligible(&self) -> u64 {
        self.participation().spans().map_or(crate::NOT_ACTIVE, |[first, ..]| first)
    }

    /// How many instances the receiver is done with. Any value is possible; `None` when something has written over the count.
    pub fn released(&self) -> Option<u64> {
        count_of(alleged_word(&self.control, offset_of!(TargetControl, released)))
    }

    /// The counters.
    pub fn counters(&self) -> TargetCounters {
        TargetCounters {
            taken: alleged_word(&self.control, offset_of!(TargetControl, taken)),
            late: alleged_word(&self.control, offset_of!(TargetControl, late)),
            missing: alleged_word(&self.control, offset_of!(TargetControl, missing)),
            invalid: alleged_word(&self.control, offset_of!(TargetControl, invalid)),
        }
    }

    /// Whether the words that say when it takes part and how far it is are what it wrote, as far as that can be seen.
    pub fn is_whole(&self) -> bool {
        self.participation().is_whole() && self.released().is_some()
    }

    /// A reader of the receiver's message records, from the first one on.
    pub fn records(&self) -> MessageReader {
        MessageReader::new(&self.segment, &self.ring, self.tag)
    }
}

/// A word of a peer of which every value is harmless.
#[inline(always)]
fn alleged_word(window: &Window, offset: usize) -> u64 {
    Alleged::new(window.word(offset).load(Ordering::Acquire)).any_value()
}
