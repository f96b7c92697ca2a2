//! The plan as a table for people.

use crate::{Job, NO_INSTANCE, Placement, Plan, PlannedInstance, Qos, Task};
use leveret_types::{ChannelId, Nanos};
use std::fmt::Write;

/// Renders a plan: per core what runs when, what it reads and fills; per channel when messages are due and
/// visible; what each core has left. Times count from the start of the hyperperiod.
///
/// The plan must be for this job; where it is not, unknown names are shown as `?`.
pub fn render_table(plan: &Plan, job: &Job) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "plan of `{}`: repeats every {}, {} task instances, guard {}, switch {}",
        plan.job,
        plan.hyperperiod,
        plan.tasks.iter().map(|task| task.instances.len()).sum::<usize>(),
        plan.costs.guard,
        plan.costs.switch
    );
    for core in &plan.cores {
        let share = |part: Nanos| part.0 as f64 * 100.0 / plan.hyperperiod.0.max(1) as f64;
        let _ = writeln!(
            out,
            "\ncore {}: {} used ({:.1} %), {}{} left ({:.1} %), longest gap {}",
            core.core,
            core.used,
            share(core.used),
            if core.sporadic > Nanos::ZERO {
                format!("{} for priorities ({:.1} %), ", core.sporadic, share(core.sporadic))
            } else {
                String::new()
            },
            core.left,
            share(core.left),
            core.longest_gap
        );
        out.push_str(&grid(&core_rows(plan, job, core.core)));
    }
    if !plan.channels.is_empty() {
        out.push_str("\nchannels\n");
        out.push_str(&grid(&channel_rows(plan, job)));
    }
    if !plan.sporadics.is_empty() {
        out.push('\n');
        out.push_str(&render_bounds(plan, job));
    }
    out
}

/// What runs beside the time table, with its bounds; nothing where nothing does.
pub fn render_bounds(plan: &Plan, job: &Job) -> String {
    if plan.sporadics.is_empty() {
        return String::new();
    }
    let shown = |time: Option<Nanos>, none: &str| time.map_or(none.to_owned(), |time| time.to_string());
    let head = ["task", "core", "priority", "arrivals apart", "deadline", "response at most"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for planned in &plan.sporadics {
        let Some(own) = job.sporadics.get(usize::from(planned.sporadic)) else { continue };
        rows.push(vec![
            own.name.clone(),
            planned.core.to_string(),
            own.priority.to_string(),
            shown(own.interval, "at any rate"),
            shown(own.deadline, "none"),
            bound(planned.response_bound),
        ]);
    }
    let mut out = "beside the time table, by priority\n".to_owned();
    out.push_str(&grid(&rows));
    for planned in &plan.channels {
        let Some(channel) = job.channels.get(planned.channel.index()) else { continue };
        if channel.qos.service().is_some() {
            let _ = writeln!(
                out,
                "  channel {}, from start to completion: {}",
                channel.name,
                bound(planned.latency_bound)
            );
        }
    }
    out
}

fn bound(time: Nanos) -> String {
    if time == Nanos::MAX { "no bound".to_owned() } else { time.to_string() }
}

/// One row per stretch of execution, in order of time.
fn core_rows(plan: &Plan, job: &Job, core: u32) -> Vec<Vec<String>> {
    let mut rows: Vec<(Nanos, Vec<String>)> = Vec::new();
    for planned in plan.tasks.iter().filter(|planned| planned.core == core) {
        let task = job.tasks.get(planned.task.index());
        let name = task.map_or("?", |task| task.name.as_str());
        for (k, instance) in planned.instances.iter().enumerate() {
            let count = instance.segments.len();
            for (part, segment) in instance.segments.iter().enumerate() {
                let part_words =
                    if count > 1 { format!(" ({} of {count})", part + 1) } else { String::new() };
                rows.push((
                    segment.start,
                    vec![
                        segment.start.to_string(),
                        segment.end.to_string(),
                        format!("{name} #{k}{part_words}"),
                        format!("[{}, {}]", instance.earliest, instance.latest),
                        messages(job, task, instance),
                    ],
                ));
            }
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    rows.sort();
    let head = ["start", "end", "task", "window", "messages"].map(str::to_owned).to_vec();
    std::iter::once(head).chain(rows.into_iter().map(|(_, row)| row)).collect()
}

/// "reads ab #0, fills bc #0".
fn messages(job: &Job, task: Option<&Task>, instance: &PlannedInstance) -> String {
    let Some(task) = task else { return String::new() };
    let list = |verb: &str, ends: &[ChannelId], numbers: &[i64]| -> Vec<String> {
        ends.iter()
            .zip(numbers)
            .map(|(id, number)| {
                let name = job.channels.get(id.index()).map_or("?", |channel| channel.name.as_str());
                if *number == NO_INSTANCE {
                    format!("{verb} {name}")
                } else {
                    format!("{verb} {name} #{number}")
                }
            })
            .collect()
    };
    let mut parts = list("reads", &task.reads, &instance.reads);
    parts.extend(list("fills", &task.writes, &instance.writes));
    parts.join(", ")
}

fn channel_rows(plan: &Plan, job: &Job) -> Vec<Vec<String>> {
    let head =
        ["channel", "from", "to", "size", "buffers", "insert by", "visible at", "every", "latency at most"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for planned in &plan.channels {
        let Some(channel) = job.channels.get(planned.channel.index()) else { continue };
        let member = |id: leveret_types::MemberId| {
            job.members.get(id.index()).map_or_else(|| "?".to_owned(), |member| member.name.clone())
        };
        let aliased = if channel.placement == Placement::Aliased { " aliased" } else { "" };
        let mut row = vec![
            channel.name.clone(),
            member(channel.source),
            member(channel.target),
            channel.size.to_string(),
            format!("{}{aliased}", planned.buffers),
        ];
        match (&channel.qos, planned.instances.first()) {
            (Qos::TimeDriven { period, .. }, Some(first)) => row.extend([
                first.insert_by.to_string(),
                first.visible_at.to_string(),
                period.to_string(),
                planned.latency_bound.to_string(),
            ]),
            _ => {
                row.extend(["at will", "at once", "-"].map(str::to_owned));
                row.push(bound(planned.latency_bound));
            }
        }
        rows.push(row);
    }
    rows
}

/// Rows of cells as lines, with columns as wide as they must be.
pub fn grid(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|c| c.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "  {cell:<width$}");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
