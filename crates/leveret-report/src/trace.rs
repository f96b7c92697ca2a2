//! A trace in the JSON format of Chromium's viewer, which Perfetto's UI opens: a process per member, two tracks per
//! task (planned above measured), arrows from insertion to taking, marks for misses and events. A run that would take more than
//! a given size is shown in part: the rounds around misses, and the first.

use crate::Report;
use crate::format::short;
use crate::lookup::Index;
use crate::record::{InstanceRecord, Outcome, Phase};
use crate::verdict::{self, Subject};
use leveret_types::Nanos;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What an instance, and a message, take of the text, about.
const INSTANCE_BYTES: usize = 800;
const MESSAGE_BYTES: usize = 600;

/// The trace of the whole run as JSON text.
pub fn text(report: &Report<'_>) -> String {
    within(report, usize::MAX)
}

/// The trace as JSON text of about `bytes` at most.
pub fn within(report: &Report<'_>, bytes: usize) -> String {
    let bytes = bytes / report.record.phases.len().max(1);
    let mut trace =
        Trace { text: String::from("{\"displayTimeUnit\":\"ns\",\"traceEvents\":["), first: true, flow: 0 };
    let base = report.record.phases.iter().map(|phase| phase.epoch_monotonic).min().unwrap_or_default();
    let mut named = false;
    for (number, phase) in report.record.phases.iter().enumerate() {
        if !named {
            names(phase, &mut trace);
            named = true;
        }
        let shift = phase.epoch_monotonic - base;
        let shown = Shown::new(report, number, phase, bytes);
        shown.say(phase, shift, &mut trace);
        tasks(phase, &shown, shift, &mut trace);
        messages(phase, &shown, shift, &mut trace);
        marks(report, number, (phase, &shown), shift, &mut trace);
    }
    trace.text.push_str("\n]}\n");
    trace.text
}

/// The rounds of a phase that are shown.
struct Shown {
    round: Nanos,
    /// `None`: all.
    rounds: Option<BTreeSet<i64>>,
    /// How many are recorded.
    recorded: usize,
}

impl Shown {
    fn new(report: &Report<'_>, number: usize, phase: &Phase, bytes: usize) -> Self {
        let round = Nanos(phase.plan.hyperperiod.0.max(1));
        let of = |at: Nanos| at.0.div_euclid(round.0);
        let mut sizes: BTreeMap<i64, usize> = BTreeMap::new();
        for instance in phase.tasks.iter().flat_map(|task| &task.instances) {
            *sizes.entry(of(instance.planned)).or_default() += INSTANCE_BYTES;
        }
        for message in phase.channels.iter().flat_map(|channel| &channel.messages) {
            *sizes.entry(of(message.due)).or_default() += MESSAGE_BYTES;
        }
        let recorded = sizes.len();
        if sizes.values().fold(0, |sum: usize, size| sum.saturating_add(*size)) <= bytes {
            return Self { round, rounds: None, recorded };
        }
        let missed = report.assessment.misses.iter().filter(|miss| miss.phase == number);
        let around = missed.map(|miss| of(miss.deadline)).flat_map(|at| [at.saturating_sub(1), at]);
        let (mut rounds, mut left) = (BTreeSet::new(), bytes);
        for at in around.chain(sizes.keys().copied()) {
            let size = sizes.get(&at).copied().unwrap_or(0);
            if !rounds.contains(&at) && size <= left {
                left -= size;
                rounds.insert(at);
            }
        }
        Self { round, rounds: Some(rounds), recorded }
    }

    fn holds(&self, at: Nanos) -> bool {
        self.rounds.as_ref().is_none_or(|rounds| rounds.contains(&at.0.div_euclid(self.round.0)))
    }

    /// A mark at the beginning, where not everything is shown.
    fn say(&self, phase: &Phase, shift: Nanos, trace: &mut Trace) {
        let Some(rounds) = &self.rounds else { return };
        let (shown, recorded) = (rounds.len(), self.recorded);
        trace.push(&json!({
            "ph": "i", "s": "g", "pid": 1, "tid": 1, "ts": micros(shift),
            "name": format!(
                "shown: {shown} of {recorded} recorded rounds, around misses and from the beginning, of {} in all", phase.rounds
            ),
        }));
    }
}

struct Trace {
    text: String,
    first: bool,
    flow: u64,
}

impl Trace {
    fn push(&mut self, event: &Value) {
        let separator = if self.first { "\n" } else { ",\n" };
        self.first = false;
        let _ = write!(self.text, "{separator}{event}");
    }

    fn slice(&mut self, name: &str, track: (u64, u64), from: Nanos, to: Nanos, args: Option<Value>) {
        if to > from {
            let mut event = json!({
                "ph": "X", "name": name, "pid": track.0, "tid": track.1,
                "ts": micros(from), "dur": micros(to - from),
            });
            if let Some(args) = args {
                event["args"] = args;
            }
            self.push(&event);
        }
    }
}

fn micros(at: Nanos) -> f64 {
    at.0 as f64 / 1e3
}

/// Process and track of a task; the planned track lies just above the measured one.
fn track(phase: &Phase, task: usize, measured: bool) -> (u64, u64) {
    let member = phase.job.tasks.get(task).map_or(0, |model| u64::from(model.member.0));
    (member + 1, 2 * task as u64 + 1 + u64::from(measured))
}

