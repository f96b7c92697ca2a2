//! One instance: its timeline, planned against measured, and the verdict.

mod untaken;

use crate::Report;
use crate::format::{duration, from_epoch, instant};
use crate::lookup::Index;
use crate::record::{EventKind, Phase};
use crate::verdict::{self, Mark, Miss, Subject};
use crate::works::RECORDED;
use leveret_plan::{Qos, Start};
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
    /// The name exists, a record of the instance does not.
    #[error("of \"{name}\" no instance {instance} is recorded: {recorded}; {hint}")]
    UnknownInstance {
        /// As asked.
        name: String,
        /// As asked.
        instance: u64,
        /// Which instances are.
        recorded: String,
        /// The nearest of them.
        hint: String,
    },
}

/// What is known of one instance in one phase.
#[derive(Clone, PartialEq, Debug)]
pub struct Explained<'a> {
    /// Of the task or channel.
    pub name: &'a str,
    /// Which.
    pub instance: u64,
    /// Number of the phase.
    pub number: usize,
    /// The phase's own name.
    pub phase: &'a str,
    /// What happened when.
    pub timeline: Vec<Mark>,
    /// How it came out, of one that is no miss.
    pub verdict: String,
    /// How it was judged, if it is a miss.
    pub miss: Option<&'a Miss>,
    /// Whatever else it depended on.
    pub yet: Vec<String>,
}

/// Explains instance `instance` of the task or channel `name`, in every phase that has it, for people.
///
/// # Errors
/// As [`explain`].
pub fn why(report: &Report<'_>, name: &str, instance: u64) -> Result<String, WhyError> {
    Ok(explain(report, name, instance)?.iter().map(text).collect())
}

/// The same for programs; times in nanoseconds from the epoch of the phase.
///
/// # Errors
/// As [`explain`].
pub fn json(report: &Report<'_>, name: &str, instance: u64) -> Result<serde_json::Value, WhyError> {
    let explained = explain(report, name, instance)?;
    let of_phase = |of: &Explained<'_>| {
        let mark = |mark: &Mark| serde_json::json!({ "at_ns": mark.at, "what": mark.what });
        let timeline: Vec<_> = of.timeline.iter().map(mark).collect();
        serde_json::json!({
            "phase": of.number,
            "label": of.phase,
            "name": of.name,
            "instance": of.instance,
            "verdict": of.verdict,
            "miss": of.miss.map(crate::json::miss),
            "yet": of.yet,
            "timeline": timeline,
        })
    };
    Ok(explained.iter().map(of_phase).collect())
}

/// Explains instance `instance` of the task or channel `name`, in every phase that has it.
///
/// # Errors
/// [`WhyError`] with the nearest name, or with the instances that were recorded.
pub fn explain<'a>(
    report: &'a Report<'_>,
    name: &'a str,
    instance: u64,
) -> Result<Vec<Explained<'a>>, WhyError> {
    let (mut found, mut asked) = (Vec::new(), Vec::new());
    for (number, phase) in report.record.phases.iter().enumerate() {
        let index = Index::new(phase);
        let subjects =
            (0..phase.tasks.len()).filter(|&task| index.task_name(task) == name).map(Subject::Task).chain(
                (0..phase.channels.len())
                    .filter(|&channel| index.channel_name(channel) == name)
                    .map(Subject::Channel),
            );
        for subject in subjects {
            asked.push((number, subject));
            let timeline = verdict::timeline(report.record, number, subject, instance);
            let base = Explained {
                name,
                instance,
                number,
                phase: &phase.label,
                timeline,
                verdict: String::new(),
                miss: None,
                yet: Vec::new(),
            };
            found.extend(match base.timeline.is_empty() {
                true => {
                    unended(&index, phase, subject, instance).map(|verdict| Explained { verdict, ..base })
                }
                false => Some(judged(report, subject, base)),
            });
        }
    }
    if asked.is_empty() {
        let unknown = || WhyError::UnknownName { name: name.to_owned(), hint: nearest(report, name) };
        return Err(beside(report, name).unwrap_or_else(unknown));
    }
    if found.is_empty() {
        let (name, recorded) = (name.to_owned(), recorded(report, &asked));
        let hint = nearest_instance(report, &asked, instance);
        return Err(WhyError::UnknownInstance { name, instance, recorded, hint });
    }
    Ok(found)
}

