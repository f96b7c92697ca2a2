//! Distributions and courses over time, reduced to what a page can hold.

use super::parts::units;
use crate::Report;
use crate::format::{duration, short};
use crate::lookup::Index;
use crate::record::{InstanceRecord, Outcome, Phase};
use crate::statistics::Summary;
use crate::verdict::{Miss, Subject, explain};
use crate::works::RECORDED;
use leveret_types::Nanos;
use serde_json::{Value, json};

/// Most points of all courses in the page.
const POINTS_MAX: usize = 60_000;
/// Most buckets of one course; each gives its greatest and its middle value.
const BUCKETS_MAX: usize = 900;
/// Most curves of one phase.
const SERIES_MAX: usize = 160;
/// Bins of a histogram.
const BINS: usize = 72;

/// A measured quantity of one task or channel.
struct Curve {
    kind: &'static str,
    subject: Subject,
    name: String,
    /// Instance number and value.
    values: Vec<(u64, i64)>,
    bound: Option<Nanos>,
    bound_label: &'static str,
}

/// Every curve of a phase.
pub(super) fn all(report: &Report<'_>, number: usize, phase: &Phase, phases: usize) -> Vec<Value> {
    let mut curves = curves(phase);
    curves.truncate(SERIES_MAX);
    let buckets = (POINTS_MAX / 2 / phases / curves.len().max(1)).clamp(40, BUCKETS_MAX);
    curves
        .iter()
        .filter(|curve| !curve.values.is_empty())
        .map(|curve| drawn(report, number, curve, buckets))
        .collect()
}

/// The bare timer's lateness beside a phase.
pub(super) fn alone(phase: &Phase, phases: usize) -> Value {
    let probe = &phase.alone;
    let values: Vec<(u64, i64)> =
        probe.lateness_ns.iter().enumerate().map(|(place, &late)| (place as u64, i64::from(late))).collect();
    if values.is_empty() {
        return Value::Null;
    }
    json!({
        "core": probe.core,
        "period": probe.period,
        "scheduling": probe.scheduling,
        "summary": Summary::of(values.iter().map(|&(_, value)| value)),
        "histogram": histogram(&values, None),
        "points": points(&values, (POINTS_MAX / phases).clamp(40, BUCKETS_MAX)),
        "count": values.len(),
    })
}

fn curves(phase: &Phase) -> Vec<Curve> {
    let index = Index::new(phase);
    let mut curves = Vec::new();
    for (task, record) in phase.tasks.iter().enumerate() {
        let curve = |kind, of: &dyn Fn(&InstanceRecord) -> Option<i64>, bound, bound_label| Curve {
            kind,
            subject: Subject::Task(task),
            name: index.task_name(task),
            values: record
                .instances
                .iter()
                .filter_map(|instance| Some((instance.instance, of(instance)?)))
                .collect(),
            bound,
            bound_label,
        };
        // One that was skipped is late by all that it waited.
        let late = |instance: &InstanceRecord| Some(instance.start_lateness().0);
        curves.push(curve("lateness", &late, start_slack(phase, task), "room left by the plan"));
        let execution = |instance: &InstanceRecord| {
            let ran = matches!(instance.outcome, Outcome::Ran | Outcome::RanLate);
            ran.then(|| instance.execution().0)
        };
        let budget = phase.job.tasks.get(task).map(|model| model.budget);
        curves.push(curve("execution", &execution, budget, "budget"));
    }
    for (channel, record) in phase.channels.iter().enumerate() {
        let name = index.channel_name(channel);
        let subject = Subject::Channel(channel);
        // A best-effort message is there at once: there is no such time to draw.
        let time_driven = index.is_time_driven(channel);
        let in_time = |at: Nanos, due: Nanos| time_driven && at <= due;
        let values = record
            .messages
            .iter()
            .filter(|message| message.inserted.is_some_and(|at| in_time(at, message.due)));
        let available =
            values.filter_map(|message| Some((message.instance, (message.due - message.inserted?).0)));
        let bound = available_bound(phase, &index, channel);
        curves.push(Curve {
            kind: "available",
            subject,
            name: name.clone(),
            values: available.collect(),
            bound,
            bound_label: "planned start of the sender",
        });
        let taken = record.messages.iter();
        let taken =
            taken.filter_map(|message| Some((message.instance, (message.taken? - message.inserted?).0)));
        let planned = phase.plan.channels.get(channel).filter(|planned| !planned.instances.is_empty());
        curves.push(Curve {
            kind: "taken",
            subject,
            name,
            values: taken.collect(),
            bound: planned.map(|planned| planned.latency_bound),
            bound_label: "planned bound",
        });
    }
    curves
}

/// How late a start may be and still leave the whole budget.
fn start_slack(phase: &Phase, task: usize) -> Option<Nanos> {
    let planned = phase.plan.tasks.get(task)?;
    planned.instances.iter().map(|instance| instance.latest - instance.end()).min()
}

/// The longest time from a sender's planned start to visibility.
fn available_bound(phase: &Phase, index: &Index<'_>, channel: usize) -> Option<Nanos> {
    let transfers = &phase.plan.channels.get(channel)?.instances;
    let of = |(number, transfer): (usize, &leveret_plan::PlannedTransfer)| {
        let (task, instance) = index.writer(channel, number as u64)?;
        let planned = phase.plan.tasks.get(task)?;
        let place = usize::try_from(instance).ok()?;
        Some(transfer.visible_at - planned.instances.get(place)?.start())
    };
    transfers.iter().enumerate().filter_map(of).max()
}

