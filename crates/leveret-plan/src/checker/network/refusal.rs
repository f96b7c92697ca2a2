//! Repeats the argument that streams have no plan: every question has all its answers, every end of the argument contradicts itself.
//! Its time is linear in the argument, but for the ways of a stream, which it counts by itself.

use super::{HopTimes, violation};
use crate::checker::network::refusal_ways::{Net, expected};
use crate::checker::{Violation, wide};
use crate::network::{Bound, PROOF_VERSION, Point, Proof, ProofNode, Traffic};
use leveret_topology::{Link, Tree};
use leveret_types::{LinkId, Nanos, StreamId};
use std::collections::{BTreeMap, BTreeSet};

/// Accepts an argument if it shows that its streams have no plan together.
///
/// # Errors
/// The first thing in it that does not follow.
pub fn check_refusal(proof: &Proof, traffic: &Traffic) -> Result<(), Violation> {
    let round = wide(proof.hyperperiod);
    let net = Net::new(traffic);
    let mut replay = Replay {
        proof,
        traffic,
        net,
        round,
        chosen: BTreeMap::new(),
        answers: vec![None; proof.nodes.len()],
        seen: vec![false; proof.nodes.len()],
        reserved: Vec::new(),
    };
    replay.frame()?;
    replay.reserved = traffic.network.links.iter().map(periods).collect();
    replay.walk()
}

struct Replay<'a> {
    proof: &'a Proof,
    traffic: &'a Traffic,
    net: Net,
    round: i128,
    /// The ways that were answered on the path to where the walk is.
    chosen: BTreeMap<StreamId, &'a [Tree]>,
    /// By node on that path: the answer that the walk is under.
    answers: Vec<Option<usize>>,
    /// Each node hangs under one answer.
    seen: Vec<bool>,
    /// By link.
    reserved: Vec<Periods>,
}

/// By the period of reservations: their starts and lengths.
type Periods = BTreeMap<i128, BTreeSet<(i128, i128)>>;

fn periods(link: &Link) -> Periods {
    let mut found = Periods::new();
    for one in &link.reserved {
        let stretch = (wide(one.start).rem_euclid(wide(one.period)), wide(one.length));
        found.entry(wide(one.period)).or_default().insert(stretch);
    }
    found
}

/// `to` comes at least `weight` after `from`; none is the epoch.
struct Step {
    from: Option<Point>,
    to: Option<Point>,
    weight: i128,
}

fn fault(node: usize, rule: &str, found: impl Into<String>) -> Violation {
    violation(format!("node {node} of the argument"), rule, found.into())
}

impl<'a> Replay<'a> {
    fn frame(&self) -> Result<(), Violation> {
        let place = || "argument".to_owned();
        if self.proof.version != PROOF_VERSION {
            let found = format!("{} and not {PROOF_VERSION}", self.proof.version);
            return Err(violation(place(), "its version is known", found));
        }
        if self.proof.nodes.is_empty() {
            return Err(violation(place(), "it has a node", String::new()));
        }
        if let Some(stream) =
            self.proof.streams.iter().find(|stream| stream.index() >= self.traffic.streams.len())
        {
            return Err(violation(place(), "its streams exist", stream.to_string()));
        }
        // A plan of a longer round may exist where one of a shorter does not, so it must be the traffic's.
        match self.traffic.validate() {
            Ok(hyperperiod) if hyperperiod == self.proof.hyperperiod => Ok(()),
            Ok(hyperperiod) => {
                let found = format!("{} and not {hyperperiod}", self.proof.hyperperiod);
                Err(violation(place(), "it is about the hyperperiod of the traffic", found))
            }
            Err(error) => Err(violation(place(), "it is for traffic that is right", error.to_string())),
        }
    }

    /// Depth first, each question with its answers in turn.
    fn walk(&mut self) -> Result<(), Violation> {
        let mut path = vec![self.enter(0)?];
        while let Some((node, answers)) = path.last() {
            let node = *node;
            let next = self.answers[node].map_or(0, |answer| answer + 1);
            let Some(&child) = answers.get(next) else {
                self.answers[node] = None;
                if let ProofNode::Ways { stream, .. } = &self.proof.nodes[node] {
                    self.chosen.remove(stream);
                }
                path.pop();
                continue;
            };
            self.answers[node] = Some(next);
            if let ProofNode::Ways { stream, cases } = &self.proof.nodes[node] {
                self.chosen.insert(*stream, &cases[next].0);
            }
            if child as usize <= node || child as usize >= self.proof.nodes.len() {
                return Err(fault(node, "each answer leads to a later node", child.to_string()));
            }
            let entered = self.enter(child as usize)?;
            if !entered.1.is_empty() || matches!(self.proof.nodes[entered.0], ProofNode::Ways { .. }) {
                path.push(entered);
            }
        }
        Ok(())
    }

