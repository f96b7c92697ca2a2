//! How long the agent waits for a member that does not come or does not stop, so that one cannot hang the job.

use leveret_types::{MemberId, Nanos};

/// From the start of its process a member has this long to join.
pub(crate) const JOIN_WITHIN: Nanos = Nanos::from_secs(20);
/// From the end of the run a member has this long to end its tasks, and from the instant of a switch to be in the mode; beside what
/// `lateness.rs` adds.
pub(crate) const FINISH_WITHIN: Nanos = Nanos::from_secs(5);

/// Members that are inside a commit have this long at least to make their segments, their threads and their memory.
pub(crate) const SET_UP_WITHIN: Nanos = Nanos::from_secs(300);

/// Who keeps the others waiting at a commit is told after this, and then after twice as long each time.
const WAIT_TOLD_AFTER: Nanos = Nanos::from_secs(2);

/// Until when the agent waits for what.
pub(crate) struct Patience {
    members: Vec<Awaited>,
    commit: Option<CommitWait>,
    /// The present commit's last instance has started by then.
    end: Nanos,
    /// The same, unless somebody ends it before its time.
    planned_end: Nanos,
}

/// What is awaited of a member, and until when.
#[derive(Clone, Copy)]
enum Awaited {
    Nothing,
    Joining(Nanos),
    Leaving(Nanos),
}

/// Members that have committed wait for others.
struct CommitWait {
    since: Nanos,
    told_after: Nanos,
    missing: Vec<MemberId>,
    /// Those of them that have no longer than the limit, and from when on.
    bound: (Vec<MemberId>, Nanos),
}

/// What there is to say about members that keep the others waiting.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Waiting {
    /// Nothing for now.
    Quiet,
    /// They are named, and have been waited for this long.
    Told(Nanos),
    /// These have had their time.
    Over(Vec<MemberId>),
}

/// How long a member may keep a commit waiting. What the user has `stated` is for one that does not commit; one that is inside the call works on
/// it, and the more there is to commit the longer. One that has stood still for as long does not work.
pub(crate) fn commit_limit(
    stated: Nanos,
    setting_up: bool,
    stopped_since: Option<Nanos>,
    now: Nanos,
) -> Nanos {
    let stands_still = stopped_since.is_some_and(|since| now - since > stated);
    if setting_up && !stands_still { stated.max(SET_UP_WITHIN) } else { stated }
}

impl Patience {
    pub(crate) fn new(members: usize) -> Self {
        Self {
            members: vec![Awaited::Nothing; members],
            commit: None,
            end: Nanos::MAX,
            planned_end: Nanos::MAX,
        }
    }

    /// The commit waits for these members now, for at most `within`.
    pub(crate) fn committing(&mut self, missing: &[MemberId], within: Nanos, now: Nanos) -> Waiting {
        let bound: Vec<_> = missing.iter().map(|member| (*member, within)).collect();
        self.committing_some(missing, &bound, now)
    }

    /// As [`Patience::committing`], where some of them have a limit, each its own, from when they are of these on: others may take as long as
    /// they like.
    pub(crate) fn committing_some(
        &mut self,
        missing: &[MemberId],
        bound: &[(MemberId, Nanos)],
        now: Nanos,
    ) -> Waiting {
        let members: Vec<MemberId> = bound.iter().map(|(member, _)| *member).collect();
        if missing.is_empty() {
            self.commit = None;
            return Waiting::Quiet;
        }
        let fresh = || CommitWait {
            since: now,
            told_after: WAIT_TOLD_AFTER,
            missing: missing.to_vec(),
            bound: (members.clone(), now),
        };
        let wait = self.commit.get_or_insert_with(fresh);
        if wait.missing != missing {
            *wait = fresh();
        }
        if wait.bound.0 != members {
            wait.bound = (members, now);
        }
        let (waited, bound_for) = (now - wait.since, now - wait.bound.1);
        let over: Vec<MemberId> =
            bound.iter().filter(|(_, within)| bound_for > *within).map(|(member, _)| *member).collect();
        if !over.is_empty() {
            self.commit = None;
            Waiting::Over(over)
        } else if waited > wait.told_after {
            wait.told_after = wait.told_after.saturating_mul(2);
            Waiting::Told(waited)
        } else {
            Waiting::Quiet
        }
    }

