//! Watches one phase: drains members' stamps, collects evidence, counts misses as they come.

mod saved;

use crate::alone::Alone;
use crate::collect::{ChannelCollector, TaskCollector};
use crate::counts::Counts;
use crate::evidence::Evidence;
use crate::failed_runs::FailedRuns;
use crate::families::Families;
use crate::holds::HoldWatch;
use crate::journal::Journal;
use crate::plausible::{ChannelTable, TaskTable};
use crate::rescheduled::SchedulingWatch;
use crate::thin::Windows;
use leveret_memory::PeerSegment;
use leveret_os::{clock, threads_of};
use leveret_plan::{InstancesBefore, Job, Kept, Plan};
use leveret_protocol::assemble::Assembled;
use leveret_protocol::control::{Horizon, Place};
use leveret_report::record::{ChannelRecord, Event, EventKind, Phase, TaskRecord};
use leveret_types::{ChannelId, MemberId, Nanos, TaskId};
use saved::Saved;
use std::collections::BTreeSet;
use std::rc::Rc;

/// What is watched.
pub(crate) struct Watched<'a> {
    pub(crate) label: String,
    pub(crate) assembled: &'a Assembled,
    pub(crate) plan: &'a Plan,
    pub(crate) epoch: Nanos,
    /// The members' segments in rank order; `None` for one that has none.
    pub(crate) segments: Vec<Option<PeerSegment>>,
    /// (task, thread).
    pub(crate) threads: Vec<(u16, u32)>,
    /// Members that stand still, and since when.
    pub(crate) stopped: Vec<(u16, Nanos)>,
    /// Whether the threads were set up beside a run, and are raised before the epoch.
    pub(crate) aside: bool,
    /// Of what goes on.
    pub(crate) before: InstancesBefore,
    /// By which the job's processes are told from others.
    pub(crate) families: &'a Rc<Families>,
    /// Bytes that what is kept of the phase may take, in memory and on disk.
    pub(crate) limit: u64,
    /// What is kept is written to a journal.
    pub(crate) is_saved: bool,
}

/// Whoever asks for the end of a run does not wait longer than this for the end of its round.
const STOP_WITHIN: Nanos = Nanos::from_millis(500);

/// From the time since the epoch: how many whole rounds run, and when everybody stops.
fn stop_after(elapsed: Nanos, hyperperiod: Nanos) -> (u64, Nanos) {
    let elapsed = elapsed.max(Nanos::ZERO);
    let begun = elapsed.0 / hyperperiod.0.max(1);
    let end = hyperperiod.saturating_mul(begun.saturating_add(1));
    if end - elapsed > STOP_WITHIN {
        (begun.unsigned_abs(), elapsed)
    } else {
        (begun.unsigned_abs().saturating_add(1), end)
    }
}

/// From the time since the epoch: how many whole rounds run, and when everybody uncommits. Without anything periodic
/// there are no rounds to wait for, and before the epoch none has begun.
fn uncommit_after(elapsed: Nanos, hyperperiod: Nanos, is_periodic: bool) -> (u64, Nanos) {
    if elapsed <= Nanos::ZERO {
        return (0, elapsed);
    }
    let rounds = (elapsed.0 - 1) / hyperperiod.0.max(1) + 1;
    let end = if is_periodic { hyperperiod.saturating_mul(rounds) } else { elapsed };
    (rounds.unsigned_abs(), end)
}

/// Rounds that begin within the horizon; the last may be cut short by it.
fn rounds_within(horizon: Horizon, hyperperiod: Nanos) -> u64 {
    match horizon {
        Horizon::Rounds(rounds) => rounds,
        Horizon::Duration(duration) => {
            duration.0.max(0).unsigned_abs().div_ceil(hyperperiod.0.max(1).unsigned_abs())
        }
        Horizon::Unbounded => u64::MAX,
    }
}

/// A thread of a task that ends for its member's end, or for that of the run, is followed by these within this time.
const ENDS_WITHIN: Nanos = Nanos::from_secs(1);

