//! Which queue a message takes at each port, so that none overtakes another in it.
//!
//! What never waits at a port takes its first queue: one message is there at a time. Where an item waits at a port, it has a queue beside that,
//! with others only whose stays there never meet its own.

use super::problem::{Candidate, Problem};
use super::state::{Place, State, Unit};
use super::wait::stay;
use std::collections::{BTreeMap, BTreeSet};

/// From when a message can first be at a port to the start of its last frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stay {
    pub from: i64,
    pub to: i64,
}

/// Items with a queue of their own at a port.
#[derive(Clone, Debug, Default)]
pub(super) struct Queues {
    /// By link, then item: the queue, and how many of its units wait there.
    taken: BTreeMap<(u32, u32), (u8, u32)>,
}

impl Queues {
    /// The queue of an item at a link's port.
    pub(super) fn of(&self, link: u32, item: u32) -> u8 {
        self.taken.get(&(link, item)).map_or(0, |(queue, _)| *queue)
    }

    /// Whether a unit can wait as a place says: each port at which it waits, or its item does, has a queue for it.
    pub(super) fn admits(
        &self,
        problem: &Problem<'_>,
        state: &State,
        unit: Unit,
        way: &Candidate,
        place: &Place,
    ) -> bool {
        (0..way.hops.len()).all(|hop| {
            let waits = self.waits(way, place, hop);
            let link = way.hops[hop].link;
            let has = self.of(link, unit.item);
            if !waits && has == 0 {
                return true;
            }
            let others = self.stays_of(problem, state, link, unit.item);
            let own = stays(problem, unit, way, place, hop);
            let mut all = own.clone();
            all.extend(&others);
            if has > 0 {
                return self.fits(problem, state, link, unit.item, has, &own)
                    && apart(problem.hyperperiod, &all, &[]);
            }
            apart(problem.hyperperiod, &all, &[])
                && self.choose(problem, state, link, unit.item, &all).is_some()
        })
    }

    /// Notes a unit that was put somewhere.
    pub(super) fn put(
        &mut self,
        problem: &Problem<'_>,
        state: &State,
        unit: Unit,
        way: &Candidate,
        place: &Place,
    ) {
        for hop in 0..way.hops.len() {
            if !self.waits(way, place, hop) {
                continue;
            }
            let link = way.hops[hop].link;
            if let Some((_, count)) = self.taken.get_mut(&(link, unit.item)) {
                *count += 1;
                continue;
            }
            let mut all = self.stays_of(problem, state, link, unit.item);
            all.extend(stays(problem, unit, way, place, hop));
            let queue = self.choose(problem, state, link, unit.item, &all).unwrap_or(0);
            self.taken.insert((link, unit.item), (queue, 1));
        }
    }

    /// Items that wait at the ports of some links, each once.
    pub(super) fn waiting_at(&self, links: &[u32]) -> BTreeSet<u32> {
        self.taken.keys().filter(|(link, _)| links.contains(link)).map(|(_, item)| *item).collect()
    }

    /// Gives an item that waits at a port the queue that a plan says. Whether it is one for what waits.
    pub(super) fn assign(&mut self, link: u32, item: u32, queue: u8) -> bool {
        match self.taken.get_mut(&(link, item)) {
            Some((taken, _)) => {
                *taken = queue;
                queue > 0
            }
            None => true,
        }
    }

    /// Forgets a unit that was taken away.
    pub(super) fn take_away(&mut self, unit: Unit, way: &Candidate, place: &Place) {
        for hop in 0..way.hops.len() {
            let key = (way.hops[hop].link, unit.item);
            if !self.waits(way, place, hop) {
                continue;
            }
            if let Some((_, count)) = self.taken.get_mut(&key) {
                *count -= 1;
                if *count == 0 {
                    self.taken.remove(&key);
                }
            }
        }
    }

    fn waits(&self, way: &Candidate, place: &Place, hop: usize) -> bool {
        let parent = way.hops[hop].parent as usize;
        let wait = |hop: usize| place.waits.get(hop).copied().unwrap_or(0);
        way.hops.get(parent).is_some() && wait(hop) != wait(parent)
    }

    /// A queue beside the first in which nobody's stay meets these.
    fn choose(
        &self,
        problem: &Problem<'_>,
        state: &State,
        link: u32,
        item: u32,
        stays: &[Stay],
    ) -> Option<u8> {
        let queues = problem.traffic.network.links[link as usize].queues;
        (1..queues).find(|queue| self.fits(problem, state, link, item, *queue, stays))
    }

    fn fits(
        &self,
        problem: &Problem<'_>,
        state: &State,
        link: u32,
        item: u32,
        queue: u8,
        stays: &[Stay],
    ) -> bool {
        let in_queue =
            self.taken.range((link, 0)..=(link, u32::MAX)).filter(|(_, (taken, _))| *taken == queue);
        in_queue.filter(|((_, other), _)| *other != item).all(|((_, other), _)| {
            apart(problem.hyperperiod, stays, &self.stays_of(problem, state, link, *other))
        })
    }

    /// Stays of all units of an item at a link's port.
    fn stays_of(&self, problem: &Problem<'_>, state: &State, link: u32, item: u32) -> Vec<Stay> {
        let mut found = Vec::new();
        for (unit, place) in state.units_of(item) {
            let way = &problem.items[item as usize].ways[place.way as usize];
            if let Some(hop) = way.hops.iter().position(|hop| hop.link == link) {
                found.extend(stays(problem, unit, way, place, hop));
            }
        }
        found
    }
}

/// Stays of all instances of a unit at the port of a hop.
fn stays(problem: &Problem<'_>, unit: Unit, way: &Candidate, place: &Place, hop: usize) -> Vec<Stay> {
    let Some(first) = stay(way, place, hop) else { return Vec::new() };
    let period = problem.items[unit.item as usize].period;
    let turn = |turn: i64| Stay { from: first.from + turn * period, to: first.to + turn * period };
    (0..i64::from(unit.count)).map(turn).collect()
}

/// Whether no stay of either list meets another of the other; with an empty second list, of the first itself.
fn apart(hyperperiod: i64, one: &[Stay], two: &[Stay]) -> bool {
    let meet = |a: &Stay, b: &Stay| {
        let distance = (b.from - a.from).rem_euclid(hyperperiod);
        // The later one comes before the earlier has left, or so around the round.
        distance < a.to - a.from || hyperperiod - distance < b.to - b.from
    };
    // Who stays for longer than a round meets himself.
    if one.iter().chain(two).any(|stay| stay.to - stay.from > hyperperiod) {
        return false;
    }
    if two.is_empty() {
        return one.iter().enumerate().all(|(index, a)| one[index + 1..].iter().all(|b| !meet(a, b)));
    }
    one.iter().all(|a| two.iter().all(|b| !meet(a, b)))
}

#[cfg(test)]
mod tests {
    use super::{Stay, apart};

    #[test]
    fn who_stays_for_longer_than_a_round_meets_himself() {
        let stay = |from, to| Stay { from, to };
        assert!(apart(100, &[stay(10, 110)], &[]));
        assert!(!apart(100, &[stay(10, 111)], &[]));
        assert!(!apart(100, &[stay(10, 20)], &[stay(30, 131)]));
        assert!(apart(100, &[stay(10, 20)], &[stay(20, 110)]));
        assert!(!apart(100, &[stay(10, 20)], &[stay(20, 111)]));
    }
}
