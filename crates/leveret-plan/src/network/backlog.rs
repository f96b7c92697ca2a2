//! What waits at a port: how many bytes each queue holds at most, in messages that are there alone by a formula, and in those that are there together frame by
//! frame.

use super::model::Traffic;
use super::plan::{NetworkPlan, Slot};
use leveret_topology::Forwarding;
use leveret_types::{ByteSize, LinkId, Nanos};
use serde::Serialize;
use std::collections::BTreeMap;

/// What planned messages take of one queue of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct QueueUse {
    /// Which.
    pub queue: u8,
    /// Slots of a hyperperiod that are sent from it.
    pub slots: u32,
    /// Most bytes on the wire that are ready to be sent or being sent, whatever the clocks do within their error. Of a host, which hands over a message in one
    /// piece, the longest message.
    pub backlog: u64,
}

/// The frames of a message at a port. Times count from the instant at which the first is ready.
struct Passing {
    /// How many full ones; then comes the last.
    full: i64,
    /// Bytes of a full one and of the last.
    bytes: (u64, u64),
    /// Distance at which full ones get ready, and at which they are sent.
    each: (i64, i64),
    /// When the last one is ready.
    last: i64,
    /// When the first is sent.
    sent: i64,
    /// How long it takes to send the last.
    last_length: i64,
}

impl Passing {
    fn ready(&self, index: i64) -> i64 {
        if index < self.full { index * self.each.0 } else { self.last }
    }

    /// Bytes that are there when frame `index` gets ready.
    fn there(&self, index: i64) -> u64 {
        let gone = (self.ready(index) - self.sent).div_euclid(self.each.1.max(1)).clamp(0, index);
        let own = if index == self.full { self.bytes.1 } else { self.bytes.0 };
        (index - gone).unsigned_abs() * self.bytes.0 + own
    }

    /// Of full frames that leave as fast as they come there are most when the first is about to be gone; of those that come faster, at the end.
    fn most(&self) -> u64 {
        let (coming, leaving) = self.each;
        let until_first = (self.sent + leaving - 1).div_euclid(coming.max(1)).clamp(0, self.full);
        let candidates = [until_first, until_first - 1, self.full - 1, self.full];
        candidates.into_iter().filter(|index| *index >= 0).map(|index| self.there(index)).max().unwrap_or(0)
    }

    /// When each frame gets ready and is gone, and its bytes.
    fn frames(&self) -> impl Iterator<Item = (i64, i64, u64)> {
        (0..=self.full).map(|index| {
            let begin = self.sent + index * self.each.1;
            match index < self.full {
                true => (self.ready(index), begin + self.each.1, self.bytes.0),
                false => (self.ready(index), begin + self.last_length, self.bytes.1),
            }
        })
    }
}

/// A message at a port, from when its first frame is ready until all are gone.
struct Stay {
    from: i64,
    to: i64,
    passing: Passing,
}

/// Most bytes of messages that are at a port at the same time, of which there may be several.
fn together_at_once(stays: &[Stay]) -> u64 {
    let frames = stays.iter().map(|stay| stay.passing.full).fold(0, i64::saturating_add);
    let mut changes: Vec<(i64, i64)> = Vec::new();
    for stay in stays {
        if frames > FRAMES_MAX {
            let most = i64::try_from(stay.passing.most()).unwrap_or(i64::MAX);
            changes.extend([(stay.from, most), (stay.to, -most)]);
            continue;
        }
        for (ready, gone, bytes) in stay.passing.frames() {
            let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
            changes.extend([(stay.from + ready, bytes), (stay.from + gone, -bytes)]);
        }
    }
    // What is gone at an instant is gone before something comes then.
    changes.sort_unstable();
    let there = changes.iter().scan(0i64, |sum, (_, bytes)| {
        *sum = sum.saturating_add(*bytes);
        Some(*sum)
    });
    there.max().unwrap_or(0).unsigned_abs()
}

/// Most frames that are followed one by one; beyond that messages count from their first frame to their last with the most that they have there.
const FRAMES_MAX: i64 = 1 << 20;

/// Per link, in the model's order: the queues of its port that slots use, by number.
pub(super) fn queue_use(traffic: &Traffic, plan: &NetworkPlan) -> Vec<Vec<QueueUse>> {
    let starts = Starts::of(traffic, plan);
    let of_link = |(index, slots): (usize, &Vec<Slot>)| {
        let mut queues: BTreeMap<u8, Vec<&Slot>> = BTreeMap::new();
        for slot in slots {
            let way = &plan.ways[slot.stream.index()][usize::from(slot.copy)];
            queues.entry(way.queues[usize::from(slot.hop)]).or_default().push(slot);
        }
        let port = Port { traffic, plan, starts: &starts, link: LinkId(index as u32) };
        let used = queues.into_iter().map(|(queue, slots)| QueueUse {
            queue,
            slots: slots.len() as u32,
            backlog: port.backlog(&slots),
        });
        used.collect()
    };
    plan.links.iter().enumerate().map(of_link).collect()
}

