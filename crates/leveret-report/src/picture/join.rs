//! Pictures of parts in one: each repeated until all have the same round, their rows below each other.

use super::{Arrow, Bar, Instance, Picture};
use leveret_types::Nanos;

impl Picture {
    /// The same so many times, one after the other: one round of all.
    pub(super) fn repeated(mut self, turns: i64) -> Self {
        if turns <= 1 {
            return self;
        }
        let mut counts = vec![0u32; self.groups.len()];
        for instance in &self.instances {
            let count = &mut counts[instance.group as usize];
            *count = (*count).max(instance.number + 1);
        }
        let (instances, bars) = (self.instances.len() as u32, self.bars.len() as u32);
        let (mut all, mut slots, mut arrows) = (Vec::new(), Vec::new(), Vec::new());
        for turn in 0..turns {
            let later = self.round.saturating_mul(turn);
            let place = turn as u32;
            all.extend(self.instances.iter().map(|one| Instance {
                number: one.number + place * counts[one.group as usize],
                earliest: one.earliest + later,
                latest: one.latest + later,
                end: one.end + later,
                ..*one
            }));
            slots.extend(self.bars.iter().map(|bar| Bar {
                instance: bar.instance + place * instances,
                start: bar.start + later,
                after: bar.after.map(|after| after + place * bars),
                ..*bar
            }));
            arrows.extend(self.arrows.iter().map(|arrow| Arrow {
                from: arrow.from + place * bars,
                to: arrow.to + (turn + arrow.rounds).rem_euclid(turns) as u32 * bars,
                rounds: (turn + arrow.rounds).div_euclid(turns),
                at: arrow.at + later,
                ..*arrow
            }));
        }
        (self.instances, self.bars, self.arrows) = (all, slots, arrows);
        self.round = self.round.saturating_mul(turns);
        self.span = (Nanos::ZERO, self.round);
        self
    }

    /// Puts another picture of the same round below this one.
    pub(super) fn join(&mut self, other: Self) {
        let (rows, groups) = (self.rows.len() as u32, self.groups.len() as u32);
        let (instances, bars) = (self.instances.len() as u32, self.bars.len() as u32);
        self.rows.extend(other.rows);
        self.groups.extend(other.groups);
        self.instances
            .extend(other.instances.into_iter().map(|one| Instance { group: one.group + groups, ..one }));
        self.bars.extend(other.bars.into_iter().map(|bar| Bar {
            row: bar.row + rows,
            instance: bar.instance + instances,
            after: bar.after.map(|after| after + bars),
            ..bar
        }));
        self.arrows.extend(other.arrows.into_iter().map(|arrow| Arrow {
            group: arrow.group + groups,
            from: arrow.from + bars,
            to: arrow.to + bars,
            ..arrow
        }));
    }
}
