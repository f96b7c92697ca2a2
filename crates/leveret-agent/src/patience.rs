//! How long the agent waits for a member that does not come or does not stop, so that one cannot hang the job.

use leveret_types::Nanos;

/// From the start of its process a member has this long to join.
pub(crate) const JOIN_WITHIN: Nanos = Nanos::from_secs(20);
/// From the end of the run a member has this long to end its tasks.
pub(crate) const FINISH_WITHIN: Nanos = Nanos::from_secs(5);

/// Until when the agent waits for what.
pub(crate) struct Patience {
    members: Vec<Awaited>,
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

impl Patience {
    pub(crate) fn new(members: usize) -> Self {
        Self { members: vec![Awaited::Nothing; members], end: Nanos::MAX }
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

    /// Whether a member that has not finished should have.
    pub(crate) fn is_finish_over(&self, now: Nanos) -> bool {
        now > self.end + FINISH_WITHIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_an_end_is_waited_for_until_a_stop_is_ordered() {
        let mut patience = Patience::new(1);
        patience.started(Nanos::MAX);
        assert!(!patience.is_finish_over(Nanos::MAX));
        patience.ends_by(Nanos(7));
        assert!(!patience.is_finish_over(Nanos(7) + FINISH_WITHIN));
        assert!(patience.is_finish_over(Nanos(8) + FINISH_WITHIN));
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
