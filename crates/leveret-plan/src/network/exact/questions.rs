//! What goes wrong when every transmission goes as early as it can, as questions with all their answers.

use super::super::reserved::Stretch;
use super::colours;
use super::model::{Model, Transmission};
use std::collections::BTreeMap;

/// A question; transmissions by their numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Question {
    /// Which ways does the stream of this number take?
    Ways { index: usize, cases: usize },
    /// Is one over when two, so many rounds later, begins, or is it the other way round?
    Order { one: u32, two: u32, rounds: i64 },
    /// Is it over at the start of a stretch, or does it begin at its end?
    Stretch { one: u32, start: i64, end: i64 },
    /// Has one left its queue when two comes, or the other way round, or do they take different ones?
    Queue { one: u32, two: u32, rounds: i64, may_part: bool },
}

impl Question {
    pub(super) fn answers(&self) -> usize {
        match self {
            Self::Ways { cases, .. } => *cases,
            Self::Order { .. } | Self::Stretch { .. } => 2,
            Self::Queue { may_part, .. } => 2 + usize::from(*may_part),
        }
    }
}

/// How pressing a question is: answers that are left, then how much room they leave.
type Press = (u8, i64);

/// Transmissions behind one on its link with which it is compared.
const COMPARED: usize = 12;

impl Model<'_, '_> {
    /// The most pressing question; none where all is well, and the queues are noted. The outer none: it cannot be told.
    pub(super) fn question(&mut self) -> Option<Option<Question>> {
        if self.next_stream().is_some() {
            let index = self.chosen.len();
            return Some(Some(Question::Ways { index, cases: self.ways[index].len() }));
        }
        let mut best: Option<(Press, Question)> = None;
        let links: Vec<u32> = self.on_link.keys().copied().collect();
        for link in &links {
            self.overlaps(*link, &mut best);
            self.stretches(*link, &mut best);
            if best.as_ref().is_some_and(|((left, _), _)| *left == 0) {
                break;
            }
        }
        if let Some((_, question)) = best {
            return Some(Some(question));
        }
        self.queues.clear();
        for link in links {
            if let Some(question) = self.overtakings(link)? {
                return Some(Some(question));
            }
        }
        Some(None)
    }

    fn offer(best: &mut Option<(Press, Question)>, press: Press, question: Question) {
        if best.as_ref().is_none_or(|(least, _)| press < *least) {
            *best = Some((press, question));
        }
    }

    /// Transmissions of a link by their earliest starts within a round: start, round, number.
    fn ordered(&self, link: u32) -> Vec<(i64, i64, u32)> {
        let round = self.hyperperiod();
        let place = |number: &u32| {
            let start = self.earliest(*number);
            (start.rem_euclid(round), start.div_euclid(round), *number)
        };
        let mut found: Vec<_> = self.on_link[&link].iter().map(place).collect();
        found.sort_unstable();
        found
    }

    /// Two that have a link at once.
    fn overlaps(&mut self, link: u32, best: &mut Option<(Press, Question)>) {
        let round = self.hyperperiod();
        let ordered = self.ordered(link);
        self.looked += ordered.len() as u64;
        for (index, &(start, turn, one)) in ordered.iter().enumerate() {
            let end = start + self.transmissions[one as usize].time;
            for step in 1..=COMPARED.min(ordered.len()) {
                let place = index + step;
                let (other, turn_other, two) = ordered[place % ordered.len()];
                let wrapped = (place / ordered.len()) as i64;
                if other + wrapped * round >= end {
                    break;
                }
                self.looked += 1;
                // One at `turn`, two at `turn_other`, counted so that both lie in one round.
                let rounds = turn - turn_other + wrapped;
                Self::offer(best, self.press(one, two, rounds), Question::Order { one, two, rounds });
            }
        }
    }

    /// How many orders of two are left, and the room in them.
    fn press(&self, one: u32, two: u32, rounds: i64) -> Press {
        let shift = rounds * self.hyperperiod();
        let time = |number: u32| self.transmissions[number as usize].time;
        let first = self.latest(two) + shift - self.earliest(one) - time(one);
        let second = self.latest(one) - self.earliest(two) - shift - time(two);
        Self::room(first, second)
    }

    fn room(first: i64, second: i64) -> Press {
        let left = u8::from(first >= 0) + u8::from(second >= 0);
        (left, first.max(0).saturating_add(second.max(0)))
    }