/// With what was found of an instance that was recorded.
fn judged<'a>(report: &'a Report<'_>, subject: Subject, base: Explained<'a>) -> Explained<'a> {
    let (phase, instance) = (base.number, base.instance);
    let of = |miss: &&Miss| miss.phase == phase && miss.subject == subject && miss.instance == instance;
    if let Some(miss) = report.assessment.misses.iter().find(of) {
        return Explained { verdict: verdict_of(miss), miss: Some(miss), ..base };
    }
    let yet = match subject {
        Subject::Task(task) => verdict::explain(report.record, phase, task, instance),
        Subject::Channel(_) => Vec::new(),
    };
    Explained { verdict: not_missed(report, phase, subject, instance), yet, ..base }
}

/// Of a miss: how late, at which stage, why and whose.
fn verdict_of(miss: &Miss) -> String {
    let late = miss
        .late_by
        .map_or_else(|| "it never happened".to_owned(), |late| format!("{} late", duration(late)));
    let whose = match (&miss.culprit, miss.unproven) {
        (_, true) => format!("{} (unproven)", miss.party.possessive()),
        (Some(culprit), _) if culprit.rank.is_empty() => format!("{} ({culprit})", miss.party.possessive()),
        (Some(culprit), _) => format!("{} ({culprit}, {})", miss.party.possessive(), culprit.rank),
        (None, _) => miss.party.possessive().to_owned(),
    };
    format!("missed ({late}); stage: {}; cause: {}; the miss is {whose}", miss.stage, miss.cause)
}

fn text(of: &Explained<'_>) -> String {
    let mut text = format!("{}, instance {}, phase \"{}\"\n", of.name, of.instance, of.phase);
    if let Some(first) = of.timeline.first() {
        let _ = writeln!(text, "  {:>24}  {:>10}", "from the epoch", "since");
        for mark in &of.timeline {
            let since = format!("+{}", duration(mark.at - first.at));
            let _ = writeln!(text, "  {:>24}  {since:>10}  {}", from_epoch(mark.at), mark.what);
        }
    }
    let _ = writeln!(text, "verdict: {}", of.verdict);
    if let Some(root) = of.miss.and_then(|miss| miss.root.as_ref()) {
        let _ = writeln!(text, "  it follows from {}, instance {}: {}", root.name, root.instance, root.cause);
    }
    for sentence in of.miss.iter().flat_map(|miss| &miss.evidence) {
        let _ = writeln!(text, "  evidence: {sentence}");
    }
    for sentence in &of.yet {
        let _ = writeln!(text, "  yet: {sentence}");
    }
    text.push('\n');
    text
}

/// What is known of a task's instance that never ended, and of those that were to come after it.
fn unended(index: &Index<'_>, phase: &Phase, subject: Subject, instance: u64) -> Option<String> {
    let Subject::Task(task) = subject else { return None };
    let (unended, at) = index.unended(task).filter(|(unended, _)| *unended <= instance)?;
    let a_round = phase.plan.tasks.get(task).map_or(0, |planned| planned.instances.len() as u64);
    let end = index.first_of_task(task).saturating_add(phase.rounds.saturating_mul(a_round));
    if instance >= end {
        return None;
    }
    let member = index.member(task);
    let ended = phase.events.iter().find_map(|event| match &event.kind {
        EventKind::MemberDied { member: of, how } | EventKind::MemberEnded { member: of, how }
            if Some(*of) == member =>
        {
            Some(format!("; its member ended {} ({how})", instant(event.at)))
        }
        _ => None,
    });
    let ended = ended.unwrap_or_default();
    Some(match unended == instance {
        true => format!("it began {} and never ended{ended}", instant(at)),
        false => format!("it never began: instance {unended} began {} and never ended{ended}", instant(at)),
    })
}

