//! The timer that ends the planned sleep: whether its interrupt was late, and what had the core until it came.

use super::wait::{FOR_WHOM, Wait};
use super::{Case, DEADLINE, Share};
use crate::record::{AWAKE_THREADS, ThreadKind};
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
        if self.context.log.lacks_records(stretch.from, stretch.to)
            && let Some(share) = self.evidence_lost(Stage::Wake, stretch.from, stretch.to, amount)
        {
            return share;
        }
        let why = match (watched, self.is_interrupted_before(stretch.to)) {
            (true, true) => {
                "an interrupt of a timer had come, so something else kept this thread from running"
            }
            (true, false) => {
                "no interrupt of a timer is recorded before the thread came: something held it before it slept, as a supervisor of its system calls \
                 does, or something else woke it, or the interrupt was not recorded"
            }
            (false, _) => {
                "no timer interrupt of this core is recorded (to watch them takes root), so nothing proves that the timer was late"
            }
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
        // One after the wake-up is not the one that brought it: that one was not recorded, and proves nothing. Nor does one where earlier
        // ones may have been lost, or one that found the thread on a core: a supervisor of its system calls had held it before it slept.
        let is_first = |at: &Nanos| !self.context.log.lacks_records(self.wake_due(), *at);
        let slept = |at: &Nanos| !self.context.log.has_come(self.thread, self.wake_due(), *at);
        first.filter(|at| *at <= self.record.woken && is_first(at) && slept(at) && self.came_with(*at))
    }

    /// Whether a timer interrupt came on the core after the wake-up was due and before the thread had it.
    fn is_interrupted_before(&self, until: Nanos) -> bool {
        let first = self.context.log.first_timer(self.core, self.priority >= DEADLINE, self.wake_due());
        first.is_some_and(|at| at <= until)
    }

    /// Until when the interrupt that ends the planned sleep was still to come, if that lies in this stretch. It was this one only if the
    /// thread came with it: one that was stopped, frozen or traced comes when it is let go.
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

    /// The core was another's until the interrupt of the timer came, which was late. Only the kernel can hold one up, and it does so in calls of
    /// threads too: the machine's is what came late while nothing ran that could have made such a call.
    pub(super) fn late_interrupt(
        &self,
        stretch: &Stretch,
        amount: Nanos,
        wait: &Wait<'_>,
        before: Option<&Share>,
    ) -> Share {
        let is_own = stretch.who.kind == ThreadKind::Task(u16::try_from(self.task).unwrap_or(u16::MAX));
        if is_own {
            return self.on_core(Stage::Wake, stretch.from, stretch.to, amount);
        }
        if self.had_to_wait(stretch) {
            return self.run_queue(Stage::Wake, stretch, amount, self.woken_late(stretch, wait), before);
        }
        let head = format!(
            "the timer of this wake-up was due at {}, and its interrupt came on core {} {} later; {} had the core until then",
            self.wake_due(),
            self.core,
            self.first_interrupt().unwrap_or(stretch.to) - self.wake_due(),
            stretch.who.describe()
        );
        if self.holds_up_nothing(stretch) {
            let sentence = format!("{head}, and nothing that it does there holds up an interrupt");
            return self.share(Stage::Wake, Cause::LateTimer, Blame::machine(), amount, sentence);
        }
        if stretch.who.kind == ThreadKind::Kernel && self.priority > 0 {
            let sentence = format!("{head}; {FOR_WHOM}");
            return self.share(Stage::Wake, Cause::KernelSection, Blame::machine(), amount, sentence);
        }
        if let Some(share) = self.behind_one_that_serves_signals(Stage::Wake, stretch, amount, &head) {
            return share;
        }
        let sentence = format!(
            "{head}: it may have kept interrupts off in a call, or the core stood still; what is not proven counts as the job's"
        );
        self.share(Stage::Wake, Cause::LateTimer, Blame::unproven(), amount, sentence)
    }

    /// Whether this thread, awake in time, would have had to wait for who had the core: that one ranks with it or above it, or is another task, off
    /// its plan.
    fn had_to_wait(&self, stretch: &Stretch) -> bool {
        match stretch.who.kind {
            ThreadKind::Foreign { priority } | ThreadKind::Own { priority } => {
                self.priority > 0 && priority >= self.priority
            }
            ThreadKind::Task(other) => {
                let (other, last) = (usize::from(other), stretch.to - Nanos(1));
                if self.context.index.unended(other).is_some_and(|(_, at)| at <= last) {
                    return true;
                }
                let found = self.context.index.running_at(other, last);
                self.on_its_way_to_sleep(other, stretch).is_none()
                    && found.is_some_and(|(place, _)| self.decide_other(other, place).is_some())
            }
            _ => false,
        }
    }

    /// Whether what had the core makes no call in which the kernel keeps interrupts off: the idle task, what keeps a core awake in its place, and
    /// a task that spins before its start or has ended and goes to sleep.
    fn holds_up_nothing(&self, stretch: &Stretch) -> bool {
        match stretch.who.kind {
            ThreadKind::Idle => !stretch.who.may_be_unseen(),
            ThreadKind::Own { .. } => self.context.keeps_awake && stretch.who.name.starts_with(AWAKE_THREADS),
            ThreadKind::Task(other) => {
                let other = usize::from(other);
                let found = self.context.index.running_at(other, stretch.from);
                self.on_its_way_to_sleep(other, stretch).is_some()
                    || found.is_some_and(|(_, record)| {
                        record.woken <= stretch.from && stretch.to <= record.started
                    })
            }
            _ => false,
        }
    }
}
