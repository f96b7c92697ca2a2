//! Where everything lies in a member's segment, computed alike by its owner and by every peer.

use crate::block::{
    BLOCK_ALIGNMENT, BorrowedControl, Header, IndexedHead, LAYOUT_VERSION, LINE, RingControl, SlotHead,
    SourceControl, Status, TargetControl, TaskControl,
};
use crate::event::{EventPlaces, EventSpec};
use crate::message_record::MessageRecord;
use crate::stamp::StampRecord;
use leveret_types::{BUFFERS_MAX, ChannelId, Generation, MESSAGE_BYTES_MAX, MemberId, TaskId};
use std::collections::HashSet;

/// Segments are whole pages (under loom, where memory is dear, whole lines).
const PAGE: u64 = if cfg!(loom) { 64 } else { 4096 };
/// Largest segment, in bytes.
pub const SEGMENT_BYTES_MAX: u64 = 1 << 36;
/// Most records of one ring.
pub const RECORDS_MAX: u32 = 1 << 20;

/// What a member's segment must hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SegmentSpec {
    /// Its owner.
    pub member: MemberId,
    /// The commit it belongs to.
    pub generation: Generation,
    /// The channels that the member sends on.
    pub sources: Vec<SourceSpec>,
    /// The channels that the member receives from.
    pub targets: Vec<TargetSpec>,
    /// The member's tasks.
    pub tasks: Vec<TaskSpec>,
    /// Records in each channel end's ring; a power of two.
    pub message_records: u32,
    /// What the member fires, and what it listens to.
    pub events: EventSpec,
}

/// The sending end of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceSpec {
    /// Which channel.
    pub channel: ChannelId,
    /// Largest message, in bytes.
    pub size: u32,
    /// Number of buffers; rounded up to a power of two.
    pub buffers: u32,
    /// Whether a receiver may sleep until a message comes.
    pub waits: bool,
    /// How the buffers of the two ends belong together.
    pub mapping: Mapping,
    /// Whether each message carries a checksum of its payload.
    pub checksum: bool,
}

/// How the buffers that the programs at the two ends of a channel use belong together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mapping {
    /// Not at all: a message is copied into a slot, and from there.
    #[default]
    None,
    /// One to one, so many at each end: a message is copied, and says which buffer it belongs into.
    Indexed(u32),
    /// One to one, so many, and each pair is one: the program's buffers lie in the sender's segment beside the slots, and
    /// a slot only says which of them it is about. Nothing is copied.
    Aliased(u32),
}

impl Mapping {
    /// How many buffers each end has; 0 when they do not belong together.
    pub fn buffers(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Indexed(buffers) | Self::Aliased(buffers) => buffers,
        }
    }

    /// How many pairs of buffers are one.
    fn aliased(self) -> u32 {
        if let Self::Aliased(buffers) = self { buffers } else { 0 }
    }

    /// As a number for the digest.
    fn word(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Indexed(buffers) => 1 << 32 | u64::from(buffers),
            Self::Aliased(buffers) => 2 << 32 | u64::from(buffers),
        }
    }
}

/// The receiving end of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TargetSpec {
    /// Which channel.
    pub channel: ChannelId,
    /// Whether the receiver may sleep until a message comes; as in the channel's [`SourceSpec`].
    pub waits: bool,
    /// How the buffers of the two ends belong together; as in the channel's [`SourceSpec`].
    pub mapping: Mapping,
}

/// A task's stamp ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskSpec {
    /// Which task.
    pub task: TaskId,
    /// Records in its ring; a power of two.
    pub records: u32,
}

