//! The time table of a job as a file: what runs when on each core.

use crate::plain::table;
use leveret_plan::{Job, Plan};

/// One line for each stretch of an instance, ordered by core, then by start: core, task, instance, which stretch of it, start and end in ns from the
/// start of the hyperperiod, and the order (a task interrupts only those of a lower one).
pub fn write(job: &Job, plan: &Plan) -> String {
    let mut rows = Vec::new();
    for planned in &plan.tasks {
        for (number, instance) in planned.instances.iter().enumerate() {
            for (part, segment) in instance.segments.iter().enumerate() {
                rows.push((planned.core, segment.start, planned, number, part, segment.end));
            }
        }
    }
    rows.sort_by_key(|(core, start, planned, ..)| (*core, *start, planned.task));
    let rows = rows.into_iter().map(|(core, start, planned, number, part, end)| {
        let name = job.tasks[planned.task.index()].name.clone();
        let [number, part] = [number, part].map(|value| value.to_string());
        let [start, end] = [start, end].map(|at| at.0.to_string());
        [core.to_string(), name, number, part, start, end, planned.order.to_string()]
    });
    table(["core", "task", "instance", "part", "start_ns", "end_ns", "order"], rows)
}
