//! Work at priorities across a switch: what of the plan before is left over at it, and how long that and what comes in the plan after
//! can take.
//!
//! ```text
//!  before  ...|==urgent==|--own------.                         at most one run of each work has begun and not ended
//!  after                              |~own~|==new==|~own~|    and is left over beside the work of the mode
//!                                     the switch
//! ```
//! No run of the plan before begins at or after the switch, so of each of its works one run at most is left over; of a kept work also
//! what has come and not begun, which is as much as can come within its bound. Both plans' levels map to priorities of the kernel in
//! the same way, so they compare. Wherever a busy window begins, what is left over that is as urgent or more is added once to what is
//! asked of it. The argument stands in `docs/planner.md`.

use crate::continuation::Kept;
use crate::sporadic::{Charges, Load, Reserved, Response, STEPS_MAX, Steps, load, other_end, response_after};
use crate::transition::TransitionConflict;
use crate::{Job, Plan, Start};
use leveret_types::Nanos;

/// A switch between two plans as far as work at priorities goes: what the checker verifies.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Crossing {
    /// Per sporadic work of the plan before: the longest response to what comes before the switch and is answered after it.
    /// [`Nanos::MAX`]: no bound.
    pub left: Vec<Nanos>,
    /// Per sporadic work of the plan after: its longest response, to what comes just after the switch too.
    pub entered: Vec<Nanos>,
}

/// An interval that no second run comes within.
const ONCE: i64 = i64::MAX / 4;

/// Which work of the plan before each work of the plan after goes on with.
pub(crate) fn predecessors(before: &Job, after: &Job, kept: &Kept) -> Vec<Option<usize>> {
    let channel_before = |channel: leveret_types::ChannelId| {
        let after = kept.channels.contains(&channel).then(|| after.channels.get(channel.index()))??;
        let same = |known: &crate::Channel| known.name == after.name && known.group == after.group;
        before.channels.iter().position(same)
    };
    let find = |start: Start| before.sporadics.iter().position(|known| known.start == start);
    let of_work = |(index, work): (usize, &crate::Sporadic)| {
        let id = |index: usize| leveret_types::ChannelId(index as u16);
        match work.start {
            Start::Message(channel) => find(Start::Message(id(channel_before(channel)?))),
            Start::Request(channel) => find(Start::Request(id(channel_before(channel)?))),
            Start::Event { .. } => {
                let is_kept = kept.works.iter().any(|kept| usize::from(*kept) == index);
                let same = |known: &crate::Sporadic| known.name == work.name && known.member == work.member;
                before.sporadics.iter().position(same).filter(|_| is_kept)
            }
        }
    };
    after.sporadics.iter().enumerate().map(of_work).collect()
}

/// Bounds across the switch, and whether each deadline holds.
pub(crate) fn crossing(
    before: (&Job, &Plan),
    after: (&Job, &Plan),
    kept: &Kept,
) -> (Crossing, Vec<TransitionConflict>) {
    let mut analysis = Analysis::new(before, after, kept);
    let delayed: Vec<Option<i64>> = (0..analysis.old.len()).map(|old| analysis.delayed(old)).collect();
    let backlogs = analysis.backlogs(&delayed);
    let mut left: Vec<Option<i64>> =
        (0..analysis.old.len()).map(|old| analysis.left(old, &delayed)).collect();
    let mut entered = Vec::with_capacity(analysis.new.len());
    for new in 0..analysis.new.len() {
        let (first, of_backlog) = analysis.entered(new, &delayed, &backlogs);
        entered.push(first);
        if let Some(old) = analysis.goes_on[new] {
            left[old] = left[old].zip(of_backlog).map(|(left, backlog)| left.saturating_add(backlog));
        }
    }
    let told = |bound: &Option<i64>| bound.map_or(Nanos::MAX, Nanos);
    let crossing =
        Crossing { left: left.iter().map(told).collect(), entered: entered.iter().map(told).collect() };
    let conflicts = late(before, after, &analysis.goes_on, &crossing);
    (crossing, conflicts)
}

