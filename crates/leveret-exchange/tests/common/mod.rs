//! Random networks with a plan, and gates that are played from what was written of them.
#![allow(dead_code, reason = "each test binary uses its own part")]

use leveret_plan::checker::check_network;
use leveret_plan::network::{Effort, Flow, NetworkPlan, Slot, Stream, Traffic, plan_network};
use leveret_topology::{Forwarding, NodeKind, Reservation, Shape, Shaper, shape};
use leveret_types::{BitRate, ByteSize, LinkId, Nanos, NodeId};
use proptest::prelude::*;

const HOSTS: u32 = 6;
const SWITCHES: u32 = 4;
const PERIODS_US: [i64; 4] = [500, 1000, 1500, 2000];

/// How all of a network is.
#[derive(Clone, Copy, Debug)]
struct Manner {
    which: Shape,
    clock_error: i64,
    cut_through: bool,
    reserved: bool,
    preempting: bool,
    shaped: bool,
}

/// A channel beside the table.
#[derive(Clone, Copy, Debug)]
struct Beside {
    ends: (u32, u32),
    size: u64,
    class: u8,
}

#[derive(Clone, Copy, Debug)]
struct Wish {
    ends: (u32, u32),
    spread: bool,
    size: u64,
    period: usize,
    release_us: i64,
    room_us: i64,
}

/// Traffic that has a plan, with it.
pub fn planned() -> impl Strategy<Value = (Traffic, NetworkPlan)> {
    let manner = (
        prop::sample::select(vec![Shape::Line, Shape::Ring, Shape::Tree]),
        prop::sample::select(vec![0i64, 200, 1500]),
        any::<[bool; 4]>(),
    )
        .prop_map(|(which, clock_error, [cut_through, reserved, preempting, shaped])| Manner {
            which,
            clock_error,
            cut_through,
            reserved,
            preempting,
            shaped,
        });
    let wish = ((0..HOSTS, 0..HOSTS), any::<bool>(), 1u64..5000, 0usize..4, 0i64..300, 40i64..1500).prop_map(
        |(ends, spread, size, period, release_us, room_us)| Wish {
            ends,
            spread,
            size,
            period,
            release_us,
            room_us,
        },
    );
    let beside = ((0..HOSTS, 0..HOSTS), 1u64..3000, prop::sample::select(vec![0u8, 3, 5]))
        .prop_map(|(ends, size, class)| Beside { ends, size, class });
    let beside = prop::option::of(prop::collection::vec(beside, 1..5)).prop_map(Option::unwrap_or_default);
    let wishes = (prop::collection::vec(wish, 1..16), beside);
    (manner, wishes).prop_filter_map("no plan", |(manner, (wishes, beside))| {
        let traffic = traffic(manner, &wishes, &beside);
        let (plan, _) = plan_network(&traffic, Effort { seed: 0, steps: 50_000 }).ok()?;
        assert_eq!(check_network(&plan, &traffic), Ok(()));
        Some((traffic, plan))
    })
}

fn traffic(manner: Manner, wishes: &[Wish], beside: &[Beside]) -> Traffic {
    let mut network = shape(manner.which, SWITCHES, HOSTS);
    if manner.cut_through {
        network.nodes[0].kind = NodeKind::Switch(Forwarding::CutThrough { header: ByteSize(64) });
    }
    for (index, link) in network.links.iter_mut().enumerate() {
        link.rate.0 /= [1, 10, 1][index % 3];
        link.propagation = Nanos(index as i64 * 7);
        link.preemption = manner.preempting && index % 2 == 1;
        if manner.shaped && index % 3 == 0 {
            link.shaping.push(Shaper { class: 3, idle_slope: BitRate(link.rate.0 / 5) });
        }
        if manner.reserved && index % 4 == 0 {
            let period = Nanos::from_micros(500);
            let stretch = |start, length| Reservation { period, start, length };
            link.reserved.push(stretch(Nanos::from_micros(100), Nanos::from_micros(50)));
            link.reserved.push(stretch(Nanos::from_micros(490), Nanos::from_micros(20)));
        }
    }
    let mut streams = Vec::new();
    for (index, wish) in wishes.iter().enumerate() {
        let (source, target) = wish.ends;
        let target = if source == target { (target + 1) % HOSTS } else { target };
        let host = |host: u32| NodeId(SWITCHES + host);
        let period = Nanos::from_micros(PERIODS_US[wish.period]);
        let mut stream =
            Stream::new(format!("s{index}"), host(source), host(target), ByteSize(wish.size), period);
        stream.release = Nanos::from_micros(wish.release_us);
        stream.deadline = Nanos::from_micros(wish.release_us + wish.room_us);
        if wish.spread {
            let other = (target + 2) % HOSTS;
            stream.targets.extend((other != source).then(|| host(other)));
        }
        streams.push(stream);
    }
    let flow = |(index, beside): (usize, &Beside)| {
        let (source, target) = beside.ends;
        let target = if source == target { (target + 1) % HOSTS } else { target };
        let host = |host: u32| NodeId(SWITCHES + host);
        let (name, interval) = (format!("f{index}"), Nanos::from_micros(20_000));
        let flow = Flow::new(name, host(source), host(target), ByteSize(beside.size), interval);
        Flow { class: Some(beside.class), ..flow }
    };
    let flows = beside.iter().enumerate().map(flow).collect();
    Traffic { network, streams, flows, clock_error: Nanos(manner.clock_error), whole_cycles: false }
}