/// Events of the job that are kept, beside those around misses.
const EVENTS_MAX: usize = 16_384;

/// How much is kept in detail before and after a miss: three of the longest periods.
fn margin(job: &Job) -> Nanos {
    let longest = job.tasks.iter().map(|task| task.period).max().unwrap_or(Nanos::from_millis(1));
    longest.saturating_mul(3)
}

/// A quarter of the limit is for details in memory, as much for the record of them on disk, and half for the report and the trace.
fn capacity(job: &Job, limit: u64) -> usize {
    let streams = (job.tasks.len() + job.channels.len() + 1) as u64;
    usize::try_from(limit / 4 / streams).unwrap_or(usize::MAX)
}

/// Of what no details are kept, in words.
fn thinned(tasks: &[TaskRecord], channels: &[ChannelRecord], setting: &str) -> Option<String> {
    let instances = tasks.iter().fold(0, |sum: u64, task| sum.saturating_add(task.thinned.count));
    let messages = channels.iter().fold(0, |sum: u64, channel| sum.saturating_add(channel.thinned.count));
    (instances > 0 || messages > 0).then(|| {
        format!(
            "the run was longer than the record's limit ({setting}) keeps whole: of {instances} instances and {messages} messages \
             only counts and distributions are kept; kept in detail are the first, the worst, those around misses, and a uniform part \
             of the others"
        )
    })
}

/// The cores whose switches are logged. Without a task no instance can be late: the log would only cost each switch of a waiting member,
/// and its reading take a core for a millisecond at a time.
fn logged(job: &Job, has_tasks: bool) -> &[u32] {
    if has_tasks { &job.cores } else { &[] }
}

/// Each task with its member and its thread.
fn of_members(job: &Job, threads: &[(u16, u32)]) -> Vec<(u16, u16, u32)> {
    let member = |task: u16| job.tasks.get(usize::from(task)).map(|model| model.member.0);
    threads.iter().filter_map(|(task, thread)| Some((*task, member(*task)?, *thread))).collect()
}

/// Watches how the threads are scheduled, from the epoch on where they are set up aside.
fn scheduling(aside: bool, threads: &[(u16, u32)], epoch: Nanos) -> SchedulingWatch {
    match aside {
        true => SchedulingWatch::from_epoch(threads, epoch),
        false => SchedulingWatch::start(threads, epoch),
    }
}

/// The watcher of one phase.
pub(crate) struct Monitor {
    label: String,
    assembled: Assembled,
    plan: Plan,
    epoch: Nanos,
    tasks: Vec<TaskCollector>,
    channels: Vec<ChannelCollector>,
    counts: Counts,
    /// Around misses.
    windows: Windows,
    /// Bytes that details of one task or channel may take in memory, and the evidence.
    capacity: usize,
    evidence: Evidence,
    scheduling: SchedulingWatch,
    holds: HoldWatch,
    alone: Option<Alone>,
    events: Vec<Event>,
    before: InstancesBefore,
    failed_runs: FailedRuns,
    /// Rounds until the stop that was ordered.
    rounds_ordered: u64,
    /// Another mode takes over: threads give up their class after their last instance.
    gives_way: bool,
    saved: Saved,
    pub(crate) misses: u64,
}

/// Of more events than these the first and the latest quarter stay, and between them what ends runs: of each member once of each kind.
fn thin_middle(events: &mut Vec<Event>, most: usize) {
    if events.len() <= most {
        return;
    }
    let (first, latest) = (most / 4, events.len() - most / 4);
    let (mut place, mut known) = (0.., BTreeSet::new());
    events.retain(|event| {
        let is_middle = place.next().is_some_and(|place| (first..latest).contains(&place));
        let ends = end_of(&event.kind).is_some_and(|end| known.insert(end));
        !is_middle || ends
    });
}

/// Which member ends a run, or its own part in it, by an event, and how.
fn end_of(kind: &EventKind) -> Option<(u16, u8)> {
    match kind {
        EventKind::MemberDied { member, .. } => Some((*member, 0)),
        EventKind::MemberEnded { member, .. } => Some((*member, 1)),
        EventKind::GaveUp { member, .. } => Some((*member, 2)),
        EventKind::StopAsked { member, .. } => Some((*member, 3)),
        _ => None,
    }
}

