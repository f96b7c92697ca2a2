//! Watches one phase: drains members' stamps, collects evidence, counts misses as they come.

use crate::alone::Alone;
use crate::collect::{ChannelCollector, TaskCollector};
use crate::evidence::Evidence;
use leveret_memory::PeerSegment;
use leveret_os::clock;
use leveret_plan::Plan;
use leveret_protocol::assemble::Assembled;
use leveret_report::record::{AloneProbe, Event, EventKind, Phase};
use leveret_types::{ChannelId, MemberId, Nanos, TaskId};

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
}

/// The watcher of one phase.
pub(crate) struct Monitor {
    label: String,
    assembled: Assembled,
    plan: Plan,
    epoch: Nanos,
    tasks: Vec<TaskCollector>,
    channels: Vec<ChannelCollector>,
    evidence: Evidence,
    alone: Option<Alone>,
    events: Vec<Event>,
    /// Rounds until the stop that was ordered.
    rounds_ordered: u64,
    pub(crate) misses: u64,
}

impl Monitor {
    /// Starts watching; also returns what cannot be watched, and why.
    pub(crate) fn start(watched: Watched<'_>) -> (Self, Vec<String>) {
        let Watched { label, assembled, plan, epoch, segments, threads } = watched;
        let job = &assembled.job;
        let segment = |member: MemberId| segments.get(member.index()).and_then(Option::as_ref);
        let thread_of = |task: usize| {
            threads.iter().find(|(index, _)| usize::from(*index) == task).map_or(0, |(_, thread)| *thread)
        };
        let tasks = (job.tasks.iter().enumerate())
            .map(|(index, task)| {
                let reader = segment(task.member).and_then(|segment| segment.task(TaskId(index as u16)));
                TaskCollector::new(reader, thread_of(index), epoch)
            })
            .collect();
        let channels = (job.channels.iter().enumerate())
            .map(|(index, channel)| {
                let id = ChannelId(index as u16);
                let source = segment(channel.source).and_then(|segment| segment.source(id));
                let target = segment(channel.target).and_then(|segment| segment.target(id));
                ChannelCollector::new(source, target, epoch)
            })
            .collect();
        let (evidence, warnings) = Evidence::open(&job.cores, &threads, epoch);
        let monitor = Self {
            label,
            assembled: assembled.clone(),
            plan: plan.clone(),
            epoch,
            tasks,
            channels,
            evidence,
            alone: Alone::start(plan, epoch),
            events: Vec::new(),
            rounds_ordered: u64::MAX,
            misses: 0,
        };
        (monitor, warnings)
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

    /// The first round that starts after `at`: everybody stops there.
    pub(crate) fn stop_instant(&mut self, at: Nanos) -> Nanos {
        let rounds = self.rounds(at).saturating_add(1);
        self.rounds_ordered = rounds;
        self.epoch + self.plan.hyperperiod.saturating_mul(i64::try_from(rounds).unwrap_or(i64::MAX))
    }

    /// Notes something that happened at `at` on the monotonic clock.
    pub(crate) fn event(&mut self, at: Nanos, kind: EventKind) {
        self.events.push(Event { at: at - self.epoch, kind });
    }

    /// Reads everything that has come since the last time.
    pub(crate) fn drain(&mut self) {
        let suspicious: Vec<_> = self.tasks.iter_mut().flat_map(TaskCollector::drain).collect();
        // The kernel's log is read after the stamps, so that it covers whatever they tell of.
        self.evidence.drain();
        for suspicious in suspicious {
            self.misses += u64::from(suspicious.missed);
            self.evidence.keep(suspicious.from, suspicious.until);
        }
        for channel in &mut self.channels {
            self.misses += channel.drain();
        }
        self.evidence.forget(clock::now());
    }

    /// Ends watching, after the members' last stamp or death.
    pub(crate) fn finish(
        mut self,
        rounds_total: Option<u64>,
        ended: Nanos,
    ) -> (Phase, AloneProbe, Vec<String>) {
        self.drain();
        let alone = self.alone.take().map(Alone::finish).unwrap_or_default();
        let mut notes = Vec::new();
        if self.tasks.iter().any(|task| task.record.thinned > 0) {
            notes.push(
                "the run was longer than the record keeps whole; of the instances that kept their plan every \
                 other one was dropped, once or more often"
                    .to_owned(),
            );
        }
        let lost = self.evidence.lost();
        if lost > 0 {
            notes.push(format!(
                "{lost} records of the kernel's log were lost on a busy machine; some causes may stay unproven"
            ));
        }
        let rounds = rounds_total.unwrap_or(u64::MAX).min(self.rounds_ordered).min(self.rounds(ended));
        let mut events = self.events;
        let mut tasks = Vec::with_capacity(self.tasks.len());
        for task in self.tasks {
            let (record, steps) = task.finish();
            events
                .extend(steps.into_iter().map(|(at, by)| Event { at, kind: EventKind::ClockStepped { by } }));
            tasks.push(record);
        }
        let channels = self.channels.into_iter().map(ChannelCollector::finish).collect();
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
        };
        (phase, alone, notes)
    }
}