    /// One that has a link when it is reserved, or across the end of a round that must be whole.
    fn stretches(&mut self, link: u32, best: &mut Option<(Press, Question)>) {
        let round = self.hyperperiod();
        let problem = self.problem;
        let traffic = &*problem.traffic;
        for &one in &self.on_link[&link] {
            let (earliest, latest) = (self.earliest(one), self.latest(one));
            let time = self.transmissions[one as usize].time;
            let press = |start: i64, end: i64| Self::room(start - time - earliest, latest - end);
            let mut most: Option<((Press, u32), Stretch)> = None;
            problem.reserved[link as usize].last_before(
                earliest,
                earliest + time,
                &mut self.looked,
                |stretch| {
                    let rank = (press(stretch.start, stretch.end), stretch.index);
                    if most.is_none_or(|(before, _)| rank < before) {
                        most = Some((rank, stretch));
                    }
                },
            );
            if let Some(((press, _), Stretch { start, end, .. })) = most {
                Self::offer(best, press, Question::Stretch { one, start, end });
            }
            let border = (earliest.div_euclid(round) + 1) * round;
            if traffic.whole_cycles && earliest + time > border {
                Self::offer(
                    best,
                    press(border, border),
                    Question::Stretch { one, start: border, end: border },
                );
            }
        }
    }

    /// Two that would overtake each other at a port, though every choice of queues was looked at; else notes the queues.
    fn overtakings(&mut self, link: u32) -> Option<Option<Question>> {
        let found = self.meetings(link);
        let of = |number: u32| -> &Transmission { &self.transmissions[number as usize] };
        if let Some(&(one, two, rounds)) =
            found.iter().find(|(one, two, _)| of(*one).item() == of(*two).item())
        {
            return Some(Some(Question::Queue { one, two, rounds, may_part: false }));
        }
        let supposed = self.apart_on(link);
        let mut edges = supposed.clone();
        edges.extend(found.iter().map(|(one, two, _)| (of(*one).item(), of(*two).item())));
        let mut nodes: Vec<u32> = self.on_link[&link].iter().map(|number| of(*number).item()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let queues = self.problem.traffic.network.links[link as usize].queues;
        match colours::colour(&nodes, &edges, queues) {
            Err(_) => None,
            Ok(Some(chosen)) => {
                self.queues.extend(chosen.into_iter().map(|(item, queue)| ((link, item), queue)));
                Some(None)
            }
            Ok(None) => {
                let is_new = |&&(one, two, _): &&(u32, u32, i64)| {
                    let pair = (of(one).item(), of(two).item());
                    !supposed.contains(&pair) && !supposed.contains(&(pair.1, pair.0))
                };
                // What is supposed can be coloured, or it would not have been supposed; so something is new.
                let &(one, two, rounds) = found.iter().find(is_new)?;
                Some(Some(Question::Queue { one, two, rounds, may_part: true }))
            }
        }
    }

    /// Pairs of which the second comes to a port before the first has been sent, and is sent after it; one a pair of items.
    fn meetings(&mut self, link: u32) -> Vec<(u32, u32, i64)> {
        let round = self.hyperperiod();
        let ordered = self.ordered(link);
        let mut found: BTreeMap<(u32, u32), (u32, u32, i64)> = BTreeMap::new();
        for (index, &(_, turn, two)) in ordered.iter().enumerate() {
            let second = self.transmissions[two as usize];
            let Some(parent) = second.parent else { continue };
            let came = self.earliest(parent) + second.comes - turn * round;
            // Backwards over those that were sent before it, around the round if need be.
            for step in 1..=ordered.len() {
                let place = index as i64 - step as i64;
                let wrapped = place.div_euclid(ordered.len() as i64);
                let (before, turn_before, one) = ordered[place.rem_euclid(ordered.len() as i64) as usize];
                let first = self.transmissions[one as usize];
                let sent = before + wrapped * round + first.last_start;
                self.looked += 1;
                if came < sent {
                    let (a, b) = (first.item(), second.item());
                    let rounds = turn_before - turn - wrapped;
                    found.entry((a.min(b), a.max(b))).or_insert((one, two, rounds));
                }
                // What was sent before this one was over when this one began.
                if before + wrapped * round <= came {
                    break;
                }
            }
        }
        found.into_values().collect()
    }
}