/// Why a segment cannot be laid out.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LayoutError {
    /// A channel end or task stands twice.
    #[error("{place} is declared twice in the segment of {member}; declare each end and task once")]
    Duplicate {
        /// The owner.
        member: MemberId,
        /// What stands twice.
        place: String,
    },
    /// A number is outside its limits.
    #[error("{place}: {what} is {found}, but must be {allowed}")]
    OutOfRange {
        /// Which channel end or task.
        place: String,
        /// Which number.
        what: &'static str,
        /// What was found.
        found: u64,
        /// What is allowed.
        allowed: String,
    },
    /// Everything together is too large.
    #[error("the segment of {member} would need more than {limit} bytes; use fewer or smaller buffers")]
    TooLarge {
        /// The owner.
        member: MemberId,
        /// [`SEGMENT_BYTES_MAX`].
        limit: u64,
    },
}

/// A ring of records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RingPlace {
    pub(crate) offset: usize,
    pub(crate) length: usize,
    pub(crate) records: u32,
}

/// The place of a channel's sending end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SourcePlace {
    pub(crate) spec: SourceSpec,
    pub(crate) control: usize,
    pub(crate) ring: RingPlace,
    pub(crate) slots: SlotsPlace,
}

/// The place and shape of a channel's buffer slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SlotsPlace {
    pub(crate) offset: usize,
    pub(crate) length: usize,
    /// Distance of two slots; a multiple of a line.
    pub(crate) stride: usize,
    /// Number of slots less one; the number is a power of two.
    pub(crate) mask: u64,
    /// From a slot's start to its payload.
    pub(crate) payload: usize,
    /// Largest payload.
    pub(crate) capacity: u32,
    /// Longest message: the payload, or a buffer on the shelf.
    pub(crate) longest: u32,
    /// How many buffers a slot can name; 0: it names none.
    pub(crate) indices: u32,
    pub(crate) checksum: bool,
    pub(crate) shelf: Option<ShelfPlace>,
}

/// The place of the program's own buffers in the sender's segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ShelfPlace {
    pub(crate) offset: usize,
    /// Distance of two buffers.
    pub(crate) stride: usize,
    pub(crate) buffers: u32,
    /// Bytes of a buffer.
    pub(crate) size: u32,
}

/// The place of a channel's receiving end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TargetPlace {
    pub(crate) spec: TargetSpec,
    pub(crate) control: usize,
    pub(crate) ring: RingPlace,
    /// A word for each aliased buffer, after [`BorrowedControl`].
    pub(crate) borrowed: Option<usize>,
}

/// The place of a task's counters and ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TaskPlace {
    pub(crate) spec: TaskSpec,
    pub(crate) control: usize,
    pub(crate) ring: RingPlace,
}

/// A laid-out segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SegmentLayout {
    pub(crate) member: MemberId,
    pub(crate) generation: Generation,
    pub(crate) sources: Vec<SourcePlace>,
    pub(crate) targets: Vec<TargetPlace>,
    pub(crate) tasks: Vec<TaskPlace>,
    pub(crate) events: EventPlaces,
    pub(crate) status: usize,
    size: usize,
    hash: u64,
}

impl SegmentLayout {
    /// Lays out `spec`. The same specification gives the same layout everywhere.
    ///
    /// # Errors
    /// [`LayoutError`] when an end or task stands twice, a number is outside its limits, or the whole exceeds
    /// [`SEGMENT_BYTES_MAX`].
    pub fn new(spec: &SegmentSpec) -> Result<Self, LayoutError> {
        check(spec)?;
        let mut cursor = Cursor { next: 0, member: spec.member };
        cursor.block(size_of::<Header>())?;
        let status = cursor.block(size_of::<Status>())?;
        let mut tasks = Vec::with_capacity(spec.tasks.len());
        for task in &spec.tasks {
            let control = cursor.block(size_of::<TaskControl>())?;
            let ring = cursor.ring(task.records, StampRecord::BYTES)?;
            tasks.push(TaskPlace { spec: *task, control, ring });
        }
        let mut sources = Vec::with_capacity(spec.sources.len());
        for source in &spec.sources {
            let control = cursor.block(size_of::<SourceControl>())?;
            let ring = cursor.ring(spec.message_records, MessageRecord::BYTES)?;
            let slots = cursor.slots(source)?;
            sources.push(SourcePlace { spec: *source, control, ring, slots });
        }
        let mut targets = Vec::with_capacity(spec.targets.len());
        for target in &spec.targets {
            let control = cursor.block(size_of::<TargetControl>())?;
            let ring = cursor.ring(spec.message_records, MessageRecord::BYTES)?;
            let borrowed = match target.mapping.aliased() {
                0 => None,
                count => Some(cursor.block(size_of::<BorrowedControl>() + count as usize * 8)?),
            };
            targets.push(TargetPlace { spec: *target, control, ring, borrowed });
        }
        let events = EventPlaces::new(&spec.events, |length| cursor.block(length))?;
        let size = cursor.finish()?;
        let hash = hash(spec, size);
        Ok(Self {
            member: spec.member,
            generation: spec.generation,
            sources,
            targets,
            tasks,
            events,
            status,
            size,
            hash,
        })
    }

