//! The timer that ends the planned sleep: whether its interrupt was late, and what had the core until it came.

use super::{Case, DEADLINE, Share};
use crate::record::ThreadKind;
use crate::verdict::occupancy::Stretch;
use crate::verdict::{Blame, Cause, Stage};
use leveret_types::Nanos;

/// From the interrupt of the timer to the thread on an idle core the kernel needs less than this, and nobody else
/// comes between.
pub(super) const WAY_OUT_OF_IDLE: Nanos = Nanos::from_micros(100);

fn total<'s>(stretches: impl Iterator<Item = &'s Stretch>) -> Nanos {
    stretches.fold(Nanos::ZERO, |total, stretch| total + stretch.length())
}

impl Case<'_> {
    /// The core was idle after the interrupt of the timer, or nobody knows when that came.
    pub(super) fn idle(&self, stretch: &Stretch, amount: Nanos, head: &str) -> Share {
        let watched = self.context.log.watches_timers(self.core);
        if let Some(share) = self.passed_over(Stage::Wake, stretch, amount, head) {
            return share;
        }
        if watched && self.idle_after_interrupt() <= WAY_OUT_OF_IDLE && !stretch.who.may_be_unseen() {
            let sentence = format!("{head}: it left its idle state no sooner");
            return self.share(Stage::Wake, Cause::LateTimer, Blame::machine(), amount, sentence);
        }
        let why = match watched {
            true => "the timer's interrupt had come, so something else kept this thread from running",
            false => "timer interrupts could not be watched, so nothing proves that the timer was late",
        };
        let sentence = format!("{head}: {why}; what is not proven counts as the job's");
        self.share(Stage::Wake, Cause::Unexplained, Blame::unproven(), amount, sentence)
    }

    /// How long the core was idle in all since the interrupt that ends the planned sleep. One way out of an idle state is short; a thread
    /// that others hold (frozen, traced) leaves many short stretches, and all of them together are not.
    fn idle_after_interrupt(&self) -> Nanos {
        let due = self.wake_due();
        let since = self.first_interrupt().map_or(due, |at| at.max(due));
        let stretches = self.context.log.stretches(self.core, self.thread, since, self.record.woken);
        total(stretches.iter().filter(|stretch| stretch.who.kind == ThreadKind::Idle))
    }

    /// The interrupt that brought the thread, as far as the log has it.
    fn first_interrupt(&self) -> Option<Nanos> {
        let first = self.context.log.first_timer(self.core, self.priority >= DEADLINE, self.wake_due());
        // One after the wake-up is not the one that brought it: that one was not recorded, and proves nothing.
        first.filter(|at| *at <= self.record.woken && self.came_with(*at))
    }

    /// Until when the interrupt that ends the planned sleep was still to come, if that lies in this stretch. No thread
    /// can hold up an interrupt. It was this one only if the thread came with it: one that was stopped, frozen or traced
    /// comes when it is let go.
    pub(super) fn interrupted_at(&self, stretch: &Stretch) -> Nanos {
        if stretch.from > self.wake_due() {
            return stretch.from;
        }
        self.first_interrupt().map_or(stretch.from, |at| at.min(stretch.to).max(stretch.from))
    }

    /// Whether the thread came to its core right after `at`, or had to wait from then on for the job's own tasks only.
    fn came_with(&self, at: Nanos) -> bool {
        let stretches = self.context.log.stretches(self.core, self.thread, at, self.record.woken);
        let others = stretches.iter().filter(|stretch| !matches!(stretch.who.kind, ThreadKind::Task(_)));
        total(others) <= WAY_OUT_OF_IDLE
    }

    pub(super) fn late_interrupt(&self, stretch: &Stretch, amount: Nanos) -> Share {
        let sentence = format!(
            "the timer of this wake-up was due at {}, and its interrupt came on core {} {} later; {} had the core until then, and no \
             thread can hold up an interrupt",
            self.wake_due(),
            self.core,
            stretch.to - self.wake_due(),
            stretch.who.describe()
        );
        self.share(Stage::Wake, Cause::LateTimer, Blame::machine(), amount, sentence)
    }
}
