//! From a plan to the files that the collection's simulator reads.

use leveret_plan::network::{NetworkPlan, Traffic};
use leveret_types::LinkId;
use std::fmt::Write;

/// The files of a schedule; each is called as the collection does, `NAME-GCL.csv` and so on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule {
    /// Gates: which queue of which link is open when.
    pub gates: String,
    /// When each instance is sent, from the start of its period.
    pub offsets: String,
    /// The queue that each instance takes.
    pub queues: String,
    /// The links of each stream.
    pub routes: String,
}

/// Writes a plan down, for the traffic that it was made for and that [`super::read`] had read.
pub fn write(traffic: &Traffic, plan: &NetworkPlan) -> Schedule {
    let mut schedule = Schedule {
        gates: "link,queue,start,end,cycle\n".to_owned(),
        offsets: "stream,frame,offset\n".to_owned(),
        queues: "stream,frame,link,queue\n".to_owned(),
        routes: "stream,link\n".to_owned(),
    };
    let name = |link: LinkId| {
        let (source, target) = traffic.network.ends(&traffic.network.links[link.index()]);
        format!("\"({source}, {target})\"")
    };
    // Writing to a text does not fail.
    for (stream, ways) in traffic.streams.iter().zip(&plan.ways) {
        for way in ways {
            for (hop, queue) in way.tree.hops.iter().zip(&way.queues) {
                let link = name(hop.link);
                let _ = writeln!(schedule.routes, "{},{link}", stream.name);
                for instance in 0..plan.hyperperiod.0 / stream.period.0.max(1) {
                    let _ = writeln!(schedule.queues, "{},{instance},{link},{queue}", stream.name);
                }
            }
        }
    }
    for (index, slots) in plan.links.iter().enumerate() {
        let link = LinkId(index as u32);
        for slot in slots {
            let stream = &traffic.streams[slot.stream.index()];
            let way = &plan.ways[slot.stream.index()][usize::from(slot.copy)];
            let hop = usize::from(slot.hop);
            let start = slot.start.0.rem_euclid(plan.hyperperiod.0);
            let length = traffic.network.frames.occupation(stream.size, traffic.network.links[index].rate);
            let _ = writeln!(
                schedule.gates,
                "{},{},{start},{},{}",
                name(link),
                way.queues[hop],
                start + length.0,
                plan.hyperperiod.0
            );
            if way.tree.hops[hop].parent.is_none() {
                let offset = slot.start.0 - i64::from(slot.instance) * stream.period.0;
                let _ = writeln!(schedule.offsets, "{},{},{offset}", stream.name, slot.instance);
            }
        }
    }
    schedule
}
