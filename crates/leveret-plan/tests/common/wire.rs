//! A network frame by frame: strict priority, FIFO within a class, credit-based shapers, gates, and what the table has. Written from the standard's
//! words and for tests alone; it knows nothing of the analysis.

use leveret_plan::network::{NetworkPlan, Traffic};
use leveret_topology::{Forwarding, Link};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// Below all classes.
const FLOOD: usize = 8;

/// What has the link, apart from frames of flows.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Phase {
    Open,
    /// A planned frame; credits stand still.
    Slot,
    /// Before and after one, where it interrupts others.
    Shut,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    flow: usize,
    hop: usize,
    bytes: u64,
    released: i64,
    came: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    Come { link: usize, class: usize, flow: usize, hop: usize, bytes: u64, released: i64 },
    Look { link: usize },
}

struct Port {
    /// Boundaries within the round, and what begins there.
    phases: Vec<(i64, Phase)>,
    queues: [VecDeque<Frame>; FLOOD],
    waiting: [u64; FLOOD],
    /// In bits per second times nanoseconds.
    credit: [i128; FLOOD],
    idle: [Option<i128>; FLOOD],
    /// Class, frame and what is left of it.
    sending: Option<(usize, Option<Frame>, i64)>,
    phase: Phase,
    at: i64,
    /// When it is looked at next.
    next: i64,
}

/// The most that was seen.
#[derive(Default)]
pub struct Seen {
    /// By link and class: delay and bytes.
    pub classes: BTreeMap<(usize, u8), (i64, u64)>,
    /// By flow and target's place.
    pub arrivals: BTreeMap<(usize, usize), i64>,
}

pub struct Wire<'a> {
    traffic: &'a Traffic,
    plan: &'a NetworkPlan,
    ports: Vec<Port>,
    events: BinaryHeap<Reverse<(i64, u8, u64, Event)>>,
    count: u64,
    flood: bool,
    /// Frames under way.
    outstanding: u64,
    pub seen: Seen,
}

fn time(link: &Link, bytes: u64) -> i64 {
    let rate = u128::from(link.rate.0);
    (u128::from(bytes) * 8_000_000_000).div_ceil(rate) as i64
}

