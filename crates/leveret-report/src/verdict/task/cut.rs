//! The time before a wake-up, cut where the cause changes though the core stays whose it was.

use super::Case;
use super::timer::WAY_OUT_OF_IDLE;
use crate::record::{EventKind, ThreadKind};
use crate::verdict::Stage;
use crate::verdict::occupancy::Stretch;
use leveret_types::Nanos;

/// `stretch` in two at each of these instants that lies within it, in order.
fn cut_at(stretch: &Stretch, instants: impl IntoIterator<Item = Nanos>) -> Vec<Stretch> {
    let mut parts = vec![stretch.clone()];
    for at in instants {
        if let Some(open) = parts.last_mut()
            && at > open.from
            && at < open.to
        {
            let rest = Stretch { from: at, ..open.clone() };
            open.to = at;
            parts.push(rest);
        }
    }
    parts
}

impl Case<'_> {
    /// A stretch without a core, cut where the thread was woken in it: until then it wanted none.
    pub(super) fn by_wake_up(&self, stretch: &Stretch) -> Vec<Stretch> {
        let wake = self.context.log.woken_from(self.task, self.thread, stretch.from);
        cut_at(stretch, wake.map(|wake| wake.at))
    }

    /// The parts of a stretch, each of one cause.
    pub(super) fn parts(&self, stretch: &Stretch) -> Vec<Stretch> {
        self.by_hold(stretch).iter().flat_map(|part| self.by_instance(part)).collect()
    }

    /// Cuts a stretch where the thread's control group was frozen or let go on, and where the thread was woken long after its time, if it was held
    /// in any of the parts: there, who had the core kept nobody from it.
    fn by_hold(&self, stretch: &Stretch) -> Vec<Stretch> {
        let member = self.context.index.member(self.task);
        let thread = u16::try_from(self.task).ok();
        let long_after = self.wake_due() + WAY_OUT_OF_IDLE;
        let within = self.context.phase().events.iter().filter(|event| {
            event.at > stretch.from
                && event.at < stretch.to
                && match &event.kind {
                    EventKind::Frozen { member: of, .. }
                    | EventKind::PutIntoFrozen { member: of, .. }
                    | EventKind::Thawed { member: of, .. } => Some(*of) == member,
                    EventKind::Woken { task, .. } => Some(*task) == thread && event.at > long_after,
                    _ => false,
                }
        });
        let mut instants: Vec<Nanos> = within.map(|event| event.at).collect();
        instants.sort_unstable();
        let parts = cut_at(stretch, instants);
        let is_held = |part: &Stretch| self.held(Stage::Wake, part, part.length(), "").is_some();
        if parts.len() > 1 && parts.iter().any(is_held) { parts } else { vec![stretch.clone()] }
    }

    /// Cuts the time that another task of the job had without a pause at the wake-ups of its instances: one may have
    /// been off its plan, and the next, which then began at once, not.
    fn by_instance(&self, stretch: &Stretch) -> Vec<Stretch> {
        let whole = || vec![stretch.clone()];
        let ThreadKind::Task(other) = stretch.who.kind else { return whole() };
        let other = usize::from(other);
        if other == self.task {
            return whole();
        }
        let instances = self.context.phase().tasks.get(other).map_or(&[][..], |record| &record.instances);
        let first = instances.partition_point(|record| record.woken <= stretch.from);
        let last = instances.partition_point(|record| record.woken < stretch.to).max(first);
        // One that was over before the thread came was long asleep: the way out of its sleep is the next one's.
        let began_at_once =
            |place: &usize| place.checked_sub(1).is_some_and(|before| instances[before].ended > stretch.from);
        cut_at(stretch, (first..last).filter(began_at_once).map(|place| instances[place].woken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::occupancy::Occupant;

    #[test]
    fn a_stretch_is_cut_at_what_lies_within_it() {
        let who = Occupant { thread: Some(7), kind: ThreadKind::Idle, process: None, name: String::new() };
        let stretch = Stretch { from: Nanos(10), to: Nanos(50), who, left: None };
        let cut = |instants: &[i64]| {
            let parts = cut_at(&stretch, instants.iter().map(|at| Nanos(*at)));
            parts.iter().map(|part| (part.from.0, part.to.0)).collect::<Vec<_>>()
        };
        assert_eq!(cut(&[]), [(10, 50)]);
        assert_eq!(cut(&[5, 10, 20, 20, 40, 50, 60]), [(10, 20), (20, 40), (40, 50)]);
    }
}
