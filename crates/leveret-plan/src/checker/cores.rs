//! What shares a core: occupancy, interruption, accounts.

use super::{Checker, wide};

/// What occupies a core: a guard or a segment.
struct Piece {
    from: i128,
    length: i128,
    /// Task and instance, where this is the first piece of an instance.
    begins: Option<(usize, usize)>,
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
            let mut apart = true;
            for (index, piece) in pieces.iter().enumerate() {
                let next = pieces.get(index + 1).map_or(pieces[0].from + self.round, |next| next.from);
                apart &= piece.from + piece.length <= next;
                gap = gap.max(next - piece.from - piece.length);
            }
            self.require(apart, place, "no two occupancies overlap");
            let share = i128::from(self.job.costs.utilisation_permille);
            self.require(used * 1000 <= self.round * share, place, "no more than its share is used");
            let accounts = (wide(core.used), wide(core.left), wide(core.longest_gap));
            self.require(
                accounts == (used, self.round - used, gap),
                place,
                "use, rest and longest gap are right",
            );
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
    fn pieces(&self, core: u32) -> Vec<Piece> {
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
                    self.require(
                        now == wide(hole[1].start),
                        place,
                        "it is interrupted by whole instances of higher order",
                    );
                }
                let run: i128 = instance.segments.iter().map(|s| wide(s.end) - wide(s.start)).sum();
                self.require(run == needed, place, "it runs for its budget and every cost charged to it");
            }
        }
    }
}
