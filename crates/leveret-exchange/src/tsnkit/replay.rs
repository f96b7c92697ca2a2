//! From a schedule to a plan: what the gates, offsets, queues and routes make of the traffic, when every frame leaves as soon as its gate and
//! its turn let it. So a schedule of any planner can be judged by what it does, and not by what was meant.

use super::read::{Row, Table, TsnkitError, TsnkitFault};
use super::write::Schedule;
use leveret_plan::network::{NETWORK_PLAN_VERSION, NetworkPlan, Slot, Traffic, Way};
use leveret_topology::{Graph, Tree};
use leveret_types::{LinkId, Nanos, NodeId, StreamId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// Rounds that are played; the plan is the last but one, when everything that the first began has come through.
const ROUNDS: i64 = 3;

/// When one queue's gate is open within the cycle, by start, and the latest end of all windows up to each.
#[derive(Clone, Default)]
struct Windows {
    open: Vec<(i64, i64)>,
    latest_end: Vec<i64>,
}

/// The gates of a link: its cycle, and the windows of each queue.
#[derive(Clone)]
struct Gates {
    cycle: i64,
    queues: [Windows; 8],
}

/// Plays a schedule, and says when each message was on each link.
///
/// # Errors
/// What is wrong in a file, or which message never arrives.
pub fn replay(traffic: &Traffic, schedule: &Schedule) -> Result<NetworkPlan, TsnkitError> {
    let hyperperiod = traffic.validate().map_err(|error| whole(TsnkitFault::Traffic(error)))?;
    let names = Names::new(traffic);
    let ways = ways(traffic, &names, schedule)?;
    let offsets = offsets(traffic, &names, &schedule.offsets)?;
    let gates = gates(traffic, &names, &schedule.gates)?;
    let mut play = Play::new(traffic, hyperperiod.0, &ways, gates);
    for (index, offsets) in offsets.iter().enumerate() {
        let stream = &traffic.streams[index];
        for instance in 0..ROUNDS * (hyperperiod.0 / stream.period.0) {
            let offset = offsets[(instance % offsets.len() as i64) as usize];
            play.release(index as u32, instance, instance * stream.period.0 + offset);
        }
    }
    play.run();
    let links = play.round(hyperperiod.0)?;
    let ways = ways.into_iter().map(|way| vec![way]).collect();
    let classes = vec![Vec::new(); links.len()];
    Ok(NetworkPlan { version: NETWORK_PLAN_VERSION, hyperperiod, ways, links, flows: Vec::new(), classes })
}

fn whole(fault: TsnkitFault) -> TsnkitError {
    TsnkitError { file: "schedule".to_owned(), line: 1, fault }
}

/// Nodes and streams by their names.
struct Names<'a> {
    links: BTreeMap<(&'a str, &'a str), LinkId>,
    streams: BTreeMap<&'a str, StreamId>,
}

impl<'a> Names<'a> {
    fn new(traffic: &'a Traffic) -> Self {
        let node = |node: NodeId| traffic.network.nodes[node.index()].name.as_str();
        let links = traffic.network.links.iter().enumerate();
        let links = links.map(|(index, link)| ((node(link.source), node(link.target)), LinkId(index as u32)));
        let streams = traffic.streams.iter().enumerate();
        let streams = streams.map(|(index, stream)| (stream.name.as_str(), StreamId(index as u32)));
        Self { links: links.collect(), streams: streams.collect() }
    }

    fn link(&self, row: &Row) -> Result<LinkId, TsnkitError> {
        let (source, target) = row.pair("link")?;
        let found = self.links.get(&(source.to_string().as_str(), target.to_string().as_str())).copied();
        found.ok_or_else(|| row.fail(TsnkitFault::NoLink(source, target)))
    }

    fn stream(&self, row: &Row) -> Result<StreamId, TsnkitError> {
        let name = row.number("stream", 0, i64::from(u32::MAX))?.to_string();
        self.streams.get(name.as_str()).copied().ok_or_else(|| row.fail(TsnkitFault::NoStream(name)))
    }
}

