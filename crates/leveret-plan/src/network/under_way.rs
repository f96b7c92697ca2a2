//! How long messages are under way.

use super::NetworkRefusal;
use super::model::Traffic;
use super::problem::{Item, Problem};
use crate::bind::div_ceil;
use leveret_types::{Nanos, NodeId, StreamId};
use std::collections::BTreeMap;

/// How long a message is under way, from the start of the first transmission to the last arrival, when nothing waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct UnderWay {
    /// On the way that would be taken first; of two copies, on the slower one.
    pub likely: Nanos,
    /// On that way, while all others whose first way has the fullest of its links are sent too, each as often as can be in a period of this one.
    pub shared: Nanos,
    /// On no way less.
    pub least: Nanos,
}

/// Of each stream, how long it is under way, with the network for itself alone.
pub(crate) fn under_way(traffic: &Traffic) -> Result<Vec<UnderWay>, NetworkRefusal> {
    let hyperperiod = traffic.validate().map_err(NetworkRefusal::Invalid)?;
    let problem = Problem::new(traffic, hyperperiod.0).map_err(NetworkRefusal::Invalid)?;
    let alone = UnderWay { likely: Nanos::ZERO, shared: Nanos::ZERO, least: Nanos::ZERO };
    let mut found = vec![alone; traffic.streams.len()];
    let demands = Demands::of(&problem);
    for item in &problem.items {
        let first = item.ways.first().map_or(0, |way| way.span);
        let one = &mut found[item.stream.index()];
        one.likely = one.likely.max(Nanos(first));
        one.shared = one.shared.max(Nanos(first.saturating_add(demands.of_others(item))));
    }
    for (index, one) in found.iter_mut().enumerate() {
        let stream = &traffic.streams[index];
        let least = |target: &NodeId| problem.least_to(StreamId(index as u32), *target);
        let each = stream.targets.iter().map(least).max().unwrap_or(0);
        // Of ways that are named nothing else is possible.
        one.least = if stream.ways.is_some() { one.likely } else { Nanos(each).min(one.likely) };
    }
    Ok(found)
}

/// What each link is asked for when everybody takes the first way: by period, the time for one message of each with that period.
struct Demands(Vec<BTreeMap<i64, i64>>);

impl Demands {
    fn of(problem: &Problem<'_>) -> Self {
        let mut links = vec![BTreeMap::new(); problem.graph.links()];
        for item in &problem.items {
            for hop in item.ways.first().map_or(&[][..], |way| &way.hops) {
                let known = links[hop.link as usize].entry(item.period).or_insert(0i64);
                *known = known.saturating_add(hop.length);
            }
        }
        Self(links)
    }

    /// What others take, in one period, of the link on the first way of `item` of which they take most.
    fn of_others(&self, item: &Item) -> i64 {
        let others = |link: u32, own: i64| {
            let all = self.0[link as usize]
                .iter()
                .map(|(period, length)| length.saturating_mul(div_ceil(item.period, *period).max(1)));
            all.fold(0, i64::saturating_add).saturating_sub(own).max(0)
        };
        let hops = item.ways.first().map_or(&[][..], |way| &way.hops);
        hops.iter().map(|hop| others(hop.link, hop.length)).max().unwrap_or(0)
    }
}
