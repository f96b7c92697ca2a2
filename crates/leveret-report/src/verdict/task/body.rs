//! From the wake-up on: time off the core by who took it, and time on it that was lost all the same.

use super::wait::FOR_WHOM;
use super::{Case, DEADLINE, GRAIN, Share};
use crate::format::plural;
use crate::record::{EventKind, Left, Outcome, ThreadKind};
use crate::verdict::occupancy::Stretch;
use crate::verdict::task::is_skipped;
use crate::verdict::{Blame, Cause, Party, Stage};
use leveret_types::Nanos;

/// Delays from here on are long against the distance of most kernels' ticks, 1 to 4 ms, or near it.
const INTERRUPTED_LEAST: Nanos = Nanos::from_millis(1);

/// Takes the shares in whose sum is no more than `amount`, and gives what is left of it. What others did comes first: the budget is for what
/// the body does itself, its sleep too.
fn apportion(found: Vec<Share>, amount: Nanos, shares: &mut Vec<Share>) -> Nanos {
    let (own, others): (Vec<Share>, Vec<Share>) =
        found.into_iter().partition(|share| share.blame.party == Party::Job);
    let mut left = amount;
    for mut share in others.into_iter().chain(own) {
        share.amount = share.amount.min(left);
        left = left - share.amount;
        if share.amount > Nanos::ZERO {
            shares.push(share);
        }
    }
    left
}

