//! A clock that tests move: every reading costs a little, sleeping jumps, and lateness, stalls and steps are planted.

use leveret_memory::sync::{AtomicI64, Ordering};
use leveret_types::{Clock, Nanos, TimeInterval};

/// What a reading costs, so that a spin ends.
const READING: i64 = 50;

/// Virtual time of one task. Clones of a job's tasks each have their own; what they exchange is ordered by the plan.
#[derive(Debug, Default)]
pub struct VirtualClock {
    now: AtomicI64,
    /// How far the clock was stepped; the tick counter does not show it.
    stepped: AtomicI64,
    wake_lateness: AtomicI64,
    /// Readings until what is planted happens; 0 when nothing is.
    readings_left: AtomicI64,
    planted_stall: AtomicI64,
    planted_step: AtomicI64,
}

impl VirtualClock {
    /// A clock at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Time passes, as in a body that computes.
    pub fn advance(&self, by: Nanos) {
        self.now.fetch_add(by.0, Ordering::AcqRel);
    }

    /// Somebody sets the clock: it moves, but no time passes.
    pub fn step(&self, by: Nanos) {
        self.stepped.fetch_add(by.0, Ordering::AcqRel);
    }

    /// The next sleep ends this much late.
    pub fn delay_next_wake(&self, by: Nanos) {
        self.wake_lateness.store(by.0, Ordering::Release);
    }

    /// The next reading finds that this much has passed: a stall of the core.
    pub fn stall_next_reading(&self, by: Nanos) {
        self.stall_at_reading(1, by);
    }

    /// The `count`-th reading from now finds that this much has passed. A task reads before its sleep, after it, and
    /// then spins, so its third reading is the first of the spin.
    pub fn stall_at_reading(&self, count: u32, by: Nanos) {
        self.planted_stall.store(by.0, Ordering::Release);
        self.planted_step.store(0, Ordering::Release);
        self.readings_left.store(count.into(), Ordering::Release);
    }

    /// Before the `count`-th reading from now somebody sets the clock.
    pub fn step_at_reading(&self, count: u32, by: Nanos) {
        self.planted_stall.store(0, Ordering::Release);
        self.planted_step.store(by.0, Ordering::Release);
        self.readings_left.store(count.into(), Ordering::Release);
    }

    fn happen(&self) {
        let left = self.readings_left.load(Ordering::Acquire);
        if left > 0 {
            self.readings_left.store(left - 1, Ordering::Release);
        }
        if left == 1 {
            self.advance(Nanos(self.planted_stall.load(Ordering::Acquire)));
            self.step(Nanos(self.planted_step.load(Ordering::Acquire)));
        }
    }

    /// The clock as it stands, at no cost.
    pub fn peek(&self) -> Nanos {
        Nanos(self.now.load(Ordering::Acquire) + self.stepped.load(Ordering::Acquire))
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> TimeInterval {
        self.happen();
        self.now.fetch_add(READING, Ordering::AcqRel);
        TimeInterval::exact(self.peek())
    }

    fn sleep_until(&self, instant: Nanos) {
        let late = self.wake_lateness.swap(0, Ordering::AcqRel);
        let wake = instant.0 + late - self.stepped.load(Ordering::Acquire);
        self.now.fetch_max(wake, Ordering::AcqRel);
    }

    fn ticks(&self) -> Option<Nanos> {
        Some(Nanos(self.now.load(Ordering::Acquire)))
    }
}