/// The thread of a task; 0 if none is known.
fn thread_of(threads: &[(u16, u32)], task: usize) -> u32 {
    threads.iter().find(|(index, _)| usize::from(*index) == task).map_or(0, |(_, thread)| *thread)
}

impl Monitor {
    /// Starts watching; also returns what cannot be watched, and why.
    pub(crate) fn start(watched: Watched<'_>) -> (Self, Vec<String>) {
        let Watched {
            label,
            assembled,
            plan,
            epoch,
            segments,
            threads,
            stopped,
            aside,
            before,
            families,
            limit,
            is_saved,
        } = watched;
        let job = &assembled.job;
        let segment = |member: MemberId| segments.get(member.index()).and_then(Option::as_ref);
        let tasks = (job.tasks.iter().enumerate())
            .map(|(index, task)| {
                let reader = segment(task.member).and_then(|segment| segment.task(TaskId(index as u16)));
                let first = before.tasks.get(index).copied().unwrap_or(0);
                let table = TaskTable::new(assembled, plan, index);
                TaskCollector::new(reader, thread_of(&threads, index), table, (epoch, first))
            })
            .collect();
        let channels = (job.channels.iter().enumerate())
            .map(|(index, channel)| {
                let id = ChannelId(index as u16);
                let source = segment(channel.source).and_then(|segment| segment.source(id));
                let target = segment(channel.target).and_then(|segment| segment.target(id));
                let first = before.channels.get(index).copied().unwrap_or(0);
                let table = ChannelTable::new(assembled, plan, index);
                ChannelCollector::new(source, target, table, (epoch, first))
            })
            .collect();
        let has_tasks = !threads.is_empty();
        let (evidence, mut warnings) = Evidence::open(logged(job, has_tasks), &threads, epoch, families);
        let (holds, warning) =
            HoldWatch::start(of_members(job, &threads), epoch, families, has_tasks && evidence.whole_core);
        warnings.extend(warning);
        warnings.extend(families.shortcoming().filter(|_| has_tasks && evidence.whole_core));
        let mut monitor = Self {
            label,
            assembled: assembled.clone(),
            plan: plan.clone(),
            epoch,
            tasks,
            channels,
            counts: Counts::new(assembled, &segments, (clock::now(), aside)),
            windows: Windows::new(margin(job)),
            capacity: capacity(job, limit),
            evidence,
            scheduling: scheduling(aside, &threads, epoch),
            holds,
            alone: if has_tasks { Alone::start(plan, epoch) } else { None },
            events: Vec::new(),
            before,
            failed_runs: FailedRuns::new(clock::now()),
            rounds_ordered: u64::MAX,
            gives_way: false,
            saved: Saved::default(),
            misses: 0,
        };
        monitor.note_changes(is_saved);
        for (member, since) in stopped {
            monitor.event(since, EventKind::MemberStopped { member });
        }
        (monitor, warnings)
    }

    /// What is kept of the phase may take so many bytes from here on, in memory and on disk.
    pub(crate) fn share(&mut self, limit: u64) {
        self.capacity = capacity(&self.assembled.job, limit);
    }

    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    pub(crate) fn whole_core(&self) -> bool {
        self.evidence.whole_core
    }

    /// Rounds that have begun by `now`.
    pub(crate) fn rounds(&self, now: Nanos) -> u64 {
        let elapsed = (now - self.epoch).0.max(0);
        (elapsed / self.plan.hyperperiod.0.max(1)).unsigned_abs()
    }

    /// Where everybody stops: the first round that starts after `at`, or `at` itself where that is far off.
    pub(crate) fn stop_instant(&mut self, at: Nanos) -> Nanos {
        let (rounds, instant) = stop_after(at - self.epoch, self.plan.hyperperiod);
        self.rounds_ordered = self.rounds_ordered.min(rounds);
        if self.gives_way {
            self.scheduling.until(self.epoch + instant - self.plan.hyperperiod);
        }
        self.epoch + instant
    }

