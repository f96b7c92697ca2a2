//! Occurrences of a receptor, counted through its combinations.
//!
//! ```text
//!   any          total = sum of the parts' totals       an occurrence consumes one of one part
//!    +- fired    total = the trigger's count             ... is that firing
//!    +- all      total = least of the parts' totals     ... consumes one of each part
//!        +- fired
//!        +- fired
//! ```
//!
//! Totals only grow, so a receptor's occurrences are told by two numbers, its total and how many of them are consumed. Whoever moves the
//! latter on has claimed an occurrence, and then claims the parts that it consumes, which are there: nothing else consumes them.
//! No lock, whatever the number of threads, and no firing is counted twice or lost.

use crate::event_end::FiringSource;
use crate::objects::events::body::ReceptorCombination;
use leveret_memory::sync::{AtomicU64, Ordering};
use leveret_types::{MemberId, Nanos};
use std::cmp::Reverse;

/// How often a claimed occurrence is looked for. An honest peer's is found at once; a count that went backwards never.
const LOOKS_MAX: u32 = 1000;

/// What occurs.
pub(super) struct Occurrence {
    form: Form,
    consumed: AtomicU64,
}

enum Form {
    /// With as many firings as were ever believed of it.
    Fired(FiringSource, AtomicU64),
    Combined(ReceptorCombination, Vec<Occurrence>),
}

/// What comes first: the smaller one.
type Urgency = (Reverse<u8>, Nanos, u16);

/// A firing that was consumed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Consumed {
    pub(super) rank: u16,
    pub(super) number: u64,
    pub(super) time: Option<Nanos>,
    /// Firings consumed with it of which the time is not known any more, itself included.
    pub(super) lost: u64,
}

impl Occurrence {
    /// Of any of these triggers.
    pub(super) fn of_sources(sources: Vec<FiringSource>) -> Self {
        let mut parts: Vec<Self> = sources.into_iter().map(Self::fired).collect();
        match (parts.len(), parts.pop()) {
            (1, Some(only)) => only,
            (_, last) => Self::combined(ReceptorCombination::Any, parts.into_iter().chain(last).collect()),
        }
    }

    fn fired(source: FiringSource) -> Self {
        Self::new(Form::Fired(source, AtomicU64::new(0)))
    }

    pub(super) fn combined(combination: ReceptorCombination, parts: Vec<Self>) -> Self {
        Self::new(Form::Combined(combination, parts))
    }

    fn new(form: Form) -> Self {
        Self { form, consumed: AtomicU64::new(0) }
    }

    fn total(&self) -> u64 {
        match &self.form {
            // Where its count is damaged, or has fallen, a trigger has fired as often as was believed of it: a total that fell would hide as many
            // firings of others that are combined with it.
            Form::Fired(source, believed) => {
                let before = believed.load(Ordering::Acquire);
                match source.reader.fired() {
                    Some(fired) if fired > before => believed.fetch_max(fired, Ordering::AcqRel).max(fired),
                    _ => before,
                }
            }
            Form::Combined(ReceptorCombination::Any, parts) => {
                parts.iter().fold(0, |sum, part| sum.saturating_add(part.total()))
            }
            Form::Combined(ReceptorCombination::All, parts) => {
                parts.iter().map(Self::total).min().unwrap_or(0)
            }
        }
    }

    /// Occurrences that nobody has consumed.
    #[inline]
    pub(super) fn pending(&self) -> u64 {
        self.total().saturating_sub(self.consumed.load(Ordering::Acquire))
    }

    /// Consumes everything that is pending, and gives the time of the first of it; the inner value is `None` where that is not
    /// known. Of a single trigger only.
    pub(super) fn drain(&self) -> Option<Option<Nanos>> {
        let Form::Fired(source, _) = &self.form else { return None };
        let total = self.total();
        let before = self.consumed.fetch_max(total, Ordering::AcqRel);
        (total > before).then(|| source.reader.time(before))
    }

    /// Consumes an occurrence if there is one.
    #[inline]
    pub(super) fn consume(&self) -> Option<Consumed> {
        Some(self.resolve(self.claim()?))
    }

