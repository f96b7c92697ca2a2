//! The rules of `docs/planning.md` as a question for an SMT solver, written from the rules and not from the planner: one whole number for the start
//! of each slot, one for each queue, and one truth for each way.
//!
//! For streams with one copy, and clocks without error.

use leveret_plan::network::{Stream, Traffic};
use leveret_topology::{Forwarding, Link, Network};
use leveret_types::{Nanos, NodeId};
use std::fmt::Write;

/// A message on one link of one way.
struct Use {
    link: usize,
    /// The truth of its way.
    way: String,
    start: String,
    /// The queue, where it comes from another link.
    queue: Option<String>,
    /// When it comes to this link's port: the start on the link before, and how long after that.
    came: Option<(String, i64)>,
    length: i64,
    /// When its last frame starts, after its first.
    last_start: i64,
    /// Its start lies between these.
    range: (i64, i64),
}

/// One link of a way, and which of the way's links comes before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Step {
    link: usize,
    before: Option<usize>,
}

/// Declarations and assertions that can be satisfied exactly where the traffic has a plan.
pub fn question(traffic: &Traffic, hyperperiod: i64) -> String {
    let mut asked =
        Question { traffic, hyperperiod, text: "(set-logic QF_LIA)\n".to_owned(), uses: Vec::new() };
    for (index, stream) in traffic.streams.iter().enumerate() {
        asked.stream(index, stream);
    }
    for one in 0..asked.uses.len() {
        asked.alone(one);
        for two in one + 1..asked.uses.len() {
            if asked.uses[one].link == asked.uses[two].link && !asked.are_other_ways(one, two) {
                asked.pair(one, two);
            }
        }
    }
    asked.text
}

struct Question<'a> {
    traffic: &'a Traffic,
    hyperperiod: i64,
    text: String,
    uses: Vec<Use>,
}