    /// Where everybody uncommits: the first end of a round at or after `at`.
    pub(crate) fn uncommit_instant(&mut self, at: Nanos) -> Nanos {
        let (rounds, instant) = uncommit_after(at - self.epoch, self.plan.hyperperiod, self.is_periodic());
        self.rounds_ordered = self.rounds_ordered.min(rounds);
        self.epoch + instant
    }

    fn is_periodic(&self) -> bool {
        self.plan.tasks.iter().any(|task| !task.instances.is_empty())
            || self.plan.channels.iter().any(|channel| !channel.instances.is_empty())
    }

    /// Where a mode can take over: the first end of a round at or after `at`, if what runs gets there.
    pub(crate) fn switch_instant(&self, at: Nanos, horizon: Horizon) -> Option<Nanos> {
        let hyperperiod = self.plan.hyperperiod;
        let (_, instant) = uncommit_after((at - self.epoch).max(Nanos(1)), hyperperiod, self.is_periodic());
        (instant <= horizon.span(hyperperiod)).then(|| self.epoch + instant)
    }

    /// How many instances of each task and channel of a mode that takes over at `instant` there have been until then.
    pub(crate) fn instances_before(&self, instant: Nanos, after: &Job, kept: &Kept) -> InstancesBefore {
        let rounds = (instant - self.epoch).0 / self.plan.hyperperiod.0.max(1);
        self.before.next((&self.assembled.job, &self.plan), rounds.unsigned_abs(), after, kept)
    }

    /// Everybody gives way to another mode at `instant`, which [`Monitor::switch_instant`] gave.
    pub(crate) fn give_way(&mut self, instant: Nanos) {
        let hyperperiod = self.plan.hyperperiod;
        let rounds = (instant - self.epoch).0 / hyperperiod.0.max(1);
        self.rounds_ordered = self.rounds_ordered.min(rounds.unsigned_abs());
        self.gives_way = true;
        self.scheduling.until(instant - hyperperiod);
    }

    /// A member is ended by the agent.
    pub(crate) fn ends(&mut self, member: MemberId) {
        let tasks = &self.assembled.job.tasks;
        self.scheduling.forget(|task| tasks.get(usize::from(task)).is_some_and(|task| task.member == member));
    }

    /// Notes something that happened at `at` on the monotonic clock. When a member began to want the end is on that clock too, and is only what the
    /// member says.
    pub(crate) fn event(&mut self, at: Nanos, mut kind: EventKind) {
        if let EventKind::StopAsked { since, .. } | EventKind::GaveUp { since, .. } = &mut kind {
            *since = (*since).max(self.epoch.min(at)) - self.epoch;
        }
        if let EventKind::RunsFailed { member, what, times } = &mut kind {
            let taken = self.failed_runs.take(*member, what, *times, at);
            let Some(taken) = taken else { return };
            (*what, *times) = taken;
        }
        self.happened(Event { at: at - self.epoch, kind });
    }

    /// Name and number of an instance that a member says something of `now`, if it is of one of its tasks or of what it receives; without the
    /// number of one that cannot have been.
    pub(crate) fn name_of(&self, member: MemberId, place: Place, now: Nanos) -> Option<String> {
        let job = &self.assembled.job;
        let named = |what: String, instance: u64, has_begun: bool| {
            if has_begun { format!("{what}, instance {instance}") } else { what }
        };
        match place {
            Place::Nowhere => None,
            Place::Task(task, instance) => {
                let place = usize::from(task);
                let task = job.tasks.get(place).filter(|task| task.member == member)?;
                let has_begun = self.tasks.get(place)?.has_begun(instance, now);
                Some(named(format!("task {}", task.name), instance, has_begun))
            }
            Place::Channel(channel, instance) => {
                let place = usize::from(channel);
                let channel = job.channels.get(place).filter(|channel| channel.target == member)?;
                let has_begun = self.channels.get(place)?.has_begun(instance, now);
                Some(named(format!("channel {}", channel.name), instance, has_begun))
            }
        }
    }