/// The tree of each stream, and its queues.
fn ways(traffic: &Traffic, names: &Names<'_>, schedule: &Schedule) -> Result<Vec<Way>, TsnkitError> {
    let mut links: Vec<Vec<LinkId>> = vec![Vec::new(); traffic.streams.len()];
    for row in &Table::parse(&schedule.routes, "stream,link", "ROUTE")?.rows {
        links[names.stream(row)?.index()].push(names.link(row)?);
    }
    let graph = Graph::new(&traffic.network);
    let mut ways = Vec::with_capacity(links.len());
    for (stream, links) in traffic.streams.iter().zip(&links) {
        let tree = tree(&graph, stream.source, links);
        let reaches = |target: &NodeId| tree.links().any(|link| graph.target(link) == *target);
        if tree.hops.len() != links.len() || !stream.targets.iter().all(reaches) {
            return Err(whole(TsnkitFault::Route(stream.name.clone())));
        }
        ways.push(Way { queues: vec![0; tree.hops.len()], tree });
    }
    let mut known: BTreeMap<(StreamId, LinkId), u8> = BTreeMap::new();
    for row in &Table::parse(&schedule.queues, "stream,frame,link,queue", "QUEUE")?.rows {
        let (stream, link) = (names.stream(row)?, names.link(row)?);
        let queue = row.number("queue", 0, 7)? as u8;
        if *known.entry((stream, link)).or_insert(queue) != queue {
            return Err(row.fail(TsnkitFault::Queues(traffic.name(stream).to_owned())));
        }
        let way = &mut ways[stream.index()];
        if let Some(hop) = way.tree.hops.iter().position(|hop| hop.link == link) {
            way.queues[hop] = queue;
        }
    }
    Ok(ways)
}

/// Links in an order in which each comes after the one it follows; those that follow none are left out.
fn tree(graph: &Graph, source: NodeId, links: &[LinkId]) -> Tree {
    let mut tree = Tree::default();
    let mut reached = vec![(source, None)];
    let mut next = 0;
    while next < reached.len() {
        let (node, parent) = reached[next];
        next += 1;
        for link in links.iter().filter(|link| graph.source(**link) == node) {
            if reached.iter().all(|(node, _)| *node != graph.target(*link)) {
                tree.hops.push(leveret_topology::TreeHop { link: *link, parent });
                reached.push((graph.target(*link), Some(tree.hops.len() as u32 - 1)));
            }
        }
    }
    tree
}

/// When each frame of each stream is sent, from the start of its period.
fn offsets(traffic: &Traffic, names: &Names<'_>, text: &str) -> Result<Vec<Vec<i64>>, TsnkitError> {
    let mut offsets: Vec<BTreeMap<i64, i64>> = vec![BTreeMap::new(); traffic.streams.len()];
    for row in &Table::parse(text, "stream,frame,offset", "OFFSET")?.rows {
        let stream = names.stream(row)?;
        let period = traffic.streams[stream.index()].period.0;
        let frame = row.number("frame", 0, 1 << 22)?;
        offsets[stream.index()].insert(frame, row.number("offset", 0, period - 1)?);
    }
    let missing = offsets.iter().position(BTreeMap::is_empty);
    match missing {
        Some(index) => Err(whole(TsnkitFault::Offset(traffic.streams[index].name.clone()))),
        None => Ok(offsets.into_iter().map(|frames| frames.into_values().collect()).collect()),
    }
}

/// The gates of each link.
fn gates(traffic: &Traffic, names: &Names<'_>, text: &str) -> Result<Vec<Gates>, TsnkitError> {
    let none = Gates { cycle: 1, queues: Default::default() };
    let mut gates = vec![none; traffic.network.links.len()];
    for row in &Table::parse(text, "link,queue,start,end,cycle", "GCL")?.rows {
        let link = names.link(row)?;
        let most = i64::MAX >> 8;
        let gate = &mut gates[link.index()];
        gate.cycle = row.number("cycle", 1, most)?;
        let (start, end) = (row.number("start", 0, most)?, row.number("end", 0, most)?);
        gate.queues[row.number("queue", 0, 7)? as usize].open.push((start, end));
    }
    for Gates { cycle, queues } in &mut gates {
        queues.iter_mut().for_each(|windows| windows.put_in_order(*cycle));
    }
    Ok(gates)
}

