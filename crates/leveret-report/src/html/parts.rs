//! The parts of the page that are text: headline, tiles, tables, misses, machine. They read without scripts too.

use crate::Report;
use crate::format::{plural, utc};
use crate::record::Ending;
use crate::statistics::{
    AloneStatistics, ChannelStatistics, MissCounts, PhaseStatistics, Summary, TaskStatistics,
};
use crate::text::WORK_COLUMNS;
use crate::verdict::Miss;
use crate::works::WorkStatistics;
use crate::worst::shown;
use leveret_types::Nanos;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Most misses that the page lists.
const MISSES_LISTED_MAX: usize = 200;
/// Most rows of one table.
pub(crate) const ROWS_MAX: usize = 500;

/// As on the page: `12.3 µs`, unbreakable.
pub(super) fn short(ns: i64) -> String {
    let text = crate::format::short(ns);
    let digits = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    match unit {
        "never" => text,
        "us" => format!("{number}\u{a0}\u{b5}s"),
        _ => format!("{number}\u{a0}{unit}"),
    }
}

fn duration(value: Nanos) -> String {
    short(value.0)
}

/// Evidence with its durations as the rest of the page writes them: `12us` becomes `12 \u{b5}s`.
pub(super) fn units(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(place) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(place);
        let end = from.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(from.len());
        let (number, tail) = from.split_at(end);
        out.push_str(before);
        out.push_str(number);
        let word = tail.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(tail.len());
        let glued = before.chars().next_back().is_some_and(char::is_alphanumeric);
        let unit = match &tail[..word] {
            _ if glued => None,
            "ns" => Some("ns"),
            "us" => Some("\u{b5}s"),
            "ms" => Some("ms"),
            "s" => Some("s"),
            _ => None,
        };
        rest = match unit {
            Some(unit) => {
                out.push('\u{a0}');
                out.push_str(unit);
                &tail[word..]
            }
            None => tail,
        };
    }
    out.push_str(rest);
    out
}

/// Text that may stand in an element or an attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// The verdict, large.
pub(super) fn headline(report: &Report<'_>) -> String {
    let counts = &report.assessment.counts;
    let irregular = !report.assessment.irregularities.is_empty();
    let (class, title) = match report.assessment.exit_code() {
        _ if report.assessment.abort_code.is_some() => ("job", "The job was aborted".to_owned()),
        0 if !report.has_windows() => match report.untaken() {
            0 => ("clean", "Nothing lost".to_owned()),
            untaken => ("clean", format!("{} not taken", plural(untaken, "message", "messages"))),
        },
        0 => ("clean", "Every window kept".to_owned()),
        3 => ("machine", format!("{}, all the machine\u{2019}s", plural(counts.machine, "miss", "misses"))),
        4 => ("process", format!("{}, none the job\u{2019}s", plural(counts.all(), "miss", "misses"))),
        _ if counts.job > 0 => {
            let verb = if counts.job == 1 { "is" } else { "are" };
            ("job", format!("{} {verb} the job\u{2019}s", plural(counts.job, "miss", "misses")))
        }
        _ if irregular => ("job", "Not all is accounted for".to_owned()),
        _ => ("job", "The run failed".to_owned()),
    };
    let ending = match &report.record.ending {
        Ending::Completed => String::new(),
        Ending::Interrupted => " The run was interrupted; everything up to that instant is here.".to_owned(),
        Ending::Stopped(reason) => format!(" The run was stopped: {reason}."),
        Ending::InterruptedAfter => {
            " Every round was run, and the run was interrupted after that.".to_owned()
        }
        Ending::FailedAfter(reason) => format!(" The run came to its end; after that, {reason}."),
        // Who aborted it, and why, is what the conclusion says.
        Ending::Aborted { .. } => String::new(),
    };
    let mut conclusion = report.conclusion();
    if let Some(first) = conclusion.get(..1).map(str::to_uppercase) {
        conclusion.replace_range(..1, &first);
    }
    format!(
        "<div class=\"verdict {class}\"><span class=\"lamp\" aria-hidden=\"true\"></span><div><h1>{}</h1><p>{}.{}</p></div></div>",
        escape(&title),
        escape(&conclusion),
        escape(&ending)
    )
}

