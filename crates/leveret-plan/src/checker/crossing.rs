//! From one plan to another: is what the planner says of the switch right? The checker states what must hold of the time tables, and
//! plays the worst case of work at priorities through, with all that the plan before may have left over at its beginning.

use super::sporadic::{EVENTS_MAX, Rival, rounded_up};
use super::{Checker, Violation, shown, wide};
use crate::{Crossing, Job, Kept, Plan, PlannedInstance, Start};
use leveret_types::Nanos;

/// Accepts a switch that keeps every rule of `docs/planner.md`, between two plans that [`super::check`] has accepted.
///
/// # Errors
/// What does not hold.
pub fn check_transition(
    before: (&Job, &Plan),
    after: (&Job, &Plan),
    kept: &Kept,
    claimed: &Crossing,
) -> Result<(), Vec<Violation>> {
    let shapes = [(before, claimed.left.len()), (after, claimed.entered.len())];
    let is_whole = shapes.iter().all(|((job, plan), bounds)| {
        let works = job.sporadics.len();
        job.tasks.len() == plan.tasks.len() && works == plan.sporadics.len() && works == *bounds
    });
    let [old, new] = [before, after].map(|(job, plan)| Checker {
        plan,
        job,
        round: wide(plan.hyperperiod),
        violations: Vec::new(),
    });
    let mut switch = Switch { old, new, pairs: Vec::new(), events: EVENTS_MAX, violations: Vec::new() };
    switch.require(is_whole, "switch", "it covers all work of both plans", String::new);
    if is_whole {
        switch.tables();
        switch.pairs = switch.pairs(kept);
        switch.works(claimed);
    }
    if switch.violations.is_empty() { Ok(()) } else { Err(switch.violations) }
}

/// A time without a bound.
const NEVER: i128 = i64::MAX as i128;
/// So far apart that there is no second run.
const ONCE: i128 = 1 << 100;

struct Switch<'a> {
    old: Checker<'a>,
    new: Checker<'a>,
    /// Works of the plan before, each with the one of the plan after that goes on with it.
    pairs: Vec<(usize, usize)>,
    events: u64,
    violations: Vec<Violation>,
}