struct Port<'a> {
    traffic: &'a Traffic,
    plan: &'a NetworkPlan,
    starts: &'a Starts,
    link: LinkId,
}

impl Port<'_> {
    /// Of one queue's slots.
    fn backlog(&self, slots: &[&Slot]) -> u64 {
        let network = &self.traffic.network;
        let round = self.plan.hyperperiod.0.max(1);
        let (mut most, mut longest) = (0, 0);
        let mut own = Vec::new();
        for slot in slots {
            let size = self.traffic.streams[slot.stream.index()].size;
            let Some(passing) = self.passing(slot) else {
                let ((full, bytes), last) = network.frames.frames(size);
                most = most.max(full * bytes + last);
                continue;
            };
            let start = slot.start.0.rem_euclid(round);
            let stay = passing.sent + passing.full * passing.each.1 + passing.last_length;
            longest = longest.max(stay);
            own.push(((start - passing.sent).rem_euclid(round), stay, *slot));
        }
        own.sort_by_key(|(from, ..)| *from);
        // So many rounds that whoever is still there from the ones before is seen.
        let turns = longest / round + 2;
        let mut group: Vec<Stay> = Vec::new();
        let mut until = i64::MIN;
        let all = (0..turns).flat_map(|turn| own.iter().map(move |one| (turn * round, one)));
        for (later, (from, length, slot)) in all {
            let (from, to) = (from + later, from + later + length);
            if from >= until {
                most = most.max(Self::most(&group));
                group.clear();
            }
            until = until.max(to);
            group.extend(self.passing(slot).map(|passing| Stay { from, to, passing }));
        }
        most.max(Self::most(&group))
    }

    fn most(group: &[Stay]) -> u64 {
        match group {
            [alone] => alone.passing.most(),
            several => together_at_once(several),
        }
    }

    /// `None` at its source.
    fn passing(&self, slot: &Slot) -> Option<Passing> {
        let network = &self.traffic.network;
        let ((full, bytes), last) = network.frames.frames(self.traffic.streams[slot.stream.index()].size);
        let hops = &self.plan.ways[slot.stream.index()][usize::from(slot.copy)].tree.hops;
        let parent = hops[usize::from(slot.hop)].parent?;
        let by = &network.links[hops[parent as usize].link.index()];
        let to = &network.links[self.link.index()];
        // From the first bit of a frame sent on the link before to the frame ready here.
        let lag = |bytes: u64| match network.forwarding(by.target) {
            Some(Forwarding::CutThrough { header }) => by.rate.transmission(header.0.min(bytes)),
            Some(Forwarding::StoreAndForward) | None => by.rate.transmission(bytes),
        };
        let first = lag(if full > 0 { bytes } else { last });
        let each = by.rate.transmission(bytes);
        let last_ready = each.saturating_mul(i64::try_from(full).unwrap_or(i64::MAX)) + lag(last) - first;
        let ready = self.starts.at(self.plan, slot, parent as usize) + first + by.propagation + by.processing;
        // The clocks at both ends of a link may differ by their error, each to its side.
        let error = self.traffic.clock_error + self.traffic.clock_error;
        Some(Passing {
            full: i64::try_from(full).unwrap_or(i64::MAX),
            bytes: (bytes, last),
            each: (each.0, to.rate.transmission(bytes).0),
            last: last_ready.0,
            sent: (slot.start - ready + error).0,
            last_length: to.rate.transmission(last).0,
        })
    }
}

/// When each message is sent on each link of its way.
struct Starts {
    /// By stream, then copy: the first place of its instances, which have one for each hop.
    first: Vec<Vec<usize>>,
    start: Vec<Nanos>,
}

impl Starts {
    fn of(traffic: &Traffic, plan: &NetworkPlan) -> Self {
        let mut next = 0;
        let mut first = Vec::with_capacity(plan.ways.len());
        for (stream, ways) in traffic.streams.iter().zip(&plan.ways) {
            let count = (plan.hyperperiod.0 / stream.period.0.max(1)) as usize;
            let mut copies = Vec::with_capacity(ways.len());
            for way in ways {
                copies.push(next);
                next += count * way.tree.hops.len();
            }
            first.push(copies);
        }
        let mut found = Self { first, start: vec![Nanos::ZERO; next] };
        for slot in plan.links.iter().flatten() {
            let place = found.place(plan, slot, usize::from(slot.hop));
            found.start[place] = slot.start;
        }
        found
    }

    fn place(&self, plan: &NetworkPlan, slot: &Slot, hop: usize) -> usize {
        let (stream, copy) = (slot.stream.index(), usize::from(slot.copy));
        self.first[stream][copy] + slot.instance as usize * plan.ways[stream][copy].tree.hops.len() + hop
    }

    /// When the message of a slot is sent on another hop of its way.
    fn at(&self, plan: &NetworkPlan, slot: &Slot, hop: usize) -> Nanos {
        self.start[self.place(plan, slot, hop)]
    }
}

/// All that the queues of a port hold at most.
pub(super) fn together(used: &[QueueUse]) -> ByteSize {
    ByteSize(used.iter().map(|one| one.backlog).sum())
}