impl Case<'_> {
    /// Between wake-up and body.
    pub(super) fn start(&self, shares: &mut Vec<Share>) {
        let ready = self.record.woken.max(self.record.planned);
        if let Some(share) = self.after_last_before(Stage::Start, ready, self.record.started - ready) {
            shares.push(share);
            return;
        }
        let gap_end = self.record.gap_at + self.record.gap;
        let by_gap = self.record.gap > GRAIN && gap_end > ready && self.record.woken <= gap_end;
        // An instance that was left out began nothing; its spin ended when it was given up.
        let late = match is_skipped(self.record) {
            true if by_gap => gap_end - ready,
            _ => self.record.started - ready,
        };
        if late <= GRAIN {
            return;
        }
        // It did not spin then, but waited for the thread of the phase before.
        if self.record.outcome == Outcome::SkippedOverrun && !by_gap {
            shares.push(self.after_one_not_recorded(Stage::Start, late));
            return;
        }
        let (from, to) = if by_gap && self.record.gap >= Nanos(late.0 / 2) {
            (self.record.gap_at, gap_end)
        } else {
            (ready, self.record.started)
        };
        self.split(Stage::Start, from, to, late, shares);
    }

    /// The body.
    pub(super) fn execution(&self, shares: &mut Vec<Share>) {
        let wall = self.record.ended - self.record.started;
        let excess = wall - self.context.index.budget(self.task);
        if excess <= Nanos::ZERO || is_skipped(self.record) {
            return;
        }
        self.split(Stage::Execution, self.record.started, self.record.ended, excess, shares);
    }

    /// Cuts `amount` of delay within `[from, to]` into time off the core, by who had it, and time on it.
    fn split(&self, stage: Stage, from: Nanos, to: Nanos, amount: Nanos, shares: &mut Vec<Share>) {
        let stretches = match self.kept_its_core() {
            // Whatever the log of another core says.
            true => Vec::new(),
            false => {
                let whole = self.context.log.stretches(self.core, self.thread, from, to);
                whole.iter().flat_map(|stretch| self.by_wake_up(stretch)).collect()
            }
        };
        let (mut off, mut off_for) = (Vec::new(), Nanos::ZERO);
        let mut blocked = false;
        let mut known = false;
        // Whether the one that left at a stretch's begin was this thread: of another one's sleep nothing follows.
        let mut was_own = true;
        for stretch in &stretches {
            let own = stretch.who.thread == Some(self.thread)
                || stretch.who.kind == ThreadKind::Task(u16::try_from(self.task).unwrap_or(u16::MAX));
            // An unpinned thread that left this core may have had another meanwhile.
            let elsewhere = self.priority >= DEADLINE
                && self.context.log.has_a_core(self.thread, stretch.from + Nanos(stretch.length().0 / 2));
            let own = own || elsewhere;
            let head = || self.off(stretch);
            if let Some(share) = self.held(stage, stretch, stretch.length(), &head()) {
                known = true;
                was_own = own;
                off_for = off_for + stretch.length();
                off.push(share);
                continue;
            }
            if own || (stretch.who.kind == ThreadKind::Unknown && stretch.who.thread.is_none()) {
                (blocked, known, was_own) = (false, known || own, true);
                continue;
            }
            known = true;
            off_for = off_for + stretch.length();
            blocked = blocked
                || was_own && stretch.left.is_some_and(|left| left != Left::Runnable) && stretch.from > from;
            was_own = false;
            off.push(self.off_core(stage, stretch, stretch.length(), blocked));
        }
        let mut left = apportion(off, amount, shares);
        let off = self.off_by_clock(stage, to - from);
        if left > Nanos::ZERO && off > Nanos::ZERO && left == amount {
            let part = off.min(left);
            shares.push(self.off_by_clock_share(stage, part));
            left = left - part;
        }
        if left > Nanos::ZERO {
            if !known && !self.kept_its_core() {
                shares.push(self.unknown(stage, left));
            } else {
                shares.push(self.on_core_but(stage, (from, to), left, off_for));
            }
        }
    }

    /// Whether the thread was on one core from its wake-up to its end. The kernel's count does not see each time that a thread led step by step
    /// leaves; the log does.
    fn kept_its_core(&self) -> bool {
        let record = self.record;
        record.switches == 0 && !self.context.log.left_within(self.thread, record.woken, record.ended)
    }

    /// Time off the core by the thread's own clock, when the log shows none.
    fn off_by_clock(&self, stage: Stage, length: Nanos) -> Nanos {
        let measured = stage == Stage::Execution && self.record.cpu > Nanos::ZERO;
        if measured { (length - self.record.cpu).max(Nanos::ZERO) } else { Nanos::ZERO }
    }

    fn off_by_clock_share(&self, stage: Stage, part: Nanos) -> Share {
        if !self.kept_its_core()
            && let Some(share) = self.evidence_lost(stage, self.record.started, self.record.ended, part)
        {
            return share;
        }
        let (from, to) = (self.record.started, self.record.ended);
        if self.kept_its_core()
            && let Some(share) = self.core_went_on(stage, from, to, part)
        {
            return share;
        }
        if self.kept_its_core() {
            let sentence = format!(
                "{part} of the body were not charged to the thread though it was never switched out: stolen from the core"
            );
            return self.share(stage, Cause::StallInExecution, Blame::machine(), part, sentence);
        }
        let sentence = format!(
            "the thread's own clock misses {part} of the body and it was switched in {} times; who ran meanwhile is not \
             in the log{}",
            known_count(self.record.switches),
            self.coarse()
        );
        self.share(stage, Cause::RunQueueWait, Blame::unproven(), part, sentence)
    }

    fn unknown(&self, stage: Stage, amount: Nanos) -> Share {
        if let Some(fault) = self.faults(self.record.woken, self.record.ended) {
            return self.share(
                stage,
                Cause::PageFault,
                Blame::job(),
                amount,
                format!("{amount} lost, with {fault}"),
            );
        }
        if let Some(share) = self.evidence_lost(stage, self.record.woken, self.record.ended, amount) {
            return share;
        }
        let sentence = format!(
            "{amount} lost and nothing proves that the thread kept core {}: switches {}{}",
            self.core,
            known_count(self.record.switches),
            self.coarse()
        );
        self.share(stage, Cause::Unexplained, Blame::unproven(), amount, sentence)
    }

    fn off(&self, stretch: &Stretch) -> String {
        format!(
            "off core {} for {} from {} while {} had it{}",
            self.core,
            stretch.length(),
            stretch.from,
            stretch.who.describe(),
            self.coarse()
        )
    }

    /// Somebody else had the core after we were woken.
    fn off_core(&self, stage: Stage, stretch: &Stretch, part: Nanos, blocked: bool) -> Share {
        let head = self.off(stretch);
        if blocked && self.wants_a_core(stretch) != Some(true) {
            let middle = stretch.from + Nanos(stretch.length().0 / 2);
            // Where no signal reaches it, it may have been frozen too.
            let absence = self.context.log.absence(self.thread, middle);
            let (why, blame) = match absence {
                Some((_, Left::Uninterruptible)) => (
                    "the body waits where no signal reaches it: for a page, a file, a child that begins, or frozen by its control group",
                    Blame::unproven(),
                ),
                _ => (
                    "the thread went to sleep by itself (a blocking call or a lock in the body)",
                    Blame::job(),
                ),
            };
            return self.share(stage, Cause::Blocked, blame, part, format!("{head}: {why}"));
        }
        if let Some(share) = self.out_of_quota(stage, stretch, part, &head) {
            return share;
        }
        if let Some(share) = self.passed_over(stage, stretch, part, &head) {
            return share;
        }
        match stretch.who.kind {
            ThreadKind::Kernel if self.priority > 0 => {
                let sentence = format!("{head}, and this one ({}) waited; {FOR_WHOM}", self.rank());
                self.share(stage, Cause::KernelSection, Blame::machine(), part, sentence)
            }
            ThreadKind::Idle if stretch.who.may_be_unseen() => {
                let sentence = format!(
                    "{head} though this thread was ready: the kernel left the core idle, or a more urgent thread outside had it; what is not proven counts \
                     as the job's"
                );
                self.share(stage, Cause::RunQueueWait, Blame::unproven(), part, sentence)
            }
            // Nothing in the log says why.
            ThreadKind::Idle if self.priority > 0 => {
                let why = match self.priority >= DEADLINE {
                    true => {
                        "a thread with SCHED_DEADLINE waits so for its next period when its budget is used up, or when it calls sched_yield"
                    }
                    false => "the kernel's limit on real-time time leaves a core so, among other things",
                };
                let sentence = format!(
                    "{head} though this thread was ready: {why}; what is not proven counts as the job's"
                );
                self.share(stage, Cause::Throttled, Blame::unproven(), part, sentence)
            }
            ThreadKind::Idle => {
                let sentence = format!(
                    "{head} though this thread was ready; why is not known, so it counts as the job's"
                );
                self.share(stage, Cause::Unexplained, Blame::unproven(), part, sentence)
            }
            _ => self.run_queue(stage, stretch, part, head, None),
        }
    }

    /// The thread had the core all the time and yet lost `amount` within `[from, to]`.
    pub(super) fn on_core(&self, stage: Stage, from: Nanos, to: Nanos, amount: Nanos) -> Share {
        self.on_core_but(stage, (from, to), amount, Nanos::ZERO)
    }

    /// The same, where it was off the core for `off_for` of the time.
    fn on_core_but(&self, stage: Stage, (from, to): (Nanos, Nanos), amount: Nanos, off_for: Nanos) -> Share {
        if let Some(fault) = self.faults(from, to) {
            let sentence = format!("{amount} lost between {from} and {to} with {fault}");
            return self.share(stage, Cause::PageFault, Blame::job(), amount, sentence);
        }
        if stage != Stage::Execution {
            let known = self.served_a_storm(stage, from, to, amount);
            if let Some(share) = known.or_else(|| self.evidence_lost(stage, from, to, amount)) {
                return share;
            }
        }
        if stage == Stage::Wake {
            return self.on_core_before_waking(from, to, amount);
        }
        if stage != Stage::Execution {
            let served = self.served_signals(stage, from, to, amount);
            if let Some(share) = served.or_else(|| self.core_went_on(stage, from, to, amount)) {
                return share;
            }
            let sentence = format!(
                "the thread had core {} from {from} to {to} and only read the clock, yet {} passed between two readings; \
                 no switch, no fault{}",
                self.core,
                to - from,
                self.coarse()
            );
            return self.share(stage, Cause::StallInSpin, Blame::machine(), amount, sentence);
        }
        let on_for = to - from - off_for;
        let body = if self.record.cpu > Nanos::ZERO { self.record.cpu } else { on_for };
        let budget = self.context.index.budget(self.task);
        let judgement = self.context.stalls.judge(self.task, self.core, body, budget);
        let kept = match off_for > Nanos::ZERO {
            true => format!("on the core for {on_for} of it"),
            false => "on the core throughout".to_owned(),
        };
        let head = format!("executed for {} with a budget of {budget}, {kept}, no fault", to - from);
        if let Some(storm) = self.storm_in_body(from, to, amount) {
            return self.stormed(stage, &storm, amount, &head);
        }
        if let Some(interrupts) = self.interrupted(from, to, amount) {
            let sentence = format!("{head}: {interrupts}");
            return self.share(stage, Cause::Overrun, Blame::job(), amount, sentence);
        }
        if judgement.machine && judgement.beyond >= amount {
            // Statistics make a stall likely or not; they prove none.
            let sentence =
                format!("{head}: {}; that proves no stall, so it counts as the job's", judgement.sentence);
            return self.share(stage, Cause::Overrun, Blame::unproven(), amount, sentence);
        }
        let policed = self.context.phase().events.iter().any(|event| {
            matches!(event.kind, EventKind::Overrun { task, instance }
                if usize::from(task) == self.task && instance == self.record.instance)
        });
        let policed = if policed { "; its overrun was policed" } else { "" };
        let sentence = format!("{head}: {}{policed}", judgement.sentence);
        if self.context.log.lacks_records(from, to) {
            let sentence = format!(
                "{sentence}; records of the kernel's log are missing there, so it counts as the job's, unproven"
            );
            return self.share(stage, Cause::Overrun, Blame::unproven(), amount, sentence);
        }
        self.share(stage, Cause::Overrun, Blame::job(), amount, sentence)
    }

    /// The share of a stall within `[from, to]`, of which only the member's own stamps speak, and which the core did not have.
    pub(super) fn core_went_on(&self, stage: Stage, from: Nanos, to: Nanos, amount: Nanos) -> Option<Share> {
        let interrupts = self.interrupts(from, to, amount.min(to - from))?;
        let sentence = format!(
            "by the stamps of its member the thread had core {} from {from} to {to} and lost {amount} there, but {interrupts}; what is not proven \
             counts as the job's",
            self.core
        );
        Some(self.share(stage, Cause::Unexplained, Blame::unproven(), amount, sentence))
    }

    /// As [`Self::interrupts`], of a body.
    fn interrupted(&self, from: Nanos, to: Nanos, amount: Nanos) -> Option<String> {
        // A shorter delay lies between two ticks.
        if amount < INTERRUPTED_LEAST { None } else { self.interrupts(from, to, amount) }
    }

    /// Timer interrupts that came while the thread was on its core, in words, if they leave no room for a stall of the
    /// length to be explained: a core that stands still takes none. Nothing follows from their absence: where the kernel
    /// runs without a tick, none come while one thread computes.
    fn interrupts(&self, from: Nanos, to: Nanos, amount: Nanos) -> Option<String> {
        // The core of a `SCHED_DEADLINE` thread is not the planned one.
        if self.priority >= DEADLINE {
            return None;
        }
        let instants = self.context.log.timers(self.core, from, to);
        let starts = std::iter::once(&from).chain(instants);
        let longest = starts.zip(instants.iter().chain([&to])).map(|(start, end)| *end - *start).max()?;
        // Two stalls in one body, each shorter, would be a strange coincidence.
        (longest.0 < amount.0 / 5 * 4).then(|| {
            let came = plural(instants.len() as u64, "timer interrupt", "timer interrupts");
            format!(
                "{came} came on core {} meanwhile, never more than {longest} apart, so it did not stand still for {amount}",
                self.core
            )
        })
    }

    /// Page faults of this task in `[from, to]`, in words.
    fn faults(&self, from: Nanos, to: Nanos) -> Option<String> {
        let mut within = 0_u64;
        let (mut elsewhere, mut first) = (0_u32, None);
        // The count covers at most the time from the wake-up before to the wake-up after.
        let instances = self.context.phase().tasks.get(self.task).map_or(&[][..], |tasks| &tasks.instances);
        let previous = self.place.checked_sub(1).and_then(|place| instances.get(place));
        let since = previous.map_or(Nanos(i64::MIN), |record| record.woken);
        let until = instances.get(self.place + 1).map_or(Nanos::MAX, |record| record.woken);
        for event in &self.context.phase().events {
            let EventKind::PageFault { task, address } = event.kind else { continue };
            if usize::from(task) != self.task {
                continue;
            }
            if event.at >= from && event.at <= to {
                within += 1;
                first = first.or(Some(address));
            } else if event.at >= since && event.at <= until {
                elsewhere = elsewhere.saturating_add(1);
            }
        }
        if let Some(address) = first {
            return Some(format!(
                "{}, the first at address {address:#x}",
                plural(within, "page fault", "page faults")
            ));
        }
        let counted = if self.record.faults == u32::MAX { 0 } else { self.record.faults };
        let unplaced = counted.saturating_sub(elsewhere);
        (unplaced > 0).then(|| {
            let faults = plural(u64::from(unplaced), "page fault", "page faults");
            format!("{faults} counted about this instance (addresses not logged)")
        })
    }
}

fn known_count(count: u32) -> String {
    if count == u32::MAX { "unknown".to_owned() } else { count.to_string() }
}
