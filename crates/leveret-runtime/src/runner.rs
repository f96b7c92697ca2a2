//! One task walking its table: sleep, spin, gather, run, release, stamp.
//!
//! ```text
//!        planned sleep      guard spin   body          release, stamp
//!   ...zzzzzzzzzzzzzzzzzzz|~~~~~~~~~~~~|==============|--|zzzzzzzz...
//!                       woken        started        ended
//! ```
//! Between epoch and end the only system call is the planned sleep (design section 12.1).

use crate::activation::Activation;
use crate::context::TaskContext;
use crate::declare::Body;
use crate::free_end::{ReceivingEnd, SendingEnd};
use crate::meter::Meter;
use crate::port::{InputPort, OutputPort};
use crate::succession::{Heir, Line};
use crate::task_tally::{TaskMetrics, TaskTally};
use crate::timing::{Cursor, TaskTiming};
use crate::watch::{StopWish, Watch};
use leveret_memory::{StampRecord, StampWriter, TaskCounter};
use leveret_os::lost::Notice;
use leveret_plan::OverrunPolicy;
use leveret_protocol::control::Place;
use leveret_types::{Clock, Nanos};
use std::sync::Arc;

/// Lower bounds of the gaps that a spin counts, in nanoseconds.
pub const GAP_BOUNDS_NS: [i64; 10] =
    [1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000];

/// A clock that moved against the tick counter by more than this was stepped. Rate error between the two stays
/// far below it over one period.
const CLOCK_STEP_MIN: Nanos = Nanos::from_micros(500);

/// What became of an instance, as the number in its stamp record says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum OutcomeCode {
    /// Ran.
    Ran = 0,
    /// Skipped: begun now, it could not have met its window.
    SkippedCritical = 1,
    /// Skipped because the instance before it overran.
    SkippedOverrun = 2,
    /// Ran although it was known to be late.
    RanLate = 3,
}

/// What a runner counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunnerCounts {
    /// Planned sleeps.
    pub planned_sleeps: u64,
    /// Time spent spinning.
    pub spin_total: Nanos,
}

/// Whether there is a next instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// An instance ran or was skipped.
    Done,
    /// The stop instant or the end of time was reached.
    Ended,
}

/// How often a task looks whether the one that it goes on for has left what it needs.
const LOOK_AGAIN: Nanos = Nanos::from_micros(50);

/// Of so many instances that a task skipped while the one before it had not left yet, its ports tell: the last ones. No port
/// tells of more that has passed.
const OWED_MAX: u64 = 64;

/// What a task leaves to itself in the next mode.
pub(crate) struct TaskEstate {
    metrics: TaskMetrics,
    /// The epoch from which its instances are counted.
    origin: Nanos,
}

/// A task of this member, ready to run.
pub struct TaskRunner {
    timing: TaskTiming,
    policy: OverrunPolicy,
    inputs: Vec<InputPort>,
    outputs: Vec<OutputPort>,
    sources: Vec<(u32, SendingEnd)>,
    targets: Vec<(u32, ReceivingEnd)>,
    body: Body,
    stamps: StampWriter,
    watch: Arc<Watch>,
    epoch: Nanos,
    cursor: Cursor,
    counts: RunnerCounts,
    metrics: TaskMetrics,
    tally: Arc<TaskTally>,
    overran: bool,
    last_offset: Option<Nanos>,
    /// Of a task that may be kept in another mode.
    line: Option<Line<TaskEstate>>,
    /// It goes on with what others have not left yet.
    awaits: bool,
    /// The first of the instances that were skipped meanwhile, at most [`OWED_MAX`] back.
    owed: Option<Cursor>,
    /// The epoch from which its instances are counted, and how many were before the mode's.
    origin: Nanos,
    base: u64,
    /// Ports that gave their places to kept ones.
    relics: (Vec<InputPort>, Vec<OutputPort>),
}

/// All ends that a task owns.
#[derive(Default)]
pub(crate) struct Ports {
    pub(crate) inputs: Vec<InputPort>,
    pub(crate) outputs: Vec<OutputPort>,
    pub(crate) sources: Vec<(u32, SendingEnd)>,
    pub(crate) targets: Vec<(u32, ReceivingEnd)>,
}

/// How a spin went.
struct Spin {
    reached: Nanos,
    gap: Nanos,
    gap_at: Nanos,
}

