//! Before the wake-up: who had the core while the instance should have been woken, or took it from a body.

use super::timer::WAY_OUT_OF_IDLE;
use super::{Case, DEADLINE, GRAIN, Share, decide_instance, missed, unended};
use crate::format::plural;
use crate::record::{Event, EventKind, InstanceRecord, Outcome, ThreadKind};
use crate::verdict::occupancy::{Stretch, rank};
use crate::verdict::{Blame, Cause, LastBefore, Root, Stage};
use leveret_types::Nanos;

/// What the log cannot say of a thread of the kernel.
pub(super) const FOR_WHOM: &str = "that is the kernel's own work, whoever asked for it";

/// Of which wait a share is a part.
pub(super) struct Wait<'s> {
    /// For how long without a pause whoever had the core then had it; a share may be of a part of that only.
    pub(super) whole: &'s Stretch,
    /// By how much later than planned the thread was woken.
    pub(super) late: Nanos,
}

/// As in `run-queue wait (hog, pid 812)`.
fn by_whom(blame: &Blame) -> String {
    blame.culprit.as_ref().map_or_else(String::new, |culprit| format!(" ({culprit})"))
}

impl Case<'_> {
    pub(super) fn wake(&self, shares: &mut Vec<Share>) {
        let late = self.record.woken - self.record.planned;
        let skipped = self.record.outcome == Outcome::SkippedOverrun;
        if late <= GRAIN && !skipped {
            return;
        }
        let amount = late.max(Nanos(1));
        let due = self.wake_due();
        if let Some(share) = self.after_last_before(Stage::Wake, due, amount) {
            shares.push(share);
            return;
        }
        let previous = self.place.checked_sub(1).and_then(|place| {
            let instances = &self.context.phase().tasks.get(self.task)?.instances;
            instances.get(place).map(|record| (place, record))
        });
        if let Some((place, previous)) = previous
            && previous.ended > due
            && let Some(root) = self.decide_other(self.task, place)
        {
            shares.push(self.after_previous(Stage::Wake, root, (previous.instance, previous.ended), amount));
            return;
        }
        if skipped && previous.is_none() {
            shares.push(self.after_one_not_recorded(Stage::Wake, amount));
            return;
        }
        self.woken_behind(shares, late, amount);
    }

    /// Who had the core from when the thread should have been woken until it was.
    fn woken_behind(&self, shares: &mut Vec<Share>, late: Nanos, amount: Nanos) {
        let due = self.wake_due();
        // What held up one that was lost already did not make it late.
        let until = match missed(self.record) {
            true => self.record.woken.min(self.too_late().max(self.record.planned)),
            false => self.record.woken,
        };
        let stretches = self.context.log.stretches(self.core, self.thread, due, self.record.woken);
        let whole = (until - due).0.max(1);
        let mut before: Option<Share> = None;
        for whole_stretch in stretches.iter().filter(|stretch| stretch.from < until) {
            for stretch in self.parts(whole_stretch).into_iter().filter(|stretch| stretch.from < until) {
                let part_of = |from: Nanos, to: Nanos| {
                    let length = (to.min(until) - from).max(Nanos::ZERO);
                    let part = i128::from(length.0) * i128::from(amount.0) / i128::from(whole);
                    Nanos(i64::try_from(part).unwrap_or(i64::MAX))
                };
                let wait = Wait { whole: whole_stretch, late };
                let part = part_of(stretch.from, stretch.to);
                if let Some(share) = self.held(Stage::Wake, &stretch, part, &self.woken_late(&stretch, &wait))
                {
                    before = Some(share.clone());
                    shares.push(share);
                    continue;
                }
                let interrupted = self.interrupted_at(&stretch);
                let parts = [(stretch.from, interrupted, true), (interrupted, stretch.to, false)];
                for (from, to, early) in parts.into_iter().filter(|(from, to, _)| to > from && *from < until)
                {
                    let part = part_of(from, to);
                    let stretch = Stretch { from, to, ..stretch.clone() };
                    let share = match early {
                        true => self.late_interrupt(&stretch, part, &wait, before.as_ref()),
                        false => self.waiting(&stretch, part, &wait, before.as_ref()),
                    };
                    before = Some(share.clone());
                    shares.push(share);
                }
            }
        }
    }

    /// The share of an instance that waited from `ready` on, of a task that goes on from the phase before, for the end of its last one there.
    pub(super) fn after_last_before(&self, stage: Stage, ready: Nanos, amount: Nanos) -> Option<Share> {
        let LastBefore { instance, ended, decided } = self.context.last_before(self.task)?;
        let root = decided.filter(|_| ended > ready)?;
        Some(self.after_previous(stage, root, (instance, ended), amount))
    }

    pub(super) fn after_one_not_recorded(&self, stage: Stage, amount: Nanos) -> Share {
        let sentence = "the instance before it overran (it was not recorded)".to_owned();
        self.share(stage, Cause::Overrun, Blame::job(), amount, sentence)
    }

    /// The instance before had not ended: its root is this one's too.
    fn after_previous(
        &self,
        stage: Stage,
        root: Root,
        (instance, ended): (u64, Nanos),
        amount: Nanos,
    ) -> Share {
        let name = self.context.index.task_name(self.task);
        let sentence = format!(
            "instance {instance} of {name} ended at {ended}, this one's wake-up was due at {}; its delay: {}{}",
            self.wake_due(),
            root.cause,
            by_whom(&root.blame),
        );
        let share = self.share(stage, Cause::PreviousInstance, root.blame.clone(), amount, sentence);
        Share { root: Some(root), ..share }
    }

    /// The root of another instance's delay; `None` when it kept its plan or the chain is too long.
    pub(super) fn decide_other(&self, task: usize, place: usize) -> Option<Root> {
        decide_instance(self.context, task, place, self.depth + 1)
    }

    /// The claim is of all the time that the thread had the core; it says so where the share is of a part.
    pub(super) fn woken_late(&self, stretch: &Stretch, wait: &Wait<'_>) -> String {
        // The way of the interrupt is too short to be told.
        let part = match wait.whole.length() - stretch.length() <= WAY_OUT_OF_IDLE {
            true => String::new(),
            false => format!(" (here of {} of it, from {} on)", stretch.length(), stretch.from),
        };
        format!(
            "woken {} after the planned start; {} had core {} for {} of the wait{part}{}",
            wait.late,
            stretch.who.describe(),
            self.core,
            wait.whole.length(),
            self.coarse()
        )
    }

    /// Who had the core while we should have been woken.
    fn waiting(&self, stretch: &Stretch, amount: Nanos, wait: &Wait<'_>, before: Option<&Share>) -> Share {
        let head = self.woken_late(stretch, wait);
        if let Some(share) = self.out_of_quota(Stage::Wake, stretch, amount, &head) {
            return share;
        }
        if let Some(share) = self.behind_one_that_serves_signals(Stage::Wake, stretch, amount, &head) {
            return share;
        }
        if stretch.who.kind != ThreadKind::Idle && self.wants_a_core(stretch) == Some(false) {
            let sentence = format!(
                "{head}: but this thread was not put on the core's queue then, so it waited for something else (frozen, or held in the \
                 kernel); what is not proven counts as the job's"
            );
            return self.share(Stage::Wake, Cause::Unexplained, Blame::unproven(), amount, sentence);
        }
        match stretch.who.kind {
            ThreadKind::Idle => self.idle(stretch, amount, &head),
            ThreadKind::Task(task) if usize::from(task) == self.task => {
                self.on_core(Stage::Wake, stretch.from, stretch.to, amount)
            }
            ThreadKind::Kernel if self.priority > 0 => {
                let sentence = format!("{head}, while this one ({}) waited; {FOR_WHOM}", self.rank());
                self.share(Stage::Wake, Cause::KernelSection, Blame::machine(), amount, sentence)
            }
            ThreadKind::Unknown if !self.context.log.whole_core && stretch.who.known().is_none() => {
                let sentence = format!(
                    "woken {} after the planned start; who had core {} for {} of the wait, if anybody, is not known{}: this thread waited for it, \
                     or was held (frozen, by a debugger, in the kernel); what is not proven counts as the job's",
                    wait.late,
                    self.core,
                    wait.whole.length(),
                    self.coarse()
                );
                self.share(Stage::Wake, Cause::Unexplained, Blame::unproven(), amount, sentence)
            }
            _ => {
                let passed_over = self.passed_over(Stage::Wake, stretch, amount, &head);
                passed_over.unwrap_or_else(|| self.run_queue(Stage::Wake, stretch, amount, head, before))
            }
        }
    }

    /// The share of a stretch in which the kernel passed over this `SCHED_DEADLINE` thread for what ranks below it, as it does when the runtime of
    /// the thread's server is used up.
    pub(super) fn passed_over(
        &self,
        stage: Stage,
        stretch: &Stretch,
        amount: Nanos,
        head: &str,
    ) -> Option<Share> {
        let (below, is_idle) = match stretch.who.kind {
            ThreadKind::Idle => (!stretch.who.may_be_unseen(), true),
            ThreadKind::Foreign { priority } | ThreadKind::Own { priority } => (priority < DEADLINE, false),
            _ => (false, false),
        };
        if self.priority < DEADLINE || !below {
            return None;
        }
        let overrun = self.overrun();
        let led = overrun.map_or_else(|| self.led_until(stretch), |overrun| self.led_through(overrun));
        if let Some(at) = led {
            let head = format!("{head}: the runtime of its server was used up step by step");
            return Some(self.traced(stage, at, amount, &head));
        }
        if let Some(overrun) = overrun {
            return Some(self.throttled(stage, overrun, amount, head));
        }
        if let Some(storm) = self.storm(self.wake_due(), stretch.to).filter(|_| stage == Stage::Wake) {
            let head =
                format!("{head}: the runtime of its server was used up by what the kernel did for signals");
            return Some(self.stormed(stage, &storm, amount, &head));
        }
        let sentence = format!(
            "{head}, which ranks below this thread: the runtime of this thread's server was used up though no body exceeded its budget, or the \
             kernel gave way to its fair server; what is not proven counts as the job's"
        );
        // An idle core may be on its way out of an idle state.
        (!is_idle).then(|| self.share(stage, Cause::Throttled, Blame::unproven(), amount, sentence))
    }

    /// The last of this instance and those just before it that took longer than its budget.
    fn overrun(&self) -> Option<&InstanceRecord> {
        const BEFORE: usize = 16;
        let budget = self.context.index.budget(self.task);
        let instances = self.context.phase().tasks.get(self.task).map_or(&[][..], |tasks| &tasks.instances);
        let recent = instances.get(self.place.saturating_sub(BEFORE)..=self.place).unwrap_or_default();
        recent.iter().rev().find(|record| {
            let off = self.context.log.time_off(self.thread, record.started, record.ended);
            let ran = if record.cpu > Nanos::ZERO { record.cpu } else { record.ended - record.started - off };
            ran > budget
        })
    }

    fn faults_of(&self, record: &InstanceRecord) -> u64 {
        let own = |event: &&Event| {
            let of_task =
                matches!(event.kind, EventKind::PageFault { task, .. } if usize::from(task) == self.task);
            of_task && event.at >= record.woken && event.at <= record.ended
        };
        let logged = self.context.phase().events.iter().filter(own).count() as u64;
        if record.faults == u32::MAX { logged } else { logged.max(record.faults.into()) }
    }

    fn throttled(&self, stage: Stage, overrun: &InstanceRecord, amount: Nanos, head: &str) -> Share {
        let (cause, with) = match self.faults_of(overrun) {
            0 => (Cause::Throttled, String::new()),
            faults => (Cause::PageFault, format!(" with {}", plural(faults, "page fault", "page faults"))),
        };
        let sentence = format!(
            "{head}: the kernel keeps a SCHED_DEADLINE thread from running when its budget of {} is used up, and the body of instance {} \
             took longer than that{with}",
            self.context.index.budget(self.task),
            overrun.instance
        );
        self.share(stage, cause, Blame::job(), amount, sentence)
    }

    pub(super) fn rank(&self) -> String {
        rank(self.priority)
    }

    /// A wait behind a thread that is not of the job.
    fn behind_foreign(&self, stage: Stage, stretch: &Stretch, amount: Nanos, head: &str) -> Share {
        let process = || Blame::process(stretch.who.culprit("preempted"));
        let (why, blame) = match stretch.who.kind {
            ThreadKind::Foreign { priority: 0 } if self.priority == 0 => {
                // Who raises itself and drops again shows neither.
                (
                    "both had ordinary scheduling when it came and when it left: they take turns, or it was raised in between",
                    process(),
                )
            }
            ThreadKind::Foreign { priority: 0 } => (
                "it had ordinary scheduling when it came and when it left: the fair server let it run, or it was raised in between",
                process(),
            ),
            ThreadKind::Foreign { priority } if priority < self.priority => (
                "it ranks below this thread as far as the log shows, and had the core all the same",
                process(),
            ),
            ThreadKind::Foreign { .. } => ("it goes before this thread", process()),
            // The kernel would have let this thread go first. The whole machine may have stood still just then.
            ThreadKind::Own { priority } if priority < self.priority => (
                "a thread of the job itself, which ranked below this one when it came and when it left; that it was raised in between, or what else \
                 kept this one from going first, is not proven, so it counts as the job's",
                Blame::unproven(),
            ),
            ThreadKind::Own { .. } => {
                ("a thread of the job itself", Blame::job_by(stretch.who.culprit("preempted")))
            }
            _ => ("who it was, or for whom, is not proven, so it counts as the job's", Blame::unproven()),
        };
        let sentence = format!("run-queue wait behind {}: {head}; {why}", stretch.who.describe());
        self.share(stage, Cause::RunQueueWait, blame, amount, sentence)
    }

    /// The instance of another task that had ended when that task's thread, which has the core in this stretch, was on its way to sleep.
    pub(super) fn on_its_way_to_sleep(&self, other: usize, stretch: &Stretch) -> Option<&InstanceRecord> {
        let index = &self.context.index;
        if index.unended(other).is_some_and(|(_, at)| at <= stretch.to) {
            return None;
        }
        let (_, record) = index.running_at(other, stretch.from)?;
        let until = index.idle_until(other, record.instance);
        let middle = stretch.from + Nanos(stretch.length().0 / 2);
        (record.ended <= stretch.from && until >= middle).then_some(record)
    }

    /// A wait behind a thread that may go before us; a task of the job passes on who delayed it. `before` is what
    /// had held us up until then.
    pub(super) fn run_queue(
        &self,
        stage: Stage,
        stretch: &Stretch,
        amount: Nanos,
        head: String,
        before: Option<&Share>,
    ) -> Share {
        if stretch.who.kind == ThreadKind::Unknown
            && let Some(share) = self.evidence_lost(stage, stretch.from, stretch.to, amount)
        {
            return share;
        }
        if let Some(share) = self.behind_one_that_serves_signals(stage, stretch, amount, &head) {
            return share;
        }
        let ThreadKind::Task(other) = stretch.who.kind else {
            return self.behind_foreign(stage, stretch, amount, &head);
        };
        let other = usize::from(other);
        let name = self.context.index.task_name(other);
        let index = &self.context.index;
        if let Some((root, at)) = unended(self.context, other).filter(|(_, at)| *at < stretch.to) {
            let sentence = format!(
                "run-queue wait behind the job's own {name}, whose instance {} began at {at} and never ended; {head}",
                root.instance
            );
            let share = self.share(stage, Cause::RunQueueWait, root.blame.clone(), amount, sentence);
            return Share { root: Some(root), ..share };
        }
        if let Some(record) = self.on_its_way_to_sleep(other, stretch) {
            let sentence = format!(
                "{head}: its instance {} had ended at {}, and it was on its way to sleep; what held it there is not proven",
                record.instance, record.ended
            );
            return self.share(stage, Cause::Unexplained, Blame::unproven(), amount, sentence);
        }
        let last = stretch.to.max(stretch.from + Nanos(1)) - Nanos(1);
        let found = index.running_at(other, last);
        let chained = found.and_then(|(place, record)| Some((self.decide_other(other, place)?, record)));
        if let Some((root, record)) = chained {
            let sentence = format!(
                "run-queue wait behind the job's own {name}, instance {}, which was itself off its plan by: {}{}; {head}",
                record.instance,
                root.cause,
                by_whom(&root.blame)
            );
            let share = self.share(stage, Cause::RunQueueWait, root.blame.clone(), amount, sentence);
            return Share { root: Some(root), ..share };
        }
        match before {
            Some(before) => {
                let sentence = format!(
                    "run-queue wait behind the job's own {name}, which kept its plan: what had held us up until then put us \
                     into its time ({}); {head}",
                    before.root.as_ref().map_or(before.cause, |root| root.cause)
                );
                let share = self.share(stage, Cause::RunQueueWait, before.blame.clone(), amount, sentence);
                Share { root: before.root.clone(), ..share }
            }
            None => {
                let sentence =
                    format!("run-queue wait behind the job's own {name}, which kept its plan: {head}");
                self.share(stage, Cause::RunQueueWait, Blame::job(), amount, sentence)
            }
        }
    }
}
