//! Changes of a job that are made together, so that it fits.

use super::refusal::listed;
use super::{Change, movers};
use crate::Job;
use leveret_types::Nanos;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::mem::discriminant;

/// Changes that make a job fit when all of them are made. Whoever planned the changed job has seen that it does.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Remedy {
    /// In the order in which they are told.
    pub changes: Vec<Change>,
}

impl From<Change> for Remedy {
    fn from(change: Change) -> Self {
        Self { changes: vec![change] }
    }
}

impl Remedy {
    /// The job after all of it; `None` if it has no such object, or one that knows no such number. What the library declares for
    /// a channel follows the channel.
    pub fn apply(&self, job: &Job) -> Option<Job> {
        let mut changed = job.clone();
        for change in &self.changes {
            change.apply_to(&mut changed)?;
        }
        movers::follow(job, changed)
    }

    /// As many decisions it takes: declarations that get one and the same period or window together count once.
    pub fn decisions(&self) -> usize {
        let count = |clause: &Vec<&Change>| match clause[0] {
            Change::Budget { .. } | Change::Core { .. } => clause.len(),
            _ => 1,
        };
        self.clauses().iter().map(count).sum()
    }

    /// By how much times change, one decision after the other.
    pub fn size(&self) -> Nanos {
        let largest = |clause: &Vec<&Change>| clause.iter().map(|change| change.size()).max();
        self.clauses().iter().filter_map(largest).fold(Nanos::ZERO, Nanos::saturating_add)
    }

    /// All of several remedies. Where two set one period, the longer one holds.
    pub(super) fn joined(parts: &[Self]) -> Self {
        let mut changes: Vec<Change> = Vec::new();
        for change in parts.iter().flat_map(|part| &part.changes) {
            let same = |other: &&mut Change| {
                discriminant(*other) == discriminant(change) && other.object() == change.object()
            };
            match (changes.iter_mut().find(same), change) {
                (Some(Change::Period { to, .. }), Change::Period { to: other, .. }) => {
                    *to = (*to).max(*other)
                }
                _ => changes.push(change.clone()),
            }
        }
        Self { changes }
    }

    /// Changes that are told in one clause: of one sort, from and to the same; periods that become the same.
    fn clauses(&self) -> Vec<Vec<&Change>> {
        let mut clauses: Vec<Vec<&Change>> = Vec::new();
        for change in &self.changes {
            match clauses.iter_mut().find(|clause| alike(clause[0], change)) {
                Some(clause) => clause.push(change),
                None => clauses.push(vec![change]),
            }
        }
        clauses
    }
}

fn alike(one: &Change, other: &Change) -> bool {
    match (one, other) {
        (Change::Core { .. }, Change::Core { .. }) => false,
        (Change::Period { to, .. }, Change::Period { to: other, .. }) => to == other,
        _ => discriminant(one) == discriminant(other) && one.numbers() == other.numbers(),
    }
}

fn told(clause: &[&Change]) -> String {
    let objects = |changes: &[&Change]| {
        let names: Vec<String> = changes.iter().map(|change| change.object().to_string()).collect();
        listed(&names)
    };
    let mut by_number: Vec<Vec<&Change>> = Vec::new();
    for change in clause {
        match by_number.iter_mut().find(|group| group[0].numbers() == change.numbers()) {
            Some(group) => group.push(change),
            None => by_number.push(vec![change]),
        }
    }
    match (&by_number[..], clause[0]) {
        ([_, _, ..], Change::Period { to, .. }) => {
            let group = |group: &Vec<&Change>| {
                let [from, ..] = group[0].numbers();
                format!("{} (now {})", objects(group), Nanos(from))
            };
            format!("set the periods of {} to {to}", listed(&by_number.iter().map(group).collect::<Vec<_>>()))
        }
        _ => clause[0].told_of(&objects(clause), clause.len() > 1),
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told: Vec<String> = self.clauses().iter().map(|clause| told(clause)).collect();
        write!(out, "{}", told.join(", and "))
    }
}
