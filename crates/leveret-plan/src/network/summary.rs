//! What a plan gives each channel and leaves each link; as values, and as a table for people.

use super::backlog::{QueueUse, queue_use, together};
use super::flows::{flow_bounds, rests};
use super::model::Traffic;
use super::plan::{ClassBound, NetworkPlan};
use crate::table::grid;
use leveret_types::{BitRate, ByteSize, LinkId, Nanos, StreamId};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What a network plan gives and leaves.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct NetworkSummary {
    /// Everything repeats after it.
    pub hyperperiod: Nanos,
    /// Per stream, in the model's order.
    pub streams: Vec<StreamSummary>,
    /// Per link, in the model's order.
    pub links: Vec<LinkSummary>,
    /// Per flow, in the model's order.
    pub flows: Vec<FlowSummary>,
    /// Per port and class that flows use, in the model's order of links, the most urgent class first.
    pub classes: Vec<ClassSummary>,
}

/// What a flow is promised.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FlowSummary {
    /// Its name.
    pub name: String,
    /// Its class; none for best effort.
    pub class: Option<u8>,
    /// Links of its longest way.
    pub hops: u32,
    /// Longest time from a message at its source to its arrival at the target that it reaches last, clock error included; none where nothing is promised.
    pub bound: Option<Nanos>,
    /// Its deadline.
    pub deadline: Option<Nanos>,
    /// From the bound to the deadline.
    pub slack: Option<Nanos>,
}

/// What a class is promised at a port, and needs there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ClassSummary {
    /// The link that the port sends into.
    pub link: String,
    /// The class.
    pub class: u8,
    /// Longest time from a frame ready to its last bit sent; none where nothing is promised.
    pub delay: Option<Nanos>,
    /// Most bytes on the wire that wait or are being sent: the buffer that it needs.
    pub backlog: Option<u64>,
}

/// What a stream gets.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct StreamSummary {
    /// Its name.
    pub name: String,
    /// Links of its longest way.
    pub hops: u32,
    /// Longest time from the start of the first slot to the last arrival, clock error included.
    pub latency: Nanos,
    /// What that may be at most, where it is declared.
    pub latency_limit: Option<Nanos>,
    /// Latest arrival, from the start of the period.
    pub arrival: Nanos,
    /// From there to the deadline, or from the latency to its limit, whichever is less.
    pub slack: Nanos,
    /// How much arrivals differ from period to period, at that target where it is most.
    pub jitter: Nanos,
}

/// What a link has left.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LinkSummary {
    /// Its ends.
    pub name: String,
    /// Slots of a hyperperiod.
    pub slots: u32,
    /// Time of a hyperperiod that slots take.
    pub used: Nanos,
    /// Time that is reserved.
    pub reserved: Nanos,
    /// Time left for other traffic, without what must be kept free before slots where nothing preempts.
    pub left: Nanos,
    /// Longest stretch without a slot.
    pub longest_gap: Nanos,
    /// Queues that slots use.
    pub queues: u32,
    /// What each of them holds at most: the buffers that planned messages need at the port.
    pub queue_use: Vec<QueueUse>,
    /// Bits per second that are left for best effort in the long run, after slots, with a whole frame kept free before each, and after flows.
    pub best_effort: u64,
}

/// Of a plan that the checker accepted for this traffic.
pub fn summarise(traffic: &Traffic, plan: &NetworkPlan) -> NetworkSummary {
    let rests = rests(traffic, plan);
    let queues = queue_use(traffic, plan);
    let links = rests.iter().zip(queues).enumerate();
    let links = links.map(|(link, (rest, used))| link_summary(traffic, plan, link, (*rest, used))).collect();
    NetworkSummary {
        hyperperiod: plan.hyperperiod,
        streams: stream_summaries(traffic, plan),
        links,
        flows: (0..traffic.flows.len()).map(|flow| flow_summary(traffic, plan, flow)).collect(),
        classes: class_summaries(traffic, plan),
    }
}

fn flow_summary(traffic: &Traffic, plan: &NetworkPlan, index: usize) -> FlowSummary {
    let flow = &traffic.flows[index];
    let hops = &plan.flows[index].hops;
    let mut depths: Vec<u32> = Vec::with_capacity(hops.len());
    for hop in hops {
        depths.push(hop.parent.map_or(1, |parent| depths[parent as usize] + 1));
    }
    let bound = flow_bounds(traffic, plan, index).into_iter().max().filter(|bound| *bound < Nanos::MAX);
    FlowSummary {
        name: flow.name.clone(),
        class: flow.class,
        hops: depths.into_iter().max().unwrap_or(0),
        bound,
        deadline: flow.deadline,
        slack: flow.deadline.zip(bound).map(|(deadline, bound)| deadline - bound),
    }
}

