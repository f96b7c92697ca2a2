//! From the raw records in members' segments to the record of a run. Everything read is the members' word: bounded
//! and joined by instance, never trusted as an index.

use leveret_memory::{
    MessageReader, MessageRecord as RawMessage, PeerSource, PeerTarget, StampReader, StampRecord, TaskCounter,
};
use leveret_report::record::{
    ChannelRecord, DataPathCounts, Event, EventKind, Fate, InstanceRecord, MessageRecord, Outcome, TaskRecord,
};
use leveret_runtime::{FateCode, OutcomeCode};
use leveret_types::Nanos;
use std::collections::{BTreeMap, BTreeSet};

/// Instances kept per task; beyond them, every other one that kept its plan is dropped, so that a run of days
/// stays in memory.
const INSTANCES_MAX: usize = 1 << 20;

/// Instances awaited in vain that are remembered; the sender's word comes within a period or so.
const VACANT_MAX: usize = 4096;

/// One task's stamps over a phase.
pub(crate) struct TaskCollector {
    reader: Option<StampReader>,
    pub(crate) record: TaskRecord,
    epoch: Nanos,
    faults_before: Option<u32>,
    steps: Vec<(Nanos, Nanos)>,
    /// Instances that overran, and when they ended: the policy skipped the next for it.
    policed: Vec<(u64, Nanos)>,
}

/// An instance that needs explaining: from its wake to its end, on the monotonic clock.
pub(crate) struct Suspicious {
    pub(crate) from: Nanos,
    pub(crate) until: Nanos,
    pub(crate) missed: bool,
}

/// A start later than this after its plan is worth the evidence.
const LATE_START: Nanos = Nanos::from_micros(10);

impl TaskCollector {
    /// Of a task that had so many instances before the epoch, in the record from which it goes on.
    pub(crate) fn new(reader: Option<StampReader>, thread: u32, (epoch, before): (Nanos, u64)) -> Self {
        let priority = leveret_os::threads_of::about(thread).map_or(0, |found| found.priority);
        let record = TaskRecord { thread, priority, before, ..TaskRecord::default() };
        Self { reader, record, epoch, faults_before: None, steps: Vec::new(), policed: Vec::new() }
    }

    /// Reads what has come since the last time; returns the suspicious ones.
    pub(crate) fn drain(&mut self) -> Vec<Suspicious> {
        let Some(reader) = &mut self.reader else { return Vec::new() };
        let mut fresh = Vec::new();
        self.record.records_lost += reader.drain(|record| fresh.push(record));
        let mut suspicious = Vec::new();
        for stamp in fresh {
            suspicious.extend(self.take(stamp));
        }
        if self.record.instances.len() > INSTANCES_MAX {
            self.thin();
        }
        suspicious
    }

    fn take(&mut self, stamp: StampRecord) -> Option<Suspicious> {
        // Members count from the epoch.
        let stamp = StampRecord { instance: stamp.instance.saturating_add(self.record.before), ..stamp };
        // Stamps only ever grow; anything else is nonsense from the member, and counts as lost.
        if self.record.instances.last().is_some_and(|last| stamp.instance <= last.instance) {
            self.record.records_lost += 1;
            return None;
        }
        // The fault total at this wake is that of everything up to the end of the instance before.
        if let (Some(before), Some(last)) = (self.faults_before, self.record.instances.last_mut())
            && stamp.faults != u32::MAX
        {
            last.faults = stamp.faults.wrapping_sub(before);
        }
        self.faults_before = (stamp.faults != u32::MAX).then_some(stamp.faults);
        if stamp.clock_step != Nanos::ZERO {
            self.steps.push((stamp.started - self.epoch, stamp.clock_step));
        }
        let outcome = outcome(stamp.outcome);
        if let (Outcome::SkippedOverrun, Some(last)) = (outcome, self.record.instances.last())
            && last.instance + 1 == stamp.instance
            && matches!(last.outcome, Outcome::Ran | Outcome::RanLate)
        {
            self.policed.push((last.instance, last.ended));
        }
        let missed = stamp.ended > stamp.deadline
            || matches!(outcome, Outcome::SkippedCritical | Outcome::SkippedOverrun);
        let record = self.instance(&stamp, outcome);
        self.record.instances.push(record);
        let late = stamp.started - stamp.planned > LATE_START;
        let from = stamp.planned.min(stamp.woken) - Nanos::from_millis(1);
        (missed || late).then_some(Suspicious { from, until: stamp.ended.max(stamp.started), missed })
    }

