//! Classes of a port for channels beside the table: what `docs/planning.md` promises them ("Beside the table") holds where each of their priorities has a class of its own,
//! the more urgent above the less urgent, with its shaper, and where no gate takes more of a link than the promise counts with.
//!
//! So such a class closes before a slot by the longest frame that the promise keeps free there, and not by that of all other traffic: of a shaped class its own longest frame,
//! of another the longest of it and of the more urgent ones that no shaper holds back.

use leveret_plan::network::{NetworkPlan, Traffic};
use leveret_topology::Link;
use leveret_types::{BitRate, ByteSize, LinkId, Nanos};
use std::collections::BTreeMap;

/// A priority of channels beside the table, at a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Beside {
    /// The priority in the plan, 0 to 7.
    pub class: u8,
    /// Its longest frame on the wire.
    pub largest: ByteSize,
    /// The longest frame that is kept free before a slot.
    pub kept_free: ByteSize,
    /// How long before a slot its gate closes.
    pub guard: Nanos,
    /// Its shaper, where it has one.
    pub shaper: Option<Credit>,
    /// Longest time from a frame ready to be sent to its last bit sent; none where nothing is promised.
    pub delay: Option<Nanos>,
}

/// A credit-based shaper (IEEE 802.1Q-2018, 8.6.8.2, annex L).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Credit {
    /// How fast credit grows while the gate is open.
    pub idle_slope: BitRate,
    /// How fast it falls while a frame is sent: the link's rate less the idle slope.
    pub send_slope: BitRate,
    /// The most that it can be, in bytes: what grows while the longest promise lasts. The least number that does not cut credit which the promise counts with, as far as
    /// the plan says; none where nothing is promised.
    pub most: Option<u64>,
    /// The least, in bytes below zero: what its longest frame takes.
    pub least: u64,
}

/// The priorities of channels beside the table at each port, ascending; guards are still 0.
pub(crate) fn by_link(traffic: &Traffic, plan: &NetworkPlan) -> BTreeMap<LinkId, Vec<Beside>> {
    let mut largest: BTreeMap<(LinkId, u8), ByteSize> = BTreeMap::new();
    for (flow, way) in traffic.flows.iter().zip(&plan.flows) {
        let Some(class) = flow.class else { continue };
        let ((full, bytes), last) = traffic.network.frames.frames(flow.size);
        let longest = ByteSize(if full > 0 { bytes.max(last) } else { last });
        for hop in &way.hops {
            let known = largest.entry((hop.link, class)).or_insert(longest);
            *known = longest.max(*known);
        }
    }
    let mut found: BTreeMap<LinkId, Vec<Beside>> = BTreeMap::new();
    // The most urgent first, since it is those above that count.
    for ((id, class), largest) in largest.into_iter().rev() {
        let link = &traffic.network.links[id.index()];
        let bound = plan.classes[id.index()].iter().find(|bound| bound.class == class);
        let delay = bound.map(|bound| bound.delay).filter(|delay| *delay < Nanos::MAX);
        let shaper = credit(link, class, largest, delay);
        let own = found.entry(id).or_default();
        let above = own.iter().filter(|above| above.shaper.is_none()).map(|above| above.largest);
        let above = above.max().filter(|_| shaper.is_none());
        let kept_free = above.map_or(largest, |above| above.max(largest));
        own.push(Beside { class, largest, kept_free, guard: Nanos::ZERO, shaper, delay });
    }
    for own in found.values_mut() {
        own.reverse();
    }
    found
}

fn credit(link: &Link, class: u8, largest: ByteSize, delay: Option<Nanos>) -> Option<Credit> {
    let idle_slope = link.shaping.iter().find(|shaper| shaper.class == class)?.idle_slope;
    let send_slope = BitRate(link.rate.0.saturating_sub(idle_slope.0));
    let bytes = |time: Nanos| u128::from(idle_slope.0) * time.0.unsigned_abs() as u128;
    let most = delay.map(|delay| bytes(delay).div_ceil(8_000_000_000));
    let least = (u128::from(largest.0) * u128::from(send_slope.0)).div_ceil(u128::from(link.rate.0.max(1)));
    Some(Credit {
        idle_slope,
        send_slope,
        most: most.and_then(|most| u64::try_from(most).ok()),
        least: u64::try_from(least).unwrap_or(u64::MAX),
    })
}