impl TaskRunner {
    pub(crate) fn new(
        timing: TaskTiming,
        policy: OverrunPolicy,
        ports: Ports,
        body: Body,
        stamps: StampWriter,
        watch: Arc<Watch>,
    ) -> Self {
        let Ports { inputs, outputs, sources, targets } = ports;
        let relics = (Vec::with_capacity(inputs.len()), Vec::with_capacity(outputs.len()));
        let awaits = inputs.iter().any(InputPort::succeeds) || outputs.iter().any(OutputPort::succeeds);
        Self {
            timing,
            policy,
            inputs,
            outputs,
            sources,
            targets,
            body,
            stamps,
            watch,
            epoch: Nanos::ZERO,
            cursor: Cursor::default(),
            counts: RunnerCounts::default(),
            metrics: TaskMetrics::default(),
            tally: Arc::default(),
            overran: false,
            last_offset: None,
            line: None,
            awaits,
            owed: None,
            origin: Nanos::ZERO,
            base: 0,
            relics,
        }
    }

    /// Leaves what it counts where others read it, and goes on with what was counted before if it is to.
    pub(crate) fn counting_in(self, tally: Arc<TaskTally>, line: Option<Line<TaskEstate>>) -> Self {
        let awaits = self.awaits || line.as_ref().is_some_and(Line::succeeds);
        Self { tally, line, awaits, ..self }
    }

    /// Sets the epoch; instance 0 comes next.
    pub fn arm(&mut self, epoch: Nanos) {
        self.epoch = epoch;
        self.cursor = Cursor::default();
        self.counts = RunnerCounts::default();
        self.metrics = TaskMetrics::default();
        (self.origin, self.base) = (epoch, 0);
        if !self.awaits {
            self.tally.publish(&self.metrics);
        }
        self.overran = false;
        self.last_offset = None;
        for port in &mut self.inputs {
            port.arm(epoch);
        }
        for port in &mut self.outputs {
            port.arm(epoch);
        }
    }

    /// Planned start of the next instance on the job's clock.
    pub fn next_start(&self) -> Nanos {
        self.epoch + self.cursor.round_start + self.timing.slots[self.cursor.index].start
    }

    /// The instant of the stop.
    pub(crate) fn stop_at(&self) -> Nanos {
        self.watch.stop_at()
    }

    /// Its function has failed: no task of this member starts another instance, and the agent ends the job.
    pub(crate) fn fail(&self, reason: &'static str) -> StopWish {
        self.watch.request_stop(reason, self.place())
    }

    /// Its present instance, or the next.
    fn place(&self) -> Place {
        Place::Task(self.timing.task.0, self.base + self.cursor.instance)
    }

    /// As [`TaskRunner::fail`], should its thread be gone before it could.
    pub(crate) fn notice(&self, tell: impl FnOnce(&'static str, StopWish) + Send + 'static) -> Notice {
        let (task, tally) = (self.timing.task.0, self.tally.clone());
        self.watch.clone().notice(move || Place::Task(task, tally.read().ended()), tell)
    }

    /// Whether another mode takes over at the stop.
    pub(crate) fn gives_way(&self) -> bool {
        self.watch.gives_way()
    }

    /// What was counted since the epoch.
    pub fn counts(&self) -> &RunnerCounts {
        &self.counts
    }

    /// Makes what was counted visible to the watcher.
    pub(crate) fn publish_counts(&mut self) {
        let RunnerCounts { planned_sleeps, spin_total } = self.counts;
        self.set_counter(TaskCounter::PlannedSleeps, planned_sleeps);
        self.set_counter(TaskCounter::SpinNs, spin_total.0.unsigned_abs());
    }

    /// Sets a counter that the watcher reads.
    pub(crate) fn set_counter(&mut self, counter: TaskCounter, value: u64) {
        self.stamps.set(counter, value);
    }

    /// The activations of the time-driven ends that this task owns.
    pub(crate) fn activations(&self) -> impl Iterator<Item = (u32, Arc<Activation>)> + '_ {
        let inputs = self.inputs.iter().map(|port| (port.end, port.activation()));
        let outputs = self.outputs.iter().map(|port| (port.end, port.activation()));
        inputs.chain(outputs)
    }

