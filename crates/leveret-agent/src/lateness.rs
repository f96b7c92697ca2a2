//! Members that are waited for, since they should have come, committed, changed the mode or stopped: for how long. One that wants to go on
//! and is not given a core is not ended for it, nor for time in which the agent itself was kept from looking.
//!
//! The kernel accounts a thread's wait for a core only once the thread gets one. A thread that still waits is recognised by two readings: it is
//! runnable in both, and its processor time has not grown.

use crate::patience::FINISH_WITHIN;
use leveret_os::threads_of::{self, CoreTime};
use leveret_types::{MemberId, Nanos};
use std::collections::HashMap;

/// What a thread of a member waited for a core adds to the member's time, up to this.
const STARVED_MOST: Nanos = Nanos::from_secs(60);
/// A member that is late for less is not looked at: nearly all are, for a moment.
const LOOKED_AT_AFTER: Nanos = Nanos::from_secs(1);
/// How often one that has had its time is looked at.
const LOOK_AGAIN: Nanos = Nanos::from_millis(500);

/// What each thread of a process has had of cores.
type Waits = HashMap<u32, CoreTime>;

/// The members that are late now.
#[derive(Default)]
pub(crate) struct Lateness {
    /// What they are late for.
    due: Nanos,
    late: HashMap<MemberId, Late>,
}

struct Late {
    process: u32,
    since: Nanos,
    /// When it is looked at next.
    look: Nanos,
    threads: HashMap<u32, Thread>,
}

/// A thread of a member that is late.
struct Thread {
    /// When it was first looked at.
    first: CoreTime,
    last: CoreTime,
    last_look: Nanos,
    /// Since when it has been runnable without getting a core, as far as is known.
    starved_since: Option<Nanos>,
}

impl Thread {
    fn new(seen: CoreTime, now: Nanos) -> Self {
        Self { first: seen, last: seen, last_look: now, starved_since: None }
    }

    fn look(&mut self, seen: CoreTime, now: Nanos) {
        let stands_still = seen.is_runnable && self.last.is_runnable && seen.ran == self.last.ran;
        let since = self.starved_since.unwrap_or(self.last_look);
        self.starved_since = stands_still.then_some(since);
        (self.last, self.last_look) = (seen, now);
    }

    /// How long it has waited for a core since the first look.
    fn starved(&self) -> Nanos {
        let accounted = self.last.waited - self.first.waited.min(self.last.waited);
        accounted + self.starved_since.map_or(Nanos::ZERO, |since| self.last_look - since)
    }
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
        let mut looked_at = self.look_with(late, now, waits);
        looked_at.retain(|member| {
            let since = self.late.get(member).map_or(now, |late| late.since);
            now - since > FINISH_WITHIN + self.starved_for(*member)
        });
        looked_at
    }

    /// Looks at members that are waited for, each with the number of its process, where it is time to; who is not named is not waited for any
    /// more.
    pub(crate) fn look(&mut self, awaited: &[(MemberId, u32)], now: Nanos) {
        self.look_with(awaited, now, waits_of);
    }

    /// Returns whom it has looked at.
    fn look_with(
        &mut self,
        awaited: &[(MemberId, u32)],
        now: Nanos,
        waits: impl Fn(u32) -> Waits,
    ) -> Vec<MemberId> {
        // Started anew it begins anew.
        self.late.retain(|member, known| awaited.contains(&(*member, known.process)));
        let mut looked_at = Vec::new();
        for &(member, process) in awaited {
            let fresh = || Late { process, since: now, look: now + LOOKED_AT_AFTER, threads: HashMap::new() };
            let known = self.late.entry(member).or_insert_with(fresh);
            if now <= known.look {
                continue;
            }
            known.look = now + LOOK_AGAIN;
            for (thread, seen) in waits(process) {
                // The first look has nothing to be compared with.
                known
                    .threads
                    .entry(thread)
                    .and_modify(|known| known.look(seen, now))
                    .or_insert_with(|| Thread::new(seen, now));
            }
            looked_at.push(member);
        }
        looked_at
    }

    /// How long a member has got no core while it was waited for.
    pub(crate) fn starved_for(&self, member: MemberId) -> Nanos {
        let threads = self.late.get(&member).into_iter().flat_map(|late| late.threads.values());
        threads.map(Thread::starved).max().unwrap_or(Nanos::ZERO).min(STARVED_MOST)
    }

    /// Of each member that is late and has a thread that wants to run and gets no core: that thread.
    pub(crate) fn starved(&self) -> Vec<(MemberId, u32)> {
        let starved = self.late.iter().filter_map(|(member, late)| {
            let waiting = late.threads.iter().filter(|(_, thread)| thread.starved_since.is_some());
            let longest = waiting.max_by_key(|(number, thread)| (thread.starved(), **number));
            longest.map(|(number, _)| (*member, *number))
        });
        starved.collect()
    }

    /// The agent was kept from looking for so long: nobody's fault, and most likely nobody else could run.
    pub(crate) fn hold(&mut self, lost: Nanos) {
        for late in self.late.values_mut() {
            late.since = late.since + lost;
            late.look = late.look + lost;
        }
    }
}