    /// Reads what has come since the last time.
    pub(crate) fn drain(&mut self) {
        self.read(ChannelCollector::is_due);
    }

    /// Of which tasks an instance has not returned for long, each once, in words.
    pub(crate) fn unreturned(&mut self, now: Nanos) -> Vec<String> {
        let tasks = self.tasks.iter_mut().zip(&self.assembled.job.tasks);
        let found: Vec<_> = tasks
            .filter_map(|(collector, model)| {
                let (instance, at) = collector.newly_unended(now)?;
                Some((model, collector.thread(), instance, now - at))
            })
            .collect();
        // Of those it has been told that they are gone.
        let is_gone = |member: MemberId| {
            self.events.iter().any(|event| match event.kind {
                EventKind::MemberDied { member: of, .. } | EventKind::MemberEnded { member: of, .. } => {
                    of == member.0
                }
                _ => false,
            })
        };
        let living = found.into_iter().filter(|(model, ..)| !is_gone(model.member));
        let words = |(model, thread, instance, took): (&leveret_plan::Task, u32, u64, Nanos)| {
            let doing = threads_of::doing(thread).map_or_else(String::new, |doing| format!(": {doing}"));
            format!(
                "instance {instance} of task \"{}\" (thread {thread}) began {took} ago, with a budget of {}, and has not returned{doing}; \
                 its later instances are missed",
                model.name, model.budget
            )
        };
        living.map(words).collect()
    }

    /// Which members have a task whose thread has ended before its time, since when, and that in words; `end` is when the run ends.
    pub(crate) fn threadless(&self, end: Nanos, now: Nanos) -> Vec<(MemberId, Nanos, String)> {
        let ordered = i64::try_from(self.rounds_ordered).unwrap_or(i64::MAX);
        let end = end.min(self.epoch + self.plan.hyperperiod.saturating_mul(ordered));
        let found = self.scheduling.gone().iter().filter_map(|(task, since)| {
            let model = self.assembled.job.tasks.get(usize::from(*task))?;
            let (instance, start, deadline) = self.tasks.get(usize::from(*task))?.next_window()?;
            let is_owed = self.epoch + start < end && now > self.epoch + deadline.max(start) + ENDS_WITHIN;
            let words = || {
                format!(
                    "the thread of its task \"{}\" has ended, and instance {instance} has not run: a body has to return, and must not end its \
                     thread",
                    model.name
                )
            };
            is_owed.then(|| (model.member, *since, words()))
        });
        found.collect()
    }

    /// The same; of channels those that are due.
    fn read(&mut self, is_due: impl Fn(&mut ChannelCollector) -> bool) {
        self.saved.drained = clock::now();
        let mut suspicious = Vec::new();
        let (mut missed, mut silent) = (Vec::new(), Vec::new());
        for (task, collector) in self.tasks.iter_mut().enumerate() {
            let found = collector.drain(clock::now);
            if found.iter().any(|found| found.missed) {
                missed.push(task as u16);
            }
            suspicious.extend(found.into_iter().map(|found| (task as u16, collector.thread(), found)));
            if let Some((from, until)) = collector.newly_silent(self.saved.drained) {
                missed.push(task as u16);
                silent.push((collector.thread(), from, until));
            }
        }
        let changed = self.scheduling.look(&missed).into_iter().chain(self.holds.look(&missed));
        changed.collect::<Vec<_>>().into_iter().for_each(|event| self.happened(event));
        // The kernel's log is read after the stamps, so that it covers whatever they tell of.
        let wanted =
            suspicious.iter().map(|(_, _, found)| found.from).chain(silent.iter().map(|(_, from, _)| *from));
        self.evidence.drain(wanted.min());
        for (task, thread, suspicious) in suspicious {
            self.misses += u64::from(suspicious.missed);
            let calls = self.holds.calls(task, thread, suspicious.from, suspicious.until);
            calls.into_iter().for_each(|event| self.happened(event));
            self.evidence.keep(thread, suspicious.from, suspicious.until);
            if suspicious.missed {
                self.windows.open(suspicious.from - self.epoch, suspicious.until - self.epoch);
            }
        }
        // Who keeps a thread from running to the end is known from here alone: nothing that it says tells of it.
        for (thread, from, until) in silent {
            self.evidence.keep(thread, from, until);
            self.windows.open(from - self.epoch, until - self.epoch);
        }
        for channel in self.channels.iter_mut().filter_map(|channel| is_due(channel).then_some(channel)) {
            for due in channel.drain(clock::now) {
                self.misses += 1;
                self.windows.open(due, due);
            }
        }
        self.evidence.forget(clock::now());
        let at = clock::now() - self.epoch;
        for kind in self.counts.look(clock::now()) {
            self.happened(Event { at, kind });
        }
        self.thin();
    }

