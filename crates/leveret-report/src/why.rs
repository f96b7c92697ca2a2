//! One instance: its timeline, planned against measured, and the verdict.

use crate::Report;
use crate::format::duration;
use crate::lookup::Index;
use crate::verdict::{self, Miss, Subject};
use crate::works::RECORDED_EVERY;
use leveret_plan::{Qos, Start};
use leveret_types::Nanos;
use std::fmt::Write;

/// Why an instance cannot be explained.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WhyError {
    /// No task and no channel has this name.
    #[error("the run has no task or channel \"{name}\"; {hint}")]
    UnknownName {
        /// As asked.
        name: String,
        /// The nearest name, or all names.
        hint: String,
    },
    /// The name is that of work beside the time table, whose runs have no record.
    #[error(
        "\"{name}\" runs beside the time table, for {start}, and none of its runs is recorded by itself; {hint}"
    )]
    NotRecorded {
        /// As asked.
        name: String,
        /// What starts it.
        start: String,
        /// What to do instead.
        hint: String,
    },
    /// The name exists, the instance does not.
    #[error("\"{name}\" has no instance {instance} in this run; {hint}")]
    UnknownInstance {
        /// As asked.
        name: String,
        /// As asked.
        instance: u64,
        /// Which instances there are.
        hint: String,
    },
}

/// Explains instance `instance` of the task or channel `name`, in every phase that has it.
///
/// # Errors
/// [`WhyError`] with the nearest name, or with the instances that were recorded.
pub fn why(report: &Report<'_>, name: &str, instance: u64) -> Result<String, WhyError> {
    let mut text = String::new();
    let (mut known, mut ranges) = (false, Vec::new());
    for (number, phase) in report.record.phases.iter().enumerate() {
        let index = Index::new(phase);
        let subjects =
            (0..phase.tasks.len()).filter(|&task| index.task_name(task) == name).map(Subject::Task).chain(
                (0..phase.channels.len())
                    .filter(|&channel| index.channel_name(channel) == name)
                    .map(Subject::Channel),
            );
        for subject in subjects {
            known = true;
            let timeline = verdict::timeline(report.record, number, subject, instance);
            if timeline.is_empty() {
                ranges.push(range(report, number, subject));
                continue;
            }
            let _ = writeln!(text, "{name}, instance {instance}, phase \"{}\"", phase.label);
            write_timeline(&timeline, &mut text);
            write_verdict(report, number, subject, instance, &mut text);
        }
    }
    if !known && let Some(error) = beside(report, name) {
        return Err(error);
    }
    if !known {
        return Err(WhyError::UnknownName { name: name.to_owned(), hint: nearest(report, name) });
    }
    if text.is_empty() {
        return Err(WhyError::UnknownInstance { name: name.to_owned(), instance, hint: ranges.join("; ") });
    }
    Ok(text)
}

fn write_timeline(timeline: &[verdict::Mark], text: &mut String) {
    let base = timeline.first().map_or(Nanos::ZERO, |mark| mark.at);
    let _ = writeln!(text, "  {:>18}  {:>10}", "from the epoch", "since");
    for mark in timeline {
        let _ = writeln!(
            text,
            "  {:>18}  {:>10}  {}",
            mark.at,
            format!("+{}", duration(mark.at - base)),
            mark.what
        );
    }
}

fn write_verdict(report: &Report<'_>, phase: usize, subject: Subject, instance: u64, text: &mut String) {
    let of = |miss: &&Miss| miss.phase == phase && miss.subject == subject && miss.instance == instance;
    let Some(miss) = report.assessment.misses.iter().find(of) else {
        let free = match subject {
            Subject::Channel(channel) => !Index::new(&report.record.phases[phase]).is_time_driven(channel),
            Subject::Task(_) => false,
        };
        let verdict = if free {
            without_window(report, phase, subject, instance)
        } else {
            "kept its window".to_owned()
        };
        let _ = writeln!(text, "verdict: {verdict}");
        if let Subject::Task(task) = subject {
            for sentence in verdict::explain(report.record, phase, task, instance) {
                let _ = writeln!(text, "  yet: {sentence}");
            }
        }
        text.push('\n');
        return;
    };
    let late = miss
        .late_by
        .map_or_else(|| "it never happened".to_owned(), |late| format!("{} late", duration(late)));
    let door = match miss.door {
        verdict::Door::Ours => "ours",
        verdict::Door::Machine => "the machine's",
    };
    let _ = writeln!(
        text,
        "verdict: missed ({late}); stage: {}; cause: {}; the miss is {door}",
        miss.stage, miss.cause
    );
    if let Some(root) = &miss.root {
        let _ = writeln!(text, "  it follows from {}, instance {}: {}", root.name, root.instance, root.cause);
    }
    for sentence in &miss.evidence {
        let _ = writeln!(text, "  evidence: {sentence}");
    }
    text.push('\n');
}

