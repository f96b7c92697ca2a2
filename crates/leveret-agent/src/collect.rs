//! From the raw records in members' segments to the record of a run. Everything read is the members' word: what the plan and
//! the clock allow (`plausible.rs`) is joined by instance, everything else counted.

use crate::changes::Changes;
use crate::plausible::{ChannelTable, SAMPLED_OF, Span, TaskTable};
use crate::thin::{Coarseness, Detail, MISS_BYTES, Windows, worst};
use leveret_memory::{
    Alleged, Drained, MessageReader, MessageRecord as RawMessage, PeerSource, PeerTarget, StampReader,
    StampRecord, TaskCounter,
};
use leveret_report::journal::{ChannelGrowth, TaskGrowth};
use leveret_report::record::{
    ChannelRecord, DataPathCounts, Event, EventKind, Fate, Implausible, InstanceRecord, MessageRecord,
    Outcome, TaskRecord,
};
use leveret_runtime::FateCode;
use leveret_types::Nanos;
use std::collections::{BTreeMap, BTreeSet};

/// Events that are kept of a task.
const EVENTS_MAX: usize = 4096;

/// The latest instances and messages are kept, of which not everything may be known yet.
const LATEST_INSTANCES: usize = 16;
const LATEST_MESSAGES: usize = 256;
/// A message in a map.
const MESSAGE_BYTES: usize = 2 * size_of::<MessageRecord>();

/// Instances awaited in vain that are remembered; the sender's word comes within a period or so.
const VACANT_MAX: usize = 4096;

/// One task's stamps over a phase.
pub(crate) struct TaskCollector {
    reader: Option<StampReader>,
    table: TaskTable,
    pub(crate) record: TaskRecord,
    epoch: Nanos,
    /// Records that were read, or lost before that.
    read: u64,
    coarseness: Coarseness,
    /// What the kept details take.
    bytes: usize,
    faults_before: Option<u32>,
    steps: Vec<(Nanos, Nanos)>,
    /// Instances that overran, and when they ended: the policy skipped the next for it.
    policed: Vec<(u64, Nanos)>,
    /// Of instances, since the journal was given its share.
    changes: Changes<u64>,
    /// Counts already written to the journal: thinned, lost and implausible records; clock steps and policed instances.
    saved: ([u64; 3], [usize; 2]),
    /// The instance of the newest record.
    newest: Option<u64>,
    /// The instance of which it was told that it does not return.
    told: Option<u64>,
    /// The instance that had left nothing long after its window.
    silent: Option<u64>,
}

/// An instance that needs explaining: from its wake to its end, on the monotonic clock.
pub(crate) struct Suspicious {
    pub(crate) from: Nanos,
    pub(crate) until: Nanos,
    pub(crate) missed: bool,
}

/// A channel that no clock moves is read at least at every so many-th look: twice a second.
const LOOKS_UNREAD: u32 = 25;
/// A body that has taken no longer than this, or than twice its budget, may be about to tell of its end.
const RETURNS_WITHIN: Nanos = Nanos::from_millis(10);
/// An instance that has left nothing so long after its window may not do so any more.
const SILENT_LEAST: Nanos = Nanos::from_millis(20);
/// One that takes longer than both is told while it runs.
const UNENDED_LEAST: Nanos = Nanos::from_secs(1);
const UNENDED_PERIODS: i64 = 100;
/// A start later than this after its plan is worth the evidence.
const LATE_START: Nanos = Nanos::from_micros(10);

impl TaskCollector {
    /// Of a task that had so many instances before the epoch, in the record from which it goes on.
    pub(crate) fn new(
        reader: Option<StampReader>,
        thread: u32,
        table: TaskTable,
        (epoch, before): (Nanos, u64),
    ) -> Self {
        let priority = leveret_os::threads_of::about(thread).map_or(0, |found| found.priority);
        let record = TaskRecord { thread, priority, before, ..TaskRecord::default() };
        let (steps, policed) = (Vec::new(), Vec::new());
        let coarseness = Coarseness::default();
        Self {
            reader,
            table,
            record,
            epoch,
            read: 0,
            coarseness,
            bytes: 0,
            faults_before: None,
            steps,
            policed,
            changes: Changes::new(false),
            saved: ([0; 3], [0; 2]),
            newest: None,
            told: None,
            silent: None,
        }
    }