    /// Leaves out details beyond the limit.
    fn thin(&mut self) {
        for task in &mut self.tasks {
            task.thin(&self.windows, self.capacity);
        }
        for channel in &mut self.channels {
            channel.thin(&self.windows, self.capacity);
        }
        self.evidence.thin(&self.windows, self.capacity);
        self.thin_events();
    }

    /// Of too many events those go that lie around no miss, and then all but the first and the latest of what can come for ever.
    fn thin_events(&mut self) {
        let comes_often = |event: &Event| {
            matches!(
                event.kind,
                EventKind::SchedulingChanged { .. }
                    | EventKind::MemberStopped { .. }
                    | EventKind::MemberContinued { .. }
                    | EventKind::Woken { .. }
                    | EventKind::Trapped { .. }
            )
        };
        if self.events.len() <= EVENTS_MAX {
            return;
        }
        let (windows, latest) = (&self.windows, self.events.len() - EVENTS_MAX / 4);
        let mut place = 0..;
        self.events.retain(|event| {
            let is_latest = place.next().is_some_and(|place| place >= latest);
            is_latest || !comes_often(event) || windows.holds(event.at)
        });
        thin_middle(&mut self.events, EVENTS_MAX);
    }

    /// The first change of each task's scheduling, in words: it is told also where it made nothing late.
    fn rescheduled(&self) -> Vec<String> {
        let mut told = BTreeSet::new();
        let changed = self.events.iter().filter_map(|event| match &event.kind {
            EventKind::SchedulingChanged { task, now, set, .. } if told.insert(*task) => {
                Some((event.at, task, now, set))
            }
            _ => None,
        });
        let words = changed.map(|(at, task, now, set)| {
            let name = &self.assembled.job.tasks[usize::from(*task)].name;
            format!(
                "the scheduling of {name} was changed from outside: {now} was first found {at} after the epoch, {set} had been \
                 set; what is late because of it is not the machine's"
            )
        });
        words.collect()
    }