/// One side's work on a core.
struct Work {
    load: Load,
    core: u32,
    level: u16,
    /// Of the plan by itself; `None`: it has none.
    bound: Option<i64>,
}

struct Analysis<'a> {
    after: &'a Plan,
    old: Vec<Work>,
    new: Vec<Work>,
    goes_on: Vec<Option<usize>>,
    charges: Charges,
    steps: Steps,
}

fn works(job: &Job, plan: &Plan) -> Vec<Work> {
    let pairs = job.sporadics.iter().zip(&plan.sporadics);
    let work = |(declared, planned): (&crate::Sporadic, &crate::PlannedSporadic)| Work {
        load: load(job, declared),
        core: planned.core,
        level: planned.level,
        bound: (planned.response_bound != Nanos::MAX).then_some(planned.response_bound.0),
    };
    pairs.map(work).collect()
}

impl<'a> Analysis<'a> {
    fn new(before: (&Job, &Plan), after: (&'a Job, &'a Plan), kept: &Kept) -> Self {
        let costs = &after.0.costs;
        Self {
            after: after.1,
            old: works(before.0, before.1),
            new: works(after.0, after.1),
            goes_on: predecessors(before.0, after.0, kept),
            charges: Charges { delay: (costs.publish + costs.guard).0, preemption: costs.preemption.0 },
            steps: Steps(STEPS_MAX),
        }
    }

    /// How many runs of a kept work can wait for the switch, when so much time passes besides until the first can begin.
    fn waiting(&self, new: usize, besides: i64) -> Option<i64> {
        let (old, interval) = (&self.old[self.goes_on[new]?], self.new[new].load.interval?);
        let time = old.bound?.saturating_add(besides);
        Some(time.saturating_add(interval - 1) / interval)
    }

    fn run(&self, work: &Work) -> i64 {
        work.load.cost.saturating_add(self.charges.preemption)
    }

    /// What runs of the plan before leave over on a core for whoever has this level, but for one of them.
    fn left_over(&self, core: u32, level: u16, but: Option<usize>) -> i64 {
        let there = self
            .old
            .iter()
            .enumerate()
            .filter(|(index, work)| Some(*index) != but && work.core == core && work.level >= level);
        there.map(|(_, work)| self.run(work)).fold(0, i64::saturating_add)
    }

    /// The longest time of one stretch of work at this place, beside the new works but for one, after what is left over.
    fn answer(
        &mut self,
        (core, level): (u32, u16),
        (cost, interval): (i64, i64),
        (left_over, but): (i64, Option<usize>),
    ) -> Option<i64> {
        let rivals = self
            .new
            .iter()
            .enumerate()
            .filter(|(index, work)| Some(*index) != but && work.core == core && work.level >= level);
        let rivals: Vec<Load> = rivals.map(|(_, work)| work.load).collect();
        let table = Reserved::of(self.after, core, |_| true);
        let own = Load { priority: 0, cost, interval: Some(interval), deadline: None };
        match response_after(&table, (&own, left_over), &rivals, self.charges, &mut self.steps) {
            Response::Bound(bound) => Some(bound),
            Response::Unbounded | Response::GaveUp => None,
        }
    }

    /// How long after the switch a run that is left over ends at the latest.
    fn delayed(&mut self, old: usize) -> Option<i64> {
        let Work { load, core, level, .. } = self.old[old];
        let mut left_over = self.left_over(core, level, Some(old));
        let own = self.goes_on.iter().position(|before| *before == Some(old));
        for new in 0..self.new.len() {
            let work = &self.new[new];
            let is_there = work.core == core && work.level >= level && Some(new) != own;
            if is_there && self.goes_on[new].is_some() {
                left_over = left_over.saturating_add(self.waiting(new, 0)?.saturating_mul(self.run(work)));
            }
        }
        self.answer((core, level), (load.cost, ONCE), (left_over, own))
    }