/// The attribute that leaves a panel out: the drawing of a hyperperiod, where no phase has a task to draw.
pub(super) fn gantt_hidden(report: &Report<'_>) -> &'static str {
    if report.statistics.phases.iter().all(|phase| phase.tasks.is_empty()) { "hidden" } else { "" }
}

/// What each phase is called on the page: those with one label are told apart by which of them they are.
fn labels(report: &Report<'_>) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let phases = &report.statistics.phases;
    phases.iter().for_each(|phase| *counts.entry(&phase.label).or_default() += 1);
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let told = phases.iter().map(|phase| {
        let which = seen.entry(&phase.label).or_default();
        *which += 1;
        if counts[phase.label.as_str()] > 1 {
            format!("{} ({which})", phase.label)
        } else {
            phase.label.clone()
        }
    });
    told.collect()
}

/// The buttons that choose a phase.
pub(super) fn phases(report: &Report<'_>) -> String {
    let mut text = String::new();
    for (number, label) in labels(report).iter().enumerate() {
        let _ = write!(
            text,
            "<button type=\"button\" data-phase=\"{number}\" aria-pressed=\"{}\">{}</button>",
            number == 0,
            escape(label)
        );
    }
    text
}

/// The tables of all phases; the scripts show one phase at a time.
pub(super) fn tables(report: &Report<'_>) -> String {
    let mut text = String::new();
    for (number, (phase, label)) in report.statistics.phases.iter().zip(labels(report)).enumerate() {
        let _ = write!(text, "<div class=\"phase\" data-of-phase=\"{number}\">");
        table(
            &mut text,
            &format!("Channels, {label}"),
            &[
                "channel",
                "from",
                "to",
                "count",
                "missed",
                "insert to available p50",
                "p99",
                "p99.9",
                "max",
                "to taken p50",
                "max",
                "bound",
            ],
            3,
            shown(&phase.channels, ROWS_MAX).into_iter().map(channel_row),
        );
        table(
            &mut text,
            &format!("Tasks, {label}"),
            &[
                "task",
                "core",
                "count",
                "missed",
                "start lateness p50",
                "p99",
                "p99.9",
                "max",
                "execution p50",
                "p99",
                "p99.9",
                "max",
                "budget",
                "beyond it",
            ],
            1,
            shown(&phase.tasks, ROWS_MAX).into_iter().map(task_row),
        );
        table(
            &mut text,
            &format!("Beside the time table, {label}"),
            &WORK_COLUMNS,
            2,
            shown(&phase.works, ROWS_MAX).into_iter().map(work_row),
        );
        if !phase.works.is_empty() {
            let _ = write!(text, "<p class=\"note\">{}</p>", escape(crate::works::NOTE));
        }
        note_truncation(&mut text, phase);
        text.push_str("</div>");
    }
    text
}

fn note_truncation(text: &mut String, phase: &PhaseStatistics) {
    let most = phase.channels.len().max(phase.tasks.len()).max(phase.works.len());
    if most > ROWS_MAX {
        let _ = write!(
            text,
            "<p class=\"note\">The worst {ROWS_MAX} rows of {most} are shown, the worst first; report.json has all.</p>"
        );
    }
}

fn table(
    text: &mut String,
    caption: &str,
    header: &[&str],
    left: usize,
    rows: impl ExactSizeIterator<Item = Vec<String>>,
) {
    if rows.len() == 0 {
        return;
    }
    let _ = write!(
        text,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table><caption>{0}</caption><thead><tr>",
        escape(caption)
    );
    for (place, word) in header.iter().enumerate() {
        let class = if place < left { " class=\"left\"" } else { "" };
        let _ = write!(text, "<th scope=\"col\"{class}>{}</th>", escape(word));
    }
    text.push_str("</tr></thead><tbody>");
    for row in rows {
        text.push_str("<tr>");
        for (place, cell) in row.iter().enumerate() {
            let cell = escape(cell);
            let _ = match place {
                0 => write!(text, "<th scope=\"row\" class=\"left\">{cell}</th>"),
                place if place < left => write!(text, "<td class=\"left\">{cell}</td>"),
                _ => write!(text, "<td>{cell}</td>"),
            };
        }
        text.push_str("</tr>");
    }
    text.push_str("</tbody></table></div>");
}

fn percentiles(summary: &Summary) -> [String; 4] {
    if summary.count == 0 {
        return ["\u{2013}"; 4].map(str::to_owned);
    }
    [summary.p50, summary.p99, summary.p999, summary.max].map(short)
}

fn missed(of: &MissCounts) -> String {
    if of.misses_by_stage.is_empty() {
        return "0".to_owned();
    }
    let stages = of.misses_by_stage.iter().map(|(stage, count)| format!("{stage} {count}"));
    let stages: Vec<String> = stages.collect();
    format!("{}: {} the job\u{2019}s ({})", of.all(), of.misses_job, stages.join(", "))
}

fn channel_row(of: &ChannelStatistics) -> Vec<String> {
    let mut row = vec![of.name.clone(), of.source.clone(), of.target.clone(), of.count_told()];
    row.push(match of.time_driven {
        true => missed(&of.misses),
        // Without a window there is nothing to miss.
        false => "\u{2013}".to_owned(),
    });
    row.extend(percentiles(&of.latency_ns));
    let [median, _, _, max] = percentiles(&of.insert_to_taken_ns);
    row.extend([median, max, of.latency_bound_ns.map_or_else(|| "none".to_owned(), duration)]);
    row
}

fn work_row(of: &WorkStatistics) -> Vec<String> {
    let [p50, p99, _, max] = percentiles(&of.took_ns);
    let time = |time: Option<Nanos>| time.map_or_else(|| "none".to_owned(), duration);
    vec![
        of.name.clone(),
        of.start.clone(),
        of.core.to_string(),
        of.priority.to_string(),
        of.runs.map_or_else(|| "not recorded".to_owned(), |runs| runs.to_string()),
        of.recorded.map_or_else(|| "\u{2013}".to_owned(), |recorded| recorded.to_string()),
        p50,
        p99,
        max,
        time(of.deadline_ns),
        of.beyond_deadline.map_or_else(|| "\u{2013}".to_owned(), |beyond| beyond.to_string()),
        time(of.response_bound_ns),
        duration(of.budget_ns),
    ]
}

fn task_row(of: &TaskStatistics) -> Vec<String> {
    let mut row = vec![of.name.clone(), of.core.to_string(), of.count.to_string()];
    row.push(missed(&of.misses));
    row.extend(percentiles(&of.start_lateness_ns));
    row.extend(percentiles(&of.execution_ns));
    row.extend([duration(of.budget_ns), of.over_budget.to_string()]);
    row
}

/// The list of misses, the job's first, then the irregularities.
pub(super) fn misses(report: &Report<'_>) -> String {
    let mut text = String::new();
    for found in &report.assessment.irregularities {
        let _ = write!(
            text,
            "<div class=\"irregular\"><b>{}</b> {}</div>",
            escape(&found.name),
            escape(&found.sentence)
        );
    }
    let misses = &report.assessment.misses;
    if misses.is_empty() {
        text.push_str(match (report.has_windows(), report.unknown_instances()) {
            (true, 0) => {
                "<p class=\"note\">None. Every instance of every task and every message kept its window.</p>"
            }
            (true, _) => {
                "<p class=\"note\">None is known. Each instance of which nothing is recorded may have been one.</p>"
            }
            (false, _) => {
                "<p class=\"note\">Nothing here has a window: no message comes by the clock, so no instant is promised that could \
                 be missed.</p>"
            }
        });
        return text;
    }
    let counts = &report.assessment.counts;
    let _ = write!(
        text,
        "<div class=\"filters\" role=\"group\" aria-label=\"Which misses\">\
         <button type=\"button\" data-party=\"all\" aria-pressed=\"true\">All {}</button>\
         <button type=\"button\" data-party=\"job\" aria-pressed=\"false\">The job\u{2019}s {}</button>\
         <button type=\"button\" data-party=\"process\" aria-pressed=\"false\">Another process\u{2019}s {}</button>\
         <button type=\"button\" data-party=\"machine\" aria-pressed=\"false\">The machine\u{2019}s {}</button></div><ol class=\"misses\">",
        misses.len(),
        counts.job,
        counts.process,
        counts.machine
    );
    let mut shown: Vec<&Miss> = misses.iter().collect();
    shown.sort_by_key(|miss| (miss.party, miss.root.is_some()));
    for miss in shown.iter().take(MISSES_LISTED_MAX) {
        one_miss(report, miss, &mut text);
    }
    text.push_str("</ol>");
    if misses.len() > MISSES_LISTED_MAX {
        let _ = write!(
            text,
            "<p class=\"note\">{MISSES_LISTED_MAX} of {} are shown, the job\u{2019}s first and roots before their consequences; report.json has more.</p>",
            misses.len()
        );
    }
    text
}

fn one_miss(report: &Report<'_>, miss: &Miss, text: &mut String) {
    let late =
        miss.late_by.map_or_else(|| "never happened".to_owned(), |late| format!("{} late", duration(late)));
    let phase = report.record.phases.get(miss.phase).map_or("", |phase| &phase.label);
    let party = miss.party;
    let chip = match (miss.unproven, &miss.culprit) {
        (true, _) => format!("{party}, unproven"),
        (false, Some(culprit)) => format!("{party}: {}", escape(&culprit.to_string())),
        (false, None) => party.to_string(),
    };
    let _ = write!(
        text,
        "<li data-party-of=\"{party}\"><details><summary><span class=\"chip {party}\">{chip}</span>\
         <span class=\"who\">{} <i>{}</i><small>{}</small></span>\
         <span class=\"what\"><span class=\"stage\">{}</span> {}<small>{}</small></span>\
         <span class=\"late\">{late}</span></summary>\
         <div class=\"detail\"><p class=\"note\">Due {} after the epoch.</p>",
        escape(&miss.name),
        miss.instance,
        escape(phase),
        miss.stage,
        miss.cause,
        escape(&units(miss.evidence.first().map_or("", String::as_str))),
        units(&miss.deadline.to_string())
    );
    if let Some(root) = &miss.root {
        let _ = write!(
            text,
            "<p>Follows from <b>{} {}</b>: {}.</p>",
            escape(&root.name),
            root.instance,
            root.cause
        );
    }
    text.push_str("<ul>");
    for sentence in &miss.evidence {
        let _ = write!(text, "<li>{}</li>", escape(&units(sentence)));
    }
    text.push_str("</ul><table class=\"timeline\"><tbody>");
    let base = miss.timeline.first().map_or(miss.deadline, |mark| mark.at);
    for mark in &miss.timeline {
        let _ = write!(
            text,
            "<tr><td>+{}</td><td class=\"left\">{}</td></tr>",
            duration(mark.at - base),
            escape(&units(&mark.what))
        );
    }
    let _ = write!(
        text,
        "</tbody></table><button type=\"button\" class=\"show\" data-show-phase=\"{}\" data-show-at=\"{}\">Show the round</button></div></details></li>",
        miss.phase, miss.deadline.0
    );
}

/// Facts about the machine, and what was missing.
pub(super) fn machine(report: &Report<'_>) -> String {
    let machine = &report.record.machine;
    let yes = |value: bool| if value { "yes" } else { "no" }.to_owned();
    let facts = [
        ("Kernel", machine.kernel.clone()),
        ("Processor", format!("{} ({} on line)", machine.processor, machine.cores_online)),
        (
            "Scheduling",
            if machine.scheduling.is_empty() { "no tasks".to_owned() } else { machine.scheduling.clone() },
        ),
        ("Idle states held off", yes(machine.idle_states_held)),
        ("Idle cores kept awake by spinning", yes(machine.kept_awake)),
        ("Log of switches sees the whole core", yes(machine.switch_log_whole_core)),
        (
            "The machine alone",
            match report.statistics.machine_alone.as_slice() {
                [] => "not measured in this run".to_owned(),
                rows => rows.iter().map(AloneStatistics::describe).collect::<Vec<_>>().join("; "),
            },
        ),
        ("Started", utc(report.record.started_unix_s)),
    ];
    let mut text = String::from("<dl class=\"facts\">");
    for (name, value) in facts {
        let _ = write!(text, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(&value));
    }
    text.push_str("</dl>");
    if machine.warnings.is_empty() {
        text.push_str("<p class=\"note\">Nothing that the run asked for was refused.</p>");
    } else {
        text.push_str("<ul class=\"warnings\">");
        for warning in &machine.warnings {
            let _ = write!(text, "<li>{}</li>", escape(warning));
        }
        text.push_str("</ul>");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_get_their_unit_apart() {
        let text = "late by 12.5us on core 0, 3ms of 2s; bus1us stays, 4us";
        assert_eq!(
            units(text),
            "late by 12.5\u{a0}\u{b5}s on core 0, 3\u{a0}ms of 2\u{a0}s; bus1us stays, 4\u{a0}\u{b5}s"
        );
    }

    #[test]
    fn text_cannot_leave_its_element() {
        assert_eq!(escape("</script><b a='\"'>&"), "&lt;/script&gt;&lt;b a=&#39;&quot;&#39;&gt;&amp;");
    }
}