    /// Waits for the next instance and runs it.
    pub fn step(&mut self, clock: &dyn Clock, meter: &mut Meter) -> Step {
        let slot = self.timing.slots[self.cursor.index];
        let base = self.epoch + self.cursor.round_start;
        let planned = base + slot.start;
        if planned >= self.watch.stop_at() {
            return Step::Ended;
        }
        let wake = planned - self.timing.guard;
        let mut now = clock.now().latest;
        let begins_at_once = now >= wake;
        if now < wake {
            // The run may be ended while this task sleeps: then it is woken, and starts nothing.
            clock.sleep_until_or(wake, &|| planned >= self.watch.stop_at());
            self.counts.planned_sleeps += 1;
            now = clock.now().latest;
        }
        if planned >= self.watch.stop_at() {
            return Step::Ended;
        }
        let mut record = StampRecord {
            instance: self.cursor.instance,
            planned,
            deadline: base + slot.deadline,
            woken: now,
            ..StampRecord::default()
        };
        meter.begin();
        if self.awaits && self.may_begin() {
            self.take_all();
        }
        let spin = self.spin(clock, now, planned);
        record.gap = spin.gap;
        record.gap_at = spin.gap_at;
        record.started = spin.reached;
        record.clock_step = self.clock_step(clock, spin.reached);
        let outcome = if self.awaits {
            let latest = if self.policy == OverrunPolicy::Late { slot.deadline } else { slot.critical };
            let outcome = self.succeed(clock, base + latest);
            record.started = clock.now().latest;
            outcome
        } else {
            self.admit(spin.reached, base + slot.critical, begins_at_once)
        };
        record.outcome = outcome as u8;
        let skipped = matches!(outcome, OutcomeCode::SkippedCritical | OutcomeCode::SkippedOverrun);
        let mut next = self.cursor;
        next.advance(&self.timing);
        let mut stepped_in_body = Nanos::ZERO;
        if skipped {
            self.skip(&next);
            record.ended = record.started;
        } else {
            // All that is known of an instance that never ends.
            self.set_counter(TaskCounter::BegunAt, record.started.0.unsigned_abs());
            self.set_counter(TaskCounter::Begun, self.cursor.instance.wrapping_add(1));
            self.run(clock, &record);
            record.ended = clock.now().latest;
            stepped_in_body = self.clock_step(clock, record.ended);
            record.clock_step = record.clock_step + stepped_in_body;
        }
        self.close(meter, record, stepped_in_body, skipped, &next);
        self.cursor = next;
        Step::Done
    }

    /// Spins until `target`, watching for stretches in which this thread did not run: counts each, and keeps the one
    /// that delayed the start, or else the longest.
    fn spin(&mut self, clock: &dyn Clock, from: Nanos, target: Nanos) -> Spin {
        let mut spin = Spin { reached: from, gap: Nanos::ZERO, gap_at: from };
        while spin.reached < target {
            let now = clock.now().latest;
            let gap = now - spin.reached;
            if gap.0 >= GAP_BOUNDS_NS[0] {
                self.count_gap(gap);
            }
            if gap > spin.gap || now - target >= Nanos(GAP_BOUNDS_NS[0]) {
                spin.gap = gap;
                spin.gap_at = spin.reached;
            }
            spin.reached = now;
        }
        self.counts.spin_total = self.counts.spin_total + (spin.reached - from);
        spin
    }

    #[cold]
    fn count_gap(&mut self, gap: Nanos) {
        for (bucket, bound) in GAP_BOUNDS_NS.into_iter().enumerate() {
            if gap.0 >= bound {
                self.stamps.count_gap(bucket);
            }
        }
    }

    /// How far the clock moved against the ticks since this was last asked; zero if it was not stepped.
    fn clock_step(&mut self, clock: &dyn Clock, now: Nanos) -> Nanos {
        let Some(ticks) = clock.ticks() else { return Nanos::ZERO };
        let offset = now - ticks;
        let step = self.last_offset.map_or(Nanos::ZERO, |last| offset - last);
        self.last_offset = Some(offset);
        if step.0.abs() >= CLOCK_STEP_MIN.0 { step } else { Nanos::ZERO }
    }

    /// Whether an instance that could start at `now` can still meet its window (TURTLE's critical start time).
    /// An overrun of the instance before is the reason only if this one could not wake in time for it.
    fn admit(&mut self, now: Nanos, critical: Nanos, begins_at_once: bool) -> OutcomeCode {
        let overran = std::mem::take(&mut self.overran) && begins_at_once;
        if now <= critical {
            return OutcomeCode::Ran;
        }
        match self.policy {
            OverrunPolicy::Late => OutcomeCode::RanLate,
            OverrunPolicy::Skip if overran => OutcomeCode::SkippedOverrun,
            OverrunPolicy::Skip => OutcomeCode::SkippedCritical,
            OverrunPolicy::Stop => {
                self.fail("a task with the overrun policy `stop` could no longer meet its window");
                OutcomeCode::SkippedCritical
            }
        }
    }