    fn instance(&self, stamp: &StampRecord, outcome: Outcome) -> InstanceRecord {
        InstanceRecord {
            instance: stamp.instance,
            planned: stamp.planned - self.epoch,
            deadline: stamp.deadline - self.epoch,
            woken: stamp.woken - self.epoch,
            started: stamp.started - self.epoch,
            ended: stamp.ended - self.epoch,
            gap: stamp.gap,
            gap_at: stamp.gap_at - self.epoch,
            switches: stamp.switches,
            faults: if stamp.faults == u32::MAX { u32::MAX } else { 0 },
            cpu: stamp.cpu,
            outcome,
        }
    }

    fn thin(&mut self) {
        let (mut index, before) = (0_usize, self.record.instances.len());
        self.record.instances.retain(|instance| {
            index += 1;
            index.is_multiple_of(2) || instance.ended > instance.deadline || instance.outcome != Outcome::Ran
        });
        self.record.thinned += (before - self.record.instances.len()) as u64;
    }

    /// The record with the counters at the end, and what happened to the task of this index.
    pub(crate) fn finish(mut self, task: u16) -> (TaskRecord, Vec<Event>) {
        if let Some(reader) = &self.reader {
            let counter = |which| {
                let value = reader.counter(which);
                (value != u64::MAX).then_some(value)
            };
            self.record.data_path = DataPathCounts {
                allocations: counter(TaskCounter::Allocations),
                page_faults: counter(TaskCounter::PageFaults),
                involuntary_switches: counter(TaskCounter::InvoluntarySwitches),
                system_calls: counter(TaskCounter::SystemCalls),
                planned_sleeps: reader.counter(TaskCounter::PlannedSleeps),
            };
            self.record.overrun_signals = reader.counter(TaskCounter::OverrunSignals);
            self.record.spin_total = Nanos(i64::try_from(reader.counter(TaskCounter::SpinNs)).unwrap_or(0));
            self.record.gaps = reader.gaps();
        }
        let steps = self.steps.iter().map(|(at, by)| (*at, EventKind::ClockStepped { by: *by }));
        let policed =
            self.policed.iter().map(|(instance, at)| (*at, EventKind::Overrun { task, instance: *instance }));
        let events = steps.chain(policed).map(|(at, kind)| Event { at, kind }).collect();
        (self.record, events)
    }
}

fn outcome(code: u8) -> Outcome {
    match code {
        code if code == OutcomeCode::SkippedCritical as u8 => Outcome::SkippedCritical,
        code if code == OutcomeCode::SkippedOverrun as u8 => Outcome::SkippedOverrun,
        code if code == OutcomeCode::RanLate as u8 => Outcome::RanLate,
        _ => Outcome::Ran,
    }
}

/// One channel's message records from both ends over a phase.
pub(crate) struct ChannelCollector {
    source_end: Option<PeerSource>,
    target_end: Option<PeerTarget>,
    source: Option<MessageReader>,
    target: Option<MessageReader>,
    epoch: Nanos,
    messages: BTreeMap<u64, MessageRecord>,
    /// Instances in which the receiver waited and found nothing. What turns out to have been started in one was late.
    vacant: BTreeSet<u64>,
    record: ChannelRecord,
}