/// The list of a port as it was read: the length of its cycle, and gates with their times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct List {
    pub base: i64,
    pub cycle: i64,
    pub entries: Vec<(u64, i64)>,
}

impl List {
    /// Whether the gate of a class is open for all of a stretch, and whether for none of it.
    pub fn open(&self, class: usize, from: i64, until: i64) -> (bool, bool) {
        let (mut all, mut none) = (true, true);
        self.walk(from, until, |gates, _, _| {
            let open = gates & (1 << class) != 0;
            (all, none) = (all && open, none && !open);
        });
        (all, none)
    }

    /// Calls back for every piece of a stretch in which the gates do not change.
    pub fn walk(&self, from: i64, until: i64, mut each: impl FnMut(u64, i64, i64)) {
        let mut begin = (from - self.base).div_euclid(self.cycle) * self.cycle + self.base;
        while begin < until {
            for (gates, length) in &self.entries {
                let (from, until) = (begin.max(from), (begin + length).min(until));
                if from < until {
                    each(*gates, from, until);
                }
                begin += length;
            }
        }
    }
}

/// The slot on another hop of the same instance.
pub fn sibling<'a>(plan: &'a NetworkPlan, slot: &Slot, hop: u32) -> &'a Slot {
    let link = plan.ways[slot.stream.index()][usize::from(slot.copy)].tree.hops[hop as usize].link;
    let same =
        |other: &&Slot| (other.stream, other.copy, other.instance) == (slot.stream, slot.copy, slot.instance);
    plan.links[link.index()].iter().find(same).expect("a slot on each link")
}

/// What a slot takes of its link.
pub fn length(traffic: &Traffic, link: LinkId, slot: &Slot) -> i64 {
    let (size, rate) = (traffic.streams[slot.stream.index()].size, traffic.network.links[link.index()].rate);
    traffic.network.frames.occupation(size, rate).0
}

/// The queue of a slot.
pub fn queue(plan: &NetworkPlan, slot: &Slot) -> u8 {
    plan.ways[slot.stream.index()][usize::from(slot.copy)].queues[usize::from(slot.hop)]
}

/// The bytes of other traffic for which each port was told to close in time.
pub const LARGEST: ByteSize = ByteSize(1542);

/// The classes that a port has for channels beside the table, ascending by priority: the priority, and the bytes that the promise counts with as kept free
/// before a slot; and whether there are too many.
pub fn beside(traffic: &Traffic, plan: &NetworkPlan, link: LinkId) -> (Vec<(u8, u64)>, bool) {
    let longest = |class: u8| {
        let flows = traffic.flows.iter().zip(&plan.flows);
        let own = flows
            .filter(|(flow, way)| flow.class == Some(class) && way.hops.iter().any(|hop| hop.link == link));
        let format = traffic.network.frames;
        own.map(|(flow, _)| {
            flow.size.0.min(format.payload_max.0).max(format.payload_min.0) + format.overhead.0
        })
        .max()
    };
    let is_shaped =
        |class: u8| traffic.network.links[link.index()].shaping.iter().any(|one| one.class == class);
    let kept = |class: u8| {
        let own = longest(class)?;
        let above = (class + 1..8).filter(|above| !is_shaped(*above)).filter_map(longest).max();
        Some((class, if is_shaped(class) { own } else { own.max(above.unwrap_or(0)) }))
    };
    let classes: Vec<_> = (0..8).filter_map(kept).collect();
    let mut queues: Vec<u8> = plan.links[link.index()].iter().map(|slot| queue(plan, slot)).collect();
    queues.sort_unstable();
    queues.dedup();
    let crowded = queues.len() + 1 + classes.len() > 8;
    (if crowded { Vec::new() } else { classes }, crowded)
}