    /// Starts or stops recording changes for the journal.
    pub(crate) fn note_changes(&mut self, is_noted: bool) {
        self.changes = Changes::new(is_noted);
    }

    /// Changes that the journal has not been given.
    pub(crate) fn changes(&self) -> usize {
        self.changes.count()
    }

    /// What has come since the last time, with the counters as they are `now`; `None` if nothing has.
    pub(crate) fn growth(&mut self, now: Nanos) -> Option<TaskGrowth> {
        let (fresh, dropped) = self.changes.take();
        let counts = [self.record.thinned.count, self.record.records_lost, self.record.implausible];
        if fresh.is_empty() && dropped.is_empty() && counts == self.saved.0 {
            return None;
        }
        let is_thinned = counts[0] != self.saved.0[0];
        self.saved.0 = counts;
        let instances = std::mem::take(&mut self.record.instances);
        let thinned = std::mem::take(&mut self.record.thinned);
        let mut record = self.record.clone();
        record.implausible += self.count(&mut record, now);
        let place = |number: &u64| instances.binary_search_by_key(number, |instance| instance.instance).ok();
        record.instances = fresh.iter().filter_map(place).map(|place| instances[place]).collect();
        let grown = TaskGrowth { record, dropped, thinned: is_thinned.then(|| thinned.clone()) };
        (self.record.instances, self.record.thinned) = (instances, thinned);
        Some(grown)
    }

    /// What has happened to the task of this index since the last time.
    pub(crate) fn happened(&mut self, task: u16) -> Vec<Event> {
        let [steps, policed] = self.saved.1;
        self.saved.1 = [self.steps.len(), self.policed.len()];
        events(&self.steps[steps..], &self.policed[policed..], task)
    }

    /// The kernel's number of the task's thread.
    pub(crate) fn thread(&self) -> u32 {
        self.record.thread
    }

    /// Reads what has come since the last time, and then the clock, which nothing in it can be ahead of; returns the suspicious ones.
    pub(crate) fn drain(&mut self, clock: impl FnOnce() -> Nanos) -> Vec<Suspicious> {
        let Some(reader) = &mut self.reader else { return Vec::new() };
        let mut fresh = Vec::new();
        let Drained { lost, damaged } = reader.drain(|record| fresh.push(record));
        self.record.implausible += damaged;
        let span = Span { epoch: self.epoch, now: clock() };
        self.read = self.read.saturating_add(fresh.len() as u64);
        match self.table.lost(lost, self.read, span) {
            Some(lost) => {
                self.read += lost;
                self.record.records_lost += lost;
            }
            None => self.record.implausible += 1,
        }
        let mut suspicious = Vec::new();
        for alleged in fresh {
            match self.table.stamp(alleged, span) {
                Some((stamp, outcome)) => suspicious.extend(self.take(&stamp, outcome)),
                None => self.record.implausible += 1,
            }
        }
        suspicious
    }

