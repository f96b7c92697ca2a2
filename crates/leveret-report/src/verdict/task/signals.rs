//! The thread had its core and did not get to its body: on its way out of the planned sleep the kernel serves signals, in whatever number they come.

use super::held::{blame, by};
use super::{Case, Share};
use crate::record::{Actor, Event, EventKind, ThreadKind};
use crate::verdict::occupancy::Stretch;
use crate::verdict::{Blame, Cause, Stage};
use leveret_types::Nanos;
use std::collections::BTreeSet;

/// Whoever stops a thread, and lets it go on, once puts it on a queue so often at most: the stop does, and the going on.
const OFTEN: usize = 2;

/// Who stopped a member and let it go on again and again.
pub(super) struct Storm<'a> {
    by: &'a Actor,
    /// When it was first seen to send a signal that stops.
    since: Nanos,
    /// How many of its calls are known to fall into the interval: signals that stop, or what put the thread on its core's queue.
    times: usize,
}

/// A sleep may be ended, by a signal, this long before its time and still be that of the instance.
const WOKEN_EARLY: Nanos = Nanos::from_micros(500);
/// SIGSTOP, which nobody can ignore.
const SIGSTOP: u8 = 19;

impl Case<'_> {
    /// Who stopped the member and let it go on again and again within `[from, to]`: each stop, and each going on, puts the thread on a queue, in
    /// a call of the one that sends it, unless it is on one.
    pub(super) fn storm(&self, from: Nanos, to: Nanos) -> Option<Storm<'_>> {
        let events = self.context.phase().events.iter().filter(|event| event.at <= to);
        let mut asked = BTreeSet::new();
        let senders = events.filter_map(|event| Some((event.at, self.sender(&event.kind)?.0)));
        senders.filter(|(_, by)| asked.insert(by.thread)).find_map(|(since, by)| {
            let times = self.calls_of(by, from, to).len();
            (times > OFTEN).then_some(Storm { by, since, times })
        })
    }

    /// Who sent this member a signal that stops, and which.
    fn sender<'k>(&self, kind: &'k EventKind) -> Option<(&'k Actor, u8)> {
        match kind {
            EventKind::StopSent { member, signal, by } => {
                (Some(*member) == self.context.index.member(self.task)).then_some((by, *signal))
            }
            _ => None,
        }
    }

    /// When somebody sent such signals within `[from, to]`, or put the thread on a queue: the more of either, for a signal may do the other too.
    fn calls_of(&self, by: &Actor, from: Nanos, to: Nanos) -> Vec<Nanos> {
        let is_put = |kind: &EventKind| {
            matches!(kind, EventKind::Woken { task, by: Some(thread), .. }
                if usize::from(*task) == self.task && *thread == by.thread)
        };
        let is_stop = |kind: &EventKind| {
            self.sender(kind).is_some_and(|(sender, signal)| sender.thread == by.thread && signal == SIGSTOP)
        };
        let events = &self.context.phase().events;
        let within = events.iter().filter(|event| event.at >= from && event.at <= to);
        let (puts, stops): (Vec<&Event>, Vec<&Event>) = within
            .filter(|event| is_put(&event.kind) || is_stop(&event.kind))
            .partition(|event| is_put(&event.kind));
        let more = if puts.len() < stops.len() { stops } else { puts };
        more.into_iter().map(|event| event.at).collect()
    }

    /// The thread had its core within `[from, to]` and was not at its body yet, for such a storm.
    pub(super) fn served_a_storm(
        &self,
        stage: Stage,
        from: Nanos,
        to: Nanos,
        amount: Nanos,
    ) -> Option<Share> {
        let (storm, what) = match stage {
            Stage::Wake => (self.storm(self.wake_due(), self.record.woken), "was not out of its sleep"),
            _ => (self.storm(from, to), "only read the clock"),
        };
        let head = format!("the thread had core {} from {from} to {to} and {what}", self.core);
        Some(self.stormed(stage, &storm?, amount, &head))
    }

    /// The thread had its core within `[from, to]`, awake and with nothing to do but to read the clock, and somebody's call put it on a queue there:
    /// for a signal.
    pub(super) fn served_signals(
        &self,
        stage: Stage,
        from: Nanos,
        to: Nanos,
        amount: Nanos,
    ) -> Option<Share> {
        let why = match self.called_within(from, to) {
            Some(by) => {
                let by = self.context.log.occupant(by).describe();
                format!("a call of {by} put it on its core's queue, as for a signal")
            }
            None if !self.is_woken_logged(to) => {
                "calls that put it on its core's queue, as for a signal, were not logged".to_owned()
            }
            None => return None,
        };
        let sentence = format!(
            "the thread had core {} from {from} to {to} and only read the clock: {why}; what is not proven counts as the job's",
            self.core
        );
        Some(self.share(stage, Cause::Unexplained, Blame::unproven(), amount, sentence))
    }

    /// Such a storm within a body that was on its core, when no stretch of it without a signal is as long as most of what is to be explained: that
    /// the body itself computed for so long is not to be seen then, and that the kernel served signals is.
    pub(super) fn storm_in_body(&self, from: Nanos, to: Nanos, amount: Nanos) -> Option<Storm<'_>> {
        let storm = self.storm(from, to)?;
        let calls = self.calls_of(storm.by, from, to);
        let instants: Vec<Nanos> = [from].into_iter().chain(calls).chain([to]).collect();
        let longest = instants.windows(2).map(|pair| pair[1] - pair[0]).max()?;
        (longest.0 < amount.0 / 5 * 4).then_some(storm)
    }

    /// The share of a wait behind another thread of this member that ranks below this one: signals that stop a member stop all of its threads, and
    /// where the kernel serves them for one it may not be made to leave for another.
    pub(super) fn behind_one_that_serves_signals(
        &self,
        stage: Stage,
        stretch: &Stretch,
        amount: Nanos,
        head: &str,
    ) -> Option<Share> {
        let log = &self.context.log;
        let is_of_member =
            stretch.who.process.is_some() && stretch.who.process == log.occupant(self.thread).process;
        let is_below = matches!(stretch.who.kind, ThreadKind::Own { priority } if priority < self.priority);
        let storm = self.storm(self.wake_due(), self.record.ended.max(self.record.woken));
        let storm = storm.filter(|_| is_of_member && is_below)?;
        let head = format!(
            "{head}, a thread of the same member, which ranks below this one and has the same signals to serve"
        );
        Some(self.stormed(stage, &storm, amount, &head))
    }

    /// The share of such a storm.
    pub(super) fn stormed(&self, stage: Stage, storm: &Storm<'_>, amount: Nanos, head: &str) -> Share {
        let sentence = format!(
            "{head}: it was stopped by signals and let go on again and again, {} ({} of its signals are known to fall into that time, and it stopped \
             the member first at {})",
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
        let called = self.woken_by_call(from, to);
        let why = match called {
            Some(thread) => format!(
                "a call of {} had put it on its core's queue",
                self.context.log.occupant(thread).describe()
            ),
            None if from <= self.wake_due() => "it had the core before its sleep was over".to_owned(),
            None if !self.is_woken_logged(to) => {
                "what woke it was not logged: the end of its sleep, or a call".to_owned()
            }
            None => {
                if let Some(share) = self.core_went_on(Stage::Wake, from, to, amount) {
                    return share;
                }
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

    /// Whether the end of this instance's sleep, which comes before `to`, is in the log of wake-ups.
    fn is_woken_logged(&self, to: Nanos) -> bool {
        self.context.log.has_wake(self.task, self.wake_due() - WOKEN_EARLY, to)
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
