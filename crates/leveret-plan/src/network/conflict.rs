//! The place that disturbs least: which placed units would have to give way, by weight.
//!
//! Every transmission in the way of one of the unit's forbids an interval of starts. A sweep over their ends finds the start that the
//! lightest set of owners forbids (conflict-guided search: M. Vlk, K. Brejchova, Z. Hanzalek, S. Tang, "Large-scale periodic scheduling in
//! time-sensitive networks", Computers & Operations Research 137, 2022; weights that grow with each failure: P. Morris, "The breakout
//! method for escaping from local minima", AAAI 1993).

use super::problem::{Candidate, Problem};
use super::state::{Place, State, Unit};
use super::timeline::Owner;

/// A start becomes forbidden or free again by one owner.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    start: i64,
    /// Ends before beginnings: what is forbidden is open at both sides.
    begins: bool,
    owner: Owner,
}

/// What the sweep needs again and again.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    /// How many intervals of each unit cover the current start.
    covers: Vec<u32>,
    /// Steps done so far.
    pub steps: u64,
}

/// The lightest place found.
#[derive(Clone, Debug)]
pub(super) struct Cheapest {
    pub place: Place,
    /// Who must give way.
    pub owners: Vec<u32>,
    /// The sum of their weights.
    pub weight: u64,
}

impl Sweep {
    /// The lightest place of a unit on any of its ways, none if every start is forbidden by what is reserved. `salt` decides among
    /// equals.
    pub(super) fn cheapest(
        &mut self,
        problem: &Problem<'_>,
        state: &State,
        unit: Unit,
        weights: &[u64],
        salt: u64,
    ) -> Option<Cheapest> {
        self.covers.resize(state.units.len(), 0);
        let item = &problem.items[unit.item as usize];
        let mut best: Option<Cheapest> = None;
        for (index, way) in item.ways.iter().enumerate() {
            let Some((from, to)) = unit.window(item, way) else { continue };
            let turns = self.turns(problem, state, unit, way, from, to);
            if let Some((start, weight)) = self.lightest(&turns, from, to, weights, salt ^ index as u64)
                && best.as_ref().is_none_or(|best| weight < best.weight)
            {
                let owners = owners_at(&turns, start);
                best = Some(Cheapest {
                    place: Place { way: index as u32, start, waits: Vec::new() },
                    owners,
                    weight,
                });
            }
        }
        best
    }

    fn turns(
        &mut self,
        problem: &Problem<'_>,
        state: &State,
        unit: Unit,
        way: &Candidate,
        from: i64,
        to: i64,
    ) -> Vec<Turn> {
        let period = problem.items[unit.item as usize].period;
        let mut turns = Vec::new();
        for hop in &way.hops {
            let link = &state.links[hop.link as usize];
            for turn in 0..i64::from(unit.count) {
                let offset = hop.offset - hop.early + turn * period;
                for (busy, round) in link.touching(from + offset, to - from + hop.length) {
                    // Forbidden: busy.start - length < start + offset < busy.end.
                    let (first, last) = (busy.start + round - hop.length - offset, busy.end + round - offset);
                    turns.push(Turn { start: first.max(from - 1), begins: true, owner: busy.owner });
                    turns.push(Turn { start: last.min(to + 1), begins: false, owner: busy.owner });
                }
            }
        }
        self.steps += turns.len() as u64;
        turns.sort_unstable();
        turns
    }

    /// The start with the least weight of owners; of equals the one that `salt` picks.
    fn lightest(
        &mut self,
        turns: &[Turn],
        from: i64,
        to: i64,
        weights: &[u64],
        salt: u64,
    ) -> Option<(i64, u64)> {
        let weight_of =
            |owner: Owner| if owner == Owner::RESERVED { None } else { Some(weights[owner.0 as usize]) };
        let (mut weight, mut reserved) = (0u64, 0u32);
        let mut best: Option<(u64, u64, i64)> = None;
        let mut offer = |weight: u64, reserved: u32, start: i64| {
            if reserved == 0 && (from..=to).contains(&start) {
                let rank = (weight, mix(salt ^ start.cast_unsigned()), start);
                if best.is_none_or(|best| rank < best) {
                    best = Some(rank);
                }
            }
        };
        let mut next = 0;
        offer_before_first(turns, from, &mut offer);
        while next < turns.len() {
            let at = turns[next].start;
            while next < turns.len() && turns[next].start == at && !turns[next].begins {
                let owner = turns[next].owner;
                match weight_of(owner) {
                    None => reserved -= 1,
                    Some(one) => {
                        self.covers[owner.0 as usize] -= 1;
                        weight -= if self.covers[owner.0 as usize] == 0 { one } else { 0 };
                    }
                }
                next += 1;
            }
            // What is forbidden is open: at the very instant where one ends, and the next begins, neither counts.
            offer(weight, reserved, at);
            while next < turns.len() && turns[next].start == at && turns[next].begins {
                let owner = turns[next].owner;
                match weight_of(owner) {
                    None => reserved += 1,
                    Some(one) => {
                        weight += if self.covers[owner.0 as usize] == 0 { one } else { 0 };
                        self.covers[owner.0 as usize] += 1;
                    }
                }
                next += 1;
            }
            // Right behind a beginning the weight is higher, but for the first: the window begins in its midst.
            if at < from {
                offer(weight, reserved, from);
            }
        }
        best.map(|(weight, _, start)| (start, weight))
    }
}

/// Where nothing is forbidden yet at the window's start, it is free.
fn offer_before_first(turns: &[Turn], from: i64, offer: &mut impl FnMut(u64, u32, i64)) {
    if turns.first().is_none_or(|turn| turn.start >= from) {
        offer(0, 0, from);
    }
}

/// Whose intervals cover a start.
fn owners_at(turns: &[Turn], start: i64) -> Vec<u32> {
    let mut open: Vec<Owner> = Vec::new();
    for turn in turns {
        let closed =
            (!turn.begins && turn.start <= start).then(|| open.iter().position(|owner| *owner == turn.owner));
        if let Some(Some(place)) = closed {
            open.swap_remove(place);
        } else if turn.begins && turn.start < start {
            open.push(turn.owner);
        }
    }
    open.sort_unstable();
    open.dedup();
    open.into_iter().map(|owner| owner.0).collect()
}

/// Scatters a number (the finaliser of MurmurHash3, public domain).
pub(super) fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    value = (value ^ (value >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ (value >> 33)
}
