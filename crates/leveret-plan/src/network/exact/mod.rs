//! The complete search, for few streams: a plan, or a proof that there is none.
//!
//! Every transmission is an instant with an earliest and a latest ([`temporal`]). All go as early as what is known of them allows; where
//! two then have a link at once, one must be first, and both answers are tried ([`questions`]), those first that have only one left. When
//! all answers contradict themselves, the answers and contradictions are the proof ([`super::proof`]). A contradiction goes back to the last
//! question that it stands on ([`reasons`]).
//!
//! It asks only what goes wrong at the earliest instants: what fits by itself is never a question (lazy branching, as in solvers of
//! disjunctive temporal problems: I. Tsamardinos, M. Pollack, "Efficient solution techniques for disjunctive temporal reasoning problems",
//! Artificial Intelligence 151, 2003).

mod colours;
mod model;
mod questions;
mod reasons;
mod temporal;
#[cfg(test)]
mod tests;
mod ways;

use super::model::Traffic;
use super::plan::{NETWORK_PLAN_VERSION, NetworkPlan, Slot, Way};
use super::problem::Problem;
use super::proof::{Bound, PROOF_VERSION, Proof, ProofNode};
use super::watch::Watch;
use leveret_topology::{Tree, TreeHop};
use leveret_types::{Nanos, StreamId};
use model::{Model, ModelMark};
use questions::Question;
use temporal::Contradiction;

/// Nodes of an argument that anybody wants to read or keep.
const NODES_MAX: usize = 200_000;

/// Transmissions that are searched completely: more would fill the memory before a step is made.
const TRANSMISSIONS_MAX: u64 = 1 << 18;

/// Bytes that a search may hold: what is known of instants, what of it was otherwise before, and the argument. Whatever asks for more stays undecided.
const HELD_MAX: usize = 128 << 20;

/// What the complete search found.
#[derive(Clone, Debug)]
pub(super) enum Verdict {
    /// Of these streams alone; others have neither way nor slot.
    Plan(Box<NetworkPlan>),
    /// There is none.
    Impossible(Box<Proof>),
    /// Out of steps or memory, ended from outside, or a stream has more ways than can be counted.
    Unknown,
}

/// Whether some streams have a plan together, with the network for themselves but for what is reserved. Uses up `steps`.
pub(super) fn decide(
    problem: &Problem<'_>,
    streams: &[StreamId],
    steps: &mut u64,
    watch: &mut Watch<'_>,
) -> Verdict {
    decide_within(problem, streams, steps, HELD_MAX, watch)
}

/// The same with so many bytes at most.
fn decide_within(
    problem: &Problem<'_>,
    streams: &[StreamId],
    steps: &mut u64,
    held_max: usize,
    watch: &mut Watch<'_>,
) -> Verdict {
    let Some(ways) = streams.iter().map(|stream| ways::all(problem, *stream)).collect::<Option<Vec<_>>>()
    else {
        return Verdict::Unknown;
    };
    if transmissions(problem, streams, &ways) > TRANSMISSIONS_MAX {
        return Verdict::Unknown;
    }
    let model = Model::new(problem, streams, ways);
    let (nodes, frames) = (Vec::new(), Vec::new());
    let mut search = Search { model, nodes, told: 0, frames, reasons: 0, steps_max: *steps, held_max };
    let verdict = search.run(watch);
    *steps = steps.saturating_sub(search.model.steps());
    match verdict {
        Some(true) => Verdict::Plan(Box::new(search.plan(&problem.traffic))),
        Some(false) => Verdict::Impossible(Box::new(Proof {
            version: PROOF_VERSION,
            hyperperiod: Nanos(problem.hyperperiod),
            streams: streams.to_vec(),
            nodes: search.nodes,
        })),
        None => Verdict::Unknown,
    }
}

/// Transmissions of a hyperperiod on the longest ways.
fn transmissions(problem: &Problem<'_>, streams: &[StreamId], ways: &[Vec<Vec<Tree>>]) -> u64 {
    let hops = |trees: &Vec<Tree>| trees.iter().map(|tree| tree.hops.len() as u64).sum::<u64>();
    let each = streams.iter().zip(ways).map(|(stream, ways)| {
        let period = problem.traffic.streams[stream.index()].period.0;
        let longest = ways.iter().map(hops).max().unwrap_or(0);
        longest.saturating_mul((problem.hyperperiod / period).cast_unsigned())
    });
    each.fold(0, u64::saturating_add)
}

/// A question that is being answered.
struct Frame {
    question: Question,
    /// Its node.
    node: u32,
    /// The answer that is being looked into.
    answer: usize,
    mark: ModelMark,
    /// What the contradictions of the answers before it stand on: nodes of questions further up, in order.
    reasons: Vec<u32>,
}

struct Search<'a, 'b> {
    model: Model<'a, 'b>,
    nodes: Vec<ProofNode>,
    /// Bytes that the nodes hold.
    told: usize,
    frames: Vec<Frame>,
    /// Reasons of all frames.
    reasons: usize,
    steps_max: u64,
    held_max: usize,
}