/// Plays the list of one port over a hyperperiod: every slot finds its gate open and no other; no message that comes early leaves early; and
/// no frame of other traffic that its gate lets begin runs into a slot. Channels beside the table find all that is promised open.
pub fn play(traffic: &Traffic, plan: &NetworkPlan, link: LinkId, list: &List, class: impl Fn(u8) -> usize) {
    let round = plan.hyperperiod.0;
    let port = &traffic.network.links[link.index()];
    let slots = &plan.links[link.index()];
    let (beside, crowded) = beside(traffic, plan, link);
    let others = (1u64 << (1 + beside.len())) - 1;
    assert_eq!(list.entries.iter().map(|(_, length)| length).sum::<i64>(), list.cycle);
    if slots.is_empty() {
        assert!(list.entries.iter().all(|(gates, _)| *gates == others) && others > 1);
        return;
    }
    assert_eq!(round % list.cycle, 0);
    let error = traffic.clock_error.0;
    let kept = |bytes: u64| {
        let bytes = if port.preemption { bytes.min(143) } else { bytes };
        port.rate.transmission(bytes).0 + 2 * error
    };
    let frame = kept(LARGEST.0);
    for slot in slots {
        let (start, length) = (slot.start.0, length(traffic, link, slot));
        let own = class(queue(plan, slot));
        assert!(own > beside.len(), "{slot:?} has no class of its own");
        list.walk(start, start + length, |gates, from, until| {
            assert_eq!(gates, 1 << own, "{slot:?} from {from} to {until}");
        });
        assert!(list.open(0, start - frame, start).1, "other traffic can run into {slot:?}");
        for (place, (_, bytes)) in beside.iter().enumerate() {
            let from = start - kept(*bytes);
            assert!(list.open(1 + place, from, start).1, "what is beside the table can run into {slot:?}");
        }
        early(traffic, plan, link, slot, list, own);
    }
    for (place, (_, bytes)) in beside.iter().enumerate() {
        promised(traffic, plan, link, list, (1 + place, kept(*bytes)));
    }
    let shortest = port.rate.transmission(60).0;
    let longest = beside.iter().map(|(_, bytes)| kept(*bytes)).fold(frame, i64::max);
    for reserved in &port.reserved {
        for turn in 0..round / reserved.period.0 {
            let from = turn * reserved.period.0 + reserved.start.0;
            list.walk(from, from + reserved.length.0, |gates, from, until| {
                let near = if crowded { i64::MAX } else { longest + 2 * shortest };
                let before = |slot: &Slot| (slot.start.0 - until).rem_euclid(round) < near;
                let kept = gates == others || (gates & !others == 0 && slots.iter().any(before));
                assert!(kept, "reserved {from} to {until}: gates {gates:b}");
            });
        }
    }
}

/// A class beside the table is open at every instant that its promise does not count as the table's: slots, `2 E` around them, and what is kept free before.
fn promised(traffic: &Traffic, plan: &NetworkPlan, link: LinkId, list: &List, (class, kept): (usize, i64)) {
    let round = plan.hyperperiod.0;
    let mut taken: Vec<(i64, i64)> = Vec::new();
    for slot in &plan.links[link.index()] {
        let (start, length) = (slot.start.0.rem_euclid(round), length(traffic, link, slot));
        let until = start + length + 2 * traffic.clock_error.0;
        taken.extend([-round, 0, round].map(|turn| (start - kept + turn, until + turn)));
    }
    taken.sort_unstable();
    list.walk(0, round, |gates, from, until| {
        let covered =
            taken.iter().fold(from, |at, (start, end)| if *start <= at { at.max(*end) } else { at });
        assert!(
            gates & (1 << class) != 0 || covered >= until,
            "class {class} is closed from {covered} to {until}"
        );
    });
}

/// From the earliest instant at which a forwarded message can be at the port until its slot, its gate is open for slots of the same queue alone. (At its
/// source a message waits in its program.)
fn early(traffic: &Traffic, plan: &NetworkPlan, link: LinkId, slot: &Slot, list: &List, own: usize) {
    let hops = &plan.ways[slot.stream.index()][usize::from(slot.copy)].tree.hops;
    let Some(parent) = hops[usize::from(slot.hop)].parent else { return };
    let stream = &traffic.streams[slot.stream.index()];
    let link_before = &traffic.network.links[hops[parent as usize].link.index()];
    let here = &traffic.network.links[link.index()];
    let forwarding = traffic.network.forwarding(here.source).expect("a switch");
    let under_way = traffic.network.frames.forwarding(stream.size, link_before, here, forwarding);
    let came = sibling(plan, slot, parent).start.0 + under_way.0 - 2 * traffic.clock_error.0;
    let round = plan.hyperperiod.0;
    let mut taken: Vec<(i64, i64)> = Vec::new();
    for other in plan.links[link.index()].iter().filter(|other| queue(plan, other) == queue(plan, slot)) {
        let since = came + (other.start.0 - came).rem_euclid(round);
        let length = length(traffic, link, other);
        taken.extend([(since - round, since - round + length), (since, since + length)]);
    }
    taken.sort_unstable();
    list.walk(came, slot.start.0, |gates, from, until| {
        if gates & (1 << own) == 0 {
            return;
        }
        let covered =
            taken.iter().fold(from, |at, (start, end)| if *start <= at { at.max(*end) } else { at });
        // Where the gate closes before any frame would have gone, none begins.
        let shortest = here.rate.transmission(60).0;
        assert!(
            covered >= until || (until < slot.start.0 && until - covered < shortest),
            "{slot:?} can come at {came} and leave at {covered}"
        );
    });
}
