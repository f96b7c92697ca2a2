//! When each instance of a task or transfer is planned: tables for one hyperperiod, counters instead of divisions.

use leveret_plan::{Job, Plan, Qos, TIME_NS_MAX};
use leveret_protocol::assemble::Assembled;
use leveret_types::{ChannelId, Nanos, TaskId};

/// One instance of a task within the hyperperiod, relative to the round's start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) start: Nanos,
    /// End of the declared window.
    pub(crate) deadline: Nanos,
    /// TURTLE's critical start: begun later, the instance cannot meet its effective window.
    pub(crate) critical: Nanos,
}

/// A task's plan as its thread walks it.
#[derive(Clone, Debug)]
pub(crate) struct TaskTiming {
    pub(crate) task: TaskId,
    pub(crate) slots: Box<[Slot]>,
    pub(crate) hyperperiod: Nanos,
    pub(crate) guard: Nanos,
    pub(crate) budget: Nanos,
}

impl TaskTiming {
    pub(crate) fn new(job: &Job, plan: &Plan, task: TaskId) -> Self {
        let declared = &job.tasks[task.index()];
        let slots = plan.tasks[task.index()]
            .instances
            .iter()
            .enumerate()
            .map(|(index, instance)| Slot {
                start: instance.start(),
                deadline: declared.period.saturating_mul(index as i64) + declared.deadline,
                critical: instance.latest - declared.budget,
            })
            .collect();
        Self { task, slots, hyperperiod: plan.hyperperiod, guard: plan.costs.guard, budget: declared.budget }
    }
}

impl TaskTiming {
    /// How many instances one epoch is after another, which is a multiple of the period.
    pub(crate) fn instances_between(&self, first: Nanos, second: Nanos) -> u64 {
        let period = self.hyperperiod.0 / (self.slots.len() as i64).max(1);
        ((second - first).0.max(0) / period.max(1)).unsigned_abs()
    }
}

/// Where a thread stands in its table.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    /// Instance since the epoch.
    pub(crate) instance: u64,
    /// Hyperperiod since the epoch.
    pub(crate) round: u64,
    /// Slot within the hyperperiod.
    pub(crate) index: usize,
    /// Start of the round, relative to the epoch.
    pub(crate) round_start: Nanos,
}

impl Cursor {
    pub(crate) fn advance(&mut self, timing: &TaskTiming) {
        self.instance += 1;
        self.index += 1;
        if self.index == timing.slots.len() {
            self.index = 0;
            self.round += 1;
            self.round_start = self.round_start + timing.hyperperiod;
        }
    }
}

/// The instances of one channel that one task meets: `base + slots[index] + round * per_round`.
#[derive(Clone, Debug)]
pub(crate) struct Bindings {
    slots: Box<[i64]>,
    per_round: i64,
    place: Option<Place>,
    /// Instances before the epoch, of a channel that is kept from the mode before; of a single shot, less the plan's instances before it:
    /// it counts as instance 0.
    base: i64,
    /// A single shot has none after it.
    last: u64,
}

/// Where the plan keeps room for a single shot: in every round, and one of these is the shot's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Where its window begins, on the job's clock.
    pub(crate) at: Nanos,
    /// And from the start of a round.
    pub(crate) release: Nanos,
    pub(crate) round: Nanos,
}

impl Bindings {
    pub(crate) fn new(slots: Vec<i64>, per_round: usize) -> Self {
        let slots = slots.into_boxed_slice();
        Self { slots, per_round: per_round as i64, place: None, base: 0, last: u64::MAX }
    }

    /// So many instances were before the epoch.
    pub(crate) fn begin_at(&mut self, base: u64) {
        self.base = base as i64;
    }

    /// The number of an instance within the mode; `None` of one from before.
    pub(crate) fn within_mode(&self, instance: u64) -> Option<u64> {
        u64::try_from(instance as i64 - self.base).ok()
    }

    /// Those of a single shot, if it is one.
    pub(crate) fn once(self, place: Option<Place>) -> Self {
        let last = if place.is_some() { 0 } else { u64::MAX };
        Self { place, last, ..self }
    }

    /// The epoch is known.
    pub(crate) fn arm(&mut self, epoch: Nanos) {
        if let Some(Place { at, release, round }) = self.place {
            self.base = -((at - epoch - release).0 / round.0.max(1));
        }
    }

    /// The channel instance at the cursor; `None` before the channel's first, and after its last.
    #[inline]
    pub(crate) fn at(&self, cursor: &Cursor) -> Option<u64> {
        let instance = self.base + self.slots[cursor.index] + cursor.round as i64 * self.per_round;
        u64::try_from(instance).ok().filter(|instance| *instance <= self.last)
    }
}

/// When instances of a time-driven channel arrive, relative to their origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) period: Nanos,
    pub(crate) first: Nanos,
    /// Of a single shot: where its window begins, on the job's clock. That of all others is the epoch.
    pub(crate) once: Option<Nanos>,
}

impl Arrival {
    /// `None` for a best-effort channel.
    pub(crate) fn new(assembled: &Assembled, plan: &Plan, channel: ChannelId) -> Option<Self> {
        let Qos::TimeDriven { period, release, .. } = assembled.job.channels[channel.index()].qos else {
            return None;
        };
        let first = plan.channels[channel.index()].instances.first()?.visible_at;
        Some(match assembled.shot(channel) {
            // It has no second instance before the end of time.
            Some(shot) => Self { period: Nanos(TIME_NS_MAX), first: first - release, once: Some(shot.at) },
            None => Self { period, first, once: None },
        })
    }

    /// From when on instances are counted.
    pub(crate) fn origin(&self, epoch: Nanos) -> Nanos {
        self.once.unwrap_or(epoch)
    }

    /// Whether there is one instance only.
    pub(crate) fn is_once(&self) -> bool {
        self.once.is_some()
    }

    #[inline]
    pub(crate) fn of(&self, instance: u64) -> Nanos {
        self.first + self.period.saturating_mul(instance as i64)
    }

    /// How many instances one epoch is after another, which is a multiple of the period.
    pub(crate) fn instances_between(&self, first: Nanos, second: Nanos) -> u64 {
        ((second - first).0.max(0) / self.period.0.max(1)).unsigned_abs()
    }

    /// First instance that arrives after `at`.
    pub(crate) fn next_after(&self, at: Nanos) -> u64 {
        let past = (at - self.first).0;
        if past < 0 { 0 } else { (past / self.period.0.max(1)) as u64 + 1 }
    }
}