impl Windows {
    /// Each in its cycle, by start.
    fn put_in_order(&mut self, cycle: i64) {
        for (start, end) in &mut self.open {
            let turns = *start - *start % cycle;
            (*start, *end) = (*start - turns, *end - turns);
        }
        self.open.sort_unstable();
        let latest = self.open.iter().scan(i64::MIN, |latest, (_, end)| {
            *latest = (*latest).max(*end);
            Some(*latest)
        });
        self.latest_end = latest.collect();
    }

    /// The first instant from `now` on at which the gate is open for so long.
    fn opens(&self, cycle: i64, now: i64, length: i64) -> Option<i64> {
        let begin = now.div_euclid(cycle) * cycle;
        let within = now - begin;
        let later = self.open.partition_point(|(start, _)| *start <= within);
        // What opened before is open yet, also what opened in the cycle before.
        let of_this = later.checked_sub(1).map(|last| self.latest_end[last]);
        let of_last = self.latest_end.last().map(|end| end - cycle);
        if of_this.max(of_last).is_some_and(|end| end - within >= length) {
            return Some(now);
        }
        let fits = |(start, end): &&(i64, i64)| end - start >= length;
        let here = self.open[later..].iter().find(fits).map(|(start, _)| begin + start);
        here.or_else(|| self.open[..later].iter().find(fits).map(|(start, _)| begin + cycle + start))
    }
}

/// One transmission: stream, instance, hop.
type Frame = (u32, i64, u16);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A frame comes to the port of a link.
    Arrival(u32, Frame),
    /// A port looks whether it can send.
    Look(u32),
}

/// A port: what waits in its queues, and until when its link is taken.
#[derive(Clone, Default)]
struct Port {
    queues: BTreeMap<u8, VecDeque<Frame>>,
    free_at: i64,
}

struct Play<'a> {
    traffic: &'a Traffic,
    ways: &'a [Way],
    gates: Vec<Gates>,
    ports: Vec<Port>,
    events: BinaryHeap<Reverse<(i64, Event)>>,
    /// Start of every transmission, by stream: instance, then hop.
    starts: Vec<BTreeMap<(i64, u16), i64>>,
    until: i64,
}

impl<'a> Play<'a> {
    fn new(traffic: &'a Traffic, hyperperiod: i64, ways: &'a [Way], gates: Vec<Gates>) -> Self {
        let ports = vec![Port::default(); gates.len()];
        let starts = vec![BTreeMap::new(); ways.len()];
        let until = hyperperiod.saturating_mul(ROUNDS);
        Self { traffic, ways, gates, ports, events: BinaryHeap::new(), starts, until }
    }

    fn release(&mut self, stream: u32, instance: i64, at: i64) {
        for (hop, own) in self.ways[stream as usize].tree.hops.iter().enumerate() {
            if own.parent.is_none() {
                self.events.push(Reverse((at, Event::Arrival(own.link.0, (stream, instance, hop as u16)))));
            }
        }
    }

    fn run(&mut self) {
        while let Some(Reverse((now, event))) = self.events.pop() {
            match event {
                Event::Arrival(link, frame) => {
                    let queue = self.ways[frame.0 as usize].queues[usize::from(frame.2)];
                    self.ports[link as usize].queues.entry(queue).or_default().push_back(frame);
                    // After everything else that comes at this instant.
                    self.events.push(Reverse((now, Event::Look(link))));
                }
                Event::Look(link) => self.look(link, now),
            }
        }
    }

