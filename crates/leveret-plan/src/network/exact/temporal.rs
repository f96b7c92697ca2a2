//! Instants that come so much after each other: the earliest and the latest of each, and why.

use super::super::proof::{Bound, Point};
use std::collections::VecDeque;

/// The instant that all others count from.
pub(super) const ORIGIN: u32 = 0;
/// No arc.
const NONE: u32 = u32::MAX;
/// Earlier and later than anything.
const FAR: i64 = i64::MAX / 4;
/// Bytes that the least list takes.
const HEAP_MIN: usize = 32;

/// Why one instant comes so much after another.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reason {
    /// In the words of an argument.
    Bound(Bound),
    /// From an arrival to the instant that all arrivals at its place are counted from.
    Enter(Point),
    /// From that instant to an arrival. Both together are a jitter; so many arrivals need twice their number of arcs, and not its square.
    Leave(Point),
}

/// `to` is at `from + weight` or later.
#[derive(Clone, Copy, Debug)]
struct Arc {
    from: u32,
    to: u32,
    weight: i64,
    reason: Reason,
}

/// What a change replaced.
#[derive(Clone, Copy, Debug)]
struct Change {
    variable: u32,
    is_earliest: bool,
    value: i64,
    by: u32,
}

/// A difference-constraint network that grows and shrinks at its end.
#[derive(Clone, Debug)]
pub(super) struct Temporal {
    pub earliest: Vec<i64>,
    pub latest: Vec<i64>,
    /// The arc that gave the earliest, and the latest.
    by_earliest: Vec<u32>,
    by_latest: Vec<u32>,
    arcs: Vec<Arc>,
    out: Vec<Vec<u32>>,
    into: Vec<Vec<u32>>,
    trail: Vec<Change>,
    /// When each earliest and each latest was last noted on the trail: once between two marks is enough.
    noted: Vec<[u64; 2]>,
    /// How many marks were set or gone back to.
    turn: u64,
    queue: VecDeque<u32>,
    /// Arcs looked at.
    pub steps: u64,
}

/// A state to come back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    variables: usize,
    arcs: usize,
    trail: usize,
}

/// Reasons that together ask an instant to come after itself.
pub(super) type Contradiction = Vec<Bound>;

impl Temporal {
    pub(super) fn new() -> Self {
        Self {
            earliest: vec![0],
            latest: vec![0],
            by_earliest: vec![NONE],
            by_latest: vec![NONE],
            arcs: Vec::new(),
            out: vec![Vec::new()],
            into: vec![Vec::new()],
            trail: Vec::new(),
            noted: vec![[0; 2]],
            turn: 1,
            queue: VecDeque::new(),
            steps: 0,
        }
    }

    /// A new instant, of which nothing is known.
    pub(super) fn push(&mut self) -> u32 {
        self.earliest.push(-FAR);
        self.latest.push(FAR);
        self.by_earliest.push(NONE);
        self.by_latest.push(NONE);
        self.out.push(Vec::new());
        self.into.push(Vec::new());
        self.noted.push([0; 2]);
        self.earliest.len() as u32 - 1
    }

    /// Bytes that are held, or nearly.
    pub(super) fn held(&self) -> usize {
        let lists = size_of::<Vec<u32>>() + HEAP_MIN;
        let variable = 2 * (size_of::<i64>() + size_of::<u32>() + size_of::<u64>() + lists);
        let arc = size_of::<Arc>() + 2 * size_of::<u32>();
        self.earliest.len() * variable + self.arcs.len() * arc + self.trail.len() * size_of::<Change>()
    }

    pub(super) fn mark(&mut self) -> Mark {
        self.turn += 1;
        Mark { variables: self.earliest.len(), arcs: self.arcs.len(), trail: self.trail.len() }
    }

    /// Forgets all since the mark.
    pub(super) fn undo(&mut self, mark: Mark) {
        self.turn += 1;
        for change in self.trail.drain(mark.trail..).rev() {
            let variable = change.variable as usize;
            if change.is_earliest {
                (self.earliest[variable], self.by_earliest[variable]) = (change.value, change.by);
            } else {
                (self.latest[variable], self.by_latest[variable]) = (change.value, change.by);
            }
        }
        for arc in self.arcs.drain(mark.arcs..).rev() {
            self.out[arc.from as usize].pop();
            self.into[arc.to as usize].pop();
        }
        for list in [&mut self.earliest, &mut self.latest] {
            list.truncate(mark.variables);
        }
        for list in [&mut self.by_earliest, &mut self.by_latest] {
            list.truncate(mark.variables);
        }
        for list in [&mut self.out, &mut self.into] {
            list.truncate(mark.variables);
        }
        self.noted.truncate(mark.variables);
    }

    /// `to` is at `from + weight` or later.
    pub(super) fn add(
        &mut self,
        from: u32,
        to: u32,
        weight: i64,
        reason: Reason,
    ) -> Result<(), Contradiction> {
        let arc = self.arcs.len() as u32;
        self.arcs.push(Arc { from, to, weight, reason });
        self.out[from as usize].push(arc);
        self.into[to as usize].push(arc);
        if from == to {
            return if weight > 0 { Err(told(vec![reason])) } else { Ok(()) };
        }
        self.forward(arc)?;
        self.backward(arc)
    }