/// What is said of an instance that is no miss.
fn not_missed(report: &Report<'_>, phase: usize, subject: Subject, instance: u64) -> String {
    let kept = || "kept its window".to_owned();
    let Subject::Channel(channel) = subject else { return kept() };
    let content = &report.record.phases[phase];
    match Index::new(content).is_time_driven(channel) {
        true => untaken::of(content, channel, instance).unwrap_or_else(kept),
        false => without_window(report, phase, subject, instance),
    }
}

/// What can be said of a message that has no window: whether it took longer than its channel's deadline.
fn without_window(report: &Report<'_>, phase: usize, subject: Subject, instance: u64) -> String {
    let phase = &report.record.phases[phase];
    let model = match subject {
        Subject::Channel(channel) => phase.job.channels.get(channel),
        Subject::Task(_) => None,
    };
    let kind = match model.map(|model| &model.qos) {
        Some(Qos::EventDriven { .. }) => "event-driven",
        Some(Qos::PriorityDriven { .. }) => "priority-driven",
        Some(Qos::BestEffort) => "best-effort",
        _ => "not time-driven",
    };
    let plain = format!("it has no window: its channel is {kind}");
    let Subject::Channel(channel) = subject else { return plain };
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

/// Phases beyond these are only counted.
const PHASES_LISTED: usize = 4;

/// The numbers that were recorded of a task or a channel, in order.
fn numbers(phase: &Phase, subject: Subject) -> Box<dyn DoubleEndedIterator<Item = u64> + '_> {
    match subject {
        Subject::Task(task) => Box::new(phase.tasks[task].instances.iter().map(|record| record.instance)),
        Subject::Channel(channel) => {
            Box::new(phase.channels[channel].messages.iter().map(|record| record.instance))
        }
    }
}

/// Which instances were recorded in which phases, and why no others where that is a rule.
fn recorded(report: &Report<'_>, asked: &[(usize, Subject)]) -> String {
    let phases = &report.record.phases;
    let is_sampled = |number: usize, subject: Subject| match subject {
        Subject::Task(_) => false,
        Subject::Channel(channel) => !Index::new(&phases[number]).is_time_driven(channel),
    };
    let of_phase = |&(number, subject): &(usize, Subject)| {
        let phase = &phases[number];
        let mut found = numbers(phase, subject);
        let ends = found.next().map(|first| (first, found.next_back().unwrap_or(first)));
        let label = &phase.label;
        let which = match ends {
            Some((first, last)) if first == last => format!("phase \"{label}\" has {first}"),
            Some((first, last)) => format!("phase \"{label}\" has {first} to {last}"),
            None => format!("phase \"{label}\" has none"),
        };
        let Subject::Channel(channel) = subject else { return which };
        match (phase.channels[channel].sent, phase.channels[channel].taken) {
            (Some(sent), Some(taken)) if is_sampled(number, subject) => {
                format!("{which}, where {sent} were sent and {taken} taken")
            }
            _ => which,
        }
    };
    let mut told: Vec<String> = asked.iter().take(PHASES_LISTED).map(of_phase).collect();
    if asked.len() > PHASES_LISTED {
        told.push(format!("{} more phases have others or none", asked.len() - PHASES_LISTED));
    }
    let told = told.join(", ");
    match asked.iter().any(|&(number, subject)| is_sampled(number, subject)) {
        true => format!("{RECORDED}, of a time-driven one each would be; {told}"),
        false => told,
    }
}

/// The recorded instance that is nearest to the one that was asked for.
fn nearest_instance(report: &Report<'_>, asked: &[(usize, Subject)], instance: u64) -> String {
    let phases = &report.record.phases;
    let all = asked.iter().flat_map(|&(number, subject)| {
        numbers(&phases[number], subject).map(move |found| (found.abs_diff(instance), found, number))
    });
    match all.min() {
        Some((_, found, number)) => {
            format!("the nearest that is recorded is instance {found}, in phase \"{}\"", phases[number].label)
        }
        None => "none of it is recorded".to_owned(),
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
