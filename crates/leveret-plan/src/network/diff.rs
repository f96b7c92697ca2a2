//! What differs between two plans of networks, by the names of channels, hosts and switches.

use super::flow::Flow;
use super::flows::flow_bounds;
use super::model::{Stream, Traffic};
use super::plan::{NetworkPlan, Slot};
use leveret_topology::Tree;
use leveret_types::{Nanos, NodeId};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What became of the channels of a plan in another.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct NetworkDiff {
    /// Channels of the second alone.
    pub added: Vec<String>,
    /// Channels of the first alone.
    pub removed: Vec<String>,
    /// Channels of both that are not where they were, or not what they were.
    pub changed: Vec<ChannelDiff>,
    /// Channels beside the time table, in one of them at least, that are declared otherwise, take another way or have another bound.
    pub changed_flows: Vec<FlowDiff>,
    /// How many channels are as they were.
    pub kept: usize,
}

/// What became of one channel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ChannelDiff {
    /// Its name.
    pub name: String,
    /// Whether it is declared otherwise.
    pub declared_otherwise: bool,
    /// The way that it takes now, if it is another: the names of its links.
    pub way: Option<Vec<String>>,
    /// Whether it takes another queue somewhere.
    pub other_queue: bool,
    /// How many of its transmissions start at another instant.
    pub moved: usize,
    /// Of how many.
    pub transmissions: usize,
    /// The longest way that one of them moved: later if it is positive.
    pub farthest: Nanos,
}

/// What became of a channel beside the time table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FlowDiff {
    /// Its name.
    pub name: String,
    /// Whether it is declared otherwise; so is what one of the plans has in its table.
    pub declared_otherwise: bool,
    /// The way that it takes now, if it is another: the names of its links.
    pub way: Option<Vec<String>>,
    /// The longest time to the target that it reaches last, before and after, where that differs; none where nothing is promised, or it stands in the table.
    pub bound: Option<[Option<Nanos>; 2]>,
}

/// The starts of a channel, by instance, link and copy.
type Starts = BTreeMap<(i64, String, u8), Nanos>;

/// Compares two plans. Where they repeat at different intervals, the first common one is compared.
pub fn diff_networks(first: (&Traffic, &NetworkPlan), second: (&Traffic, &NetworkPlan)) -> NetworkDiff {
    let (before, after) = (channels(first), channels(second));
    let (flows_before, flows_after) = (flows(first), flows(second));
    let names = |channels: &BTreeMap<&str, usize>, flows: &BTreeMap<&str, usize>| -> BTreeSet<String> {
        channels.keys().chain(flows.keys()).map(|name| (*name).to_owned()).collect()
    };
    let (old, new) = (names(&before, &flows_before), names(&after, &flows_after));
    let mut diff = NetworkDiff {
        added: new.difference(&old).cloned().collect(),
        removed: old.difference(&new).cloned().collect(),
        ..NetworkDiff::default()
    };
    let rounds = (first.1.hyperperiod, second.1.hyperperiod);
    for (name, old) in &before {
        let Some(new) = after.get(name) else { continue };
        match compare(name, first, second, (*old, *new), rounds) {
            Some(changed) => diff.changed.push(changed),
            None => diff.kept += 1,
        }
    }
    for name in old.intersection(&new) {
        let places = (flows_before.get(name.as_str()).copied(), flows_after.get(name.as_str()).copied());
        if places == (None, None) {
            continue;
        }
        match compare_flows(name, first, second, places) {
            Some(changed) => diff.changed_flows.push(changed),
            None => diff.kept += 1,
        }
    }
    diff
}

fn flows<'a>((traffic, _): (&'a Traffic, &NetworkPlan)) -> BTreeMap<&'a str, usize> {
    traffic.flows.iter().enumerate().map(|(index, flow)| (flow.name.as_str(), index)).collect()
}

