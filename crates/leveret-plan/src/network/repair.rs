//! Placing everything: one after the other, and what has no place sends away what it disturbs least.

use super::conflict::{Cheapest, Sweep, mix};
use super::place::first_free;
use super::problem::Problem;
use super::state::{Place, State, Unit};
use super::strategy::Strategy;
use super::wait::first_waiting;
use super::watch::Watch;
use leveret_types::StreamId;
use std::collections::VecDeque;

/// How far a search may go, and which way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Chooses among equals, and the order to begin with: 0 is what mostly does best.
    pub seed: u64,
    /// Intervals that the repair may look at.
    pub steps: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { seed: 0, steps: 20_000_000 }
    }
}

/// Why a search ended without a plan.
#[derive(Clone, Debug)]
pub(super) enum Ended {
    /// An item that has no place even alone, beside what is reserved.
    Alone(u32),
    /// Out of steps, or ended from outside; the state is partial.
    OutOfSteps,
}

/// A search under way.
pub(super) struct Search<'a, 'b> {
    pub problem: &'b mut Problem<'a>,
    pub state: State,
    sweep: Sweep,
    weights: Vec<u64>,
    failures: Vec<u32>,
    waiting: VecDeque<u32>,
    /// Those that only waiting could place, while others wait where they would; no room is made for them.
    aside: Vec<u32>,
    strategy: Strategy,
    /// Whether the search for a place begins anywhere in the window.
    scattered: bool,
    /// How often something was sent away.
    pub sent_away: u64,
    /// Whether instances may go ways of their own.
    may_split: bool,
    /// What had which place before it was touched, in the order of the touches, if anybody wants to know.
    journal: Option<Vec<(u32, Option<Place>)>>,
}

impl<'a, 'b> Search<'a, 'b> {
    pub(super) fn new(problem: &'b mut Problem<'a>, strategy: Strategy) -> Self {
        let state = State::new(problem);
        let units = state.units.len();
        let scattered = units > strategy.scattered_from;
        let mut order: Vec<u32> = (0..units as u32).collect();
        order.sort_by_cached_key(|unit| {
            strategy.rank(&problem.items[state.units[*unit as usize].item as usize], *unit)
        });
        Self {
            problem,
            state,
            sweep: Sweep::default(),
            weights: vec![1; units],
            failures: vec![0; units],
            waiting: order.into(),
            aside: Vec::new(),
            strategy,
            scattered,
            sent_away: 0,
            may_split: true,
            journal: None,
        }
    }

    /// With all that has a place already, for some units more; keeps a journal. Nothing is split, so that all can be undone.
    pub(super) fn resume(
        problem: &'b mut Problem<'a>,
        state: State,
        units: &[u32],
        strategy: Strategy,
    ) -> Self {
        let count = state.units.len();
        Self {
            problem,
            state,
            sweep: Sweep::default(),
            weights: vec![1; count],
            failures: vec![0; count],
            waiting: units.iter().copied().collect(),
            aside: Vec::new(),
            strategy,
            scattered: count > strategy.scattered_from,
            sent_away: 0,
            may_split: false,
            journal: Some(Vec::new()),
        }
    }

    /// The units that were touched, with their places before.
    pub(super) fn take_journal(&mut self) -> Vec<(u32, Option<Place>)> {
        self.journal.take().unwrap_or_default()
    }

    /// Until all are placed, or it cannot go on, or has made so many steps in all.
    pub(super) fn run(&mut self, steps: u64, watch: &mut Watch<'_>) -> Result<(), Ended> {
        let mut told = self.sweep.steps;
        while let Some(unit) = self.waiting.pop_front() {
            if self.place(unit) {
                continue;
            }
            let goes_on = watch.goes_on(self.sweep.steps - told);
            told = self.sweep.steps;
            if self.sweep.steps > steps || !goes_on {
                self.waiting.push_front(unit);
                return Err(Ended::OutOfSteps);
            }
            if let Err(ended) = self.make_room(unit) {
                self.waiting.push_front(unit);
                return Err(ended);
            }
        }
        Ok(())
    }

    /// Goes on without the one that the search ended at, which has a place alone. It counts as a failure, and so do those that wait at its
    /// links: what cannot be reconciled is among them.
    pub(super) fn set_aside(&mut self) {
        let Some(unit) = self.waiting.pop_front() else { return };
        self.aside.push(unit);
        let item = &self.problem.items[self.state.units[unit as usize].item as usize];
        let links: Vec<u32> = item.ways.iter().flat_map(|way| &way.hops).map(|hop| hop.link).collect();
        for other in self.state.queues.waiting_at(&links) {
            for unit in self.state.waiting_units_of(other) {
                self.weights[unit as usize] += 1;
            }
        }
    }

    /// What was set aside wants a place again.
    pub(super) fn take_back(&mut self) {
        self.waiting.extend(self.aside.drain(..));
    }