    /// Looks at a node; the nodes that its answers lead to.
    fn enter(&mut self, node: usize) -> Result<(usize, Vec<u32>), Violation> {
        if std::mem::replace(&mut self.seen[node], true) {
            return Err(fault(node, "it hangs under one answer", String::new()));
        }
        let answers = match &self.proof.nodes[node] {
            ProofNode::Ways { stream, cases } => {
                self.all_ways(node, *stream, cases)?;
                cases.iter().map(|(_, child)| *child).collect()
            }
            ProofNode::Order { one, two, rounds, one_first, two_first } => {
                self.same_link(node, *one, *two)?;
                if one == two && *rounds == 0 {
                    return Err(fault(node, "it orders two transmissions", String::new()));
                }
                vec![*one_first, *two_first]
            }
            ProofNode::Stretch { point, start, end, before, after } => {
                self.is_reserved(node, *point, *start, *end)?;
                vec![*before, *after]
            }
            ProofNode::Queue { one, two, rounds, one_first, two_first, apart } => {
                self.same_link(node, *one, *two)?;
                let ahead = self.hop(node, *one)?.parent;
                let same_copy = (one.stream, one.copy) == (two.stream, two.copy);
                if ahead.is_none() || (one == two && *rounds == 0) || (apart.is_none() && !same_copy) {
                    return Err(fault(
                        node,
                        "it has every answer to who waits in which queue",
                        String::new(),
                    ));
                }
                [Some(*one_first), Some(*two_first), *apart].into_iter().flatten().collect()
            }
            ProofNode::Crowded { link } => {
                self.is_crowded(node, *link)?;
                Vec::new()
            }
            ProofNode::Cycle { steps } => {
                self.contradicts(node, steps)?;
                Vec::new()
            }
        };
        Ok((node, answers))
    }

    /// The answers hold every way of the stream.
    fn all_ways(&self, node: usize, id: StreamId, cases: &[(Vec<Tree>, u32)]) -> Result<(), Violation> {
        if !self.proof.streams.contains(&id) || self.chosen.contains_key(&id) {
            return Err(fault(node, "it asks once for each of its streams", id.to_string()));
        }
        let name = self.traffic.name(id);
        for tree in cases.iter().flat_map(|(trees, _)| trees) {
            let sound = |(index, hop): (usize, &leveret_topology::TreeHop)| {
                hop.link.index() < self.traffic.network.links.len()
                    && hop.parent.is_none_or(|parent| (parent as usize) < index)
            };
            if !tree.hops.iter().enumerate().all(sound) {
                return Err(fault(node, "its ways lead over links that exist", format!("\"{name}\"")));
            }
        }
        let wanted = expected(&self.net, self.traffic, id)
            .ok_or_else(|| fault(node, "its ways can be counted", format!("\"{name}\" has too many")))?;
        let is_there = |way: &Vec<Tree>| {
            let turned: Vec<Tree> = way.iter().rev().cloned().collect();
            cases.iter().any(|(trees, _)| trees == way || *trees == turned)
        };
        match wanted.iter().find(|way| !is_there(way)) {
            None => Ok(()),
            Some(missing) => {
                let links: Vec<_> = missing
                    .iter()
                    .flat_map(Tree::links)
                    .map(|link| self.traffic.network.link_name(link))
                    .collect();
                Err(fault(node, "it answers with every way", format!("\"{name}\": {}", links.join(", "))))
            }
        }
    }

    /// The hop that a point names, on the ways that were answered.
    fn hop(&self, node: usize, point: Point) -> Result<leveret_topology::TreeHop, Violation> {
        let wrong = || fault(node, "what it names has a way", format!("{point:?}"));
        let trees = self.chosen.get(&point.stream).ok_or_else(wrong)?;
        let period = wide(self.traffic.streams[point.stream.index()].period);
        if i128::from(point.instance) >= self.round / period {
            return Err(fault(node, "its instances lie within the hyperperiod", format!("{point:?}")));
        }
        let tree = trees.get(usize::from(point.copy)).ok_or_else(wrong)?;
        tree.hops.get(usize::from(point.hop)).copied().ok_or_else(wrong)
    }

    fn same_link(&self, node: usize, one: Point, two: Point) -> Result<(), Violation> {
        if self.hop(node, one)?.link == self.hop(node, two)?.link {
            return Ok(());
        }
        Err(fault(node, "both are on one link", format!("{one:?} and {two:?}")))
    }