    fn take(&mut self, stamp: &StampRecord, outcome: Outcome) -> Option<Suspicious> {
        // Members count from the epoch.
        let stamp = StampRecord { instance: stamp.instance.saturating_add(self.record.before), ..*stamp };
        // Stamps only ever grow.
        if self.record.instances.last().is_some_and(|last| stamp.instance <= last.instance) {
            self.record.implausible += 1;
            return None;
        }
        // The fault total at this wake is that of everything up to the end of the instance before.
        if let (Some(before), Some(last)) = (self.faults_before, self.record.instances.last_mut())
            && stamp.faults != u32::MAX
        {
            // The kernel's total does not fall.
            last.faults = stamp.faults.checked_sub(before).unwrap_or(u32::MAX);
            self.changes.put(last.instance);
            self.record.implausible += u64::from(stamp.faults < before);
        }
        self.faults_before = (stamp.faults != u32::MAX).then_some(stamp.faults);
        if stamp.clock_step != Nanos::ZERO {
            self.steps.push((stamp.started - self.epoch, stamp.clock_step));
        }
        if let (Outcome::SkippedOverrun, Some(last)) = (outcome, self.record.instances.last())
            && last.instance.checked_add(1) == Some(stamp.instance)
            && matches!(last.outcome, Outcome::Ran | Outcome::RanLate)
        {
            self.policed.push((last.instance, last.ended));
        }
        let missed = stamp.ended > stamp.deadline
            || matches!(outcome, Outcome::SkippedCritical | Outcome::SkippedOverrun);
        let record = self.instance(&stamp, outcome);
        self.bytes += self.detail(&record).bytes;
        self.changes.put(record.instance);
        self.newest = Some(record.instance);
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

    fn detail(&self, instance: &InstanceRecord) -> Detail {
        let miss = if instance.is_missed() { MISS_BYTES } else { 0 };
        Detail {
            number: instance.instance.saturating_sub(self.record.before),
            at: instance.planned,
            bytes: size_of::<InstanceRecord>() + miss,
        }
    }

    /// Leaves out details when they take more than `capacity` bytes, so that they take about half of it.
    pub(crate) fn thin(&mut self, windows: &Windows, capacity: usize) {
        if self.bytes <= capacity {
            return;
        }
        let mut instances = std::mem::take(&mut self.record.instances);
        let latest = instances.split_off(instances.len().saturating_sub(LATEST_INSTANCES));
        let mut coarseness = self.coarseness;
        coarseness.fit(|| instances.iter().map(|instance| self.detail(instance)), windows, capacity);
        let values = |of: fn(&InstanceRecord) -> Nanos| -> Vec<(i64, u64)> {
            instances.iter().map(|instance| (of(instance).0, instance.instance)).collect()
        };
        let worst = worst([values(InstanceRecord::start_lateness), values(InstanceRecord::execution)]);
        let mut thinned = std::mem::take(&mut self.record.thinned);
        let mut dropped = Vec::new();
        instances.retain(|instance| {
            let keeps =
                coarseness.keeps(&self.detail(instance), windows) || worst.contains(&instance.instance);
            if !keeps {
                thinned.add(instance, self.table.guard, self.table.budget);
                dropped.push(instance.instance);
            }
            keeps
        });
        dropped.into_iter().for_each(|number| self.changes.drop(number));
        instances.extend(latest);
        self.bytes = instances.iter().map(|instance| self.detail(instance).bytes).sum();
        instances.shrink_to(capacity / size_of::<InstanceRecord>());
        (self.record.instances, self.record.thinned, self.coarseness) = (instances, thinned, coarseness);
        self.forget();
    }

    /// Steps of the clock and policed overruns are events, of which the latest are kept.
    fn forget(&mut self) {
        let steps = self.steps.drain(..self.steps.len().saturating_sub(EVENTS_MAX)).count();
        let policed = self.policed.drain(..self.policed.len().saturating_sub(EVENTS_MAX)).count();
        let [steps_saved, policed_saved] = &mut self.saved.1;
        *steps_saved = steps_saved.saturating_sub(steps);
        *policed_saved = policed_saved.saturating_sub(policed);
    }

    /// The counters as they are `now`, into a record; returns how many of them cannot be true.
    fn count(&self, record: &mut TaskRecord, now: Nanos) -> u64 {
        let Some(reader) = &self.reader else { return 0 };
        let span = Span { epoch: self.epoch, now };
        let mut implausible = 0;
        let mut counter = |which| {
            // Of all numbers this one says that nothing could be counted.
            let value = reader.counter(which).checked(|value| *value != u64::MAX)?;
            let value = span.count_of_task(Alleged::new(value));
            implausible += u64::from(value.is_none());
            value
        };
        record.data_path = DataPathCounts {
            allocations: counter(TaskCounter::Allocations),
            page_faults: counter(TaskCounter::PageFaults),
            involuntary_switches: counter(TaskCounter::InvoluntarySwitches),
            system_calls: counter(TaskCounter::SystemCalls),
            planned_sleeps: counter(TaskCounter::PlannedSleeps).unwrap_or(0),
        };
        record.overrun_signals = counter(TaskCounter::OverrunSignals).unwrap_or(0);
        let spin = counter(TaskCounter::SpinNs).and_then(|spent| i64::try_from(spent).ok());
        record.spin_total = Nanos(spin.unwrap_or(0));
        let gaps = span.gaps(reader.gaps());
        implausible += u64::from(gaps.is_none());
        record.gaps = gaps.unwrap_or_default();
        implausible
    }

    /// Whether an instance can have begun by `now`. A member may count those before the epoch too.
    pub(crate) fn has_begun(&self, instance: u64, now: Nanos) -> bool {
        self.table.has_begun(instance.saturating_sub(self.record.before), Span { epoch: self.epoch, now })
    }

    /// The instance whose body has begun and of which no record tells that it has ended, and when it began.
    pub(crate) fn unended(&self, now: Nanos) -> Option<(u64, Nanos)> {
        let reader = self.reader.as_ref()?;
        let [number, at] = [TaskCounter::Begun, TaskCounter::BegunAt].map(|which| reader.counter(which));
        let (instance, at) = self.table.begun_last([number, at], Span { epoch: self.epoch, now })?;
        let instance = instance.checked_add(self.record.before)?;
        let is_over = self.newest.is_some_and(|newest| newest >= instance);
        let within = RETURNS_WITHIN.max(self.table.budget.saturating_mul(2));
        (!is_over && now > at + within).then_some((instance, at))
    }

    /// The same, once for each.
    pub(crate) fn newly_unended(&mut self, now: Nanos) -> Option<(u64, Nanos)> {
        let found = self.unended(now).filter(|(instance, _)| self.told != Some(*instance))?;
        let period = self.table.period();
        if now < found.1 + UNENDED_LEAST.max(period.saturating_mul(UNENDED_PERIODS)) {
            return None;
        }
        self.told = Some(found.0);
        Some(found)
    }

    /// Around when a task should have run its next instance, of which nothing is recorded long after that; once for each.
    pub(crate) fn newly_silent(&mut self, now: Nanos) -> Option<(Nanos, Nanos)> {
        let (next, start, deadline) = self.next_window()?;
        if self.silent == Some(next)
            || now < self.epoch + deadline.max(start + self.table.budget) + SILENT_LEAST
        {
            return None;
        }
        self.silent = Some(next);
        Some((self.epoch + start - self.table.guard - Nanos::from_millis(1), now))
    }

    /// The first instance of which nothing is recorded, and its window since the epoch.
    pub(crate) fn next_window(&self) -> Option<(u64, Nanos, Nanos)> {
        self.reader.as_ref()?;
        let next = self.newest.map_or(Some(self.record.before), |newest| newest.checked_add(1))?;
        let (start, deadline) = self.table.window(next.checked_sub(self.record.before)?)?;
        Some((next, start, deadline))
    }

    /// The record with the counters as they are `now`, at the end, and what happened to the task of this index.
    pub(crate) fn finish(mut self, task: u16, now: Nanos) -> (TaskRecord, Vec<Event>) {
        let unended = self.unended(now);
        let mut record = std::mem::take(&mut self.record);
        record.implausible += self.count(&mut record, now);
        let mut happened = events(&self.steps, &self.policed, task);
        happened.extend(unended.map(|(instance, at)| Event {
            at: at - self.epoch,
            kind: EventKind::NeverEnded { task, instance },
        }));
        (record, happened)
    }
}

fn events(steps: &[(Nanos, Nanos)], policed: &[(u64, Nanos)], task: u16) -> Vec<Event> {
    let steps = steps.iter().map(|(at, by)| (*at, EventKind::ClockStepped { task, by: *by }));
    let policed =
        policed.iter().map(|(instance, at)| (*at, EventKind::Overrun { task, instance: *instance }));
    steps.chain(policed).map(|(at, kind)| Event { at, kind }).collect()
}

/// One channel's message records from both ends over a phase.
pub(crate) struct ChannelCollector {
    table: ChannelTable,
    /// Looks of the agent at which it was not read.
    looks_since_read: u32,
    source_end: Option<PeerSource>,
    target_end: Option<PeerTarget>,
    source: Option<MessageReader>,
    target: Option<MessageReader>,
    epoch: Nanos,
    messages: BTreeMap<u64, MessageRecord>,
    coarseness: Coarseness,
    /// Instances in which the receiver waited and found nothing. What turns out to have been started in one was late.
    vacant: BTreeSet<u64>,
    /// Records of target and source that were read, or lost before that.
    told: [u64; 2],
    /// Whether the words of source and target were damaged at the last look.
    is_damaged: [bool; 2],
    record: ChannelRecord,
    /// Of messages, since the journal was given its share.
    changes: Changes<u64>,
    /// What the journal has of other counts.
    saved: [u64; 8],
}

impl ChannelCollector {
    /// Of a channel that had so many instances before the epoch, in the record from which it goes on.
    pub(crate) fn new(
        source: Option<PeerSource>,
        target: Option<PeerTarget>,
        table: ChannelTable,
        (epoch, before): (Nanos, u64),
    ) -> Self {
        Self {
            table,
            looks_since_read: 0,
            source: source.as_ref().map(PeerSource::records),
            target: target.as_ref().map(PeerTarget::records),
            source_end: source,
            target_end: target,
            epoch,
            messages: BTreeMap::new(),
            coarseness: Coarseness::default(),
            vacant: BTreeSet::new(),
            told: [0; 2],
            is_damaged: [false; 2],
            record: ChannelRecord { before, ..ChannelRecord::default() },
            changes: Changes::new(false),
            saved: [0; 8],
        }
    }