impl ChannelCollector {
    /// Of a channel that had so many instances before the epoch, in the record from which it goes on.
    pub(crate) fn new(
        source: Option<PeerSource>,
        target: Option<PeerTarget>,
        (epoch, before): (Nanos, u64),
    ) -> Self {
        Self {
            source: source.as_ref().map(PeerSource::records),
            target: target.as_ref().map(PeerTarget::records),
            source_end: source,
            target_end: target,
            epoch,
            messages: BTreeMap::new(),
            vacant: BTreeSet::new(),
            record: ChannelRecord { before, ..ChannelRecord::default() },
        }
    }

    /// Reads what has come since the last time; returns how many were found missing, late or wrong.
    pub(crate) fn drain(&mut self) -> u64 {
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        // Members count from the epoch.
        let before = self.record.before;
        let numbered = |raw: RawMessage| RawMessage { instance: raw.instance.saturating_add(before), ..raw };
        if let Some(reader) = &mut self.source {
            self.record.records_lost += reader.drain(|record| sent.push(numbered(record)));
        }
        if let Some(reader) = &mut self.target {
            self.record.records_lost += reader.drain(|record| received.push(numbered(record)));
        }
        for record in sent {
            self.sent(&record);
        }
        received.iter().map(|record| u64::from(self.received(record))).sum()
    }

    fn entry(&mut self, raw: &RawMessage) -> &mut MessageRecord {
        let due = raw.due - self.epoch;
        self.messages.entry(raw.instance).or_insert(MessageRecord {
            instance: raw.instance,
            due,
            fate: Fate::Untaken,
            ..MessageRecord::default()
        })
    }

    fn sent(&mut self, raw: &RawMessage) {
        let epoch = self.epoch;
        let was_awaited = self.vacant.remove(&raw.instance);
        let entry = match raw.fate {
            fate if fate == FateCode::Inactive as u8 => return,
            _ => self.entry(raw),
        };
        match raw.fate {
            fate if fate == FateCode::Done as u8 => {
                entry.inserted = Some(raw.at - epoch);
                entry.size = raw.size;
                if entry.fate == Fate::Missing || was_awaited {
                    entry.fate = Fate::Late;
                } else if entry.fate == Fate::NoBuffer {
                    // It was tried again, and found one.
                    entry.fate = Fate::Untaken;
                }
            }
            fate if fate == FateCode::NoBuffer as u8 && entry.taken.is_none() => entry.fate = Fate::NoBuffer,
            _ if entry.fate == Fate::Untaken => entry.fate = Fate::Missing,
            _ => {}
        }
    }

    /// Returns whether the message was not as planned.
    fn received(&mut self, raw: &RawMessage) -> bool {
        let epoch = self.epoch;
        match raw.fate {
            fate if fate == FateCode::Inactive as u8 => return false,
            fate if fate == FateCode::Corrupt as u8 => {
                self.record.corrupt += 1;
                return true;
            }
            fate if fate == FateCode::OutOfOrder as u8 => {
                self.record.out_of_order += 1;
                return true;
            }
            fate if fate == FateCode::Sampled as u8 => {
                self.sampled(raw);
                return false;
            }
            fate if fate == FateCode::Vacant as u8 => return self.awaited_in_vain(raw.instance),
            _ => {}
        }
        let entry = self.entry(raw);
        match raw.fate {
            fate if fate == FateCode::Done as u8 => {
                entry.taken = Some(raw.at - epoch);
                entry.size = raw.size;
                entry.fate = Fate::Taken;
                false
            }
            fate if fate == FateCode::Late as u8 => {
                entry.fate = Fate::Late;
                true
            }
            fate if fate == FateCode::Invalid as u8 => {
                entry.fate = Fate::Invalid;
                true
            }
            fate if fate == FateCode::Passed as u8 => false,
            fate if fate == FateCode::NoRoom as u8 => {
                entry.fate = Fate::NoRoom;
                true
            }
            _ => {
                if entry.fate != Fate::NoBuffer {
                    entry.fate = if entry.inserted.is_some() { Fate::Late } else { Fate::Missing };
                }
                true
            }
        }
    }

