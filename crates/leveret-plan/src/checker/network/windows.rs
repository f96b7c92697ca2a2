//! Every instance starts after its release, is forwarded no sooner than it has come, and arrives in time.

use super::{Checker, Copy, Hop, HopTimes, Passage, Train, divided_up, place_of, violation};
use crate::checker::{Violation, shown, wide};
use crate::network::Traffic;
use leveret_topology::{Forwarding, Link, NodeKind};
use leveret_types::{ByteSize, LinkId};

impl Checker<'_> {
    pub(super) fn windows(&mut self) -> Result<(), Violation> {
        // By hop: the earliest and the latest arrival, from the start of the period; only of hops that lead to a target.
        let mut arrivals = Vec::new();
        for (index, ways) in self.plan.ways.iter().enumerate() {
            for number in 0..ways.len() {
                let copy = self.copy(index, number);
                arrivals.clear();
                arrivals.resize(usize::from(copy.hops), None);
                for instance in 0..copy.instances as usize {
                    self.instance(index, number, copy, instance, &mut arrivals)?;
                }
                self.steady(index, number, &arrivals)?;
                let hops = copy.first_hop as usize..copy.first_hop as usize + usize::from(copy.hops);
                for (hop, passage) in self.hops[hops.clone()].iter().zip(&self.passages[hops]) {
                    if passage.longest_wait > hop.least_gap {
                        self.crowded[hop.link as usize] = true;
                    }
                }
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

    fn instance(
        &mut self,
        stream: usize,
        copy: usize,
        starts: Copy,
        instance: usize,
        arrivals: &mut [Option<(i128, i128)>],
    ) -> Result<(), Violation> {
        let traffic = self.traffic;
        let declared = &traffic.streams[stream];
        let begin = wide(declared.period) * instance as i128;
        let error = self.error();
        let earliest = begin + wide(declared.release) + error;
        let place = || place_of(traffic, stream, copy, instance);
        let (first_hop, count) = (starts.first_hop as usize, usize::from(starts.hops));
        let hops = &self.hops[first_hop..first_hop + count];
        let passages = &mut self.passages[first_hop..first_hop + count];
        let first = starts.first as usize + instance * count;
        let instants = &self.starts[first..first + count];
        let mut last = begin;
        let mut departure = i128::MAX;
        for (number, (hop, passage)) in hops.iter().zip(passages).enumerate() {
            let start = i128::from(instants[number]);
            if hop.parent == Hop::NO_PARENT {
                departure = departure.min(start);
                if start < earliest {
                    let found = format!("{}, released at {}", shown(start), shown(earliest));
                    return Err(violation(place(), "it is sent after its release", found));
                }
            } else {
                let came = i128::from(instants[usize::from(hop.parent)]) + i128::from(passage.forwarding);
                let ready = came + 2 * error;
                if start < ready {
                    let link = traffic.network.link_name(LinkId(hop.link));
                    let found = format!("{link} at {}, ready at {}", shown(start), shown(ready));
                    return Err(violation(place(), "it is forwarded after it has come", found));
                }
                // Counted from the earliest that it can come; what does not fit is as good as for ever.
                let wait = i64::try_from(start - came + 2 * error).unwrap_or(i64::MAX);
                passage.longest_wait = passage.longest_wait.max(wait);
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

impl HopTimes {
    /// Of a message on a link, and from the link before it.
    pub(super) fn new(traffic: &Traffic, size: ByteSize, parent: Option<LinkId>, link: LinkId) -> Self {
        let links = &traffic.network.links;
        let train = |link: LinkId| Train::new(&traffic.network.frames, size, &links[link.index()]);
        let here = train(link);
        let forwarding = parent.map_or(0, |parent| {
            forwarding(traffic, (&links[parent.index()], train(parent)), (&links[link.index()], here))
        });
        Self { length: here.whole(), last_start: here.last_start(), forwarding }
    }
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