    /// Goes on with what was left for this task, waiting for it until `latest` if the one before has overrun: that one runs in the
    /// instance's place until then.
    #[cold]
    fn succeed(&mut self, clock: &dyn Clock, latest: Nanos) -> OutcomeCode {
        while !self.may_begin() {
            let now = clock.now().latest;
            if now >= latest || now >= self.watch.stop_at() {
                return OutcomeCode::SkippedOverrun;
            }
            clock.sleep_until((now + LOOK_AGAIN).min(latest));
        }
        self.take_all();
        OutcomeCode::Ran
    }

    fn may_begin(&self) -> bool {
        self.inputs.iter().all(InputPort::may_begin)
            && self.outputs.iter().all(OutputPort::may_begin)
            && self.line.as_ref().is_none_or(Line::may_begin)
    }

    fn take_all(&mut self) {
        let (inputs, outputs) = &mut self.relics;
        // There is room for each, so nothing is allocated.
        inputs.extend(self.inputs.iter_mut().filter_map(InputPort::succeed));
        outputs.extend(self.outputs.iter_mut().filter_map(OutputPort::succeed));
        if let Some(TaskEstate { metrics, origin }) = self.line.as_ref().and_then(Line::take) {
            self.metrics.go_on_from(metrics);
            self.origin = origin;
            self.base = self.timing.instances_between(origin, self.epoch);
        }
        self.awaits = false;
        // What was skipped before this is told by the ports that know what was under way.
        if let Some(mut owed) = self.owed.take() {
            while owed.instance < self.cursor.instance {
                let mut next = owed;
                next.advance(&self.timing);
                self.pass(&owed, &next);
                owed = next;
            }
        }
    }

    /// The thread ends: whoever goes on with its work in another mode finds what is needed for that.
    pub(crate) fn leave(&mut self) {
        if self.awaits {
            // It never began, and those before it have ended by now or will not come.
            if !self.may_begin() {
                return;
            }
            self.take_all();
        }
        let (inputs, outputs) = &mut self.relics;
        inputs.extend(self.inputs.drain(..).filter_map(InputPort::leave));
        outputs.extend(self.outputs.drain(..).filter_map(OutputPort::leave));
        if let Some(line) = &self.line {
            line.leave(TaskEstate { metrics: self.metrics, origin: self.origin });
        }
    }

    fn skip(&mut self, next: &Cursor) {
        if self.awaits {
            let owed = self.owed.get_or_insert(self.cursor);
            if self.cursor.instance - owed.instance >= OWED_MAX {
                owed.advance(&self.timing);
            }
        } else {
            let cursor = self.cursor;
            self.pass(&cursor, next);
        }
    }

    fn pass(&mut self, cursor: &Cursor, next: &Cursor) {
        for port in &mut self.inputs {
            port.pass(cursor, next);
        }
        for port in &mut self.outputs {
            port.pass(cursor);
        }
    }

    fn run(&mut self, clock: &dyn Clock, record: &StampRecord) {
        for port in &mut self.inputs {
            port.gather(&self.cursor, clock, &self.watch);
        }
        for port in &mut self.outputs {
            port.begin(&self.cursor);
        }
        let mut context = TaskContext {
            task: self.timing.task,
            instance: self.base + self.cursor.instance,
            epoch: self.epoch,
            planned: record.planned - self.epoch,
            deadline: record.deadline - self.epoch,
            inputs: &mut self.inputs,
            outputs: &mut self.outputs,
            sources: &mut self.sources,
            targets: &mut self.targets,
            clock,
            watch: &self.watch,
        };
        (self.body)(&mut context);
    }

    /// Releases what was taken, stamps, polices.
    fn close(
        &mut self,
        meter: &mut Meter,
        mut record: StampRecord,
        stepped_in_body: Nanos,
        skipped: bool,
        next: &Cursor,
    ) {
        meter.end(&mut record);
        let wall = record.ended - record.started - stepped_in_body;
        let used = if record.cpu == Nanos::ZERO { wall } else { record.cpu };
        if !skipped {
            for port in &mut self.inputs {
                port.finish(next);
            }
            for port in &mut self.outputs {
                port.finish();
            }
            if used > self.timing.budget {
                self.overran = true;
                if self.policy == OverrunPolicy::Stop {
                    self.fail("a task with the overrun policy `stop` used more than its budget");
                }
            }
        }
        self.stamps.push(&record);
        self.metrics.count(&record, skipped, used, self.timing.budget);
        if !self.awaits {
            self.tally.publish(&self.metrics);
        }
    }
}
