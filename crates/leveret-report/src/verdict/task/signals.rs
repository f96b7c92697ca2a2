//! The thread had its core and did not get to its body: on its way out of the planned sleep the kernel serves signals, in whatever number they come.

use super::held::{blame, by};
use super::{Case, Share};
use crate::record::{Actor, EventKind, ThreadKind};
use crate::verdict::{Blame, Cause, Stage};
use leveret_types::Nanos;

/// Whoever stops a thread, and lets it go on, often enough to keep it from its body does both more often than this in a wait.
const OFTEN: usize = 4;

/// Who stopped a member and let it go on again and again.
pub(super) struct Storm<'a> {
    by: &'a Actor,
    /// When it was first seen to send a signal that stops.
    since: Nanos,
    /// How often it put the thread on its core's queue.
    times: usize,
}

impl Case<'_> {
    /// Who stopped the member and let it go on again and again within `[from, to]`: each stop, and each going on, puts the thread on a queue, in
    /// a call of the one that sends it.
    pub(super) fn storm(&self, from: Nanos, to: Nanos) -> Option<Storm<'_>> {
        let member = self.context.index.member(self.task);
        let task = u16::try_from(self.task).ok()?;
        let events = &self.context.phase().events;
        let woken_by = |thread: u32| {
            let is_it = |kind: &EventKind| matches!(kind, EventKind::Woken { task: of, by, .. } if *of == task && *by == Some(thread));
            events.iter().filter(|event| event.at >= from && event.at <= to && is_it(&event.kind)).count()
        };
        events.iter().filter(|event| event.at <= to).find_map(|event| match &event.kind {
            EventKind::StopSent { member: of, by, .. } if Some(*of) == member => {
                let times = woken_by(by.thread);
                (times > OFTEN).then_some(Storm { by, since: event.at, times })
            }
            _ => None,
        })
    }

    /// The thread had its core within `[from, to]`, awake and with nothing to do but to read the clock, and somebody's calls put it on a queue there:
    /// for signals.
    pub(super) fn served_signals(
        &self,
        stage: Stage,
        from: Nanos,
        to: Nanos,
        amount: Nanos,
    ) -> Option<Share> {
        let head = format!("the thread had core {} from {from} to {to} and only read the clock", self.core);
        if let Some(storm) = self.storm(from, to) {
            return Some(self.stormed(stage, &storm, amount, &head));
        }
        let by = self.called_within(from, to)?;
        let by = self.context.log.occupant(by).describe();
        let sentence = format!(
            "{head}: a call of {by} put it on its core's queue, as for a signal; what is not proven counts as the job's"
        );
        Some(self.share(stage, Cause::Unexplained, Blame::unproven(), amount, sentence))
    }

    /// Such a storm within a body that was on its core, when no stretch of it without a signal is as long as most of what is to be explained: that
    /// the body itself computed for so long is not to be seen then, and that the kernel served signals is.
    pub(super) fn storm_in_body(&self, from: Nanos, to: Nanos, amount: Nanos) -> Option<Storm<'_>> {
        let storm = self.storm(from, to)?;
        let task = u16::try_from(self.task).ok()?;
        let is_put = |kind: &EventKind| matches!(kind, EventKind::Woken { task: of, by, .. } if *of == task && *by == Some(storm.by.thread));
        let events = self.context.phase().events.iter();
        let puts = events.filter(|event| event.at >= from && event.at <= to && is_put(&event.kind));
        let instants: Vec<Nanos> = [from].into_iter().chain(puts.map(|event| event.at)).chain([to]).collect();
        let longest = instants.windows(2).map(|pair| pair[1] - pair[0]).max()?;
        (longest.0 < amount.0 / 5 * 4).then_some(storm)
    }

    /// The share of such a storm.
    pub(super) fn stormed(&self, stage: Stage, storm: &Storm<'_>, amount: Nanos, head: &str) -> Share {
        let sentence = format!(
            "{head}: it was stopped by signals and let go on again and again, {} (it put the thread on its core's queue {} times meanwhile, and \
             stopped the member first at {})",
            by(Some(storm.by)),
            storm.times,
            storm.since
        );
        let blame = blame(Some(storm.by), "stopped the member");
        self.share(stage, Cause::StoppedMember, blame, amount, sentence)
    }

    /// The thread had its core within `[from, to]`, and had not yet said that it was woken. It comes for the end of its sleep, or for a signal.
    pub(super) fn on_core_before_waking(&self, from: Nanos, to: Nanos, amount: Nanos) -> Share {
        let head =
            format!("the thread had core {} from {from} to {to} and was not out of its sleep", self.core);
        let storm = self.storm(self.wake_due(), self.record.woken);
        if let Some(storm) = storm {
            return self.stormed(Stage::Wake, &storm, amount, &head);
        }
        let called = self.woken_by_call(from, to);
        let why = match called {
            Some(thread) => format!(
                "a call of {} had put it on its core's queue",
                self.context.log.occupant(thread).describe()
            ),
            None if from <= self.wake_due() => "it had the core before its sleep was over".to_owned(),
            None => {
                let sentence = format!(
                    "{head} though the end of it had come: {} passed on the way out; no switch, no fault{}",
                    to - from,
                    self.coarse()
                );
                return self.share(Stage::Wake, Cause::StallInSpin, Blame::machine(), amount, sentence);
            }
        };
        let sentence = format!("{head}: {why}, as for a signal; what is not proven counts as the job's");
        self.share(Stage::Wake, Cause::Unexplained, Blame::unproven(), amount, sentence)
    }

    /// The thread whose call put this one on its core's queue while it had that core, or brought it there. The kernel's own threads end sleeps too.
    fn woken_by_call(&self, from: Nanos, to: Nanos) -> Option<u32> {
        let is_call = |thread: &u32| self.context.log.occupant(*thread).kind != ThreadKind::Kernel;
        let brought =
            self.context.log.woken_from(self.task, self.thread, from - Nanos(1)).and_then(|wake| wake.by);
        brought.filter(is_call).or_else(|| self.called_within(from, to))
    }

    /// The first that did so while this thread had its core.
    fn called_within(&self, from: Nanos, to: Nanos) -> Option<u32> {
        let task = u16::try_from(self.task).ok()?;
        let is_call = |thread: &u32| self.context.log.occupant(*thread).kind != ThreadKind::Kernel;
        let events = self.context.phase().events.iter();
        let within = events.filter(|event| event.at >= from && event.at <= to);
        within
            .filter_map(|event| match event.kind {
                EventKind::Woken { task: of, by, .. } if of == task => by,
                _ => None,
            })
            .find(is_call)
    }
}