    /// Bytes of the segment; whole pages.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Digest of the specification and of this version's layout; owner and peers must agree in it.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The owner.
    pub fn member(&self) -> MemberId {
        self.member
    }

    /// The commit it belongs to.
    pub fn generation(&self) -> Generation {
        self.generation
    }
}

/// Hands out places one after the other.
struct Cursor {
    next: u64,
    member: MemberId,
}

impl Cursor {
    /// `length` bytes at a multiple of [`BLOCK_ALIGNMENT`].
    fn block(&mut self, length: usize) -> Result<usize, LayoutError> {
        let start = self.next.next_multiple_of(BLOCK_ALIGNMENT as u64);
        let end = start.saturating_add(length as u64);
        if end > SEGMENT_BYTES_MAX {
            return Err(LayoutError::TooLarge { member: self.member, limit: SEGMENT_BYTES_MAX });
        }
        self.next = end;
        Ok(start as usize)
    }

    fn ring(&mut self, records: u32, record_bytes: usize) -> Result<RingPlace, LayoutError> {
        let length = size_of::<RingControl>() + records as usize * record_bytes;
        Ok(RingPlace { offset: self.block(length)?, length, records })
    }

    fn slots(&mut self, source: &SourceSpec) -> Result<SlotsPlace, LayoutError> {
        let aliased = source.mapping.aliased();
        let indices = source.mapping.buffers();
        let capacity = if aliased == 0 { source.size } else { 0 };
        let checksum = source.checksum;
        let head = slot_head(indices, checksum);
        let payload = if head + capacity as usize <= LINE { head } else { LINE };
        let stride = (payload + capacity as usize).next_multiple_of(LINE);
        let count = u64::from(source.buffers.max(aliased).next_power_of_two());
        let length = stride.saturating_mul(count as usize);
        let offset = self.block(length)?;
        let shelf = if aliased == 0 { None } else { Some(self.shelf(aliased, source.size)?) };
        let longest = source.size;
        let mask = count - 1;
        Ok(SlotsPlace { offset, length, stride, mask, payload, capacity, longest, indices, checksum, shelf })
    }

    fn shelf(&mut self, buffers: u32, size: u32) -> Result<ShelfPlace, LayoutError> {
        // Neighbours are written and read by different processes at once.
        let stride = (size as usize).next_multiple_of(BLOCK_ALIGNMENT);
        let offset = self.block(stride.saturating_mul(buffers as usize))?;
        Ok(ShelfPlace { offset, stride, buffers, size })
    }

    fn finish(&mut self) -> Result<usize, LayoutError> {
        self.next = self.next.next_multiple_of(PAGE);
        self.block(0)
    }
}

/// Bytes of a slot's head.
pub(crate) fn slot_head(indices: u32, checksum: bool) -> usize {
    if indices == 0 && !checksum { size_of::<SlotHead>() } else { size_of::<IndexedHead>() }
}

