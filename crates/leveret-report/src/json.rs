//! `report.json`: everything a program may want to know of a run. `docs/report.schema.json` describes it.

use crate::Report;
use crate::record::Ending;
use crate::verdict::Miss;
use serde_json::{Value, json};

/// Version of the format; raised when a field changes its meaning or goes.
pub const FORMAT_VERSION: u32 = 3;
/// Most misses that are listed one by one; all are counted.
pub const MISSES_LISTED_MAX: usize = 1000;

/// The report as JSON.
pub fn value(report: &Report<'_>) -> Value {
    let (record, assessment, statistics) = (report.record, &report.assessment, &report.statistics);
    let machine = &record.machine;
    let listed: Vec<Value> = assessment.misses.iter().take(MISSES_LISTED_MAX).map(miss).collect();
    json!({
        "format": "leveret-report",
        "version": FORMAT_VERSION,
        "job": record.job,
        "started_unix_s": record.started_unix_s,
        "ending": ending(&record.ending),
        "exit_code": assessment.exit_code(),
        "conclusion": report.conclusion(),
        "rounds": statistics.rounds,
        "misses": {
            "job": assessment.counts.job,
            "process": assessment.counts.process,
            "machine": assessment.counts.machine,
            "unproven": assessment.counts.unproven,
            "job_roots": assessment.counts.job_roots,
            "process_roots": assessment.counts.process_roots,
            "machine_roots": assessment.counts.machine_roots,
            "listed": listed.len(),
            "list": listed,
        },
        "irregularities": assessment.irregularities,
        "data_path": statistics.data_path,
        "machine_alone": statistics.machine_alone,
        "machine": {
            "kernel": machine.kernel,
            "processor": machine.processor,
            "cores_online": machine.cores_online,
            "scheduling": machine.scheduling,
            "idle_states_held": machine.idle_states_held,
            "kept_awake": machine.kept_awake,
            "switch_log_whole_core": machine.switch_log_whole_core,
            "warnings": machine.warnings,
        },
        "phases": statistics.phases,
    })
}

/// The report as indented JSON text.
pub fn text(report: &Report<'_>) -> String {
    let mut text = format!("{:#}", value(report));
    text.push('\n');
    text
}

fn ending(ending: &Ending) -> Value {
    match ending {
        Ending::Completed => json!({ "kind": "completed" }),
        Ending::Interrupted => json!({ "kind": "interrupted" }),
        Ending::Stopped(reason) => json!({ "kind": "stopped", "reason": reason }),
        Ending::InterruptedAfter => json!({ "kind": "interrupted-after" }),
        Ending::FailedAfter(reason) => json!({ "kind": "failed-after", "reason": reason }),
        Ending::Aborted { member, code, message } => {
            json!({ "kind": "aborted", "reason": message, "member": member, "code": code })
        }
    }
}

/// A miss without its timeline.
pub(crate) fn miss(miss: &Miss) -> Value {
    let root = miss.root.as_ref().map(|root| {
        json!({
            "name": root.name,
            "instance": root.instance,
            "cause": root.cause.word(),
            "party": root.blame.party.word(),
            "unproven": root.blame.unproven,
            "culprit": root.blame.culprit,
        })
    });
    json!({
        "phase": miss.phase,
        "kind": match miss.subject {
            crate::verdict::Subject::Task(_) => "task",
            crate::verdict::Subject::Channel(_) => "channel",
        },
        "name": miss.name,
        "instance": miss.instance,
        "deadline_ns": miss.deadline,
        "late_by_ns": miss.late_by,
        "stage": miss.stage.word(),
        "cause": miss.cause.word(),
        "party": miss.party.word(),
        "unproven": miss.unproven,
        "culprit": miss.culprit,
        "root": root,
        "evidence": miss.evidence,
    })
}