fn compare_flows(
    name: &str,
    first: (&Traffic, &NetworkPlan),
    second: (&Traffic, &NetworkPlan),
    (old, new): (Option<usize>, Option<usize>),
) -> Option<FlowDiff> {
    let bound = |(traffic, plan): (&Traffic, &NetworkPlan), index: Option<usize>| {
        let longest = flow_bounds(traffic, plan, index?).into_iter().max();
        longest.filter(|bound| *bound < Nanos::MAX)
    };
    let way = |(traffic, plan): (&Traffic, &NetworkPlan), index: usize| -> Vec<String> {
        plan.flows[index].links().map(|link| traffic.network.link_name(link)).collect()
    };
    let declared = |(traffic, _): (&Traffic, &NetworkPlan), index: usize| {
        let flow = &traffic.flows[index];
        let names = node_names(traffic, flow.source, &flow.targets);
        (Flow { source: NodeId(0), targets: Vec::new(), way: None, ..flow.clone() }, names)
    };
    let bounds = [bound(first, old), bound(second, new)];
    let both = old.zip(new);
    let other_way = both.filter(|(old, new)| way(first, *old) != way(second, *new));
    let changed = FlowDiff {
        name: name.to_owned(),
        declared_otherwise: both.is_none_or(|(old, new)| declared(first, old) != declared(second, new)),
        way: other_way.map(|(_, new)| way(second, new)),
        bound: (bounds[0] != bounds[1]).then_some(bounds),
    };
    let same = !changed.declared_otherwise && changed.way.is_none() && changed.bound.is_none();
    (!same).then_some(changed)
}

/// The targets', then the source's.
fn node_names(traffic: &Traffic, source: NodeId, targets: &[NodeId]) -> Vec<String> {
    let all = targets.iter().chain([&source]);
    all.map(|node| traffic.network.nodes[node.index()].name.clone()).collect()
}

fn channels<'a>((traffic, _): (&'a Traffic, &NetworkPlan)) -> BTreeMap<&'a str, usize> {
    traffic.streams.iter().enumerate().map(|(index, stream)| (stream.name.as_str(), index)).collect()
}

fn compare(
    name: &str,
    first: (&Traffic, &NetworkPlan),
    second: (&Traffic, &NetworkPlan),
    (old, new): (usize, usize),
    rounds: (Nanos, Nanos),
) -> Option<ChannelDiff> {
    let (was, is) = (starts(first, old, rounds.1), starts(second, new, rounds.0));
    let declared =
        |(traffic, _): (&Traffic, &NetworkPlan), index: usize| described(traffic, &traffic.streams[index]);
    let ways = |(traffic, plan): (&Traffic, &NetworkPlan), index: usize| -> Vec<String> {
        let tree = |tree: &Tree| tree.links().map(|link| traffic.network.link_name(link)).collect::<Vec<_>>();
        plan.ways[index].iter().flat_map(|way| tree(&way.tree)).collect()
    };
    let queues = |(_, plan): (&Traffic, &NetworkPlan), index: usize| -> Vec<u8> {
        plan.ways[index].iter().flat_map(|way| way.queues.clone()).collect()
    };
    let distances = is.iter().map(|(key, start)| was.get(key).map(|before| *start - *before));
    let moved = distances.clone().filter(|distance| *distance != Some(Nanos::ZERO)).count();
    let farthest = distances.flatten().max_by_key(|distance| distance.0.abs()).unwrap_or_default();
    let other_way = ways(first, old) != ways(second, new);
    let changed = ChannelDiff {
        name: name.to_owned(),
        declared_otherwise: declared(first, old) != declared(second, new),
        way: other_way.then(|| ways(second, new)),
        other_queue: !other_way && queues(first, old) != queues(second, new),
        moved,
        transmissions: is.len(),
        farthest,
    };
    let same = !changed.declared_otherwise && !other_way && !changed.other_queue && changed.moved == 0;
    (!same).then_some(changed)
}

/// A declaration without numbers that mean other things elsewhere.
fn described(traffic: &Traffic, stream: &Stream) -> (Stream, Vec<String>) {
    let names = node_names(traffic, stream.source, &stream.targets);
    let mut plain = stream.clone();
    (plain.source, plain.targets) = (NodeId(0), Vec::new());
    plain.ways = None;
    (plain, names)
}

