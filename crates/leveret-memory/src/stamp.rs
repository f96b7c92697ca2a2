//! Stage stamps of task instances, and a task's counters (design section 9).

use crate::alleged::Alleged;
use crate::block::TaskControl;
use crate::layout::TaskPlace;
use crate::ring::{Drained, RingReader, RingWriter};
use crate::sequence::Tag;
use crate::sync::Ordering;
use crate::window::Window;
use leveret_types::{Nanos, TaskId};
use std::mem::{offset_of, size_of};

const WORDS: usize = size_of::<StampSlot>() / 8;

/// A stamp record as it lies in the ring.
/// ```text
///   0          8          16        24         32      40        48
///  | sequence | instance | planned | deadline | woken | started | ended |
///  56    64       72         76       80    88        89         96      128
///  | gap | gap at | switches | faults | cpu | outcome | reserved | clock step 96, spare 104, check 120 |
/// ```
#[repr(C)]
struct StampSlot {
    sequence: u64,
    instance: u64,
    planned: i64,
    deadline: i64,
    woken: i64,
    started: i64,
    ended: i64,
    gap: i64,
    gap_at: i64,
    switches: u32,
    faults: u32,
    cpu: i64,
    outcome: u8,
    reserved: [u8; 7],
    clock_step: i64,
    spare: [u64; 2],
    check: u64,
}

const _: () = {
    assert!(size_of::<StampSlot>() == 128 && offset_of!(StampSlot, sequence) == 0);
    assert!(offset_of!(StampSlot, instance) == 8 && offset_of!(StampSlot, planned) == 16);
    assert!(offset_of!(StampSlot, deadline) == 24 && offset_of!(StampSlot, woken) == 32);
    assert!(offset_of!(StampSlot, started) == 40 && offset_of!(StampSlot, ended) == 48);
    assert!(offset_of!(StampSlot, gap) == 56 && offset_of!(StampSlot, gap_at) == 64);
    assert!(offset_of!(StampSlot, switches) == 72 && offset_of!(StampSlot, faults) == 76);
    assert!(offset_of!(StampSlot, cpu) == 80 && offset_of!(StampSlot, outcome) == 88);
    assert!(offset_of!(StampSlot, reserved) == 89 && offset_of!(StampSlot, clock_step) == 96);
    assert!(offset_of!(StampSlot, spare) == 104 && offset_of!(StampSlot, check) == 120);
};

/// What happened to one instance of a task. Instants in nanoseconds of the job's clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StampRecord {
    /// Which instance.
    pub instance: u64,
    /// Planned start.
    pub planned: Nanos,
    /// End of the window.
    pub deadline: Nanos,
    /// Return from the planned sleep.
    pub woken: Nanos,
    /// Start of the body.
    pub started: Nanos,
    /// End of the body.
    pub ended: Nanos,
    /// Longest stretch between two clock readings before the start.
    pub gap: Nanos,
    /// When that stretch began.
    pub gap_at: Nanos,
    /// Times the thread was scheduled in between wake and end; `u32::MAX` unknown.
    pub switches: u32,
    /// Page faults since the previous wake; `u32::MAX` unknown.
    pub faults: u32,
    /// Processor time of the body when it differs from `ended - started`; else 0.
    pub cpu: Nanos,
    /// What became of the instance; its meaning is the runtime's.
    pub outcome: u8,
    /// How far the clock was stepped since the instance before; 0 if it was not.
    pub clock_step: Nanos,
}

impl StampRecord {
    /// Bytes of a record in the ring.
    pub(crate) const BYTES: usize = size_of::<StampSlot>();

    #[inline(always)]
    fn encode(&self) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        words[1] = self.instance;
        words[2] = self.planned.0 as u64;
        words[3] = self.deadline.0 as u64;
        words[4] = self.woken.0 as u64;
        words[5] = self.started.0 as u64;
        words[6] = self.ended.0 as u64;
        words[7] = self.gap.0 as u64;
        words[8] = self.gap_at.0 as u64;
        words[9] = u64::from(self.switches) | u64::from(self.faults) << 32;
        words[10] = self.cpu.0 as u64;
        words[11] = u64::from(self.outcome);
        words[12] = self.clock_step.0 as u64;
        words
    }

    fn decode(words: &[u64; WORDS]) -> Self {
        let nanos = |index: usize| Nanos(words[index] as i64);
        Self {
            instance: words[1],
            planned: nanos(2),
            deadline: nanos(3),
            woken: nanos(4),
            started: nanos(5),
            ended: nanos(6),
            gap: nanos(7),
            gap_at: nanos(8),
            switches: words[9] as u32,
            faults: (words[9] >> 32) as u32,
            cpu: nanos(10),
            outcome: words[11] as u8,
            clock_step: nanos(12),
        }
    }
}