/// What can be said of a message that has no window: whether it took longer than its channel's deadline.
fn without_window(report: &Report<'_>, phase: usize, subject: Subject, instance: u64) -> String {
    let plain = "it has no window: its channel is not time-driven".to_owned();
    let Subject::Channel(channel) = subject else { return plain };
    let phase = &report.record.phases[phase];
    let Some((priority, _, Some(deadline))) =
        phase.job.channels.get(channel).and_then(|model| model.qos.service())
    else {
        return plain;
    };
    if matches!(&phase.job.channels[channel].qos, Qos::EventDriven { start: Some(_), .. }) {
        return format!(
            "it has no window: its channel is event-driven at priority {priority}, and its deadline of {deadline} counts from the \
             firing, whose instant is not recorded"
        );
    }
    let messages = &phase.channels[channel].messages;
    let took = messages.iter().find(|message| message.instance == instance);
    match took.and_then(|message| Some(message.taken? - message.inserted?)) {
        Some(took) if took > deadline => format!(
            "it took {}, {} longer than its channel's deadline of {deadline} at priority {priority}",
            duration(took),
            duration(took - deadline)
        ),
        Some(took) => {
            format!(
                "it took {}, within its channel's deadline of {deadline} at priority {priority}",
                duration(took)
            )
        }
        None => plain,
    }
}

/// Why nothing is known of a run of this work, and what is.
fn beside(report: &Report<'_>, name: &str) -> Option<WhyError> {
    let mut phases = report.record.phases.iter().zip(&report.statistics.phases);
    let (start, work) = phases.find_map(|(phase, statistics)| {
        let place = phase.job.sporadics.iter().position(|work| work.name == name)?;
        Some((&phase.job.sporadics[place].start, statistics.works.get(place)?))
    })?;
    let hint = match start {
        Start::Event { .. } => {
            "the program can ask for its runs, times and misses (MPIRTX_Task_get_metrics, MPIRTX_Handler_get_metrics; in Rust \
             Committed::task_metrics, handler_metrics); with a period each instance would be here"
                .to_owned()
        }
        Start::Message(_) | Start::Request(_) => {
            "ask for an instance of its channel; leveret report has its counts".to_owned()
        }
    };
    Some(WhyError::NotRecorded { name: name.to_owned(), start: work.start.clone(), hint })
}

/// The instances that were recorded.
fn range(report: &Report<'_>, phase: usize, subject: Subject) -> String {
    let phase = &report.record.phases[phase];
    let ends = match subject {
        Subject::Task(task) => {
            let instances = &phase.tasks[task].instances;
            instances.first().zip(instances.last()).map(|(a, b)| (a.instance, b.instance))
        }
        Subject::Channel(channel) => {
            let record = &phase.channels[channel];
            let ends =
                record.messages.first().zip(record.messages.last()).map(|(a, b)| (a.instance, b.instance));
            if !Index::new(phase).is_time_driven(channel) {
                return sampled(&phase.label, ends, (record.sent, record.taken));
            }
            ends
        }
    };
    match ends {
        Some((first, last)) => format!("phase \"{}\" recorded {first} to {last}", phase.label),
        None => format!("phase \"{}\" recorded none", phase.label),
    }
}

/// The same of a channel that the clock does not move.
fn sampled(label: &str, ends: Option<(u64, u64)>, (sent, taken): (Option<u64>, Option<u64>)) -> String {
    let counts = match (sent, taken) {
        (Some(sent), Some(taken)) => format!("; {sent} were sent and {taken} taken"),
        _ => String::new(),
    };
    let which = match ends {
        Some((first, last)) => format!("from {first} to {last}"),
        None => "and none was".to_owned(),
    };
    format!(
        "of a channel that the clock does not move every {RECORDED_EVERY}th message is recorded: phase \"{label}\" {which}{counts}; of a \
         time-driven one every message would be"
    )
}

/// `did you mean "a-to-b"?`, or the names there are.
fn nearest(report: &Report<'_>, name: &str) -> String {
    let mut names: Vec<&str> = report
        .record
        .phases
        .iter()
        .flat_map(|phase| {
            let tasks = phase.job.tasks.iter().map(|task| task.name.as_str());
            let works = phase.job.sporadics.iter().map(|work| work.name.as_str());
            tasks.chain(works).chain(phase.job.channels.iter().map(|channel| channel.name.as_str()))
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    let best = names
        .iter()
        .map(|&known| (strsim::damerau_levenshtein(&name.to_lowercase(), &known.to_lowercase()), known))
        .min_by_key(|&(distance, _)| distance);
    match best {
        Some((distance, known)) if distance <= known.len().max(name.len()) / 2 => {
            format!("did you mean \"{known}\"?")
        }
        Some(_) => format!("it has {}", names.join(", ")),
        None => "it recorded none at all".to_owned(),
    }
}