    /// The receiver waited for an instance, and nothing was there. Nothing need have been started in it; if it was, it came
    /// too late. Returns whether that is known already.
    fn awaited_in_vain(&mut self, instance: u64) -> bool {
        match self.messages.get_mut(&instance) {
            Some(entry) if entry.inserted.is_some() => {
                entry.fate = Fate::Late;
                true
            }
            Some(_) => false,
            None => {
                self.vacant.insert(instance);
                if self.vacant.len() > VACANT_MAX {
                    self.vacant.pop_first();
                }
                false
            }
        }
    }

    /// A best-effort message: it is visible as soon as it is inserted, so it is due when it was.
    fn sampled(&mut self, raw: &RawMessage) {
        if self.messages.len() >= INSTANCES_MAX {
            return;
        }
        let inserted = raw.due - self.epoch;
        let taken = Some(raw.at - self.epoch);
        let record = MessageRecord {
            instance: raw.instance,
            inserted: Some(inserted),
            due: inserted,
            taken,
            size: raw.size,
            fate: Fate::Taken,
        };
        self.messages.insert(raw.instance, record);
    }

    pub(crate) fn finish(mut self) -> ChannelRecord {
        if let Some(end) = &self.source_end {
            self.record.sent = Some(end.counters().published);
        }
        if let Some(end) = &self.target_end {
            self.record.taken = Some(end.counters().taken);
        }
        self.record.messages = self.messages.into_values().collect();
        self.record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(instance: u64, fate: FateCode) -> RawMessage {
        RawMessage { instance, at: Nanos(700), due: Nanos(500), size: 4, fate: fate as u8 }
    }

    /// The fate of instance 3 after these records of the source (`true`) and the target.
    fn fate(records: &[(bool, FateCode)]) -> Option<Fate> {
        let mut collector = ChannelCollector::new(None, None, (Nanos::ZERO, 0));
        for (is_source, fate) in records {
            if *is_source {
                collector.sent(&raw(3, *fate));
            } else {
                collector.received(&raw(3, *fate));
            }
        }
        collector.finish().messages.first().map(|message| message.fate)
    }

    #[test]
    fn a_transfer_outside_the_time_table_is_late_when_it_was_awaited_in_vain() {
        use FateCode::{Done, NoBuffer, Passed, Vacant};
        assert_eq!(fate(&[(false, Vacant)]), None, "nothing was started");
        assert_eq!(fate(&[(false, Vacant), (true, Done)]), Some(Fate::Late));
        assert_eq!(fate(&[(true, Done), (false, Vacant)]), Some(Fate::Late));
        assert_eq!(fate(&[(true, Done), (false, Done)]), Some(Fate::Taken));
        assert_eq!(fate(&[(true, Done), (false, Passed)]), Some(Fate::Untaken));
        assert_eq!(fate(&[(true, Done)]), Some(Fate::Untaken));
        assert_eq!(fate(&[(true, NoBuffer)]), Some(Fate::NoBuffer));
        assert_eq!(fate(&[(true, NoBuffer), (true, Done)]), Some(Fate::Untaken));
        // The source is read before the target, and may have written meanwhile.
        assert_eq!(fate(&[(false, Done), (true, NoBuffer), (true, Done)]), Some(Fate::Taken));
    }

    // spec: CHANNEL-MISS-07
    #[test]
    fn a_message_that_the_program_had_no_buffer_for_is_a_miss_of_its_own_kind() {
        use FateCode::{Done, NoRoom};
        assert_eq!(fate(&[(true, Done), (false, Done), (false, NoRoom)]), Some(Fate::NoRoom));
        assert_eq!(fate(&[(false, Done), (false, NoRoom), (true, Done)]), Some(Fate::NoRoom));
    }
}