/// None of a process that has ended, or where the kernel keeps no account: then the time is the clock's.
fn waits_of(process: u32) -> Waits {
    let threads = threads_of::threads(process).unwrap_or_default();
    threads.into_iter().filter_map(|thread| Some((thread, threads_of::core_time(thread).ok()?))).collect()
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
                let thread =
                    |percent| CoreTime { waited: waited(percent), ran: seconds(second), is_runnable: true };
                HashMap::from([(77, thread(waiting[0])), (78, thread(waiting[1]))])
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

    /// In which second a member is over that is late from second 10 on, of a thread that gets no core until second 30.
    fn over_without_a_core(is_runnable: bool) -> i64 {
        let mut lateness = Lateness::default();
        for second in 10..200 {
            let given = second - 30;
            let thread = if given < 0 {
                CoreTime { waited: Nanos::ZERO, ran: seconds(3), is_runnable }
            } else {
                // The account has it all once there was a core.
                CoreTime { waited: seconds(20), ran: seconds(4 + given), is_runnable }
            };
            let over = lateness.over_with(&LATE, seconds(second), |_| HashMap::from([(77, thread)]));
            let is_named = lateness.starved() == [(MEMBER, 77)];
            assert_eq!(is_named, is_runnable && (13..30).contains(&second), "{second}");
            if over == [MEMBER] {
                return second;
            }
        }
        panic!("it is waited for without end")
    }

    #[test]
    fn who_gets_no_core_is_waited_for_before_the_kernel_accounts_for_it() {
        // From the second look on; then 20 s are accounted for, and five are its own.
        assert_eq!(over_without_a_core(true), 10 + 5 + 20 + 1);
    }

    #[test]
    fn what_a_member_is_starved_of_while_it_is_waited_for_is_told_until_it_comes() {
        let mut lateness = Lateness::default();
        let starved = CoreTime { waited: Nanos::ZERO, ran: seconds(3), is_runnable: true };
        for second in 10..100 {
            lateness.look_with(&LATE, seconds(second), |_| HashMap::from([(77, starved)]));
            // From the first look on, a second after it is waited for; a minute at most.
            let expected = (second - 12).clamp(0, 60);
            assert_eq!(lateness.starved_for(MEMBER), seconds(expected), "{second}");
        }
        assert_eq!(lateness.starved_for(MemberId(0)), Nanos::ZERO);
        // Another process has the member's place.
        lateness.look_with(&[(MEMBER, 78)], seconds(100), |_| HashMap::from([(78, starved)]));
        assert_eq!((lateness.starved_for(MEMBER), lateness.starved()), (Nanos::ZERO, Vec::new()));
        lateness.look_with(&[], seconds(101), |_| HashMap::new());
        assert_eq!(lateness.starved_for(MEMBER), Nanos::ZERO);
    }

    #[test]
    fn who_wants_no_core_is_not_starved() {
        assert_eq!(over_without_a_core(false), 16);
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
        assert!(own.values().all(|time| time.waited >= Nanos::ZERO));
        assert!(waits_of(u32::MAX).is_empty());
    }
}