    /// Into the first free place, if there is one; on further ways if those that are known have none.
    fn place(&mut self, unit: u32) -> bool {
        let which = self.state.units[unit as usize];
        if which.count > SWEPT_MAX && !self.state.may_lie_alike(self.problem, which) {
            return false;
        }
        let hint = if self.scattered { mix(self.strategy.seed ^ u64::from(unit)) } else { 0 };
        let mut place = first_free(self.problem, &self.state, which, hint, &mut self.sweep.steps);
        if place.is_none() && self.problem.items[which.item as usize].more_ways {
            self.problem.widen(which.item as usize);
            place = first_free(self.problem, &self.state, which, hint, &mut self.sweep.steps);
        }
        // Beside instances of its own that wait, it must fit into their queues too.
        place = place.filter(|place| {
            let way = &self.problem.items[which.item as usize].ways[place.way as usize];
            self.state.queues.admits(self.problem, &self.state, which, way, place)
        });
        if place.is_none() && may_try_waiting(self.failures[unit as usize]) {
            place = first_waiting(self.problem, &self.state, which, &mut self.sweep.steps);
        }
        if let Some(place) = place {
            self.put(unit, place);
            return true;
        }
        false
    }

    fn put(&mut self, unit: u32, place: Place) {
        if let Some(journal) = &mut self.journal {
            journal.push((unit, None));
        }
        self.state.put(self.problem, unit, place);
    }

    /// Where it disturbs least; whom it disturbs is placed anew, next.
    fn make_room(&mut self, unit: u32) -> Result<(), Ended> {
        self.failures[unit as usize] += 1;
        self.weights[unit as usize] += 1;
        let Unit { item, count, .. } = self.state.units[unit as usize];
        let split = self.state.units.len() - self.problem.items.len() + count as usize;
        let may_split =
            self.may_split && count > 1 && split <= SPLIT_MAX && self.problem.items[item as usize].movable;
        if may_split && count > SWEPT_MAX {
            self.split(unit, 0);
            return Ok(());
        }
        let salt = mix(self.strategy.seed.wrapping_add(self.sent_away << 8).wrapping_add(1));
        let cheapest = self.sweep.cheapest(
            self.problem,
            &self.state,
            self.state.units[unit as usize],
            &self.weights,
            salt,
        );
        if may_split
            && (cheapest.is_none() || self.failures[unit as usize] > self.strategy.failures_before_split)
        {
            self.split(unit, cheapest.map_or(0, |cheapest| cheapest.place.way));
            return Ok(());
        }
        let Some(Cheapest { place, owners, .. }) = cheapest else { return Err(Ended::Alone(item)) };
        // What is put by force waits nowhere, and so must nothing else of the same channel.
        let waiting = self.state.waiting_units_of(item);
        for owner in owners.iter().chain(&waiting) {
            let Some(before) = self.state.take_away(self.problem, *owner) else { continue };
            if let Some(journal) = &mut self.journal {
                journal.push((*owner, Some(before)));
            }
            self.sent_away += 1;
            self.waiting.push_front(*owner);
        }
        self.put(unit, place);
        Ok(())
    }

    /// Each instance for itself, but all on one way: a switch knows streams and not instances.
    fn split(&mut self, unit: u32, way: u32) {
        let item = &mut self.problem.items[self.state.units[unit as usize].item as usize];
        item.all_ways &= item.ways.len() == 1;
        item.ways = vec![item.ways.swap_remove(way as usize)];
        item.more_ways = false;
        let others = self.state.split(unit);
        self.weights.resize(self.state.units.len(), 1);
        self.failures.resize(self.state.units.len(), 0);
        self.weights[unit as usize] = 1;
        for other in others.rev() {
            self.waiting.push_front(other);
        }
        self.waiting.push_front(unit);
    }

    /// Intervals looked at.
    pub(super) fn steps(&self) -> u64 {
        self.sweep.steps
    }

    /// All streams that are to be placed, those first that failed most to find a place.
    pub(super) fn heaviest(&self) -> Vec<StreamId> {
        let mut weights = vec![0; self.problem.traffic.streams.len()];
        for (unit, weight) in self.state.units.iter().zip(&self.weights) {
            let stream = self.problem.items[unit.item as usize].stream;
            weights[stream.index()] = weights[stream.index()].max(*weight);
        }
        let mut streams: Vec<_> = (0..weights.len() as u32).map(StreamId).collect();
        streams.retain(|stream| weights[stream.index()] > 0);
        streams.sort_by_key(|stream| (std::cmp::Reverse(weights[stream.index()]), *stream));
        streams
    }

    /// Units without a place.
    pub(super) fn unplaced(&self) -> impl Iterator<Item = u32> {
        self.waiting.iter().copied()
    }
}

/// Instances that are placed one by one: each costs as much as a stream, so as many as there may be streams.
const SPLIT_MAX: usize = 1 << 20;

/// Instances from which on one place for all of them takes longer to find than a place for each.
const SWEPT_MAX: u32 = 1 << 14;

/// Whether to look for a place with waiting after so many failures: it costs many times what one without does, so seldom again once it
/// has failed.
fn may_try_waiting(failures: u32) -> bool {
    failures < 2 || failures.is_power_of_two()
}