fn names(phase: &Phase, trace: &mut Trace) {
    for (rank, member) in phase.job.members.iter().enumerate() {
        let pid = rank as u64 + 1;
        trace
            .push(&json!({ "ph": "M", "name": "process_name", "pid": pid, "args": { "name": member.name } }));
        trace.push(
            &json!({ "ph": "M", "name": "process_sort_index", "pid": pid, "args": { "sort_index": rank } }),
        );
    }
    for (task, model) in phase.job.tasks.iter().enumerate() {
        for measured in [false, true] {
            let (pid, tid) = track(phase, task, measured);
            let core = phase.plan.tasks.get(task).map_or(0, |planned| planned.core);
            let suffix = if measured { format!("measured, core {core}") } else { "planned".to_owned() };
            let name = format!("{} ({suffix})", model.name);
            trace.push(&json!({ "ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": { "name": name } }));
            trace.push(
                &json!({ "ph": "M", "name": "thread_sort_index", "pid": pid, "tid": tid, "args": { "sort_index": tid } }),
            );
        }
    }
}

fn tasks(phase: &Phase, shown: &Shown, shift: Nanos, trace: &mut Trace) {
    let index = Index::new(phase);
    for (task, record) in phase.tasks.iter().enumerate() {
        let name = index.task_name(task);
        for instance in record.instances.iter().filter(|instance| shown.holds(instance.planned)) {
            planned(phase, task, instance, shift, trace);
            measured(phase, task, &name, instance, shift, trace);
        }
    }
}

fn planned(phase: &Phase, task: usize, instance: &InstanceRecord, shift: Nanos, trace: &mut Trace) {
    let Some(plan) = phase.plan.tasks.get(task).filter(|plan| !plan.instances.is_empty()) else { return };
    let since = instance.instance.saturating_sub(phase.tasks.get(task).map_or(0, |record| record.before));
    let table = &plan.instances[(since % plan.instances.len() as u64) as usize];
    let offset = instance.planned - table.start() + shift;
    let track = track(phase, task, false);
    let name = format!("planned {}", instance.instance);
    for segment in &table.segments {
        trace.slice(&name, track, segment.start + offset, segment.end + offset, None);
    }
}

fn measured(
    phase: &Phase,
    task: usize,
    name: &str,
    instance: &InstanceRecord,
    shift: Nanos,
    trace: &mut Trace,
) {
    let track = track(phase, task, true);
    if matches!(instance.outcome, Outcome::SkippedCritical | Outcome::SkippedOverrun) {
        trace.push(&json!({
            "ph": "i", "s": "t", "name": format!("skipped {}", instance.instance),
            "pid": track.0, "tid": track.1, "ts": micros(instance.woken + shift),
        }));
        return;
    }
    trace.slice("spin", track, instance.woken + shift, instance.started + shift, None);
    let args = json!({
        "start_lateness": short((instance.started - instance.planned).0),
        "slack": short((instance.deadline - instance.ended).0),
        "longest_gap": short(instance.gap.0),
    });
    let name = format!("{name} {}", instance.instance);
    trace.slice(&name, track, instance.started + shift, instance.ended + shift, Some(args));
}

/// Arrows from the sender's body to the receiver's.
fn messages(phase: &Phase, shown: &Shown, shift: Nanos, trace: &mut Trace) {
    let index = Index::new(phase);
    for (channel, record) in phase.channels.iter().enumerate() {
        let name = index.channel_name(channel);
        for message in record.messages.iter().filter(|message| shown.holds(message.due)) {
            let (Some(inserted), Some(taken)) = (message.inserted, message.taken) else { continue };
            let ends = index.writer(channel, message.instance).zip(index.reader(channel, message.instance));
            let Some(((writer, _), (reader, _))) = ends else { continue };
            trace.flow += 1;
            for (kind, task, at) in [("s", writer, inserted), ("f", reader, taken)] {
                let (pid, tid) = track(phase, task, true);
                trace.push(&json!({
                    "ph": kind, "bp": "e", "cat": "message", "name": name, "id": trace.flow,
                    "pid": pid, "tid": tid, "ts": micros(at + shift),
                }));
            }
        }
    }
}

fn marks(
    report: &Report<'_>,
    number: usize,
    (phase, shown): (&Phase, &Shown),
    shift: Nanos,
    trace: &mut Trace,
) {
    let index = Index::new(phase);
    for miss in
        report.assessment.misses.iter().filter(|miss| miss.phase == number && shown.holds(miss.deadline))
    {
        let task = match miss.subject {
            Subject::Task(task) => Some(task),
            Subject::Channel(channel) => index.reader(channel, miss.instance).map(|(task, _)| task),
        };
        let (pid, tid) = track(phase, task.unwrap_or(0), true);
        trace.push(&json!({
            "ph": "i", "s": "p", "name": format!("miss ({}): {} {}", miss.party, miss.name, miss.instance),
            "pid": pid, "tid": tid, "ts": micros(miss.deadline + shift),
            "args": { "stage": miss.stage.word(), "cause": miss.cause.word(), "evidence": miss.evidence },
        }));
    }
    for event in phase.events.iter().filter(|event| shown.holds(event.at)) {
        trace.push(&json!({
            "ph": "i", "s": "g", "name": verdict::describe(&index, &event.kind), "pid": 1, "tid": 1, "ts": micros(event.at + shift),
        }));
    }
}
