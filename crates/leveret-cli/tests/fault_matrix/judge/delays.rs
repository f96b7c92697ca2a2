//! What delayed an instance, by the logs of those who planted and the scheduler's trace, and whose the miss must be then.

use super::{Judge, by_sender};
use crate::case::{Cause, PERIOD, Party, Plant};
use crate::run::Entry;
use crate::witness::{Ahead, Trace};
use std::collections::BTreeSet;

/// Only beyond this do the logs and the trace contradict a verdict of the machine: an instance may be late by less without them.
pub(super) const MARGIN: i64 = 300_000;

/// What delayed an instance, by the logs and the trace.
pub(super) struct Delays {
    /// What its own body, or another part of its job, did wrong; less what others took of the core meanwhile.
    pub(super) own: i64,
    /// Other threads of its job, the agent's above all, which had the core while this one waited.
    pub(super) internal: i64,
    /// Those who planted from outside.
    pub(super) planted: i64,
    /// Threads outside of the job, planted or not, which had the core while this one waited.
    pub(super) foreign: i64,
    /// All together: by how much longer it took than its plan.
    pub(super) total: i64,
}

/// How much of an interval some stretches cover together.
pub(super) fn covered<'e>(entries: impl Iterator<Item = &'e Entry>, (from, to): (i64, i64)) -> i64 {
    let mut all: Vec<(i64, i64)> = entries.map(|entry| (entry.from.max(from), entry.to.min(to))).collect();
    all.sort_unstable();
    let mut end = from;
    let mut sum = 0;
    for (began, ended) in all {
        sum += (ended - began.max(end)).max(0);
        end = end.max(ended);
    }
    sum
}

/// Which instances a debt delays is the kernel's to say.
pub fn in_debt(cause: &Cause) -> bool {
    cause.plants.iter().any(|plant| matches!(plant, Plant::Debt(_)))
}

/// Whether a plant may keep a sleeping thread from being woken by its timer.
fn keeps_asleep(kind: &str) -> bool {
    matches!(
        kind,
        "stop"
            | "storm"
            | "trace"
            | "syscalls"
            | "freeze1"
            | "freeze2"
            | "freeze2-first"
            | "freeze2-into"
            | "timers"
            | "interrupts-off"
    )
}

impl Judge<'_> {
    /// Whether the timer of an instance came late, by the trace, and no planter can have delayed it. Whose that is nobody knows.
    pub(super) fn is_woken_late(&self, instance: u64) -> bool {
        let slept = || self.ran.trace.as_ref()?.slept(self.victim.thread, self.wait(instance)?);
        !self.harming().any(|entry| keeps_asleep(&entry.kind)) && slept().is_some_and(|time| time > MARGIN)
    }

    /// Whether a thread is of the job, and not the kernel's own.
    pub(super) fn is_internal(&self, thread: u32) -> bool {
        let process = self.ran.trace.as_ref().and_then(|trace| trace.process_of(thread));
        self.own.contains(&process.unwrap_or(thread))
    }

    pub(super) fn is_foreign(&self, thread: u32) -> bool {
        let is_kernel = |trace: &Trace| trace.is_kernel(thread);
        !self.ran.trace.as_ref().is_none_or(is_kernel) && !self.is_internal(thread)
    }

    /// Threads that had the core while the victim waited for it.
    pub(super) fn ahead(&self, interval: (i64, i64)) -> Vec<Ahead> {
        let trace = self.ran.trace.as_ref();
        trace.map_or_else(Vec::new, |trace| trace.ahead_of(self.victim.thread, interval))
    }

    /// For how long those outside of the job had it.
    pub(super) fn foreign_ahead(&self, interval: (i64, i64)) -> i64 {
        let all = self.ahead(interval).into_iter().filter(|each| self.is_foreign(each.thread));
        all.map(|each| each.time).sum()
    }

    pub(super) fn delays(&self, instance: u64) -> Delays {
        let (window, span) = (self.window(instance), self.span(instance));
        let bodies = self.own_entries().filter(|entry| entry.from < span.1 && entry.to > span.0);
        let whole = bodies.clone().filter(|_| !self.victim.is_throttled);
        let meanwhile: i64 =
            whole.map(|entry| self.foreign_ahead((entry.from.max(span.0), entry.to.min(span.1)))).sum();
        let all = (self.since(instance), span.1);
        // What held up one that was lost long ago did not make it late.
        let early = (window.0, span.1.min(window.1 + PERIOD / 2));
        // Where all threads of the job serve the planter's signals none delays another by itself.
        let by_itself = !self.cause.plants.iter().any(|plant| plant.is_storm());
        let ahead = self.ahead(early).into_iter();
        let internal = ahead.filter(|each| by_itself && self.is_internal(each.thread));
        let threads: BTreeSet<u64> = self.harming().map(|entry| entry.thread).collect();
        let had: i64 = threads.iter().map(|thread| self.time_of(*thread, window)).sum();
        // Ordinary hogs share the core with each other and with whoever else is there.
        let holding = self.harming().filter(|entry| entry.kind != "ordinary" || self.ran.trace.is_none());
        let held = bodies.clone().map(|entry| covered(holding.clone(), (entry.from, entry.to)));
        Delays {
            own: covered(bodies.clone(), span) - meanwhile - held.sum::<i64>(),
            internal: internal.map(|each| each.time).sum(),
            planted: covered(holding, window).max(had),
            foreign: self.foreign_ahead(all),
            total: span.1 - window.0 - self.victim.budget,
        }
    }

    /// Whose a miss of this instance must be; `None` where no plant was enough for it.
    pub(super) fn expected(&self, instance: u64) -> Option<Party> {
        let slack = self.slack();
        if in_debt(self.cause) {
            return (instance >= self.cause.shape.at[0]).then_some(Party::Job);
        }
        let delays = self.delays(instance);
        if by_sender(self.cause) {
            let silent = self.cause.plants.iter().any(|plant| matches!(plant, Plant::Sender("silent", _)));
            let did_wrong =
                if silent { delays.foreign < slack } else { delays.own >= slack.max(delays.foreign) };
            return (self.cause.shape.at.contains(&instance) && did_wrong).then_some(Party::Job);
        }
        // What delayed the instance before may have been both.
        let is_first = self.since(instance) == self.window(instance).0;
        if delays.own >= slack && (is_first || self.victim.is_throttled || delays.foreign < slack) {
            return Some(Party::Job);
        }
        let outsiders =
            if self.cause.party == Some(Party::Machine) { Party::Machine } else { Party::Process };
        // One that the instance before made late shares its party.
        let follows = is_first || self.expected(instance - 1) == Some(outsiders);
        (follows && delays.planted >= slack && delays.own.max(delays.internal) < slack).then_some(outsiders)
    }
}

#[test]
fn stretches_that_overlap_count_once() {
    let entry = |from, to| Entry { from, to, pid: 1, thread: 1, ..Entry::default() };
    let entries = [entry(0, 10), entry(5, 20), entry(30, 50)];
    assert_eq!(covered(entries.iter(), (8, 40)), 12 + 10);
}
