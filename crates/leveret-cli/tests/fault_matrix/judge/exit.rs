//! The exit code of the run.

use super::{Judge, party_of};
use crate::case::{Culprit, Party};
use std::collections::BTreeSet;

impl Judge<'_> {
    /// The exit code follows from whose the misses are, and where each was planted, from the plants.
    pub(super) fn exit_code(&mut self) {
        let report = self.ran.outcome.report();
        let misses = report["misses"]["list"].as_array().expect("misses");
        let any = |party: Party| misses.iter().any(|miss| party_of(miss) == party);
        let irregular = !report["irregularities"].as_array().expect("a list").is_empty();
        let follows = match (irregular || any(Party::Job), any(Party::Process), any(Party::Machine)) {
            (true, ..) => 1,
            (_, true, _) => 4,
            (_, _, true) => 3,
            _ => 0,
        };
        let mut allowed = BTreeSet::from([follows]);
        if self.judged.judged > 0 && misses.len() as u64 == self.judged.judged && !irregular {
            let planted = match (self.cause.party, self.cause.culprit) {
                (None, _) => BTreeSet::from([follows]),
                (Some(Party::Process), Culprit::Unknown) => BTreeSet::from([1, 4]),
                (Some(Party::Process), _) => BTreeSet::from([4]),
                (Some(Party::Job), _) => BTreeSet::from([1]),
                (Some(Party::Machine), Culprit::Unknown) => BTreeSet::from([1, 3]),
                (Some(Party::Machine), _) => BTreeSet::from([3]),
            };
            allowed.retain(|code| planted.contains(code));
        }
        if !self.ran.outcome.code.is_some_and(|code| allowed.contains(&code)) {
            let said = self.ran.outcome.said();
            self.judged.wrong.push(format!("exit code {:?}, not {allowed:?}: {said}", self.ran.outcome.code));
        }
    }
}