impl Question<'_> {
    fn assert(&mut self, condition: &str) {
        // Writing to a text does not fail.
        _ = writeln!(self.text, "(assert {condition})");
    }

    fn declare(&mut self, name: &str, sort: &str) {
        _ = writeln!(self.text, "(declare-const {name} {sort})");
    }

    /// Rules 3 to 8: its ways, of which one is taken, and all instances on each.
    fn stream(&mut self, index: usize, stream: &Stream) {
        let ways = trees(&self.traffic.network, stream.source, &stream.targets);
        let names: Vec<String> = (0..ways.len()).map(|way| format!("w{index}_{way}")).collect();
        for name in &names {
            self.declare(name, "Bool");
        }
        self.assert(&format!("(or {} false)", names.join(" ")));
        for (one, name) in names.iter().enumerate() {
            for other in &names[one + 1..] {
                self.assert(&format!("(not (and {name} {other}))"));
            }
        }
        for (way, steps) in ways.iter().enumerate() {
            self.way(&format!("{index}_{way}"), stream, steps);
        }
    }

    fn way(&mut self, name: &str, stream: &Stream, steps: &[Step]) {
        let network = &self.traffic.network;
        let times: Vec<Vec<i64>> =
            steps.iter().map(|step| frames(network, step.link, stream.size.0)).collect();
        for (hop, step) in steps.iter().enumerate().filter(|(_, step)| step.before.is_some()) {
            self.declare(&format!("q{name}_{hop}"), "Int");
            let most = i64::from(network.links[step.link].queues) - 1;
            self.assert(&format!("(<= 0 q{name}_{hop} {most})"));
        }
        let way = format!("w{name}");
        // Of each target, when each instance comes there after the start of its period.
        let mut arrivals: Vec<Vec<String>> = vec![Vec::new(); stream.targets.len()];
        for instance in 0..self.hyperperiod / stream.period.0 {
            let start = |hop: usize| format!("s{name}_{instance}_{hop}");
            let begin = instance * stream.period.0;
            let range = (begin + stream.release.0, begin + stream.deadline.0);
            for (hop, step) in steps.iter().enumerate() {
                self.declare(&start(hop), "Int");
                let came = step.before.map(|before| {
                    let links = (steps[before].link, step.link);
                    (start(before), forwarding(network, links, (&times[before], &times[hop])))
                });
                match &came {
                    Some((before, after)) => {
                        self.assert(&format!("(<= (+ {before} {after}) {})", start(hop)))
                    }
                    None => self.assert(&format!("(<= {} {})", range.0, start(hop))),
                }
                self.uses.push(Use {
                    link: step.link,
                    way: way.clone(),
                    start: start(hop),
                    queue: step.before.map(|_| format!("q{name}_{hop}")),
                    came,
                    length: times[hop].iter().sum(),
                    last_start: times[hop].iter().rev().skip(1).sum(),
                    range,
                });
                let end = &network.links[step.link];
                let Some(target) = stream.targets.iter().position(|target| *target == end.target) else {
                    continue;
                };
                let after = times[hop].iter().sum::<i64>() + end.propagation.0 + end.processing.0;
                let arrival = format!("(+ {} {after})", start(hop));
                self.assert(&format!("(=> {way} (<= {arrival} {}))", range.1));
                if let Some(latency) = stream.latency {
                    let firsts = (0..steps.len()).filter(|first| steps[*first].before.is_none());
                    for first in firsts {
                        self.assert(&format!("(=> {way} (<= (- {arrival} {}) {}))", start(first), latency.0));
                    }
                }
                arrivals[target].push(format!("(- {arrival} {begin})"));
            }
        }
        let Some(Nanos(jitter)) = stream.jitter else { return };
        for (one, other) in arrivals.iter().flat_map(|of_target| pairs(of_target)) {
            self.assert(&format!("(=> {way} (<= (- {one} {other}) {jitter}))"));
            self.assert(&format!("(=> {way} (<= (- {other} {one}) {jitter}))"));
        }
    }

    /// Rule 2, whole cycles, and what a message is to itself a round later.
    fn alone(&mut self, one: usize) {
        let (this, round) = (&self.uses[one], self.hyperperiod);
        let mut conditions = vec![format!("(<= {} {round})", this.length)];
        if let Some((before, after)) = &this.came {
            conditions
                .push(format!("(>= (+ {before} {after} {round}) (+ {} {}))", this.start, this.last_start));
        }
        // Somewhere between two repetitions of what it must not touch.
        let between = |from: i64, until: i64, period: i64| {
            let first = (this.range.0 - until).div_euclid(period) - 1;
            let last = (this.range.1 - from).div_euclid(period) + 1;
            let cases: Vec<String> = (first..=last)
                .map(|turn| {
                    let (least, most) = (until + turn * period, from + (turn + 1) * period - this.length);
                    format!("(<= {} {} {})", whole(least), this.start, whole(most))
                })
                .collect();
            format!("(or {})", cases.join(" "))
        };
        for reserved in &self.traffic.network.links[this.link].reserved {
            let until = reserved.start.0 + reserved.length.0;
            conditions.push(between(reserved.start.0, until, reserved.period.0));
        }
        if self.traffic.whole_cycles {
            conditions.push(between(0, 0, round));
        }
        let condition = format!("(=> {} (and {}))", this.way, conditions.join(" "));
        self.assert(&condition);
    }

    /// Rules 1 and 9: the second lies `turn` rounds away after the first and before the first comes again.
    fn pair(&mut self, one: usize, two: usize) {
        let (a, b, round) = (&self.uses[one], &self.uses[two], self.hyperperiod);
        let first = (a.range.0 - b.range.1).div_euclid(round) - 1;
        let last = (a.range.1 + round - b.range.0).div_euclid(round) + 1;
        let cases: Vec<String> = (first..=last)
            .map(|turn| {
                let later = format!("(+ {} {})", b.start, whole(turn * round));
                let again = format!("(+ {} {round})", a.start);
                let mut parts = vec![
                    format!("(<= (+ {} {}) {later})", a.start, a.length),
                    format!("(<= (+ {later} {}) {again})", b.length),
                ];
                if let (Some(own), Some(other), Some(came_a), Some(came_b)) =
                    (&a.queue, &b.queue, &a.came, &b.came)
                {
                    let second = format!(
                        "(>= (+ {} {} {}) (+ {} {}))",
                        came_b.0,
                        came_b.1,
                        whole(turn * round),
                        a.start,
                        a.last_start
                    );
                    let next =
                        format!("(>= (+ {} {} {round}) (+ {later} {}))", came_a.0, came_a.1, b.last_start);
                    parts.push(format!("(or (not (= {own} {other})) (and {second} {next}))"));
                }
                format!("(and {})", parts.join(" "))
            })
            .collect();
        let condition = format!("(=> (and {} {}) (or {}))", a.way, b.way, cases.join(" "));
        self.assert(&condition);
    }

    /// Whether they are of one stream on different ways, of which only one is taken.
    fn are_other_ways(&self, one: usize, two: usize) -> bool {
        let stream = |index: usize| self.uses[index].way.split('_').next().unwrap_or_default();
        stream(one) == stream(two) && self.uses[one].way != self.uses[two].way
    }
}

/// A number as SMT-LIB writes it.
fn whole(value: i64) -> String {
    if value < 0 { format!("(- {})", value.unsigned_abs()) } else { value.to_string() }
}

fn pairs(all: &[String]) -> impl Iterator<Item = (&String, &String)> {
    all.iter().enumerate().flat_map(|(index, one)| all[index + 1..].iter().map(move |other| (one, other)))
}

