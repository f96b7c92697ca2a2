//! One instance: its timeline, planned against measured, and the verdict.

use crate::Report;
use crate::format::duration;
use crate::lookup::Index;
use crate::verdict::{self, Miss, Subject};
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
        let verdict =
            if free { "it has no window: its channel is not time-driven" } else { "kept its window" };
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

/// The instances that were recorded.
fn range(report: &Report<'_>, phase: usize, subject: Subject) -> String {
    let phase = &report.record.phases[phase];
    let ends = match subject {
        Subject::Task(task) => {
            let instances = &phase.tasks[task].instances;
            instances.first().zip(instances.last()).map(|(a, b)| (a.instance, b.instance))
        }
        Subject::Channel(channel) => {
            let messages = &phase.channels[channel].messages;
            messages.first().zip(messages.last()).map(|(a, b)| (a.instance, b.instance))
        }
    };
    match ends {
        Some((first, last)) => format!("phase \"{}\" recorded {first} to {last}", phase.label),
        None => format!("phase \"{}\" recorded none", phase.label),
    }
}

/// `did you mean "a-to-b"?`, or the names there are.
fn nearest(report: &Report<'_>, name: &str) -> String {
    let mut names: Vec<&str> = report
        .record
        .phases
        .iter()
        .flat_map(|phase| {
            let tasks = phase.job.tasks.iter().map(|task| task.name.as_str());
            tasks.chain(phase.job.channels.iter().map(|channel| channel.name.as_str()))
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