impl Switch<'_> {
    fn require(&mut self, holds: bool, place: &str, rule: &str, found: impl Fn() -> String) {
        if !holds && self.violations.len() < 100 {
            self.violations.push(Violation {
                place: place.to_owned(),
                rule: rule.to_owned(),
                found: found(),
            });
        }
    }

    /// No task of the one holds a core in its last round when a task of the other needs it in its first.
    fn tables(&mut self) {
        let held = |side: &Checker<'_>, instance: &PlannedInstance, shift: i128| {
            let from = wide(instance.start()) - wide(side.plan.costs.guard) - shift;
            (from, wide(instance.end()) - shift)
        };
        let round = self.old.round;
        for (index, last) in self.old.plan.tasks.iter().enumerate() {
            let place = format!("task `{}`", self.old.job.tasks[index].name);
            let starts_in_time = last.instances.iter().all(|instance| wide(instance.start()) < round);
            self.require(starts_in_time, &place, "its last instance begins before the switch", String::new);
            for (other, first) in self.new.plan.tasks.iter().enumerate() {
                let meet = |a: &PlannedInstance, b: &PlannedInstance| {
                    let (a, b) = (held(&self.old, a, round), held(&self.new, b, 0));
                    a.0.max(b.0) < a.1.min(b.1)
                };
                let is_apart = last.core != first.core
                    || !last.instances.iter().any(|a| first.instances.iter().any(|b| meet(a, b)));
                let other = &self.new.job.tasks[other].name;
                let rule = "it has left its core when the first instance of the mode needs it";
                self.require(is_apart, &place, rule, || format!("task `{other}` needs core {}", last.core));
            }
        }
    }

    /// What is kept serves the same end of the same channel, or is the same work for an event.
    fn pairs(&self, kept: &Kept) -> Vec<(usize, usize)> {
        let end = |side: &Checker<'_>, start: &Start| {
            let (channel, sends) = match start {
                Start::Message(channel) => (channel, false),
                Start::Request(channel) => (channel, true),
                Start::Event { .. } => return None,
            };
            let declared = side.job.channels.get(channel.index())?;
            Some((declared.group.clone(), declared.name.clone(), sends))
        };
        let mut pairs = Vec::new();
        for (new, work) in self.new.job.sporadics.iter().enumerate() {
            let is_kept = match work.start {
                Start::Message(channel) | Start::Request(channel) => kept.channels.contains(&channel),
                Start::Event { .. } => kept.works.contains(&(new as u16)),
            };
            let serves = end(&self.new, &work.start);
            let olds = self.old.job.sporadics.iter().enumerate().filter(|_| is_kept);
            pairs.extend(olds.filter_map(|(old, known)| {
                let is_same = match &serves {
                    Some(serves) => end(&self.old, &known.start).as_ref() == Some(serves),
                    None => {
                        let is_event = matches!(known.start, Start::Event { .. });
                        is_event && known.name == work.name && known.member == work.member
                    }
                };
                is_same.then_some((old, new))
            }));
        }
        pairs
    }

    fn old_of(&self, new: usize) -> Option<usize> {
        self.pairs.iter().find(|(_, after)| *after == new).map(|(old, _)| *old)
    }

    fn new_of(&self, old: usize) -> Option<usize> {
        self.pairs.iter().find(|(before, _)| *before == old).map(|(_, new)| *new)
    }

    /// A run with the preemption that it costs.
    fn of_old(&self, old: usize) -> i128 {
        self.old.run_of(&self.old.job.sporadics[old]) + wide(self.new.job.costs.preemption)
    }

    fn of_new(&self, new: usize) -> i128 {
        self.new.run_of(&self.new.job.sporadics[new]) + wide(self.new.job.costs.preemption)
    }

    /// Most runs of a kept work that can have come and not begun so long after the switch.
    fn unbegun(&self, new: usize, later: i128) -> Option<i128> {
        let bound = wide(self.old.plan.sporadics[self.old_of(new)?].response_bound);
        let interval = wide(self.new.job.sporadics[new].interval?);
        (bound < NEVER).then(|| rounded_up(bound + later, interval))
    }

    /// Old and new works on a core that are at this level or above, each but for one.
    fn urgent(
        &self,
        (core, level): (u32, u16),
        but: (Option<usize>, Option<usize>),
    ) -> (Vec<usize>, Vec<usize>) {
        let of = |side: &Checker<'_>, but: Option<usize>| {
            let planned = side.plan.sporadics.iter().enumerate();
            let urgent = planned.filter(|(_, work)| work.core == core && work.level >= level);
            urgent.map(|(index, _)| index).filter(|index| Some(*index) != but).collect()
        };
        (of(&self.old, but.0), of(&self.new, but.1))
    }

    /// The longest answer to work of this cost and interval on a core, beside these new works and after what is left over.
    fn played(&mut self, core: u32, own: (i128, i128), rivals: &[usize], left_over: i128) -> Option<i128> {
        let costs = &self.new.job.costs;
        let costs = (wide(costs.publish) + wide(costs.guard), wide(costs.preemption));
        let rival = |new: &usize| {
            let interval = wide(self.new.job.sporadics[*new].interval?);
            Some(Rival { cost: self.of_new(*new), interval })
        };
        let rivals: Vec<Rival> = rivals.iter().map(rival).collect::<Option<_>>()?;
        self.new.table(core).longest(own, &rivals, costs, left_over, &mut self.events)
    }

    /// How long after the switch the run of an old work that is under way at it ends.
    fn ends(&mut self, old: usize) -> Option<i128> {
        let planned = self.old.plan.sporadics[old];
        let own = self.new_of(old);
        let (olds, news) = self.urgent((planned.core, planned.level), (Some(old), own));
        let mut left_over: i128 = olds.iter().map(|other| self.of_old(*other)).sum();
        for new in news.iter().filter(|new| self.old_of(**new).is_some()) {
            left_over += self.unbegun(*new, 0)? * self.of_new(*new);
        }
        let cost = self.old.run_of(&self.old.job.sporadics[old]);
        self.played(planned.core, (cost, ONCE), &news, left_over)
    }

    /// Bounds are honest, and every deadline holds.
    fn works(&mut self, claimed: &Crossing) {
        let ends: Vec<Option<i128>> = (0..claimed.left.len()).map(|old| self.ends(old)).collect();
        let bound = |plan: &Plan, work: usize| {
            let bound = wide(plan.sporadics[work].response_bound);
            (bound < NEVER).then_some(bound)
        };
        let sum = |a: Option<i128>, b: Option<i128>| Some(a? + b?);
        let own = |old: usize| sum(bound(self.old.plan, old), ends[old]);
        let mut left: Vec<Option<i128>> = (0..claimed.left.len()).map(own).collect();
        let mut entered = Vec::new();
        for new in 0..claimed.entered.len() {
            let planned = self.new.plan.sporadics[new];
            let (olds, news) = self.urgent((planned.core, planned.level), (None, Some(new)));
            let backlog = |new: usize| match self.old_of(new) {
                Some(old) => Some(self.unbegun(new, ends[old]?)? * self.of_new(new)),
                None => Some(0),
            };
            let of_others: Option<i128> = news.iter().map(|other| backlog(*other)).sum();
            let of_runs: i128 = olds.iter().map(|old| self.of_old(*old)).sum();
            let (left_over, backlog) = (sum(of_others, Some(of_runs)), backlog(new));
            let declared = &self.new.job.sporadics[new];
            let (cost, interval) = (self.new.run_of(declared), declared.interval.map(wide));
            let mut first = None;
            let mut answered = None;
            if let (Some(left_over), Some(backlog), Some(interval)) = (left_over, backlog, interval) {
                first = self.played(planned.core, (cost, interval), &news, left_over + backlog);
                first = first.zip(bound(self.new.plan, new)).map(|(first, steady)| first.max(steady));
                answered = self.played(planned.core, (backlog.max(1), ONCE), &news, left_over);
            }
            if let Some(old) = self.old_of(new) {
                first = sum(first, ends[old]);
                left[old] = sum(left[old], answered);
            }
            entered.push(first);
        }
        let sides = [(&left, &claimed.left, false), (&entered, &claimed.entered, true)];
        for (found, said, is_after) in sides {
            for (work, (found, said)) in found.iter().zip(said).enumerate() {
                let found = found.map_or(NEVER, |found| found.min(NEVER));
                let job = if is_after { self.new.job } else { self.old.job };
                let place = format!("task `{}`", job.sporadics[work].name);
                self.require(
                    found == wide(*said),
                    &place,
                    "its bound across the switch is the longest response",
                    || format!("the planner says {said}, the longest is {}", shown(found)),
                );
            }
        }
        self.deadlines(claimed);
    }

    /// The claimed bounds, which are honest, are within the deadlines: of a channel those of both ends together.
    fn deadlines(&mut self, claimed: &Crossing) {
        for (old, work) in self.old.job.sporadics.iter().enumerate() {
            let Some(deadline) = work.deadline else { continue };
            let mut takes = wide(claimed.left[old]);
            if let Some(source) = source_of(self.old.job, old) {
                takes = match self.new_of(old) {
                    Some(new) => takes.max(wide(claimed.entered[new])) + wide(claimed.left[source]),
                    None => takes + wide(self.old.plan.sporadics[source].response_bound),
                };
            }
            self.within(&work.name, takes, deadline);
        }
        for (new, work) in self.new.job.sporadics.iter().enumerate() {
            let Some(deadline) = work.deadline else { continue };
            let source = source_of(self.new.job, new);
            let source = source.map_or(0, |source| wide(claimed.entered[source]));
            self.within(&work.name, wide(claimed.entered[new]) + source, deadline);
        }
    }

    fn within(&mut self, name: &str, takes: i128, deadline: Nanos) {
        let place = format!("task `{name}`");
        self.require(
            takes <= wide(deadline),
            &place,
            "it ends within its deadline across the switch",
            || format!("it can take {} of {deadline}", shown(takes)),
        );
    }
}

/// What sends for work that a message starts.
fn source_of(job: &Job, work: usize) -> Option<usize> {
    let Start::Message(channel) = job.sporadics[work].start else { return None };
    job.sporadics.iter().position(|other| other.start == Start::Request(channel))
}
