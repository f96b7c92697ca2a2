//! Every instance starts after its release, is forwarded no sooner than it has come, and arrives in time.

use super::{Checker, Copy, Hop, HopTimes, Passage, TIME_MAX, Train, divided_up, place_of, violation};
use crate::checker::{Violation, shown, wide};
use crate::network::Traffic;
use leveret_topology::{Forwarding, Link, NodeKind};
use leveret_types::{ByteSize, LinkId};

impl Checker<'_> {
    pub(super) fn windows(&mut self) -> Result<(), Violation> {
        // By hop: the earliest and the latest arrival, from the start of the period; only of hops that lead to a target.
        let mut arrivals = Vec::new();
        let mut passages = Vec::new();
        for (index, ways) in self.plan.ways.iter().enumerate() {
            for number in 0..ways.len() {
                let copy = self.copy(index, number);
                self.passages_of(index, number, &mut passages)?;
                arrivals.clear();
                arrivals.resize(usize::from(copy.hops), None);
                if !self.all_keep(index, copy, &passages, &mut arrivals) {
                    arrivals.fill(None);
                    for instance in 0..copy.instances as usize {
                        self.instance((index, number, instance), copy, &passages, &mut arrivals)?;
                    }
                }
                self.steady(index, number, &arrivals)?;
            }
        }
        Ok(())
    }

    /// Arrivals at each target differ by no more than the jitter.
    fn steady(&self, stream: usize, copy: usize, arrivals: &[Option<(i128, i128)>]) -> Result<(), Violation> {
        let Some(jitter) = self.traffic.streams[stream].jitter else { return Ok(()) };
        match arrivals.iter().flatten().find(|(least, most)| most - least > wide(jitter)) {
            Some((least, most)) => {
                let found = format!(
                    "{} to {} after the start of the period, jitter {jitter}",
                    shown(*least),
                    shown(*most)
                );
                Err(violation(
                    self.stream_place(stream, copy, 0),
                    "its arrivals differ by no more than its jitter",
                    found,
                ))
            }
            None => Ok(()),
        }
    }

    /// Whether all instances of a copy keep their window, their latency, and what is between their hops. Hop by hop, as the starts lie in memory; where some instance
    /// does not, or times are too long to be counted in 64 bits, [`Self::instance`] says which.
    fn all_keep(
        &mut self,
        stream: usize,
        copy: Copy,
        passages: &[Passage],
        arrivals: &mut [Option<(i128, i128)>],
    ) -> bool {
        let declared = &self.traffic.streams[stream];
        let (release, deadline, period) = (declared.release.0, declared.deadline.0, declared.period.0);
        let (error, latency) = (self.traffic.clock_error.0, declared.latency);
        if [release, deadline, period, error].iter().any(|time| !(0..=TIME_MAX / 4).contains(time)) {
            return false;
        }
        let range = copy.first_hop as usize..copy.first_hop as usize + usize::from(copy.hops);
        let hops = &self.hops[range];
        let starts = |hop: usize| &self.starts[copy.entry(0, hop)..][..copy.instances as usize];
        let begins = || std::iter::successors(Some(0i64), |begin| Some(begin + period));
        let is_root = |hop: &Hop| hop.parent == Hop::NO_PARENT;
        // Hop 0 follows none. Of a source with several links it counts which of them is first.
        let (mut kept, mut last) = (hops.iter().filter(|hop| is_root(hop)).count() == 1, i64::MIN);
        for (number, (hop, passage)) in hops.iter().zip(passages).enumerate() {
            let own = starts(number);
            if is_root(hop) {
                let (least, _) = extremes(own, begins());
                kept &= least >= release + error;
            } else {
                let (least, most) = extremes(own, starts(usize::from(hop.parent)).iter().copied());
                kept &= least >= passage.forwarding.saturating_add(2 * error);
                let longest_wait = most.saturating_sub(passage.first_comes) + 2 * error;
                if longest_wait > hop.least_gap {
                    self.crowded[hop.link as usize] = true;
                }
            }
            if passage.arrival == Passage::NO_TARGET {
                continue;
            }
            let (least, most) = extremes(own, begins());
            kept &= most.saturating_add(passage.arrival) <= deadline - error;
            let arrival = |start: i64| i128::from(start) + i128::from(passage.arrival);
            arrivals[number] = Some((arrival(least), arrival(most)));
            if latency.is_some() {
                let (_, most) = extremes(own, starts(0).iter().copied());
                last = last.max(most.saturating_add(passage.arrival).saturating_add(2 * error));
            }
        }
        kept && latency.is_none_or(|latency| last <= latency.0)
    }

    fn instance(
        &mut self,
        (stream, copy, instance): (usize, usize, usize),
        starts: Copy,
        passages: &[Passage],
        arrivals: &mut [Option<(i128, i128)>],
    ) -> Result<(), Violation> {
        let traffic = self.traffic;
        let declared = &traffic.streams[stream];
        let begin = wide(declared.period) * instance as i128;
        let error = self.error();
        let earliest = begin + wide(declared.release) + error;
        let place = || place_of(traffic, stream, copy, instance);
        let (first_hop, count) = (starts.first_hop as usize, usize::from(starts.hops));
        let instant = |hop: usize| i128::from(self.starts[starts.entry(instance, hop)]);
        let hops = &self.hops[first_hop..first_hop + count];
        let mut last = begin;
        let mut departure = i128::MAX;
        for (number, (hop, passage)) in hops.iter().zip(passages).enumerate() {
            let start = instant(number);
            if hop.parent == Hop::NO_PARENT {
                departure = departure.min(start);
                if start < earliest {
                    let found = format!("{}, released at {}", shown(start), shown(earliest));
                    return Err(violation(place(), "it is sent after its release", found));
                }
            } else {
                let before = instant(usize::from(hop.parent));
                let ready = before + i128::from(passage.forwarding) + 2 * error;
                if start < ready {
                    let link = traffic.network.link_name(LinkId(hop.link));
                    let found = format!("{link} at {}, ready at {}", shown(start), shown(ready));
                    return Err(violation(place(), "it is forwarded after it has come", found));
                }
                // Counted from the earliest that its first frame can come.
                let came = before + i128::from(passage.first_comes) - 2 * error;
                if start - came > i128::from(hop.least_gap) {
                    self.crowded[hop.link as usize] = true;
                }
            }
            if passage.arrival != Passage::NO_TARGET {
                let arrival = start + i128::from(passage.arrival);
                last = last.max(arrival);
                let (least, most) = arrivals[number].unwrap_or((i128::MAX, i128::MIN));
                arrivals[number] = Some((least.min(arrival - begin), most.max(arrival - begin)));
            }
        }
        let latest = begin + wide(declared.deadline) - error;
        if last > latest {
            let found = format!("{}, deadline {}", shown(last), shown(latest));
            return Err(violation(place(), "it arrives before its deadline", found));
        }
        if let Some(latency) = declared.latency
            && last - departure + 2 * error > wide(latency)
        {
            let found = format!("{} of {latency}", shown(last - departure + 2 * error));
            return Err(violation(place(), "it is no longer under way than its latency", found));
        }
        Ok(())
    }
}