    /// Starts or stops recording changes for the journal.
    pub(crate) fn note_changes(&mut self, is_noted: bool) {
        self.changes = Changes::new(is_noted);
    }

    /// Changes that the journal has not been given.
    pub(crate) fn changes(&self) -> usize {
        self.changes.count()
    }

    /// What has come since the last time, with the counts as they are `now`; `None` if nothing has.
    pub(crate) fn growth(&mut self, now: Nanos) -> Option<ChannelGrowth> {
        let (fresh, dropped) = self.changes.take();
        let thinned = std::mem::take(&mut self.record.thinned);
        let mut record = self.record.clone();
        self.count(&mut record, now);
        let counts = [
            thinned.count,
            record.records_lost,
            record.corrupt,
            record.out_of_order,
            record.implausible.source,
            record.implausible.target,
            record.sent.unwrap_or(0),
            record.taken.unwrap_or(0),
        ];
        let before = std::mem::replace(&mut self.saved, counts);
        let grown = (!fresh.is_empty() || !dropped.is_empty() || counts != before).then(|| {
            record.messages = fresh.iter().filter_map(|number| self.messages.get(number)).copied().collect();
            let thinned = (counts[0] != before[0]).then(|| thinned.clone());
            ChannelGrowth { record, dropped, thinned }
        });
        self.record.thinned = thinned;
        grown
    }

