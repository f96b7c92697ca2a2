//! Members that should have stopped, or changed the mode, and have not: how long they are waited for. One that wants to go on and is not
//! given a core is not ended for it, nor for time in which the agent itself was kept from looking.

use crate::patience::FINISH_WITHIN;
use leveret_os::threads_of;
use leveret_types::{MemberId, Nanos};
use std::collections::HashMap;

/// What a thread of a member waited for a core adds to the member's time, up to this.
const STARVED_MOST: Nanos = Nanos::from_secs(60);
/// A member that is late for less is not looked at: nearly all are, for a moment.
const LOOKED_AT_AFTER: Nanos = Nanos::from_secs(1);
/// How often one that has had its time is looked at.
const LOOK_AGAIN: Nanos = Nanos::from_millis(500);

/// How long each thread of a process has waited for a core since it began.
type Waits = HashMap<u32, Nanos>;

/// The members that are late now.
#[derive(Default)]
pub(crate) struct Lateness {
    /// What they are late for.
    due: Nanos,
    late: HashMap<MemberId, Late>,
}

struct Late {
    since: Nanos,
    /// When it is looked at next.
    look: Nanos,
    /// What its threads had waited when it was first looked at.
    before: Option<Waits>,
}

impl Lateness {
    /// Those of the members that are late for the instant `due` that have had their time. Each comes with the number of its process; who is
    /// not named is not late any more, and who is late for another instant begins anew.
    pub(crate) fn over(&mut self, due: Nanos, late: &[(MemberId, u32)], now: Nanos) -> Vec<MemberId> {
        if due != self.due {
            (self.due, self.late) = (due, HashMap::new());
        }
        self.over_with(late, now, waits_of)
    }

    fn over_with(
        &mut self,
        late: &[(MemberId, u32)],
        now: Nanos,
        waits: impl Fn(u32) -> Waits,
    ) -> Vec<MemberId> {
        self.late.retain(|member, _| late.iter().any(|(other, _)| other == member));
        let mut over = Vec::new();
        for &(member, process) in late {
            let fresh = || Late { since: now, look: now + LOOKED_AT_AFTER, before: None };
            let known = self.late.entry(member).or_insert_with(fresh);
            if now <= known.look {
                continue;
            }
            let Some(before) = &known.before else {
                known.before = Some(waits(process));
                known.look = known.since + FINISH_WITHIN;
                continue;
            };
            known.look = now + LOOK_AGAIN;
            let starved = longest(before, &waits(process)).min(STARVED_MOST);
            if now - known.since > FINISH_WITHIN + starved {
                over.push(member);
            }
        }
        over
    }

    /// The agent was kept from looking for so long: nobody's fault, and most likely nobody else could run.
    pub(crate) fn hold(&mut self, lost: Nanos) {
        for late in self.late.values_mut() {
            late.since = late.since + lost;
            late.look = late.look + lost;
        }
    }
}

/// The longest that one thread has waited from the one look to the other.
fn longest(before: &Waits, now: &Waits) -> Nanos {
    let since = |(thread, waited): (&u32, &Nanos)| {
        *waited - before.get(thread).copied().unwrap_or(Nanos::ZERO).min(*waited)
    };
    now.iter().map(since).max().unwrap_or(Nanos::ZERO)
}

/// None of a process that has ended, or where the kernel keeps no account: then the time is the clock's.
fn waits_of(process: u32) -> Waits {
    let threads = threads_of::threads(process).unwrap_or_default();
    threads.into_iter().filter_map(|thread| Some((thread, threads_of::run_delay(thread).ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMBER: MemberId = MemberId(1);
    const LATE: [(MemberId, u32); 1] = [(MEMBER, 77)];

    fn seconds(count: i64) -> Nanos {
        Nanos::from_secs(count)
    }

    /// In which second a member is over that is late from second 10 on, where its threads wait for so many of each hundred parts of time.
    fn over_at(waiting: [i64; 2], hold: Option<(i64, i64)>) -> i64 {
        let mut lateness = Lateness::default();
        for second in 10..200 {
            if let Some((at, lost)) = hold
                && at == second
            {
                lateness.hold(seconds(lost));
            }
            let waits = |_| {
                let waited = |percent: i64| Nanos(seconds(second).0 / 100 * percent);
                HashMap::from([(77, waited(waiting[0])), (78, waited(waiting[1]))])
            };
            if lateness.over_with(&LATE, seconds(second), waits) == [MEMBER] {
                return second;
            }
        }
        panic!("it is waited for without end")
    }

    #[test]
    fn who_stands_still_has_its_time_and_who_is_starved_has_more() {
        assert_eq!(over_at([0, 0], None), 16);
        // From the second look on, at 12 s, what the one thread waits is not counted: half of it is 5 s of 10.
        let starved = over_at([10, 50], None);
        assert!((17..24).contains(&starved), "{starved}");
        // Never without end.
        assert_eq!(over_at([0, 100], None), 10 + 65 + 1);
    }

    #[test]
    fn what_the_agent_has_not_seen_is_not_counted() {
        assert_eq!(over_at([0, 0], Some((13, 100))), 116);
    }

    #[test]
    fn who_was_late_once_begins_anew() {
        let mut lateness = Lateness::default();
        let none = |_| HashMap::new();
        for second in [0, 2, 4] {
            assert!(lateness.over_with(&LATE, seconds(second), none).is_empty());
        }
        assert!(lateness.over_with(&[], seconds(5), none).is_empty());
        for second in [6, 8, 10] {
            assert!(lateness.over_with(&LATE, seconds(second), none).is_empty(), "{second}");
        }
        assert_eq!(lateness.over_with(&LATE, seconds(12), none), [MEMBER]);
    }

    #[test]
    fn who_was_late_for_one_instant_begins_anew_for_the_next() {
        let mut lateness = Lateness::default();
        let nobody = [(MEMBER, u32::MAX)];
        for second in [1, 3, 6] {
            assert!(lateness.over(seconds(1), &nobody, seconds(second)).is_empty(), "{second}");
        }
        assert!(lateness.over(seconds(9), &nobody, seconds(10)).is_empty());
        for second in [12, 15] {
            assert!(lateness.over(seconds(9), &nobody, seconds(second)).is_empty(), "{second}");
        }
        assert_eq!(lateness.over(seconds(9), &nobody, seconds(16)), [MEMBER]);
    }

    #[test]
    fn threads_of_a_process_tell_their_waits() {
        let own = waits_of(std::process::id());
        // Where the kernel keeps no account there is none, and nothing is added.
        assert!(own.values().all(|waited| *waited >= Nanos::ZERO));
        assert!(waits_of(u32::MAX).is_empty());
        let (before, now) = (HashMap::from([(1, Nanos(5))]), HashMap::from([(1, Nanos(9)), (2, Nanos(7))]));
        assert_eq!(longest(&before, &now), Nanos(7));
        assert_eq!(longest(&now, &before), Nanos::ZERO);
    }
}
