//! Triggers of the kind time: fired at epoch + first + k * period, by one thread for all of a member. It also tells of the death of members
//! at the other end of a channel.
//!
//! Each instant is computed from the epoch, so lateness does not add up. An instant that has passed is fired at once: none is left out, the
//! firing's number says which it was, and its time how late it came.

use super::committed::CommittedEvents;
use super::departures::Succession;
use super::plan::EventPlan;
use super::wait::Words;
use leveret_memory::sync::Ordering;
use leveret_os::clock;
use leveret_types::Nanos;

/// A trigger's next instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Due {
    next: Nanos,
    /// 0: only once.
    period: Nanos,
    trigger: usize,
    /// It goes on from what ran before a mode.
    is_kept: bool,
}

impl Due {
    /// Its next instant, where it has fired so often since this epoch.
    fn after(self, epoch: Nanos, fired: u64) -> Self {
        let next = match (fired, self.period) {
            (0, _) => epoch + self.next,
            (_, Nanos::ZERO) => Nanos::MAX,
            (fired, period) => {
                let passed = period.saturating_mul(i64::try_from(fired).unwrap_or(i64::MAX));
                (epoch + self.next).saturating_add(passed)
            }
        };
        Self { next, ..self }
    }
}

/// The first instants of every trigger of the kind time, from the epoch on.
pub(super) fn first_instants(plan: &EventPlan) -> Vec<Due> {
    let timed = plan.triggers.iter().enumerate();
    timed
        .filter_map(|(trigger, planned)| {
            let (first, period) = planned.times?;
            let is_kept = planned.kept.is_some();
            Some(Due { next: first, period, trigger, is_kept })
        })
        .collect()
}

/// The trigger that is due first, if it is due by `now`; it is moved on.
fn take_due(dues: &mut [Due], now: Nanos) -> Option<usize> {
    let first = dues.iter_mut().min_by_key(|due| due.next)?;
    if first.next > now {
        return None;
    }
    first.next = if first.period == Nanos::ZERO { Nanos::MAX } else { first.next + first.period };
    Some(first.trigger)
}

/// Fires until the commit ends, from when `begin` returns.
pub(super) fn serve(mut dues: Vec<Due>, epoch: Nanos, events: &CommittedEvents, begin: impl FnOnce()) {
    let watch = &events.watch;
    let mut kept: Vec<Due> = dues.iter().copied().filter(|due| due.is_kept).collect();
    for due in &mut dues {
        *due = if due.is_kept { Due { next: Nanos::MAX, ..*due } } else { due.after(epoch, 0) };
        // Set once, by the timer of the set in which it began.
        let _ = events.triggers[due.trigger].state.origin.set(epoch);
    }
    let mut mourners = events.mourners();
    begin();
    loop {
        let mut words = Words::new();
        words.push(watch.bell());
        let before = events.timer.as_ref().filter(|before| !before.may_begin());
        before.into_iter().for_each(|before| words.push(before.awaited()));
        let (now, stop) = (clock::now(), watch.stop_at());
        if now >= stop {
            return;
        }
        let may_succeed = events.timer.as_ref().is_none_or(Succession::may_begin);
        if may_succeed {
            for due in kept.drain(..) {
                let state = &events.triggers[due.trigger].state;
                let epoch = state.origin.get().copied().unwrap_or(epoch);
                let place = dues.iter_mut().find(|known| known.trigger == due.trigger);
                place.into_iter().for_each(|place| *place = due.after(epoch, state.end.fired()));
            }
        }
        mourners.retain(|(trigger, member)| {
            let trigger = &events.triggers[*trigger];
            if trigger.is_kept && !may_succeed {
                return true;
            }
            if trigger.is_kept && trigger.state.has_mourned.load(Ordering::Relaxed) {
                return false;
            }
            let is_dead = watch.is_dead(*member);
            if is_dead {
                trigger.fire(now);
                trigger.state.has_mourned.store(true, Ordering::Relaxed);
            }
            !is_dead
        });
        match take_due(&mut dues, now) {
            Some(trigger) => events.triggers[trigger].fire(now),
            None => {
                let next = dues.iter().map(|due| due.next).min().unwrap_or(Nanos::MAX);
                words.sleep(std::iter::empty(), next.min(stop));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(next: i64, period: i64, trigger: usize) -> Due {
        Due { next: Nanos(next), period: Nanos(period), trigger, is_kept: false }
    }

    // spec: EVENT-TRIGGER-TIME-01, EVENT-TRIGGER-TIME-02, EVENT-TRIGGER-TIME-03
    #[test]
    fn every_instant_is_fired_in_order_however_late() {
        let mut dues = [due(100, 30, 0), due(110, 0, 1)];
        assert_eq!(take_due(&mut dues, Nanos(99)), None);
        assert_eq!(take_due(&mut dues, Nanos(100)), Some(0));
        let fired: Vec<usize> = std::iter::from_fn(|| take_due(&mut dues, Nanos(190))).collect();
        assert_eq!(fired, [1, 0, 0, 0], "110 once; 130, 160 and 190, though it is late for the first two");
        assert_eq!(dues, [due(220, 30, 0), due(Nanos::MAX.0, 0, 1)], "counted from the epoch, without drift");
    }

    // spec: MODE-KEEP-03
    #[test]
    fn a_kept_trigger_goes_on_where_it_was() {
        let (once, periodic) = (due(100, 0, 0), due(100, 30, 1));
        assert_eq!(
            (once.after(Nanos(1000), 0).next, periodic.after(Nanos(1000), 0).next),
            (Nanos(1100), Nanos(1100))
        );
        assert_eq!(
            (once.after(Nanos(1000), 1).next, periodic.after(Nanos(1000), 3).next),
            (Nanos::MAX, Nanos(1190))
        );
        assert_eq!(periodic.after(Nanos(1000), u64::MAX).next, Nanos::MAX);
    }
}
