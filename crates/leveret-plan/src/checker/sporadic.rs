//! Work beside the table. The planner solves an equation for the longest response; the checker plays the worst case
//! through: from the beginning of each stretch of the table everything is released at once and as often as may be,
//! and what is more urgent goes first.

use super::{Checker, shown, wide};
use crate::{CoreChoice, Placement, Sporadic, Start};
use leveret_types::Nanos;

/// Events that are played through, in all; beyond them nothing is accepted.
pub(super) const EVENTS_MAX: u64 = 200_000_000;
/// Parts in which shares of a core are counted.
const PARTS: i128 = 1_000_000_000;

/// What the table takes of a core: stretches `[from, to)` in order, with gaps between them.
pub(super) struct Table {
    round: i128,
    stretches: Vec<(i128, i128)>,
}

/// Work as urgent as the one that is looked at, or more.
pub(super) struct Rival {
    pub(super) cost: i128,
    pub(super) interval: i128,
}

impl Checker<'_> {
    /// Bounds are honest and within deadlines; levels follow priorities; no core is asked for too much.
    pub(super) fn sporadics(&mut self) {
        let (plan, job) = (self.plan, self.job);
        let mut events = EVENTS_MAX;
        let delay = wide(job.costs.publish) + wide(job.costs.guard);
        for (planned, own) in plan.sporadics.iter().zip(&job.sporadics) {
            let place = || format!("task `{}`", own.name);
            let is_there = job.cores.contains(&planned.core);
            let core = match own.core {
                CoreChoice::Any => is_there,
                CoreChoice::Pinned(core) => core == planned.core && is_there,
            };
            self.require(core, place, "it runs on the core that it asked for");
            let lower = |other: &&Sporadic| other.priority < own.priority;
            let mut below: Vec<u8> = job.sporadics.iter().filter(lower).map(|other| other.priority).collect();
            below.sort_unstable();
            below.dedup();
            self.require(
                usize::from(planned.level) == below.len(),
                place,
                "its level is the number of lower priorities",
            );
            let others = plan.sporadics.iter().zip(&job.sporadics).enumerate();
            let rivals: Option<Vec<Rival>> = others
                .filter(|(index, (other, declared))| {
                    *index != usize::from(planned.sporadic)
                        && other.core == planned.core
                        && declared.priority >= own.priority
                })
                .map(|(_, (_, declared))| {
                    let interval = wide(declared.interval?);
                    Some(Rival { cost: self.run_of(declared) + wide(job.costs.preemption), interval })
                })
                .collect();
            let bound = match (own.interval, rivals) {
                (Some(interval), Some(rivals)) => {
                    let table = self.table(planned.core);
                    let own = (self.run_of(own), wide(interval));
                    let costs = (delay, wide(job.costs.preemption));
                    let found = table.longest(own, &rivals, costs, 0, &mut events);
                    self.require(found.is_some(), place, "its bound can be verified");
                    found
                }
                _ => Some(wide(Nanos::MAX)),
            };
            let Some(bound) = bound else { continue };
            self.require_found(
                wide(planned.response_bound) == bound,
                place,
                "its bound is the longest response",
                || format!("the plan says {}, the longest is {}", planned.response_bound, shown(bound)),
            );
            let deadline = own.deadline.map_or(wide(Nanos::MAX), wide);
            self.require_found(bound <= deadline, place, "it ends within its deadline", || {
                format!("it can take {} of {}", shown(bound), shown(deadline))
            });
        }
    }

    /// Every work is planned, in order.
    pub(super) fn sporadic_frame(&mut self) {
        let (plan, job) = (self.plan, self.job);
        let in_order = plan.sporadics.iter().enumerate().all(|(index, p)| usize::from(p.sporadic) == index);
        let complete = plan.sporadics.len() == job.sporadics.len();
        let whole = || "plan".to_owned();
        self.require(in_order && complete, whole, "it covers all work beside the table in order");
        let started = |sporadic: &Sporadic| match sporadic.start {
            Start::Message(channel) | Start::Request(channel) => channel.index() < job.channels.len(),
            Start::Event { .. } => true,
        };
        let sound = |sporadic: &Sporadic| {
            started(sporadic) && sporadic.interval.is_none_or(|interval| interval > Nanos::ZERO)
        };
        self.require(
            job.sporadics.iter().all(sound),
            || "job".to_owned(),
            "work is started by channels that exist, at positive intervals",
        );
    }

    /// Most that work beside the table uses of a core in a round, by its declarations; `rest` where some is unlimited.
    pub(super) fn beside(&mut self, core: u32, rest: i128) -> i128 {
        let preemption = wide(self.job.costs.preemption);
        let mut shares = 0;
        let mut is_unlimited = false;
        let mut any = false;
        for (planned, own) in self.plan.sporadics.iter().zip(&self.job.sporadics) {
            if planned.core != core {
                continue;
            }
            any = true;
            match own.interval {
                Some(interval) => {
                    shares += rounded_up((self.run_of(own) + preemption) * PARTS, wide(interval))
                }
                None => is_unlimited = true,
            }
        }
        if any {
            let table = self.table(core);
            let of_table: i128 = table.stretches.iter().map(|(from, to)| to - from + preemption).sum();
            let asked = shares + rounded_up(of_table * PARTS, self.round);
            let most = i128::from(self.job.costs.utilisation_permille) * (PARTS / 1000);
            let place = || format!("core {core}");
            self.require_found(asked <= most, place, "no more than its share is used", || {
                format!("{asked} of {PARTS} parts are asked for, {most} may be")
            });
        }
        if is_unlimited { rest } else { rounded_up(shares * self.round, PARTS).min(rest) }
    }

    /// Budget, switch and copy of one run; at least 1 ns.
    pub(super) fn run_of(&self, own: &Sporadic) -> i128 {
        let copied = match own.start {
            Start::Message(id) | Start::Request(id) => {
                let channel = &self.job.channels[id.index()];
                let kib = rounded_up(i128::from(channel.size.0), 1024);
                if channel.placement == Placement::Separate { kib } else { 0 }
            }
            Start::Event { .. } => 0,
        };
        let copying = copied * wide(self.job.costs.copy_per_kib);
        (wide(own.budget) + wide(self.job.costs.switch) + copying).max(1)
    }

    pub(super) fn table(&self, core: u32) -> Table {
        let pieces = self.pieces(core);
        let mut stretches: Vec<(i128, i128)> = Vec::new();
        for piece in &pieces {
            let to = piece.from + piece.length;
            match stretches.last_mut() {
                Some((_, end)) if *end >= piece.from => *end = to.max(*end),
                _ => stretches.push((piece.from, to)),
            }
        }
        // What the last one leaves of itself in the next round may touch the first.
        if stretches.len() > 1 && stretches[stretches.len() - 1].1 >= stretches[0].0 + self.round {
            let (_, end) = stretches.remove(0);
            let last = stretches.len() - 1;
            stretches[last].1 = stretches[last].1.max(end + self.round);
        }
        Table { round: self.round, stretches }
    }
}