    /// A member's process was started.
    pub(crate) fn launched(&mut self, rank: usize, now: Nanos) {
        self.members[rank] = Awaited::Joining(now + JOIN_WITHIN);
    }

    /// It has joined.
    pub(crate) fn joined(&mut self, rank: usize) {
        self.members[rank] = Awaited::Nothing;
    }

    /// It has closed its connection or no longer has a job, so its process should end.
    pub(crate) fn leaving(&mut self, rank: usize, now: Nanos) {
        self.members[rank] = Awaited::Leaving(now + FINISH_WITHIN);
    }

    /// A commit runs until `end`.
    pub(crate) fn started(&mut self, end: Nanos) {
        (self.end, self.planned_end) = (end, end);
    }

    /// All want it to end at `instant`.
    pub(crate) fn uncommits_at(&mut self, instant: Nanos) {
        self.ends_by(instant);
        self.planned_end = self.planned_end.min(instant);
    }

    /// When the run ends if nobody ends it before its time.
    pub(crate) fn planned_end(&self) -> Nanos {
        self.planned_end
    }

    /// The run was ordered to end at `instant` if not before.
    pub(crate) fn ends_by(&mut self, instant: Nanos) {
        self.end = self.end.min(instant);
    }

    /// Whether a member should join or leave.
    pub(crate) fn is_awaited(&self, rank: usize) -> bool {
        !matches!(self.members[rank], Awaited::Nothing)
    }

    /// Whether a member that has not joined should have.
    pub(crate) fn is_join_over(&self, rank: usize, now: Nanos) -> bool {
        matches!(self.members[rank], Awaited::Joining(by) if now > by)
    }

    /// Whether a member that should leave should have ended.
    pub(crate) fn is_leave_over(&self, rank: usize, now: Nanos) -> bool {
        matches!(self.members[rank], Awaited::Leaving(by) if now > by)
    }

    /// When the run ends, as it was ordered or planned.
    pub(crate) fn end(&self) -> Nanos {
        self.end
    }

    /// Whether the run has ended, as it was ordered or planned.
    pub(crate) fn is_run_over(&self, now: Nanos) -> bool {
        now > self.end
    }