fn class_summaries(traffic: &Traffic, plan: &NetworkPlan) -> Vec<ClassSummary> {
    let of_link = |(link, classes): (usize, &Vec<ClassBound>)| {
        let name = traffic.network.link_name(LinkId(link as u32));
        let summary = |bound: &ClassBound| {
            let is_promised = bound.delay < Nanos::MAX;
            ClassSummary {
                link: name.clone(),
                class: bound.class,
                delay: is_promised.then_some(bound.delay),
                backlog: is_promised.then_some(bound.backlog.0),
            }
        };
        classes.iter().map(summary).collect::<Vec<_>>()
    };
    plan.classes.iter().enumerate().flat_map(of_link).collect()
}

fn stream_summaries(traffic: &Traffic, plan: &NetworkPlan) -> Vec<StreamSummary> {
    // First departure of each instance of each copy, then arrivals against it.
    let mut departures: Vec<Vec<Vec<i64>>> = Vec::with_capacity(plan.ways.len());
    for (stream, ways) in traffic.streams.iter().zip(&plan.ways) {
        let count = (plan.hyperperiod.0 / stream.period.0) as usize;
        departures.push(vec![vec![i64::MAX; count]; ways.len()]);
    }
    for slot in plan.links.iter().flatten() {
        let start = &mut departures[slot.stream.index()][usize::from(slot.copy)][slot.instance as usize];
        *start = slot.start.0.min(*start);
    }
    let mut found = vec![(0i64, i64::MIN, 0i64); traffic.streams.len()];
    // At one link, which leads to one target: the earliest and the latest arrival of each copy that comes there.
    let mut earliest: BTreeMap<(StreamId, u8), (i64, i64)> = BTreeMap::new();
    for (index, slots) in plan.links.iter().enumerate() {
        let link = &traffic.network.links[index];
        for slot in slots {
            let stream = &traffic.streams[slot.stream.index()];
            if !stream.targets.contains(&link.target) {
                continue;
            }
            let time = traffic.network.frames.occupation(stream.size, link.rate)
                + link.propagation
                + link.processing;
            let end = slot.start.0 + time.0;
            let departure = departures[slot.stream.index()][usize::from(slot.copy)][slot.instance as usize];
            let arrival = end - i64::from(slot.instance) * stream.period.0;
            let (latency, latest, _) = &mut found[slot.stream.index()];
            *latency = (end - departure).max(*latency);
            *latest = arrival.max(*latest);
            let here = earliest.entry((slot.stream, slot.copy)).or_insert((arrival, arrival));
            *here = (arrival.min(here.0), arrival.max(here.1));
        }
        for ((stream, _), (first, last)) in std::mem::take(&mut earliest) {
            let (_, _, jitter) = &mut found[stream.index()];
            *jitter = (last - first).max(*jitter);
        }
    }
    let error = traffic.clock_error;
    let summary = |(index, (latency, latest, jitter)): (usize, (i64, i64, i64))| {
        let stream = &traffic.streams[index];
        let depth = |way: &super::Way| way.tree.hops.len() as u32;
        let latency = Nanos(latency) + error + error;
        let slack = stream.deadline - error - Nanos(latest);
        StreamSummary {
            name: stream.name.clone(),
            hops: plan.ways[index].iter().map(depth).max().unwrap_or(0),
            latency,
            latency_limit: stream.latency,
            arrival: Nanos(latest) + error,
            slack: stream.latency.map_or(slack, |limit| slack.min(limit - latency)),
            jitter: Nanos(jitter),
        }
    };
    found.into_iter().enumerate().map(summary).collect()
}

fn link_summary(
    traffic: &Traffic,
    plan: &NetworkPlan,
    index: usize,
    (best_effort, queue_use): (u64, Vec<QueueUse>),
) -> LinkSummary {
    let link = &traffic.network.links[index];
    let slots = &plan.links[index];
    let round = plan.hyperperiod.0;
    let length = |stream: StreamId| {
        traffic.network.frames.occupation(traffic.streams[stream.index()].size, link.rate).0
    };
    let used: i64 = slots.iter().map(|slot| length(slot.stream)).sum();
    let ends = slots.iter().map(|slot| slot.start.0.rem_euclid(round) + length(slot.stream));
    let next = slots.iter().skip(1).map(|slot| slot.start.0.rem_euclid(round));
    let around = slots.first().map(|first| first.start.0.rem_euclid(round) + round);
    let gaps = ends.zip(next.chain(around)).map(|(end, next)| next - end);
    let reserved: i64 = link.reserved.iter().map(|one| round / one.period.0.max(1) * one.length.0).sum();
    let reserved = reserved.min(round - used);
    LinkSummary {
        name: traffic.network.link_name(LinkId(index as u32)),
        slots: slots.len() as u32,
        used: Nanos(used),
        reserved: Nanos(reserved),
        left: Nanos(round - used - reserved),
        longest_gap: Nanos(gaps.max().unwrap_or(round)),
        queues: queue_use.len() as u32,
        queue_use,
        best_effort,
    }
}

/// Rows of either kind that are printed.
const ROWS_MAX: usize = 40;

