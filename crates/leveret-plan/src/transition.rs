//! From one plan to another at the end of a round: whether what is left of the last round of the one and what begins the
//! first of the other keep out of each other's way.
//!
//! ```text
//!  before  ...|~~~|=last=|          |
//!  after               |            |~~~|=first=|...
//!                                   the switch: a multiple of the hyperperiod before, the epoch after
//! ```
//! Reserved stretches, guards included, must not overlap on a core, and every instance that is released before the switch
//! must be planned to start before it. Nesting is no excuse here: orders of two plans do not compare. Work at priorities, whose
//! levels do, may be under way at the switch: `crossing.rs`.

use crate::continuation::Kept;
use crate::crossing::{Crossing, crossing};
use crate::{Job, Plan, PlannedInstance};
use leveret_types::Nanos;
use std::fmt;

/// Why one plan cannot follow another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TransitionConflict {
    /// Two tasks need one core at once.
    Overlap {
        /// The core.
        core: u32,
        /// The task of the plan before.
        before: String,
        /// From the switch to the end of its last instance; negative where that ends before the switch.
        ends: Nanos,
        /// The task of the plan after.
        after: String,
        /// From the switch to the wake-up for its first instance; negative where that is before the switch.
        wakes: Nanos,
    },
    /// The last instance of a task would begin after the switch.
    Beyond {
        /// The task of the plan before.
        task: String,
        /// From the switch to its planned start.
        starts: Nanos,
    },
    /// Work at a priority that can take too long around the switch.
    AtPriority {
        /// What it is.
        work: String,
        /// Whether it is of the plan after.
        is_after: bool,
        /// Its core.
        core: u32,
        /// How long it can take, with what serves the other end of its channel; [`Nanos::MAX`]: there is no bound.
        takes: Nanos,
        /// How long it may.
        deadline: Nanos,
    },
}

impl fmt::Display for TransitionConflict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overlap { core, before, ends, after, wakes } => write!(
                out,
                "the switch cannot be met on core {core}: task \"{before}\" of what runs ends {}, and task \"{after}\" of the \
                 mode wakes {}; let the first end earlier in its period, the other start later, or give them other cores",
                Against(*ends),
                Against(*wakes)
            ),
            Self::Beyond { task, starts } => write!(
                out,
                "the switch cannot be met: the last instance of task \"{task}\" of what runs is planned {}; let its window \
                 end within the period that it begins in",
                Against(*starts)
            ),
            Self::AtPriority { work, is_after, core, takes, deadline } => {
                let when = if *is_after {
                    "of the mode, when it is asked for just after the switch,"
                } else {
                    "of what runs, when the switch comes upon it,"
                };
                write!(out, "the switch cannot be proven on core {core}: \"{work}\" {when} ")?;
                match *takes {
                    Nanos::MAX => write!(
                        out,
                        "has no bound, since work beside it that is as urgent may come at any rate, and its deadline is \
                         {deadline}; give that work a smallest interval, or another core"
                    ),
                    takes => write!(
                        out,
                        "can take {takes} beside what runs and the mode together, and its deadline is {deadline}; give it that \
                         deadline, or the work at priorities on its core less budget"
                    ),
                }
            }
        }
    }
}

/// An instant as seen from the switch.
struct Against(Nanos);

impl fmt::Display for Against {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.0 {
            0 => out.write_str("at the switch"),
            after @ 1.. => write!(out, "{} after it", Nanos(after)),
            before => write!(out, "{} before it", Nanos(before.saturating_neg())),
        }
    }
}

/// Whether `after` can take over from `before` at the end of any of its rounds, going on with what is kept, and the bounds of work at
/// priorities around it; otherwise each pair that conflicts.
///
/// # Errors
/// The conflicts, in the order of the tasks.
pub fn transition(
    before: (&Job, &Plan),
    after: (&Job, &Plan),
    kept: &Kept,
) -> Result<Crossing, Vec<TransitionConflict>> {
    let (crossing, mut conflicts) = crossing(before, after, kept);
    let (job_before, plan_before) = before;
    let (job_after, plan_after) = after;
    for (task, planned) in job_before.tasks.iter().zip(&plan_before.tasks) {
        let beyond =
            planned.instances.iter().map(|instance| instance.start() - plan_before.hyperperiod).max();
        if let Some(starts) = beyond.filter(|starts| *starts >= Nanos::ZERO) {
            conflicts.push(TransitionConflict::Beyond { task: task.name.clone(), starts });
        }
    }
    for (old, old_planned) in job_before.tasks.iter().zip(&plan_before.tasks) {
        for (new, new_planned) in job_after.tasks.iter().zip(&plan_after.tasks) {
            if old_planned.core != new_planned.core {
                continue;
            }
            let last = |instance: &PlannedInstance| {
                let reserved = reserved(instance, plan_before.costs.guard);
                (reserved.0 - plan_before.hyperperiod, reserved.1 - plan_before.hyperperiod)
            };
            let last: Vec<_> = old_planned.instances.iter().map(last).collect();
            let first =
                new_planned.instances.iter().map(|instance| reserved(instance, plan_after.costs.guard));
            let overlap = first.flat_map(|first| last.iter().map(move |last| (*last, first)));
            let mut overlap = overlap.filter(|(last, first)| last.0 < first.1 && first.0 < last.1);
            if let Some((last, first)) = overlap.next() {
                conflicts.push(TransitionConflict::Overlap {
                    core: old_planned.core,
                    before: old.name.clone(),
                    ends: last.1,
                    after: new.name.clone(),
                    wakes: first.0,
                });
            }
        }
    }
    if conflicts.is_empty() { Ok(crossing) } else { Err(conflicts) }
}

/// The stretch for which an instance has its core.
fn reserved(instance: &PlannedInstance, guard: Nanos) -> (Nanos, Nanos) {
    (instance.start() - guard, instance.end())
}
