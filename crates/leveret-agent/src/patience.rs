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
    /// They have had their time.
    Over,
}

impl Patience {
    pub(crate) fn new(members: usize) -> Self {
        Self { members: vec![Awaited::Nothing; members], commit: None, end: Nanos::MAX }
    }

    /// The commit waits for these members now, for at most `within`.
    pub(crate) fn committing(&mut self, missing: &[MemberId], within: Nanos, now: Nanos) -> Waiting {
        self.committing_some(missing, missing, within, now)
    }

    /// As [`Patience::committing`], where the limit is for some of them, from when they are of these on: others may take as long as they
    /// like.
    pub(crate) fn committing_some(
        &mut self,
        missing: &[MemberId],
        bound: &[MemberId],
        within: Nanos,
        now: Nanos,
    ) -> Waiting {
        if missing.is_empty() {
            self.commit = None;
            return Waiting::Quiet;
        }
        let fresh = || CommitWait {
            since: now,
            told_after: WAIT_TOLD_AFTER,
            missing: missing.to_vec(),
            bound: (bound.to_vec(), now),
        };
        let wait = self.commit.get_or_insert_with(fresh);
        if wait.missing != missing {
            *wait = fresh();
        }
        if wait.bound.0 != bound {
            wait.bound = (bound.to_vec(), now);
        }
        let waited = now - wait.since;
        if !bound.is_empty() && now - wait.bound.1 > within {
            self.commit = None;
            Waiting::Over
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
        self.end = end;
    }

    /// The run was ordered to end at `instant` if not before.
    pub(crate) fn ends_by(&mut self, instant: Nanos) {
        self.end = self.end.min(instant);
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
        assert_ne!(at(160), Waiting::Over);
        assert_eq!(at(161), Waiting::Over);
    }

    #[test]
    fn who_keeps_a_commit_waiting_is_told_more_and_more_seldom_and_has_an_end() {
        let mut patience = Patience::new(3);
        let (second, within) = (Nanos::from_secs(1), Nanos::from_secs(60));
        let told: Vec<i64> = (0..=60)
            .filter(|now| {
                let said = patience.committing(&[MemberId(1)], within, second.saturating_mul(*now));
                assert_ne!(said, Waiting::Over);
                said != Waiting::Quiet
            })
            .collect();
        assert_eq!(told, [3, 5, 9, 17, 33]);
        assert_eq!(patience.committing(&[MemberId(1)], within, second.saturating_mul(61)), Waiting::Over);
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
            patience.committing_some(&both, bound, within, second.saturating_mul(seconds))
        };
        assert_eq!(at(&[], 0), Waiting::Quiet);
        assert_eq!(at(&[], 100), Waiting::Told(Nanos::from_secs(100)));
        // One is free no longer; then both, and the limit is told from there.
        assert_eq!(at(&both[1..], 101), Waiting::Told(Nanos::from_secs(101)));
        assert_eq!(at(&both[1..], 104), Waiting::Told(Nanos::from_secs(104)));
        assert_eq!(at(&both, 105), Waiting::Told(Nanos::from_secs(105)));
        assert_eq!(at(&both, 108), Waiting::Told(Nanos::from_secs(108)));
        assert_eq!(at(&both, 109), Waiting::Over);
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
