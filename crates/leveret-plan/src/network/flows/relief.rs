//! What is in the way of a late flow: slots of the table, and cables that are slow. Each change is tried with a new table.

use super::late::{HopShares, Trials};
use crate::network::change::NetworkChange;
use crate::network::ladder::Ladder;
use crate::network::model::Traffic;
use crate::network::plan::NetworkPlan;
use crate::network::remedy::{period, rates, size};
use leveret_types::{Nanos, StreamId};
use std::collections::BTreeMap;

/// Streams whose slots are in the way that are changed.
const STREAMS_MAX: usize = 4;
/// Cables that are made faster.
const CABLES_MAX: usize = 4;
/// Tables that are planned for one flow.
const TABLES_MAX: usize = 64;
/// Streams that are planned for all of them together, and at least so many tables.
const PLANNED_MAX: usize = 20_000;
const TABLES_MIN: usize = 8;

impl Trials<'_> {
    /// Smaller messages and longer periods of what the table sends before it, and faster cables.
    pub(super) fn relief(
        &self,
        hops: &[HopShares],
        table: &impl Fn(&Traffic) -> Option<NetworkPlan>,
    ) -> Vec<NetworkChange> {
        let mut tables = (PLANNED_MAX / self.traffic.streams.len().max(1)).clamp(TABLES_MIN, TABLES_MAX);
        let mut fits = |change: &NetworkChange| {
            let Some(left) = tables.checked_sub(1) else { return false };
            tables = left;
            let mut traffic = self.traffic.clone();
            change.apply(&mut traffic);
            let Some(mut plan) = table(&traffic) else { return false };
            super::complete(&traffic, &mut plan, self.plan.flows.clone());
            self.helps(&traffic, &plan)
        };
        let mut slow: Vec<&HopShares> = hops.iter().collect();
        slow.sort_by_key(|hop| std::cmp::Reverse((hop.delay, std::cmp::Reverse(hop.link))));
        let streams = self.in_the_way(hops);
        let mut found: Vec<NetworkChange> = Vec::new();
        // Of each kind the most promising first, so that where few are asked for they are of all kinds.
        for rank in 0..STREAMS_MAX.max(CABLES_MAX) {
            if let Some(id) = streams.get(rank) {
                let size = size(*id, &self.traffic.streams[id.index()]);
                found.extend(size.and_then(|ladder| smallest(&ladder, &mut fits)));
                found.extend(period(*id, self.traffic).and_then(|ladder| first(&ladder, &mut fits)));
            }
            if let Some(hop) = slow.get(rank).filter(|_| rank < CABLES_MAX) {
                found.extend(first(&rates(hop.link, self.traffic), &mut fits));
            }
        }
        found
    }

    /// Streams with slots on a flow's way, those first that take most of the links where it waits for slots.
    fn in_the_way(&self, hops: &[HopShares]) -> Vec<StreamId> {
        let mut taken: BTreeMap<StreamId, i64> = BTreeMap::new();
        for hop in hops.iter().filter(|hop| hop.table > Nanos::ZERO || hop.delay == Nanos::MAX) {
            let rate = self.traffic.network.links[hop.link.index()].rate;
            for slot in &self.plan.links[hop.link.index()] {
                let size = self.traffic.streams[slot.stream.index()].size;
                let length = self.traffic.network.frames.occupation(size, rate).0;
                let most = taken.entry(slot.stream).or_default();
                *most = most.saturating_add(length);
            }
        }
        let mut streams: Vec<(i64, StreamId)> =
            taken.into_iter().map(|(stream, time)| (time, stream)).collect();
        streams.sort_by_key(|(time, stream)| (std::cmp::Reverse(*time), *stream));
        streams.into_iter().take(STREAMS_MAX).map(|(_, stream)| stream).collect()
    }
}

/// The change nearest to what is declared that was seen to do.
fn smallest(ladder: &Ladder, fits: &mut impl FnMut(&NetworkChange) -> bool) -> Option<NetworkChange> {
    ladder.nearest(0, fits).map(|rung| ladder.at(rung))
}

/// The first of a few.
fn first(ladder: &Ladder, fits: &mut impl FnMut(&NetworkChange) -> bool) -> Option<NetworkChange> {
    (1..=ladder.count()).map(|rung| ladder.at(rung)).find(|change| fits(change))
}
