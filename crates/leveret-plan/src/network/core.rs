//! A small set of streams that have no plan together, out of many.
//!
//! The repair makes whoever fails heavier, so what cannot be reconciled soon outweighs all else (conflict weights as guides to the
//! contradiction: F. Boussemart and others, "Boosting systematic search by weighting constraints", ECAI 2004). The heaviest are given to
//! the complete search, more of them from time to time; what it calls impossible is then freed of everything that its argument can do without
//! (deletion, as in O. Guieu, J. Chinneck, "Analyzing infeasible mixed-integer and integer linear programs", 1999).

use super::exact::{Verdict, decide};
use super::plan::NetworkPlan;
use super::problem::Problem;
use super::proof::{Bound, Proof, ProofNode};
use super::watch::Watch;
use leveret_types::{LinkId, StreamId};
use std::collections::BTreeMap;

/// A set of streams that has no plan, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Core {
    pub proof: Proof,
    /// Whether each smaller set was seen to have a plan.
    pub minimal: bool,
}

/// Streams that are looked at together, from few to many.
const SIZES: [usize; 10] = [1, 2, 3, 4, 5, 6, 8, 12, 16, 24];

/// Steps of the complete search for one set, at least one of which each look has.
const STEPS_PER_SET: u64 = 200_000;

/// What a look at the heaviest streams found.
#[derive(Clone, Debug)]
pub(super) enum Found {
    /// Some of them have no plan.
    Core(Box<Core>),
    /// All streams together have one.
    Plan(Box<NetworkPlan>),
    /// Neither.
    Nothing,
}

/// Of all streams by their weight, the heaviest first. `steps` bounds all complete searches together, and shrinks.
pub(super) fn find(
    problem: &Problem<'_>,
    heaviest: &[StreamId],
    steps: &mut u64,
    watch: &mut Watch<'_>,
) -> Found {
    let mut before = 0;
    for size in SIZES.map(|size| size.min(heaviest.len())) {
        if size == before || *steps == 0 || watch.is_ended() {
            break;
        }
        before = size;
        let is_all = size == heaviest.len();
        let given = if is_all { *steps } else { STEPS_PER_SET };
        match within(problem, &heaviest[..size], given, steps, watch) {
            Verdict::Impossible(proof) => {
                return Found::Core(Box::new(shrink(problem, *proof, steps, watch)));
            }
            Verdict::Plan(plan) if is_all => return Found::Plan(plan),
            Verdict::Plan(_) | Verdict::Unknown => {}
        }
    }
    Found::Nothing
}

/// With at most `given` of the steps.
fn within(
    problem: &Problem<'_>,
    set: &[StreamId],
    given: u64,
    steps: &mut u64,
    watch: &mut Watch<'_>,
) -> Verdict {
    let given = given.min(*steps);
    let mut left = given;
    let verdict = decide(problem, set, &mut left, watch);
    *steps -= given - left;
    verdict
}

/// Frees a set of what its argument can do without.
fn shrink(problem: &Problem<'_>, proof: Proof, steps: &mut u64, watch: &mut Watch<'_>) -> Core {
    let mut proof = needed(problem, proof, steps, watch);
    let mut minimal = true;
    let mut index = proof.streams.len();
    while index > 0 && proof.streams.len() > 1 {
        index -= 1;
        let mut fewer = proof.streams.clone();
        fewer.remove(index);
        match within(problem, &fewer, STEPS_PER_SET, steps, watch) {
            Verdict::Impossible(smaller) => {
                proof = needed(problem, *smaller, steps, watch);
                index = index.min(proof.streams.len());
            }
            Verdict::Plan(_) => {}
            Verdict::Unknown => minimal = false,
        }
    }
    proof.streams.sort_unstable();
    Core { proof, minimal }
}

/// Without the streams that no contradiction names, as long as that makes it smaller.
fn needed(problem: &Problem<'_>, mut proof: Proof, steps: &mut u64, watch: &mut Watch<'_>) -> Proof {
    loop {
        let named = named(&proof);
        let fewer: Vec<_> =
            proof.streams.iter().copied().filter(|stream| named.contains_key(stream)).collect();
        if fewer.len() == proof.streams.len() || fewer.is_empty() {
            return proof;
        }
        match within(problem, &fewer, STEPS_PER_SET, steps, watch) {
            Verdict::Impossible(smaller) => proof = *smaller,
            Verdict::Plan(_) | Verdict::Unknown => return proof,
        }
    }
}

/// Streams that stand in a contradiction, with how often.
fn named(proof: &Proof) -> BTreeMap<StreamId, u32> {
    let mut found = BTreeMap::new();
    let mut note = |stream: StreamId| *found.entry(stream).or_insert(0) += 1;
    for node in &proof.nodes {
        match node {
            ProofNode::Cycle { steps } => {
                for step in steps {
                    match step {
                        Bound::Release(point)
                        | Bound::Deadline(point)
                        | Bound::Forwarding(point)
                        | Bound::Latency { first: point, .. }
                        | Bound::Jitter { from: point, .. } => note(point.stream),
                        Bound::Decided(_) => {}
                    }
                }
            }
            // Who is decided about may be named in no cycle of its own.
            ProofNode::Order { one, two, .. } | ProofNode::Queue { one, two, .. } => {
                note(one.stream);
                note(two.stream);
            }
            ProofNode::Stretch { point, .. } => note(point.stream),
            ProofNode::Ways { .. } | ProofNode::Crowded { .. } => {}
        }
    }
    found
}

/// The link that an argument speaks of most.
pub(super) fn bottleneck(proof: &Proof) -> Option<LinkId> {
    let mut ways: BTreeMap<(StreamId, u8), Vec<LinkId>> = BTreeMap::new();
    let mut count: BTreeMap<LinkId, u32> = BTreeMap::new();
    for node in &proof.nodes {
        match node {
            ProofNode::Ways { stream, cases } => {
                for (copy, tree) in cases.iter().flat_map(|(trees, _)| trees.iter().enumerate()) {
                    ways.entry((*stream, copy as u8)).or_insert_with(|| tree.links().collect());
                }
            }
            ProofNode::Order { one: point, .. }
            | ProofNode::Queue { one: point, .. }
            | ProofNode::Stretch { point, .. } => {
                let links = ways.get(&(point.stream, point.copy));
                if let Some(link) = links.and_then(|links| links.get(usize::from(point.hop))) {
                    *count.entry(*link).or_insert(0) += 1;
                }
            }
            ProofNode::Crowded { link } => *count.entry(*link).or_insert(0) += 1,
            ProofNode::Cycle { .. } => {}
        }
    }
    count.into_iter().max_by_key(|(link, count)| (*count, std::cmp::Reverse(*link))).map(|(link, _)| link)
}