/// Number of buckets that count gaps in the spin before starts.
pub const GAP_BUCKETS: usize = 10;

/// Counters of one task, in its segment. `u64::MAX` in one of them means that it could not be counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskCounter {
    /// The kernel's thread id.
    Thread = 0,
    /// Instances that ran.
    Ran = 1,
    /// Instances that were skipped.
    Skipped = 2,
    /// Instances that missed their window.
    Misses = 3,
    /// Planned sleeps.
    PlannedSleeps = 4,
    /// Nanoseconds spent spinning before starts.
    SpinNs = 5,
    /// Heap calls after commit.
    Allocations = 6,
    /// Page faults.
    PageFaults = 7,
    /// Involuntary context switches.
    InvoluntarySwitches = 8,
    /// System calls, as the kernel counted them.
    SystemCalls = 9,
    /// Messages whose content the application reported as wrong.
    Corrupt = 10,
    /// Messages found out of order.
    OutOfOrder = 11,
    /// Overruns that the kernel signalled (`SCHED_DEADLINE`).
    OverrunSignals = 12,
    /// One more than the number, counted from the epoch, of the instance whose body began last. Its record comes when it has ended.
    Begun = 13,
    /// When that was, on the monotonic clock in nanoseconds.
    BegunAt = 14,
}

const GAPS_FIRST: usize = 16;
const _: () = assert!((GAPS_FIRST + GAP_BUCKETS) * 8 <= size_of::<TaskControl>());

/// The writing end of a task's stamps and counters; the task's thread owns it.
pub struct StampWriter {
    task: TaskId,
    control: Window,
    ring: RingWriter<WORDS>,
}

impl StampWriter {
    pub(crate) fn new(segment: &Window, place: &TaskPlace, tag: Tag) -> Self {
        let ring = segment.part(place.ring.offset, place.ring.length);
        Self {
            task: place.spec.task,
            control: segment.part(place.control, size_of::<TaskControl>()),
            ring: RingWriter::new(ring, tag, place.ring.records),
        }
    }

    /// Which task.
    pub fn task(&self) -> TaskId {
        self.task
    }

    /// Appends a record, over the oldest one when the ring is full. Never waits.
    #[inline]
    pub fn push(&mut self, record: &StampRecord) {
        self.ring.push(&record.encode());
    }

    /// Sets a counter.
    #[inline]
    pub fn set(&mut self, counter: TaskCounter, value: u64) {
        self.control.word(counter as usize * 8).store(value, Ordering::Relaxed);
    }

    /// Adds to a counter.
    #[inline]
    pub fn add(&mut self, counter: TaskCounter, by: u64) {
        self.add_at(counter as usize, by);
    }

    /// Counts one gap in `bucket` (the last bucket when it is beyond).
    #[inline]
    pub fn count_gap(&mut self, bucket: usize) {
        self.add_at(GAPS_FIRST + bucket.min(GAP_BUCKETS - 1), 1);
    }

    #[inline]
    fn add_at(&mut self, index: usize, by: u64) {
        let word = self.control.word(index * 8);
        // This is the only writer, so a load and a store do for an addition.
        word.store(word.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
    }
}

/// A reading end of a task's stamps and counters, in the watcher.
pub struct StampReader {
    task: TaskId,
    control: Window,
    ring: RingReader<WORDS>,
}

impl StampReader {
    pub(crate) fn new(segment: &Window, place: &TaskPlace, tag: Tag) -> Self {
        let ring = segment.part(place.ring.offset, place.ring.length);
        Self {
            task: place.spec.task,
            control: segment.part(place.control, size_of::<TaskControl>()),
            ring: RingReader::new(ring, tag, place.ring.records),
        }
    }

    /// Which task.
    pub fn task(&self) -> TaskId {
        self.task
    }

    /// Passes every record since the last call to `each`, oldest first; returns how many were overwritten or damaged. The records are
    /// bounded in number.
    pub fn drain(&mut self, mut each: impl FnMut(Alleged<StampRecord>)) -> Drained {
        self.ring.drain(|words| each(Alleged::new(StampRecord::decode(words))))
    }

    /// A counter.
    pub fn counter(&self, counter: TaskCounter) -> Alleged<u64> {
        Alleged::new(self.value(counter as usize))
    }

    /// The gaps counted per bucket.
    pub fn gaps(&self) -> Alleged<[u64; GAP_BUCKETS]> {
        Alleged::new(std::array::from_fn(|bucket| self.value(GAPS_FIRST + bucket)))
    }

    fn value(&self, index: usize) -> u64 {
        self.control.word(index * 8).load(Ordering::Relaxed)
    }
}