/// The least and the greatest difference of instants and what they are counted from. None is beyond [`TIME_MAX`], so none overflows.
fn extremes(instants: &[i64], from: impl Iterator<Item = i64>) -> (i64, i64) {
    let differences = instants.iter().zip(from).map(|(instant, from)| instant - from);
    differences.fold((i64::MAX, i64::MIN), |(least, most), value| (least.min(value), most.max(value)))
}

impl HopTimes {
    /// Of a message on a link, and from the link before it.
    pub(super) fn new(traffic: &Traffic, size: ByteSize, parent: Option<LinkId>, link: LinkId) -> Self {
        let links = &traffic.network.links;
        let train = |link: LinkId| Train::new(&traffic.network.frames, size, &links[link.index()]);
        let here = train(link);
        let forwarding = parent.map_or(0, |parent| {
            forwarding(traffic, (&links[parent.index()], train(parent)), (&links[link.index()], here))
        });
        let first_comes = parent.map_or(0, |parent| {
            first_comes(traffic, &links[parent.index()], train(parent), &links[link.index()])
        });
        Self { length: here.whole(), last_start: here.last_start(), forwarding, first_comes }
    }
}

/// From the start on a link to the first frame at the port of the next one.
pub(super) fn first_comes(traffic: &Traffic, from: &Link, here: Train, to: &Link) -> i128 {
    let frame = if here.full > 0 { here.each } else { here.last };
    let needed = match traffic.network.nodes[to.source.index()].kind {
        NodeKind::Switch(Forwarding::CutThrough { header }) => {
            divided_up(i128::from(header.0) * 8_000_000_000, i128::from(from.rate.0)).min(frame)
        }
        NodeKind::Switch(Forwarding::StoreAndForward) | NodeKind::Host => frame,
    };
    needed + wide(from.propagation) + wide(from.processing)
}

/// From the start on a link to the instant from which the next one can be sent on; with the message's frames on each.
pub(super) fn forwarding(
    traffic: &Traffic,
    (from, here): (&Link, Train),
    (to, there): (&Link, Train),
) -> i128 {
    let forwarding = match traffic.network.nodes[to.source.index()].kind {
        NodeKind::Switch(forwarding) => forwarding,
        NodeKind::Host => Forwarding::StoreAndForward,
    };
    // What must have come of a frame before it may go on, so that it does not run dry.
    let needed = |here: i128, there: i128| match forwarding {
        Forwarding::StoreAndForward => here,
        Forwarding::CutThrough { header } => {
            let bits = i128::from(header.0) * 8_000_000_000;
            let rate = i128::from(from.rate.0);
            divided_up(bits, rate).min(here).max(here - there)
        }
    };
    // Frame f has come after f frames here, and is sent after f frames there; what lies between is linear in f.
    let mut longest = here.full * (here.each - there.each) + needed(here.last, there.last);
    if here.full > 0 {
        let most = here.full - 1;
        longest = longest
            .max(needed(here.each, there.each))
            .max(most * (here.each - there.each) + needed(here.each, there.each));
    }
    longest + wide(from.propagation) + wide(from.processing)
}