    /// Whether it is to be read at this look. One that no clock moves is asked for a sample of its messages and has nothing that anybody
    /// waits for: to read it at each look would cost a job of such channels a core for as long as several messages.
    pub(crate) fn is_due(&mut self) -> bool {
        let ends = [&self.source, &self.target];
        let is_due = self.table.is_time_driven()
            || self.looks_since_read >= LOOKS_UNREAD
            || ends.into_iter().flatten().any(MessageReader::is_filling);
        self.looks_since_read = if is_due { 0 } else { self.looks_since_read + 1 };
        is_due
    }

    /// Reads what has come since the last time, and then the clock; returns when those were due that were found missing, late or wrong.
    pub(crate) fn drain(&mut self, clock: impl Fn() -> Nanos) -> Vec<Nanos> {
        let mut source = self.source.take();
        let sent = self.read(source.as_mut(), true, &clock);
        self.source = source;
        let mut target = self.target.take();
        let received = self.read(target.as_mut(), false, &clock);
        self.target = target;
        self.look_at_words();
        let epoch = self.epoch;
        for (record, fate) in &sent {
            self.sent(record, *fate);
        }
        let mut wrong = Vec::new();
        for (record, fate) in &received {
            if self.received(record, *fate) {
                wrong.push(record.due - epoch);
            }
        }
        wrong
    }