    fn forward(&mut self, first: u32) -> Result<(), Contradiction> {
        self.queue.clear();
        self.raise(first)?;
        while let Some(variable) = self.queue.pop_front() {
            for index in 0..self.out[variable as usize].len() {
                self.raise(self.out[variable as usize][index])?;
            }
        }
        Ok(())
    }

    fn raise(&mut self, index: u32) -> Result<(), Contradiction> {
        self.steps += 1;
        let Arc { from, to, weight, reason } = self.arcs[index as usize];
        let value = self.earliest[from as usize] + weight;
        let target = to as usize;
        if self.earliest[from as usize] <= -FAR || value <= self.earliest[target] {
            return Ok(());
        }
        if to == ORIGIN || value > self.latest[target] {
            let mut steps = self.way_to(from);
            steps.push(reason);
            steps.extend(self.way_from(to));
            return Err(told(steps));
        }
        if let Some(cycle) = self.closes(from, to, reason) {
            return Err(cycle);
        }
        if std::mem::replace(&mut self.noted[target][0], self.turn) != self.turn {
            self.trail.push(Change {
                variable: to,
                is_earliest: true,
                value: self.earliest[target],
                by: self.by_earliest[target],
            });
        }
        (self.earliest[target], self.by_earliest[target]) = (value, index);
        self.queue.push_back(to);
        Ok(())
    }

    /// If `to` is what the earliest of `from` stands on, then they raise each other for ever.
    fn closes(&mut self, from: u32, to: u32, reason: Reason) -> Option<Contradiction> {
        let mut at = from;
        let mut steps = vec![reason];
        while self.by_earliest[at as usize] != NONE {
            self.steps += 1;
            let arc = self.arcs[self.by_earliest[at as usize] as usize];
            if at == to {
                break;
            }
            steps.push(arc.reason);
            at = arc.from;
        }
        if at != to || to == ORIGIN {
            return None;
        }
        steps.reverse();
        Some(told(steps))
    }

    /// From the origin to an instant, as its earliest stands.
    fn way_to(&self, variable: u32) -> Vec<Reason> {
        let mut steps = Vec::new();
        let mut at = variable;
        while self.by_earliest[at as usize] != NONE {
            let arc = self.arcs[self.by_earliest[at as usize] as usize];
            steps.push(arc.reason);
            at = arc.from;
        }
        steps.reverse();
        steps
    }

    /// From an instant to the origin, as its latest stands.
    fn way_from(&self, variable: u32) -> Vec<Reason> {
        let mut steps = Vec::new();
        let mut at = variable;
        while self.by_latest[at as usize] != NONE {
            let arc = self.arcs[self.by_latest[at as usize] as usize];
            steps.push(arc.reason);
            at = arc.to;
        }
        steps
    }

    fn backward(&mut self, first: u32) -> Result<(), Contradiction> {
        self.queue.clear();
        self.lower(first)?;
        while let Some(variable) = self.queue.pop_front() {
            for index in 0..self.into[variable as usize].len() {
                self.lower(self.into[variable as usize][index])?;
            }
        }
        Ok(())
    }

    fn lower(&mut self, index: u32) -> Result<(), Contradiction> {
        self.steps += 1;
        let Arc { from, to, weight, reason } = self.arcs[index as usize];
        let value = self.latest[to as usize] - weight;
        let source = from as usize;
        if self.latest[to as usize] >= FAR || value >= self.latest[source] || from == ORIGIN {
            return Ok(());
        }
        if value < self.earliest[source] {
            let mut steps = self.way_to(from);
            steps.push(reason);
            steps.extend(self.way_from(to));
            return Err(told(steps));
        }
        if std::mem::replace(&mut self.noted[source][1], self.turn) != self.turn {
            self.trail.push(Change {
                variable: from,
                is_earliest: false,
                value: self.latest[source],
                by: self.by_latest[source],
            });
        }
        (self.latest[source], self.by_latest[source]) = (value, index);
        self.queue.push_back(from);
        Ok(())
    }
}

/// A cycle of reasons in the words of an argument.
fn told(mut reasons: Vec<Reason>) -> Contradiction {
    // It may be told from anywhere, but not from the midst of a jitter.
    if let Some(Reason::Leave(_)) = reasons.first() {
        reasons.rotate_left(1);
    }
    let mut bounds = Vec::with_capacity(reasons.len());
    let mut entered = None;
    for reason in reasons {
        match reason {
            Reason::Bound(bound) => bounds.push(bound),
            Reason::Enter(point) => entered = Some(point),
            // From an arrival to itself is no step.
            Reason::Leave(to) => bounds
                .extend(entered.take().filter(|from| *from != to).map(|from| Bound::Jitter { from, to })),
        }
    }
    bounds
}
