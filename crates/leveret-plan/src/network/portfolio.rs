//! Several searches for one plan, each by another strategy, of which the first to end answers.
//!
//! Who starts them, on how many threads, and in which order they happen to run makes no difference: time is counted in slices of steps, and the
//! answer is that of the search that ended in the earliest slice, of several the one with the least number. So a search may stop
//! once one has ended that is ahead of it, wherever it is; the one that answers is never among those.
//!
//! (Portfolios: B. Huberman, R. Lukose, T. Hogg, "An economics approach to hard computational problems", Science 275, 1997; deterministic
//! ones by steps in place of time: Y. Hamadi, S. Jabbour, C. Piette, L. Sais, "Deterministic parallel DPLL", JSAT 7, 2011.)

use super::explain::NetworkRefusal;
use super::model::Traffic;
use super::plan::NetworkPlan;
use super::repair::Effort;
use super::strategy::Strategy;
use super::watch::Watch;
use super::{SearchReport, search_table};

/// Steps of a slice, some tens of milliseconds: what is planned within the first one is not worth a thread.
pub const SLICE_STEPS: u64 = 1 << 18;

/// How one search ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// Which strategy.
    pub strategy: u32,
    /// Steps of all kinds that it made.
    pub steps: u64,
    /// The time table, without flows; or why there is none.
    pub result: Result<(NetworkPlan, SearchReport), NetworkRefusal>,
}

/// Seeks a time table by the strategy of a number: 0 is what [`super::plan_network`] does, others begin elsewhere and choose otherwise.
/// `go_on` is asked every few thousand steps, with all that were made; where it says no, the search ends without an answer.
pub fn attempt(
    traffic: &Traffic,
    effort: Effort,
    strategy: u32,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Option<Attempt> {
    let hyperperiod = match traffic.validate() {
        Ok(hyperperiod) => hyperperiod,
        Err(error) => {
            return Some(Attempt { strategy, steps: 0, result: Err(NetworkRefusal::Invalid(error)) });
        }
    };
    let mut watch = Watch::new(go_on);
    let chosen = Strategy::of(effort.seed, strategy);
    let result = search_table(traffic, hyperperiod, (chosen, effort.steps), &mut watch);
    (!watch.is_ended()).then(|| Attempt { strategy, steps: watch.made(), result })
}

/// Which of several searches is ahead.
#[derive(Clone, Debug, Default)]
pub struct Race {
    /// The one with an answer that ended first.
    ahead: Option<Attempt>,
    /// Of those without an answer the one that has a place for most, by itself or by its number.
    without: Option<Attempt>,
    /// Steps of all those without an answer.
    steps: u64,
}

impl Race {
    /// Whether a search may still be the one that answers.
    pub fn goes_on(&self, strategy: u32, steps: u64) -> bool {
        self.ahead.as_ref().is_none_or(|ahead| (steps / SLICE_STEPS, strategy) < rank(ahead))
    }

    /// Whether any search has an answer: a plan, or a reason why there is none.
    pub fn is_answered(&self) -> bool {
        self.ahead.is_some()
    }

    /// Notes a search that has ended by itself.
    pub fn ended(&mut self, attempt: Attempt) {
        if let Some(left) = unplaced(&attempt) {
            self.steps = self.steps.saturating_add(attempt.steps);
            let is_better = |before: &Attempt| {
                (left, attempt.strategy) < (unplaced(before).unwrap_or(0), before.strategy)
            };
            if self.without.as_ref().is_none_or(is_better) {
                self.without = Some(attempt);
            }
        } else if self.ahead.as_ref().is_none_or(|ahead| rank(&attempt) < rank(ahead)) {
            self.ahead = Some(attempt);
        }
    }

    /// What all searches together came to, once all have ended; none if there was none.
    pub fn answer(self) -> Option<Attempt> {
        if self.ahead.is_some() {
            return self.ahead;
        }
        let mut best = self.without?;
        best.steps = self.steps;
        if let Err(NetworkRefusal::NotFound { steps, .. }) = &mut best.result {
            *steps = self.steps;
        }
        Some(best)
    }
}

/// The slice in which a search ended, and its number.
fn rank(attempt: &Attempt) -> (u64, u32) {
    (attempt.steps / SLICE_STEPS, attempt.strategy)
}

/// How many streams a search without an answer left without a place.
fn unplaced(attempt: &Attempt) -> Option<usize> {
    match &attempt.result {
        Err(NetworkRefusal::NotFound { unplaced, .. }) => Some(unplaced.len()),
        Ok(_) | Err(_) => None,
    }
}