/// How long a link is taken by each frame of a message.
fn frames(network: &Network, link: usize, size: u64) -> Vec<i64> {
    let (format, rate) = (&network.frames, network.links[link].rate.0);
    let mut left = size;
    let mut times = Vec::new();
    while left > 0 {
        let payload = left.min(format.payload_max.0);
        let bits = (payload.max(format.payload_min.0) + format.overhead.0) * 8;
        times.push(i64::try_from((bits * 1_000_000_000).div_ceil(rate)).unwrap_or(i64::MAX));
        left -= payload;
    }
    times
}

/// From the start on one link to the earliest on the next, so that every frame is there when its turn comes.
fn forwarding(network: &Network, (from, to): (usize, usize), (here, there): (&[i64], &[i64])) -> i64 {
    let (from, to): (&Link, &Link) = (&network.links[from], &network.links[to]);
    let mut longest = i64::MIN;
    let (mut start_here, mut start_there) = (0, 0);
    for (time_here, time_there) in here.iter().zip(there) {
        let ready = match network.forwarding(to.source) {
            Some(Forwarding::CutThrough { header }) => {
                let header = (header.0 * 8 * 1_000_000_000).div_ceil(from.rate.0);
                let header = i64::try_from(header).unwrap_or(i64::MAX).min(*time_here);
                header.max(time_here - time_there)
            }
            Some(Forwarding::StoreAndForward) | None => *time_here,
        };
        longest = longest.max(start_here + ready - start_there);
        start_here += time_here;
        start_there += time_there;
    }
    longest + from.propagation.0 + from.processing.0
}

/// Every tree of links that comes to every target, to no node twice, and no further than to a target.
fn trees(network: &Network, source: NodeId, targets: &[NodeId]) -> Vec<Vec<Step>> {
    let mut found: Vec<Vec<Step>> = Vec::new();
    // Each link in turn is taken or not; what is taken hangs on what was taken before.
    let mut unfinished = vec![(Vec::new(), vec![(source, None)], Vec::new())];
    while let Some((steps, nodes, refused)) = unfinished.pop() {
        let goes_on = |(node, _): &(NodeId, _), link: &Link| {
            link.source == *node && (*node == source || network.forwarding(*node).is_some())
        };
        let next = nodes.iter().find_map(|from: &(NodeId, Option<usize>)| {
            let fits = |(index, link): &(usize, &Link)| {
                goes_on(from, link)
                    && (network.forwarding(link.target).is_some() || targets.contains(&link.target))
                    && !refused.contains(index)
                    && nodes.iter().all(|(node, _)| *node != link.target)
            };
            network.links.iter().enumerate().find(fits).map(|(index, link)| (from.1, index, link.target))
        });
        let Some((before, link, node)) = next else {
            if has_no_loose_end(network, &steps, targets) {
                found.push(steps);
            }
            continue;
        };
        let without = refused.iter().copied().chain([link]).collect();
        unfinished.push((steps.clone(), nodes.clone(), without));
        let (mut steps, mut nodes) = (steps, nodes);
        nodes.push((node, Some(steps.len())));
        steps.push(Step { link, before });
        unfinished.push((steps, nodes, refused));
    }
    found
}

/// Whether every target is met, and every end is one.
fn has_no_loose_end(network: &Network, steps: &[Step], targets: &[NodeId]) -> bool {
    let target = |step: &Step| network.links[step.link].target;
    let is_end = |index: usize| steps.iter().all(|step| step.before != Some(index));
    targets.iter().all(|wanted| steps.iter().any(|step| target(step) == *wanted))
        && steps.iter().enumerate().all(|(index, step)| !is_end(index) || targets.contains(&target(step)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_topology::{Shape, shape};

    #[test]
    fn a_ring_has_two_ways_and_a_line_one() {
        let count = |which| trees(&shape(which, 3, 3), NodeId(3), &[NodeId(4)]).len();
        assert_eq!((count(Shape::Ring), count(Shape::Line)), (2, 1));
    }

    #[test]
    fn to_two_hosts_of_a_ring_lead_three_trees() {
        // Over both neighbours apart, or around on either side.
        let ring = shape(Shape::Ring, 3, 3);
        let found = trees(&ring, NodeId(3), &[NodeId(4), NodeId(5)]);
        assert_eq!(found.len(), 3);
        for tree in &found {
            let ends: std::collections::BTreeSet<NodeId> =
                tree.iter().map(|step| ring.links[step.link].target).collect();
            assert_eq!(ends.len(), tree.len(), "{tree:?} comes to no node twice");
            assert!(ends.is_superset(&[NodeId(4), NodeId(5)].into()));
        }
    }

    #[test]
    fn a_message_of_two_frames_waits_for_the_first_only() {
        let network = shape(Shape::Line, 1, 2);
        let times = frames(&network, 0, 1600);
        assert_eq!(times, [12_336, 1_136]);
        // The second frame of the next link starts no sooner than the first has gone, and is there by then.
        assert_eq!(forwarding(&network, (0, 1), (&times, &times)), 12_336 + 2_000);
    }
}