/// Starts over the least common multiple of both rounds, or of the first alone where that is long.
fn starts((traffic, plan): (&Traffic, &NetworkPlan), index: usize, other: Nanos) -> Starts {
    const TURNS_MAX: i64 = 64;
    let own = plan.hyperperiod.0.max(1);
    let turns = (other.0 / super::model::gcd(own, other.0.max(1))).clamp(1, TURNS_MAX);
    let period = traffic.streams[index].period.0;
    let mut found = Starts::new();
    for (link, slots) in plan.links.iter().enumerate() {
        let mine = |slot: &&Slot| slot.stream.index() == index;
        for slot in slots.iter().filter(mine) {
            let name = traffic.network.link_name(leveret_types::LinkId(link as u32));
            for turn in 0..turns {
                let instance = i64::from(slot.instance) + turn * (own / period);
                found.insert((instance, name.clone(), slot.copy), slot.start + Nanos(turn * own));
            }
        }
    }
    found
}

/// Channels that are named one by one.
pub(crate) const NAMED_MAX: usize = 20;

impl NetworkDiff {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty()
            && self.removed.is_empty()
            && self.changed.is_empty()
            && self.changed_flows.is_empty()
    }

    /// For people.
    pub fn render(&self) -> String {
        let mut text = format!(
            "{} kept, {} changed, {} added, {} removed\n",
            self.kept,
            self.changed.len() + self.changed_flows.len(),
            self.added.len(),
            self.removed.len()
        );
        for (sign, names) in [('+', &self.added), ('-', &self.removed)] {
            for name in names.iter().take(NAMED_MAX) {
                let _ = writeln!(text, "  {sign} {name}");
            }
            more(&mut text, names.len());
        }
        for changed in self.changed.iter().take(NAMED_MAX) {
            let _ = writeln!(text, "  ~ {}", changed.words());
        }
        more(&mut text, self.changed.len());
        for changed in self.changed_flows.iter().take(NAMED_MAX) {
            let _ = writeln!(text, "  ~ {}", changed.words());
        }
        more(&mut text, self.changed_flows.len());
        text
    }
}

/// Says how many were not named.
pub(crate) fn more(text: &mut String, count: usize) {
    if count > NAMED_MAX {
        let _ = writeln!(text, "    and {} more (--format json has all)", count - NAMED_MAX);
    }
}

impl ChannelDiff {
    fn words(&self) -> String {
        let mut parts = Vec::new();
        if self.declared_otherwise {
            parts.push("declared otherwise".to_owned());
        }
        if let Some(way) = &self.way {
            parts.push(format!("now over {}", way.join(", ")));
        }
        if self.other_queue {
            parts.push("in another queue".to_owned());
        }
        if self.moved > 0 {
            let far = distance(self.farthest);
            parts
                .push(format!("{} of {} transmissions moved, at most {far}", self.moved, self.transmissions));
        }
        format!("{}: {}", self.name, parts.join("; "))
    }
}

impl FlowDiff {
    fn words(&self) -> String {
        let mut parts = Vec::new();
        if self.declared_otherwise {
            parts.push("declared otherwise".to_owned());
        }
        if let Some(way) = &self.way {
            parts.push(format!("now over {}", way.join(", ")));
        }
        if let Some([before, after]) = self.bound {
            let shown = |time: Option<Nanos>| match time {
                Some(time) => format!("within {time}"),
                None => "without a bound".to_owned(),
            };
            parts.push(format!("arrives {}, before {}", shown(after), shown(before)));
        }
        format!("{}, beside the time table: {}", self.name, parts.join("; "))
    }
}

/// How far something moved, in words.
pub(crate) fn distance(by: Nanos) -> String {
    let sign = if by > Nanos::ZERO { "later" } else { "earlier" };
    format!("{} {sign}", Nanos(by.0.abs()))
}
