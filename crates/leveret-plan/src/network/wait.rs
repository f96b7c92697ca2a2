//! Places where a message waits on its way, in a queue of a switch.
//!
//! Going forward from the first hop, each starts as early as its link allows; the arrival is then the earliest for that start, and a later start
//! never arrives earlier. So what is too long under way cannot start before its arrival less its latency, and the search goes on from there.

use super::place::Looks;
use super::problem::{Candidate, Hop, Item, Problem};
use super::queues::Stay;
use super::state::{Place, State, Unit};

/// Starts that are tried on one way.
const TRIES: u32 = 64;

/// The first place found at which the message may wait. `steps` grows by the stretches that were looked at.
pub(super) fn first_waiting(
    problem: &Problem<'_>,
    state: &State,
    unit: Unit,
    steps: &mut u64,
) -> Option<Place> {
    let item = &problem.items[unit.item as usize];
    let mut looks = Looks::of(item, unit);
    let place = (0..item.ways.len()).find_map(|way| on_way(problem, state, unit, item, way, &mut looks));
    *steps += looks.made();
    place
}

fn on_way(
    problem: &Problem<'_>,
    state: &State,
    unit: Unit,
    item: &Item,
    index: usize,
    looks: &mut Looks,
) -> Option<Place> {
    let way = &item.ways[index];
    let (mut from, to) = unit.window(item, way)?;
    let latest = i64::from(unit.first) * item.period + item.deadline;
    for _ in 0..TRIES {
        let starts = forward(state, unit, item, way, from, looks)?;
        let is_root = |hop: &Hop| hop.parent == Hop::NO_PARENT;
        let start =
            way.hops.iter().zip(&starts).filter(|(hop, _)| is_root(hop)).map(|(_, start)| *start).min()?;
        let targets = way.hops.iter().zip(&starts).filter(|(hop, _)| hop.arrival >= 0);
        let arrival = targets.map(|(hop, start)| start + hop.arrival).max()?;
        if arrival > latest || start > to {
            return None;
        }
        if arrival - start <= item.latency {
            let waits = way.hops.iter().zip(&starts).map(|(hop, own)| own - start - hop.offset).collect();
            let place = Place { way: index as u32, start, waits };
            if state.queues.admits(problem, state, unit, way, &place) {
                return Some(place);
            }
            from = start + 1;
        } else {
            from = (start + 1).max(arrival - item.latency);
        }
    }
    None
}

/// Each hop as early as it can be, if the first may not start before `from`.
fn forward(
    state: &State,
    unit: Unit,
    item: &Item,
    way: &Candidate,
    from: i64,
    looks: &mut Looks,
) -> Option<Vec<i64>> {
    let mut starts: Vec<i64> = Vec::with_capacity(way.hops.len());
    for hop in &way.hops {
        let ready = if hop.parent == Hop::NO_PARENT { from } else { starts[hop.parent as usize] + hop.after };
        starts.push(free_from(state, *hop, ready, unit.count, item.period, looks)?);
    }
    Some(starts)
}

/// The first instant from which a link is free for a message, in each of its periods.
fn free_from(state: &State, hop: Hop, ready: i64, count: u32, period: i64, looks: &mut Looks) -> Option<i64> {
    let mut start = ready;
    let mut content = 0;
    let mut turn = 0;
    while content < count {
        looks.look()?;
        let shift =
            state.links[hop.link as usize].shift(start - hop.early + i64::from(turn) * period, hop.length)?;
        if shift > 0 {
            content = 0;
            start += shift;
            if start - ready > period {
                return None;
            }
        }
        content += 1;
        turn = (turn + 1) % count;
    }
    Some(start)
}

/// How long a message stays at the port of a hop: from when it can first be there to the start of its last frame.
pub(super) fn stay(way: &Candidate, place: &Place, hop: usize) -> Option<Stay> {
    let this = &way.hops[hop];
    if this.parent == Hop::NO_PARENT {
        return None;
    }
    let start = State::start_of(way, place, hop);
    let ready = State::start_of(way, place, this.parent as usize) + this.after;
    Some(Stay { from: ready - this.early, to: start + this.last_start })
}
