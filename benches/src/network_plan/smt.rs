//! The rules of `docs/planning.md` as a question for an SMT solver, written from the rules and not from the planner: one whole number for the start
//! of each slot, one for each queue, and one truth for each way.
//!
//! For streams with one target and one copy, and clocks without error.

use leveret_plan::network::{Stream, Traffic};
use leveret_topology::{Forwarding, Link, Network};
use leveret_types::NodeId;
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
        let ways = ways(&self.traffic.network, stream.source, stream.targets[0]);
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
        for (way, links) in ways.iter().enumerate() {
            self.way(&format!("{index}_{way}"), stream, links);
        }
    }

    fn way(&mut self, name: &str, stream: &Stream, links: &[usize]) {
        let network = &self.traffic.network;
        let times: Vec<Vec<i64>> = links.iter().map(|link| frames(network, *link, stream.size.0)).collect();
        let length: Vec<i64> = times.iter().map(|frames| frames.iter().sum()).collect();
        let after: Vec<i64> = (1..links.len())
            .map(|hop| forwarding(network, (links[hop - 1], links[hop]), (&times[hop - 1], &times[hop])))
            .collect();
        let last = links.len() - 1;
        let end = &network.links[links[last]];
        let arrival_after = length[last] + end.propagation.0 + end.processing.0;
        for (hop, link) in links.iter().enumerate().skip(1) {
            self.declare(&format!("q{name}_{hop}"), "Int");
            let most = i64::from(network.links[*link].queues) - 1;
            self.assert(&format!("(<= 0 q{name}_{hop} {most})"));
        }
        let count = self.hyperperiod / stream.period.0;
        let mut arrivals = Vec::new();
        for instance in 0..count {
            let start = |hop: usize| format!("s{name}_{instance}_{hop}");
            let begin = instance * stream.period.0;
            let (least, most) = (begin + stream.release.0, begin + stream.deadline.0);
            for (hop, link) in links.iter().enumerate() {
                self.declare(&start(hop), "Int");
                let came = (hop > 0).then(|| (start(hop - 1), after[hop - 1]));
                if let Some((before, after)) = &came {
                    self.assert(&format!("(<= (+ {before} {after}) {})", start(hop)));
                }
                let queue = (hop > 0).then(|| format!("q{name}_{hop}"));
                let last_start = length[hop] - times[hop].last().copied().unwrap_or(0);
                self.uses.push(Use {
                    link: *link,
                    way: format!("w{name}"),
                    start: start(hop),
                    queue,
                    came,
                    length: length[hop],
                    last_start,
                    range: (least, most),
                });
            }
            let way = format!("w{name}");
            let arrival = format!("(+ {} {arrival_after})", start(last));
            self.assert(&format!("(<= {least} {})", start(0)));
            self.assert(&format!("(=> {way} (<= {arrival} {most}))"));
            if let Some(latency) = stream.latency {
                self.assert(&format!("(=> {way} (<= (- {arrival} {}) {}))", start(0), latency.0));
            }
            arrivals.push(format!("(- {arrival} {begin})"));
        }
        if let Some(jitter) = stream.jitter {
            for (one, other) in pairs(&arrivals) {
                self.assert(&format!("(=> w{name} (<= (- {one} {other}) {}))", jitter.0));
                self.assert(&format!("(=> w{name} (<= (- {other} {one}) {}))", jitter.0));
            }
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

/// Every way from switch to switch that comes to no node twice, as links.
fn ways(network: &Network, source: NodeId, target: NodeId) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let mut unfinished = vec![(source, vec![source], Vec::new())];
    while let Some((at, nodes, links)) = unfinished.pop() {
        for (index, link) in network.links.iter().enumerate() {
            if link.source != at || nodes.contains(&link.target) {
                continue;
            }
            let further: Vec<usize> = links.iter().copied().chain([index]).collect();
            if link.target == target {
                found.push(further);
            } else if network.forwarding(link.target).is_some() {
                let nodes = nodes.iter().copied().chain([link.target]).collect();
                unfinished.push((link.target, nodes, further));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_topology::{Shape, shape};

    #[test]
    fn a_ring_has_two_ways_and_a_line_one() {
        let count = |which| ways(&shape(which, 3, 3), NodeId(3), NodeId(4)).len();
        assert_eq!((count(Shape::Ring), count(Shape::Line)), (2, 1));
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