impl NetworkSummary {
    /// Two tables: links by use, channels by slack; the first of each, where there are many.
    pub fn render(&self) -> String {
        let mut text = String::new();
        let mut links: Vec<_> = self.links.iter().filter(|link| link.slots > 0).collect();
        links.sort_by(|a, b| b.used.cmp(&a.used).then(a.name.cmp(&b.name)));
        let head =
            ["link", "used", "", "reserved", "left", "longest gap", "slots", "waits at most", "best effort"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for link in links.iter().take(ROWS_MAX) {
            let share = link.used.0 as f64 * 100.0 / self.hyperperiod.0.max(1) as f64;
            let times = [link.reserved, link.left, link.longest_gap].map(|time| time.to_string());
            let [reserved, left, gap] = times;
            let (used, share) = (link.used.to_string(), format!("{share:.1} %"));
            let (waits, rest) = (together(&link.queue_use).to_string(), rate(link.best_effort));
            let slots = link.slots.to_string();
            rows.push(vec![link.name.clone(), used, share, reserved, left, gap, slots, waits, rest]);
        }
        text.push_str(&grid(&rows));
        more(&mut text, links.len(), "links");
        let mut streams: Vec<_> = self.streams.iter().collect();
        streams.sort_by(|a, b| a.slack.cmp(&b.slack).then(a.name.cmp(&b.name)));
        let head = ["channel", "links", "latency", "arrives by", "slack", "jitter"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for stream in streams.iter().take(ROWS_MAX) {
            let limit = stream.latency_limit.map_or(String::new(), |limit| format!(" of {limit}"));
            let latency = format!("{}{limit}", stream.latency);
            let [arrival, slack, jitter] =
                [stream.arrival, stream.slack, stream.jitter].map(|time| time.to_string());
            rows.push(vec![stream.name.clone(), stream.hops.to_string(), latency, arrival, slack, jitter]);
        }
        text.push('\n');
        text.push_str(&grid(&rows));
        more(&mut text, streams.len(), "channels, with more slack");
        if !self.flows.is_empty() {
            self.render_flows(&mut text);
        }
        text
    }

    /// What is promised beside the time table: flows by slack, classes by delay, and what is left of their links.
    fn render_flows(&self, text: &mut String) {
        let shown = |time: Option<Nanos>| time.map_or("none".to_owned(), |time| time.to_string());
        let mut flows: Vec<_> = self.flows.iter().collect();
        let by_slack =
            |flow: &&FlowSummary| (flow.slack.unwrap_or(Nanos::MAX), std::cmp::Reverse(flow.class));
        flows.sort_by(|a, b| by_slack(a).cmp(&by_slack(b)).then(a.name.cmp(&b.name)));
        let head = ["channel", "priority", "links", "arrives within", "deadline", "slack"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for flow in flows.iter().take(ROWS_MAX) {
            let priority = flow.class.map_or("best effort".to_owned(), |class| class.to_string());
            let [bound, deadline, slack] = [flow.bound, flow.deadline, flow.slack].map(shown);
            rows.push(vec![flow.name.clone(), priority, flow.hops.to_string(), bound, deadline, slack]);
        }
        text.push_str("\nbeside the time table\n");
        text.push_str(&grid(&rows));
        more(text, flows.len(), "channels, with more slack");
        let mut classes: Vec<_> = self.classes.iter().collect();
        classes.sort_by_key(|class| std::cmp::Reverse(class.delay.unwrap_or(Nanos::MAX)));
        let left: BTreeMap<&str, u64> =
            self.links.iter().map(|link| (link.name.as_str(), link.best_effort)).collect();
        let head = ["link", "priority", "delay at most", "waits at most", "left for best effort"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for class in classes.iter().take(ROWS_MAX) {
            let backlog = class.backlog.map_or("no limit".to_owned(), |bytes| ByteSize(bytes).to_string());
            let left = rate(left.get(class.link.as_str()).copied().unwrap_or(0));
            let delay = class.delay.map_or("no bound".to_owned(), |delay| delay.to_string());
            rows.push(vec![class.link.clone(), class.class.to_string(), delay, backlog, left]);
        }
        text.push('\n');
        text.push_str(&grid(&rows));
        more(text, classes.len(), "ports and priorities, with shorter delays");
        if self.classes.iter().any(|class| class.delay.is_none()) {
            text.push_str(
                "  no bound: more may come there than can be sent in the long run; a longer `interval` or a faster link would do, and a `deadline` has such a channel refused\n",
            );
        }
    }
}

/// What is left for best effort.
fn rate(bits_per_second: u64) -> String {
    if bits_per_second == 0 { "nothing".to_owned() } else { BitRate(bits_per_second).to_string() }
}

/// Says how many rows were left out, if any were.
fn more(text: &mut String, all: usize, what: &str) {
    if let Some(more) = all.checked_sub(ROWS_MAX + 1) {
        // Writing to a text does not fail.
        let _ = writeln!(text, "  ... and {} more {what}", more + 1);
    }
}
