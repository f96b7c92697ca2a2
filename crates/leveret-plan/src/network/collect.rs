//! From a state to a plan.

use super::plan::{NETWORK_PLAN_VERSION, NetworkPlan, Slot, Way};
use super::problem::Problem;
use super::state::State;
use super::timeline::on_circle;
use leveret_types::Nanos;

/// All that has a place.
pub(super) fn collect(problem: &Problem<'_>, state: &State) -> NetworkPlan {
    let hyperperiod = problem.hyperperiod;
    let mut ways: Vec<Vec<Way>> =
        problem.traffic.streams.iter().map(|stream| Vec::with_capacity(usize::from(stream.copies))).collect();
    let chosen = chosen_ways(problem, state);
    for (index, (item, way)) in problem.items.iter().zip(chosen).enumerate() {
        let tree = item.ways[way as usize].tree.clone();
        let queues = tree.links().map(|link| state.queues.of(link.0, index as u32)).collect();
        ways[item.stream.index()].push(Way { tree, queues });
    }
    let mut links: Vec<Vec<Slot>> = vec![Vec::new(); state.links.len()];
    for (unit, place) in state.units.iter().zip(&state.places) {
        let Some(place) = place else { continue };
        let item = &problem.items[unit.item as usize];
        let way = &item.ways[place.way as usize];
        for (index, hop) in way.hops.iter().enumerate() {
            let start = State::start_of(way, place, index);
            for turn in 0..unit.count {
                let start = Nanos(start + i64::from(turn) * item.period);
                links[hop.link as usize].push(Slot {
                    start,
                    stream: item.stream,
                    copy: item.copy,
                    instance: unit.first + turn,
                    hop: index as u16,
                });
            }
        }
    }
    for slots in &mut links {
        slots.sort_unstable_by_key(|slot| on_circle(slot.start.0, hyperperiod));
    }
    NetworkPlan {
        version: NETWORK_PLAN_VERSION,
        hyperperiod: Nanos(hyperperiod),
        ways,
        classes: vec![Vec::new(); links.len()],
        links,
        flows: Vec::new(),
    }
}

/// Of each item: the way of its units; the first that it knows, if it has no place.
fn chosen_ways(problem: &Problem<'_>, state: &State) -> Vec<u32> {
    let mut chosen = vec![0; problem.items.len()];
    for (unit, place) in state.units.iter().zip(&state.places) {
        if let Some(place) = place {
            chosen[unit.item as usize] = place.way;
        }
    }
    chosen
}
