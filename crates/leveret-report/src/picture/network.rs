//! The plan of a network: a row for each link, a bar for each slot.

use super::{Bar, Group, Instance, Picture, Reserved, Row};
use leveret_plan::network::{NetworkPlan, Stream, Traffic, Way};
use leveret_types::{LinkId, Nanos};

/// Sections, from top to bottom, so that a way leads downwards.
const SECTIONS: [&str; 3] = ["from hosts", "between switches", "to hosts"];

/// The picture of a plan that the checker accepted for this traffic. Links without slots and reservations are left out.
pub fn network(name: &str, traffic: &Traffic, plan: &NetworkPlan) -> Picture {
    let (rows, row_of) = rows(traffic, plan);
    let mut drawing = Drawing {
        traffic,
        plan,
        first: Vec::with_capacity(plan.ways.len()),
        starts: Vec::new(),
        bars: Vec::new(),
        instances: Vec::new(),
    };
    drawing.instances();
    drawing.bars(&row_of);
    drawing.follow();
    let streams = traffic.streams.iter().zip(&plan.ways);
    Picture {
        title: format!("network \"{name}\""),
        round: plan.hyperperiod,
        span: (Nanos::ZERO, plan.hyperperiod),
        rows,
        groups: streams.map(|(stream, ways)| group(traffic, stream, ways)).collect(),
        instances: drawing.instances,
        bars: drawing.bars,
        ..Picture::default()
    }
}

/// The rows, and which one each link has.
fn rows(traffic: &Traffic, plan: &NetworkPlan) -> (Vec<Row>, Vec<u32>) {
    let network = &traffic.network;
    let forwards = |node| network.forwarding(node).is_some();
    let section = |link: usize| {
        let link = &network.links[link];
        match (forwards(link.source), forwards(link.target)) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 2,
        }
    };
    let in_use = |link: &usize| !plan.links[*link].is_empty() || !network.links[*link].reserved.is_empty();
    let mut order: Vec<usize> = (0..network.links.len()).filter(in_use).collect();
    order.sort_by_key(|link| (section(*link), *link));
    let mut row_of = vec![0; network.links.len()];
    let mut rows = Vec::with_capacity(order.len());
    for (row, link) in order.into_iter().enumerate() {
        row_of[link] = row as u32;
        let reserved = network.links[link].reserved.iter().map(|one| Reserved {
            period: one.period,
            start: one.start,
            length: one.length,
        });
        rows.push(Row {
            name: network.link_name(LinkId(link as u32)),
            section: SECTIONS[section(link)].to_owned(),
            reserved: reserved.collect(),
        });
    }
    (rows, row_of)
}

fn group(traffic: &Traffic, stream: &Stream, ways: &[Way]) -> Group {
    let node = |node: leveret_types::NodeId| traffic.network.nodes[node.index()].name.clone();
    let targets: Vec<_> = stream.targets.iter().map(|target| node(*target)).collect();
    let hops: Vec<_> = ways.iter().map(|way| way.tree.hops.len().to_string()).collect();
    let mut facts = vec![
        ("source", node(stream.source)),
        (if targets.len() == 1 { "target" } else { "targets" }, targets.join(", ")),
        ("size", stream.size.to_string()),
        ("period", stream.period.to_string()),
        ("window", format!("{} to {}", stream.release, stream.deadline)),
        ("links", hops.join(" and ")),
    ];
    facts.extend(stream.latency.map(|latency| ("latency at most", latency.to_string())));
    facts.extend(stream.jitter.map(|jitter| ("jitter at most", jitter.to_string())));
    if stream.copies > 1 {
        facts.push(("copies", stream.copies.to_string()));
    }
    Group { name: stream.name.clone(), kind: "channel", part: "hop", facts, members: Vec::new() }
}

/// What grows while the slots are walked.
struct Drawing<'a> {
    traffic: &'a Traffic,
    plan: &'a NetworkPlan,
    /// By stream, then copy: its first instance here, and the first place in [`Self::starts`].
    first: Vec<Vec<(usize, usize)>>,
    /// The bar of every hop of every instance.
    starts: Vec<u32>,
    bars: Vec<Bar>,
    instances: Vec<Instance>,
}

impl Drawing<'_> {
    fn instances(&mut self) {
        for (index, (stream, ways)) in self.traffic.streams.iter().zip(&self.plan.ways).enumerate() {
            let mut copies = Vec::with_capacity(ways.len());
            for (copy, way) in ways.iter().enumerate() {
                copies.push((self.instances.len(), self.starts.len()));
                let count = (self.plan.hyperperiod.0 / stream.period.0.max(1)) as u32;
                self.instances.extend((0..count).map(|number| {
                    let begin = stream.period.saturating_mul(i64::from(number));
                    Instance {
                        group: index as u32,
                        number,
                        copy: copy as u8,
                        earliest: begin + stream.release,
                        latest: begin + stream.deadline,
                        end: Nanos(i64::MIN),
                    }
                }));
                self.starts.resize(self.starts.len() + count as usize * way.tree.hops.len(), 0);
            }
            self.first.push(copies);
        }
    }

    fn bars(&mut self, row_of: &[u32]) {
        for (index, slots) in self.plan.links.iter().enumerate() {
            let link = &self.traffic.network.links[index];
            for slot in slots {
                let stream = &self.traffic.streams[slot.stream.index()];
                let length = self.traffic.network.frames.occupation(stream.size, link.rate);
                let (instances, starts) = self.first[slot.stream.index()][usize::from(slot.copy)];
                let hops = self.plan.ways[slot.stream.index()][usize::from(slot.copy)].tree.hops.len();
                let instance = instances + slot.instance as usize;
                self.starts[starts + slot.instance as usize * hops + usize::from(slot.hop)] =
                    self.bars.len() as u32;
                if stream.targets.contains(&link.target) {
                    let arrival =
                        slot.start + length + link.propagation + link.processing + self.traffic.clock_error;
                    let end = &mut self.instances[instance].end;
                    *end = arrival.max(*end);
                }
                self.bars.push(Bar {
                    row: row_of[index],
                    instance: instance as u32,
                    start: slot.start,
                    length,
                    lead: Nanos::ZERO,
                    part: slot.hop,
                    after: None,
                });
            }
        }
    }

    /// Tells each bar which it follows, and each instance when it must be over because of its latency.
    fn follow(&mut self) {
        for (ways, copies) in self.plan.ways.iter().zip(&self.first) {
            for (way, (instances, starts)) in ways.iter().zip(copies) {
                let hops = way.tree.hops.len();
                let Some(first) = self.instances.get(*instances) else { continue };
                let stream = &self.traffic.streams[first.group as usize];
                let count = (self.plan.hyperperiod.0 / stream.period.0.max(1)) as usize;
                for turn in 0..count {
                    let own = &self.starts[starts + turn * hops..][..hops];
                    for (hop, bar) in way.tree.hops.iter().zip(own) {
                        self.bars[*bar as usize].after = hop.parent.map(|parent| own[parent as usize]);
                    }
                    let roots = way.tree.hops.iter().zip(own).filter(|(hop, _)| hop.parent.is_none());
                    let departure = roots.map(|(_, bar)| self.bars[*bar as usize].start).min();
                    if let (Some(departure), Some(latency)) = (departure, stream.latency) {
                        let latest = &mut self.instances[instances + turn].latest;
                        // The end counts the error of one clock, a latency that of two.
                        *latest = (departure + latency - self.traffic.clock_error).min(*latest);
                    }
                }
            }
        }
    }
}