    /// The longest response of what comes before the switch, but for what a kept work leaves to its successor.
    fn left(&self, old: usize, delayed: &[Option<i64>]) -> Option<i64> {
        Some(self.old[old].bound?.saturating_add(delayed[old]?))
    }

    /// Per new work, what its predecessor has not begun, as time; 0 where it has none, `None` where that has no limit.
    fn backlogs(&self, delayed: &[Option<i64>]) -> Vec<Option<i64>> {
        let backlog = |new: usize| {
            let Some(old) = self.goes_on[new] else { return Some(0) };
            Some(self.waiting(new, delayed[old]?)?.saturating_mul(self.run(&self.new[new])))
        };
        (0..self.new.len()).map(backlog).collect()
    }

    /// The longest response to what comes after the switch, and, of a kept work, how long after its predecessor's last run all that
    /// had come is answered.
    fn entered(
        &mut self,
        new: usize,
        delayed: &[Option<i64>],
        backlogs: &[Option<i64>],
    ) -> (Option<i64>, Option<i64>) {
        let Work { load, core, level, bound } = self.new[new];
        let mut left_over = Some(self.left_over(core, level, None));
        for (other, backlog) in backlogs.iter().enumerate() {
            let work = &self.new[other];
            if other != new && work.core == core && work.level >= level {
                left_over = left_over.zip(*backlog).map(|(sum, backlog)| sum.saturating_add(backlog));
            }
        }
        let (Some(left_over), Some(own), Some(interval)) = (left_over, backlogs[new], load.interval) else {
            return (None, None);
        };
        let place = (core, level);
        let all = left_over.saturating_add(own);
        let first = self.answer(place, (load.cost, interval), (all, Some(new)));
        let first = first.zip(bound).map(|(first, bound)| first.max(bound));
        let Some(old) = self.goes_on[new] else { return (first, None) };
        let of_backlog = self.answer(place, (own.max(1), ONCE), (left_over, Some(new)));
        (first.zip(delayed[old]).map(|(first, delay)| first.saturating_add(delay)), of_backlog)
    }
}

/// Every deadline that does not hold across the switch.
fn late(
    (job_before, plan_before): (&Job, &Plan),
    (job_after, plan_after): (&Job, &Plan),
    goes_on: &[Option<usize>],
    crossing: &Crossing,
) -> Vec<TransitionConflict> {
    let mut conflicts = Vec::new();
    let mut require = |job: &Job, work: usize, is_after: bool, core: u32, takes: Nanos| {
        let declared = &job.sporadics[work];
        if let Some(deadline) = declared.deadline.filter(|deadline| takes > *deadline) {
            let work = declared.name.clone();
            conflicts.push(TransitionConflict::AtPriority { work, is_after, core, takes, deadline });
        }
    };
    for (work, left) in crossing.left.iter().enumerate() {
        let mut takes = *left;
        // A message that the source sends before or after the switch reaches a target that is kept in either plan.
        if let (Start::Message(_), Some(source)) =
            (&job_before.sporadics[work].start, other_end(job_before, work))
        {
            let kept = goes_on.iter().position(|before| *before == Some(work));
            let target = kept.map_or(*left, |new| crossing.entered[new].max(*left));
            let sent = if kept.is_some() {
                crossing.left[source]
            } else {
                plan_before.sporadics[source].response_bound
            };
            takes = sent.saturating_add(target);
        }
        require(job_before, work, false, plan_before.sporadics[work].core, takes);
    }
    for (work, entered) in crossing.entered.iter().enumerate() {
        let mut takes = *entered;
        if let (Start::Message(_), Some(source)) =
            (&job_after.sporadics[work].start, other_end(job_after, work))
        {
            takes = takes.saturating_add(crossing.entered[source]);
        }
        require(job_after, work, true, plan_after.sporadics[work].core, takes);
    }
    conflicts
}
