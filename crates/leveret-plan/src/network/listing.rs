//! Where each channel has its places, for people.

use super::model::Traffic;
use super::plan::NetworkPlan;
use crate::table::grid;
use leveret_types::{Nanos, StreamId};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Rows that are printed.
const ROWS_MAX: usize = 40;

/// A table of each channel's way: links, queues, and when its messages are sent there, from the start of their periods.
pub fn render_slots(traffic: &Traffic, plan: &NetworkPlan) -> String {
    let head = ["channel", "copy", "link", "queue", "sent at", "takes", "period"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let instants = instants(traffic, plan);
    let mut hops = 0;
    for (index, (stream, ways)) in traffic.streams.iter().zip(&plan.ways).enumerate() {
        for (copy, way) in ways.iter().enumerate() {
            for (hop, (link, queue)) in way.tree.links().zip(&way.queues).enumerate() {
                hops += 1;
                if rows.len() > ROWS_MAX {
                    continue;
                }
                let rate = traffic.network.links[link.index()].rate;
                let key = (StreamId(index as u32), copy as u8, hop as u16);
                let sent = instants.get(&key).map_or_else(String::new, |(first, last)| {
                    if first == last { first.to_string() } else { format!("{first} to {last}") }
                });
                rows.push(vec![
                    stream.name.clone(),
                    if ways.len() > 1 { copy.to_string() } else { String::new() },
                    traffic.network.link_name(link),
                    queue.to_string(),
                    sent,
                    traffic.network.frames.occupation(stream.size, rate).to_string(),
                    stream.period.to_string(),
                ]);
            }
        }
    }
    let mut text = grid(&rows);
    if hops > ROWS_MAX {
        // Writing to a text does not fail.
        let _ = writeln!(
            text,
            "  ... and {} more; all of them in --output, --format json, and `leveret gantt`",
            hops - ROWS_MAX
        );
    }
    text
}

/// By stream, copy and hop: the earliest and the latest start, from the start of the period.
fn instants(traffic: &Traffic, plan: &NetworkPlan) -> BTreeMap<(StreamId, u8, u16), (Nanos, Nanos)> {
    let mut found = BTreeMap::new();
    for slot in plan.links.iter().flatten() {
        let period = traffic.streams[slot.stream.index()].period;
        let at = slot.start - Nanos(period.0 * i64::from(slot.instance));
        let known = found.entry((slot.stream, slot.copy, slot.hop)).or_insert((at, at));
        *known = (at.min(known.0), at.max(known.1));
    }
    found
}