    /// A link is reserved then, or nothing may lie across that instant.
    fn is_reserved(&self, node: usize, point: Point, start: Nanos, end: Nanos) -> Result<(), Violation> {
        let reserved = &self.reserved[self.hop(node, point)?.link.index()];
        let length = wide(end) - wide(start);
        let begins = |(period, stretches): (&i128, &BTreeSet<(i128, i128)>)| {
            stretches.contains(&(wide(start).rem_euclid(*period), length))
        };
        let is_border = self.traffic.whole_cycles && start == end && wide(start).rem_euclid(self.round) == 0;
        if is_border || reserved.iter().any(begins) {
            return Ok(());
        }
        Err(fault(node, "the link is reserved then", format!("{start} to {end}")))
    }

    /// What a message takes of the link that a point names.
    fn times(&self, node: usize, point: Point) -> Result<HopTimes, Violation> {
        let hop = self.hop(node, point)?;
        let tree = &self.chosen[&point.stream][usize::from(point.copy)];
        let size = self.traffic.streams[point.stream.index()].size;
        let parent = hop.parent.map(|parent| tree.hops[parent as usize].link);
        Ok(HopTimes::new(self.traffic, size, parent, hop.link))
    }

    /// From the start of a transmission to the arrival at a target; an error where no target is there.
    fn arrival(&self, node: usize, point: Point) -> Result<i128, Violation> {
        let link = &self.traffic.network.links[self.hop(node, point)?.link.index()];
        if !self.traffic.streams[point.stream.index()].targets.contains(&link.target) {
            return Err(fault(node, "a deadline is where a target is", format!("{point:?}")));
        }
        Ok(self.times(node, point)?.length + wide(link.propagation) + wide(link.processing))
    }

    fn begin(&self, point: Point) -> i128 {
        wide(self.traffic.streams[point.stream.index()].period) * i128::from(point.instance)
    }

    fn before(&self, node: usize, point: Point) -> Result<Point, Violation> {
        let parent = self.hop(node, point)?.parent;
        let parent = parent.ok_or_else(|| fault(node, "it comes from another link", format!("{point:?}")))?;
        Ok(Point { hop: parent as u16, ..point })
    }

    /// The steps lead from one instant to itself, and their weights add up to more than nothing.
    fn contradicts(&self, node: usize, steps: &[Bound]) -> Result<(), Violation> {
        let steps: Vec<Step> = steps.iter().map(|step| self.step(node, *step)).collect::<Result<_, _>>()?;
        let joined = (0..steps.len()).all(|index| steps[index].to == steps[(index + 1) % steps.len()].from);
        let sum: i128 = steps.iter().map(|step| step.weight).sum();
        if steps.is_empty() || !joined || sum <= 0 {
            return Err(fault(node, "it asks an instant to come after itself", format!("by {sum} ns")));
        }
        Ok(())
    }

    fn step(&self, node: usize, bound: Bound) -> Result<Step, Violation> {
        let error = wide(self.traffic.clock_error);
        Ok(match bound {
            Bound::Release(point) => {
                let release = wide(self.traffic.streams[self.known(node, point)?].release);
                if self.hop(node, point)?.parent.is_some() {
                    return Err(fault(node, "a release is where a way begins", format!("{point:?}")));
                }
                Step { from: None, to: Some(point), weight: self.begin(point) + release + error }
            }
            Bound::Deadline(point) => {
                let arrival = self.arrival(node, point)?;
                let latest =
                    self.begin(point) + wide(self.traffic.streams[point.stream.index()].deadline) - error;
                Step { from: Some(point), to: None, weight: arrival - latest }
            }
            Bound::Latency { first, last } => {
                let arrival = self.arrival(node, last)?;
                let latency = self.traffic.streams[last.stream.index()].latency;
                let same =
                    (first.stream, first.copy, first.instance) == (last.stream, last.copy, last.instance);
                let begins = self.hop(node, first)?.parent.is_none();
                let (Some(latency), true) = (latency, same && begins) else {
                    return Err(fault(node, "a latency is of one message", format!("{first:?} to {last:?}")));
                };
                Step { from: Some(last), to: Some(first), weight: arrival - wide(latency) + 2 * error }
            }
            Bound::Forwarding(point) => {
                let parent = self.before(node, point)?;
                let weight = self.times(node, point)?.forwarding + 2 * error;
                Step { from: Some(parent), to: Some(point), weight }
            }
            Bound::Jitter { from, to } => {
                self.arrival(node, from)?;
                self.hop(node, to)?;
                let same = Point { instance: to.instance, ..from } == to;
                let (Some(jitter), true) = (self.traffic.streams[from.stream.index()].jitter, same) else {
                    return Err(fault(node, "a jitter is of one place", format!("{from:?} to {to:?}")));
                };
                Step {
                    from: Some(from),
                    to: Some(to),
                    weight: self.begin(to) - self.begin(from) - wide(jitter),
                }
            }
            Bound::Decided(question) => self.decided(node, question as usize)?,
        })
    }

