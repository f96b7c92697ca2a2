//! A trace in the JSON format of Chromium's viewer, which Perfetto's UI opens: a process per member, two tracks per
//! task (planned above measured), arrows from insertion to taking, marks for misses and events.

use crate::Report;
use crate::format::short;
use crate::lookup::Index;
use crate::record::{InstanceRecord, Outcome, Phase};
use crate::verdict::{self, Subject};
use leveret_types::Nanos;
use serde_json::{Value, json};
use std::fmt::Write;

/// The trace as JSON text.
pub fn text(report: &Report<'_>) -> String {
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
        tasks(phase, shift, &mut trace);
        messages(phase, shift, &mut trace);
        marks(report, number, phase, shift, &mut trace);
    }
    trace.text.push_str("\n]}\n");
    trace.text
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

fn tasks(phase: &Phase, shift: Nanos, trace: &mut Trace) {
    let index = Index::new(phase);
    for (task, record) in phase.tasks.iter().enumerate() {
        let name = index.task_name(task);
        for instance in &record.instances {
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
fn messages(phase: &Phase, shift: Nanos, trace: &mut Trace) {
    let index = Index::new(phase);
    for (channel, record) in phase.channels.iter().enumerate() {
        let name = index.channel_name(channel);
        for message in &record.messages {
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

fn marks(report: &Report<'_>, number: usize, phase: &Phase, shift: Nanos, trace: &mut Trace) {
    let index = Index::new(phase);
    for miss in report.assessment.misses.iter().filter(|miss| miss.phase == number) {
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
    for event in &phase.events {
        trace.push(&json!({
            "ph": "i", "s": "g", "name": verdict::describe(&index, &event.kind), "pid": 1, "tid": 1, "ts": micros(event.at + shift),
        }));
    }
}
