//! A plan with some starts elsewhere in their windows.

use crate::search::{Placement, Span};
use crate::windows::Problem;
use crate::{Job, Plan, PlannedTask, assemble, checker, sporadic, validate};
use leveret_types::Nanos;

/// An instance whose start is to lie elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// Index of the task.
    pub task: usize,
    /// Which of its instances in the hyperperiod.
    pub instance: usize,
    /// By how much later.
    pub by: Nanos,
}

/// The plan with these starts moved and all else where it is, its bounds and accounts computed anew. `None` where that is no plan of the job:
/// the checker judges it as it judges any.
pub fn moved(job: &Job, plan: &Plan, moves: &[Move]) -> Option<Plan> {
    validate(job).ok()?;
    let problem = Problem::new(job).ok()?;
    let core = |task: &PlannedTask| job.cores.iter().position(|core| *core == task.core);
    let spans = |task: &PlannedTask| -> Vec<Span> {
        let span =
            |instance: &crate::PlannedInstance| Span { start: instance.start().0, end: instance.end().0 };
        task.instances.iter().map(span).collect()
    };
    let mut placement = Placement {
        cores: plan.tasks.iter().map(core).collect::<Option<_>>()?,
        spans: plan.tasks.iter().map(spans).collect(),
    };
    for Move { task, instance, by } in moves {
        let span = placement.spans.get_mut(*task)?.get_mut(*instance)?;
        *span = Span { start: span.start.checked_add(by.0)?, end: span.end.checked_add(by.0)? };
    }
    let found = assemble::assemble(job, &problem, &placement).ok()?;
    let found = sporadic::admit(job, found).ok()?;
    checker::check(&found, job).is_ok().then_some(found)
}
