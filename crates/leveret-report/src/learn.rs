//! Budgets that the measured execution times suggest, with what can honestly be said of them.
//!
//! Of `N` independent executions none exceeded the longest; by the rule of three the probability that the next one
//! does is below `3/N` with 95 % confidence. The margin covers what that statement cannot.

use crate::Report;
use crate::format::{columns, duration, short};
use crate::record::{InstanceRecord, Outcome};
use crate::verdict::{Context, stalled_in_body};
use leveret_types::Nanos;
use serde::Serialize;
use std::fmt::Write;

/// How a budget is proposed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Options {
    /// The quantile of the execution times to start from; 1 is the longest.
    pub quantile: f64,
    /// Factor on top of it, such as 1.2.
    pub margin: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { quantile: 1.0, margin: 1.2 }
    }
}

/// What is proposed for one task.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Proposal {
    /// The task.
    pub name: String,
    /// Executions that were used.
    pub observations: u64,
    /// Executions left out because the machine stalled in them.
    pub stalled: u64,
    /// Median execution time.
    pub p50_ns: i64,
    /// Longest execution time.
    pub max_ns: i64,
    /// The present budget.
    pub budget_ns: Nanos,
    /// The proposed budget: the quantile times the margin, rounded up to a microsecond.
    pub proposed_ns: Nanos,
    /// The length of the task's window: no longer budget can be planned.
    pub window_ns: Nanos,
    /// How often it may be exceeded, in one sentence.
    pub statement: String,
}

impl Proposal {
    /// Whether what is proposed is longer than the window.
    pub fn is_beyond_window(&self) -> bool {
        self.proposed_ns > self.window_ns
    }
}

/// What was measured of one task.
struct Gathered {
    name: String,
    budget: Nanos,
    window: Nanos,
    times: Vec<i64>,
    stalled: u64,
}

/// Proposes a budget for every task that executed at all; phases are taken together.
pub fn propose(report: &Report<'_>, options: Options) -> Vec<Proposal> {
    let mut gathered: Vec<Gathered> = Vec::new();
    for (number, phase) in report.record.phases.iter().enumerate() {
        let context = Context::new(report.record, number, phase);
        for (task, record) in phase.tasks.iter().enumerate() {
            let name = context.index.task_name(task);
            let place = gathered.iter().position(|known| known.name == name).unwrap_or_else(|| {
                let model = phase.job.tasks.get(task);
                let window = model.map_or(Nanos::MAX, |model| model.deadline.saturating_sub(model.release));
                let budget = context.index.budget(task);
                gathered.push(Gathered { name, budget, window, times: Vec::new(), stalled: 0 });
                gathered.len() - 1
            });
            for instance in record.instances.iter().filter(|instance| ran(instance)) {
                if stalled_in_body(&context, task, instance) {
                    gathered[place].stalled += 1;
                } else {
                    gathered[place].times.push(execution(instance));
                }
            }
        }
    }
    gathered.retain(|of| !of.times.is_empty());
    gathered.into_iter().map(|of| proposal(of, options)).collect()
}

fn ran(instance: &InstanceRecord) -> bool {
    matches!(instance.outcome, Outcome::Ran | Outcome::RanLate) && instance.ended > instance.started
}

fn execution(instance: &InstanceRecord) -> i64 {
    if instance.cpu > Nanos::ZERO { instance.cpu.0 } else { (instance.ended - instance.started).0 }
}

fn proposal(of: Gathered, options: Options) -> Proposal {
    let Gathered { name, budget, window, mut times, stalled } = of;
    times.sort_unstable();
    let count = times.len();
    let quantile = options.quantile.clamp(0.0, 1.0);
    let rank = ((count as f64 * quantile).ceil() as usize).clamp(1, count);
    let base = times[rank - 1];
    let above = count - rank;
    let micros = (base as f64 * options.margin.max(1.0) / 1e3).ceil();
    let proposed_ns = Nanos::from_micros(micros as i64);
    let within = times.partition_point(|&time| time <= proposed_ns.0);
    let which = if above == 0 { "the longest".to_owned() } else { format!("the {quantile}-quantile") };
    let excess = count - within;
    let chance = if excess == 0 {
        format!(
            "none of them exceeds it; by the rule of three the next exceeds the longest with a chance under {:.1e}",
            (3.0 / count as f64).min(1.0)
        )
    } else {
        let upper = (excess as f64 + 1.65 * (excess as f64).sqrt() + 2.0) / count as f64;
        format!("{excess} of them exceed it; the next does with a chance under {:.1e}", upper.min(1.0))
    };
    let left_out =
        if stalled == 0 { String::new() } else { format!("; {stalled} stalled by the machine are left out") };
    let statement = format!(
        "{which} of {count} executions times {}: {chance} (95 % confidence){left_out}",
        options.margin.max(1.0)
    );
    Proposal {
        name,
        observations: count as u64,
        stalled,
        p50_ns: times[(count - 1) / 2],
        max_ns: times[count - 1],
        budget_ns: budget,
        proposed_ns,
        window_ns: window,
        statement,
    }
}

/// The proposals as a table.
pub fn table(proposals: &[Proposal]) -> String {
    let header = ["task", "executions", "left out", "p50", "max", "budget", "proposed"];
    let mut rows = vec![header.iter().map(|&word| word.to_owned()).collect::<Vec<_>>()];
    rows.extend(proposals.iter().map(|of| {
        vec![
            of.name.clone(),
            of.observations.to_string(),
            of.stalled.to_string(),
            short(of.p50_ns),
            short(of.max_ns),
            duration(of.budget_ns),
            duration(of.proposed_ns),
        ]
    }));
    let mut text = columns(&rows, &[]);
    for of in proposals {
        let _ = writeln!(text, "  {}: {}", of.name, of.statement);
    }
    text
}

/// The proposals as lines for the manifest.
pub fn toml(proposals: &[Proposal]) -> String {
    let mut text = String::new();
    for of in proposals {
        let name = serde_json::Value::from(of.name.as_str());
        let beyond = match of.is_beyond_window() {
            true => format!(", and longer than its window of {}: widen that too", of.window_ns),
            false => String::new(),
        };
        let _ = writeln!(
            text,
            "[[task]]\nname = {name}\nbudget = \"{}\" # was {}{beyond}\n",
            of.proposed_ns, of.budget_ns
        );
    }
    text
}

/// The proposals as JSON text.
pub fn json(proposals: &[Proposal]) -> String {
    format!("{:#}\n", serde_json::json!({ "format": "leveret-budgets", "version": 1, "tasks": proposals }))
}

/// What to do about tasks whose proposals are longer than their windows, each in one sentence.
pub fn beyond_windows(proposals: &[Proposal]) -> impl Iterator<Item = String> {
    proposals.iter().filter(|of| of.is_beyond_window()).map(|of| {
        format!(
            "{}: {} do not fit into its window of {}; make its `window` longer (and its `period`, if that is shorter), or let the body \
             do less in one instance",
            of.name, of.proposed_ns, of.window_ns
        )
    })
}

/// Names of tasks whose proposals exceed their present budget.
pub fn too_small(proposals: &[Proposal]) -> impl Iterator<Item = &str> {
    proposals.iter().filter(|of| of.proposed_ns > of.budget_ns).map(|of| of.name.as_str())
}
