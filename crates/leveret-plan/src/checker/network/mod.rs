//! The independent checker of network plans: does this plan, from wherever it came, keep every rule of `docs/planning.md` for this
//! traffic? It shares the data types with the planner and no code; it computes frames, delays and queues by itself, where nothing can
//! overflow. Its time is linear in the plan: links are walked in the order in which the plan lists their slots, ways hop by hop.
//!
//! ```text
//!  frame ─► ways ─► links (order, exclusive use, reservations) ─► windows (release, forwarding, deadline, jitter) ─► queues ─► flows
//!                     ├─ start of each hop of each instance ─────────┘ │                                               │
//!                     └─ by hop: how long it may wait in any case ─────┴─ links on which one waits longer ─────────────┘
//! ```

mod flows;
mod links;
mod overload;
mod queues;
mod refusal;
mod refusal_ways;
mod ways;
mod windows;

pub(super) use overload::quickest;
pub use refusal::check_refusal;

use super::{Violation, shown, wide};
use crate::network::{
    Certificate, NETWORK_PLAN_VERSION, NetworkPlan, ROUND_INSTANCES_MAX, STREAM_TIME_MAX, Slot, Traffic,
};
use leveret_topology::{FrameFormat, Link};
use leveret_types::{ByteSize, LinkId, Nanos, StreamId};

/// Accepts a network plan if it keeps every rule.
///
/// # Errors
/// The first rule that does not hold, with its place.
pub fn check_network(plan: &NetworkPlan, traffic: &Traffic) -> Result<(), Violation> {
    let round = wide(plan.hyperperiod);
    let mut checker = Checker {
        plan,
        traffic,
        round,
        copies_most: 0,
        copies: Vec::new(),
        hops: Vec::new(),
        starts: Vec::new(),
        crowded: Vec::new(),
    };
    checker.frame()?;
    checker.ways()?;
    checker.links()?;
    checker.windows()?;
    checker.queues()?;
    checker.flows()
}

/// Accepts what is said to show that traffic has no plan.
///
/// # Errors
/// The first thing in it that does not follow.
pub fn check_certificate(certificate: &Certificate, traffic: &Traffic) -> Result<(), Violation> {
    match certificate {
        Certificate::Overload { link, from, to, streams } => {
            overload::check(overload::Claim { link: *link, from: *from, to: *to, streams }, traffic)
        }
        Certificate::Unison { link, streams, circle } => {
            overload::check_unison(*link, streams, *circle, traffic)
        }
        Certificate::Argument(proof) => check_refusal(proof, traffic),
    }
}

/// Where one copy of one stream lies: its starts in [`Checker::starts`] hop by hop, so that those of one link, which are noted one after the other, lie side by
/// side; its hops in [`Checker::hops`] at `first_hop + hop`. Small, as every slot looks one up.
#[derive(Clone, Copy, Default)]
struct Copy {
    first: u32,
    first_hop: u32,
    instances: u32,
    hops: u16,
}

impl Copy {
    /// Where the start of an instance on a hop is noted.
    fn entry(self, instance: usize, hop: usize) -> usize {
        self.first as usize + hop * self.instances as usize + instance
    }
}

/// One link of the way of a copy, as its slots need it. Times are in nanoseconds, at most [`TIME_MAX`].
struct Hop {
    /// How long the link is taken.
    length: i64,
    /// When the last frame starts, from the start of the first.
    last_start: i64,
    /// The least time from when what left its queue before was sent to its start. Who waits no longer has come after that in any case; where one does, the link is
    /// [`Checker::crowded`].
    least_gap: i64,
    link: u32,
    /// The hop before; [`Hop::NO_PARENT`] at the source.
    parent: u16,
    queue: u8,
}

impl Hop {
    const NO_PARENT: u16 = u16::MAX;
}

/// The rest of a hop, which only the windows need, of one way after the other.
struct Passage {
    /// From the start on the hop before to the instant from which it can be sent here.
    forwarding: i64,
    /// From there to the first frame at this port.
    first_comes: i64,
    /// From the start to the arrival at a target; [`Passage::NO_TARGET`] where none is at the link's end.
    arrival: i64,
}

impl Passage {
    const NO_TARGET: i64 = -1;
}

/// What a message takes of one link of its way.
struct HopTimes {
    /// How long the link is taken.
    length: i128,
    /// When its last frame starts, from the start of the first.
    last_start: i128,
    /// From the start on the link before to the instant from which this one can be sent; 0 at the source.
    forwarding: i128,
    /// From there to the first frame at the port; 0 at the source.
    first_comes: i128,
}

struct Checker<'a> {
    plan: &'a NetworkPlan,
    traffic: &'a Traffic,
    round: i128,
    /// The copies of the stream that has most.
    copies_most: usize,
    /// By stream and copy, as many for each stream as one has at most; those that it does not have have no hops.
    copies: Vec<Copy>,
    hops: Vec<Hop>,
    /// Start of every hop of every instance; [`UNKNOWN`] until a slot says it.
    starts: Vec<i64>,
    /// By link: whether a message may wait there for longer than since what left its queue before.
    crowded: Vec<bool>,
}

/// No time of a hop is longer, about 73 years, and no round: sums of a few are counted in 64 bits.
const TIME_MAX: i64 = 1 << 61;
const UNKNOWN: i64 = i64::MIN;