    fn look(&mut self, link: u32, now: i64) {
        let now = now.max(self.ports[link as usize].free_at);
        let Some((at, queue)) = self.next(link, now) else { return };
        // What has not been sent a round after the last one has begun will not be.
        if at > self.until {
            return;
        }
        if at > now {
            self.events.push(Reverse((at, Event::Look(link))));
            return;
        }
        let port = &mut self.ports[link as usize];
        let Some(frame) = port.queues.get_mut(&queue).and_then(VecDeque::pop_front) else { return };
        let (stream, instance, hop) = frame;
        let end = at + self.length(link, frame);
        self.ports[link as usize].free_at = end;
        self.starts[stream as usize].insert((instance, hop), at);
        self.events.push(Reverse((end, Event::Look(link))));
        let own = &self.traffic.network.links[link as usize];
        let ready = end + own.propagation.0 + own.processing.0;
        for (next, follows) in self.ways[stream as usize].tree.hops.iter().enumerate() {
            if follows.parent == Some(u32::from(hop)) {
                self.events
                    .push(Reverse((ready, Event::Arrival(follows.link.0, (stream, instance, next as u16)))));
            }
        }
    }

    fn length(&self, link: u32, frame: Frame) -> i64 {
        let stream = &self.traffic.streams[frame.0 as usize];
        self.traffic.network.frames.occupation(stream.size, self.traffic.network.links[link as usize].rate).0
    }

    /// The first instant from `now` on at which a gate is open for long enough for the frame at the head of its queue.
    fn next(&self, link: u32, now: i64) -> Option<(i64, u8)> {
        let Gates { cycle, queues } = &self.gates[link as usize];
        let opens = |(queue, waiting): (&u8, &VecDeque<Frame>)| {
            let length = self.length(link, *waiting.front()?);
            Some((queues[usize::from(*queue)].opens(*cycle, now, length)?, *queue))
        };
        self.ports[link as usize].queues.iter().filter_map(opens).min()
    }

    /// The slots of the middle round, by link.
    fn round(&self, hyperperiod: i64) -> Result<Vec<Vec<Slot>>, TsnkitError> {
        let mut links: Vec<Vec<Slot>> = vec![Vec::new(); self.ports.len()];
        for (index, starts) in self.starts.iter().enumerate() {
            let stream = &self.traffic.streams[index];
            let count = hyperperiod / stream.period.0;
            for instance in 0..count {
                for (hop, own) in self.ways[index].tree.hops.iter().enumerate() {
                    let played = starts.get(&(instance + count, hop as u16));
                    let start = played.ok_or_else(|| {
                        let link = self.traffic.network.link_name(own.link);
                        whole(TsnkitFault::Stuck { stream: stream.name.clone(), instance, link })
                    })?;
                    let (start, stream) = (Nanos(start - hyperperiod), StreamId(index as u32));
                    let slot = Slot { start, stream, instance: instance as u32, hop: hop as u16, copy: 0 };
                    links[own.link.index()].push(slot);
                }
            }
        }
        for slots in &mut links {
            slots.sort_by_key(|slot| slot.start.0.rem_euclid(hyperperiod));
        }
        Ok(links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By looking at every instant.
    fn first(open: &[(i64, i64)], cycle: i64, now: i64, length: i64) -> Option<i64> {
        let is_open = |at: i64| {
            let turn = at.div_euclid(cycle) * cycle;
            let around = [turn - cycle, turn];
            around
                .iter()
                .any(|turn| open.iter().any(|(start, end)| start + turn <= at && at + length <= end + turn))
        };
        (now..now + 2 * cycle).find(|at| is_open(*at))
    }

    #[test]
    fn a_gate_opens_at_the_first_instant_that_leaves_time_enough() {
        let cycle = 12;
        let windows = |start: i64, long: i64| (start, start + long);
        for seed in 0..400 {
            let (a, b, c) = (seed % 12, seed * 7 % 11, seed * 5 % 9);
            let open = vec![windows(a, b % 4), windows(b, c % 5), windows(c + 3, a % 6)];
            let mut gate = Windows { open: open.clone(), latest_end: Vec::new() };
            gate.put_in_order(cycle);
            for now in -5..30 {
                for length in 1..6 {
                    let expected = first(&open, cycle, now, length);
                    assert_eq!(gate.opens(cycle, now, length), expected, "{open:?} from {now} for {length}");
                }
            }
        }
    }
}
