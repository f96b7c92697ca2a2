//! The tiles under the headline: what a person asks first.

use super::parts::{escape, short};
use crate::Report;
use crate::format::{known, plural};
use crate::statistics::{ChannelStatistics, PhaseStatistics, Summary};
use crate::works::beyond_deadlines;
use std::fmt::Write;

/// Name, value, note, and the class that colours it.
type Tile = (&'static str, String, String, &'static str);

/// The instrument's dials; another set where nothing has a window, since most of these would stand at nought.
pub(super) fn tiles(report: &Report<'_>) -> String {
    let tiles = if report.has_windows() { planned(report) } else { best_effort(report) };
    tiles.iter().fold(String::new(), |mut text, (name, value, note, class)| {
        let small = if value.len() > 9 { " small" } else { "" };
        let _ = write!(
            text,
            "<div class=\"tile {class}\"><dt>{}</dt><dd><b class=\"value{small}\">{}</b><span>{}</span></dd></div>",
            escape(name),
            escape(value),
            escape(note)
        );
        text
    })
}

fn planned(report: &Report<'_>) -> Vec<Tile> {
    let counts = &report.assessment.counts;
    let data_path = report.statistics.data_path;
    let tasks = report.statistics.phases.iter().flat_map(|phase| &phase.tasks);
    let (start, start_note) = worst(tasks.map(|task| &task.start_lateness_ns), "worst task");
    let alone = report.statistics.machine_alone.iter();
    let (alone, alone_note) = worst(alone.map(|row| &row.lateness_ns), "bare timer");
    let allocations = data_path.allocations_after_commit;
    let machine = if counts.machine > 0 { "machine" } else { "" };
    let process = if counts.process > 0 { "process" } else { "" };
    let job = |wrong: bool| if wrong { "job" } else { "" };
    vec![
        ("Rounds", report.statistics.rounds.to_string(), phases_of(report), ""),
        ("Misses, the job\u{2019}s", counts.job.to_string(), roots(counts.job_roots), job(counts.job > 0)),
        ("Misses, other processes\u{2019}", counts.process.to_string(), roots(counts.process_roots), process),
        ("Misses, the machine\u{2019}s", counts.machine.to_string(), roots(counts.machine_roots), machine),
        (
            "Allocations after commit",
            known(allocations),
            "on the data path".to_owned(),
            job(allocations.is_some_and(|count| count > 0)),
        ),
        ("Start lateness, p99", start, start_note, ""),
        ("The machine alone, p99", alone, alone_note, ""),
        (
            "System calls",
            known(data_path.system_calls),
            format!("{} planned sleeps", data_path.planned_sleeps),
            "",
        ),
        (
            "Page faults",
            known(data_path.page_faults),
            format!("involuntary switches: {}", known(data_path.involuntary_switches)),
            "",
        ),
    ]
}

/// What can be said of best-effort channels alone.
fn best_effort(report: &Report<'_>) -> Vec<Tile> {
    let channels: Vec<&ChannelStatistics> =
        report.statistics.phases.iter().flat_map(|phase| &phase.channels).collect();
    let sum = |of: fn(&ChannelStatistics) -> u64| {
        channels.iter().fold(0_u64, |sum, channel| sum.saturating_add(of(channel)))
    };
    let (latency, latency_note) =
        worst(channels.iter().map(|channel| &channel.insert_to_taken_ns), "worst channel");
    let works: Vec<_> = report.statistics.phases.iter().flat_map(|phase| &phase.works).collect();
    let count = plural(channels.len() as u64, "channel", "channels");
    let kind = if works.is_empty() { "best effort" } else { "none by the clock" };
    let misses = match beyond_deadlines(works.iter().copied()) {
        Some((beyond, of)) => {
            let class = if beyond > 0 { "job" } else { "" };
            (
                "Beyond their deadline",
                beyond.to_string(),
                format!("of {of} recorded transfers at priorities"),
                class,
            )
        }
        None => ("Misses", "none".to_owned(), "nothing here has a window".to_owned(), ""),
    };
    vec![
        ("Messages", sum(|channel| channel.count).to_string(), format!("{count}, {kind}"), ""),
        (
            "Taken",
            sum(|channel| channel.taken).to_string(),
            format!(
                "untaken: {}; attempts to send without a free buffer: {}",
                sum(|channel| channel.untaken),
                sum(|channel| channel.refused)
            ),
            "",
        ),
        ("Insert to taken, p99", latency, latency_note, ""),
        misses,
    ]
}

/// The greatest 99th percentile, and a note with the greatest of the others; or that there is none.
fn worst<'a>(summaries: impl Iterator<Item = &'a Summary>, of: &str) -> (String, String) {
    let measured: Vec<&Summary> = summaries.filter(|summary| summary.count > 0).collect();
    let greatest =
        |value: fn(&Summary) -> i64| measured.iter().map(|summary| value(summary)).max().map(short);
    match (greatest(|of| of.p50), greatest(|of| of.p99), greatest(|of| of.max)) {
        (Some(p50), Some(p99), Some(max)) => (p99, format!("{of}; p50 {p50}, max {max}")),
        _ => ("not measured".to_owned(), "in this run".to_owned()),
    }
}

fn roots(count: u64) -> String {
    plural(count, "root", "roots")
}

/// Phases beyond these are only counted.
const PHASES_LISTED: usize = 4;

fn phases_of(report: &Report<'_>) -> String {
    let phases: Vec<&PhaseStatistics> =
        report.statistics.phases.iter().filter(|phase| phase.rounds > 0).collect();
    let label =
        |phase: &&PhaseStatistics| format!("{} at {}", phase.rounds, phase.label).replace(' ', "\u{a0}");
    let mut told: Vec<String> = phases.iter().take(PHASES_LISTED).map(label).collect();
    if phases.len() > PHASES_LISTED {
        told.push(format!("in {} more phases", phases.len() - PHASES_LISTED));
    }
    told.join(", ")
}