    /// Ends watching, after the members' last stamp or death. Also returns the phase's number in the journal, and what there is to say.
    pub(crate) fn finish(
        mut self,
        horizon: Horizon,
        ended: Nanos,
        journal: Option<&mut Journal>,
        limit_setting: &str,
    ) -> (Phase, Option<u32>, Vec<String>) {
        self.read(|_| true);
        let alone = self.alone.take().map(Alone::finish).unwrap_or_default();
        let planned = rounds_within(horizon, self.plan.hyperperiod);
        self.rounds_ordered = self.rounds_ordered.min(planned).min(self.rounds(ended));
        if let Some(journal) = journal {
            self.save_end(journal, alone.clone());
        }
        let mut notes = Vec::new();
        let lost = self.evidence.lost();
        if lost > 0 {
            notes
                .push(format!("{lost} records of the kernel's log were lost; some causes may stay unproven"));
        }
        notes.extend(self.rescheduled());
        notes.extend(self.counts.beyond(&self.assembled, ended));
        let rounds = self.rounds_ordered;
        let mut events = self.events;
        let mut tasks = Vec::with_capacity(self.tasks.len());
        for (index, task) in self.tasks.into_iter().enumerate() {
            let (record, happened) = task.finish(index as u16, clock::now());
            events.extend(happened);
            tasks.push(record);
        }
        let channels: Vec<_> =
            self.channels.into_iter().map(|channel| channel.finish(clock::now())).collect();
        notes.extend(thinned(&tasks, &channels, limit_setting));
        let found = self.evidence.finish();
        events.extend(found.events);
        events.sort_by_key(|event| event.at);
        let phase = Phase {
            label: self.label,
            job: self.assembled.job,
            plan: self.plan,
            epoch_monotonic: self.epoch,
            rounds,
            tasks,
            channels,
            switches: found.switches,
            timers: found.timers,
            events,
            alone,
        };
        (phase, self.saved.number(), notes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_horizon_has_the_rounds_that_begin_within_it() {
        let (period, duration) = (Nanos(250), |nanos| Horizon::Duration(Nanos(nanos)));
        let rounds = [1, 250, 251, 500].map(|nanos| rounds_within(duration(nanos), period));
        assert_eq!(rounds, [1, 1, 2, 2]);
        assert_eq!(rounds_within(Horizon::Rounds(7), period), 7);
        assert_eq!(rounds_within(Horizon::Unbounded, period), u64::MAX);
    }

    #[test]
    fn members_uncommit_at_the_end_of_a_round_however_long_it_is() {
        let (millisecond, hour) = (Nanos::from_millis(1), Nanos::from_secs(3600));
        assert_eq!(uncommit_after(Nanos(2_500_000), millisecond, true), (3, Nanos::from_millis(3)));
        assert_eq!(uncommit_after(Nanos::from_millis(3), millisecond, true), (3, Nanos::from_millis(3)));
        assert_eq!(uncommit_after(Nanos(1), hour, true), (1, hour));
        assert_eq!(uncommit_after(Nanos(7), hour, false), (1, Nanos(7)));
        assert_eq!(uncommit_after(Nanos(-5), hour, true), (0, Nanos(-5)));
    }

    #[test]
    fn a_stop_waits_for_the_end_of_a_round_that_is_near_and_for_no_other() {
        let (millisecond, second) = (Nanos::from_millis(1), Nanos::from_secs(1));
        assert_eq!(stop_after(Nanos(2_500_000), millisecond), (3, Nanos::from_millis(3)));
        assert_eq!(stop_after(Nanos::from_millis(600), second), (1, second));
        assert_eq!(stop_after(Nanos::from_millis(400), second), (0, Nanos::from_millis(400)));
        assert_eq!(stop_after(Nanos::from_secs(12), Nanos::from_secs(10)), (1, Nanos::from_secs(12)));
        // Before the epoch: nothing of a long round runs, all of a short one.
        assert_eq!(stop_after(Nanos(-5), Nanos::from_secs(10)), (0, Nanos::ZERO));
        assert_eq!(stop_after(Nanos(-5), millisecond), (1, millisecond));
    }

    #[test]
    fn what_ends_a_run_stays_however_much_else_happens() {
        const MOST: usize = 1000;
        let at = |at: usize, kind: EventKind| Event { at: Nanos(at as i64), kind };
        let failed =
            |times: usize| EventKind::RunsFailed { member: 0, what: "h".to_owned(), times: times as u64 };
        let died = |member: u16| EventKind::MemberDied { member, how: "signal 9".to_owned() };
        let mut events = Vec::new();
        for number in 0..10 * MOST {
            events.push(at(number, failed(number)));
            if number == 5 * MOST {
                events.extend([at(number, died(1)), at(number, died(2))]);
            }
            // A member may say of itself what it likes, as often as it likes.
            let (member, since, why) = (3, Nanos::ZERO, String::new());
            events.push(at(number, EventKind::StopAsked { member, since, why }));
            thin_middle(&mut events, MOST);
            assert!(events.len() <= MOST);
        }
        for member in [1, 2] {
            assert_eq!(events.iter().filter(|event| event.kind == died(member)).count(), 1, "{member}");
        }
        assert!(events.is_sorted_by_key(|event| event.at));
    }
}
