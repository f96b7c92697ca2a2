//! Starts that are moved within their windows, where no epoch keeps all of them away from the tick.
//!
//! ```text
//!  plan, modulo g    |A B  C D E F  G H I J  K L M N|     wherever the epoch lies, the tick meets one
//!  H moved           |A B  C D E F  G    HI J K L M N|    the tick falls where H was
//! ```

use super::{AFTER, BEFORE, PLACES, Ticks};
use leveret_plan::{Job, Move, Plan, moved};
use leveret_types::Nanos;

/// What is left between a start and the tick that it was moved away from.
const BESIDE: i64 = 2_000;
/// Instances of a plan in which starts are moved: each of the places is tried with each of them.
const INSTANCES_MAX: usize = 500;

/// One instance on a core whose tick is known.
#[derive(Clone, Copy)]
struct Slot {
    task: usize,
    instance: usize,
    core: u32,
    phase: i64,
    start: i64,
    end: i64,
    /// Its window; empty of one that others interrupt.
    window: [i64; 2],
}

/// All of them, and what they share.
struct Table {
    slots: Vec<Slot>,
    hyperperiod: i64,
    guard: i64,
    circle: i64,
}

impl Ticks {
    /// The plan with as few starts moved as keep the tick away from most, and how many those are; `None` where the epoch alone keeps it away
    /// from all, or no move helps.
    pub(crate) fn apart(&self, job: &Job, plan: &Plan) -> Option<(Plan, usize)> {
        let circle = self.circle(plan).filter(|circle| *circle >= BEFORE + AFTER)?;
        let table = self.table(plan, circle);
        if table.slots.len() > INSTANCES_MAX {
            return None;
        }
        let tried = (0..PLACES).map(|place| circle * place / PLACES).map(|place| {
            let moves = table.moves(place);
            (table.hits(place) - moves.len(), moves)
        });
        let (_, moves) = tried.min_by_key(|(left, moves)| (*left, moves.len()))?;
        if moves.is_empty() {
            return None;
        }
        Some((moved(job, plan, &moves)?, moves.len()))
    }

    fn table(&self, plan: &Plan, circle: i64) -> Table {
        let mut slots = Vec::new();
        for (task, planned) in plan.tasks.iter().enumerate() {
            let Some(tick) = self.0.iter().find(|tick| tick.core == planned.core) else { continue };
            slots.extend(planned.instances.iter().enumerate().map(|(instance, one)| {
                let window = match one.segments.len() {
                    1 => [one.earliest.0, one.latest.0],
                    _ => [0, 0],
                };
                let (start, end) = (one.start().0, one.end().0);
                Slot { task, instance, core: planned.core, phase: tick.phase.0, start, end, window }
            }));
        }
        Table { slots, hyperperiod: plan.hyperperiod.0, guard: plan.costs.guard.0, circle }
    }
}

impl Table {
    /// From a start to the tick that meets it, with the epoch at `place`: just after it, or before it.
    fn met(&self, slot: &Slot, place: i64) -> Option<i64> {
        let until_next = (slot.phase - slot.start - place).rem_euclid(self.circle);
        let since_last = self.circle - until_next;
        let before = || (since_last <= BEFORE).then_some(-since_last);
        (until_next <= AFTER).then_some(until_next).or_else(before)
    }

    fn hits(&self, place: i64) -> usize {
        self.slots.iter().filter(|slot| self.met(slot, place).is_some()).count()
    }

    /// Moves that keep the tick away from starts that it meets with the epoch at `place`, as far as there is room.
    fn moves(&self, place: i64) -> Vec<Move> {
        let mut slots = self.slots.clone();
        let mut moves = Vec::new();
        for index in 0..slots.len() {
            let slot = slots[index];
            let Some(tick) = self.met(&slot, place) else { continue };
            let mut ways = [tick + BEFORE + BESIDE, tick - AFTER - BESIDE];
            ways.sort_by_key(|by| by.abs());
            let elsewhere = |by: i64| Slot { start: slot.start + by, end: slot.end + by, ..slot };
            let fits = |by: &i64| self.fits(&slots, index, &elsewhere(*by), place);
            if let Some(by) = ways.into_iter().find(fits) {
                slots[index] = elsewhere(by);
                moves.push(Move { task: slot.task, instance: slot.instance, by: Nanos(by) });
            }
        }
        moves
    }

    /// Whether an instance can lie there: within its window, beside all others of its core, and away from the tick.
    fn fits(&self, slots: &[Slot], index: usize, there: &Slot, place: i64) -> bool {
        let in_window = there.start >= there.window[0] && there.end <= there.window[1];
        let beside = |other: &Slot| {
            let from = |slot: &Slot| slot.start - self.guard;
            let [length, others] = [there, other].map(|slot| slot.end - from(slot));
            let after = (from(other) - from(there)).rem_euclid(self.hyperperiod);
            after >= length && after + others <= self.hyperperiod
        };
        let others =
            slots.iter().enumerate().filter(|(other, slot)| *other != index && slot.core == there.core);
        in_window && self.met(there, place).is_none() && others.map(|(_, other)| other).all(beside)
    }
}

#[cfg(test)]
#[path = "apart_tests.rs"]
mod tests;
