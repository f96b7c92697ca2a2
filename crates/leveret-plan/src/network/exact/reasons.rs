//! What a contradiction stands on. Only a question that it stands on need be answered otherwise; those between are left out of the argument, with
//! their other answers (conflict-directed backjumping: P. Prosser, "Hybrid algorithms for the constraint satisfaction problem", Computational
//! Intelligence 9, 1993).

use super::super::proof::{Bound, ProofNode};
use super::model::Model;
use super::questions::Question;
use super::{Frame, Search, bytes};
use leveret_types::StreamId;

impl Search<'_, '_> {
    /// The nodes of open questions without whose answers a contradiction would be none.
    pub(super) fn stands_on(&self, end: &ProofNode) -> Vec<u32> {
        match end {
            ProofNode::Cycle { steps } => {
                let mut found = Vec::with_capacity(2 * steps.len());
                for step in steps {
                    match step {
                        Bound::Decided(node) => found.push(*node),
                        Bound::Release(point)
                        | Bound::Deadline(point)
                        | Bound::Forwarding(point)
                        | Bound::Latency { first: point, .. }
                        | Bound::Jitter { from: point, .. } => found.push(self.ways_of(point.stream)),
                    }
                }
                found.sort_unstable();
                found.dedup();
                found
            }
            ProofNode::Crowded { link } => self.model.parted_on(link.0),
            _ => Vec::new(),
        }
    }

    /// The node that asks for the ways of a stream.
    fn ways_of(&self, stream: StreamId) -> u32 {
        self.model.place_of(stream).map_or(0, |place| self.model.chosen[place].1)
    }

    /// What a question itself stands on: that its transmissions are on its link.
    fn premise(&self, question: &Question) -> Vec<u32> {
        let of = |transmission: u32| {
            let point = self.model.transmissions[transmission as usize].point;
            self.ways_of(point.stream)
        };
        match *question {
            Question::Ways { .. } => Vec::new(),
            Question::Order { one, two, .. } | Question::Queue { one, two, .. } => vec![of(one), of(two)],
            Question::Stretch { one, .. } => vec![of(one)],
        }
    }

    /// To the next answer of the last question that what a node shows stands on. False where there is none: then the argument is whole.
    pub(super) fn go_back(&mut self, mut node: u32, mut reasons: Vec<u32>) -> bool {
        let mut left_out = None;
        while let Some(frame) = self.frames.last_mut() {
            if reasons.binary_search(&frame.node).is_err() {
                left_out = Some(frame.node);
                self.drop_last();
                continue;
            }
            if let Some(at) = left_out.take() {
                self.put_in_place_of(at, node);
            }
            let Some(frame) = self.frames.last_mut() else { break };
            let before = frame.reasons.len();
            frame.reasons.extend(reasons.iter().filter(|reason| **reason != frame.node));
            frame.reasons.sort_unstable();
            frame.reasons.dedup();
            self.reasons = self.reasons + frame.reasons.len() - before;
            frame.answer += 1;
            self.model.undo(frame.mark);
            if frame.answer < frame.question.answers() {
                return true;
            }
            let question = frame.question.clone();
            (node, reasons) = (frame.node, frame.reasons.clone());
            reasons.extend(self.premise(&question));
            reasons.sort_unstable();
            self.drop_last();
        }
        if let Some(at) = left_out {
            self.put_in_place_of(at, node);
        }
        false
    }

    fn drop_last(&mut self) {
        if let Some(Frame { reasons, .. }) = self.frames.pop() {
            self.reasons -= reasons.len();
        }
    }

    /// A node with all that follows from it takes the place of another, from which it follows: what was between is left out. Nothing else lies behind
    /// the node.
    fn put_in_place_of(&mut self, place: u32, node: u32) {
        let by = node - place;
        let between: usize = self.nodes.drain(place as usize..node as usize).map(|node| bytes(&node)).sum();
        self.told -= between;
        self.model.looked += self.nodes.len() as u64 - u64::from(place);
        for moved in &mut self.nodes[place as usize..] {
            children(moved, |child| *child -= by);
            if let ProofNode::Cycle { steps } = moved {
                for step in steps {
                    if let Bound::Decided(question) = step
                        && *question >= node
                    {
                        *question -= by;
                    }
                }
            }
        }
    }
}

/// The nodes that the answers of a question lead to.
fn children(node: &mut ProofNode, mut each: impl FnMut(&mut u32)) {
    match node {
        ProofNode::Ways { cases, .. } => cases.iter_mut().for_each(|(_, child)| each(child)),
        ProofNode::Order { one_first: first, two_first: second, .. }
        | ProofNode::Stretch { before: first, after: second, .. } => {
            [first, second].into_iter().for_each(each)
        }
        ProofNode::Queue { one_first, two_first, apart, .. } => {
            [one_first, two_first].into_iter().chain(apart).for_each(each);
        }
        ProofNode::Crowded { .. } | ProofNode::Cycle { .. } => {}
    }
}

impl Model<'_, '_> {
    /// The questions that were answered by different queues of a port.
    fn parted_on(&self, link: u32) -> Vec<u32> {
        // In the order in which they were answered.
        self.apart.iter().filter(|parted| parted.link == link).map(|parted| parted.node).collect()
    }
}
