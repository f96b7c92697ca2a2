//! What was done to a task from outside: its member stopped, its clock moved, its thread scheduled otherwise.

use super::{Case, Share};
use crate::format::instant;
use crate::record::{EventKind, Left};
use crate::verdict::{Blame, Cause, Party, Stage};
use leveret_types::Nanos;

/// From a stopped thread's going on to its saying so; it has its own core then.
const WENT_ON_WITHIN: Nanos = Nanos::from_micros(100);

/// How much of an instance what was done from outside explains.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Explained {
    /// Why it was woken late.
    Wake,
    /// All of it.
    All,
}

impl Case<'_> {
    /// Clock steps and stopped members, and how much of the instance they explain.
    pub(super) fn outside_cause(&self, shares: &mut Vec<Share>) -> Option<Explained> {
        let (from, to) = (self.wake_due(), self.record.ended.max(self.record.woken));
        let mut stopped_at = None;
        let member = self.context.index.member(self.task);
        for event in &self.context.phase().events {
            match event.kind {
                EventKind::ClockStepped { task, by } if usize::from(task) == self.task => {
                    let reach = Nanos(by.0.saturating_abs());
                    if event.at >= from - reach && event.at <= to {
                        let sentence = format!(
                            "the clock moved by {by} at {} without time passing; what moved it is not known, so it counts as the job's",
                            event.at
                        );
                        let (amount, blame) = (self.total_delay(), Blame::unproven());
                        shares.push(self.share(Stage::Wake, Cause::ClockStep, blame, amount, sentence));
                        return Some(Explained::All);
                    }
                }
                EventKind::MemberStopped { member: rank } if Some(rank) == member && event.at <= to => {
                    stopped_at = Some(event.at);
                }
                EventKind::MemberContinued { member: rank } if Some(rank) == member && event.at < from => {
                    stopped_at = None;
                }
                _ => {}
            }
        }
        let (at, rank) = stopped_at.zip(member)?;
        // Where the log shows for how long the thread stood still, that alone is the stop's share, unless it stood still all the time.
        let stood = self.stood_still_since(from);
        if stood.is_none() && (self.knows_stops() || self.context.log.was_stopped(self.thread, from, to)) {
            return None;
        }
        let at = stood.unwrap_or(at).min(at);
        let (blame, signal, whom) = self.stopper(at);
        let name = self.context.index.member_name(rank);
        let at_words = instant(at);
        let sentence = format!(
            "member {name} was stopped by {signal} {at_words}, {whom}, and had not gone on when this instance was due"
        );
        // What it did once it had come is its own.
        let (amount, explained) = match stood {
            Some(_) => (self.record.woken - self.record.planned, Explained::Wake),
            None => (self.total_delay(), Explained::All),
        };
        let stage = if at > self.record.started { Stage::Execution } else { Stage::Wake };
        shares.push(self.share(stage, Cause::StoppedMember, blame, amount, sentence));
        Some(explained)
    }

    /// Since when the thread, stopped by a signal at `from`, had not come to a core until just before it said that it was woken.
    fn stood_still_since(&self, from: Nanos) -> Option<Nanos> {
        let log = &self.context.log;
        let (since, _) = log.absence(self.thread, from).filter(|(_, left)| *left == Left::Stopped)?;
        let came = log.came_after(self.thread, from);
        came.is_none_or(|came| came + WENT_ON_WITHIN >= self.record.woken).then_some(since)
    }

    /// Who comes first on a core is judged by what the runtime had set. While the thread was scheduled otherwise nothing
    /// that rests on it is proven: neither that the machine held it up, nor that anybody else did.
    pub(super) fn scheduling_changed(&self, shares: &mut [Share]) {
        let Some(sentence) = self.other_scheduling() else { return };
        for share in shares.iter_mut().filter(|share| share.root.is_none()) {
            let unproven = matches!(
                share.cause,
                Cause::RunQueueWait | Cause::Throttled | Cause::EvidenceLost | Cause::Unexplained
            );
            if share.blame.party == Party::Machine || unproven {
                share.sentence = format!("{sentence}; otherwise: {}", share.sentence);
                (share.cause, share.blame) = (Cause::SchedulingChanged, Blame::unproven());
            }
        }
    }

    /// How the thread was scheduled during this instance if that is not, or may not be, what was set.
    fn other_scheduling(&self) -> Option<String> {
        let (from, to) = (self.wake_due(), self.record.ended.max(self.record.woken));
        let mut found = None;
        for event in &self.context.phase().events {
            let EventKind::SchedulingChanged { task, since, now, set } = &event.kind else { continue };
            if usize::from(*task) != self.task || *since > to {
                continue;
            }
            if now != set {
                found = Some((event.at, since, now, set));
            } else if event.at < from {
                found = None;
            }
        }
        let (at, since, now, set) = found?;
        Some(format!(
            "scheduling was changed from outside: the thread of {} (thread {}) was first found at {now} at {at}, after {set}, \
             which the runtime had set and which it still had at {since}; whoever did that (`chrt`, `taskset`, a cpuset, the \
             program itself) keeps the machine from being judged",
            self.context.index.task_name(self.task),
            self.thread
        ))
    }
}