    /// The agent was kept from looking for so long, and most likely all others from running: nobody's time is up for that.
    pub(crate) fn hold(&mut self, lost: Nanos) {
        for member in &mut self.members {
            match member {
                Awaited::Nothing => {}
                Awaited::Joining(by) | Awaited::Leaving(by) => *by = *by + lost,
            }
        }
        if let Some(wait) = &mut self.commit {
            wait.since = wait.since + lost;
            wait.bound.1 = wait.bound.1 + lost;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_an_end_is_waited_for_until_a_stop_is_ordered() {
        let mut patience = Patience::new(1);
        patience.started(Nanos::MAX);
        assert!(!patience.is_run_over(Nanos::MAX));
        patience.ends_by(Nanos(7));
        assert!(!patience.is_run_over(Nanos(7)));
        assert!(patience.is_run_over(Nanos(8)));
    }

    #[test]
    fn time_that_the_agent_has_lost_is_nobodys() {
        let mut patience = Patience::new(3);
        let (second, within) = (Nanos::from_secs(1), Nanos::from_secs(60));
        patience.launched(1, Nanos::ZERO);
        patience.leaving(2, Nanos::ZERO);
        patience.committing(&[MemberId(0)], within, Nanos::ZERO);
        patience.hold(second.saturating_mul(100));
        assert!(!patience.is_join_over(1, second.saturating_mul(100) + JOIN_WITHIN));
        assert!(patience.is_join_over(1, second.saturating_mul(101) + JOIN_WITHIN));
        assert!(!patience.is_leave_over(2, second.saturating_mul(100) + FINISH_WITHIN));
        assert!(patience.is_leave_over(2, second.saturating_mul(101) + FINISH_WITHIN));
        let mut at = |seconds| patience.committing(&[MemberId(0)], within, second.saturating_mul(seconds));
        assert!(!matches!(at(160), Waiting::Over(_)));
        assert_eq!(at(161), Waiting::Over(vec![MemberId(0)]));
    }

    #[test]
    fn who_keeps_a_commit_waiting_is_told_more_and_more_seldom_and_has_an_end() {
        let mut patience = Patience::new(3);
        let (second, within) = (Nanos::from_secs(1), Nanos::from_secs(60));
        let told: Vec<i64> = (0..=60)
            .filter(|now| {
                let said = patience.committing(&[MemberId(1)], within, second.saturating_mul(*now));
                assert!(!matches!(said, Waiting::Over(_)));
                said != Waiting::Quiet
            })
            .collect();
        assert_eq!(told, [3, 5, 9, 17, 33]);
        let said = patience.committing(&[MemberId(1)], within, second.saturating_mul(61));
        assert_eq!(said, Waiting::Over(vec![MemberId(1)]));
        // Another one has the whole time.
        patience.committing(&[MemberId(1)], within, Nanos::ZERO);
        let other = [MemberId(2)];
        assert_eq!(patience.committing(&other, within, second.saturating_mul(61)), Waiting::Quiet);
        assert_eq!(patience.committing(&[], within, second.saturating_mul(62)), Waiting::Quiet);
        assert_eq!(patience.committing(&other, within, second.saturating_mul(200)), Waiting::Quiet);
    }

    #[test]
    fn who_was_free_to_stay_away_has_the_whole_time_from_when_it_is_not() {
        let mut patience = Patience::new(3);
        let (second, within) = (Nanos::from_secs(1), Nanos::from_secs(3));
        let both = [MemberId(0), MemberId(1)];
        let mut at = |bound: &[MemberId], seconds: i64| {
            let bound: Vec<_> = bound.iter().map(|member| (*member, within)).collect();
            patience.committing_some(&both, &bound, second.saturating_mul(seconds))
        };
        assert_eq!(at(&[], 0), Waiting::Quiet);
        assert_eq!(at(&[], 100), Waiting::Told(Nanos::from_secs(100)));
        // One is free no longer; then both, and the limit is told from there.
        assert_eq!(at(&both[1..], 101), Waiting::Told(Nanos::from_secs(101)));
        assert_eq!(at(&both[1..], 104), Waiting::Told(Nanos::from_secs(104)));
        assert_eq!(at(&both, 105), Waiting::Told(Nanos::from_secs(105)));
        assert_eq!(at(&both, 108), Waiting::Told(Nanos::from_secs(108)));
        assert_eq!(at(&both, 109), Waiting::Over(both.to_vec()));
    }

    #[test]
    fn who_stands_still_has_the_stated_time_beside_one_that_sets_up() {
        let (second, stated) = (Nanos::from_secs(1), Nanos::from_secs(4));
        let (stopped, busy) = (MemberId(0), MemberId(1));
        let over = |stopped_since: Option<Nanos>| {
            let mut patience = Patience::new(2);
            let mut at = |now: Nanos| {
                let bound = [(stopped, stopped_since), (busy, None)]
                    .map(|(member, since)| (member, commit_limit(stated, true, since, now)));
                patience.committing_some(&[stopped, busy], &bound, now)
            };
            (0..1000).find_map(|now| match at(second.saturating_mul(now)) {
                Waiting::Over(over) => Some((now, over)),
                _ => None,
            })
        };
        assert_eq!(over(Some(Nanos::ZERO)), Some((5, vec![stopped])));
        assert_eq!(over(Some(second.saturating_mul(30))), Some((35, vec![stopped])));
        assert_eq!(over(None), Some((301, vec![stopped, busy])), "both work");
        assert_eq!(commit_limit(stated, false, None, Nanos::ZERO), stated);
        let long = SET_UP_WITHIN + second;
        assert_eq!(commit_limit(long, true, None, Nanos::ZERO), long);
    }

    #[test]
    fn each_start_of_a_process_gives_it_the_whole_time_to_join() {
        let mut patience = Patience::new(2);
        patience.launched(1, Nanos(5));
        assert!(!patience.is_join_over(1, Nanos(5) + JOIN_WITHIN));
        assert!(patience.is_join_over(1, Nanos(6) + JOIN_WITHIN));
        patience.launched(1, Nanos(9));
        assert!(!patience.is_join_over(1, Nanos(6) + JOIN_WITHIN));
        assert!(!patience.is_join_over(0, Nanos(6) + JOIN_WITHIN), "never started");
        patience.joined(1);
        assert!(!patience.is_join_over(1, Nanos::MAX));
        patience.leaving(1, Nanos(9));
        assert!(!patience.is_leave_over(1, Nanos(9) + FINISH_WITHIN));
        assert!(patience.is_leave_over(1, Nanos(10) + FINISH_WITHIN));
    }
}