    /// What one end has recorded, as far as it can be true.
    fn read(
        &mut self,
        reader: Option<&mut MessageReader>,
        is_source: bool,
        clock: impl FnOnce() -> Nanos,
    ) -> Vec<(RawMessage, FateCode)> {
        let Some(reader) = reader else { return Vec::new() };
        let mut alleged = Vec::new();
        let Drained { lost, damaged } = reader.drain(|record| alleged.push(record));
        let span = Span { epoch: self.epoch, now: clock() };
        let (mut fresh, mut implausible) = (Vec::with_capacity(alleged.len()), damaged);
        let read = alleged.len() as u64;
        let possible = self.table.records(span).saturating_sub(self.told[usize::from(is_source)]);
        for (record, number) in alleged.into_iter().zip(0..) {
            if number >= possible {
                implausible += 1;
                continue;
            }
            match self.table.message(record, is_source, span) {
                // It says that its own words were damaged.
                Some((_, FateCode::Restored)) => implausible += 1,
                // Members count from the epoch.
                Some((raw, fate)) => {
                    let instance = raw.instance.saturating_add(self.record.before);
                    fresh.push((RawMessage { instance, ..raw }, fate));
                }
                None => implausible += 1,
            }
        }
        let told = &mut self.told[usize::from(is_source)];
        *told = told.saturating_add(read);
        match lost.at_most(possible.saturating_sub(read)) {
            Some(lost) => {
                self.told[usize::from(is_source)] += lost;
                self.record.records_lost = self.record.records_lost.saturating_add(lost);
            }
            None => implausible += 1,
        }
        self.implausible(is_source, implausible);
        fresh
    }

    /// Counts what something has written over the words by which each end tells the other, once for as long as it stands there.
    fn look_at_words(&mut self) {
        let is_damaged = [
            self.source_end.as_ref().is_some_and(|end| !end.is_whole()),
            self.target_end.as_ref().is_some_and(|end| !end.is_whole()),
        ];
        let before = std::mem::replace(&mut self.is_damaged, is_damaged);
        for (is_source, (before, now)) in [true, false].into_iter().zip(before.into_iter().zip(is_damaged)) {
            self.implausible(is_source, u64::from(now && !before));
        }
    }

    /// Whether the receiver can have looked for an instance by `now`. A member may count those before the epoch too.
    pub(crate) fn has_begun(&self, instance: u64, now: Nanos) -> bool {
        self.table.has_begun(instance.saturating_sub(self.record.before), Span { epoch: self.epoch, now })
    }

    fn implausible(&mut self, is_source: bool, by: u64) {
        let Implausible { source, target } = &mut self.record.implausible;
        *if is_source { source } else { target } += by;
    }

    fn entry(&mut self, raw: &RawMessage) -> &mut MessageRecord {
        let due = raw.due - self.epoch;
        self.changes.put(raw.instance);
        self.messages.entry(raw.instance).or_insert(MessageRecord {
            instance: raw.instance,
            due,
            fate: Fate::Untaken,
            ..MessageRecord::default()
        })
    }

    fn sent(&mut self, raw: &RawMessage, fate: FateCode) {
        let epoch = self.epoch;
        let was_awaited = self.vacant.remove(&raw.instance);
        if fate == FateCode::Inactive {
            return;
        }
        let entry = self.entry(raw);
        match fate {
            FateCode::Done => {
                entry.inserted = Some(raw.at - epoch);
                entry.size = raw.size;
                if entry.fate == Fate::Missing || was_awaited {
                    entry.fate = Fate::Late;
                } else if matches!(entry.fate, Fate::NoBuffer | Fate::TooLong) {
                    // It was tried again, and went.
                    entry.fate = Fate::Untaken;
                }
            }
            FateCode::NoBuffer if entry.taken.is_none() => entry.fate = Fate::NoBuffer,
            FateCode::TooLong if entry.taken.is_none() => {
                (entry.fate, entry.size) = (Fate::TooLong, raw.size)
            }
            _ if entry.fate == Fate::Untaken => entry.fate = Fate::Missing,
            _ => {}
        }
    }

