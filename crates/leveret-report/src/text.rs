//! The table at the end of a run.

use crate::Report;
use crate::format::{columns, duration, known, plural, short};
use crate::html::ROWS_MAX as PAGE_ROWS_MAX;
use crate::record::Ending;
use crate::statistics::{ChannelStatistics, MissCounts, PhaseStatistics, Summary, TaskStatistics};
use crate::verdict::{Miss, Stage, Subject};
use crate::works::WorkStatistics;
use crate::worst::shown;
use leveret_types::Nanos;
use std::fmt::Write;

/// Most misses that the table lists, and most irregularities.
const MISSES_LISTED_MAX: usize = 20;
/// Most rows of one table.
const ROWS_MAX: usize = 40;

/// The table, the warnings, the misses and the conclusion.
pub fn table(report: &Report<'_>) -> String {
    with_warnings(report, |text| {
        for warning in &report.record.machine.warnings {
            let _ = writeln!(text, "warning: {warning}");
        }
    })
}

/// As [`table`], for the end of a run that has told each warning when it arose: it only says how many there were.
pub fn table_after_run(report: &Report<'_>) -> String {
    with_warnings(report, |text| {
        let count = report.record.machine.warnings.len() as u64;
        if count > 0 {
            let told = plural(count, "warning", "warnings");
            let _ = writeln!(text, "{told}, told above when they arose; report.html lists them");
        }
    })
}

fn with_warnings(report: &Report<'_>, warnings: impl Fn(&mut String)) -> String {
    let record = report.record;
    let mut text = String::new();
    let ending = match &record.ending {
        Ending::Completed => "completed".to_owned(),
        Ending::Interrupted => "interrupted".to_owned(),
        Ending::Stopped(reason) => format!("stopped: {reason}"),
        Ending::InterruptedAfter => "every round run, then interrupted".to_owned(),
        Ending::FailedAfter(reason) => format!("run to its end; after that {reason}"),
        Ending::Aborted { .. } => record.ending.reason().unwrap_or_default(),
    };
    let mut facts = vec![report.rounds_told()];
    // A job without tasks has no scheduling.
    if !record.machine.scheduling.is_empty() {
        facts.push(record.machine.scheduling.clone());
    }
    facts.push(ending);
    let _ = writeln!(text, "{}: {}", record.job, facts.join(", "));
    for phase in &report.statistics.phases {
        of_phase(phase, &mut text);
    }
    if report.statistics.phases.iter().any(|phase| !phase.works.is_empty()) {
        let _ = writeln!(text, "\n{}", crate::works::NOTE);
    }
    alone(report, &mut text);
    data_path(report, &mut text);
    warnings(&mut text);
    misses(report, &mut text);
    let irregularities = &report.assessment.irregularities;
    for found in irregularities.iter().take(MISSES_LISTED_MAX) {
        let _ = writeln!(text, "irregular: {}", found.told());
    }
    if let Some(more @ 1..) = irregularities.len().checked_sub(MISSES_LISTED_MAX) {
        let _ = writeln!(text, "  and {more} more; report.html and report.json list them");
    }
    let _ = writeln!(text, "\nverdict: {}", report.conclusion());
    text
}