    fn known(&self, node: usize, point: Point) -> Result<usize, Violation> {
        self.hop(node, point)?;
        Ok(point.stream.index())
    }

    /// What was answered at a question on the way to a node.
    fn decided(&self, node: usize, question: usize) -> Result<Step, Violation> {
        let wrong = || fault(node, "what it takes for decided was answered before it", question.to_string());
        let answer = self.answers.get(question).copied().flatten().ok_or_else(wrong)?;
        match self.proof.nodes[question] {
            ProofNode::Order { one, two, rounds, .. } => {
                let (first, second, shift) = self.turned(answer, one, two, rounds);
                let weight = self.times(node, first)?.length + shift;
                Ok(Step { from: Some(first), to: Some(second), weight })
            }
            ProofNode::Stretch { point, start, end, .. } if answer == 0 => {
                let _ = end;
                let weight = self.times(node, point)?.length - wide(start);
                Ok(Step { from: Some(point), to: None, weight })
            }
            ProofNode::Stretch { point, end, .. } => {
                Ok(Step { from: None, to: Some(point), weight: wide(end) })
            }
            ProofNode::Queue { one, two, rounds, .. } if answer < 2 => {
                let (first, second, shift) = self.turned(answer, one, two, rounds);
                let parent = self.before(node, second)?;
                let error = wide(self.traffic.clock_error);
                let comes = self.times(node, second)?.first_comes - 2 * error;
                let weight = self.times(node, first)?.last_start - comes + shift;
                Ok(Step { from: Some(first), to: Some(parent), weight })
            }
            _ => Err(wrong()),
        }
    }

    /// Who is first by an answer, and what must be added to the distance.
    fn turned(&self, answer: usize, one: Point, two: Point, rounds: i64) -> (Point, Point, i128) {
        let shift = i128::from(rounds) * self.round;
        if answer == 0 { (one, two, -shift) } else { (two, one, shift) }
    }

    /// What was answered to take different queues of a port cannot have as many as it has.
    fn is_crowded(&self, node: usize, link: LinkId) -> Result<(), Violation> {
        let mut edges: Vec<Pair> = Vec::new();
        for (question, answer) in self.answers.iter().enumerate() {
            if let (ProofNode::Queue { one, two, .. }, Some(2)) = (&self.proof.nodes[question], answer)
                && self.hop(node, *one)?.link == link
            {
                edges.push(((one.stream, one.copy), (two.stream, two.copy)));
            }
        }
        let mut nodes: Vec<_> = edges.iter().flat_map(|(one, two)| [*one, *two]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let queues = self.traffic.network.links.get(link.index()).map_or(0, |link| link.queues);
        let mut taken = vec![None; nodes.len()];
        let mut trials = 0;
        match fits(&nodes, &edges, queues, 0, &mut taken, &mut trials) {
            Some(false) => Ok(()),
            Some(true) => Err(fault(node, "the port has too few queues", format!("{queues} do"))),
            None => Err(fault(node, "it can be seen that the port has too few queues", String::new())),
        }
    }
}

/// Two copies that take different queues.
type Pair = ((StreamId, u8), (StreamId, u8));

/// Trials of queues until it is called too much to check.
const TRIALS_MAX: u32 = 200_000;

/// Whether the copies from `index` on find queues beside those before them.
fn fits(
    nodes: &[(StreamId, u8)],
    edges: &[Pair],
    queues: u8,
    index: usize,
    taken: &mut [Option<u8>],
    trials: &mut u32,
) -> Option<bool> {
    if index == nodes.len() {
        return Some(true);
    }
    let queue_of = |node: &(StreamId, u8), taken: &[Option<u8>]| {
        nodes.binary_search(node).ok().and_then(|place| taken[place])
    };
    for queue in 0..queues.min(index as u8 + 1) {
        *trials += 1;
        if *trials > TRIALS_MAX {
            return None;
        }
        let collides = edges.iter().any(|(one, two)| {
            (*one == nodes[index] && queue_of(two, taken) == Some(queue))
                || (*two == nodes[index] && queue_of(one, taken) == Some(queue))
        });
        if collides {
            continue;
        }
        taken[index] = Some(queue);
        if fits(nodes, edges, queues, index + 1, taken, trials)? {
            return Some(true);
        }
        taken[index] = None;
    }
    Some(false)
}