    /// Returns whether the message was not as planned.
    fn received(&mut self, raw: &RawMessage, fate: FateCode) -> bool {
        let epoch = self.epoch;
        match fate {
            FateCode::Inactive => return false,
            FateCode::Corrupt => {
                self.record.corrupt += 1;
                return true;
            }
            FateCode::OutOfOrder => {
                self.record.out_of_order += 1;
                return true;
            }
            FateCode::Sampled => {
                self.sampled(raw);
                return false;
            }
            FateCode::Vacant => return self.awaited_in_vain(raw.instance),
            _ => {}
        }
        let entry = self.entry(raw);
        match fate {
            FateCode::Done => {
                entry.taken = Some(raw.at - epoch);
                entry.size = raw.size;
                entry.fate = Fate::Taken;
                false
            }
            FateCode::Late => {
                entry.fate = Fate::Late;
                true
            }
            FateCode::Invalid => {
                entry.fate = Fate::Invalid;
                true
            }
            FateCode::Damaged => {
                entry.fate = Fate::Corrupt;
                true
            }
            FateCode::Passed => false,
            FateCode::NoRoom => {
                entry.fate = Fate::NoRoom;
                true
            }
            _ => {
                if !matches!(entry.fate, Fate::NoBuffer | Fate::TooLong) {
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
                self.changes.put(instance);
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
        self.changes.put(raw.instance);
        self.messages.insert(raw.instance, record);
    }

    fn detail(&self, message: &MessageRecord) -> Detail {
        let miss = if message.is_missed() { MISS_BYTES } else { 0 };
        let number = message.instance.saturating_sub(self.record.before);
        let sampled = if self.table.is_time_driven() { 1 } else { SAMPLED_OF };
        Detail { number: number / sampled, at: message.due, bytes: MESSAGE_BYTES + miss }
    }

    /// Leaves out details when they take more than `capacity` bytes, so that they take about half of it.
    pub(crate) fn thin(&mut self, windows: &Windows, capacity: usize) {
        if self.messages.len() * MESSAGE_BYTES <= capacity
            && self.messages.values().map(|message| self.detail(message).bytes).sum::<usize>() <= capacity
        {
            return;
        }
        let mut messages = std::mem::take(&mut self.messages);
        let first_of_latest = messages.keys().rev().nth(LATEST_MESSAGES - 1).copied().unwrap_or(0);
        let latest = messages.split_off(&first_of_latest);
        let mut coarseness = self.coarseness;
        coarseness.fit(|| messages.values().map(|message| self.detail(message)), windows, capacity);
        let lateness = messages.values().map(|message| {
            let taken = message.taken.unwrap_or(message.due) - message.due;
            (taken.0, message.instance)
        });
        let worst = worst([lateness.collect()]);
        let mut thinned = std::mem::take(&mut self.record.thinned);
        let mut dropped = Vec::new();
        messages.retain(|instance, message| {
            let keeps = coarseness.keeps(&self.detail(message), windows) || worst.contains(instance);
            if !keeps {
                thinned.add(message, self.table.is_time_driven());
                dropped.push(*instance);
            }
            keeps
        });
        dropped.into_iter().for_each(|number| self.changes.drop(number));
        messages.extend(latest);
        (self.messages, self.record.thinned, self.coarseness) = (messages, thinned, coarseness);
    }

    /// The counts of both ends as they are `now`, into a record.
    fn count(&self, record: &mut ChannelRecord, now: Nanos) {
        let span = Span { epoch: self.epoch, now };
        let sent = self.source_end.as_ref().map(|end| span.count(Alleged::new(end.counters().published)));
        let taken = self.target_end.as_ref().map(|end| span.count(Alleged::new(end.counters().taken)));
        let refused = self.source_end.as_ref().map(|end| span.count(Alleged::new(end.counters().refused)));
        record.implausible.source += u64::from(sent == Some(None)) + u64::from(refused == Some(None));
        record.implausible.target += u64::from(taken == Some(None));
        (record.sent, record.taken, record.refused) = (sent.flatten(), taken.flatten(), refused.flatten());
    }

    pub(crate) fn finish(mut self, now: Nanos) -> ChannelRecord {
        let mut record = std::mem::take(&mut self.record);
        self.count(&mut record, now);
        record.messages = self.messages.into_values().collect();
        record
    }
}

#[cfg(test)]
#[path = "collect_tests.rs"]
mod tests;