fn check(spec: &SegmentSpec) -> Result<(), LayoutError> {
    let member = spec.member;
    let message_records = ("message records", u64::from(spec.message_records));
    power_of_two(|| format!("segment of {member}"), message_records, RECORDS_MAX)?;
    let mut seen = HashSet::new();
    for source in &spec.sources {
        let place = || format!("source end of {}", source.channel);
        if !seen.insert((0, source.channel.0)) {
            return Err(LayoutError::Duplicate { member, place: place() });
        }
        within(place, ("size in bytes", u64::from(source.size)), 1, MESSAGE_BYTES_MAX)?;
        within(place, ("number of buffers", u64::from(source.buffers)), 1, u64::from(BUFFERS_MAX))?;
        let indices = u64::from(source.mapping.buffers());
        within(place, ("number of mapped buffers", indices), 0, u64::from(BUFFERS_MAX))?;
    }
    for target in &spec.targets {
        if !seen.insert((1, target.channel.0)) {
            let place = format!("target end of {}", target.channel);
            return Err(LayoutError::Duplicate { member, place });
        }
        let place = || format!("target end of {}", target.channel);
        let indices = u64::from(target.mapping.buffers());
        within(place, ("number of mapped buffers", indices), 0, u64::from(BUFFERS_MAX))?;
    }
    for task in &spec.tasks {
        let place = || task.task.to_string();
        if !seen.insert((2, task.task.0)) {
            return Err(LayoutError::Duplicate { member, place: place() });
        }
        power_of_two(place, ("number of records", u64::from(task.records)), RECORDS_MAX)?;
    }
    for trigger in &spec.events.triggers {
        let place = || trigger.trigger.to_string();
        if !seen.insert((3, trigger.trigger.0)) {
            return Err(LayoutError::Duplicate { member, place: place() });
        }
        power_of_two(place, ("number of firings kept", u64::from(trigger.kept)), RECORDS_MAX)?;
    }
    for event in &spec.events.listeners {
        if !seen.insert((4, event.0)) {
            return Err(LayoutError::Duplicate { member, place: format!("listener of {event}") });
        }
    }
    Ok(())
}

fn within(
    place: impl Fn() -> String,
    (what, found): (&'static str, u64),
    least: u64,
    most: u64,
) -> Result<(), LayoutError> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    Err(LayoutError::OutOfRange { place: place(), what, found, allowed: format!("{least} to {most}") })
}

fn power_of_two(
    place: impl Fn() -> String,
    (what, found): (&'static str, u64),
    most: u32,
) -> Result<(), LayoutError> {
    if found.is_power_of_two() && found <= u64::from(most) {
        return Ok(());
    }
    let allowed = format!("a power of two up to {most}");
    Err(LayoutError::OutOfRange { place: place(), what, found, allowed })
}

/// FNV-1a over everything that determines the layout.
fn hash(spec: &SegmentSpec, size: usize) -> u64 {
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    let mut feed = |value: u64| {
        for byte in value.to_le_bytes() {
            digest = (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    feed(u64::from(LAYOUT_VERSION));
    feed(u64::from(spec.member.0));
    feed(u64::from(spec.generation.0));
    feed(u64::from(spec.message_records));
    feed(spec.sources.len() as u64);
    for source in &spec.sources {
        feed(u64::from(source.channel.0));
        feed(u64::from(source.size));
        feed(u64::from(source.buffers));
        feed(u64::from(source.waits) | u64::from(source.checksum) << 1);
        feed(source.mapping.word());
    }
    feed(spec.targets.len() as u64);
    for target in &spec.targets {
        feed(u64::from(target.channel.0));
        feed(u64::from(target.waits));
        feed(target.mapping.word());
    }
    feed(spec.tasks.len() as u64);
    for task in &spec.tasks {
        feed(u64::from(task.task.0));
        feed(u64::from(task.records));
    }
    feed(spec.events.triggers.len() as u64);
    for trigger in &spec.events.triggers {
        feed(u64::from(trigger.trigger.0));
        feed(u64::from(trigger.kept));
    }
    feed(spec.events.listeners.len() as u64);
    spec.events.listeners.iter().for_each(|event| feed(u64::from(event.0)));
    feed(size as u64);
    digest
}
