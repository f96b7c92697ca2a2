//! The data that the page's scripts draw, as JSON that may stand inside a `script` element.

use super::{gantt, series};
use crate::Report;
use crate::record::Phase;
use serde_json::{Value, json};

/// The JSON text.
pub(super) fn embedded(report: &Report<'_>) -> String {
    embeddable(&value(report).to_string())
}

/// JSON that may stand in a `script` element: no `<` is left in it, so no name can end the element.
pub(crate) fn embeddable(json: &str) -> String {
    json.replace('<', "\\u003c").replace('&', "\\u0026")
}

fn value(report: &Report<'_>) -> Value {
    let phases = &report.record.phases;
    let count = phases.len().max(1);
    let phases: Vec<Value> =
        phases.iter().enumerate().map(|(number, content)| phase(report, number, content, count)).collect();
    json!({
        "job": report.record.job,
        "phases": phases,
    })
}

fn phase(report: &Report<'_>, number: usize, phase: &Phase, phases: usize) -> Value {
    json!({
        "label": phase.label,
        "hyperperiod": phase.plan.hyperperiod,
        "horizon": gantt::horizon(phase),
        "rounds": phase.rounds,
        "plan": gantt::plan(phase),
        "detail": gantt::rounds(report, number, phase, phases),
        "alone": series::alone(phase, phases),
        "series": series::all(report, number, phase, phases),
    })
}