fn violation(place: String, rule: &str, found: String) -> Violation {
    Violation { place, rule: rule.to_owned(), found }
}

impl Checker<'_> {
    /// Version, sizes, hyperperiod.
    fn frame(&self) -> Result<(), Violation> {
        let plan = self.plan;
        let place = || "plan".to_owned();
        if plan.version != NETWORK_PLAN_VERSION {
            return Err(violation(
                place(),
                "its version is known",
                format!("{} and not {NETWORK_PLAN_VERSION}", plan.version),
            ));
        }
        let (streams, links) = (self.traffic.streams.len(), self.traffic.network.links.len());
        if plan.ways.len() != streams || plan.links.len() != links {
            let found = format!(
                "it has {} streams and {} links, and the traffic {streams} and {links}",
                plan.ways.len(),
                plan.links.len()
            );
            return Err(violation(place(), "it is for this traffic", found));
        }
        let periods = self.traffic.streams.iter().map(|stream| stream.period);
        let reserved = self
            .traffic
            .network
            .links
            .iter()
            .flat_map(|link| &link.reserved)
            .map(|reservation| reservation.period);
        if self.round <= 0 {
            return Err(violation(place(), "its hyperperiod is longer than 0", shown(self.round)));
        }
        let mut instances: i128 = 0;
        for period in periods.chain(reserved) {
            if self.round % wide(period).max(1) != 0 {
                let found = format!("{} and a period of {period}", plan.hyperperiod);
                return Err(violation(place(), "its hyperperiod is a multiple of every period", found));
            }
            instances += self.round / wide(period).max(1);
        }
        // Whoever goes on from an accepted plan walks through all of its round, of which reservations need have no slot.
        let most = (wide(STREAM_TIME_MAX) * 24, i128::from(ROUND_INSTANCES_MAX));
        if self.round > most.0 || instances > most.1 {
            let found = format!("{}, with {instances} messages and reservations", plan.hyperperiod);
            return Err(violation(place(), "its hyperperiod is no longer than any that is planned", found));
        }
        Ok(())
    }

    /// A slot as people find it.
    fn slot_place(&self, link: usize, slot: &Slot) -> String {
        let name = self.traffic.streams.get(slot.stream.index()).map_or("?", |stream| stream.name.as_str());
        format!(
            "link {}, stream \"{name}\" instance {} (copy {})",
            self.traffic.network.link_name(LinkId(link as u32)),
            slot.instance,
            slot.copy
        )
    }

    fn stream_place(&self, stream: usize, copy: usize, instance: usize) -> String {
        place_of(self.traffic, stream, copy, instance)
    }

    /// What stands in [`Self::starts`] for a hop.
    fn start(&self, copy: Copy, instance: usize, hop: usize) -> i128 {
        i128::from(self.starts[copy.entry(instance, hop)])
    }

    /// A copy of a stream.
    fn copy(&self, stream: usize, copy: usize) -> Copy {
        self.copies[stream * self.copies_most + copy]
    }

    /// The hop of a slot, in [`Self::hops`]. The slot has been looked at by `enter`.
    fn hop(&self, slot: &Slot) -> usize {
        let copy = self.copy(slot.stream.index(), usize::from(slot.copy));
        copy.first_hop as usize + usize::from(slot.hop)
    }

    fn error(&self) -> i128 {
        wide(self.traffic.clock_error)
    }
}

/// An instance as people find it.
fn place_of(traffic: &Traffic, stream: usize, copy: usize, instance: usize) -> String {
    format!("stream \"{}\" instance {instance} (copy {copy})", traffic.name(StreamId(stream as u32)))
}

/// A message's frames on one link: how long each takes, first to last, as (how many, each) of the full ones and the last.
#[derive(Clone, Copy)]
struct Train {
    full: i128,
    each: i128,
    last: i128,
}

impl Train {
    fn new(frames: &FrameFormat, size: ByteSize, link: &Link) -> Self {
        let (size, payload) = (i128::from(size.0), i128::from(frames.payload_max.0));
        let count = divided_up(size, payload);
        let rest = size - (count - 1) * payload;
        let rate = i128::from(link.rate.0);
        let time = |payload: i128| {
            let bits = (payload.max(i128::from(frames.payload_min.0)) + i128::from(frames.overhead.0)) * 8;
            divided_up(bits * 1_000_000_000, rate)
        };
        let last = time(rest);
        let each = if count > 1 { time(payload) } else { last };
        Self { full: count - 1, each, last }
    }

    /// How long the link is taken.
    fn whole(&self) -> i128 {
        self.full * self.each + self.last
    }

    /// When the last frame starts, from the start of the first.
    fn last_start(&self) -> i128 {
        self.full * self.each
    }
}

/// A quotient of positive numbers, rounded up. In 64 bits where they fit: twice as many take many times as long.
fn divided_up(value: i128, by: i128) -> i128 {
    match (u64::try_from(value), u64::try_from(by)) {
        (Ok(value), Ok(by)) => i128::from(value.div_ceil(by)),
        _ => (value + by - 1) / by,
    }
}

/// Where in the round an instant lies: two instants a round apart are the same on a link.
fn within_round(start: Nanos, round: Nanos) -> i64 {
    // Most lie in the first round; a division is dear. It cannot overflow, since the round is longer than 0.
    if (Nanos::ZERO..round).contains(&start) { start.0 } else { start.0.rem_euclid(round.0) }
}
