//! A proof in words.

use super::model::Traffic;
use super::proof::{Bound, Point, Proof, ProofNode};
use leveret_topology::Tree;
use leveret_types::{LinkId, StreamId};
use std::collections::BTreeMap;
use std::fmt::Write;

impl Proof {
    /// The argument for people, at most so many lines of it: each question with its answers, and why each fails.
    pub fn render(&self, traffic: &Traffic, lines: usize) -> String {
        let mut writer = Writer {
            proof: self,
            traffic,
            chosen: BTreeMap::new(),
            text: String::new(),
            left: lines,
            dropped: 0,
        };
        writer.node(0, 1);
        if writer.dropped > 0 {
            let dropped = writer.dropped;
            let _ = writeln!(writer.text, "  ... and {dropped} more lines");
        }
        writer.text
    }
}

struct Writer<'a> {
    proof: &'a Proof,
    traffic: &'a Traffic,
    /// The ways that were answered on the way to where the writing is.
    chosen: BTreeMap<StreamId, &'a [Tree]>,
    text: String,
    left: usize,
    dropped: usize,
}

/// Answers within answers that are still set in.
const INDENT_MAX: usize = 24;

impl<'a> Writer<'a> {
    fn line(&mut self, depth: usize, words: &str) {
        if self.left == 0 {
            self.dropped += 1;
            return;
        }
        self.left -= 1;
        let _ = writeln!(self.text, "{:width$}{words}", "", width = 2 * depth.min(INDENT_MAX));
    }

    /// What follows from a node, set in by `depth`. The only answer of a question needs no line; what has many is gone through in turn.
    fn node(&mut self, node: u32, depth: usize) {
        // A chain of questions with one open answer each would nest as deep as it is long: it is walked.
        let (mut node, mut depth) = (node, depth);
        loop {
            let proof = self.proof;
            if let ProofNode::Ways { stream, cases } = &proof.nodes[node as usize] {
                let Some(((last, child), others)) = cases.split_last() else { return };
                for (trees, child) in others {
                    self.takes(*stream, trees, depth);
                    self.node(*child, depth + 1);
                }
                if others.is_empty() {
                    self.chosen.insert(*stream, last);
                } else {
                    self.takes(*stream, last, depth);
                    depth += 1;
                }
                node = *child;
                continue;
            }
            let answers = self.answers(&proof.nodes[node as usize]);
            if answers.is_empty() {
                let words = match &proof.nodes[node as usize] {
                    ProofNode::Crowded { link } => format!("too few queues at {}", self.name(*link)),
                    ProofNode::Cycle { steps } => self.contradiction(steps),
                    _ => return,
                };
                self.line(depth, &words);
                return;
            }
            let last = answers.len() - 1;
            for (index, (words, child)) in answers.into_iter().enumerate() {
                self.line(depth, &words);
                if index < last {
                    self.node(child, depth + 1);
                } else {
                    (node, depth) = (child, depth + 1);
                }
            }
        }
    }

    /// A stream takes a way, says a line.
    fn takes(&mut self, stream: StreamId, trees: &'a [Tree], depth: usize) {
        self.chosen.insert(stream, trees);
        let way = trees.iter().map(|tree| self.way(tree)).collect::<Vec<_>>().join(" and ");
        let name = self.traffic.name(stream);
        self.line(depth, &format!("if \"{name}\" goes over {way}:"));
    }

    /// The answers of a question in words, with the nodes that follow; none at an end.
    fn answers(&self, node: &ProofNode) -> Vec<(String, u32)> {
        match node {
            ProofNode::Order { one, two, one_first, two_first, .. } => {
                let link = self.link(*one);
                let before = |a: &Point, b: &Point| {
                    format!("if {} has {link} before {}:", self.message(*a), self.message(*b))
                };
                vec![(before(one, two), *one_first), (before(two, one), *two_first)]
            }
            ProofNode::Stretch { point, start, end, before, after } => {
                let (who, link) = (self.message(*point), self.link(*point));
                vec![
                    (format!("if {who} has {link} before {start}, when it is not free:"), *before),
                    (format!("if {who} has {link} after {end}:"), *after),
                ]
            }
            ProofNode::Queue { one, two, one_first, two_first, apart, .. } => {
                let link = self.link(*one);
                let before = |a: &Point, b: &Point| {
                    let (a, b) = (self.message(*a), self.message(*b));
                    format!("if {b} comes to its queue at {link} after {a} has left it:")
                };
                let mut answers = vec![(before(one, two), *one_first), (before(two, one), *two_first)];
                answers.extend(apart.map(|child| {
                    let (one, two) = (self.message(*one), self.message(*two));
                    (format!("if {one} and {two} take different queues at {link}:"), child)
                }));
                answers
            }
            ProofNode::Ways { .. } | ProofNode::Crowded { .. } | ProofNode::Cycle { .. } => Vec::new(),
        }
    }

    fn message(&self, point: Point) -> String {
        let copy = if point.copy > 0 { format!(", copy {}", point.copy) } else { String::new() };
        format!("\"{}\" #{}{copy}", self.traffic.name(point.stream), point.instance)
    }

    fn link(&self, point: Point) -> String {
        let tree = self.chosen.get(&point.stream).and_then(|trees| trees.get(usize::from(point.copy)));
        let hop = tree.and_then(|tree| tree.hops.get(usize::from(point.hop)));
        hop.map_or_else(|| format!("hop {}", point.hop), |hop| self.name(hop.link))
    }

    fn name(&self, link: LinkId) -> String {
        self.traffic.network.link_name(link)
    }

    fn way(&self, tree: &Tree) -> String {
        tree.links().map(|link| self.name(link)).collect::<Vec<_>>().join(", ")
    }

    /// Why an instant would come after itself.
    fn contradiction(&self, steps: &[Bound]) -> String {
        let mut words: Vec<String> = Vec::new();
        for step in steps {
            words.push(match step {
                Bound::Release(point) => format!("{} is released", self.message(*point)),
                Bound::Deadline(point) => {
                    format!("{} is then too late for its deadline", self.message(*point))
                }
                Bound::Latency { last, .. } => format!("{} is then too long under way", self.message(*last)),
                Bound::Forwarding(point) => format!("goes on over {}", self.link(*point)),
                Bound::Jitter { from, to } => {
                    format!("{} and {} are kept within the jitter", self.message(*from), self.message(*to))
                }
                Bound::Decided(question) => self.decided(*question),
            });
        }
        format!("it cannot be: {}", words.join("; "))
    }

    fn decided(&self, question: u32) -> String {
        match self.proof.nodes.get(question as usize) {
            Some(ProofNode::Order { one, two, .. }) => {
                format!(
                    "{} and {} follow each other on {}",
                    self.message(*one),
                    self.message(*two),
                    self.link(*one)
                )
            }
            Some(ProofNode::Stretch { point, .. }) => {
                format!("{} keeps off what is reserved", self.message(*point))
            }
            Some(ProofNode::Queue { one, two, .. }) => {
                format!("{} and {} do not meet in their queue", self.message(*one), self.message(*two))
            }
            _ => "as was said".to_owned(),
        }
    }
}