pub(super) fn rounded_up(value: i128, by: i128) -> i128 {
    (value + by - 1).div_euclid(by)
}

impl Table {
    /// The longest response of work of this cost and interval, where so much that is more urgent is there at the beginning; `None` if it
    /// takes too many events to find.
    pub(super) fn longest(
        &self,
        own: (i128, i128),
        rivals: &[Rival],
        (delay, preemption): (i128, i128),
        left_over: i128,
        events: &mut u64,
    ) -> Option<i128> {
        let mut longest = 0;
        for first in 0..self.stretches.len().max(1) {
            let mut play = Play { table: self, first, rivals, delay, preemption, events: &mut *events };
            longest = longest.max(play.longest(own, left_over)?);
        }
        Some(longest)
    }

    /// The `count`-th stretch from `first` on, seen from where `first` begins.
    fn stretch(&self, first: usize, count: usize) -> Option<(i128, i128)> {
        let all = self.stretches.len();
        let origin = self.stretches.get(first)?.0;
        let (round, place) = ((first + count) / all, (first + count) % all);
        let shift = round as i128 * self.round - origin;
        let (from, to) = self.stretches[place];
        Some((from + shift, to + shift))
    }
}

/// The worst case from the beginning of one stretch.
struct Play<'a> {
    table: &'a Table,
    first: usize,
    rivals: &'a [Rival],
    delay: i128,
    preemption: i128,
    events: &'a mut u64,
}

impl Play<'_> {
    fn longest(&mut self, (cost, interval): (i128, i128), left_over: i128) -> Option<i128> {
        let released = |run: i128, interval: i128| (run * interval - self.delay).max(0);
        // How often each was released, what is left of it, and which stretch comes next.
        let mut rival_runs = vec![0_i128; self.rivals.len()];
        let (mut urgent, mut mine) = (left_over, 0_i128);
        let (mut my_runs, mut my_ends) = (0_i128, 0_i128);
        let (mut stretch, mut now, mut longest) = (0_usize, 0_i128, 0_i128);
        loop {
            // Everything that comes at this instant.
            for (rival, runs) in self.rivals.iter().zip(&mut rival_runs) {
                while released(*runs, rival.interval) <= now {
                    *runs += 1;
                    urgent += rival.cost;
                    *self.events = self.events.checked_sub(1)?;
                }
            }
            while released(my_runs, interval) <= now {
                my_runs += 1;
                mine += cost;
                *self.events = self.events.checked_sub(1)?;
            }
            *self.events = self.events.checked_sub(1 + self.rivals.len() as u64)?;
            if let Some((from, to)) = self.table.stretch(self.first, stretch)
                && from <= now
            {
                urgent += self.preemption;
                stretch += 1;
                now = to;
                continue;
            }
            if urgent + mine == 0 {
                return Some(longest);
            }
            let table_next = self.table.stretch(self.first, stretch).map(|(from, _)| from);
            let rivals_next =
                self.rivals.iter().zip(&rival_runs).map(|(r, runs)| released(*runs, r.interval));
            let next = rivals_next.chain(table_next).chain([released(my_runs, interval)]).min()?;
            let room = next - now;
            let first = urgent.min(room);
            urgent -= first;
            let second = mine.min(room - first);
            // The runs of one work end in turn.
            while my_ends < my_runs && second >= mine - (my_runs - my_ends - 1) * cost && second > 0 {
                let after = now + first + mine - (my_runs - my_ends - 1) * cost;
                longest = longest.max(after + self.delay - my_ends * interval);
                my_ends += 1;
                *self.events = self.events.checked_sub(1)?;
            }
            mine -= second;
            now += first + second;
        }
    }
}