fn phases(traffic: &Traffic, plan: &NetworkPlan, index: usize) -> Vec<(i64, Phase)> {
    let link = &traffic.network.links[index];
    let round = plan.hyperperiod.0;
    let apart = 2 * traffic.clock_error.0;
    let (hold, resume) = if link.preemption { (time(link, 143), time(link, 24)) } else { (0, 0) };
    let slots: Vec<(i64, i64)> = plan.links[index]
        .iter()
        .map(|slot| {
            let format = &traffic.network.frames;
            let mut left = traffic.streams[slot.stream.index()].size.0;
            let mut length = 0;
            while left > 0 {
                let payload = left.min(format.payload_max.0);
                length += time(link, payload.max(format.payload_min.0) + format.overhead.0);
                left -= payload;
            }
            let start = slot.start.0.rem_euclid(round) - apart;
            (start, start + length + 2 * apart)
        })
        .collect();
    let ends = slots.iter().flat_map(|(start, end)| [start - hold, *start, *end, end + resume]);
    let mut bounds: Vec<i64> = ends.map(|end| end.rem_euclid(round)).chain([0]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let within = |at: i64, (from, to): (i64, i64)| (at - from).rem_euclid(round) < to - from;
    let phase = |at: i64| {
        if slots.iter().any(|slot| within(at, *slot)) {
            Phase::Slot
        } else if slots.iter().any(|(start, end)| within(at, (start - hold, end + resume))) {
            Phase::Shut
        } else {
            Phase::Open
        }
    };
    bounds.into_iter().map(|at| (at, phase(at))).collect()
}

impl<'a> Wire<'a> {
    pub fn new(traffic: &'a Traffic, plan: &'a NetworkPlan, flood: bool) -> Self {
        let port = |index: usize| {
            let mut idle = [None; FLOOD];
            for shaper in &traffic.network.links[index].shaping {
                idle[usize::from(shaper.class)] = Some(i128::from(shaper.idle_slope.0));
            }
            let phases = phases(traffic, plan, index);
            Port {
                phase: phases[0].1,
                phases,
                queues: Default::default(),
                waiting: [0; FLOOD],
                credit: [0; FLOOD],
                idle,
                sending: None,
                at: 0,
                next: i64::MAX,
            }
        };
        let ports = (0..traffic.network.links.len()).map(port).collect();
        Self {
            traffic,
            plan,
            ports,
            events: BinaryHeap::new(),
            count: 0,
            flood,
            outstanding: 0,
            seen: Seen::default(),
        }
    }

    /// Gives a message to the port of its source.
    pub fn release(&mut self, flow: usize, at: i64) {
        let format = self.traffic.network.frames;
        let mut left = self.traffic.flows[flow].size.0;
        while left > 0 {
            let payload = left.min(format.payload_max.0);
            left -= payload;
            self.spread(flow, None, payload.max(format.payload_min.0) + format.overhead.0, at, |_| at);
        }
    }

    /// To all links that follow a hop.
    fn spread(
        &mut self,
        flow: usize,
        after: Option<usize>,
        bytes: u64,
        released: i64,
        at: impl Fn(usize) -> i64,
    ) {
        let Some(class) = self.traffic.flows[flow].class else { return };
        let hops = &self.plan.flows[flow].hops;
        let next: Vec<_> =
            (0..hops.len()).filter(|hop| hops[*hop].parent.map(|parent| parent as usize) == after).collect();
        for hop in next {
            let link = self.plan.flows[flow].hops[hop].link.index();
            let event = Event::Come { link, class: usize::from(class), flow, hop, bytes, released };
            self.outstanding += 1;
            self.post(at(link), 1, event);
        }
    }

    fn post(&mut self, at: i64, order: u8, event: Event) {
        self.count += 1;
        self.events.push(Reverse((at, order, self.count, event)));
    }

    fn look_at(&mut self, link: usize, at: i64) {
        if at < self.ports[link].next {
            self.ports[link].next = at;
            self.post(at, 2, Event::Look { link });
        }
    }

    /// Everything until an instant, or until all has arrived.
    pub fn run(&mut self, until: i64) {
        for link in 0..self.ports.len() {
            let is_used =
                self.plan.flows.iter().flat_map(|way| &way.hops).any(|hop| hop.link.index() == link);
            if is_used {
                self.look_at(link, 0);
            }
        }
        while let Some(Reverse((at, _, _, event))) = self.events.pop() {
            if at > until || self.outstanding == 0 {
                break;
            }
            match event {
                Event::Come { link, class, flow, hop, bytes, released } => {
                    self.advance(link, at);
                    let port = &mut self.ports[link];
                    port.queues[class].push_back(Frame { flow, hop, bytes, released, came: at });
                    port.waiting[class] += bytes;
                    let seen = self.seen.classes.entry((link, class as u8)).or_default();
                    seen.1 = seen.1.max(port.waiting[class]);
                    self.look_at(link, at);
                }
                // A later look was put off by an earlier one.
                Event::Look { link } if self.ports[link].next == at => self.look(link, at),
                Event::Look { .. } => {}
            }
        }
    }

    /// Lets time pass at a port, during which nothing begins and nothing ends.
    fn advance(&mut self, link: usize, at: i64) {
        let rate = i128::from(self.traffic.network.links[link].rate.0);
        let port = &mut self.ports[link];
        let passed = at - port.at;
        port.at = at;
        for class in 0..FLOOD {
            let Some(idle) = port.idle[class] else { continue };
            let own = port.sending.is_some_and(|(sending, ..)| sending == class);
            if port.phase == Phase::Slot || (own && port.phase == Phase::Shut) {
                continue;
            }
            let credit = &mut port.credit[class];
            if own {
                *credit -= (rate - idle) * i128::from(passed);
            } else if !port.queues[class].is_empty() {
                *credit += idle * i128::from(passed);
            } else {
                *credit = (*credit + idle * i128::from(passed)).min(0);
            }
        }
        if let Some((_, _, left)) = port.sending.as_mut().filter(|_| port.phase == Phase::Open) {
            *left -= passed;
        }
    }

    fn look(&mut self, link: usize, at: i64) {
        self.advance(link, at);
        let round = self.plan.hyperperiod.0;
        let port = &mut self.ports[link];
        port.next = i64::MAX;
        let place = port.phases.partition_point(|(start, _)| *start <= at.rem_euclid(round)) - 1;
        port.phase = port.phases[place].1;
        if let Some((class, frame, 0)) = port.sending {
            port.sending = None;
            if class < FLOOD && port.queues[class].is_empty() {
                port.credit[class] = port.credit[class].min(0);
            }
            if let Some(frame) = frame {
                port.waiting[class] -= frame.bytes;
                self.outstanding -= 1;
                self.sent(link, frame, class, at);
            }
        }
        if self.ports[link].sending.is_none() && self.ports[link].phase == Phase::Open {
            self.choose(link, at);
        }
        self.look_again(link, at);
    }

    /// When something may change by itself.
    fn look_again(&mut self, link: usize, at: i64) {
        let round = self.plan.hyperperiod.0;
        let port = &self.ports[link];
        let here = at.rem_euclid(round);
        let next = port.phases.iter().map(|(start, _)| *start).find(|start| *start > here).unwrap_or(round);
        let mut next = at + next - here;
        if let Some((_, _, left)) = port.sending.filter(|_| port.phase == Phase::Open) {
            next = next.min(at + left);
        }
        for class in 0..FLOOD {
            if let Some(idle) =
                port.idle[class].filter(|_| port.credit[class] < 0 && !port.queues[class].is_empty())
            {
                let wait = (-port.credit[class] + idle - 1) / idle;
                next = next.min(at + i64::try_from(wait).unwrap_or(i64::MAX - at));
            }
        }
        self.look_at(link, next);
    }

    /// The most urgent frame that may go, and fits.
    fn choose(&mut self, link: usize, at: i64) {
        let line = &self.traffic.network.links[link];
        let round = self.plan.hyperperiod.0;
        let format = &self.traffic.network.frames;
        let port = &mut self.ports[link];
        let here = at.rem_euclid(round);
        let slots = port.phases.iter().filter(|(_, phase)| *phase == Phase::Slot).map(|(start, _)| *start);
        let until = slots.map(|start| (start - here).rem_euclid(round)).min().unwrap_or(i64::MAX);
        let fits = |length: i64| line.preemption || length <= until;
        for class in (0..FLOOD).rev() {
            let Some(frame) = port.queues[class].front().copied() else { continue };
            let length = time(line, frame.bytes);
            if port.credit[class] < 0 || !fits(length) {
                continue;
            }
            port.queues[class].pop_front();
            port.sending = Some((class, Some(frame), length));
            self.cut_through(link, frame, at);
            return;
        }
        let length = time(line, format.payload_max.0 + format.overhead.0);
        if self.flood && fits(length) {
            port.sending = Some((FLOOD, None, length));
        }
    }

    fn header(&self, link: usize) -> Option<u64> {
        let line = &self.traffic.network.links[link];
        match self.traffic.network.forwarding(line.target) {
            Some(Forwarding::CutThrough { header }) if !line.preemption => Some(header.0),
            _ => None,
        }
    }

    /// What a switch forwards before its last bit has come.
    fn cut_through(&mut self, link: usize, frame: Frame, at: i64) {
        let Some(header) = self.header(link) else { return };
        let links = &self.traffic.network.links;
        let line = &links[link];
        let here = time(line, frame.bytes);
        let delay = line.propagation.0 + line.processing.0;
        let ready = |next: usize| {
            let there = time(&links[next], frame.bytes);
            at + time(line, header).min(here).max(here - there) + delay
        };
        self.spread(frame.flow, Some(frame.hop), frame.bytes, frame.released, ready);
    }

    fn sent(&mut self, link: usize, frame: Frame, class: usize, at: i64) {
        let line = &self.traffic.network.links[link];
        let arrival = at + line.propagation.0 + line.processing.0;
        let seen = self.seen.classes.entry((link, class as u8)).or_default();
        seen.0 = seen.0.max(at - frame.came);
        let targets = &self.traffic.flows[frame.flow].targets;
        if let Some(target) = targets.iter().position(|target| *target == line.target) {
            let seen = self.seen.arrivals.entry((frame.flow, target)).or_default();
            *seen = (*seen).max(arrival - frame.released);
        }
        if self.header(link).is_none() {
            self.spread(frame.flow, Some(frame.hop), frame.bytes, frame.released, |_| arrival);
        }
    }
}
