//! The complete search, for few streams: a plan, or a proof that there is none.
//!
//! Every transmission is an instant with an earliest and a latest ([`temporal`]). All go as early as what is known of them allows; where
//! two then have a link at once, one must be first, and both answers are tried ([`questions`]), those first that have only one left. When
//! all answers contradict themselves, the answers and contradictions are the proof ([`super::proof`]).
//!
//! It asks only what goes wrong at the earliest instants: what fits by itself is never a question (lazy branching, as in solvers of
//! disjunctive temporal problems: I. Tsamardinos, M. Pollack, "Efficient solution techniques for disjunctive temporal reasoning problems",
//! Artificial Intelligence 151, 2003).

mod colours;
mod model;
mod questions;
mod temporal;
mod ways;

use super::model::Traffic;
use super::plan::{NETWORK_PLAN_VERSION, NetworkPlan, Slot, Way};
use super::problem::Problem;
use super::proof::{PROOF_VERSION, Proof, ProofNode};
use super::watch::Watch;
use leveret_types::{Nanos, StreamId};
use model::{Model, ModelMark};
use questions::Question;
use temporal::Contradiction;

/// Nodes of an argument that anybody wants to read or keep.
const NODES_MAX: usize = 200_000;

/// Instances that are searched completely: more would fill the memory before a step is made.
const INSTANCES_MAX: u64 = 1 << 17;

/// What the complete search found.
#[derive(Clone, Debug)]
pub(super) enum Verdict {
    /// Of these streams alone; others have neither way nor slot.
    Plan(Box<NetworkPlan>),
    /// There is none.
    Impossible(Box<Proof>),
    /// Out of steps, ended from outside, or a stream has more ways than can be counted.
    Unknown,
}

/// Whether some streams have a plan together, with the network for themselves but for what is reserved. Uses up `steps`.
pub(super) fn decide(
    problem: &Problem<'_>,
    streams: &[StreamId],
    steps: &mut u64,
    watch: &mut Watch<'_>,
) -> Verdict {
    let Some(ways) = streams.iter().map(|stream| ways::all(problem, *stream)).collect::<Option<Vec<_>>>()
    else {
        return Verdict::Unknown;
    };
    let items = problem.items.iter().filter(|item| streams.contains(&item.stream));
    if items.map(|item| u64::from(item.count)).fold(0, u64::saturating_add) > INSTANCES_MAX {
        return Verdict::Unknown;
    }
    let model = Model::new(problem, streams, ways);
    let mut search = Search { model, nodes: Vec::new(), frames: Vec::new(), budget: *steps };
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

/// A question that is being answered.
struct Frame {
    question: Question,
    /// Its node.
    node: u32,
    /// The answer that is being looked into.
    answer: usize,
    mark: ModelMark,
}

struct Search<'a, 'b> {
    model: Model<'a, 'b>,
    nodes: Vec<ProofNode>,
    frames: Vec<Frame>,
    budget: u64,
}

impl Search<'_, '_> {
    /// Whether there is a plan; the model then holds it. None: not known.
    fn run(&mut self, watch: &mut Watch<'_>) -> Option<bool> {
        let mut told = 0;
        loop {
            let made = self.model.steps();
            let goes_on = watch.goes_on(made - told);
            told = made;
            if made > self.budget || self.nodes.len() > NODES_MAX || !goes_on {
                return None;
            }
            match self.model.question()? {
                None => return Some(true),
                Some(question) => self.ask(question),
            }
            // The first answer that does not contradict what is known; if there is none, the next one of the question before.
            loop {
                let Some(frame) = self.frames.last() else { return Some(false) };
                if frame.answer == frame.question.answers() {
                    self.frames.pop();
                    let Some(before) = self.frames.last_mut() else { return Some(false) };
                    before.answer += 1;
                    let mark = before.mark;
                    self.model.undo(mark);
                    continue;
                }
                match self.answer() {
                    Ok(()) => break,
                    Err(leaf) => {
                        self.link(leaf);
                        let frame = self.frames.last_mut()?;
                        frame.answer += 1;
                        let mark = frame.mark;
                        self.model.undo(mark);
                    }
                }
            }
        }
    }

    /// Notes a question under the answer that led to it.
    fn ask(&mut self, question: Question) {
        let node = self.nodes.len() as u32;
        let proof = self.model.node_of(&question);
        self.link(proof);
        self.frames.push(Frame { question, node, answer: 0, mark: self.model.mark() });
    }

    /// Adds a node under the answer that is being looked into.
    fn link(&mut self, node: ProofNode) {
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
        self.nodes.push(node);
    }

    /// Takes the next answer of the last question for true.
    fn answer(&mut self) -> Result<(), ProofNode> {
        let Some(frame) = self.frames.last() else { return Ok(()) };
        let (question, answer, node) = (frame.question.clone(), frame.answer, frame.node);
        self.model.suppose(&question, answer, node)
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

/// The end of an argument.
fn cycle(steps: Contradiction) -> ProofNode {
    ProofNode::Cycle { steps }
}
