//! Triggers of the kind time: fired at epoch + first + k * period, by one thread for all of a member. It also tells of the death of members
//! at the other end of a channel.
//!
//! Each instant is computed from the epoch, so lateness does not add up. An instant that has passed is fired at once: none is left out, the
//! firing's number says which it was, and its time how late it came.

use super::committed::CommittedEvents;
use super::plan::EventPlan;
use super::wait::Words;
use leveret_os::clock;
use leveret_types::Nanos;

/// A trigger's next instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Due {
    next: Nanos,
    /// 0: only once.
    period: Nanos,
    trigger: usize,
}

/// The first instants of every trigger of the kind time, from the epoch on.
pub(super) fn first_instants(plan: &EventPlan) -> Vec<Due> {
    let timed = plan.triggers.iter().enumerate();
    timed
        .filter_map(|(trigger, planned)| {
            let (first, period) = planned.times?;
            Some(Due { next: first, period, trigger })
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

/// Fires until the commit ends.
pub(super) fn serve(mut dues: Vec<Due>, epoch: Nanos, events: &CommittedEvents) {
    let watch = &events.watch;
    dues.iter_mut().for_each(|due| due.next = epoch + due.next);
    let mut mourners = events.mourners();
    loop {
        let mut words = Words::new();
        words.push(watch.bell());
        let (now, stop) = (clock::now(), watch.stop_at());
        if now >= stop {
            return;
        }
        mourners.retain(|(trigger, member)| {
            let is_dead = watch.is_dead(*member);
            if is_dead {
                events.triggers[*trigger].fire(now);
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
        Due { next: Nanos(next), period: Nanos(period), trigger }
    }

    // spec: EVENT-TRIGGER-TIME-01, EVENT-TRIGGER-TIME-02
    #[test]
    fn every_instant_is_fired_in_order_however_late() {
        let mut dues = [due(100, 30, 0), due(110, 0, 1)];
        assert_eq!(take_due(&mut dues, Nanos(99)), None);
        assert_eq!(take_due(&mut dues, Nanos(100)), Some(0));
        let fired: Vec<usize> = std::iter::from_fn(|| take_due(&mut dues, Nanos(190))).collect();
        assert_eq!(fired, [1, 0, 0, 0], "110 once; 130, 160 and 190, though it is late for the first two");
        assert_eq!(dues, [due(220, 30, 0), due(Nanos::MAX.0, 0, 1)], "counted from the epoch, without drift");
    }
}