fn header(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn percentiles(summary: &Summary) -> [String; 4] {
    if summary.count == 0 {
        return ["-", "-", "-", "-"].map(str::to_owned);
    }
    [summary.p50, summary.p99, summary.p999, summary.max].map(short)
}

/// `2: 1 the job's (wake 1, start 1)`.
fn by_stage(of: &MissCounts) -> String {
    if of.misses_by_stage.is_empty() {
        return of.all().to_string();
    }
    let stages = of.misses_by_stage.iter().map(|(stage, count)| format!("{stage} {count}"));
    let stages: Vec<String> = stages.collect();
    format!("{}: {} the job's ({})", of.all(), of.misses_job, stages.join(", "))
}

fn of_phase(phase: &PhaseStatistics, text: &mut String) {
    let rounds = crate::rounds_told(phase.rounds, phase.has_windows());
    let _ = match phase.rounds {
        0 if !phase.has_windows() => writeln!(text, "\n{}: {rounds}", phase.label),
        _ => writeln!(text, "\n{}: {rounds} of {}", phase.label, phase.hyperperiod_ns),
    };
    let mut rows = vec![header(&[
        "channel",
        "from",
        "to",
        "count",
        "missed",
        "latency p50",
        "p99",
        "p99.9",
        "max",
        "to taken p50",
        "max",
        "planned to end",
    ])];
    rows.extend(shown(&phase.channels, ROWS_MAX).into_iter().map(channel));
    if phase.channels.is_empty() {
        rows.clear();
    }
    text.push_str(&columns(&rows, &[1, 2]));
    left_out("channels", phase.channels.len(), text);
    let mut rows = vec![header(&[
        "task",
        "core",
        "count",
        "missed",
        "start late p50",
        "p99",
        "p99.9",
        "max",
        "executes p50",
        "p99",
        "p99.9",
        "max",
        "budget",
        "beyond it",
    ])];
    rows.extend(shown(&phase.tasks, ROWS_MAX).into_iter().map(task));
    if phase.tasks.is_empty() {
        rows.clear();
    }
    text.push_str(&columns(&rows, &[]));
    left_out("tasks", phase.tasks.len(), text);
    of_works(&phase.works, text);
}

/// Under a table that does not show all rows: how many more there are, and where.
fn left_out(what: &str, count: usize, text: &mut String) {
    let Some(more @ 1..) = count.checked_sub(ROWS_MAX) else { return };
    let places = match count {
        0..=PAGE_ROWS_MAX => "--format json, or report.html, has all".to_owned(),
        _ => format!("--format json has all, report.html the worst {PAGE_ROWS_MAX}"),
    };
    let _ = writeln!(text, "  the worst first, and {more} more {what} ({places})");
}

/// What runs beside the time table.
fn of_works(works: &[WorkStatistics], text: &mut String) {
    if works.is_empty() {
        return;
    }
    let mut rows = vec![header(&WORK_COLUMNS)];
    rows.extend(shown(works, ROWS_MAX).into_iter().map(|work| {
        let [p50, p99, _, max] = percentiles(&work.took_ns);
        let time = |time: Option<Nanos>| time.map_or_else(|| "none".to_owned(), duration);
        vec![
            work.name.clone(),
            work.start.clone(),
            work.core.to_string(),
            work.priority.to_string(),
            work.runs.map_or_else(|| "not recorded".to_owned(), |runs| runs.to_string()),
            work.recorded.map_or_else(|| "-".to_owned(), |recorded| recorded.to_string()),
            p50,
            p99,
            max,
            time(work.deadline_ns),
            work.beyond_deadline.map_or_else(|| "-".to_owned(), |beyond| beyond.to_string()),
            time(work.response_bound_ns),
            duration(work.budget_ns),
        ]
    }));
    text.push_str(&columns(&rows, &[1]));
    left_out("works", works.len(), text);
}

/// The columns of work beside the time table.
pub(crate) const WORK_COLUMNS: [&str; 13] = [
    "at a priority",
    "started by",
    "core",
    "priority",
    "runs",
    "recorded",
    "took p50",
    "p99",
    "max",
    "deadline",
    "beyond it",
    "bound",
    "budget",
];

fn channel(channel: &ChannelStatistics) -> Vec<String> {
    let missed = match channel.time_driven {
        true => by_stage(&channel.misses),
        // Without a window there is nothing to miss.
        false => "-".to_owned(),
    };
    let mut row = vec![
        channel.name.clone(),
        channel.source.clone(),
        channel.target.clone(),
        channel.count_told(),
        missed,
    ];
    row.extend(percentiles(&channel.latency_ns));
    let [median, _, _, max] = percentiles(&channel.insert_to_taken_ns);
    row.extend([median, max, channel.latency_bound_ns.map_or_else(|| "none".to_owned(), duration)]);
    row
}

fn task(task: &TaskStatistics) -> Vec<String> {
    let missed = by_stage(&task.misses);
    let mut row = vec![task.name.clone(), task.core.to_string(), task.count.to_string(), missed];
    row.extend(percentiles(&task.start_lateness_ns));
    row.extend(percentiles(&task.execution_ns));
    row.extend([duration(task.budget_ns), task.over_budget.to_string()]);
    row
}

fn alone(report: &Report<'_>, text: &mut String) {
    let measured = &report.statistics.machine_alone;
    if measured.is_empty() {
        let _ = writeln!(text, "\nthe machine alone: not measured in this run");
    }
    for (number, row) in measured.iter().enumerate() {
        let [p50, p99, p999, max] = percentiles(&row.lateness_ns);
        let gap = if number == 0 { "\n" } else { "" };
        let _ = writeln!(
            text,
            "{gap}the machine alone: {} was late by p50 {p50}, p99 {p99}, p99.9 {p999}, max {max} ({} times)",
            row.describe(),
            row.lateness_ns.count
        );
    }
}

fn data_path(report: &Report<'_>, text: &mut String) {
    let counts = report.statistics.data_path;
    let _ = writeln!(
        text,
        "data path: allocations after commit {}, page faults {}, involuntary switches {}, system calls {} (planned sleeps {})",
        known(counts.allocations_after_commit),
        known(counts.page_faults),
        known(counts.involuntary_switches),
        known(counts.system_calls),
        counts.planned_sleeps
    );
}

fn misses(report: &Report<'_>, text: &mut String) {
    let misses = &report.assessment.misses;
    if misses.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{}", report.assessment.counts);
    let mut shown: Vec<&Miss> = misses.iter().collect();
    shown.sort_by_key(|miss| (miss.party, miss.root.is_some()));
    for miss in shown.iter().take(MISSES_LISTED_MAX) {
        let late = match (miss.late_by, miss.subject) {
            (Some(late), _) => format!("{} late", duration(late)),
            (None, Subject::Task(_)) if miss.stage == Stage::Execution => "never ended".to_owned(),
            (None, Subject::Task(_)) => "did not run".to_owned(),
            (None, Subject::Channel(_)) => "did not arrive".to_owned(),
        };
        let phase = report.record.phases.get(miss.phase).map_or("", |phase| &phase.label);
        let unproven = if miss.unproven { ", unproven" } else { "" };
        let _ = writeln!(
            text,
            "  {:<7} {} {} [{phase}] {late} ({}: {}{unproven})",
            miss.party, miss.name, miss.instance, miss.stage, miss.cause
        );
        if let Some(sentence) = miss.evidence.first() {
            let _ = writeln!(text, "          {sentence}");
        }
    }
    if misses.len() > MISSES_LISTED_MAX {
        let _ = writeln!(
            text,
            "  and {} more; report.html and report.json list them",
            misses.len() - MISSES_LISTED_MAX
        );
    }
}
