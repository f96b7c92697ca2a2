//! What shares a core: occupancy, interruption, accounts.

use super::{Checker, shown, wide};
use crate::{Job, Plan};

/// What occupies a core: a guard or a segment.
pub(super) struct Piece {
    pub(super) from: i128,
    pub(super) length: i128,
    /// Task and instance.
    owner: (usize, usize),
    /// Task and instance, where this is the first piece of an instance.
    begins: Option<(usize, usize)>,
}

/// An instance with its task and when it runs.
fn words((plan, job): (&Plan, &Job), (task, k): (usize, usize)) -> String {
    let instance = &plan.tasks[task].instances[k];
    format!("task `{}` instance {k} from {} to {}", job.tasks[task].name, instance.start(), instance.end())
}

impl Checker<'_> {
    /// No two things on a core at once; interruptions only by higher orders and fully charged; accounts right.
    pub(super) fn cores(&mut self) {
        let mut orders = vec![0; self.plan.tasks.len()];
        for core in &self.plan.cores {
            let place = || format!("core {}", core.core);
            let pieces = self.pieces(core.core);
            let used: i128 = pieces.iter().map(|piece| piece.length).sum();
            let mut gap = if pieces.is_empty() { self.round } else { 0 };
            let mut collision = None;
            for (index, piece) in pieces.iter().enumerate() {
                let next = pieces.get(index + 1).map_or(pieces[0].from + self.round, |next| next.from);
                if collision.is_none() && piece.from + piece.length > next {
                    let other = pieces.get(index + 1).unwrap_or(&pieces[0]);
                    collision = Some((piece.owner, other.owner, next));
                }
                gap = gap.max(next - piece.from - piece.length);
            }
            let apart = collision.is_none();
            let (plan_and_job, round) = ((self.plan, self.job), self.round);
            self.require_found(apart, place, "no two occupancies overlap", || {
                let Some((first, second, at)) = collision else { return String::new() };
                let [first, second] = [first, second].map(|owner| words(plan_and_job, owner));
                format!("{first} and {second}, guards included, at {}", shown(at.rem_euclid(round)))
            });
            let share = i128::from(self.job.costs.utilisation_permille);
            let round = shown(self.round);
            self.require_found(
                used * 1000 <= self.round * share,
                place,
                "no more than its share is used",
                || format!("{} of {round} are used, {share} per mille may be", shown(used)),
            );
            let accounts = (wide(core.used), wide(core.left), wide(core.longest_gap));
            let beside = self.beside(core.core, self.round - used);
            self.require_found(
                wide(core.sporadic) == beside,
                place,
                "what work beside the table may use is right",
                || format!("the plan says {}, it is {}", core.sporadic, shown(beside)),
            );
            let right = (used, self.round - used - beside, gap);
            self.require_found(accounts == right, place, "use, rest and longest gap are right", || {
                let [used, left, gap] = [right.0, right.1, right.2].map(shown);
                let (plan_used, plan_left, plan_gap) = (core.used, core.left, core.longest_gap);
                format!("the plan says {plan_used}, {plan_left} and {plan_gap}, its instances make {used}, {left} and {gap}")
            });
            if apart {
                self.lengths(core.core, &pieces, &mut orders);
            }
        }
        for (planned, order) in self.plan.tasks.iter().zip(orders) {
            let place = || format!("task `{}`", self.job.tasks[planned.task.index()].name);
            self.require(
                planned.order == order,
                place,
                "its order is the least above all that it interrupts",
            );
        }
    }

    /// All that occupies a core, sorted on the circle of the hyperperiod.
    pub(super) fn pieces(&self, core: u32) -> Vec<Piece> {
        let guard = wide(self.job.costs.guard);
        let mut pieces = Vec::new();
        for (task, planned) in self.plan.tasks.iter().enumerate().filter(|(_, planned)| planned.core == core)
        {
            for (k, instance) in planned.instances.iter().enumerate() {
                let mut begins = Some((task, k));
                let mut add = |from: i128, length: i128| {
                    if length > 0 {
                        pieces.push(Piece {
                            from: from.rem_euclid(self.round),
                            length,
                            owner: (task, k),
                            begins: begins.take(),
                        });
                    }
                };
                add(wide(instance.start()) - guard, guard);
                instance.segments.iter().for_each(|s| add(wide(s.start), wide(s.end) - wide(s.start)));
            }
        }
        pieces.sort_by_key(|piece| piece.from);
        pieces
    }

    /// Each hole in an instance is filled, without rest, by whole instances; each of these costs it a preemption.
    fn lengths(&mut self, core: u32, pieces: &[Piece], orders: &mut [u16]) {
        for (planned, task) in
            self.plan.tasks.iter().zip(&self.job.tasks).filter(|(planned, _)| planned.core == core)
        {
            for (k, instance) in planned.instances.iter().enumerate() {
                let place = || format!("task `{}` instance {k}", task.name);
                let mut needed = self.charged(task);
                for hole in instance.segments.windows(2) {
                    let mut now = wide(hole[0].end);
                    while now < wide(hole[1].start) {
                        let at = now.rem_euclid(self.round);
                        let found = pieces.binary_search_by_key(&at, |piece| piece.from).ok();
                        let Some((inner, inner_k)) = found.and_then(|found| pieces[found].begins) else {
                            break;
                        };
                        let inner_task = &self.plan.tasks[inner];
                        if inner_task.order <= planned.order {
                            break;
                        }
                        let inner_instance = &inner_task.instances[inner_k];
                        now += wide(inner_instance.end()) - wide(inner_instance.start())
                            + wide(self.job.costs.guard);
                        orders[inner] = orders[inner].max(planned.order.saturating_add(1));
                        needed += wide(self.job.costs.preemption);
                    }
                    self.require_found(
                        now == wide(hole[1].start),
                        place,
                        "it is interrupted by whole instances of higher order",
                        || format!("it is interrupted from {} to {}", hole[0].end, hole[1].start),
                    );
                }
                let run: i128 = instance.segments.iter().map(|s| wide(s.end) - wide(s.start)).sum();
                self.require_found(
                    run == needed,
                    place,
                    "it runs for its budget and every cost charged to it",
                    || {
                        let (start, end) = (instance.start(), instance.end());
                        format!(
                            "from {start} to {end} it runs for {}, and needs {}",
                            shown(run),
                            shown(needed)
                        )
                    },
                );
            }
        }
    }
}