impl Search<'_, '_> {
    /// Whether there is a plan; the model then holds it. None: not known.
    fn run(&mut self, watch: &mut Watch<'_>) -> Option<bool> {
        let mut before = 0;
        loop {
            let made = self.model.steps();
            let goes_on = watch.goes_on(made - before);
            before = made;
            let is_large = self.nodes.len() > NODES_MAX || self.held() > self.held_max;
            if made > self.steps_max || is_large || !goes_on {
                return None;
            }
            match self.model.question()? {
                None => return Some(true),
                Some(question) => self.ask(question),
            }
            if self.frames.last().is_some_and(|frame| frame.question.answers() == 0) {
                // A stream without any way: that is the whole argument.
                let node = self.nodes.len() as u32 - 1;
                return Some(self.go_back(node, Vec::new()));
            }
            // The first answer that does not contradict what is known; if there is none, the next one of a question before.
            while let Some(Err(end)) = self.answer() {
                let reasons = self.stands_on(&end);
                let node = self.link(end);
                if !self.go_back(node, reasons) {
                    return Some(false);
                }
            }
        }
    }

    /// Bytes that are held, or nearly.
    fn held(&self) -> usize {
        self.model.held()
            + self.told
            + self.frames.len() * size_of::<Frame>()
            + self.reasons * size_of::<u32>()
    }

    /// Notes a question under the answer that led to it.
    fn ask(&mut self, question: Question) {
        let proof = self.model.node_of(&question);
        let node = self.link(proof);
        let mark = self.model.mark();
        self.frames.push(Frame { question, node, answer: 0, mark, reasons: Vec::new() });
    }

    /// Adds a node under the answer that is being looked into. Which.
    fn link(&mut self, node: ProofNode) -> u32 {
        let index = self.nodes.len() as u32;
        if let Some(frame) = self.frames.last() {
            match &mut self.nodes[frame.node as usize] {
                ProofNode::Ways { cases, .. } => cases[frame.answer].1 = index,
                ProofNode::Order { one_first: first, two_first: second, .. }
                | ProofNode::Stretch { before: first, after: second, .. } => {
                    *if frame.answer == 0 { first } else { second } = index;
                }
                ProofNode::Queue { one_first, two_first, apart, .. } => match frame.answer {
                    0 => *one_first = index,
                    1 => *two_first = index,
                    _ => *apart = Some(index),
                },
                ProofNode::Crowded { .. } | ProofNode::Cycle { .. } => {}
            }
        }
        self.told += bytes(&node);
        self.nodes.push(node);
        index
    }

    /// Takes the next answer of the last question for true; none if there is no question.
    fn answer(&mut self) -> Option<Result<(), ProofNode>> {
        let frame = self.frames.last()?;
        let (question, answer, node) = (frame.question.clone(), frame.answer, frame.node);
        Some(self.model.suppose(&question, answer, node))
    }

    /// The plan that the model holds.
    fn plan(&self, traffic: &Traffic) -> NetworkPlan {
        let mut ways = vec![Vec::new(); traffic.streams.len()];
        let mut links: Vec<Vec<Slot>> = vec![Vec::new(); traffic.network.links.len()];
        let hyperperiod = self.model.hyperperiod();
        for (stream, trees) in self.model.chosen() {
            for (copy, tree) in trees.iter().enumerate() {
                let queue = |link| self.model.queue(stream, copy as u8, link);
                let queues = tree.links().map(queue).collect();
                ways[stream.index()].push(Way { tree: tree.clone(), queues });
            }
        }
        for (link, slot) in self.model.slots() {
            links[link as usize].push(slot);
        }
        for slots in &mut links {
            slots.sort_unstable_by_key(|slot| slot.start.0.rem_euclid(hyperperiod));
        }
        let classes = vec![Vec::new(); links.len()];
        NetworkPlan {
            version: NETWORK_PLAN_VERSION,
            hyperperiod: Nanos(hyperperiod),
            ways,
            links,
            flows: Vec::new(),
            classes,
        }
    }
}

/// What a node holds.
fn bytes(node: &ProofNode) -> usize {
    let tree = |tree: &Tree| size_of::<Tree>() + tree.hops.len() * size_of::<TreeHop>();
    let own = match node {
        ProofNode::Ways { cases, .. } => {
            let case = |(trees, _): &(Vec<Tree>, u32)| {
                size_of::<(Vec<Tree>, u32)>() + trees.iter().map(tree).sum::<usize>()
            };
            cases.iter().map(case).sum()
        }
        ProofNode::Cycle { steps } => steps.len() * size_of::<Bound>(),
        _ => 0,
    };
    size_of::<ProofNode>() + own
}

/// The end of an argument.
fn cycle(steps: Contradiction) -> ProofNode {
    ProofNode::Cycle { steps }
}