fn drawn(report: &Report<'_>, number: usize, curve: &Curve, buckets: usize) -> Value {
    let worst =
        curve.values.iter().copied().max_by_key(|&(instance, value)| (value, std::cmp::Reverse(instance)));
    let worst = worst.map(|(instance, value)| {
        json!({ "instance": instance, "value": value, "words": units(&words(report, number, curve, instance, value)) })
    });
    json!({
        "kind": curve.kind,
        "name": curve.name,
        "bound": curve.bound,
        "boundLabel": curve.bound_label,
        "summary": Summary::of(curve.values.iter().map(|&(_, value)| value)),
        "histogram": histogram(&curve.values, curve.bound),
        "points": points(&curve.values, buckets),
        "worst": worst,
        "round": rounds_of(report, number, curve.subject),
        "first": first_of(&report.record.phases[number], curve.subject),
    })
}

/// Instances in one hyperperiod, so that the page can find the round of an instance.
fn rounds_of(report: &Report<'_>, number: usize, subject: Subject) -> usize {
    let plan = &report.record.phases[number].plan;
    match subject {
        Subject::Task(task) => plan.tasks.get(task).map_or(1, |planned| planned.instances.len()),
        Subject::Channel(channel) => plan.channels.get(channel).map_or(1, |planned| planned.instances.len()),
    }
    .max(1)
}

/// The first instance of the phase; others follow from one that the phase goes on with.
fn first_of(phase: &Phase, subject: Subject) -> u64 {
    let index = Index::new(phase);
    match subject {
        Subject::Task(task) => index.first_of_task(task),
        Subject::Channel(channel) => index.first_of_channel(channel),
    }
}

/// The worst instance in words.
fn words(report: &Report<'_>, number: usize, curve: &Curve, instance: u64, value: i64) -> String {
    let of =
        |miss: &&Miss| miss.phase == number && miss.subject == curve.subject && miss.instance == instance;
    let head = format!("Greatest of the run: {} in instance {instance} of {}.", short(value), curve.name);
    if let Some(miss) = report.assessment.misses.iter().find(of) {
        let evidence = miss.evidence.first().map_or("", String::as_str);
        return format!("{head} It is a miss, {} ({}): {evidence}.", miss.cause, miss.party.possessive());
    }
    if let Subject::Channel(channel) = curve.subject
        && !Index::new(&report.record.phases[number]).is_time_driven(channel)
    {
        return format!("{head} It has no window; {RECORDED}.");
    }
    let evidence = match curve.subject {
        Subject::Task(task) => explain(report.record, number, task, instance),
        Subject::Channel(_) => Vec::new(),
    };
    let kept = match (curve.bound, evidence.first()) {
        (_, Some(sentence)) => format!("The window was kept all the same: {sentence}."),
        (Some(bound), None) if value <= bound.0 => {
            format!("It lies within the {} ({}).", curve.bound_label, duration(bound))
        }
        _ => "The window was kept.".to_owned(),
    };
    format!("{head} {kept}")
}

/// Counts over bins; logarithmic when the values span more than a factor of 20.
fn histogram(values: &[(u64, i64)], bound: Option<Nanos>) -> Value {
    let least = values.iter().map(|&(_, value)| value.max(1)).min().unwrap_or(1);
    let most = values.iter().map(|&(_, value)| value.max(1)).max().unwrap_or(1);
    let reach = bound.map_or(most, |bound| most.max(bound.0.max(1)));
    let logarithmic = most / least > 20;
    let from = if logarithmic { (least as f64).ln() } else { least as f64 };
    let to = if logarithmic { (most as f64 * 1.02).ln() } else { most as f64 + 1.0 };
    let width = ((to - from) / BINS as f64).max(if logarithmic { 0.02 } else { 1.0 });
    let mut counts = vec![0_u64; BINS];
    for &(_, value) in values {
        let value = value.max(1) as f64;
        let place = ((if logarithmic { value.ln() } else { value }) - from) / width;
        counts[(place.max(0.0) as usize).min(BINS - 1)] += 1;
    }
    json!({
        "log": logarithmic,
        "from": round(from),
        "width": round(width),
        "counts": counts,
        "reach": reach,
    })
}

fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// Per bucket the greatest and the middle value, as `[instances, values]`.
fn points(values: &[(u64, i64)], buckets: usize) -> Value {
    let size = values.len().div_ceil(buckets.max(1)).max(1);
    let (mut at, mut of) = (Vec::new(), Vec::new());
    for bucket in values.chunks(size) {
        let mut sorted = bucket.to_vec();
        sorted.sort_unstable_by_key(|&(instance, value)| (value, instance));
        let mut kept = vec![sorted[sorted.len() - 1]];
        if sorted.len() > 1 {
            kept.push(sorted[(sorted.len() - 1) / 2]);
        }
        kept.sort_unstable();
        for (instance, value) in kept {
            at.push(instance);
            of.push(value);
        }
    }
    json!([at, of])
}