    /// Claims the next occurrence, and gives its number.
    fn claim(&self) -> Option<u64> {
        let mut number = self.consumed.load(Ordering::Acquire);
        while self.total() > number {
            match self.consumed.compare_exchange(number, number + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(number),
                Err(later) => number = later,
            }
        }
        None
    }

    /// Consumes what a claimed occurrence is made of.
    fn resolve(&self, number: u64) -> Consumed {
        match &self.form {
            Form::Fired(source, _) => {
                let time = source.reader.time(number);
                Consumed { rank: source.rank, number, time, lost: u64::from(time.is_none()) }
            }
            Form::Combined(ReceptorCombination::Any, parts) => {
                for _ in 0..LOOKS_MAX {
                    let urgent = parts.iter().filter_map(|part| Some((part.urgency()?, part)));
                    let Some((_, first)) = urgent.min_by_key(|(urgency, _)| *urgency) else { break };
                    // Another thread, which has claimed an occurrence too, may have been quicker.
                    if let Some(consumed) = first.consume() {
                        return consumed;
                    }
                }
                Consumed { rank: 0, number, time: None, lost: 1 }
            }
            Form::Combined(ReceptorCombination::All, parts) => {
                let consumed = || parts.iter().filter_map(Self::consume);
                let mut all = Consumed { rank: 0, number, time: None, lost: 0 };
                for part in consumed() {
                    let lost = all.lost + part.lost;
                    // The last firing is the one that made all occur.
                    if part.time >= all.time {
                        all = part;
                    }
                    all.lost = lost;
                }
                all
            }
        }
    }

    /// Of the next occurrence, if it is there.
    fn urgency(&self) -> Option<Urgency> {
        match &self.form {
            Form::Fired(source, _) => {
                let number = self.consumed.load(Ordering::Acquire);
                let time = (self.total() > number).then(|| source.reader.time(number))?;
                // A time that is overwritten is earlier than all that are not.
                Some((Reverse(source.priority), time.unwrap_or(Nanos(i64::MIN)), source.rank))
            }
            Form::Combined(ReceptorCombination::Any, parts) => parts.iter().filter_map(Self::urgency).min(),
            Form::Combined(ReceptorCombination::All, parts) => {
                let urgencies: Option<Urgency> = parts.iter().map(Self::urgency).try_fold(
                    (Reverse(u8::MAX), Nanos(i64::MIN), 0),
                    |latest: Urgency, part| {
                        let part = part?;
                        Some((latest.0.max(part.0), latest.1.max(part.1), latest.2.max(part.2)))
                    },
                );
                urgencies
            }
        }
    }

    /// When the next occurrence is due to be handled, before others with a greater value.
    pub(super) fn next_time(&self) -> Option<Nanos> {
        self.urgency().map(|(_, time, _)| time)
    }

    /// Whether it may still occur, when nobody fires any more who is dead.
    pub(super) fn is_possible(&self, is_dead: &dyn Fn(MemberId) -> bool) -> bool {
        match &self.form {
            Form::Fired(source, _) => !is_dead(source.member) || self.pending() > 0,
            Form::Combined(ReceptorCombination::Any, parts) => {
                parts.iter().any(|part| part.is_possible(is_dead))
            }
            Form::Combined(ReceptorCombination::All, parts) => {
                parts.iter().all(|part| part.is_possible(is_dead))
            }
        }
    }

    /// Adds the triggers that can make it occur.
    pub(super) fn collect_sources(&self, into: &mut Vec<FiringSource>) {
        match &self.form {
            Form::Fired(source, _) => into.push(source.clone()),
            Form::Combined(_, parts) => parts.iter().for_each(|part| part.collect_sources(into)),
        }
    }
}

#[cfg(all(test, not(loom)))]
#[path = "occurrence_tests.rs"]
mod tests;

#[cfg(all(test, debug_assertions, not(loom)))]
#[path = "occurrence_steps_tests.rs"]
mod steps_tests;
